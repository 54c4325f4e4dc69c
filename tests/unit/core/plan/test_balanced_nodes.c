/* The default strategy where nodes differ: weights, draining, pins, shards that moved recently, nobody at
 * all. */
#include "made_world.h"

/* A machine with twice the cores that gets the same share leaves half of its cores idle. */
static void eight_cores_get_twice_the_shards_of_four(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 12);
    made.nodes[0].weight_milli = 8000;
    made.nodes[1].weight_milli = 4000;
    made_plan(&made);
    made_expect_counts(&made, "8 4");
    made.world.shards = 256;
    made_plan(&made);
    made_expect_counts(&made, "171 85");
    made_done(&made);
}

/* The last node has gone: a planner that divides by zero takes the survivors' planner down too. */
static void without_nodes_every_shard_is_unassigned(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 16);
    assert_int_equal(made_plan(&made), 0);
    assert_int_equal(made_count(&made, TN_PLAN_NONE), 16);
    assert_int_equal(made_reasons(&made, TN_REASON_NO_NODE), 16);
    made_done(&made);
}

/* The last node drains: its shards have nowhere to go, which is no move and must be said. */
static void when_everybody_drains_every_shard_is_unassigned_and_nothing_counts_as_moved(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 16);
    made_plan(&made);
    made_carry(&made);
    made.nodes[0].draining = true;
    made.nodes[1].weight_milli = 0;
    assert_int_equal(made_plan(&made), 0);
    assert_int_equal(made_reasons(&made, TN_REASON_NO_NODE), 16);
    made_done(&made);
}

/* Spare nodes are normal in small groups; they must neither crash the plan nor get a shard twice. */
static void spare_nodes_get_nothing(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCDE", 3);
    made_plan(&made);
    made_expect_counts(&made, "1 1 1 0 0");
    made_carry(&made);
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

/* An operator drains a machine to switch it off: one shard left behind there is an outage. */
static void draining_and_weight_zero_empty_a_node_and_say_so(void **state)
{
    (void)state;
    for (int by_weight = 0; by_weight <= 1; by_weight++) {
        struct made made;
        made_init(&made, "ABC", 9);
        made_plan(&made);
        made_carry(&made);
        made.nodes[1].draining = !by_weight;
        made.nodes[1].weight_milli = by_weight ? 0 : 1000;
        assert_int_equal(made_plan(&made), 3);
        made_expect_counts(&made, "5 0 4");
        assert_int_equal(made_reasons(&made, TN_REASON_DRAINING), 3);
        assert_int_equal(made_reasons(&made, TN_REASON_KEPT), 6);
        made_done(&made);
    }
}

/* A pin puts a shard where its data is; balancing it away again would undo the operator's work for ever. */
static void a_pin_wins_and_the_others_make_room(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made_own(&made, "A", 0, 2);
    made_own(&made, "B", 2, 2);
    made.pins[0] = made_find(&made, "B");
    assert_int_equal(made_plan(&made), 2);
    assert_int_equal(made.result.assignment[0], made_find(&made, "B"));
    assert_int_equal(made.result.reason[0], TN_REASON_PINNED);
    assert_int_equal(made.result.reason[3], TN_REASON_OVER_QUOTA);
    made_expect_counts(&made, "2 2");
    made_carry(&made);
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

/* More pins than a fair share: the node keeps to its pins, and the rest is even among the others. */
static void a_node_with_more_pins_than_its_share_gets_just_its_pins(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 12);
    for (uint32_t shard = 0; shard < 6; shard++)
        made.pins[shard] = made_find(&made, "A");
    made_plan(&made);
    made_expect_counts(&made, "6 3 3");
    made_done(&made);
}

/* A drained node must come empty, whatever is pinned to it; the pin holds again when the node is back. */
static void a_pin_on_a_node_that_takes_nothing_is_void_for_that_long(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made.pins[3] = made_find(&made, "A");
    made_plan(&made);
    made_carry(&made);
    made.nodes[0].draining = true;
    assert_int_equal(made_plan(&made), 2);
    made_expect_counts(&made, "0 4");
    made_carry(&made);
    made.nodes[0].draining = false;
    assert_int_equal(made_plan(&made), 2);
    assert_int_equal(made.result.assignment[3], made_find(&made, "A"));
    made_done(&made);
}

/* A shard that just moved is still warming up; moving it again makes the pause twice as long for its keys. */
static void a_shard_that_moved_recently_is_the_last_to_leave(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 6);
    made_own(&made, "A", 0, 6);
    made.sticky[5] = made.sticky[4] = 1;
    made_plan(&made);
    for (uint32_t shard = 0; shard < 6; shard++)
        assert_int_equal(made.result.assignment[shard], shard >= 1 && shard <= 3);
    made.sticky[1] = made.sticky[2] = 1;
    made_plan(&made);
    assert_int_equal(made.result.assignment[3], 1);
    assert_int_equal(made.result.assignment[0], 1);
    assert_int_equal(made.result.assignment[5], 1);
    assert_int_equal(made.result.moves, 3);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_cores_get_twice_the_shards_of_four),
        cmocka_unit_test(without_nodes_every_shard_is_unassigned),
        cmocka_unit_test(when_everybody_drains_every_shard_is_unassigned_and_nothing_counts_as_moved),
        cmocka_unit_test(spare_nodes_get_nothing),
        cmocka_unit_test(draining_and_weight_zero_empty_a_node_and_say_so),
        cmocka_unit_test(a_pin_wins_and_the_others_make_room),
        cmocka_unit_test(a_node_with_more_pins_than_its_share_gets_just_its_pins),
        cmocka_unit_test(a_pin_on_a_node_that_takes_nothing_is_void_for_that_long),
        cmocka_unit_test(a_shard_that_moved_recently_is_the_last_to_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
