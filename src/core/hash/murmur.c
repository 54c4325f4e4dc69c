/* MurmurHash3_x86_32 (Austin Appleby, public domain description) over the raw bytes, which is what Guava's
 * murmur3_32_fixed computes; and Kafka's murmur2 (org.apache.kafka.common.utils.Utils: MurmurHash2, seed
 * 0x9747b28c). Bytes are unsigned throughout. */
#include "core/hash/family.h"

static uint32_t scramble3(uint32_t block)
{
    return tn_hash_rotate(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

uint32_t tn_murmur3_32(const uint8_t *key, size_t size, uint32_t seed)
{
    uint32_t hash = seed;
    size_t at = 0;
    for (; size - at >= 4; at += 4)
        hash = tn_hash_rotate(hash ^ scramble3(tn_hash_word(key + at)), 13) * 5 + 0xe6546b64u;
    uint32_t tail = 0;
    for (size_t i = size; i > at; i--)
        tail = tail << 8 | key[i - 1];
    if (size > at)
        hash ^= scramble3(tail);
    hash ^= (uint32_t)size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

uint32_t tn_murmur2_kafka(const uint8_t *key, size_t size)
{
    const uint32_t m = 0x5bd1e995u;
    uint32_t hash = 0x9747b28cu ^ (uint32_t)size;
    size_t at = 0;
    for (; size - at >= 4; at += 4) {
        uint32_t block = tn_hash_word(key + at) * m;
        block = (block ^ block >> 24) * m;
        hash = hash * m ^ block;
    }
    if (size > at) {
        for (size_t i = size; i > at; i--)
            hash ^= (uint32_t)key[i - 1] << (8 * (i - 1 - at));
        hash *= m;
    }
    hash = (hash ^ hash >> 13) * m;
    return hash ^ hash >> 15;
}
