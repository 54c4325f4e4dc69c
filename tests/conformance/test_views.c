/* Clauses C7, C12, C18 and the groups themselves: what a reader is told, plans, settings, a new history. */
#include "world.h"

#include <string.h>

#include "core/lease/rule.h"
#include "core/lease/token.h"

static void assert_same_settings(const struct tn_settings *a, const struct tn_settings *b)
{
    size_t n = 0;
    const struct tn_setting *table = tn_settings_table(&n);
    assert_int_equal(a->algo, b->algo);
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->shards, b->shards);
    assert_string_equal(a->strategy, b->strategy);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(tn_setting_get(a, &table[i]), tn_setting_get(b, &table[i]));
}

/* A change that falls between two reads and is in neither leaves a node with a wrong picture for ever. */
static void deltas_miss_nothing(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    struct tn_shard_row picture[WORLD_SHARDS] = {0};
    uint64_t cursor = 0;
    world_plan(world, world_node_of(world, a));
    for (int round = 0; round < 40; round++) {
        const uint32_t shard = (uint32_t)(round * 5) % WORLD_SHARDS;
        const struct tn_shard_row row = world_row(world, shard);
        const enum tn_op_kind verb = row.session ? TN_OP_RELEASE : TN_OP_CLAIM;
        assert_int_equal(world_verb(world, verb, a, shard, row.token, 0)->outcome, TN_DONE);
        if (round % 3)
            continue;
        const struct tn_delta *delta = &world_sync(world, a, cursor)->tick.deltas[0];
        assert_int_equal(delta->full, cursor == 0);
        for (size_t i = 0; i < delta->n_changes; i++) {
            assert_true(i == 0 || delta->changes[i].shard > delta->changes[i - 1].shard);
            picture[delta->changes[i].shard] = delta->changes[i].row;
        }
        cursor = delta->epoch;
        for (uint32_t i = 0; i < WORLD_SHARDS; i++) {
            const struct tn_shard_row truth = world_row(world, i);
            assert_true(tn_rule_same(&picture[i], &truth));
        }
    }
}

/* Without news a renewal must carry nothing, or each one costs as much as the group is large. */
static void no_news_is_empty(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_own(world, a, 0);
    const uint64_t epoch = world_epoch(world);
    const struct tn_delta *delta = &world_tick(world, a, epoch)->tick.deltas[0];
    assert_int_equal(delta->epoch, epoch);
    assert_false(delta->full);
    assert_false(delta->members_changed);
    assert_null(delta->settings);
    assert_int_equal(delta->n_changes, 0);
    assert_int_equal(delta->plan_fingerprint, 5);
    assert_int_equal(delta->planner_version, 1);
}

/* Who has no picture, or one of another history, needs all of it, not the difference to something else. */
static void strangers_get_everything(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_own(world, a, 0);
    const uint64_t epoch = world_epoch(world);
    const struct tn_delta *delta = &world_sync(world, 0, 0)->tick.deltas[0];
    assert_true(delta->full);
    assert_int_equal(delta->n_changes, WORLD_SHARDS);
    assert_non_null(delta->settings);
    assert_true(delta->members_changed);
    delta = &world_sync(world, 0, epoch + 100)->tick.deltas[0];
    assert_true(delta->full);
    assert_int_equal(delta->epoch, epoch);
    world->cursor = (struct tn_cursor){99, 5};
    world_exec(world, world->op);
    assert_true(world->op.tick.deltas[0].gone);
}

/* A setting changed on a running fleet must reach it. */
static void settings_travel(struct world *world)
{
    struct tenure_error error;
    const uint64_t a = world_join(world, "A");
    const uint64_t epoch = world_epoch(world);
    world->settings.settle_ms = 1234;
    assert_int_equal(world->store->type->group_set(world->store, "orders", &world->settings, 1000, &error),
                     TENURE_OK);
    const struct tn_delta *delta = &world_tick(world, a, epoch)->tick.deltas[0];
    assert_non_null(delta->settings);
    assert_int_equal(delta->settings->settle_ms, 1234);
    assert_same_settings(delta->settings, &world->settings);
    assert_false(delta->members_changed);
    assert_null(world_tick(world, a, delta->epoch)->tick.deltas[0].settings);
}

