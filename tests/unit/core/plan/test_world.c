/* Worlds that are not valid are refused in words; odd ones that are valid are planned. */
#include "made_world.h"

#include "core/plan/world.h"

static void expect_refusal(struct made *made, const char *part_of_text)
{
    for (size_t i = 0; tn_plan_name(i); i++) {
        struct tenure_error error = {0};
        struct tn_plan_result result = {.moves = 77};
        tn_plan_function *plan = tn_plan_find(tn_plan_name(i));
        assert_int_equal(plan(&made->world, &made->arena, &result, &error), TENURE_BAD_INPUT);
        if (!strstr(error.text, part_of_text))
            fail_msg("'%s' does not say '%s'", error.text, part_of_text);
        assert_null(result.assignment);
        assert_int_equal(result.moves, 77);
    }
}

/* With one id twice the order of the list would decide, and shards would be lost as ElasticJob loses them. */
static void an_id_that_is_missing_or_in_the_list_twice_is_refused(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABA", 4);
    expect_refusal(&made, "node 'A' is in the list twice");
    made.nodes[2].id = "";
    expect_refusal(&made, "node 2 of the list has no id");
    made.nodes[2].id = NULL;
    expect_refusal(&made, "node 2 of the list has no id");
    made_done(&made);
}

/* An index outside the list read memory that belongs to something else. */
static void an_index_outside_the_list_is_refused(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made.previous[3] = 2;
    expect_refusal(&made, "the previous node of shard 3 is node number 2, but there are 2 nodes");
    made.previous[3] = -2;
    expect_refusal(&made, "the previous node of shard 3 is node number -2");
    made.previous[3] = 1;
    made.pins[0] = 2;
    expect_refusal(&made, "the pin of shard 0 is node number 2");
    made_done(&made);
}

/* Without a bound a mistyped number is a program that eats the machine. */
static void too_many_shards_and_too_much_weight_are_refused(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 1048577);
    expect_refusal(&made, "1048577 shards; at most 1048576");
    made.world.shards = 4;
    made.nodes[1].weight_milli = 1000000000001u;
    expect_refusal(&made, "node 'B' has weight 1000000000001");
    made.nodes[1].weight_milli = 1000000000000u;
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

/* All optional parts left out: the world of a caller who knows no more than his nodes. */
static void what_is_optional_may_be_left_out(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 5);
    made.world = (struct tn_plan_world){.nodes = made.nodes, .n_nodes = 2, .shards = 5};
    assert_int_equal(made_plan(&made), 0);
    made_expect_counts(&made, "3 2");
    made.world.shards = 0;
    assert_int_equal(made_plan(&made), 0);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_that_is_missing_or_in_the_list_twice_is_refused),
        cmocka_unit_test(an_index_outside_the_list_is_refused),
        cmocka_unit_test(too_many_shards_and_too_much_weight_are_refused),
        cmocka_unit_test(what_is_optional_may_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
