/* The default strategy by example: exact counts and exact numbers of moves, as the reports of others have
 * them. */
#include "made_world.h"

/* Users look at the first plan and expect blocks; a scattered one makes every range of shards a riddle. */
static void the_first_plan_is_one_contiguous_block_a_node_in_id_order(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "CADB", 256);
    assert_int_equal(made_plan(&made), 0);
    for (uint32_t shard = 0; shard < 256; shard++) {
        const char expected[] = {(char)('A' + shard / 64), 0};
        assert_string_equal(made.nodes[made.result.assignment[shard]].id, expected);
        assert_int_equal(made.result.reason[shard], TN_REASON_FIRST);
    }
    made_done(&made);
}

/* Azure/azure-sdk-for-go#22487: one joining node reshuffles everybody, and throughput collapses. */
static void a_fifth_node_gets_exactly_51_of_256_shards_and_nothing_else_moves(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCD", 256);
    made_plan(&made);
    made_carry(&made);
    made_add(&made, "E");
    assert_int_equal(made_plan(&made), 51);
    made_expect_counts(&made, "51 51 51 52 51");
    assert_int_equal(made_reasons(&made, TN_REASON_OVER_QUOTA), 51);
    for (uint32_t shard = 0; shard < 256; shard++)
        if (made.result.assignment[shard] != made.previous[shard])
            assert_int_equal(made.result.assignment[shard], made_find(&made, "E"));
    made_carry(&made);
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

/* Azure/azure-sdk-for-java#13597: with a constant number of nodes ownership flips for hours. */
static void thirty_two_shards_cost_16_moves_then_10_then_none_for_fifty_rounds(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "A", 32);
    made_plan(&made);
    made_expect_counts(&made, "32");
    made_carry(&made);
    made_add(&made, "B");
    assert_int_equal(made_plan(&made), 16);
    made_carry(&made);
    made_add(&made, "C");
    assert_int_equal(made_plan(&made), 10);
    made_expect_counts(&made, "11 11 10");
    for (int round = 0; round < 50; round++) {
        made_carry(&made);
        assert_int_equal(made_plan(&made), 0);
    }
    made_done(&made);
}

/* Same report: at 4/3 the nodes swapped the odd shard for ever, whichever of them has it. */
static void seven_shards_on_two_nodes_stay_at_four_and_three(void **state)
{
    (void)state;
    for (uint32_t first = 3; first <= 4; first++) {
        struct made made;
        made_init(&made, "AB", 7);
        made_own(&made, "A", 0, first);
        made_own(&made, "B", first, 7 - first);
        assert_int_equal(made_plan(&made), 0);
        assert_int_equal(made_count(&made, 0), first);
        assert_int_equal(made_reasons(&made, TN_REASON_KEPT), 7);
        made_done(&made);
    }
}

/* Azure/azure-sdk-for-go#22487: everybody above the new average gave up shards at once. */
static void one_more_node_than_eighty_costs_a_single_move(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 100);
    uint32_t shard = 0;
    for (int i = 0; i < 80; i++) {
        char id[MADE_ID];
        snprintf(id, sizeof id, "n%02d", i);
        made_add(&made, id);
        made_own(&made, id, shard, i < 20 ? 2 : 1);
        shard += i < 20 ? 2 : 1;
    }
    assert_int_equal(shard, 100);
    assert_int_equal(made_plan(&made), 0);
    made_add(&made, "n80");
    assert_int_equal(made_plan(&made), 1);
    assert_int_equal(made_count(&made, made_find(&made, "n80")), 1);
    made_done(&made);
}

/* confluentinc/confluent-kafka-go#622: shards also moved between the two old members. */
static void ten_shards_cost_5_moves_then_3_and_none_between_old_nodes(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "A", 10);
    made_plan(&made);
    made_carry(&made);
    made_add(&made, "B");
    assert_int_equal(made_plan(&made), 5);
    made_carry(&made);
    made_add(&made, "C");
    assert_int_equal(made_plan(&made), 3);
    made_expect_counts(&made, "3 4 3");
    assert_int_equal(made_taken_from(&made, "A") + made_taken_from(&made, "B"), 3);
    made_done(&made);
}

/* A dead node's shards are down until they are placed; everybody else's must not notice. */
static void a_dead_node_moves_only_its_own_64_shards_to_86_85_85(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCD", 256);
    made_plan(&made);
    made_carry(&made);
    made_lose(&made, "A");
    assert_int_equal(made_plan(&made), 0);
    made_expect_counts(&made, "86 85 85");
    assert_int_equal(made_reasons(&made, TN_REASON_OWNER_GONE), 64);
    assert_int_equal(made_reasons(&made, TN_REASON_KEPT), 192);
    made_done(&made);
}

/* apache/iggy#3334: four partitions on two consumers ended at 3/1. */
static void a_second_node_gets_half_of_four_shards(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made_own(&made, "A", 0, 4);
    assert_int_equal(made_plan(&made), 2);
    made_expect_counts(&made, "2 2");
    made_done(&made);
}

/* awslabs/amazon-kinesis-client#708: newcomers got one shard and no more. */
static void two_new_nodes_get_two_of_eight_shards_each(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCD", 8);
    made_own(&made, "A", 0, 4);
    made_own(&made, "B", 4, 4);
    assert_int_equal(made_plan(&made), 4);
    made_expect_counts(&made, "2 2 2 2");
    made_done(&made);
}

/* apache/pulsar#1488: steals came from the fullest member only. */
static void a_sixth_node_takes_6_of_40_shards_and_at_most_2_from_any(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCDE", 40);
    made_plan(&made);
    made_carry(&made);
    made_add(&made, "F");
    assert_int_equal(made_plan(&made), 6);
    made_expect_counts(&made, "6 7 7 7 7 6");
    for (const char *id = "ABCDE"; *id; id++)
        assert_in_range(made_taken_from(&made, (const char[]){*id, 0}), 1, 2);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_plan_is_one_contiguous_block_a_node_in_id_order),
        cmocka_unit_test(a_fifth_node_gets_exactly_51_of_256_shards_and_nothing_else_moves),
        cmocka_unit_test(thirty_two_shards_cost_16_moves_then_10_then_none_for_fifty_rounds),
        cmocka_unit_test(seven_shards_on_two_nodes_stay_at_four_and_three),
        cmocka_unit_test(one_more_node_than_eighty_costs_a_single_move),
        cmocka_unit_test(ten_shards_cost_5_moves_then_3_and_none_between_old_nodes),
        cmocka_unit_test(a_dead_node_moves_only_its_own_64_shards_to_86_85_85),
        cmocka_unit_test(a_second_node_gets_half_of_four_shards),
        cmocka_unit_test(two_new_nodes_get_two_of_eight_shards_each),
        cmocka_unit_test(a_sixth_node_takes_6_of_40_shards_and_at_most_2_from_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
