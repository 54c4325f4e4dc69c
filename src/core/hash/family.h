/* The single algorithms, a function each; sources at the definitions. Pure. */
#ifndef TN_CORE_HASH_FAMILY_H
#define TN_CORE_HASH_FAMILY_H

#include <stddef.h>
#include <stdint.h>

/* 32-bit little-endian word at p, at any alignment. */
static inline uint32_t tn_hash_word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t tn_hash_rotate(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

int32_t tn_java_string(const uint8_t *utf8, size_t size);
uint32_t tn_murmur3_32(const uint8_t *key, size_t size, uint32_t seed);
uint32_t tn_murmur2_kafka(const uint8_t *key, size_t size); /* before the sign is cleared */
uint32_t tn_crc16_slot(const uint8_t *key, size_t size);    /* Redis Cluster slot, hash tags included */
uint32_t tn_crc32(const uint8_t *key, size_t size);
uint32_t tn_crc32c(const uint8_t *key, size_t size);
uint32_t tn_fnv1a32(const uint8_t *key, size_t size);
uint64_t tn_fnv1a64(const uint8_t *key, size_t size);
uint64_t tn_postgres_text(const uint8_t *key, size_t size); /* partition number before the remainder */

#endif
