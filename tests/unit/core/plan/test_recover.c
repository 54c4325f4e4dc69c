/* Recovery without balance: orphans are placed at once, and nobody else is disturbed. */
#include "drawn_world.h"

/* Were the orphans placed unevenly, the balance that follows would move shards a second time. */
static void after_a_death_survivors_end_at_86_85_85_and_balance_has_nothing_left_to_do(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCD", 256);
    made_plan(&made);
    made_carry(&made);
    made_lose(&made, "B");
    made.world.recover_only = true;
    assert_int_equal(made_plan(&made), 0);
    made_expect_counts(&made, "86 85 85");
    assert_int_equal(made_reasons(&made, TN_REASON_OWNER_GONE), 64);
    made_carry(&made);
    made.world.recover_only = false;
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

/* A death in the middle of a deploy: balance must go on waiting, however uneven the nodes are. */
static void nobody_over_quota_gives_a_shard_away_and_the_emptiest_get_the_orphans(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCD", 30);
    made_own(&made, "A", 0, 20);
    made_own(&made, "B", 20, 4);
    made_own(&made, "D", 24, 6);
    made_lose(&made, "D");
    made.world.recover_only = true;
    assert_int_equal(made_plan(&made), 0);
    made_expect_counts(&made, "20 5 5");
    assert_int_equal(made_reasons(&made, TN_REASON_POSTPONED), 10);
    assert_int_equal(made_reasons(&made, TN_REASON_KEPT), 14);
    made_carry(&made);
    made.world.recover_only = false;
    assert_int_equal(made_plan(&made), 10);
    made_expect_counts(&made, "10 10 10");
    made_done(&made);
}

/* All orphans on the one survivor with most room would restore slowly; a big node takes more of them, not
 * all. */
static void orphans_are_spread_in_proportion_to_weight(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 60);
    made.nodes[1].weight_milli = 3000;
    made_own(&made, "A", 0, 48);
    made.world.recover_only = true;
    made_plan(&made);
    made_expect_counts(&made, "48 9 3");
    made_done(&made);
}

/* A draining node is emptied by recovery as well: its shards have no node that may keep them. */
static void shards_of_a_draining_node_are_placed_too(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 9);
    made_plan(&made);
    made_carry(&made);
    made.nodes[0].draining = true;
    made.world.recover_only = true;
    assert_int_equal(made_plan(&made), 3);
    made_expect_counts(&made, "0 5 4");
    made_done(&made);
}

/* A new pin is a wish to move, and moves wait; an orphan's pin is where it goes anyway. */
static void a_pin_moves_no_living_shard_but_places_an_orphan(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 6);
    made_own(&made, "A", 0, 2);
    made_own(&made, "B", 2, 2);
    made.pins[0] = made_find(&made, "B");
    made.pins[4] = made_find(&made, "A");
    made.world.recover_only = true;
    assert_int_equal(made_plan(&made), 0);
    assert_int_equal(made.result.assignment[0], made_find(&made, "A"));
    assert_int_equal(made.result.reason[0], TN_REASON_POSTPONED);
    assert_int_equal(made.result.assignment[4], made_find(&made, "A"));
    assert_int_equal(made.result.reason[4], TN_REASON_PINNED);
    made_done(&made);
}

static bool takes(const struct made *made, int32_t node)
{
    return node != TN_PLAN_NONE && !made->nodes[node].draining && made->nodes[node].weight_milli;
}

/* Has some node that took an orphan two shards more than another (of the same weight) that could have had it?
 */
static bool orphans_went_past_an_emptier_node(const struct made *made)
{
    uint32_t fullest_receiver = 0, emptiest = UINT32_MAX;
    for (uint32_t shard = 0; shard < made->world.shards; shard++) {
        const uint32_t count = made_count(made, made->result.assignment[shard]);
        if (made->result.assignment[shard] != made->previous[shard] && count > fullest_receiver)
            fullest_receiver = count;
    }
    for (size_t i = 0; i < made->world.n_nodes; i++)
        if (takes(made, (int32_t)i) && made_count(made, (int32_t)i) < emptiest)
            emptiest = made_count(made, (int32_t)i);
    return emptiest != UINT32_MAX && fullest_receiver > emptiest + 1;
}

static void check_only_the_homeless_moved(const struct made *made)
{
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        if (takes(made, made->previous[shard]))
            assert_int_equal(made->result.assignment[shard], made->previous[shard]);
}

/* Recovery that costs a move more later is a pause more for somebody's keys. */
static void recovery_then_balance_moves_no_more_than_balance_at_once(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED};
    struct made made;
    print_message("seed %d, %d worlds\n", SEED, RANDOM_WORLDS);
    for (int i = 0; i < RANDOM_WORLDS; i++) {
        draw(&made, &rng);
        made.world.pins = NULL;
        made_plan(&made);
        const uint32_t at_once = made_reasons(&made, TN_REASON_OVER_QUOTA);
        made.world.recover_only = true;
        made_plan(&made);
        check_only_the_homeless_moved(&made);
        assert_int_equal(made_reasons(&made, TN_REASON_POSTPONED), at_once);
        made_carry(&made);
        made.world.recover_only = false;
        assert_int_equal(made_plan(&made), at_once);
        made_done(&made);
    }
}

/* Everything on one survivor while another idles: the next thing to fail is that survivor. */
static void among_equals_no_orphan_goes_past_an_emptier_node(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED + 2};
    struct made made;
    for (int i = 0; i < RANDOM_WORLDS; i++) {
        draw(&made, &rng);
        made.world.pins = NULL;
        made.world.recover_only = true;
        for (size_t node = 0; node < made.world.n_nodes; node++)
            made.nodes[node].weight_milli = 1000;
        made_plan(&made);
        check_only_the_homeless_moved(&made);
        assert_false(orphans_went_past_an_emptier_node(&made));
        made_done(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_death_survivors_end_at_86_85_85_and_balance_has_nothing_left_to_do),
        cmocka_unit_test(nobody_over_quota_gives_a_shard_away_and_the_emptiest_get_the_orphans),
        cmocka_unit_test(orphans_are_spread_in_proportion_to_weight),
        cmocka_unit_test(shards_of_a_draining_node_are_placed_too),
        cmocka_unit_test(a_pin_moves_no_living_shard_but_places_an_orphan),
        cmocka_unit_test(recovery_then_balance_moves_no_more_than_balance_at_once),
        cmocka_unit_test(among_equals_no_orphan_goes_past_an_emptier_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
