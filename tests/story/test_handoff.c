/* Stories of movement: nodes come and go on purpose, and shards follow a few at a time, never ownerless. */
#include "kit/fleet.h"

#include "core/lease/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

struct watch {
    uint32_t most_unowned;
};

/* A condition that never holds, for looking while time passes. */
static bool watch_unowned(struct tn_lab *lab, const void *argument)
{
    struct watch *watch = (struct watch *)(uintptr_t)argument;
    const uint32_t unowned = tn_lab_unowned(lab);
    if (unowned > watch->most_unowned)
        watch->most_unowned = unowned;
    return false;
}

/* If a newcomer reshuffled everybody, each scale-out would stop the fleet. */
static void a_fifth_node_gets_exactly_51_of_256_shards_at_most_five_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct tn_lab *lab = tn_fleet_open(seed, 15000, 256, "ABCD");
        tn_lab_run(lab, 5000);
        tn_lab_start(lab, "E");
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 30000), -1);
        tn_lab_run(lab, 5000);
        assert_int_equal(tn_lab_owned(lab, "E"), 51);
        assert_int_equal(tn_lab_node(lab, "E")->keeper.counters.moves_in, 51);
        uint64_t out = 0;
        for (const char *id = "ABCD"; *id; id++) {
            out += tn_lab_node(lab, (char[]){*id, 0})->keeper.counters.moves_out;
            assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->keeper.counters.moves_in, 0);
            assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->lost, 0);
        }
        assert_int_equal(out, 51);
        assert_in_range(lab->most_in_handoff, 2, 5);
        tn_fleet_close(lab);
    }
}

/* If a clean stop left its shards to the lease, every deploy would cost 15 seconds a node. */
static void a_leaving_node_hands_over_all_its_shards_without_an_ownerless_moment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct tn_lab *lab = tn_fleet_open(seed, 15000, 256, "ABCD");
        tn_lab_run(lab, 2000);
        tn_lab_stop(lab, "B", 30000);
        struct watch watch = {0};
        tn_lab_until(lab, watch_unowned, &watch, 10000);
        assert_int_equal(watch.most_unowned, 0);
        assert_int_equal(tn_lab_node(lab, "B")->stopped, TENURE_OK);
        assert_false(tn_lab_node(lab, "B")->running);
        assert_true(tn_lab_balanced(lab, NULL));
        assert_int_equal(tn_lab_node(lab, "B")->keeper.counters.moves_out, 64);
        assert_in_range(lab->most_in_handoff, 2, 5);
        tn_fleet_close(lab);
    }
}

/* If the last node waited for somebody to hand over to, it could never stop. */
static void the_last_node_leaves_although_nobody_can_take_over(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(5, 15000, 64, "A");
    tn_lab_stop(lab, "A", 30000);
    tn_lab_run(lab, 1000);
    assert_false(tn_lab_node(lab, "A")->running);
    assert_int_equal(tn_lab_node(lab, "A")->stopped, TENURE_OK);
    assert_int_equal(tn_lab_unowned(lab), 64);
    tn_lab_start(lab, "B");
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 3000), -1);
    assert_int_equal(tn_lab_owned(lab, "B"), 64);
    tn_fleet_close(lab);
}

/* If a worker that never finishes could hold a drain for ever, a node could not be taken down. */
static void a_stop_whose_limit_passes_gives_the_rest_up_and_says_so(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(6, 15000, 64, "AB");
    lab->drain_ms = 600000;
    tn_lab_stop(lab, "A", 3000);
    tn_lab_run(lab, 3500);
    assert_int_equal(tn_lab_node(lab, "A")->stopped, TENURE_REFUSED);
    lab->drain_ms = 5;
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 5000), -1);
    assert_int_equal(tn_lab_owned(lab, "B"), 64);
    tn_fleet_close(lab);
}

/* If the death of either party stuck a handoff, one crash at the wrong moment would block a shard. */
static void a_handoff_survives_the_death_of_its_source_or_target_at_any_moment(void **state)
{
    (void)state;
    for (int64_t at_ms = 0; at_ms < 120; at_ms += 3) {
        for (int who = 0; who < 2; who++) {
            struct tn_lab *lab = tn_fleet_open((uint64_t)at_ms + 1, 2000, 16, "AB");
            tn_lab_run(lab, 3000);
            tn_lab_start(lab, "C");
            tn_lab_run(lab, 500 + at_ms);
            tn_lab_kill(lab, who ? "C" : "A");
            assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 70000), -1);
            tn_fleet_close(lab);
        }
    }
}

/* If a drain that takes too long were not forced, one stuck worker would stop every rebalance. */
static void a_drain_beyond_its_limit_is_forced_under_a_raised_token(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(9, 15000, 8, "AB");
    tn_lab_run(lab, 3000);
    lab->drain_ms = 600000;
    tn_lab_start(lab, "C");
    tn_lab_run(lab, 20000);
    assert_int_equal(tn_lab_owned(lab, "C"), 0);
    tn_lab_run(lab, 20000);
    assert_int_equal(tn_lab_owned(lab, "C"), 2);
    assert_int_equal(tn_lab_node(lab, "A")->lost + tn_lab_node(lab, "B")->lost, 2);
    assert_true(tn_lab_all_owned(lab, NULL));
    tn_fleet_close(lab);
}

