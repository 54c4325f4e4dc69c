/* Shares of shards by weight: exact, whole, and the same for everybody. */
#include "made_world.h"

#include "base/rng.h"

enum { MOST = 12 };

static void expect_quotas(struct made *made, const uint32_t *owned, const char *expected)
{
    uint32_t quota[MOST];
    char text[256] = "";
    size_t used = 0;
    tn_plan_quotas(made->nodes, made->world.n_nodes, owned, made->world.shards, &made->arena, quota);
    for (size_t i = 0; i < made->world.n_nodes; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", quota[i]);
    assert_string_equal(text, expected);
}

/* One shard too many on one node is a node that everybody waits for. */
static void equal_weights_give_ceil_and_floor_smaller_ids_first(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "CAB", 10);
    expect_quotas(&made, (const uint32_t[MOST]){0}, "3 4 3");
    made.world.shards = 11;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "3 4 4");
    made.world.shards = 0;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "0 0 0");
    made_done(&made);
}

/* If the larger quotas went elsewhere, a balanced group would move a shard for nothing, for ever. */
static void the_larger_quotas_go_to_those_who_own_more(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 10);
    expect_quotas(&made, (const uint32_t[MOST]){3, 3, 4}, "3 3 4");
    expect_quotas(&made, (const uint32_t[MOST]){2, 5, 3}, "3 4 3");
    made_done(&made);
}

/* Azure/azure-sdk-for-go#22487's numbers: givers and receivers both go by the smaller id. */
static void among_equal_owners_the_smaller_id_gives_first_and_receives_first(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCDE", 256);
    expect_quotas(&made, (const uint32_t[MOST]){64, 64, 64, 64, 0}, "51 51 51 52 51");
    made_done(&made);
    made_init(&made, "BCD", 256);
    expect_quotas(&made, (const uint32_t[MOST]){64, 64, 64}, "86 85 85");
    made_done(&made);
}

/* Compared by what they own alone, the small node would lose the shard that it is entitled to, and gain
 * nothing. */
static void with_weights_a_tie_goes_to_the_node_that_would_have_to_give(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "AB", 2);
    made.nodes[0].weight_milli = 3000;
    made.nodes[1].weight_milli = 1000;
    expect_quotas(&made, (const uint32_t[MOST]){1, 1}, "1 1");
    expect_quotas(&made, (const uint32_t[MOST]){2, 0}, "2 0");
    expect_quotas(&made, (const uint32_t[MOST]){0, 0}, "1 1");
    made_done(&made);
}

/* Two machines with 8 and 4 cores; thirds that do not come out even. */
static void quotas_follow_weights_by_largest_remainder(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 12);
    made.nodes[0].weight_milli = 8000;
    made.nodes[1].weight_milli = 4000;
    made.nodes[2].weight_milli = 0;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "8 4 0");
    made.nodes[2].weight_milli = 1;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "8 4 0");
    made.nodes[2].weight_milli = 6000;
    made.world.shards = 10; /* 4.44, 2.22, 3.33 */
    expect_quotas(&made, (const uint32_t[MOST]){0}, "5 2 3");
    made_done(&made);
}

/* A share for a node that takes nothing is a set of shards that nobody serves. */
static void draining_nodes_get_nothing_and_nobody_gets_nothing_from_nobody(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 7);
    made.nodes[1].draining = true;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "4 0 3");
    made.nodes[0].draining = true;
    made.nodes[2].weight_milli = 0;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "0 0 0");
    made.world.n_nodes = 0;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "");
    made_done(&made);
}

/* In 64 bits, or in floating point, the largest weights would give shares that do not add up. */
static void the_largest_weights_and_counts_are_exact(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABCDEFGHIJKL", 1048576);
    for (size_t i = 0; i < MOST; i++)
        made.nodes[i].weight_milli = 1000000000000u - (i == 11);
    expect_quotas(&made, (const uint32_t[MOST]){0},
                  "87382 87382 87382 87382 87381 87381 87381 87381 87381 87381 87381 87381");
    made.nodes[0].weight_milli = 1;
    made.world.n_nodes = 2;
    expect_quotas(&made, (const uint32_t[MOST]){0}, "0 1048576");
    made_done(&made);
}

/* Whatever the weights, each node gets its share rounded down or up, and no shard is lost or doubled. */
static void every_quota_is_the_share_rounded_and_the_sum_is_exact(void **state)
{
    (void)state;
    struct tn_rng rng = {7};
    struct made made;
    for (int round = 0; round < 20000; round++) {
        uint32_t quota[MOST], owned[MOST];
        made_init(&made, &"LKJIHGFEDCBA"[tn_rng_below(&rng, MOST)], (uint32_t)tn_rng_below(&rng, 5000));
        unsigned __int128 total = 0;
        for (size_t i = 0; i < made.world.n_nodes; i++) {
            made.nodes[i].weight_milli = 1 + tn_rng_below(&rng, 1000000000000u);
            total += made.nodes[i].weight_milli;
            owned[i] = (uint32_t)tn_rng_below(&rng, 1000);
        }
        tn_plan_quotas(made.nodes, made.world.n_nodes, owned, made.world.shards, &made.arena, quota);
        uint64_t sum = 0;
        for (size_t i = 0; i < made.world.n_nodes; i++) {
            const unsigned __int128 share = (unsigned __int128)made.world.shards * made.nodes[i].weight_milli;
            assert_true(quota[i] * total < share + total && share < (quota[i] + 1) * total);
            sum += quota[i];
        }
        assert_int_equal(sum, made.world.shards);
        made_done(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_weights_give_ceil_and_floor_smaller_ids_first),
        cmocka_unit_test(the_larger_quotas_go_to_those_who_own_more),
        cmocka_unit_test(among_equal_owners_the_smaller_id_gives_first_and_receives_first),
        cmocka_unit_test(with_weights_a_tie_goes_to_the_node_that_would_have_to_give),
        cmocka_unit_test(quotas_follow_weights_by_largest_remainder),
        cmocka_unit_test(draining_nodes_get_nothing_and_nobody_gets_nothing_from_nobody),
        cmocka_unit_test(the_largest_weights_and_counts_are_exact),
        cmocka_unit_test(every_quota_is_the_share_rounded_and_the_sum_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
