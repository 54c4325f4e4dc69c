#include "core/hash/hash.h"

#include "core/hash/family.h"
#include "core/hash/fast.h"

#include <string.h>

static const struct {
    char name[12];
    bool seedable, is_signed;
} algorithms[TN_HASH_COUNT] = {
    [TN_HASH_XXH3] = {"xxh3", true, false},          [TN_HASH_XXH64] = {"xxh64", true, false},
    [TN_HASH_JAVA] = {"java", false, true},          [TN_HASH_MURMUR3_32] = {"murmur3_32", true, true},
    [TN_HASH_MURMUR2] = {"murmur2", false, false},   [TN_HASH_CRC16] = {"crc16", false, false},
    [TN_HASH_CRC32] = {"crc32", false, false},       [TN_HASH_CRC32C] = {"crc32c", false, false},
    [TN_HASH_FNV1A32] = {"fnv1a32", false, false},   [TN_HASH_FNV1A64] = {"fnv1a64", false, false},
    [TN_HASH_POSTGRES] = {"postgres", false, false},
};

const char *tn_hash_name(enum tn_hash_algo algo)
{
    return algo < TN_HASH_COUNT ? algorithms[algo].name : NULL;
}

bool tn_hash_parse(const char *name, enum tn_hash_algo *ret_algo)
{
    for (int i = 0; i < TN_HASH_COUNT; i++) {
        if (strcmp(name, algorithms[i].name) != 0)
            continue;
        *ret_algo = (enum tn_hash_algo)i;
        return true;
    }
    return false;
}

bool tn_hash_seedable(enum tn_hash_algo algo)
{
    return algo < TN_HASH_COUNT && algorithms[algo].seedable;
}

bool tn_hash_signed(enum tn_hash_algo algo)
{
    return algo < TN_HASH_COUNT && algorithms[algo].is_signed;
}

enum tenure_status tn_hasher_init(struct tn_hasher *hasher, enum tn_hash_algo algo, uint64_t seed,
                                  uint32_t shards, struct tenure_error *error)
{
    if (algo >= TN_HASH_COUNT)
        return tn_error_set(error, TENURE_BAD_INPUT, "there is no hash number %d", (int)algo);
    if (shards < 1 || shards > TN_SHARDS_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "a shard count of %u is not between 1 and %d", shards,
                            TN_SHARDS_MAX);
    if (seed && !tn_hash_seedable(algo))
        return tn_error_set(error, TENURE_BAD_INPUT, "hash %s takes no seed; xxh3, xxh64 and murmur3_32 do",
                            tn_hash_name(algo));
    if (algo == TN_HASH_MURMUR3_32 && seed > UINT32_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "the seed %llu of murmur3_32 does not fit in 32 bits",
                            (unsigned long long)seed);
    *hasher = (struct tn_hasher){.plain_xxh3 = algo == TN_HASH_XXH3 && !seed,
                                 .algo = algo,
                                 .shards = shards,
                                 .seed = seed,
                                 .reciprocal = UINT64_MAX / shards};
    return TENURE_OK;
}

uint64_t tn_hash(const struct tn_hasher *hasher, const void *key, size_t size)
{
    const uint8_t *bytes = size ? key : (const uint8_t *)"";
    switch (hasher->algo) {
    case TN_HASH_XXH3: return XXH3_64bits_withSeed(bytes, size, hasher->seed);
    case TN_HASH_XXH64: return XXH64(bytes, size, hasher->seed);
    case TN_HASH_JAVA: return (uint64_t)(int64_t)tn_java_string(bytes, size);
    case TN_HASH_MURMUR3_32:
        return (uint64_t)(int64_t)(int32_t)tn_murmur3_32(bytes, size, (uint32_t)hasher->seed);
    case TN_HASH_MURMUR2: return tn_murmur2_kafka(bytes, size) & 0x7fffffffu;
    case TN_HASH_CRC16: return tn_crc16_slot(bytes, size);
    case TN_HASH_CRC32: return tn_crc32(bytes, size);
    case TN_HASH_CRC32C: return tn_crc32c(bytes, size);
    case TN_HASH_FNV1A32: return tn_fnv1a32(bytes, size);
    case TN_HASH_FNV1A64: return tn_fnv1a64(bytes, size);
    case TN_HASH_POSTGRES: return tn_postgres_text(bytes, size);
    case TN_HASH_COUNT: break;
    }
    return 0;
}

uint32_t tn_hash_reduce(const struct tn_hasher *hasher, uint64_t hash)
{
    if (!tn_hash_signed(hasher->algo) || (int64_t)hash >= 0)
        return tn_hash_mod(hasher, hash);
    /* floorMod of a negative v: shards - 1 - (-1 - v) mod shards */
    return hasher->shards - 1 - tn_hash_mod(hasher, ~hash);
}

__attribute__((noinline)) uint32_t tn_hash_slow(const struct tn_hasher *hasher, const void *key, size_t size)
{
    return tn_hash_reduce(hasher, tn_hash(hasher, key, size));
}

__attribute__((flatten)) uint32_t tn_hash_shard(const struct tn_hasher *hasher, const void *key, size_t size)
{
    return tn_hash_is_fast(hasher, size) ? tn_hash_fast(hasher, key, size) : tn_hash_slow(hasher, key, size);
}

#define LONG_SAMPLE                                                                                          \
    "a line that is longer than one hundred and twenty-eight bytes, so that the algorithms "                 \
    "that change their ways with the length of the key do so here"

/* Each line tells apart what real programs have confused: sign of bytes, surrogates, block and tail lengths,
 * tags, the empty key. */
uint64_t tn_hash_fingerprint(const struct tn_hasher *hasher)
{
    /* Characters in place, not pointers to them: pointers would have to be relocated, and the core has no
     * data that anybody writes. */
    static const char samples[][sizeof LONG_SAMPLE] = {"",
                                                       "a",
                                                       "ab",
                                                       "abc",
                                                       "abcd",
                                                       "hello",
                                                       "A10086",
                                                       "polygenelubricants",
                                                       "\xc3\xa9",
                                                       "\xe8\xb4\xa6\xe5\x8d\x95",
                                                       "\xf0\x9f\x92\xb0",
                                                       "user-\xf0\x9f\x98\x80-1",
                                                       "{user1000}.following",
                                                       "foo{}{bar}",
                                                       "\xff\xfe\x80",
                                                       "0123456789abcdef",
                                                       "0123456789abcdefg",
                                                       "The quick brown fox jumps over the lazy dog",
                                                       LONG_SAMPLE};
    uint64_t print = 0x74656e757265u ^ ((uint64_t)hasher->algo << 56) ^ hasher->shards;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const size_t size = strlen(samples[i]);
        const uint64_t hash = tn_hash(hasher, samples[i], size);
        print = (print ^ hash) * 1099511628211u;
        print = (print ^ print >> 29 ^ tn_hash_reduce(hasher, hash)) * 0x9e3779b97f4a7c15u;
    }
    return print ? print : 1;
}
