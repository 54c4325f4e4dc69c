/* ElasticJob's average allocation: the same shards on the same nodes as that system gives. */
#include "../plan/made_world.h"

#include <jansson.h>

#include "core/place/average.h"

/* Does the position `i` of a list of n get exactly the shards in `items`, in this order? */
static bool position_gets(size_t n, uint32_t shards, size_t i, const json_t *items)
{
    size_t next = 0;
    for (uint32_t shard = 0; shard < shards; shard++) {
        if (tn_average_position(n, shards, shard) != i)
            continue;
        if (json_integer_value(json_array_get(items, next++)) != (json_int_t)shard)
            return false;
    }
    return next == json_array_size(items);
}

/* With an id twice the original loses shards; ours refuses such a list. */
static void expect_refusal(const json_t *instances, uint32_t shards)
{
    struct tn_plan_node nodes[8];
    struct tn_arena arena;
    struct tn_plan_result result;
    tn_arena_init(&arena);
    for (size_t i = 0; i < json_array_size(instances); i++)
        nodes[i] = (struct tn_plan_node){json_string_value(json_array_get(instances, i)), 1000, false};
    const struct tn_plan_world world = {
        .nodes = nodes, .n_nodes = json_array_size(instances), .shards = shards};
    assert_int_equal(tn_average_plan(&world, &arena, &result, NULL), TENURE_BAD_INPUT);
    tn_arena_done(&arena);
}

static void expect_peers_result(const json_t *line, const json_t *instances, uint32_t shards)
{
    const json_t *result = json_object_get(line, "result");
    const size_t n = json_array_size(instances);
    assert_int_equal(json_array_size(result), n);
    for (size_t i = 0; i < n; i++) {
        const json_t *part = json_array_get(result, i);
        assert_true(json_equal(json_object_get(part, "instance"), json_array_get(instances, i)));
        assert_true(position_gets(n, shards, i, json_object_get(part, "items")));
    }
}

/* One shard elsewhere than before the migration is a job that works on another node's data. */
static void every_recorded_result_of_the_original_is_met(void **state)
{
    (void)state;
    unsigned equal = 0, refused = 0;
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(TENURE_VECTORS_DIR "/elasticjob_strategies.jsonl", "r");
    assert_non_null(file);
    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        assert_non_null(line);
        const json_t *instances = json_object_get(line, "instances");
        const uint32_t shards = (uint32_t)json_integer_value(json_object_get(line, "sharding_total"));
        const bool ours = strcmp(json_string_value(json_object_get(line, "strategy")), "AVG_ALLOCATION") == 0;
        const char *category = json_string_value(json_object_get(line, "category"));
        if (ours && strcmp(category, "duplicate_id") == 0) {
            expect_refusal(instances, shards);
            refused++;
        } else if (ours) {
            expect_peers_result(line, instances, shards);
            equal++;
        }
        json_decref(line);
    }
    free(text);
    fclose(file);
    print_message("%u results equal, %u lists with an id twice refused\n", equal, refused);
    assert_int_equal(equal, 93);
    assert_int_equal(refused, 3);
}

static void expect_line(size_t n, uint32_t shards, const char *expected)
{
    char text[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", i ? " / " : "");
        const char *comma = "";
        for (uint32_t shard = 0; shard < shards; shard++) {
            if (tn_average_position(n, shards, shard) != i)
                continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", comma, shard);
            comma = ",";
        }
    }
    assert_string_equal(text, expected);
}

/* apache/shardingsphere-elasticjob#10: articles have the remainder as contiguous blocks; it is one each to
 * the first. */
static void the_remainder_goes_one_each_to_the_first_of_the_list(void **state)
{
    (void)state;
    expect_line(3, 9, "0,1,2 / 3,4,5 / 6,7,8");
    expect_line(3, 8, "0,1,6 / 2,3,7 / 4,5");
    expect_line(3, 10, "0,1,2,9 / 3,4,5 / 6,7,8");
    expect_line(3, 2, "0 / 1 / ");
    expect_line(5, 9, "0,5 / 1,6 / 2,7 / 3,8 / 4");
}

static void plan_average(struct made *made)
{
    tn_arena_reset(&made->arena);
    assert_int_equal(tn_average_plan(&made->world, &made->arena, &made->result, NULL), TENURE_OK);
}

/* The list is in production order, descending, and a node that drains is not in it. */
static void as_a_strategy_the_list_is_descending_and_without_those_that_take_nothing(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "BDAC", 8);
    made.nodes[1].draining = true;
    plan_average(&made);
    for (uint32_t shard = 0; shard < 8; shard++) {
        const char expected[] = {"CCBBAACB"[shard], 0};
        assert_string_equal(made.nodes[made.result.assignment[shard]].id, expected);
        assert_int_equal(made.result.reason[shard], TN_REASON_STRATEGY);
    }
    made_done(&made);
}

/* Looks at no previous plan, but tells truly how many shards it moves. */
static void moves_are_counted_against_the_previous_plan(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made_own(&made, "A", 0, 3);
    plan_average(&made); /* B 0,1; A 2,3 */
    assert_int_equal(made.result.moves, 2);
    made_done(&made);
}

/* An operator's pin must not depend on which strategy the group happens to have. */
static void pins_are_carried_out_on_top(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made.pins[0] = made_find(&made, "A");
    plan_average(&made);
    made_expect_counts(&made, "3 1");
    assert_int_equal(made.result.reason[0], TN_REASON_PINNED);
    made_done(&made);
}

/* The original's sister strategy divides by zero here. */
static void without_nodes_every_shard_is_unassigned(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 4);
    made.nodes[0].draining = true;
    made.nodes[1].weight_milli = 0;
    plan_average(&made);
    assert_int_equal(made_count(&made, TN_PLAN_NONE), 4);
    assert_int_equal(made_reasons(&made, TN_REASON_NO_NODE), 4);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_result_of_the_original_is_met),
        cmocka_unit_test(the_remainder_goes_one_each_to_the_first_of_the_list),
        cmocka_unit_test(as_a_strategy_the_list_is_descending_and_without_those_that_take_nothing),
        cmocka_unit_test(moves_are_counted_against_the_previous_plan),
        cmocka_unit_test(pins_are_carried_out_on_top),
        cmocka_unit_test(without_nodes_every_shard_is_unassigned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
