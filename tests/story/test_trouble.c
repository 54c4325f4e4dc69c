/* Stories of what does not go as planned: workers that never get ready, drains without end, shards that kill
 * their owners, many nodes lost at once; and of operators who want it quiet. */
#include "kit/fleet.h"

#include "core/lease/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { minute_ms = 60000, never_ms = 1000000000 };

static uint32_t count_states(struct tn_lab *lab, enum tn_shard_state state)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < lab->settings.shards; s++)
        n += tn_lab_row(lab, s).state == state;
    return n;
}

static uint32_t count_starting(struct tn_lab *lab)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < lab->settings.shards; s++) {
        const struct tn_shard_row row = tn_lab_row(lab, s);
        n += tn_rule_starting(&row);
    }
    return n;
}

static uint64_t calls(struct tn_lab *lab, const char *ids, enum tn_op_kind kind)
{
    uint64_t n = 0;
    for (; *ids; ids++)
        n += tn_lab_node(lab, (char[]){*ids, 0})->calls[kind];
    return n;
}

static uint64_t moves_in(struct tn_lab *lab, const char *ids)
{
    uint64_t n = 0;
    for (; *ids; ids++)
        n += tn_lab_node(lab, (char[]){*ids, 0})->keeper.counters.moves_in;
    return n;
}

/* ---- workers ---- */

/* If a worker that never gets ready kept its shards, they would be lost to everybody, and would block all
 * moves of the group. */
static void a_worker_that_never_gets_ready_loses_its_shards_to_others(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(1, 15000, 64, "ABC");
    lab->ready_ms = never_ms;
    tn_lab_start(lab, "D");
    tn_lab_run(lab, 10000);
    const uint32_t stuck = count_states(lab, TN_SHARD_RESTORING);
    assert_in_range(stuck, 1, 5);
    lab->ready_ms = 2;
    tn_lab_run(lab, lab->settings.restore_timeout_ms - 10000);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_all_owned, NULL, 15000), -1);
    uint32_t failed = 0;
    for (uint32_t s = 0; s < 64; s++) {
        const struct tn_shard_row row = tn_lab_row(lab, s);
        failed += row.avoid != 0;
        if (row.avoid)
            assert_int_not_equal(row.desired, row.avoid);
    }
    assert_int_equal(failed, stuck);
    tn_fleet_close(lab);
}

/* Where nobody else is there, a slow start is waited for. */
static void a_slow_start_is_waited_for_where_nobody_else_is_there(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 8);
    struct tn_lab *lab = tn_fleet_open_with(1, &settings, "");
    lab->ready_ms = 3 * minute_ms;
    tn_lab_start(lab, "A");
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 4 * minute_ms), 3 * minute_ms, 4 * minute_ms);
    assert_int_equal(tn_lab_node(lab, "A")->calls[TN_OP_REVOKE], 0);
    tn_fleet_close(lab);
}

/* If a move that was given up began again at once, a worker with long batches would never be left in peace.
 */
static void a_drain_that_is_given_up_is_tried_again_ever_more_rarely(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 3000, 16);
    settings.on_drain_timeout = 1;
    settings.drain_timeout_ms = 1000;
    struct tn_lab *lab = tn_fleet_open_with(3, &settings, "ABC");
    lab->drain_ms = 10000;
    tn_lab_start(lab, "D");
    tn_lab_run(lab, 10 * minute_ms);
    assert_int_equal(tn_lab_owned(lab, "D"), 0);
    /* 1 + 3, 6, 12, 24, 48, 48 ... seconds: some 16 tries in ten minutes for each of 4 shards;
       two nodes may ask at once */
    assert_in_range(calls(lab, "ABCD", TN_OP_PREPARE), 8, 130);
    lab->drain_ms = 5;
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 2 * minute_ms), -1);
    assert_int_equal(tn_lab_owned(lab, "D"), 4);
    tn_fleet_close(lab);
}

/* A worker may say that it cannot: another node takes the shard, under a raised token. */
static void a_shard_that_is_given_up_goes_to_another_node(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(4, 15000, 16, "AB");
    const uint32_t shard = 3;
    const char *owner = tn_lab_node(lab, "A")->gate[shard] ? "A" : "B", *other = owner[0] == 'A' ? "B" : "A";
    const uint64_t token = tn_lab_node(lab, owner)->token[shard];
    tn_lab_tell(lab, owner, TN_KEEPER_UNABLE, shard, token);
    assert_int_equal(tn_lab_node(lab, owner)->gate[shard], 0);
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 2000), 1, 2000);
    assert_int_not_equal(tn_lab_node(lab, other)->gate[shard], 0);
    assert_true(tn_lab_row(lab, shard).token > token);
    tn_fleet_close(lab);
}

