/* The hot path of key -> shard, for inlining where a call would cost as much as the hash.
 *
 * Unseeded xxh3 (the default) of a short key is a few multiplications; the reduction is two more. Anything
 * else goes to tn_hash_slow. */
#ifndef TN_CORE_HASH_FAST_H
#define TN_CORE_HASH_FAST_H

#include "core/hash/hash.h"

/* xxHash (Yann Collet; xxhash.h, version 0.8), inlined. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

/* hash mod shards. With R = floor((2^64 - 1) / shards) the product R * shards is at least 2^64 - shards, so
 * hash * R / 2^64 falls short of hash / shards by at most hash / 2^64 < 1: the quotient is right or one too
 * small. That holds for 1 and for powers of two as well. */
static inline uint32_t tn_hash_mod(const struct tn_hasher *hasher, uint64_t hash)
{
    const uint64_t quotient = (uint64_t)(((unsigned __int128)hash * hasher->reciprocal) >> 64);
    const uint64_t rest = hash - quotient * hasher->shards;
    return (uint32_t)(rest >= hasher->shards ? rest - hasher->shards : rest);
}

/* Any algorithm, any length. */
uint32_t tn_hash_slow(const struct tn_hasher *hasher, const void *key, size_t size);

/* 9 to 16 bytes is what ids are; one case of XXH3 without a loop. */
static inline bool tn_hash_is_fast(const struct tn_hasher *hasher, size_t size)
{
    return hasher->plain_xxh3 && size - 9 < 8;
}

/* Only where tn_hash_is_fast; in a function with attribute flatten, or the compiler may not inline XXH3. */
static inline __attribute__((always_inline)) uint32_t tn_hash_fast(const struct tn_hasher *hasher,
                                                                   const void *key, size_t size)
{
    if (size - 9 >= 8)
        __builtin_unreachable();
    return tn_hash_mod(hasher, XXH3_64bits(key, size));
}

#endif
