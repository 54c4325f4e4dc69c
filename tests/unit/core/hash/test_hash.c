/* Key -> hash -> shard: exact answers for the keys that other programs get wrong, and the laws of the
 * reduction. The originals' own tables are in test_vectors.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "core/hash/hash.h"

enum { SEED = 20240611, DRAWS = 10000000 };

static struct tn_hasher hasher_of(enum tn_hash_algo algo, uint64_t seed, uint32_t shards)
{
    struct tn_hasher hasher;
    assert_int_equal(tn_hasher_init(&hasher, algo, seed, shards, NULL), TENURE_OK);
    return hasher;
}

static uint64_t hash_text(enum tn_hash_algo algo, const char *key)
{
    const struct tn_hasher hasher = hasher_of(algo, 0, 1);
    return tn_hash(&hasher, key, strlen(key));
}

static uint32_t shard_of(enum tn_hash_algo algo, const char *key, uint32_t shards)
{
    const struct tn_hasher hasher = hasher_of(algo, 0, shards);
    return tn_hash_shard(&hasher, key, strlen(key));
}

/* A few keys crash the process or land on a shard that no node owns: abs() of the smallest integer is
 * negative. */
static void keys_with_the_smallest_java_hash_have_a_shard(void **state)
{
    (void)state;
    static const char *const keys[] = {"polygenelubricants", "GydZG_", "DESIGNING WORKHOUSES"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_true((int64_t)hash_text(TN_HASH_JAVA, keys[i]) == INT32_MIN);
        assert_int_equal(shard_of(TN_HASH_JAVA, keys[i], 10), 2);
        assert_int_equal(shard_of(TN_HASH_JAVA, keys[i], 3), 1);
        assert_int_equal(shard_of(TN_HASH_JAVA, keys[i], 256), 0);
    }
}

/* A key with a negative hash would be looked for on the shard that abs() gives, where nobody put it. */
static void a_negative_java_hash_is_reduced_by_floor_not_by_absolute_value(void **state)
{
    (void)state;
    assert_true((int64_t)hash_text(TN_HASH_JAVA, "clickHouseJob") == -205608411);
    assert_int_equal(shard_of(TN_HASH_JAVA, "clickHouseJob", 256), 37);
    assert_int_equal(shard_of(TN_HASH_JAVA, "clickHouseJob", 10), 9);
    assert_int_equal(hash_text(TN_HASH_JAVA, "A10086"), 1907625230);
    assert_int_equal(shard_of(TN_HASH_JAVA, "A10086", 256), 14);
}

/* Users with a Chinese name or an emoji, and only they, would be sent to another shard by one of two
 * services. */
static void murmur3_takes_bytes_as_unsigned_and_characters_as_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        uint32_t hash;
    } cases[] = {
        {"", 0u},
        {"a", 1009084850u},
        {"ab", 2613040991u},
        {"abc", 3017643002u},
        {"abcd", 1139631978u},
        {"hello", 613153351u},
        {"é", 269551495u},
        {"账单", 2823836989u},
        {"吉 星 高 照", 3435142074u},
        {"💰", 2808606540u},
        {"My 🚀 is full of 🦎.", 1818098979u},
        {"user-😀-1", 2456456405u},
        {"My hovercraft is full of eels.", 2953494853u},
        {"A10086", 3624038580u},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t hash = hash_text(TN_HASH_MURMUR3_32, cases[i].key);
        if ((uint32_t)hash != cases[i].hash)
            fail_msg("murmur3_32 of \"%s\" is %" PRIu32 ", not %" PRIu32, cases[i].key, (uint32_t)hash,
                     cases[i].hash);
        assert_true(hash == (uint64_t)(int64_t)(int32_t)cases[i].hash); /* widened with its sign */
    }
    assert_int_equal(hash_text(TN_HASH_MURMUR3_32, "💰") & 0x7fffffff, 661122892);
    assert_int_equal(shard_of(TN_HASH_MURMUR3_32, "💰", 32), 12);
    assert_int_equal(shard_of(TN_HASH_MURMUR3_32, "A10086", 256), 180);
}

