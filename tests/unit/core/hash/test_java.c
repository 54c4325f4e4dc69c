/* Bytes that are not UTF-8, at each edge of what is. The answers are those of OpenJDK 17.0.15:
 * new String(bytes, UTF_8).hashCode(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash/family.h"

struct bad_text {
    const char *bytes;
    int32_t hash;
};

/* Hash of n times U+FFFD, which takes the place of a bad part. */
enum { ONE_BAD = 65533, TWO_BAD = 2097056, THREE_BAD = 65074269, FOUR_BAD = 2017367872, BAD_AND_A = 2031588 };

/* In a block without a byte to spare, so that a look beyond the end is seen by a sanitizer. */
static void expect_hashes(const struct bad_text *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t size = strlen(texts[i].bytes);
        uint8_t *key = malloc(size);
        assert_non_null(key);
        memcpy(key, texts[i].bytes, size);
        const int32_t hash = tn_java_string(key, size);
        free(key);
        if (hash != texts[i].hash)
            fail_msg("text %zu hashes to %" PRId32 ", Java has %" PRId32, i, hash, texts[i].hash);
    }
}

#define EXPECT_HASHES(texts) expect_hashes(texts, sizeof(texts) / sizeof((texts)[0]))

/* A text that another program wrote with one byte too many for a character would be taken for that
 * character here, and lie on another shard than a Java service looks on. */
static void a_character_in_more_bytes_than_it_needs_is_bad_byte_by_byte(void **state)
{
    (void)state;
    static const struct bad_text texts[] = {
        {"\xc0\x80", TWO_BAD},          {"\xc1\xbf", TWO_BAD},          {"\xc2\x80", 0x80},
        {"\xe0\x80\x80", THREE_BAD},    {"\xe0\x9f\xbf", THREE_BAD},    {"\xe0\xa0\x80", 0x800},
        {"\xf0\x80\x80\x80", FOUR_BAD}, {"\xf0\x8f\xbf\xbf", FOUR_BAD}, {"\xf0\x90\x80\x80", 1770496},
    };
    EXPECT_HASHES(texts);
}

/* As above, for numbers that no character has. */
static void a_number_beyond_the_last_character_is_bad_byte_by_byte(void **state)
{
    (void)state;
    static const struct bad_text texts[] = {
        {"\xf4\x8f\xbf\xbf", 1803232},  {"\xf4\x90\x80\x80", FOUR_BAD}, {"\xf4\xbf\xbf\xbf", FOUR_BAD},
        {"\xf5\x80\x80\x80", FOUR_BAD}, {"\xf7\xbf\xbf\xbf", FOUR_BAD}, {"\xf8\x80\x80\x80", FOUR_BAD},
    };
    EXPECT_HASHES(texts);
}

/* Names exported by old databases have characters as two surrogates of three bytes; most decoders make
 * three bad parts of each, Java one. */
static void a_surrogate_in_three_bytes_is_one_bad_part(void **state)
{
    (void)state;
    static const struct bad_text texts[] = {
        {"\xed\x9f\xbf", 0xd7ff},
        {"\xed\xa0\x80", ONE_BAD},
        {"\xed\xbf\xbf", ONE_BAD},
        {"\xee\x80\x80", 0xe000},
        {"\xed\xa0\x80\xed\xb0\x80", TWO_BAD},
    };
    EXPECT_HASHES(texts);
}

/* A name cut at a fixed number of bytes ends in the middle of a character: the whole rest is one bad part,
 * and what follows it is not swallowed. */
static void a_character_that_is_cut_is_one_bad_part(void **state)
{
    (void)state;
    static const struct bad_text texts[] = {
        {"\xe0", ONE_BAD},           {"\xe0\xa0", ONE_BAD},
        {"\xf0", ONE_BAD},           {"\xf0\x90", ONE_BAD},
        {"\xf0\x90\x80", ONE_BAD},   {"\xe0\x41", BAD_AND_A},
        {"\xe0\xa0\x41", BAD_AND_A}, {"\xe2\x82\x41", BAD_AND_A},
        {"\xf0\x90\x41", BAD_AND_A}, {"\xf0\x90\x80\x41", BAD_AND_A},
        {"\x80", ONE_BAD},           {"\xff", ONE_BAD},
        {"\x41\xff\x42", 2094054},   {"\xef\xbf\xbd", ONE_BAD}, /* U+FFFD itself */
    };
    EXPECT_HASHES(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_in_more_bytes_than_it_needs_is_bad_byte_by_byte),
        cmocka_unit_test(a_number_beyond_the_last_character_is_bad_byte_by_byte),
        cmocka_unit_test(a_surrogate_in_three_bytes_is_one_bad_part),
        cmocka_unit_test(a_character_that_is_cut_is_one_bad_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
