/* Clauses C8, C10, C13, C14, C16: who owns a shard, and how that changes. */
#include "world.h"

#include <string.h>

#include "core/lease/rule.h"

/* A first claim that overwrites, or that never matches a row without an owner (case B18). */
static void first_claim(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    assert_int_equal(world_verb(world, TN_OP_CLAIM, a, 0, 0, 0)->outcome, TN_NOT_DESIRED);
    world_plan(world, world_node_of(world, a));
    assert_int_equal(world_verb(world, TN_OP_CLAIM, b, 0, 0, 0)->outcome, TN_NOT_DESIRED);
    const struct tn_item *item = world_verb(world, TN_OP_CLAIM, a, 0, 0, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.token, 1);
    assert_int_equal(item->row.session, a);
    assert_int_equal(item->row.state, TN_SHARD_RESTORING);
    assert_null(item->checkpoint.data);
    assert_int_equal(world_events(world, "first claim"), 1);
}

/* A claim against a live owner is how two nodes come to serve one shard. */
static void a_live_owner_keeps_its_shard(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    const uint64_t token = world_own(world, a, 0);
    world_plan(world, world_node_of(world, b));
    world_pass(world, WORLD_LEASE_MS); /* expired, but nobody has buried it */
    world_tick(world, b, 0);
    assert_int_equal(world_verb(world, TN_OP_CLAIM, b, 0, token, 0)->outcome, TN_NOT_FREE);
    world_bury(world, a, TN_EXPIRED, 0);
    assert_int_equal(world_verb(world, TN_OP_CLAIM, b, 0, token - 1, 0)->outcome, TN_STALE);
    const struct tn_item *item = world_verb(world, TN_OP_CLAIM, b, 0, token, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.token, token + 1);
    assert_int_equal(world_events(world, "taken over"), 1);
}

/* One shard that somebody else took must not keep a node from the rest of its plan. */
static void items_stand_alone(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_own(world, a, 1);
    const uint64_t epoch = world_epoch(world);
    for (uint32_t i = 0; i < 3; i++)
        world->items[i] = (struct tn_item){.shard = i};
    world_exec(
        world,
        (struct tn_op){
            .kind = TN_OP_CLAIM, .session = a, .group = world->group, .items = world->items, .n_items = 3});
    assert_int_equal(world->op.status, TENURE_OK);
    assert_int_equal(world->items[0].outcome, TN_DONE);
    assert_int_equal(world->items[1].outcome, TN_NOT_FREE);
    assert_int_equal(world->items[2].outcome, TN_DONE);
    world_sync(world, 0, epoch);
    assert_int_equal(world->op.tick.deltas[0].n_changes, 2);
    assert_true(world->op.tick.deltas[0].epoch > epoch);
}

/* A batch with a shard that does not exist is a bug of the caller: nothing of it may happen. */
static void nonsense_is_refused_whole(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_plan(world, world_node_of(world, a));
    const uint64_t epoch = world_epoch(world);
    world->items[0] = (struct tn_item){.shard = 0};
    world->items[1] = (struct tn_item){.shard = WORLD_SHARDS};
    struct tn_op op = {
        .kind = TN_OP_CLAIM, .session = a, .group = world->group, .items = world->items, .n_items = 2};
    assert_int_equal(world_exec(world, op)->status, TENURE_BAD_INPUT);
    op.n_items = 1;
    op.session = 0;
    assert_int_equal(world_exec(world, op)->status, TENURE_BAD_INPUT);
    op.session = a;
    op.group = 99;
    assert_int_equal(world_exec(world, op)->status, TENURE_NOT_FOUND);
    assert_int_equal(world_epoch(world), epoch);
}

struct handoff {
    uint64_t a, b, token;
};

/* A owns shard 0, the plan gives it to B. */
static struct handoff stage(struct world *world)
{
    struct handoff handoff = {.a = world_join(world, "A"), .b = world_join(world, "B")};
    handoff.token = world_own(world, handoff.a, 0);
    world_plan(world, world_node_of(world, handoff.b));
    return handoff;
}

/* The whole way of a planned move: no instant without an owner, the token raised once, the old owner told. */
static void a_handoff_runs_through(struct world *world)
{
    const struct handoff h = stage(world);
    assert_int_equal(world_tick(world, h.a, 0)->tick.version, 0);
    const struct tn_item *item = world_verb(world, TN_OP_PREPARE, h.a, 0, h.token, h.b);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.state, TN_SHARD_PREPARING);
    assert_int_equal(world_verb(world, TN_OP_TRANSFER, h.a, 0, h.token, h.b)->outcome, TN_WRONG_STATE);
    assert_int_equal(world_verb(world, TN_OP_PREPARED, h.a, 0, h.token, 0)->outcome, TN_WRONG_STATE);
    item = world_verb(world, TN_OP_PREPARED, h.b, 0, h.token, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.state, TN_SHARD_DRAINING);
    assert_int_equal(item->row.session, h.a);
    assert_int_equal(world_verb(world, TN_OP_TRANSFER, h.b, 0, h.token, h.b)->outcome, TN_STALE);
    item = world_verb(world, TN_OP_TRANSFER, h.a, 0, h.token, h.b);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.session, h.b);
    assert_int_equal(item->row.token, h.token + 1);
    assert_int_equal(item->row.state, TN_SHARD_RESTORING);
    assert_int_equal(item->row.handed, 1);
    assert_int_equal(item->row.moved_ms, world->lease_ms);
    assert_int_equal(world_verb(world, TN_OP_READY, h.b, 0, h.token + 1, 0)->row.state, TN_SHARD_OWNED);
    assert_int_equal(world_events(world, "handed over"), 1);
    assert_int_equal(world_tick(world, h.a, 0)->tick.version, 1);
}