/* Most draws up to 4096 as in the field; some larger, some powers of two, some 1. */
static uint32_t draw_count(struct tn_rng *rng)
{
    const uint64_t bits = tn_rng_next(rng);
    switch (bits % 16) {
    case 0: return 1u << (bits >> 8) % 21;
    case 1:
    case 2: return 1 + (uint32_t)((bits >> 8) % TN_SHARDS_MAX);
    case 3: return (bits >> 8) % 8 ? TN_SHARDS_MAX - (uint32_t)((bits >> 16) % 4) : 1;
    default: return 1 + (uint32_t)((bits >> 8) % 4096);
    }
}

/* Random hashes never lie where the quotient jumps, so half of them are put there: a multiple of the count,
 * or beside one, or at either end. */
static uint64_t draw_hash(struct tn_rng *rng, uint32_t count)
{
    const uint64_t hash = tn_rng_next(rng);
    switch (hash % 8) {
    case 0: return hash / count * count;
    case 1: return hash / count * count - 1;
    case 2: return UINT64_MAX - (hash >> 8) % 4096;
    case 3: return (hash >> 8) % 4096;
    default: return hash;
    }
}

static void check_unsigned(uint64_t hash, const struct tn_hasher *hasher)
{
    const uint32_t shard = tn_hash_reduce(hasher, hash);
    if (shard != hash % hasher->shards)
        fail_msg("%" PRIu64 " mod %" PRIu32 " is %" PRIu64 ", not %" PRIu32, hash, hasher->shards,
                 hash % hasher->shards, shard);
}

static void check_signed(int32_t hash, const struct tn_hasher *hasher)
{
    const int64_t count = hasher->shards, rest = hash % count;
    const int64_t want = rest < 0 ? rest + count : rest;
    const uint32_t shard = tn_hash_reduce(hasher, (uint64_t)(int64_t)hash);
    assert_in_range(want, 0, count - 1);
    if (shard != want)
        fail_msg("floorMod(%" PRId32 ", %" PRId64 ") is %" PRId64 ", not %" PRIu32, hash, count, want, shard);
}

/* The reduction without division would send one key in a billion to a shard that does not exist. */
static void ten_million_random_hashes_are_reduced_as_by_division(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED};
    print_message("seed %d, %d hashes\n", SEED, DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        const uint32_t count = draw_count(&rng);
        const struct tn_hasher plain = hasher_of(TN_HASH_FNV1A64, 0, count);
        const struct tn_hasher java = hasher_of(TN_HASH_JAVA, 0, count);
        const uint64_t hash = draw_hash(&rng, count);
        check_unsigned(hash, &plain);
        check_signed((int32_t)(uint32_t)(hash ^ hash >> 32), &java);
    }
}

/* As above, but without luck: every count, at the hashes where a quotient that is off by one shows. */
static void every_count_reduces_the_hashes_at_its_edges_as_by_division(void **state)
{
    (void)state;
    static const int32_t extremes[] = {INT32_MIN, INT32_MIN + 1, -2, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    for (uint32_t count = 1; count <= TN_SHARDS_MAX; count++) {
        const struct tn_hasher plain = hasher_of(TN_HASH_XXH3, 0, count);
        const struct tn_hasher java = hasher_of(TN_HASH_MURMUR3_32, 0, count);
        const uint64_t top = UINT64_MAX / count * count;
        const uint64_t hashes[] = {0, count - 1, count, top - 1, top, UINT64_MAX, (uint64_t)1 << 63};
        for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
            check_unsigned(hashes[i], &plain);
        for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++)
            check_signed(extremes[i], &java);
    }
}