/* A lease ends when work stops, not only when the process dies; the other shards are not touched. */
static void a_shard_without_progress_is_given_up_alone(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 16);
    settings.stall_after_ms = 4000;
    struct tn_lab *lab = tn_fleet_open_with(4, &settings, "AB");
    const uint32_t stalled = 3;
    const char *owner = tn_lab_node(lab, "A")->gate[stalled] ? "A" : "B";
    for (int second = 0; second < 8; second++) {
        for (const char *id = "AB"; *id; id++) {
            const struct tn_lab_node *node = tn_lab_node(lab, (char[]){*id, 0});
            for (uint32_t s = 0; s < 16; s++)
                if (node->gate[s] && (s != stalled || *id != owner[0]))
                    tn_lab_tell(lab, node->id, TN_KEEPER_PROGRESS, s, node->token[s]);
        }
        tn_lab_run(lab, 1000);
    }
    assert_int_equal(tn_lab_node(lab, owner)->gate[stalled], 0);
    assert_int_equal(tn_lab_node(lab, owner)->keeper.counters.stalls, 1);
    assert_int_equal(tn_lab_node(lab, owner)->lost, 1);
    assert_true(tn_lab_all_owned(lab, NULL));
    tn_fleet_close(lab);
}

/* ---- poison ---- */

static void kill_owner(struct tn_lab *lab, uint32_t shard, char next)
{
    const uint64_t session = tn_lab_row(lab, shard).session;
    for (int i = 0; i < TN_LAB_NODES; i++)
        if (lab->nodes[i].used && lab->nodes[i].running && lab->nodes[i].keeper.session == session) {
            tn_lab_kill(lab, lab->nodes[i].id);
            tn_lab_start(lab, (char[]){next, 0});
            return;
        }
    fail_msg("shard %u has no owner to kill", shard);
}

/* If a shard that kills its owner went from node to node, it would take the whole fleet down. */
static void a_shard_whose_owners_die_is_set_aside_and_the_rest_go_on(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 64);
    settings.quarantine_after = 3;
    settings.settle_ms = minute_ms; /* the newcomers take nothing meanwhile */
    struct tn_lab *lab = tn_fleet_open_with(5, &settings, "ABCDEFGH");
    for (int death = 0; death < 3; death++) {
        assert_int_not_equal(tn_lab_until(lab, tn_lab_all_owned, NULL, 10000), -1);
        kill_owner(lab, 7, (char)('R' + death));
    }
    tn_lab_run(lab, 10000);
    assert_int_equal(tn_lab_row(lab, 7).state, TN_SHARD_QUARANTINED);
    assert_in_range(count_states(lab, TN_SHARD_QUARANTINED), 1, 2);
    assert_int_equal(count_states(lab, TN_SHARD_OWNED) + count_states(lab, TN_SHARD_QUARANTINED), 64);
    struct tenure_error error;
    for (uint32_t s = 0; s < 64; s++)
        if (tn_lab_row(lab, s).state == TN_SHARD_QUARANTINED)
            assert_int_equal(
                lab->store->type->quarantine(lab->store, lab->group_number, s, false, 1000, &error),
                TENURE_OK);
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 10000), 0, 10000);
    tn_fleet_close(lab);
}

/* A leave or a replacement is not a death: a day of deploys sets nothing aside. */
static void clean_leaves_do_not_count_as_deaths(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 3000, 16);
    settings.quarantine_after = 1;
    struct tn_lab *lab = tn_fleet_open_with(6, &settings, "AB");
    for (int round = 0; round < 4; round++) {
        tn_lab_stop(lab, round % 2 ? "B" : "A", 30000);
        tn_lab_run(lab, 5000);
        tn_lab_start(lab, round % 2 ? "B" : "A");
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, minute_ms), -1);
    }
    assert_int_equal(count_states(lab, TN_SHARD_QUARANTINED), 0);
    tn_fleet_close(lab);
}

/* ---- mass loss ---- */

struct bound {
    uint32_t most_starting;
};

static bool watch_starting(struct tn_lab *lab, const void *argument)
{
    struct bound *bound = (struct bound *)(uintptr_t)argument;
    const uint32_t starting = count_starting(lab);
    if (starting > bound->most_starting)
        bound->most_starting = starting;
    return tn_lab_all_owned(lab, NULL);
}