/* A reply that is lost is followed by the same request again: it must find DONE and change nothing (case
 * B14). */
static void every_verb_can_be_repeated(struct world *world)
{
    const struct handoff h = stage(world);
    const struct {
        enum tn_op_kind verb;
        uint64_t who, token, peer;
    } steps[] = {
        {TN_OP_PREPARE, h.a, h.token, h.b},   {TN_OP_PREPARED, h.b, h.token, 0},
        {TN_OP_TRANSFER, h.a, h.token, h.b},  {TN_OP_READY, h.b, h.token + 1, 0},
        {TN_OP_RELOAD, h.b, h.token + 1, 0},  {TN_OP_READY, h.b, h.token + 2, 0},
        {TN_OP_RELEASE, h.b, h.token + 2, 0}, {TN_OP_CLAIM, h.b, h.token + 2, 0},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const struct tn_item *item =
            world_verb(world, steps[i].verb, steps[i].who, 0, steps[i].token, steps[i].peer);
        assert_int_equal(item->outcome, TN_DONE);
        const struct tn_shard_row row = item->row;
        const uint64_t epoch = world_epoch(world);
        world_pass(world, 7);
        item = world_verb(world, steps[i].verb, steps[i].who, 0, steps[i].token, steps[i].peer);
        assert_int_equal(item->outcome, TN_DONE);
        assert_true(tn_rule_same(&item->row, &row));
        assert_int_equal(world_epoch(world), epoch);
    }
    assert_int_equal(world_row(world, 0).token, h.token + 3);
}

/* Unbounded moves would take half of a service out of work at once, whoever asks for them. */
static void handoffs_are_bounded(struct world *world)
{
    struct tenure_error error;
    world->settings.max_moves = 3;
    assert_int_equal(world->store->type->group_set(world->store, "orders", &world->settings, 1000, &error),
                     TENURE_OK);
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    for (uint32_t i = 0; i < WORLD_SHARDS; i++)
        world_own(world, a, i);
    world_plan(world, world_node_of(world, b));
    for (uint32_t i = 0; i < 5; i++)
        world->items[i] = (struct tn_item){.shard = i, .token = 1, .peer = b};
    world_exec(
        world,
        (struct tn_op){
            .kind = TN_OP_PREPARE, .session = a, .group = world->group, .items = world->items, .n_items = 5});
    assert_int_equal(world->items[2].outcome, TN_DONE);
    assert_int_equal(world->items[3].outcome, TN_OVER_BUDGET);
    assert_int_equal(world->items[4].outcome, TN_OVER_BUDGET);
    /* A transferred shard counts until its new owner is ready. */
    world_verb(world, TN_OP_PREPARED, b, 0, 1, 0);
    world_verb(world, TN_OP_TRANSFER, a, 0, 1, b);
    assert_int_equal(world_verb(world, TN_OP_PREPARE, b, 5, 1, b)->outcome, TN_OVER_BUDGET);
    world_verb(world, TN_OP_READY, b, 0, 2, 0);
    assert_int_equal(world_verb(world, TN_OP_PREPARE, b, 5, 1, b)->outcome, TN_DONE);
    assert_int_equal(world_verb(world, TN_OP_ABORT, b, 5, 1, b)->outcome, TN_NOT_YET);
    world_pass(world, world->settings.prepare_timeout_ms);
    assert_int_equal(world_verb(world, TN_OP_ABORT, b, 5, 1, b)->outcome, TN_DONE);
    assert_int_equal(world_verb(world, TN_OP_PREPARE, b, 6, 1, b)->outcome, TN_DONE);
}

/* An owner that never finishes must not hold a move for ever, nor be cut off before its time. */
static void a_drain_is_forced_only_after_its_time(struct world *world)
{
    const struct handoff h = stage(world);
    world_verb(world, TN_OP_PREPARE, h.b, 0, h.token, h.b);
    world_verb(world, TN_OP_PREPARED, h.b, 0, h.token, 0);
    assert_int_equal(world_verb(world, TN_OP_FORCE, h.b, 0, h.token, h.b)->outcome, TN_NOT_YET);
    world_pass(world, world->settings.drain_timeout_ms);
    const struct tn_item *item = world_verb(world, TN_OP_FORCE, h.b, 0, h.token, h.b);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.session, h.b);
    assert_int_equal(item->row.token, h.token + 1);
    assert_int_equal(world_events(world, "forced"), 1);
    world_verb(world, TN_OP_FORCE, h.b, 0, h.token, h.b);
    assert_int_equal(world_events(world, "forced"), 1);
}

