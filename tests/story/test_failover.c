/* Stories of loss: a node is killed, paused, or loses its store, and its shards live on. Times are the small
 * lab's unless said. */
#include "kit/fleet.h"

#include "store/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* If the first plan were made by whoever comes first, a fleet that starts together would begin with a storm
 * of moves. */
static void four_nodes_that_start_together_share_without_a_single_move(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct tn_lab *lab = tn_fleet_open(seed, 15000, 256, "ABCD");
        assert_true(lab->now_ms <= 1000 + 1500);
        for (const char *id = "ABCD"; *id; id++) {
            assert_int_equal(tn_lab_owned(lab, (char[]){*id, 0}), 64);
            assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->assigned, 64);
        }
        for (uint32_t shard = 0; shard < 256; shard++)
            assert_int_equal(tn_lab_row(lab, shard).token, 1);
        tn_fleet_close(lab);
    }
}

/* If a killed process cost a whole lease, every crash would stop its shards for 15 seconds. */
static void shards_of_a_killed_node_are_ready_elsewhere_within_two_seconds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct tn_lab *lab = tn_fleet_open(seed, 15000, 256, "ABCD");
        tn_lab_run(lab, 3000 + (int64_t)seed * 371);
        const char victim[] = {(char)('A' + seed % 4), 0};
        tn_lab_kill(lab, victim);
        const int64_t took = tn_lab_until(lab, tn_lab_balanced, NULL, 20000);
        assert_true(took > 0 && took <= 2000);
        for (uint32_t shard = 0; shard < 256; shard++)
            assert_true(tn_lab_row(lab, shard).token <= 2);
        tn_fleet_close(lab);
    }
}

/* If a paused process kept its lease for ever, or went on after it, its shards would be stuck or doubled. */
static void shards_of_a_paused_node_are_taken_over_after_its_lease_and_it_comes_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct tn_lab *lab = tn_fleet_open(seed, 15000, 256, "ABCD");
        tn_lab_run(lab, 16000 + (int64_t)seed * 271);
        const char victim[] = {(char)('A' + seed % 4), 0};
        struct tn_lab_node *node = tn_lab_node(lab, victim);
        const uint64_t old_session = node->keeper.session;
        tn_lab_pause(lab, victim);
        const int64_t took = tn_lab_until(lab, tn_lab_all_owned, NULL, 30000);
        assert_true(took > 9000 && took <= 15500);
        tn_lab_run(lab, 5000);
        assert_true(lab->now_ms >= node->deadline_ms);
        const uint64_t lost = node->lost;
        tn_lab_resume(lab, victim);
        tn_lab_run(lab, 2000);
        assert_int_equal(node->lost, lost + 64);
        assert_int_not_equal(node->keeper.session, old_session);
        assert_int_equal(node->keeper.phase, TN_PHASE_LIVE);
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 90000), -1);
        tn_fleet_close(lab);
    }
}

/* If a short outage cost ownership, every restart of the store would be a storm. */
static void an_outage_shorter_than_the_lease_costs_nothing(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(7, 15000, 256, "ABCD");
    tn_lab_run(lab, 16000);
    lab->store_down = true;
    tn_lab_run(lab, 7500);
    lab->store_down = false;
    tn_lab_run(lab, 20000);
    for (const char *id = "ABCD"; *id; id++) {
        assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->lost, 0);
        assert_int_equal(tn_lab_owned(lab, (char[]){*id, 0}), 64);
    }
    tn_fleet_close(lab);
}

/* If a long outage ended in burials, all shards would change nodes for nothing; if nodes worked through it,
 * two could own one. */
static void an_outage_longer_than_the_lease_stops_all_and_moves_nothing(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(8, 15000, 256, "ABCD");
    tn_lab_run(lab, 16000);
    lab->store_down = true;
    tn_lab_run(lab, 45000);
    for (const char *id = "ABCD"; *id; id++)
        assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->lost, 64);
    lab->store_down = false;
    const int64_t took = tn_lab_until(lab, tn_lab_balanced, NULL, 15000);
    assert_true(took >= 0 && took <= 2000);
    tn_lab_run(lab, 60000);
    for (uint32_t shard = 0; shard < 256; shard++)
        assert_int_equal(tn_lab_row(lab, shard).token, 2);
    for (const char *id = "ABCD"; *id; id++) {
        assert_int_equal(tn_lab_owned(lab, (char[]){*id, 0}), 64);
        assert_int_equal(tn_lab_node(lab, (char[]){*id, 0})->keeper.counters.burials, 0);
    }
    tn_fleet_close(lab);
}

/* awslabs/amazon-kinesis-client#2, #59, #537: a renewal that succeeded, its answer lost, looked like a lost
 * lease. */
