/* What operators say, and the exits of what went wrong: pauses, quarantine, drains of one group, sessions
 * that will be back, mass losses, starts that never end, the timeline's end, rehearsals. */
#include "world.h"

#include <string.h>

static struct tenure_error error;

static size_t pauses(struct world *world, struct tn_pause **ret)
{
    size_t n = 0;
    assert_int_equal(
        world->store->type->pauses(world->store, world->group, &world->arena, ret, &n, 1000, &error),
        TENURE_OK);
    return n;
}

static const struct tn_delta *delta_of(struct world *world)
{
    world_sync(world, 0, 0);
    return &world->op.tick.deltas[0];
}

/* The second of two reasons must hold moves back when the first is taken back. */
static void pauses_stack(struct world *world)
{
    struct tn_store *store = world->store;
    struct tn_pause *list;
    uint32_t dropped = 0;
    world_pass(world, 1000);
    assert_int_equal(store->type->pause(store, world->group, "upgrade", "kim", 1000, &error), TENURE_OK);
    assert_int_equal(store->type->pause(store, world->group, "audit", "lee", 1000, &error), TENURE_OK);
    const uint64_t epoch = world_epoch(world);
    assert_int_equal(store->type->pause(store, world->group, "audit", "kim", 1000, &error), TENURE_OK);
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(pauses(world, &list), 2);
    assert_string_equal(list[0].reason, "upgrade");
    assert_string_equal(list[1].author, "lee");
    assert_int_equal(list[0].unix_ms, world->unix_ms);
    assert_true(delta_of(world)->paused);
    assert_int_equal(store->type->resume(store, world->group, "lunch", false, &dropped, 1000, &error),
                     TENURE_NOT_FOUND);
    assert_int_equal(store->type->resume(store, world->group, "upgrade", false, &dropped, 1000, &error),
                     TENURE_OK);
    assert_int_equal(dropped, 1);
    assert_true(delta_of(world)->paused);
    assert_int_equal(store->type->resume(store, world->group, NULL, false, &dropped, 1000, &error),
                     TENURE_OK);
    assert_false(delta_of(world)->paused);
    assert_int_equal(store->type->resume(store, world->group, NULL, true, &dropped, 1000, &error),
                     TENURE_NOT_FOUND);
    assert_int_equal(world_events(world, "paused"), 2);
    assert_int_equal(world_events(world, "resumed"), 2);
    assert_int_equal(store->type->pause(store, world->group, "", "kim", 1000, &error), TENURE_BAD_INPUT);
    assert_int_equal(store->type->pause(store, 99, "x", "kim", 1000, &error), TENURE_NOT_FOUND);
}

/* Whoever works on a shard that is set aside must be fenced off at once, and nobody may claim it. */
static void a_shard_set_aside_is_nobodys(struct world *world)
{
    struct tn_store *store = world->store;
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 2);
    assert_int_equal(store->type->quarantine(store, world->group, 2, false, 1000, &error), TENURE_CONFLICT);
    assert_int_equal(store->type->quarantine(store, world->group, WORLD_SHARDS, true, 1000, &error),
                     TENURE_BAD_INPUT);
    assert_int_equal(store->type->quarantine(store, world->group, 2, true, 1000, &error), TENURE_OK);
    assert_int_equal(world_row(world, 2).state, TN_SHARD_QUARANTINED);
    assert_int_equal(world_row(world, 2).token, token + 1);
    assert_int_equal(world_save(world, a, 2, token, 0, "late", 4)->outcome, TN_STALE);
    assert_int_not_equal(world_verb(world, TN_OP_CLAIM, a, 2, token + 1, 0)->outcome, TN_DONE);
    assert_int_equal(store->type->move(store, world->group, 2, "A", 1000, &error), TENURE_CONFLICT);
    assert_int_equal(store->type->quarantine(store, world->group, 2, true, 1000, &error), TENURE_OK);
    assert_int_equal(world_events(world, "quarantined"), 1);
    assert_int_equal(store->type->quarantine(store, world->group, 2, false, 1000, &error), TENURE_OK);
    assert_int_equal(world_verb(world, TN_OP_CLAIM, a, 2, token + 1, 0)->outcome, TN_DONE);
    assert_true(world_row(world, 2).token > token + 1);
}

