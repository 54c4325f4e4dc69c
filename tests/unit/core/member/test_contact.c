/* Steady contact: what a node must have before it may declare another dead by expiry. */
#include "core/member/contact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { margin_ms = 1000, gap_ms = 8000 };

static struct tn_contact after_answers(int64_t n)
{
    struct tn_contact contact = {.known = false};
    for (int64_t i = 0; i < n; i++)
        tn_contact_answer(&contact, 1000 + i * 1000, 1010 + i * 1000, 501000 + i * 1000 + 5, margin_ms,
                          gap_ms);
    return contact;
}

/* An unknown clock must not bury anybody. */
static void nothing_is_known_before_the_first_answer(void **state)
{
    (void)state;
    const struct tn_contact contact = {.known = false};
    assert_int_equal(tn_contact_steady_ms(&contact, 99999), 0);
    assert_true(tn_contact_store_ms(&contact, 99999) == INT64_MIN);
}

/* Judging before the time has surely passed would bury the living. */
static void the_stores_clock_is_never_guessed_too_late(void **state)
{
    (void)state;
    const struct tn_contact contact = after_answers(1);
    assert_int_equal(tn_contact_store_ms(&contact, 1010), 501005);
    assert_int_equal(tn_contact_store_ms(&contact, 2010), 502005);
}

/* kagkarlsson/db-scheduler#433: a step of the store's clock makes everybody look dead at once. */
static void a_step_of_the_stores_clock_starts_the_wait_anew(void **state)
{
    (void)state;
    for (int64_t step = -30000; step <= 30000; step += 60000) {
        struct tn_contact contact = after_answers(30);
        assert_int_equal(tn_contact_steady_ms(&contact, 31010), 30000);
        tn_contact_answer(&contact, 31000, 31010, 531005 + step, margin_ms, gap_ms);
        assert_int_equal(tn_contact_steady_ms(&contact, 31010), 0);
    }
}

/* Ordinary jitter of an answer must not, or nobody would ever be buried on a busy store. */
static void a_slow_answer_within_the_margin_does_not(void **state)
{
    (void)state;
    struct tn_contact contact = after_answers(30);
    tn_contact_answer(&contact, 31000, 31900, 531800, margin_ms, gap_ms);
    assert_int_equal(tn_contact_steady_ms(&contact, 31900), 30890);
}

/* After an outage all leases look old; their owners must have time to renew first. */
static void a_silence_longer_than_the_gap_starts_the_wait_anew(void **state)
{
    (void)state;
    struct tn_contact contact = after_answers(30);
    tn_contact_answer(&contact, 39000, 39010, 539005, margin_ms, gap_ms);
    assert_int_equal(tn_contact_steady_ms(&contact, 39010), 0);
}

/* A node that was paused sees leases that ended while it could not look. */
static void an_own_pause_starts_the_wait_anew(void **state)
{
    (void)state;
    struct tn_contact contact = after_answers(30);
    tn_contact_break(&contact, 40000);
    assert_int_equal(tn_contact_steady_ms(&contact, 41000), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_before_the_first_answer),
        cmocka_unit_test(the_stores_clock_is_never_guessed_too_late),
        cmocka_unit_test(a_step_of_the_stores_clock_starts_the_wait_anew),
        cmocka_unit_test(a_slow_answer_within_the_margin_does_not),
        cmocka_unit_test(a_silence_longer_than_the_gap_starts_the_wait_anew),
        cmocka_unit_test(an_own_pause_starts_the_wait_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