static void a_lost_reply_to_any_request_loses_no_shard_and_raises_no_token_twice(void **state)
{
    (void)state;
    static const enum tn_op_kind kinds[] = {TN_OP_TICK,  TN_OP_SYNC, TN_OP_READY,
                                            TN_OP_CLAIM, TN_OP_JOIN, TN_OP_PLAN};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct tn_lab *lab = tn_fleet_open(30 + k, 2000, 64, "");
        struct tn_lab_node *node = tn_lab_start(lab, "A");
        node->lose_kind = kinds[k];
        node->lose_count = 1;
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 10000), -1);
        tn_lab_run(lab, 10000);
        assert_int_equal(node->lose_count, 0);
        assert_int_equal(node->lost, 0);
        for (uint32_t shard = 0; shard < 64; shard++)
            assert_int_equal(tn_lab_row(lab, shard).token, 1);
        tn_fleet_close(lab);
    }
}

/* kubernetes/kubernetes#47671: an observer judged by its own, shorter lease buries a healthy node. */
static void a_node_is_judged_by_its_own_lease_not_the_observers(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(3, 30000, 32, "A");
    struct tn_lab_node *node = tn_lab_start(lab, "Y");
    tn_lab_run(lab, 2000);
    node->keeper.lease_ms = 10000;
    node->keeper.renew_ms = 3000;
    tn_lab_run(lab, 120000);
    assert_int_equal(node->keeper.counters.burials, 0);
    assert_int_equal(tn_lab_node(lab, "A")->lost, 0);
    tn_fleet_close(lab);
}

/* B15, B46: a changed lease must reach the store with the next renewal, in full length and no other. */
static void a_lease_changed_online_is_used_from_the_next_renewal_on(void **state)
{
    (void)state;
    static const int64_t leases[] = {5000, 120000};
    for (int i = 0; i < 2; i++) {
        struct tn_lab *lab = tn_fleet_open(4, 30000, 8, "AB");
        struct tn_settings settings = lab->settings;
        struct tenure_error error = {0};
        settings.lease_ms = leases[i];
        settings.renew_ms = leases[i] == 5000 ? 1500 : -1;
        settings.request_ms = settings.margin_ms = -1;
        tn_settings_derive(&settings);
        assert_int_equal(lab->store->type->group_set(lab->store, "orders", &settings, 1000, &error),
                         TENURE_OK);
        tn_lab_run(lab, 12000);
        for (const char *id = "AB"; *id; id++) {
            const struct tn_lab_node *node = tn_lab_node(lab, (char[]){*id, 0});
            assert_int_equal(node->keeper.lease_ms, leases[i]);
            const int64_t ahead = node->deadline_ms + settings.margin_ms - lab->now_ms;
            assert_in_range(ahead, leases[i] - settings.renew_ms - 100, leases[i]);
            assert_int_equal(node->lost, 0);
        }
        tn_fleet_close(lab);
    }
}

/* Found by a storm (seed 3620): the join was taken, its reply lost three times; the repeated join answers
 * with the session as the first one made it. A lease counted from the last request would outlive the one in
 * the store, and two nodes would own a shard. */
static void a_join_whose_reply_was_lost_counts_its_lease_from_the_first_time(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(3620, 2000, 8, "A");
    struct tn_lab_node *node = tn_lab_start(lab, "B");
    const int64_t began_ms = lab->now_ms;
    node->lose_kind = TN_OP_JOIN;
    node->lose_count = 6;
    while (node->keeper.phase != TN_PHASE_LIVE)
        tn_lab_run(lab, 1);
    assert_true(lab->now_ms - began_ms > 500);
    assert_true(node->deadline_ms <= began_ms + 10 + 2000 - lab->settings.margin_ms);
    tn_fleet_close(lab);
}

/* K2: a program that hashes keys differently would work on other nodes' keys; it must not even join. */
static void a_node_whose_hash_differs_from_the_groups_is_refused_at_join(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(2, 2000, 8, "");
    struct tn_settings settings = lab->settings;
    struct tenure_error error = {0};
    assert_int_equal(lab->store->type->group_create(lab->store, "foreign", &settings, 12345, 1000, &error),
                     TENURE_OK);
    lab->group = "foreign";
    struct tn_lab_node *node = tn_lab_start(lab, "A");
    tn_lab_run(lab, 2000);
    assert_false(node->joined);
    assert_int_equal(node->failed, TENURE_FINGERPRINT);
    assert_int_equal(node->assigned, 0);
    tn_fleet_close(lab);
}

/* The session of a join whose reply was lost may be over before the join is repeated: the node must start
 * anew. */
