/* Every hash against what its original gave: the JDK, Guava, Kafka, Redis, PostgreSQL, zlib, libxxhash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash/hash.h"

static const uint64_t combine_one = 0x49a0f4dd15e5a8e3u;

/* One line of a vector file, and the bytes of its key, without a byte to spare behind them. */
struct line {
    const char *file;
    unsigned number;
    json_t *json;
    uint8_t *key;
    size_t size;
    unsigned checks;
};

static struct tn_hasher hasher_of(enum tn_hash_algo algo, uint64_t seed, uint32_t shards)
{
    struct tn_hasher hasher;
    assert_int_equal(tn_hasher_init(&hasher, algo, seed, shards, NULL), TENURE_OK);
    return hasher;
}

static const json_t *field(const struct line *line, const char *name)
{
    const json_t *value = json_object_get(line->json, name);
    if (!value)
        fail_msg("%s:%u has no %s", line->file, line->number, name);
    return value;
}

static void expect(struct line *line, const char *what, uint64_t got, uint64_t want)
{
    line->checks++;
    if (got != want)
        fail_msg("%s:%u %s is %" PRIu64 " (%" PRIx64 "), the original has %" PRIu64 " (%" PRIx64 ")",
                 line->file, line->number, what, got, got, want, want);
}

/* A 32-bit number as Java shows it, widened as tn_hash does. */
static void expect_number(struct line *line, const char *name, enum tn_hash_algo algo, uint64_t seed)
{
    const struct tn_hasher hasher = hasher_of(algo, seed, 256);
    const json_t *value = field(line, name);
    assert_true(json_is_integer(value));
    expect(line, name, tn_hash(&hasher, line->key, line->size), (uint64_t)json_integer_value(value));
}

static void expect_hex(struct line *line, const char *name, enum tn_hash_algo algo, uint64_t seed)
{
    const struct tn_hasher hasher = hasher_of(algo, seed, 256);
    const char *digits = json_string_value(field(line, name));
    assert_non_null(digits);
    expect(line, name, tn_hash(&hasher, line->key, line->size), strtoull(digits, NULL, 16));
}

/* A map from a count of shards to the shard. */
static void expect_shards(struct line *line, const char *name, enum tn_hash_algo algo)
{
    const char *count;
    json_t *want, *map = json_object_get(line->json, name);
    assert_true(json_object_size(map) > 0);
    json_object_foreach(map, count, want)
    {
        const struct tn_hasher hasher = hasher_of(algo, 0, (uint32_t)strtoul(count, NULL, 10));
        const uint64_t hash = tn_hash(&hasher, line->key, line->size);
        assert_true(json_is_integer(want));
        expect(line, name, tn_hash_reduce(&hasher, hash), (uint64_t)json_integer_value(want));
        expect(line, name, tn_hash_shard(&hasher, line->key, line->size), (uint64_t)json_integer_value(want));
    }
}

static unsigned nibble(char digit)
{
    const char *const digits = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;
    assert_non_null(at);
    return (unsigned)(at - digits);
}

