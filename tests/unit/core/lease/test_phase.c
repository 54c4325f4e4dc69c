/* The table of a session's life. */
#include "core/lease/phase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A pair that nobody thought of is how a session gets stuck between two lives. */
static void every_pair_stands_exactly_once(void **state)
{
    (void)state;
    size_t n;
    const struct tn_phase_row *table = tn_phase_table(&n);
    assert_int_equal(n, TN_PHASES_N * TN_PHASE_EVENTS_N);
    for (int from = 0; from < TN_PHASES_N; from++)
        for (int event = 0; event < TN_PHASE_EVENTS_N; event++) {
            int found = 0;
            for (size_t i = 0; i < n; i++)
                found += table[i].from == (enum tn_phase)from && table[i].event == (enum tn_phase_event)event;
            assert_int_equal(found, 1);
        }
}

/* A node that was replaced must not come back: two processes would fence each other without end. */
static void a_replaced_session_never_rejoins_and_an_ended_one_does(void **state)
{
    (void)state;
    enum tn_phase phase = TN_PHASE_LIVE;
    assert_true(tn_phase_next(&phase, TN_PHASE_ON_REPLACED));
    assert_int_equal(phase, TN_PHASE_STOPPED);
    for (int event = 0; event < TN_PHASE_EVENTS_N; event++)
        assert_false(tn_phase_next(&phase, (enum tn_phase_event)event));
    phase = TN_PHASE_LIVE;
    assert_true(tn_phase_next(&phase, TN_PHASE_ON_OVER));
    assert_int_equal(phase, TN_PHASE_OUT);
    phase = TN_PHASE_LEAVING;
    assert_true(tn_phase_next(&phase, TN_PHASE_ON_OVER));
    assert_int_equal(phase, TN_PHASE_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_stands_exactly_once),
        cmocka_unit_test(a_replaced_session_never_rejoins_and_an_ended_one_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
