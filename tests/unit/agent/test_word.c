#include "agent/word.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool read_word(const char *line, struct tn_word *word)
{
    const char *why;
    return tn_word_read(line, strlen(line), word, &why);
}

/* What docs/WORKERS.md shows must be what is understood. */
static void each_word_of_a_worker_is_read(void **state)
{
    struct tn_word word;
    (void)state;
    assert_true(read_word("{\"event\":\"ready\",\"shard\":3,\"token\":19}", &word));
    assert_int_equal(word.kind, TN_WORD_READY);
    assert_int_equal(word.shard, 3);
    assert_int_equal(word.token, 19);
    tn_word_done(&word);
    assert_true(
        read_word("{\"event\":\"checkpoint\",\"shard\":0,\"token\":9007199254740991,\"data\":\"a\\u0000b\","
                  "\"seq\":7,\"rewind\":true,\"more\":1}",
                  &word));
    assert_int_equal(word.data_size, 3);
    assert_memory_equal(word.data, "a\0b", 3);
    assert_int_equal(word.seq, 7);
    assert_true(word.rewind);
    assert_true(word.token == 9007199254740991);
    tn_word_done(&word);
    assert_true(
        read_word("{\"event\":\"load\",\"shard\":1,\"token\":2,\"ops\":3,\"bytes\":4,\"ms\":5}", &word));
    assert_int_equal(word.ops + word.bytes + word.ms, 12);
    tn_word_done(&word);
    assert_true(read_word("{\"event\":\"log\",\"level\":\"warning\",\"text\":\"hot\"}", &word));
    assert_int_equal(word.level, TENURE_LOG_WARNING);
    assert_string_equal(word.text, "hot");
    tn_word_done(&word);
}

/* A number that is guessed at would be an answer for another shard. */
static void what_is_not_a_word_is_refused_with_the_reason(void **state)
{
    static const char *const bad[] = {
        "",
        "hello",
        "[]",
        "{}",
        "{\"event\":\"READY\",\"shard\":1,\"token\":1}",
        "{\"event\":\"assigned\",\"shard\":1,\"token\":1}",
        "{\"event\":\"ready\"}",
        "{\"event\":\"ready\",\"shard\":1}",
        "{\"event\":\"ready\",\"shard\":-1,\"token\":1}",
        "{\"event\":\"ready\",\"shard\":1.0,\"token\":1}",
        "{\"event\":\"ready\",\"shard\":\"1\",\"token\":1}",
        "{\"event\":\"ready\",\"shard\":4294967296,\"token\":1}",
        "{\"event\":\"ready\",\"shard\":1,\"token\":1e3}",
        "{\"event\":\"ready\",\"shard\":1,\"token\":1} {}",
        "{\"event\":\"checkpoint\",\"shard\":1,\"token\":1}",
        "{\"event\":\"checkpoint\",\"shard\":1,\"token\":1,\"data\":{}}",
        "{\"event\":\"checkpoint\",\"shard\":1,\"token\":1,\"data\":\"\",\"seq\":-1}",
        "{\"event\":\"checkpoint\",\"shard\":1,\"token\":1,\"data\":\"\",\"rewind\":1}",
        "{\"event\":\"log\"}",
        "{\"event\":\"log\",\"text\":\"x\",\"level\":\"loud\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tn_word word;
        const char *why = NULL;
        if (tn_word_read(bad[i], strlen(bad[i]), &word, &why))
            fail_msg("understood: %s", bad[i]);
        assert_non_null(why);
    }
}

/* No input may crash the agent. */
static void random_bytes_and_damaged_words_are_survived(void **state)
{
    static const char good[] =
        "{\"event\":\"checkpoint\",\"shard\":1,\"token\":1,\"data\":\"\\u4e2d\",\"seq\":5}";
    struct tn_rng rng = {.state = 3};
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char line[sizeof good];
        struct tn_word word;
        const char *why;
        memcpy(line, good, sizeof good);
        for (uint64_t n = tn_rng_below(&rng, 4); n < 4; n++)
            line[tn_rng_below(&rng, sizeof good - 1)] = (char)tn_rng_below(&rng, 256);
        if (tn_word_read(line, tn_rng_below(&rng, sizeof good), &word, &why))
            tn_word_done(&word);
    }
}

/* A checkpoint written by a C program may be any bytes; a worker must get them back, or be told how. */
static void a_checkpoint_that_is_not_utf8_is_sent_as_hex(void **state)
{
    struct tn_text line;
    (void)state;
    tn_text_init(&line);
    tn_word_assigned(&line, 3, 19, "a\0\xe4\xb8\xad\"", 6, 4);
    assert_string_equal(line.bytes, "{\"event\":\"assigned\",\"shard\":3,\"token\":19,"
                                    "\"checkpoint\":\"a\\u0000\xe4\xb8\xad\\\"\",\"seq\":4}");
    tn_word_assigned(&line, 3, 19, "\xff\x00", 2, 4);
    assert_string_equal(line.bytes, "{\"event\":\"assigned\",\"shard\":3,\"token\":19,\"checkpoint\":null,"
                                    "\"checkpoint_hex\":\"ff00\",\"seq\":4}");
    tn_word_assigned(&line, 3, 19, NULL, 0, 0);
    assert_string_equal(line.bytes,
                        "{\"event\":\"assigned\",\"shard\":3,\"token\":19,\"checkpoint\":null,\"seq\":0}");
    tn_word_save_failed(&line, 3, 19, 7, TENURE_REGRESSED);
    assert_non_null(strstr(line.bytes, "\"seq\":7,\"reason\":\"regressed\""));
    tn_text_done(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_word_of_a_worker_is_read),
        cmocka_unit_test(what_is_not_a_word_is_refused_with_the_reason),
        cmocka_unit_test(random_bytes_and_damaged_words_are_survived),
        cmocka_unit_test(a_checkpoint_that_is_not_utf8_is_sent_as_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