/* The short way of the hot path would place keys elsewhere than the hash that is printed for them. */
static void a_shard_is_the_reduced_hash_for_every_algorithm_and_seed(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED + 1};
    uint8_t key[300];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)tn_rng_next(&rng);
    for (int algo = 0; algo < TN_HASH_COUNT; algo++) {
        for (size_t size = 0; size <= sizeof key; size++) {
            const uint64_t seed = tn_hash_seedable(algo) && size % 2 ? (uint32_t)tn_rng_next(&rng) : 0;
            const struct tn_hasher hasher = hasher_of(algo, seed, draw_count(&rng));
            const uint32_t shard = tn_hash_shard(&hasher, key, size);
            assert_true(shard < hasher.shards);
            assert_int_equal(shard, tn_hash_reduce(&hasher, tn_hash(&hasher, key, size)));
        }
    }
}

/* A group written by one version could not be read by the next. */
static void names_are_those_of_the_contract_and_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"xxh3",  "xxh64",  "java",    "murmur3_32", "murmur2", "crc16",
                                        "crc32", "crc32c", "fnv1a32", "fnv1a64",    "postgres"};
    assert_int_equal(sizeof names / sizeof names[0], TN_HASH_COUNT);
    for (int i = 0; i < TN_HASH_COUNT; i++) {
        enum tn_hash_algo algo = TN_HASH_COUNT;
        assert_string_equal(tn_hash_name(i), names[i]);
        assert_true(tn_hash_parse(names[i], &algo));
        assert_int_equal(algo, i);
    }
    assert_null(tn_hash_name(TN_HASH_COUNT));
}

/* A misspelt hash that is taken for another one moves every key of the group. */
static void a_name_that_is_not_exact_is_no_hash(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "XXH3", "xxh", "xxh3 ", " xxh3", "murmur3", "crc16\n", "md5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        enum tn_hash_algo algo = TN_HASH_CRC32C;
        assert_false(tn_hash_parse(wrong[i], &algo));
        assert_int_equal(algo, TN_HASH_CRC32C);
    }
}

/* A seed that is silently dropped, or cut to 32 bits, gives two nodes the same settings and other shards. */
static void a_seed_is_refused_where_it_would_be_ignored(void **state)
{
    (void)state;
    for (int algo = 0; algo < TN_HASH_COUNT; algo++) {
        const bool takes = algo == TN_HASH_XXH3 || algo == TN_HASH_XXH64 || algo == TN_HASH_MURMUR3_32;
        struct tn_hasher hasher;
        struct tenure_error error;
        assert_int_equal(tn_hash_seedable(algo), takes);
        assert_int_equal(tn_hash_signed(algo), algo == TN_HASH_JAVA || algo == TN_HASH_MURMUR3_32);
        assert_int_equal(tn_hasher_init(&hasher, algo, 0, 256, &error), TENURE_OK);
        assert_int_equal(tn_hasher_init(&hasher, algo, 42, 256, &error),
                         takes ? TENURE_OK : TENURE_BAD_INPUT);
        assert_int_equal(tn_hasher_init(&hasher, algo, UINT32_MAX, 256, &error),
                         takes ? TENURE_OK : TENURE_BAD_INPUT);
        assert_int_equal(tn_hasher_init(&hasher, algo, (uint64_t)UINT32_MAX + 1, 256, &error),
                         takes && algo != TN_HASH_MURMUR3_32 ? TENURE_OK : TENURE_BAD_INPUT);
    }
}

/* No shard at all, or more than a store can keep rows for. */
static void a_shard_count_out_of_range_is_refused(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, TN_SHARDS_MAX + 1, UINT32_MAX};
    struct tn_hasher hasher;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tn_hasher_init(&hasher, TN_HASH_XXH3, 0, wrong[i], NULL), TENURE_BAD_INPUT);
    assert_int_equal(tn_hasher_init(&hasher, TN_HASH_XXH3, 0, 1, NULL), TENURE_OK);
    assert_int_equal(tn_hasher_init(&hasher, TN_HASH_XXH3, 0, TN_SHARDS_MAX, NULL), TENURE_OK);
    assert_int_equal(tn_hasher_init(&hasher, TN_HASH_COUNT, 0, 256, NULL), TENURE_BAD_INPUT);
}