static void a_node_whose_first_session_ended_unheard_joins_with_another(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(12, 2000, 8, "A");
    struct tn_lab_node *node = tn_lab_start(lab, "B");
    node->lose_kind = TN_OP_JOIN;
    node->lose_count = 1;
    tn_lab_run(lab, 4);
    assert_int_equal(node->lose_count, 0);
    struct tn_op op = {.kind = TN_OP_BURY, .limit_ms = 1000};
    struct tn_arena memory;
    tn_arena_init(&memory);
    op.arena = &memory;
    op.bury = (struct tn_op_bury){.victim = 2, .evidence = TN_CRASHED};
    tn_memory_set_presence(lab->store, 2, TN_PRESENCE_GONE);
    lab->store->type->exec(lab->store, &op);
    assert_true(op.status == TENURE_OK && op.bury.buried);
    tn_arena_done(&memory);
    tn_lab_run(lab, 1000);
    assert_int_equal(node->keeper.phase, TN_PHASE_LIVE);
    assert_int_equal(node->keeper.session, 3);
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 10000), -1);
    tn_fleet_close(lab);
}

/* A slow store: a deadline counted from the answer would outlive the lease by the time that the request was
 * on its way. */
static void the_deadline_counts_from_when_the_renewal_was_sent(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(6, 2000, 8, "A");
    struct tn_lab_node *node = tn_lab_node(lab, "A");
    lab->latency_ms = 150;
    for (int i = 0; i < 200; i++) {
        tn_lab_run(lab, 50);
        assert_true(node->deadline_ms <= tn_lab_lease_until(lab, "A") - lab->settings.margin_ms);
    }
    assert_int_equal(node->lost, 0);
    tn_fleet_close(lab);
}

/* A group that is deleted while its node is paused must not keep the node out of its other life. */
static void a_node_whose_group_was_made_anew_meanwhile_serves_the_new_one(void **state)
{
    (void)state;
    struct tn_lab *lab = tn_fleet_open(6, 2000, 8, "A");
    struct tn_lab_node *node = tn_lab_node(lab, "A");
    const uint64_t before = tn_lab_row(lab, 0).token;
    struct tenure_error error = {0};
    struct tn_op op = {.kind = TN_OP_BURY, .limit_ms = 1000};
    struct tn_arena memory;
    tn_arena_init(&memory);
    op.arena = &memory;
    op.bury = (struct tn_op_bury){.victim = node->keeper.session, .evidence = TN_CRASHED};
    tn_lab_pause(lab, "A");
    tn_memory_set_presence(lab->store, node->keeper.session, TN_PRESENCE_GONE);
    lab->store->type->exec(lab->store, &op);
    assert_true(op.bury.buried);
    tn_arena_done(&memory);
    assert_int_equal(lab->store->type->group_delete(lab->store, "orders", 1000, &error), TENURE_OK);
    struct tn_hasher hasher;
    assert_int_equal(tn_hasher_init(&hasher, TN_HASH_XXH3, 0, 8, &error), TENURE_OK);
    assert_int_equal(lab->store->type->group_create(lab->store, "orders", &lab->settings,
                                                    tn_hash_fingerprint(&hasher), 1000, &error),
                     TENURE_OK);
    lab->group_number = 2;
    tn_lab_resume(lab, "A");
    assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 10000), -1);
    assert_true(tn_lab_row(lab, 0).token > before);
    tn_fleet_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_nodes_that_start_together_share_without_a_single_move),
        cmocka_unit_test(shards_of_a_killed_node_are_ready_elsewhere_within_two_seconds),
        cmocka_unit_test(shards_of_a_paused_node_are_taken_over_after_its_lease_and_it_comes_back),
        cmocka_unit_test(an_outage_shorter_than_the_lease_costs_nothing),
        cmocka_unit_test(an_outage_longer_than_the_lease_stops_all_and_moves_nothing),
        cmocka_unit_test(a_lost_reply_to_any_request_loses_no_shard_and_raises_no_token_twice),
        cmocka_unit_test(a_node_is_judged_by_its_own_lease_not_the_observers),
        cmocka_unit_test(a_join_whose_reply_was_lost_counts_its_lease_from_the_first_time),
        cmocka_unit_test(a_node_whose_hash_differs_from_the_groups_is_refused_at_join),
        cmocka_unit_test(a_node_whose_first_session_ended_unheard_joins_with_another),
        cmocka_unit_test(the_deadline_counts_from_when_the_renewal_was_sent),
        cmocka_unit_test(a_node_whose_group_was_made_anew_meanwhile_serves_the_new_one),
        cmocka_unit_test(a_lease_changed_online_is_used_from_the_next_renewal_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