/* apache and others: a lost reply to any step of a handoff must neither stick nor double it. */
static void a_lost_reply_to_any_step_of_a_handoff_is_made_good(void **state)
{
    (void)state;
    static const enum tn_op_kind kinds[] = {TN_OP_PREPARE, TN_OP_PREPARED, TN_OP_TRANSFER, TN_OP_LOAD,
                                            TN_OP_READY,   TN_OP_LEAVE,    TN_OP_TICK};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct tn_lab *lab = tn_fleet_open(50 + k, 2000, 16, "AB");
        for (const char *id = "AB"; *id; id++) {
            tn_lab_node(lab, (char[]){*id, 0})->lose_kind = kinds[k];
            tn_lab_node(lab, (char[]){*id, 0})->lose_count = 2;
        }
        struct tn_lab_node *node = tn_lab_start(lab, "C");
        node->lose_kind = kinds[k];
        node->lose_count = 2;
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 20000), -1);
        tn_lab_stop(lab, "A", 10000);
        tn_lab_run(lab, 12000);
        assert_false(tn_lab_node(lab, "A")->running);
        assert_int_equal(tn_lab_node(lab, "A")->stopped, TENURE_OK);
        assert_true(tn_lab_balanced(lab, NULL));
        for (uint32_t shard = 0; shard < 16; shard++)
            assert_true(tn_lab_row(lab, shard).token <= 3);
        tn_fleet_close(lab);
    }
}

/* If an unknown outcome were not fenced off before the state is read again, the late write would be lost or
 * doubled. */
static void a_reload_raises_the_token_by_one_and_stays_on_the_node(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(10, 15000, 16, "AB");
    struct tn_lab_node *node = tn_lab_node(lab, "A");
    uint32_t shard = 0;
    while (!node->gate[shard])
        shard++;
    const uint64_t token = node->gate[shard];
    tn_lab_tell(lab, "A", TN_KEEPER_RELOAD, shard, token);
    assert_int_equal(node->gate[shard], 0);
    tn_lab_run(lab, 100);
    assert_int_equal(node->gate[shard], token + 1);
    assert_int_equal(tn_lab_row(lab, shard).token, token + 1);
    assert_int_equal(tn_lab_row(lab, shard).session, node->keeper.session);
    tn_fleet_close(lab);
}

/* kubernetes/kubernetes#44887: after a refused write the node must stop the shard, and only that shard. */
static void a_write_refused_by_the_fence_stops_that_shard_alone(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(11, 15000, 16, "AB");
    struct tn_lab_node *node = tn_lab_node(lab, "A");
    uint32_t shard = 0;
    while (!node->gate[shard])
        shard++;
    tn_lab_tell(lab, "A", TN_KEEPER_STALE, shard, node->gate[shard]);
    assert_int_equal(node->gate[shard], 0);
    assert_int_equal(node->lost, 1);
    assert_int_equal(node->keeper.counters.stale_rejected, 1);
    tn_lab_run(lab, 200);
    assert_int_equal(node->gate[shard],
                     2); /* it is still the owner on paper: adopted again under a raised token */
    assert_int_equal(node->lost, 1);
    tn_fleet_close(lab);
}

/* Azure/azure-sdk-for-python#38812: fifty first claims at once. */
static void fifty_nodes_that_start_at_once_own_each_shard_once_within_a_second(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_settings_init(&settings);
    struct tn_lab lab;
    tn_lab_open(&lab, 12, &settings);
    lab.quiet_shards = true;
    char id[16];
    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof id, "n%02d", i);
        tn_lab_start(&lab, id);
        tn_lab_run(&lab, 2);
    }
    const int64_t took = tn_lab_until(&lab, tn_lab_balanced, NULL, 3000);
    assert_in_range(took, 0, 1000);
    for (uint32_t shard = 0; shard < 256; shard++)
        assert_int_equal(tn_lab_row(&lab, shard).token, 1);
    assert_string_equal(lab.broken, "");
    tn_lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fifth_node_gets_exactly_51_of_256_shards_at_most_five_at_a_time),
        cmocka_unit_test(a_leaving_node_hands_over_all_its_shards_without_an_ownerless_moment),
        cmocka_unit_test(the_last_node_leaves_although_nobody_can_take_over),
        cmocka_unit_test(a_stop_whose_limit_passes_gives_the_rest_up_and_says_so),
        cmocka_unit_test(a_handoff_survives_the_death_of_its_source_or_target_at_any_moment),
        cmocka_unit_test(a_drain_beyond_its_limit_is_forced_under_a_raised_token),
        cmocka_unit_test(a_lost_reply_to_any_step_of_a_handoff_is_made_good),
        cmocka_unit_test(a_reload_raises_the_token_by_one_and_stays_on_the_node),
        cmocka_unit_test(a_write_refused_by_the_fence_stops_that_shard_alone),
        cmocka_unit_test(fifty_nodes_that_start_at_once_own_each_shard_once_within_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