/* Stored fingerprints are compared at join: were one to change, no node could join its group after an
 * upgrade. */
static void fingerprints_are_pinned(void **state)
{
    (void)state;
    static const uint64_t prints[TN_HASH_COUNT] = {
        [TN_HASH_XXH3] = 0xf54036c8dbb552cf,     [TN_HASH_XXH64] = 0xf481623f7e0df65e,
        [TN_HASH_JAVA] = 0x5c85955f48f2e312,     [TN_HASH_MURMUR3_32] = 0xaf1b2eab17290440,
        [TN_HASH_MURMUR2] = 0x3e457d924c4fb498,  [TN_HASH_CRC16] = 0x55fb3635581fcbba,
        [TN_HASH_CRC32] = 0xfbf3a9fbe42aa86b,    [TN_HASH_CRC32C] = 0x916b048a5522dbd9,
        [TN_HASH_FNV1A32] = 0x0a982aa31b6751d0,  [TN_HASH_FNV1A64] = 0xa93f4bc475faf6d8,
        [TN_HASH_POSTGRES] = 0x407a1158ae04f171,
    };
    for (int algo = 0; algo < TN_HASH_COUNT; algo++) {
        const struct tn_hasher hasher = hasher_of(algo, 0, 256);
        const uint64_t print = tn_hash_fingerprint(&hasher);
        if (print != prints[algo])
            fail_msg("%s: 0x%016" PRIx64 ", pinned is 0x%016" PRIx64, tn_hash_name(algo), print,
                     prints[algo]);
    }
}

/* Two nodes that place keys differently would both be let into the group. */
static void another_algorithm_seed_or_count_gives_another_fingerprint(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 255, 256, 257, 512, TN_SHARDS_MAX};
    static const uint64_t seeds[] = {0, 1, 42, UINT32_MAX};
    uint64_t seen[TN_HASH_COUNT * 7 * 4];
    size_t n = 0;
    for (int algo = 0; algo < TN_HASH_COUNT; algo++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            for (size_t j = 0; j < (tn_hash_seedable(algo) ? sizeof seeds / sizeof seeds[0] : 1); j++) {
                const struct tn_hasher hasher = hasher_of(algo, seeds[j], counts[i]);
                const uint64_t print = tn_hash_fingerprint(&hasher);
                assert_true(print != 0);
                for (size_t k = 0; k < n; k++)
                    assert_true(print != seen[k]);
                seen[n++] = print;
            }
    assert_int_equal(n, 7 * (8 + 3 * 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_with_the_smallest_java_hash_have_a_shard),
        cmocka_unit_test(a_negative_java_hash_is_reduced_by_floor_not_by_absolute_value),
        cmocka_unit_test(murmur3_takes_bytes_as_unsigned_and_characters_as_utf8),
        cmocka_unit_test(ten_million_random_hashes_are_reduced_as_by_division),
        cmocka_unit_test(every_count_reduces_the_hashes_at_its_edges_as_by_division),
        cmocka_unit_test(a_shard_is_the_reduced_hash_for_every_algorithm_and_seed),
        cmocka_unit_test(names_are_those_of_the_contract_and_round_trip),
        cmocka_unit_test(a_name_that_is_not_exact_is_no_hash),
        cmocka_unit_test(a_seed_is_refused_where_it_would_be_ignored),
        cmocka_unit_test(a_shard_count_out_of_range_is_refused),
        cmocka_unit_test(fingerprints_are_pinned),
        cmocka_unit_test(another_algorithm_seed_or_count_gives_another_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
