/* What must hold of every plan of the default strategy, over all small worlds and many random ones.
 * The quotas and the fewest moves are worked out again here, in another way: by trying every way to break
 * ties. */
#include "fair_oracle.h"

static bool anybody_takes(const struct made *made)
{
    for (size_t i = 0; i < made->world.n_nodes; i++)
        if (takes(made, (int32_t)i))
            return true;
    return false;
}

static void check_counts_are_fair(const struct made *made, const struct fair *fair)
{
    unsigned set = 0;
    for (size_t i = 0; i < made->world.n_nodes; i++) {
        const uint32_t count = made_count(made, (int32_t)i);
        assert_true(count == fair->floor[i] || count == fair->floor[i] + 1);
        set |= (unsigned)(count - fair->floor[i]) << i;
    }
    assert_true(set_is_fair(fair, set, made->world.n_nodes));
}

static void check_shard(const struct made *made, uint32_t shard)
{
    const int32_t before = made->previous[shard];
    const int32_t after = made->result.assignment[shard];
    assert_true(takes(made, after));
    switch ((enum tn_plan_reason)made->result.reason[shard]) {
    case TN_REASON_KEPT: assert_int_equal(before, after); break;
    case TN_REASON_FIRST: assert_true(before == TN_PLAN_NONE && !made->orphan[shard]); break;
    case TN_REASON_OWNER_GONE: assert_true(before == TN_PLAN_NONE && made->orphan[shard]); break;
    case TN_REASON_DRAINING: assert_true(before != TN_PLAN_NONE && !takes(made, before)); break;
    case TN_REASON_OVER_QUOTA: assert_true(takes(made, before) && before != after); break;
    case TN_REASON_PINNED: assert_int_equal(after, made->pins[shard]); break;
    case TN_REASON_STRATEGY:
    case TN_REASON_NO_NODE:
    case TN_REASON_POSTPONED:
    case TN_REASON_COUNT: fail_msg("reason %d", made->result.reason[shard]);
    }
    assert_int_equal(made->result.reason[shard] == TN_REASON_PINNED, pin_of(made, shard) != TN_PLAN_NONE);
}

/* Where a shard that moved recently had to leave, none that did not may be left that could have gone. */
static void check_recent_movers_left_last(const struct made *made)
{
    unsigned recent_left = 0, other_stayed = 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++) {
        if (made->result.reason[shard] == TN_REASON_OVER_QUOTA && made->sticky[shard])
            recent_left |= 1u << made->previous[shard];
        if (made->result.reason[shard] == TN_REASON_KEPT && !made->sticky[shard])
            other_stayed |= 1u << made->previous[shard];
    }
    assert_int_equal(recent_left & other_stayed, 0);
}

static void check_replanning_changes_nothing(struct made *made)
{
    struct made *next = test_malloc(sizeof *next);
    *next = *made;
    tn_arena_init(&next->arena);
    next->world.nodes = next->nodes;
    next->world.previous = made->result.assignment;
    assert_int_equal(made_plan(next), 0);
    assert_memory_equal(next->result.assignment, made->result.assignment,
                        made->world.shards * sizeof *made->result.assignment);
    made_done(next);
    test_free(next);
}

/* Plans and checks everything that can be said of one plan. */
static void check_world(struct made *made)
{
    made_plan(made);
    if (!anybody_takes(made)) {
        assert_int_equal(made_count(made, TN_PLAN_NONE), made->world.shards);
        assert_int_equal(made_reasons(made, TN_REASON_NO_NODE), made->world.shards);
        assert_int_equal(made->result.moves, 0);
        return;
    }
    const struct fair fair = work_out_fair(made);
    check_counts_are_fair(made, &fair);
    uint32_t forced = 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++) {
        check_shard(made, shard);
        forced += made->previous[shard] != TN_PLAN_NONE && start_of(made, shard) != made->previous[shard];
    }
    assert_int_equal(made->result.moves, forced + fewest_leavers(made, &fair));
    check_recent_movers_left_last(made);
    check_replanning_changes_nothing(made);
}

