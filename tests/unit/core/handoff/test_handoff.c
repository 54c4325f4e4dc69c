/* The table of a shard's row in the store. */
#include "core/handoff/handoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>

/* A phase that could not be left would hold its shard for ever. */
static void every_state_leads_back_to_owned(void **state)
{
    (void)state;
    size_t n;
    const struct tn_handoff_row *table = tn_handoff_table(&n);
    for (int from = TN_SHARD_UNOWNED; from <= TN_SHARD_RESTORING; from++) {
        bool reached[TN_SHARD_QUARANTINED + 1] = {[0] = false};
        reached[from] = true;
        for (int pass = 0; pass < 8; pass++)
            for (size_t i = 0; i < n; i++)
                if (reached[table[i].from])
                    reached[table[i].next] = true;
        assert_true(reached[TN_SHARD_OWNED]);
    }
}

/* The death of the owner may come in any phase; a phase without a row for it would leave the shard ownerless.
 */
static void a_dead_owners_shard_can_be_claimed_in_every_phase(void **state)
{
    (void)state;
    for (int from = TN_SHARD_UNOWNED; from <= TN_SHARD_RESTORING; from++) {
        struct tn_shard_row row = {.state = (uint8_t)from};
        assert_true(tn_handoff_move(&row, TN_OP_CLAIM));
        assert_int_equal(row.state, TN_SHARD_RESTORING);
    }
    struct tn_shard_row row = {.state = TN_SHARD_QUARANTINED};
    assert_false(tn_handoff_move(&row, TN_OP_CLAIM));
    assert_int_equal(row.state, TN_SHARD_QUARANTINED);
}

/* A transfer that was not preceded by a drain would cut work off. */
static void only_a_drained_shard_is_transferred_and_only_a_prepared_one_drained(void **state)
{
    (void)state;
    size_t n;
    const struct tn_handoff_row *table = tn_handoff_table(&n);
    for (size_t i = 0; i < n; i++) {
        if (table[i].verb == TN_OP_TRANSFER || table[i].verb == TN_OP_FORCE)
            assert_int_equal(table[i].from, TN_SHARD_DRAINING);
        if (table[i].next == TN_SHARD_DRAINING)
            assert_int_equal(table[i].from, TN_SHARD_PREPARING);
        for (size_t j = i + 1; j < n; j++)
            assert_false(table[i].from == table[j].from && table[i].verb == table[j].verb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_leads_back_to_owned),
        cmocka_unit_test(a_dead_owners_shard_can_be_claimed_in_every_phase),
        cmocka_unit_test(only_a_drained_shard_is_transferred_and_only_a_prepared_one_drained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