/* Two leaders that plan at once must not weave their plans into each other. */
static void plans_are_compared_and_set(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint32_t node = world_node_of(world, a);
    world_plan(world, node);
    const uint64_t epoch = world_epoch(world);
    world->items[0] = (struct tn_item){.shard = 0, .node = 0};
    struct tn_op op = {.kind = TN_OP_PLAN,
                       .session = a,
                       .group = world->group,
                       .items = world->items,
                       .n_items = 1,
                       .plan = {.plan_epoch = 0, .fingerprint = 6}};
    assert_int_equal(world_exec(world, op)->status, TENURE_CONFLICT);
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(world_row(world, 0).desired, node);
    op.plan.plan_epoch = 1;
    op.plan.fingerprint = 0;
    world->items[0] = (struct tn_item){.shard = 0, .node = 0};
    assert_int_equal(world_exec(world, op)->status, TENURE_OK);
    assert_int_equal(world->op.plan.new_plan_epoch, 2);
    const struct tn_delta *delta = &world_sync(world, 0, epoch)->tick.deltas[0];
    assert_int_equal(delta->n_changes, 1);
    assert_int_equal(delta->changes[0].row.desired, 0);
    assert_int_equal(delta->plan_epoch, 2);
    assert_int_equal(delta->plan_fingerprint, 0);
    assert_int_equal(world_events(world, "planned"), 1);
}

/* An operator's move to a node that cannot take it would leave the shard with nobody. */
static void a_move_needs_a_live_target(struct world *world)
{
    struct tenure_error error;
    struct tn_store *store = world->store;
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    world_plan(world, world_node_of(world, a));
    assert_int_equal(store->type->move(store, world->group, 3, "C", 1000, &error), TENURE_NOT_FOUND);
    assert_int_equal(store->type->move(store, world->group, WORLD_SHARDS, "B", 1000, &error),
                     TENURE_BAD_INPUT);
    assert_int_equal(store->type->move(store, world->group, 3, "B", 1000, &error), TENURE_OK);
    assert_int_equal(world_row(world, 3).desired, world_node_of(world, b));
    world_sync(world, 0, 0);
    assert_int_equal(world->op.tick.deltas[0].plan_epoch, 2);
    store->type->node_drain(store, "A", 0, true, 1000, &error);
    assert_int_equal(store->type->move(store, world->group, 3, "A", 1000, &error), TENURE_CONFLICT);
    world_leave(world, b);
    assert_int_equal(store->type->move(store, world->group, 4, "B", 1000, &error), TENURE_CONFLICT);
}

/* Settings that silently stay what they were, or silently become what was typed: both have cost data (case
 * B44). */
static void groups_are_created_once(struct world *world)
{
    struct tenure_error error;
    struct tn_store *store = world->store;
    struct tn_settings other = world->settings;
    assert_int_equal(store->type->group_create(store, "orders", &other, 77, 1000, &error), TENURE_OK);
    assert_int_equal(store->type->group_create(store, "orders", &other, 78, 1000, &error),
                     TENURE_FINGERPRINT);
    other.settle_ms = 1;
    assert_int_equal(store->type->group_create(store, "orders", &other, 77, 1000, &error), TENURE_EXISTS);
    assert_non_null(strstr(error.text, "settle_ms is 5000, not 1"));
    other.shards = 4;
    assert_int_equal(store->type->group_set(store, "orders", &other, 1000, &error), TENURE_BAD_INPUT);
    assert_non_null(strstr(error.text, "reshard"));
    other.shards = 0;
    assert_int_equal(store->type->group_create(store, "new", &other, 77, 1000, &error), TENURE_BAD_INPUT);
    assert_int_equal(store->type->group_create(store, "a/b", &world->settings, 77, 1000, &error),
                     TENURE_BAD_INPUT);
    assert_int_equal(store->type->group_set(store, "new", &world->settings, 1000, &error), TENURE_NOT_FOUND);
    struct tn_group_info *groups = NULL;
    size_t n = 0;
    assert_int_equal(store->type->group_list(store, &world->arena, &groups, &n, 1000, &error), TENURE_OK);
    assert_int_equal(n, 1);
    assert_string_equal(groups[0].name, "orders");
    assert_same_settings(&groups[0].settings, &world->settings);
}

