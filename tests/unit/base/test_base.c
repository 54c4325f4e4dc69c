/* The nouns that all layers stand on. */
#include "base/arena.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

/* Scripts branch on exit statuses and programs on numbers: neither may change by accident. */
static void every_status_has_a_name_a_sentence_and_an_exit_status_of_the_contract(void **state)
{
    (void)state;
    static const int contract[] = {0, 1, 2, 3, 4, 5, 70};
    for (int status = TENURE_OK; status <= TENURE_BUG; status++) {
        assert_true(strlen(tenure_status_name(status)) > 1);
        assert_true(strlen(tenure_status_sentence(status)) > 3);
        bool listed = false;
        for (size_t i = 0; i < sizeof contract / sizeof contract[0]; i++)
            listed |= tenure_status_exit(status) == contract[i];
        assert_true(listed);
        assert_in_range(tenure_status_http(status), 200, 599);
    }
    assert_int_equal(TENURE_STALE, 8);
    assert_int_equal(tenure_status_exit(TENURE_STALE), 5);
    assert_int_equal(tenure_status_exit(TENURE_ID_IN_USE), 4);
    assert_string_equal(tenure_status_name((enum tenure_status)999), "BUG");
}

/* A message that is cut in the middle must still end. */
static void an_error_text_is_cut_and_terminated(void **state)
{
    (void)state;
    struct tenure_error error;
    char name[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(tn_error_set(&error, TENURE_BAD_INPUT, "the name %s is bad", name), TENURE_BAD_INPUT);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(tn_error_set(NULL, TENURE_NO, "%s", "x"), TENURE_NO);
}

/* What one step allocates must not be found dirty by the next. */
static void an_arena_gives_zeroed_aligned_memory_also_after_a_reset(void **state)
{
    (void)state;
    struct tn_arena arena;
    tn_arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 5000; size = size * 2 + 1) {
            unsigned char *bytes = tn_arena_get(&arena, size);
            assert_int_equal((uintptr_t)bytes % 16, 0);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(bytes[i], 0);
            memset(bytes, 0xff, size);
        }
        tn_arena_reset(&arena);
    }
    assert_string_equal(tn_arena_text(&arena, "words"), "words");
    tn_arena_done(&arena);
    assert_int_equal(tn_arena_bytes(&arena), 0);
}

/* The same seed must give the same run, on every machine: these are SplitMix64's published first values for
 * seed 1234567. */
static void the_generator_is_splitmix64(void **state)
{
    (void)state;
    struct tn_rng rng = {.state = 1234567};
    assert_true(tn_rng_next(&rng) == 6457827717110365317u);
    assert_true(tn_rng_next(&rng) == 3203168211198807973u);
    assert_true(tn_rng_next(&rng) == 9817491932198370423u);
    for (int i = 0; i < 1000; i++)
        assert_true(tn_rng_below(&rng, 7) < 7);
    assert_int_equal(tn_rng_below(&rng, 0), 0);
}

static void a_text_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct tn_text text;
    tn_text_init(&text);
    assert_string_equal(text.bytes, "");
    for (int i = 0; i < 1000; i++)
        tn_text_print(&text, "%03d,", i);
    assert_int_equal(text.length, 4000);
    assert_int_equal(strlen(text.bytes), 4000);
    tn_text_clear(&text);
    tn_text_puts(&text, "again");
    assert_string_equal(text.bytes, "again");
    tn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_a_sentence_and_an_exit_status_of_the_contract),
        cmocka_unit_test(an_error_text_is_cut_and_terminated),
        cmocka_unit_test(an_arena_gives_zeroed_aligned_memory_also_after_a_reset),
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(a_text_grows_and_stays_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
