/* The table of what a node holds: if it had a hole, a shard could be stuck or an event could strike a state
 * nobody thought of. */
#include "core/lease/holding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A state that cannot be left for NONE would hold its shard for ever. */
static void every_state_has_a_way_to_not_held(void **state)
{
    (void)state;
    size_t n;
    const struct tn_holding_row *table = tn_holding_table(&n);
    for (int from = 0; from < TN_HOLDING_STATES_N; from++) {
        bool reached[TN_HOLDING_STATES_N] = {[0] = false};
        reached[from] = true;
        for (int pass = 0; pass < TN_HOLDING_STATES_N; pass++)
            for (size_t i = 0; i < n; i++)
                if (reached[table[i].from] && table[i].next != TN_HOLDING_STATES_N)
                    reached[table[i].next] = true;
        assert_true(reached[TN_HOLDING_NONE]);
    }
}

/* Losing the right can happen at any moment: a state without a row for it would go on working. */
static void every_state_knows_what_losing_the_right_means(void **state)
{
    (void)state;
    for (int from = 0; from < TN_HOLDING_STATES_N; from++) {
        struct tn_holding holding = {.state = (uint8_t)from, .token = 7};
        bool bug = false;
        tn_holding_next(&holding, TN_HOLD_LOST, &bug);
        assert_false(bug);
        assert_false(tn_holding_active(&holding));
    }
}

/* Two rows for one pair would make the outcome depend on their order. */
static void no_pair_stands_twice(void **state)
{
    (void)state;
    size_t n;
    const struct tn_holding_row *table = tn_holding_table(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            assert_false(table[i].from == table[j].from && table[i].event == table[j].event);
}

/* Serving can begin in one way only: assigned under a token, then the worker's word. */
static void only_ready_leads_to_serving(void **state)
{
    (void)state;
    size_t n, ways = 0;
    const struct tn_holding_row *table = tn_holding_table(&n);
    for (size_t i = 0; i < n; i++) {
        if (table[i].next != TN_HOLDING_SERVING)
            continue;
        ways++;
        assert_int_equal(table[i].from, TN_HOLDING_RESTORING);
        assert_int_equal(table[i].event, TN_HOLD_READY);
    }
    assert_int_equal(ways, 1);
}

/* A pair that is neither a row nor ignored must be told, and must change nothing. */
static void an_unknown_pair_is_a_bug_and_changes_nothing(void **state)
{
    (void)state;
    struct tn_holding holding = {.state = TN_HOLDING_NONE, .asked = true};
    bool bug = false;
    assert_false(tn_holding_next(&holding, TN_HOLD_DRAINED, &bug));
    assert_true(bug);
    assert_int_equal(holding.state, TN_HOLDING_NONE);
    assert_true(holding.asked);
}

/* A flag that outlived its state would answer for the next one. */
static void a_change_of_state_clears_what_was_noted_for_the_old_one(void **state)
{
    (void)state;
    struct tn_holding holding = {
        .state = TN_HOLDING_DRAINING, .asked = true, .released = true, .idle = true, .kept = true};
    bool bug = false;
    assert_true(tn_holding_next(&holding, TN_HOLD_DRAINED, &bug));
    assert_false(bug || holding.asked || holding.released || holding.idle || holding.kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_has_a_way_to_not_held),
        cmocka_unit_test(every_state_knows_what_losing_the_right_means),
        cmocka_unit_test(no_pair_stands_twice),
        cmocka_unit_test(only_ready_leads_to_serving),
        cmocka_unit_test(an_unknown_pair_is_a_bug_and_changes_nothing),
        cmocka_unit_test(a_change_of_state_clears_what_was_noted_for_the_old_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