/* Deleting a group under running nodes would take their shards away without a word. */
static void groups_are_deleted_when_nobody_is_in_them(struct world *world)
{
    struct tenure_error error;
    struct tn_store *store = world->store;
    const uint64_t a = world_join(world, "A");
    assert_int_equal(store->type->group_delete(store, "orders", 1000, &error), TENURE_CONFLICT);
    world_leave(world, a);
    assert_int_equal(store->type->group_delete(store, "orders", 1000, &error), TENURE_OK);
    assert_int_equal(store->type->group_delete(store, "orders", 1000, &error), TENURE_NOT_FOUND);
    assert_true(world_sync(world, 0, 3)->tick.deltas[0].gone);
    assert_int_equal(store->type->group_create(store, "orders", &world->settings, 77, 1000, &error),
                     TENURE_OK);
    const uint32_t old = world->group;
    world_join(world, "A");
    assert_true(world->joined.group > old);
}

/* Shard counts go to a million: rows are made in steps, and the group is there only when all are. */
static void large_groups_are_whole(struct world *world)
{
    struct tenure_error error;
    struct tn_store *store = world->store;
    world->settings.shards = 20000;
    assert_int_equal(store->type->group_create(store, "large", &world->settings, 77, 1000, &error),
                     TENURE_OK);
    world->group = 2;
    assert_int_equal(world_sync(world, 0, 0)->tick.deltas[0].n_changes, 20000);
    assert_int_equal(store->type->group_delete(store, "large", 1000, &error), TENURE_OK);
}

/* After a restored backup a token could be given out for the second time, to somebody else. */
static void a_new_history_is_above_all_before(struct world *world)
{
    struct tenure_error error;
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    const uint64_t epoch = world_epoch(world);
    uint32_t history = 0;
    assert_int_equal(world->store->type->new_history(world->store, 5, &history, 1000, &error), TENURE_OK);
    assert_true(history > 5);
    const struct tn_delta *delta = &world_sync(world, 0, epoch)->tick.deltas[0];
    assert_int_equal(world->op.history, history);
    assert_true(delta->full);
    assert_int_equal(delta->n_members, 0);
    for (uint32_t i = 0; i < WORLD_SHARDS; i++) {
        assert_true(delta->changes[i].row.token > token);
        assert_int_equal(tn_token_history(delta->changes[i].row.token), history);
        assert_int_equal(delta->changes[i].row.session, 0);
    }
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "history");
    assert_int_equal(world_events(world, "new history"), 1);
    uint32_t next = 0;
    assert_int_equal(world->store->type->new_history(world->store, 0, &next, 1000, &error), TENURE_OK);
    assert_true(next > history);
}

/* A node that knows more than the store has seen the store lose its memory. */
static void lost_history_is_noticed(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    const uint64_t epoch = world_epoch(world);
    assert_int_equal(world_tick(world, a, epoch)->tick.renewal, TN_RENEWED);
    assert_int_equal(world_tick(world, a, epoch + 1)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "history");
    const uint32_t first = world->op.history;
    assert_true(first > 0);
    assert_true(world_row(world, 0).token > token);
    const uint64_t b = world_join(world, "B");
    world_tick(world, b, 0);
    world->op.tick.history = first + 7;
    world_exec(world, world->op);
    assert_int_equal(world->op.tick.renewal, TN_ENDED);
    assert_true(world->op.history > first + 7);
    /* A session that this store never began. */
    assert_int_equal(world_tick(world, 1000, 0)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "history");
}

int main(void)
{
    static const struct clause clauses[] = {
        {"C7 deltas miss nothing", deltas_miss_nothing},
        {"C7 no news is empty", no_news_is_empty},
        {"C7 strangers get everything", strangers_get_everything},
        {"C7 settings travel", settings_travel},
        {"C12 plans are compared and set", plans_are_compared_and_set},
        {"C12 a move needs a live target", a_move_needs_a_live_target},
        {"groups are created once", groups_are_created_once},
        {"groups are deleted when nobody is in them", groups_are_deleted_when_nobody_is_in_them},
        {"large groups are whole", large_groups_are_whole},
        {"C18 a new history is above all before", a_new_history_is_above_all_before},
        {"C18 lost history is noticed", lost_history_is_noticed},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