/* A shard given to a session that died meanwhile would be owned on paper and run by nobody. */
static void a_target_that_died_gets_nothing(struct world *world)
{
    const struct handoff h = stage(world);
    world_verb(world, TN_OP_PREPARE, h.a, 0, h.token, h.b);
    world_verb(world, TN_OP_PREPARED, h.b, 0, h.token, 0);
    world_leave(world, h.b);
    const struct tn_item *item = world_verb(world, TN_OP_TRANSFER, h.a, 0, h.token, h.b);
    assert_int_equal(item->outcome, TN_TARGET_GONE);
    const struct tn_shard_row row = world_row(world, 0);
    assert_int_equal(row.session, h.a);
    assert_int_equal(row.token, h.token);
    assert_int_equal(row.state, TN_SHARD_OWNED);
    assert_int_equal(world_verb(world, TN_OP_PREPARE, h.a, 0, h.token, h.b)->outcome, TN_TARGET_GONE);
}

/* A leaving node must not be given work; one of another group cannot do it. */
static void only_live_members_get_shards(struct world *world)
{
    const struct handoff h = stage(world);
    world_tick(world, h.b, 0);
    world->op.tick.leaving = true;
    world_exec(world, world->op);
    assert_int_equal(world_verb(world, TN_OP_PREPARE, h.a, 0, h.token, h.b)->outcome, TN_TARGET_GONE);
    assert_int_equal(world_verb(world, TN_OP_CLAIM, h.b, 1, 0, 0)->outcome, TN_NOT_DESIRED);
}

/* A reload ends what an uncertain write may still do, and is not a move: the shard's cool-down must not
 * change. */
static void reload_raises_the_token_and_nothing_else(struct world *world)
{
    const struct handoff h = stage(world);
    world_verb(world, TN_OP_PREPARE, h.a, 0, h.token, h.b);
    world_verb(world, TN_OP_PREPARED, h.b, 0, h.token, 0);
    world_verb(world, TN_OP_TRANSFER, h.a, 0, h.token, h.b);
    world_verb(world, TN_OP_READY, h.b, 0, h.token + 1, 0);
    const int64_t moved = world_row(world, 0).moved_ms;
    world_pass(world, 1000);
    const struct tn_item *item = world_verb(world, TN_OP_RELOAD, h.b, 0, h.token + 1, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.token, h.token + 2);
    assert_int_equal(item->row.moved_ms, moved);
    assert_int_equal(item->row.handed, 0);
    assert_int_equal(world_verb(world, TN_OP_READY, h.b, 0, h.token + 1, 0)->outcome, TN_STALE);
    assert_int_equal(world_verb(world, TN_OP_RELOAD, h.a, 0, h.token + 2, 0)->outcome, TN_STALE);
}

/* Who looks into an incident needs each change of owner once, and a store must not grow with its age. */
static void the_timeline_is_complete_and_bounded(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    uint64_t token = world_own(world, a, 0);
    struct tn_event *events = NULL;
    size_t n = 0;
    struct tenure_error error;
    const struct tn_event_query one = {.group = "orders", .shard = 0};
    for (int i = 0; i < 700; i++) {
        assert_int_equal(world_verb(world, TN_OP_RELOAD, a, 0, token, 0)->outcome, TN_DONE);
        world_verb(world, TN_OP_READY, a, 0, ++token, 0);
    }
    assert_int_equal(world->store->type->events(world->store, &one, &world->arena, &events, &n, 1000, &error),
                     TENURE_OK);
    assert_in_range(n, 400, 570);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(events[i].token, token - (n - 1 - i));
        assert_string_equal(events[i].node, "A");
        assert_string_equal(events[i].cause, "reloaded");
        assert_true(i == 0 || events[i].id > events[i - 1].id);
    }
    const struct tn_event_query newest = {.shard = -1, .limit = 3};
    assert_int_equal(
        world->store->type->events(world->store, &newest, &world->arena, &events, &n, 1000, &error),
        TENURE_OK);
    assert_int_equal(n, 3);
    assert_int_equal(events[2].token, token);
}

int main(void)
{
    static const struct clause clauses[] = {
        {"C8 the first claim of a shard", first_claim},
        {"C8 a live owner keeps its shard", a_live_owner_keeps_its_shard},
        {"C8 items of a batch stand alone", items_stand_alone},
        {"C8 nonsense is refused whole", nonsense_is_refused_whole},
        {"C8 C10 a handoff runs through", a_handoff_runs_through},
        {"C8 a drain is forced only after its time", a_drain_is_forced_only_after_its_time},
        {"C8 a target that died gets nothing", a_target_that_died_gets_nothing},
        {"C8 only live members get shards", only_live_members_get_shards},
        {"C10 reload raises the token and nothing else", reload_raises_the_token_and_nothing_else},
        {"C13 handoffs are bounded", handoffs_are_bounded},
        {"C14 every verb can be repeated", every_verb_can_be_repeated},
        {"C16 the timeline is complete and bounded", the_timeline_is_complete_and_bounded},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