/* A poison shard must not take a fourth node with it. */
static void three_owners_that_die_set_a_shard_aside(struct world *world)
{
    static const char *const names[] = {"A", "B", "C"};
    uint64_t session = 0, token = 0;
    for (int i = 0; i < 3; i++) {
        session = world_join_elsewhere(world, names[i]);
        world_plan(world, world_node_of(world, session));
        const struct tn_item *item = world_verb(world, TN_OP_CLAIM, session, 1, token, 0);
        assert_int_equal(item->outcome, TN_DONE);
        token = item->row.token;
        world_pass(world, 1000);
        world_kill_elsewhere(world);
        assert_true(world_bury(world, session, TN_CRASHED, 0)->bury.buried);
    }
    const uint64_t d = world_join(world, "D");
    world_plan(world, world_node_of(world, d));
    assert_int_equal(world_verb(world, TN_OP_CLAIM, d, 1, token, 0)->outcome, TN_SET_ASIDE);
    assert_int_equal(world_row(world, 1).state, TN_SHARD_QUARANTINED);
    assert_int_equal(world_verb(world, TN_OP_CLAIM, d, 0, 0, 0)->outcome, TN_DONE);
}

/* A drain of one group that drained the node's other groups would stop services that nobody spoke of. */
static void a_drain_of_one_group(struct world *world)
{
    struct tn_store *store = world->store;
    world_join(world, "A");
    assert_int_equal(store->type->node_drain(store, "A", 99, true, 1000, &error), TENURE_NOT_FOUND);
    const uint64_t epoch = world_epoch(world);
    assert_int_equal(store->type->node_drain(store, "A", world->group, true, 1000, &error), TENURE_OK);
    world_sync(world, 0, epoch);
    assert_true(world->op.tick.deltas[0].members_changed);
    assert_true(world->op.tick.deltas[0].members[0].draining);
    assert_int_equal(store->type->move(store, world->group, 0, "A", 1000, &error), TENURE_CONFLICT);
    assert_int_equal(store->type->node_drain(store, "A", 0, true, 1000, &error), TENURE_OK);
    assert_int_equal(store->type->node_drain(store, "A", world->group, false, 1000, &error), TENURE_CONFLICT);
    assert_int_equal(store->type->node_drain(store, "A", 0, false, 1000, &error), TENURE_OK);
    assert_false(delta_of(world)->members[0].draining); /* all marks went */
    assert_int_equal(store->type->node_drain(store, "A", world->group, true, 1000, &error), TENURE_OK);
    assert_int_equal(store->type->node_drain(store, "A", world->group, false, 1000, &error), TENURE_OK);
    assert_false(delta_of(world)->members[0].draining);
}

static void leave_for_a_while(struct world *world, uint64_t session, int64_t ms)
{
    struct tn_op op = {.kind = TN_OP_LEAVE, .session = session, .leave = {.return_within_ms = ms}};
    assert_int_equal(world_exec(world, op)->status, TENURE_OK);
}

/* A restart within its time must find its shards waiting; one that stays away must not keep them. */
static void a_node_that_will_be_back(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    leave_for_a_while(world, a, 5000);
    const struct tn_delta *delta = delta_of(world);
    assert_int_equal(delta->n_members, 2);
    assert_int_equal(delta->members[0].state, TN_SESSION_AWAY);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_ENDED);
    assert_false(world_bury(world, a, TN_EXPIRED, 0)->bury.buried);
    const uint64_t again = world_join(world, "A");
    assert_true(again > b);
    assert_int_equal(world_events(world, "returned"), 1);
    assert_int_equal(delta_of(world)->n_members, 2);
    leave_for_a_while(world, again, 5000);
    world_pass(world, 5001);
    world_tick(world, b, 0);
    assert_true(world_bury(world, again, TN_EXPIRED, 0)->bury.buried);
    assert_int_equal(world_events(world, "stayed away"), 1);
    assert_int_equal(delta_of(world)->n_members, 1);
}