/* When a third of the fleet is gone at once, something is wrong that moves would only make worse. */
static void a_mass_loss_freezes_balance_and_bounds_takeovers(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 3000, 256);
    settings.max_moves = 2;
    struct tn_lab *lab = tn_fleet_open_with(7, &settings, "ABCDEF");
    tn_lab_run(lab, 10000);
    lab->ready_ms = 100;
    tn_lab_kill(lab, "A");
    tn_lab_kill(lab, "B");
    tn_lab_run(lab,
               1100); /* the first is buried and its shards taken before the second counts as one of many */
    struct bound bound = {0};
    assert_int_not_equal(tn_lab_until(lab, watch_starting, &bound, 20000), -1);
    assert_in_range(bound.most_starting, 1, 43); /* those of the first, and then 8 x max_moves at a time */
    tn_lab_start(lab, "G");
    const uint64_t before = moves_in(lab, "CDEF");
    tn_lab_run(lab, 9000); /* settle is long over; steady for four leases it has not been */
    assert_int_equal(tn_lab_owned(lab, "G"), 0);
    assert_int_equal(moves_in(lab, "CDEF"), before);
    tn_lab_run(lab, 6000);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, minute_ms), -1);
    assert_in_range(tn_lab_owned(lab, "G"), 51, 52);
    tn_fleet_close(lab);
}

/* An operator who understands what happened need not wait. */
static void an_operator_ends_the_freeze(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(8, 15000, 64, "ABCD");
    tn_lab_kill(lab, "A");
    tn_lab_kill(lab, "B");
    assert_int_not_equal(tn_lab_until(lab, tn_lab_all_owned, NULL, 20000), -1);
    tn_lab_start(lab, "E");
    tn_lab_run(lab, 10000);
    assert_int_equal(tn_lab_owned(lab, "E"), 0);
    struct tenure_error error;
    uint32_t dropped;
    assert_int_equal(
        lab->store->type->resume(lab->store, lab->group_number, NULL, true, &dropped, 1000, &error),
        TENURE_OK);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 20000), -1);
    tn_fleet_close(lab);
}

/* One node of three is a third, and still only one: its shards are moved on as ever. */
static void a_single_loss_freezes_nothing(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(9, 15000, 64, "ABC");
    tn_lab_kill(lab, "A");
    tn_lab_start(lab, "D");
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 20000), -1);
    tn_fleet_close(lab);
}

/* ---- operators who want it quiet ---- */

static void a_pause_stops_balance_and_nothing_else(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(10, 15000, 64, "AB");
    struct tenure_error error;
    uint32_t dropped;
    const struct tn_store_type *type = lab->store->type;
    assert_int_equal(type->pause(lab->store, 1, "backup", "ann", 1000, &error), TENURE_OK);
    assert_int_equal(type->pause(lab->store, 1, "audit", "bob", 1000, &error), TENURE_OK);
    tn_lab_start(lab, "C");
    tn_lab_run(lab, 2 * minute_ms);
    assert_int_equal(tn_lab_owned(lab, "C"), 0);
    tn_lab_stop(lab, "A", 30000); /* a leave goes on */
    tn_lab_run(lab, 10000);
    assert_true(tn_lab_all_owned(lab, NULL));
    assert_false(tn_lab_node(lab, "A")->running);
    tn_lab_kill(lab, "B"); /* a takeover too */
    tn_lab_run(lab, 10000);
    assert_true(tn_lab_all_owned(lab, NULL));
    assert_int_equal(tn_lab_owned(lab, "C"), 64);
    tn_lab_start(lab, "D");
    tn_lab_run(lab, minute_ms);
    assert_int_equal(type->resume(lab->store, 1, "backup", false, &dropped, 1000, &error), TENURE_OK);
    tn_lab_run(lab, minute_ms);
    assert_int_equal(tn_lab_owned(lab, "D"), 0); /* one reason is left */
    assert_int_equal(type->resume(lab->store, 1, NULL, false, &dropped, 1000, &error), TENURE_OK);
    assert_int_equal(dropped, 1);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, minute_ms), -1);
    assert_int_equal(type->resume(lab->store, 1, NULL, false, &dropped, 1000, &error), TENURE_NOT_FOUND);
    tn_fleet_close(lab);
}

