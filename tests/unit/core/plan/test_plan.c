/* The table of strategies, the texts of reasons, the fingerprint. */
#include "made_world.h"

/* A strategy that cannot be found by the name that help prints is one that nobody can use. */
static void every_name_finds_its_strategy_and_others_find_none(void **state)
{
    (void)state;
    assert_string_equal(tn_plan_name(0), "balanced");
    assert_string_equal(tn_plan_name(1), "average");
    assert_null(tn_plan_name(2));
    assert_null(tn_plan_name(SIZE_MAX));
    assert_true(tn_plan_find("balanced") == tn_balanced_plan);
    assert_non_null(tn_plan_find("average"));
    assert_null(tn_plan_find("Balanced"));
    assert_null(tn_plan_find(""));
}

/* Two reasons in the same words explain nothing. */
static void every_reason_has_words_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(tn_plan_reason_text(TN_REASON_KEPT), "kept: quota not exceeded");
    for (int a = 0; a < TN_REASON_COUNT; a++) {
        assert_string_not_equal(tn_plan_reason_text((enum tn_plan_reason)a), "?");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(tn_plan_reason_text((enum tn_plan_reason)a),
                                    tn_plan_reason_text((enum tn_plan_reason)b));
    }
    assert_string_equal(tn_plan_reason_text(TN_REASON_COUNT), "?");
}

/* Plans store it: were it another value in the next release, every group would be planned anew by both, in
 * turns. */
static void the_fingerprint_is_pinned(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "ABC", 256);
    assert_int_equal(tn_plan_fingerprint(&made.world, "balanced"), 0x1931b54abe5b97a9u);
    made.world.n_nodes = 0;
    made.world.pins = NULL;
    assert_int_equal(tn_plan_fingerprint(&made.world, "balanced"), 0xdbd1934fb19e0a14u);
    made_done(&made);
}

/* Planners list nodes in different orders; they must see that the world is the same. */
static void the_fingerprint_ignores_list_order_and_what_the_last_plan_was(void **state)
{
    (void)state;
    struct made a, b;
    made_init(&a, "ABC", 16);
    made_init(&b, "CBA", 16);
    a.nodes[0].weight_milli = b.nodes[2].weight_milli = 2000;
    a.pins[3] = 0;
    b.pins[3] = 2;
    b.previous[1] = 1;
    b.sticky[1] = 1;
    b.orphan[2] = 1;
    assert_int_equal(tn_plan_fingerprint(&a.world, "balanced"), tn_plan_fingerprint(&b.world, "balanced"));
    made_done(&a);
    made_done(&b);
}

static void expect_another(uint64_t *seen, size_t *n, uint64_t fingerprint)
{
    for (size_t i = 0; i < *n; i++)
        assert_int_not_equal(seen[i], fingerprint);
    seen[(*n)++] = fingerprint;
}

/* A change that the fingerprint does not show is a change that is never planned. */
static void the_fingerprint_changes_with_everything_that_a_plan_depends_on(void **state)
{
    (void)state;
    struct made made;
    uint64_t seen[16];
    size_t n = 0;
    made_init(&made, "AB", 16);
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "average"));
    made.world.shards = 32;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.nodes[0].weight_milli = 2000;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.nodes[0].weight_milli = 1000;
    made.nodes[1].weight_milli = 2000;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.nodes[1].draining = true;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.pins[3] = 0;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.pins[3] = 1;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made.pins[4] = 1;
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made_add(&made, "C");
    expect_another(seen, &n, tn_plan_fingerprint(&made.world, "balanced"));
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_finds_its_strategy_and_others_find_none),
        cmocka_unit_test(every_reason_has_words_of_its_own),
        cmocka_unit_test(the_fingerprint_is_pinned),
        cmocka_unit_test(the_fingerprint_ignores_list_order_and_what_the_last_plan_was),
        cmocka_unit_test(the_fingerprint_changes_with_everything_that_a_plan_depends_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