/* When the network to half the fleet breaks, the rest must not start to balance. */
static void many_losses_freeze_balance_moves(struct world *world)
{
    static const char *const names[] = {"A", "B", "C", "D", "E"};
    uint64_t sessions[5];
    uint32_t dropped = 0;
    for (int i = 0; i < 5; i++)
        sessions[i] = world_join(world, names[i]);
    world_pass(world, WORLD_LEASE_MS / 2);
    world_tick(world, sessions[4], 0);
    world_pass(world, WORLD_LEASE_MS / 2 + 1);
    assert_true(world_bury(world, sessions[0], TN_EXPIRED, 0)->bury.buried);
    assert_int_equal(delta_of(world)->frozen_until_ms, 0);
    assert_true(world_bury(world, sessions[1], TN_EXPIRED, 0)->bury.buried);
    assert_true(delta_of(world)->frozen_until_ms > world->lease_ms);
    assert_int_equal(
        world->store->type->resume(world->store, world->group, NULL, true, &dropped, 1000, &error),
        TENURE_OK);
    assert_int_equal(delta_of(world)->frozen_until_ms, 0);
}

/* A worker that never gets ready must not keep its shard from everybody else. */
static void a_start_that_never_ends_is_revoked(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t b = world_join(world, "B");
    world_plan(world, world_node_of(world, a));
    const uint64_t token = world_verb(world, TN_OP_CLAIM, a, 0, 0, 0)->row.token;
    assert_int_equal(world_verb(world, TN_OP_REVOKE, b, 0, token, 0)->outcome, TN_NOT_YET);
    world_pass(world, world->settings.restore_timeout_ms / 2);
    world_tick(world, a, 0);
    world_tick(world, b, 0);
    world_pass(world, world->settings.restore_timeout_ms / 2 + 1);
    world_tick(world, a, 0);
    world_tick(world, b, 0);
    const struct tn_item *item = world_verb(world, TN_OP_REVOKE, b, 0, token, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.state, TN_SHARD_UNOWNED);
    assert_int_equal(item->row.token, token + 1);
    assert_int_equal(world_verb(world, TN_OP_READY, a, 0, token, 0)->outcome, TN_STALE);
}

/* Under a store that grows for ever, nodes slow down one day; a step must be small, or they wait now. */
static void the_timeline_is_cut_short_in_steps(struct world *world)
{
    struct tn_store *store = world->store;
    struct tn_store_info info;
    size_t removed = 1, all = 0;
    for (int i = 0; i < 20; i++)
        world_leave(world, world_join(world, "A"));
    assert_int_equal(store->type->info(store, &world->arena, &info, 1000, &error), TENURE_OK);
    const size_t before = info.events;
    assert_true(before >= 40);
    while (removed) {
        assert_int_equal(store->type->prune(store, 7, &removed, 1000, &error), TENURE_OK);
        assert_true(removed <= TN_PRUNE_STEP);
        all += removed;
    }
    assert_int_equal(all, before - 7);
    assert_int_equal(store->type->info(store, &world->arena, &info, 1000, &error), TENURE_OK);
    assert_int_equal(info.events, 7);
    struct tn_event *events;
    size_t n;
    const struct tn_event_query query = {.shard = -1};
    assert_int_equal(store->type->events(store, &query, &world->arena, &events, &n, 1000, &error), TENURE_OK);
    assert_int_equal(n, 7);
    for (size_t i = 1; i < n; i++)
        assert_true(events[i].id > events[i - 1].id);
    assert_int_equal(store->type->prune(store, 0, &removed, 1000, &error), TENURE_OK);
    assert_int_equal(removed, 7);
    world_join(world, "B");
    assert_true(world_events(world, "joined") == 1);
}

int main(void)
{
    static const struct clause clauses[] = {
        {"pauses stack", pauses_stack},
        {"a shard set aside is nobody's", a_shard_set_aside_is_nobodys},
        {"three owners that die set a shard aside", three_owners_that_die_set_a_shard_aside},
        {"a drain of one group is of that group alone", a_drain_of_one_group},
        {"C5 a node that will be back finds its place", a_node_that_will_be_back},
        {"C5 many losses freeze balance moves", many_losses_freeze_balance_moves},
        {"C8 a start that never ends is revoked", a_start_that_never_ends_is_revoked},
        {"C16 the timeline is cut short in steps", the_timeline_is_cut_short_in_steps},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
