/* Composite keys and time buckets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/hash/key.h"

enum { SEED = 20240612, DRAWS = 200000, TEXTS = 4, ROOM = 64 };

/* The encoding of texts, in a block without a byte to spare. */
struct joined {
    uint8_t *bytes;
    size_t size;
};

static struct joined join(const char *const *texts, size_t n)
{
    const void *parts[TEXTS];
    size_t sizes[TEXTS];
    struct joined joined;
    assert_true(n <= TEXTS);
    for (size_t i = 0; i < n; i++) {
        parts[i] = texts[i];
        sizes[i] = texts[i] ? strlen(texts[i]) : 0;
    }
    joined.size = tn_key_join(parts, sizes, n, NULL, 0);
    joined.bytes = malloc(joined.size ? joined.size : 1);
    assert_int_equal(tn_key_join(parts, sizes, n, joined.bytes, joined.size), joined.size);
    return joined;
}

static void expect_joined(const char *const *texts, size_t n, const char *bytes, size_t size)
{
    const struct joined joined = join(texts, n);
    assert_int_equal(joined.size, size);
    assert_memory_equal(joined.bytes, bytes, size);
    free(joined.bytes);
}

/* Tenant "ab" with order "c" and tenant "a" with order "bc" would be one key, and lock each other out. */
static void parts_that_read_the_same_in_a_row_give_different_keys(void **state)
{
    (void)state;
    expect_joined((const char *const[]){"ab", "c"}, 2, "\2ab\1c", 5);
    expect_joined((const char *const[]){"a", "bc"}, 2, "\1a\2bc", 5);
    expect_joined((const char *const[]){"abc"}, 1, "\3abc", 4);
    expect_joined((const char *const[]){"abc", ""}, 2, "\3abc\0", 5);
    expect_joined((const char *const[]){NULL, "abc"}, 2, "\0\3abc", 5);
    expect_joined(NULL, 0, "", 0);
}

/* The encoding decides shards: one byte of length more or less moves every long key. */
static void a_length_takes_a_second_byte_from_128_and_a_third_from_16384(void **state)
{
    (void)state;
    static const struct {
        size_t size, prefix;
        uint8_t bytes[3];
    } cases[] = {
        {0, 1, {0}},
        {1, 1, {1}},
        {127, 1, {0x7f}},
        {128, 2, {0x80, 0x01}},
        {255, 2, {0xff, 0x01}},
        {300, 2, {0xac, 0x02}},
        {16383, 2, {0xff, 0x7f}},
        {16384, 3, {0x80, 0x80, 0x01}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t size = cases[i].size, prefix = cases[i].prefix;
        uint8_t *part = malloc(size + 1), *into = malloc(size + prefix);
        const void *parts[] = {part};
        memset(part, 0xe5, size);
        assert_int_equal(tn_key_join(parts, &size, 1, into, size + prefix), size + prefix);
        assert_memory_equal(into, cases[i].bytes, prefix);
        assert_memory_equal(into + prefix, part, size);
        free(part);
        free(into);
    }
}

/* A caller's stack would be overwritten, or a cut key be taken for a whole one. */
static void with_too_little_room_the_needed_length_is_told_and_nothing_written_beyond(void **state)
{
    (void)state;
    static const char whole[] = "\5hello\0\3\xff\0\x80";
    const void *parts[] = {"hello", NULL, "\xff\0\x80"};
    const size_t sizes[] = {5, 0, 3}, need = sizeof whole - 1;
    for (size_t room = 0; room <= need + 2; room++) {
        uint8_t into[ROOM];
        const size_t written = room < need ? room : need;
        memset(into, 0xa5, sizeof into);
        assert_int_equal(tn_key_join(parts, sizes, 3, into, room), need);
        assert_memory_equal(into, whole, written);
        for (size_t i = written; i < sizeof into; i++)
            assert_int_equal(into[i], 0xa5);
    }
    assert_int_equal(tn_key_join(parts, sizes, 3, NULL, 0), need);
}

/* As the first test, for what looks like a length inside a part: two orders would share one owner and one
 * lock. */
static void no_two_small_lists_of_parts_give_the_same_key(void **state)
{
    (void)state;
    static const char *const letters[] = {"", "a", "aa", "aaa", "\1", "\1a", "\2a", "a\1"};
    enum { KINDS = sizeof letters / sizeof letters[0], LISTS = 1 + KINDS + KINDS * KINDS };
    struct joined all[LISTS];
    size_t n = 0;
    all[n++] = join(NULL, 0);
    for (size_t i = 0; i < KINDS; i++) {
        all[n++] = join(&letters[i], 1);
        for (size_t j = 0; j < KINDS; j++)
            all[n++] = join((const char *const[]){letters[i], letters[j]}, 2);
    }
    assert_int_equal(n, LISTS);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(all[i].size == all[j].size && memcmp(all[i].bytes, all[j].bytes, all[i].size) == 0);
    for (size_t i = 0; i < n; i++)
        free(all[i].bytes);
}

/* The hour before 1970 would be put together with the hour after it, twice as long as any other. */
static void a_bucket_starts_at_or_before_its_instant_also_before_1970(void **state)
{
    (void)state;
    static const int64_t hour = 3600000;
    static const int64_t cases[][3] = {
        {0, hour, 0},
        {1, hour, 0},
        {hour - 1, hour, 0},
        {hour, hour, hour},
        {-1, hour, -hour},
        {-hour, hour, -hour},
        {-hour - 1, hour, -2 * hour},
        {1700000123456, hour, 1699999200000},
        {1700000123456, 1, 1700000123456},
        {-7, 1, -7},
        {-7, 3, -9},
        {INT64_MAX, INT64_MAX, INT64_MAX},
        {INT64_MAX - 1, INT64_MAX, 0},
        {-1, INT64_MAX, -INT64_MAX},
        {INT64_MIN, 1, INT64_MIN},
        {INT64_MIN, 2, INT64_MIN},
        {INT64_MIN, 3, INT64_MIN}, /* the true start has no number */
        {INT64_MIN + 5, hour, INT64_MIN},
        {INT64_MIN + 1, INT64_MAX, -INT64_MAX},
        {INT64_MIN, INT64_MAX, INT64_MIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(tn_key_bucket(cases[i][0], cases[i][1]) == cases[i][2]);
}

/* A record would be in no bucket, or in two. */
static void every_instant_lies_in_exactly_the_bucket_it_is_given(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED};
    print_message("seed %d, %d instants\n", SEED, DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        const int64_t width = 1 + (int64_t)tn_rng_below(&rng, (uint64_t)1 << (1 + i % 40));
        const int64_t instant = (int64_t)tn_rng_next(&rng) / 4;
        const int64_t start = tn_key_bucket(instant, width);
        assert_true(start <= instant && instant - start < width);
        assert_true(start % width == 0);
        assert_true(tn_key_bucket(start, width) == start);
        assert_true(tn_key_bucket(start - 1, width) == start - width);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_read_the_same_in_a_row_give_different_keys),
        cmocka_unit_test(a_length_takes_a_second_byte_from_128_and_a_third_from_16384),
        cmocka_unit_test(with_too_little_room_the_needed_length_is_told_and_nothing_written_beyond),
        cmocka_unit_test(no_two_small_lists_of_parts_give_the_same_key),
        cmocka_unit_test(a_bucket_starts_at_or_before_its_instant_also_before_1970),
        cmocka_unit_test(every_instant_lies_in_exactly_the_bucket_it_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