/* The empty key is NULL, so that no algorithm may look at it. */
static void read_key(struct line *line)
{
    const char *hex = json_string_value(field(line, "utf8_hex"));
    assert_non_null(hex);
    assert_int_equal(strlen(hex) % 2, 0);
    line->size = strlen(hex) / 2;
    line->key = line->size ? malloc(line->size) : NULL;
    for (size_t i = 0; i < line->size; i++)
        line->key[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
}

/* Runs `check` over the lines of a file; with `type`, over those of that type. Returns their number. */
static unsigned each_line(const char *name, const char *type, void (*check)(struct line *))
{
    char path[4096], *text = NULL;
    size_t room = 0;
    unsigned cases = 0;
    struct line line = {.file = name};
    snprintf(path, sizeof path, "%s/%s", TENURE_VECTORS_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be opened", path);
    while (getline(&text, &room, file) > 0) {
        json_error_t error;
        line.number++;
        line.json = json_loads(text, JSON_ALLOW_NUL, &error);
        if (!line.json)
            fail_msg("%s:%u is not JSON: %s", name, line.number, error.text);
        if (!type || strcmp(json_string_value(field(&line, "type")), type) == 0) {
            read_key(&line);
            check(&line);
            free(line.key);
            cases++;
        }
        json_decref(line.json);
    }
    free(text);
    fclose(file);
    assert_true(cases > 0 && line.checks >= cases);
    print_message("%s: %u cases, %u checks, all equal\n", name, cases, line.checks);
    return cases;
}

static void check_java(struct line *line)
{
    expect_number(line, "hash_code", TN_HASH_JAVA, 0);
    expect_shards(line, "floor_mod", TN_HASH_JAVA);
}

/* A service that moves from Java would find its orders on other shards; bytes that are not UTF-8 first. */
static void java_strings_hash_as_in_the_jdk_even_when_they_are_not_utf8(void **state)
{
    (void)state;
    assert_true(each_line("java_string_hash.jsonl", NULL, check_java) > 0);
}

static void check_guava(struct line *line)
{
    expect_number(line, "murmur3_32_fixed", TN_HASH_MURMUR3_32, 0);
    expect_number(line, "murmur3_32_fixed_seed42", TN_HASH_MURMUR3_32, 42);
}

/* Two services that "both use murmur3" would disagree on Chinese names and emoji only. */
static void murmur3_is_that_of_guava_with_and_without_a_seed(void **state)
{
    (void)state;
    assert_true(each_line("guava_murmur3.jsonl", NULL, check_guava) > 0);
}

static void check_kafka(struct line *line)
{
    expect_number(line, "to_positive", TN_HASH_MURMUR2, 0);
    expect_shards(line, "partition", TN_HASH_MURMUR2);
}

/* The consumer of a partition would not be the owner of the shard of the same number. */
static void murmur2_gives_the_partition_that_kafka_gives(void **state)
{
    (void)state;
    assert_true(each_line("kafka_murmur2.jsonl", NULL, check_kafka) > 0);
}

static void check_redis(struct line *line)
{
    const struct tn_hasher slots = hasher_of(TN_HASH_CRC16, 0, 16384);
    expect_number(line, "slot", TN_HASH_CRC16, 0);
    expect(line, "shard of 16384", tn_hash_shard(&slots, line->key, line->size),
           (uint64_t)json_integer_value(field(line, "slot")));
}

/* Keys with a hash tag would be torn apart although the cluster keeps them on one server. */
static void crc16_gives_the_slot_that_redis_gives(void **state)
{
    (void)state;
    assert_true(each_line("redis_slot.jsonl", NULL, check_redis) > 0);
}

static void check_sums(struct line *line)
{
    expect_hex(line, "crc32", TN_HASH_CRC32, 0);
    expect_hex(line, "crc32c", TN_HASH_CRC32C, 0);
    expect_hex(line, "fnv1a_32", TN_HASH_FNV1A32, 0);
    expect_hex(line, "fnv1a_64", TN_HASH_FNV1A64, 0);
}

/* PHP and zlib users would find their tables split another way. */
static void crc32_crc32c_and_fnv1a_are_those_of_zlib_and_php(void **state)
{
    (void)state;
    assert_true(each_line("crc32_fnv.jsonl", NULL, check_sums) > 0);
}

static void check_xxhash(struct line *line)
{
    expect_hex(line, "xxh64_seed0", TN_HASH_XXH64, 0);
    expect_hex(line, "xxh64_seed42", TN_HASH_XXH64, 42);
    expect_hex(line, "xxh3_64_seed0", TN_HASH_XXH3, 0);
    expect_hex(line, "xxh3_64_seed42", TN_HASH_XXH3, 42);
    /* the hot path does not go through tn_hash */
    const struct tn_hasher most = hasher_of(TN_HASH_XXH3, 0, 1000003);
    const uint64_t want = strtoull(json_string_value(field(line, "xxh3_64_seed0")), NULL, 16);
    expect(line, "shard of 1000003", tn_hash_shard(&most, line->key, line->size), want % 1000003);
}

/* The default hash: every key of every new group would move when the library is replaced. */
static void xxh3_and_xxh64_are_those_of_libxxhash_at_every_length(void **state)
{
    (void)state;
    assert_true(each_line("xxhash.jsonl", NULL, check_xxhash) > 0);
}

static void check_postgres(struct line *line)
{
    const struct tn_hasher hasher = hasher_of(TN_HASH_POSTGRES, 0, 256);
    const char *extended = json_string_value(field(line, "hashtextextended_partition_seed"));
    assert_non_null(extended);
    expect(line, "hashtextextended_partition_seed", tn_hash(&hasher, line->key, line->size),
           (uint64_t)strtoll(extended, NULL, 10) + combine_one);
    expect_shards(line, "partition_remainder", TN_HASH_POSTGRES);
}

/* A node would read and write other partitions of the table than the shards it holds. */
static void postgres_gives_the_partition_that_the_database_gives(void **state)
{
    (void)state;
    assert_true(each_line("postgres_hash.jsonl", "text", check_postgres) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java_strings_hash_as_in_the_jdk_even_when_they_are_not_utf8),
        cmocka_unit_test(murmur3_is_that_of_guava_with_and_without_a_seed),
        cmocka_unit_test(murmur2_gives_the_partition_that_kafka_gives),
        cmocka_unit_test(crc16_gives_the_slot_that_redis_gives),
        cmocka_unit_test(crc32_crc32c_and_fnv1a_are_those_of_zlib_and_php),
        cmocka_unit_test(xxh3_and_xxh64_are_those_of_libxxhash_at_every_length),
        cmocka_unit_test(postgres_gives_the_partition_that_the_database_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