/* A law that holds of large worlds and fails for two nodes is found only by looking at all small ones. */
static void every_small_world_is_planned_fairly_with_the_fewest_moves(void **state)
{
    (void)state;
    struct made made;
    unsigned worlds = 0;
    for (uint32_t n = 0; n <= 4; n++) {
        made_init(&made, &"DCBA"[4 - n], 0);
        for (uint32_t shards = 0; shards <= 6; shards++) {
            made.world.shards = shards;
            unsigned all = 1u << n;
            for (uint32_t i = 0; i < shards; i++)
                all *= n + 1;
            for (unsigned code = 0; code < all; code++, worlds++) {
                for (uint32_t i = 0; i < n; i++)
                    made.nodes[i].draining = code >> i & 1;
                unsigned rest = code >> n;
                for (uint32_t shard = 0; shard < shards; shard++, rest /= n + 1)
                    made.previous[shard] = (int32_t)(rest % (n + 1)) - 1;
                check_world(&made);
            }
        }
        made_done(&made);
    }
    print_message("%u worlds\n", worlds);
}

/* Nodes and shards never come as neatly as in examples. */
static void random_worlds_are_planned_fairly_with_the_fewest_moves(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED};
    struct made made;
    print_message("seed %d, %d worlds\n", SEED, RANDOM_WORLDS);
    for (int i = 0; i < RANDOM_WORLDS; i++) {
        draw(&made, &rng);
        check_world(&made);
        made_done(&made);
    }
}

static void shuffle_nodes(struct made *to, const struct made *from, struct tn_rng *rng)
{
    int32_t place[LAW_NODES];
    const size_t n = from->world.n_nodes;
    for (size_t i = 0; i < n; i++) {
        const size_t j = tn_rng_below(rng, i + 1);
        place[i] = (int32_t)j;
        for (size_t k = 0; k < i; k++)
            if (place[k] == (int32_t)j)
                place[k] = (int32_t)i;
    }
    for (size_t i = 0; i < n; i++)
        to->nodes[place[i]] = from->nodes[i];
    for (uint32_t shard = 0; shard < from->world.shards; shard++) {
        if (from->previous[shard] != TN_PLAN_NONE)
            to->previous[shard] = place[from->previous[shard]];
        if (from->pins[shard] != TN_PLAN_NONE)
            to->pins[shard] = place[from->pins[shard]];
    }
    memcpy(to->orphan, from->orphan, sizeof to->orphan);
    memcpy(to->sticky, from->sticky, sizeof to->sticky);
    to->world.n_nodes = n;
    to->world.recover_only = from->world.recover_only;
}

/* Two nodes that plan the same world from differently ordered lists would fight over it for ever. */
static void the_order_of_the_node_list_never_changes_a_plan(void **state)
{
    (void)state;
    struct tn_rng rng = {SEED + 1};
    struct made a, b;
    for (int i = 0; i < RANDOM_WORLDS; i++) {
        draw(&a, &rng);
        a.world.recover_only = i & 1;
        made_init(&b, "", a.world.shards);
        shuffle_nodes(&b, &a, &rng);
        assert_int_equal(made_plan(&a), made_plan(&b));
        assert_memory_equal(a.result.reason, b.result.reason, a.world.shards);
        for (uint32_t shard = 0; shard < a.world.shards; shard++) {
            const int32_t in_a = a.result.assignment[shard];
            const int32_t in_b = b.result.assignment[shard];
            assert_int_equal(in_a == TN_PLAN_NONE, in_b == TN_PLAN_NONE);
            if (in_a != TN_PLAN_NONE)
                assert_string_equal(a.nodes[in_a].id, b.nodes[in_b].id);
        }
        made_done(&a);
        made_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_world_is_planned_fairly_with_the_fewest_moves),
        cmocka_unit_test(random_worlds_are_planned_fairly_with_the_fewest_moves),
        cmocka_unit_test(the_order_of_the_node_list_never_changes_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
