/* The view: what a node believes of a group. */
#include "core/member/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct tn_view eight_shards(void)
{
    struct tn_settings settings;
    tn_settings_init(&settings);
    settings.shards = 8;
    tn_settings_derive(&settings);
    struct tn_view view;
    tn_view_init(&view, 1, &settings);
    return view;
}

static const struct tn_member three[] = {
    {.session = 3, .node = 1, .node_id = "a", .address = "", .labels = "{}", .weight_milli = 1000},
    {.session = 5, .node = 2, .node_id = "b", .address = "", .labels = "{}", .weight_milli = 0},
    {.session = 9,
     .node = 3,
     .node_id = "c",
     .address = "",
     .labels = "{}",
     .weight_milli = 1000,
     .draining = true},
};

/* A reply that overtakes another must not bring back an owner that the node knows to be gone. */
static void a_row_with_an_earlier_token_is_not_believed(void **state)
{
    (void)state;
    struct tn_view view = eight_shards();
    assert_true(
        tn_view_put(&view, 2, &(struct tn_shard_row){.session = 5, .token = 7, .state = TN_SHARD_OWNED}));
    assert_false(
        tn_view_put(&view, 2, &(struct tn_shard_row){.session = 3, .token = 6, .state = TN_SHARD_OWNED}));
    assert_int_equal(view.rows[2].session, 5);
    assert_false(tn_view_put(&view, 8, &(struct tn_shard_row){.token = 9}));
    tn_view_done(&view);
}

/* If the count drifted, max_moves would stop all moves, or none. */
static void the_number_of_handoffs_follows_the_rows(void **state)
{
    (void)state;
    struct tn_view view = eight_shards();
    tn_view_put(&view, 0, &(struct tn_shard_row){.token = 1, .state = TN_SHARD_PREPARING});
    tn_view_put(&view, 1, &(struct tn_shard_row){.token = 1, .state = TN_SHARD_DRAINING});
    tn_view_put(&view, 2, &(struct tn_shard_row){.token = 1, .state = TN_SHARD_RESTORING});
    tn_view_put(&view, 3, &(struct tn_shard_row){.token = 1, .state = TN_SHARD_RESTORING, .handed = 1});
    assert_int_equal(view.in_handoff, 3);
    tn_view_put(&view, 0, &(struct tn_shard_row){.token = 2, .state = TN_SHARD_OWNED});
    tn_view_put(&view, 0, &(struct tn_shard_row){.token = 2, .state = TN_SHARD_OWNED});
    assert_int_equal(view.in_handoff, 2);
    tn_view_done(&view);
}

/* Azure/azure-sdk-for-python#38812: a row without an owner must be claimable, and so must one whose owner is
 * dead. */
static void a_shard_is_free_without_an_owner_or_with_a_dead_one(void **state)
{
    (void)state;
    struct tn_view view = eight_shards();
    const struct tn_delta delta = {
        .group = 1, .epoch = 4, .members_changed = true, .members = three, .n_members = 3};
    tn_view_apply(&view, &delta);
    assert_true(tn_view_free(&view, 0));
    tn_view_put(&view, 0, &(struct tn_shard_row){.session = 5, .token = 1, .state = TN_SHARD_OWNED});
    assert_false(tn_view_free(&view, 0));
    tn_view_put(&view, 0, &(struct tn_shard_row){.session = 4, .token = 2, .state = TN_SHARD_OWNED});
    assert_true(tn_view_free(&view, 0));
    tn_view_put(&view, 0, &(struct tn_shard_row){.session = 4, .token = 2, .state = TN_SHARD_QUARANTINED});
    assert_false(tn_view_free(&view, 0));
    tn_view_done(&view);
}

/* A node that takes nothing must not be given anything. */
static void drained_and_weightless_nodes_are_not_eligible(void **state)
{
    (void)state;
    assert_true(tn_member_eligible(&three[0]));
    assert_false(tn_member_eligible(&three[1]));
    assert_false(tn_member_eligible(&three[2]));
    const struct tn_member leaving = {.state = TN_SESSION_LEAVING, .weight_milli = 1000};
    assert_false(tn_member_eligible(&leaving));
}

/* Names in a reply are gone when the reply is; the view must have its own. */
static void members_are_found_by_session_and_by_node_and_own_their_names(void **state)
{
    (void)state;
    struct tn_view view = eight_shards();
    char name[] = "a";
    struct tn_member lent = three[0];
    lent.node_id = name;
    tn_view_apply(&view,
                  &(struct tn_delta){.epoch = 1, .members_changed = true, .members = &lent, .n_members = 1});
    name[0] = 'x';
    assert_string_equal(tn_view_member(&view, 3)->node_id, "a");
    assert_string_equal(tn_view_node(&view, 1)->node_id, "a");
    assert_null(tn_view_member(&view, 4));
    assert_null(tn_view_node(&view, 9));
    tn_view_done(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_with_an_earlier_token_is_not_believed),
        cmocka_unit_test(the_number_of_handoffs_follows_the_rows),
        cmocka_unit_test(a_shard_is_free_without_an_owner_or_with_a_dead_one),
        cmocka_unit_test(drained_and_weightless_nodes_are_not_eligible),
        cmocka_unit_test(members_are_found_by_session_and_by_node_and_own_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