static void nothing_moves_in_quiet_hours(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 64);
    settings.quiet_hours = tn_settings_hours(23 * 60 + 50, 10); /* the lab begins at midnight, Unix time */
    struct tn_lab *lab = tn_fleet_open_with(11, &settings, "AB");
    tn_lab_start(lab, "C");
    tn_lab_run(lab, 9 * minute_ms);
    assert_int_equal(tn_lab_owned(lab, "C"), 0);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 2 * minute_ms), -1);
    assert_in_range(lab->now_ms, 10 * minute_ms, 11 * minute_ms);
    tn_fleet_close(lab);
}

/* ---- back in a moment ---- */

static struct tn_lab *returning_fleet(int64_t within_ms)
{
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 64);
    settings.return_within_ms = within_ms;
    return tn_fleet_open_with(12, &settings, "ABCD");
}

/* If a restart moved shards, a deploy of n nodes would move all of them n times. */
static void a_node_that_returns_in_time_finds_its_place(void **state)
{
    (void)state;
    struct tn_lab *lab = returning_fleet(minute_ms);
    for (const char *id = "ABCD"; *id; id++) {
        uint32_t desired[64];
        for (uint32_t s = 0; s < 64; s++)
            desired[s] = tn_lab_row(lab, s).desired;
        tn_lab_stop(lab, (char[]){*id, 0}, 30000);
        tn_lab_run(lab, 2000);
        assert_false(tn_lab_node(lab, (char[]){*id, 0})->running);
        assert_int_equal(tn_lab_unowned(lab), 16);
        tn_lab_run(lab, 30000);
        assert_int_equal(tn_lab_unowned(lab), 16);
        tn_lab_start(lab, (char[]){*id, 0});
        assert_in_range(tn_lab_until(lab, tn_lab_balanced, NULL, 3000), 1, 1000);
        for (uint32_t s = 0; s < 64; s++)
            assert_int_equal(tn_lab_row(lab, s).desired, desired[s]);
    }
    assert_int_equal(moves_in(lab, "ABCD"), 0);
    for (const char *id = "ABCD"; *id; id++)
        assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->keeper.counters.alarms, 0);
    tn_fleet_close(lab);
}

static void a_node_that_does_not_return_loses_its_place(void **state)
{
    (void)state;
    struct tn_lab *lab = returning_fleet(20000);
    tn_lab_stop(lab, "B", 30000);
    tn_lab_run(lab, 15000);
    assert_int_equal(tn_lab_unowned(lab), 16);
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 20000), 3000, 8000);
    assert_int_equal(tn_lab_owned(lab, "A") + tn_lab_owned(lab, "C") + tn_lab_owned(lab, "D"), 64);
    tn_fleet_close(lab);
}

/* ---- the alarm ---- */

static void shards_without_an_owner_are_spoken_of(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(13, 3000, 16, "AB");
    struct tenure_error error;
    assert_int_equal(lab->store->type->node_drain(lab->store, "B", 0, true, 1000, &error), TENURE_OK);
    tn_lab_run(lab, 10000);
    tn_lab_stop(lab, "A", 1000); /* B is drained: nobody may take what A leaves */
    tn_lab_run(lab, 10000);
    assert_int_equal(tn_lab_unowned(lab), 16);
    assert_true(tn_lab_node(lab, "B")->keeper.counters.alarms >= 1);
    assert_non_null(strstr(lab->trace.bytes, "alarm: 16 shards"));
    tn_fleet_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_never_gets_ready_loses_its_shards_to_others),
        cmocka_unit_test(a_slow_start_is_waited_for_where_nobody_else_is_there),
        cmocka_unit_test(a_drain_that_is_given_up_is_tried_again_ever_more_rarely),
        cmocka_unit_test(a_shard_that_is_given_up_goes_to_another_node),
        cmocka_unit_test(a_shard_without_progress_is_given_up_alone),
        cmocka_unit_test(a_shard_whose_owners_die_is_set_aside_and_the_rest_go_on),
        cmocka_unit_test(clean_leaves_do_not_count_as_deaths),
        cmocka_unit_test(a_mass_loss_freezes_balance_and_bounds_takeovers),
        cmocka_unit_test(an_operator_ends_the_freeze),
        cmocka_unit_test(a_single_loss_freezes_nothing),
        cmocka_unit_test(a_pause_stops_balance_and_nothing_else),
        cmocka_unit_test(nothing_moves_in_quiet_hours),
        cmocka_unit_test(a_node_that_returns_in_time_finds_its_place),
        cmocka_unit_test(a_node_that_does_not_return_loses_its_place),
        cmocka_unit_test(shards_without_an_owner_are_spoken_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
