/* Key -> shard: the pinned hashes.
 *
 * Holds: the table of algorithms by CONTRACT name, and `struct tn_hasher`, an immutable value that maps keys
 * of one group to its shards. Knows nothing of nodes. A hasher never changes its answers: same algorithm,
 * seed and count, same shard, on every machine and in every year; the fingerprint makes a difference visible
 * at join.
 *
 * Cost: xxh3 is inlined; a 16-byte key costs no more than a call of XXH3_64bits plus a reduction without
 * division. Sources: each algorithm's own publication, named at its function. Everything is pure and
 * thread-safe. */
#ifndef TN_CORE_HASH_HASH_H
#define TN_CORE_HASH_HASH_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tn_hash_algo {
    TN_HASH_XXH3,
    TN_HASH_XXH64,
    TN_HASH_JAVA,
    TN_HASH_MURMUR3_32,
    TN_HASH_MURMUR2,
    TN_HASH_CRC16,
    TN_HASH_CRC32,
    TN_HASH_CRC32C,
    TN_HASH_FNV1A32,
    TN_HASH_FNV1A64,
    TN_HASH_POSTGRES,
    TN_HASH_COUNT
};

enum { TN_SHARDS_MAX = 1048576 };

/* Name as in CONTRACT ("xxh3", "java", ...) or NULL for a number out of range. */
const char *tn_hash_name(enum tn_hash_algo algo);
/* Exact name only; false when unknown (ret_algo untouched). */
bool tn_hash_parse(const char *name, enum tn_hash_algo *ret_algo);
/* xxh3, xxh64 and murmur3_32 take a seed; the others refuse one. */
bool tn_hash_seedable(enum tn_hash_algo algo);
/* java and murmur3_32 are printed and reduced as signed 32-bit numbers. */
bool tn_hash_signed(enum tn_hash_algo algo);

struct tn_hasher {
    bool plain_xxh3; /* xxh3 without a seed; private to hash.c and fast.h, like reciprocal */
    enum tn_hash_algo algo;
    uint32_t shards;     /* 1 .. TN_SHARDS_MAX */
    uint64_t seed;       /* 0 where the algorithm takes none; murmur3_32: below 2^32 */
    uint64_t reciprocal; /* floor((2^64 - 1) / shards), for the reduction */
};

/* BAD_INPUT when shards is out of range, or a seed is given to an algorithm that takes none or does not fit.
 */
enum tenure_status tn_hasher_init(struct tn_hasher *hasher, enum tn_hash_algo algo, uint64_t seed,
                                  uint32_t shards, struct tenure_error *error);

/* The algorithm's own number of `key` (may be NULL when size is 0), widened to 64 bits: zero-extended for
 * unsigned ones, sign-extended for java and murmur3_32; crc16: the slot 0..16383; murmur2: sign cleared;
 * postgres: extended hash with the partition seed plus 0x49a0f4dd15e5a8e3 mod 2^64. The empty key is allowed
 * here. */
uint64_t tn_hash(const struct tn_hasher *hasher, const void *key, size_t size);
/* floorMod of that number by the shard count: 0 .. shards-1. */
uint32_t tn_hash_reduce(const struct tn_hasher *hasher, uint64_t hash);
/* Both in one; the hot path. */
uint32_t tn_hash_shard(const struct tn_hasher *hasher, const void *key, size_t size);

/* Hash of a fixed list of keys under this hasher; two programs that agree on it agree on every shard, as far
 * as the list's lengths and alphabets tell. Covers algorithm, seed and shard count. */
uint64_t tn_hash_fingerprint(const struct tn_hasher *hasher);

#endif
