/* Clauses C3, C4, C5, C6, C9, C17 and what operators do to nodes: the life of a session. */
#include "world.h"

#include <string.h>

/* A join whose reply was lost would leave a ghost session that owns the node id until its lease ends. */
static void join_repeated(struct world *world)
{
    const uint64_t first = world_join(world, "A");
    const uint64_t epoch = world_epoch(world);
    assert_int_equal(world_ask_join(world, "A", 1, false)->status, TENURE_OK);
    assert_int_equal(world->op.join.session, first);
    assert_int_equal(world->op.join.lease_ms, WORLD_LEASE_MS);
    assert_int_equal(world->joined.fingerprint, 77);
    assert_int_equal(world->joined.settings.shards, WORLD_SHARDS);
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(world_events(world, "joined"), 1);
}

/* A program that asks for a second group later must not get a second session. */
static void join_adds_groups(struct world *world)
{
    struct tenure_error error;
    assert_int_equal(
        world->store->type->group_create(world->store, "bills", &world->settings, 78, 1000, &error), 0);
    const uint64_t session = world_join(world, "A");
    struct tn_join_group both[2] = {{.name = "orders"}, {.name = "bills"}};
    struct tn_op op = world->op;
    op.join.groups = both;
    op.join.n_groups = 2;
    assert_int_equal(world_exec(world, op)->status, TENURE_OK);
    assert_int_equal(world->op.join.session, session);
    assert_int_equal(both[1].fingerprint, 78);
    world->group = both[1].group;
    const uint32_t node = world_node_of(world, session);
    assert_int_equal(node, world->op.tick.deltas[0].members[0].node);
}

/* Two processes that both believe to be node A would both serve A's shards. */
static void second_start_is_refused(struct world *world)
{
    const uint64_t first = world_join(world, "A");
    assert_int_equal(world_ask_join(world, "A", 9, false)->status, TENURE_ID_IN_USE);
    assert_int_equal(world->op.join.rival, first);
    assert_int_equal(world->op.join.rival_until_ms, world->lease_ms + WORLD_LEASE_MS);
    assert_string_equal(world->op.join.rival_address, "host:1");
    assert_int_equal(world_tick(world, first, 0)->tick.renewal, TN_RENEWED);
}

/* An operator who replaces a hung process must be sure that the old one learns of it. */
static void replace_ends_the_first(struct world *world)
{
    const uint64_t first = world_join(world, "A");
    assert_int_equal(world_ask_join(world, "A", 9, true)->status, TENURE_OK);
    assert_true(world->op.join.session > first);
    assert_int_equal(world_tick(world, first, 0)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "replaced");
}

/* A restart after an unnoticed death must not wait for anybody to bury the old session. */
static void expired_rival_is_buried_by_join(struct world *world)
{
    const uint64_t first = world_join(world, "A");
    world_pass(world, WORLD_LEASE_MS - 1);
    assert_int_equal(world_ask_join(world, "A", 9, false)->status, TENURE_ID_IN_USE);
    world_pass(world, 1);
    assert_int_equal(world_ask_join(world, "A", 9, false)->status, TENURE_OK);
    assert_int_equal(world_tick(world, first, 0)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "expired");
}

/* A crashed process that is restarted at once must be let in at once. */
static void crashed_rival_is_buried_by_join(struct world *world)
{
    const uint64_t first = world_join_elsewhere(world, "A");
    assert_int_equal(world_ask_join(world, "A", 9, false)->status, TENURE_ID_IN_USE);
    world_kill_elsewhere(world);
    assert_int_equal(world_ask_join(world, "A", 10, false)->status, TENURE_OK);
    world_tick(world, first, 0);
    assert_string_equal(world->op.tick.end_reason, "crashed");
}

/* A typo in a group's name must not leave half a session behind. */
static void unknown_group_changes_nothing(struct world *world)
{
    struct tn_join_group both[2] = {{.name = "orders"}, {.name = "odrers"}};
    world_join(world, "B");
    const uint64_t epoch = world_epoch(world);
    struct tn_op op = {
        .kind = TN_OP_JOIN,
        .join = {.node_id = "A", .address = "", .labels = "{}", .nonce = {7}, .groups = both, .n_groups = 2}};
    assert_int_equal(world_exec(world, op)->status, TENURE_NOT_FOUND);
    assert_int_equal(world->op.join.missing_group, 1);
    assert_non_null(strstr(world->op.error.text, "odrers"));
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(world_events(world, "joined"), 1);
}

/* A nonce of a session that was ended must not bring it back to life. */
static void nonce_of_the_dead_is_refused(struct world *world)
{
    const uint64_t session = world_join(world, "A");
    world_leave(world, session);
    assert_int_equal(world_ask_join(world, "A", 1, false)->status, TENURE_SESSION_ENDED);
}

/* Names come from configuration files: what a terminal cannot show, or a path would split, must not get in.
 */
static void bad_node_names_are_refused(struct world *world)
{
    assert_int_equal(world_ask_join(world, "a/b", 9, false)->status, TENURE_BAD_INPUT);
    assert_int_equal(world_ask_join(world, "", 9, false)->status, TENURE_BAD_INPUT);
    assert_int_equal(world_ask_join(world, "a\x1b[1m", 9, false)->status, TENURE_BAD_INPUT);
    assert_int_equal(world_ask_join(world, "a\xff", 9, false)->status, TENURE_BAD_INPUT);
}

/* Burying a session that renewed meanwhile would give its shards two owners. */
static void burial_and_renewal_exclude_each_other(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const int64_t until = world->op.join.lease_until_ms;
    world_pass(world, WORLD_LEASE_MS);
    assert_int_equal(world_tick(world, a, 0)->status, TENURE_OK);
    assert_false(world_bury(world, a, TN_EXPIRED, until)->bury.buried);
    assert_false(world->op.bury.dead);
    assert_int_equal(world->op.bury.lease_until_ms, world->lease_ms + WORLD_LEASE_MS);
    world_pass(world, WORLD_LEASE_MS);
    assert_true(world_bury(world, a, TN_EXPIRED, until)->bury.buried);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_ENDED);
    assert_false(world_bury(world, a, TN_EXPIRED, until)->bury.buried);
    assert_true(world->op.bury.dead);
}

/* The holder's own lease counts, never the observer's (case B15). */
static void nobody_is_buried_before_its_own_time(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_pass(world, WORLD_LEASE_MS - 1);
    assert_false(world_bury(world, a, TN_EXPIRED, 0)->bury.buried);
    assert_false(world_bury(world, a, TN_CRASHED, 0)->bury.buried);
    world_tick(world, a, 0);
    world->op.tick.lease_ms = 5000;
    world_exec(world, world->op);
    assert_int_equal(world->op.tick.lease_until_ms, world->lease_ms + 5000);
}

/* A lease that a stepped clock put far ahead would otherwise hold its shards for ever. */
static void an_impossible_lease_can_be_ended(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const int64_t until = world->op.join.lease_until_ms;
    assert_false(world_bury(world, a, TN_TOO_FAR, until)->bury.buried);
    world_pass(world, -3600000);
    world_sync(world, 0, 0);
    assert_int_equal(world->op.tick.n_suspects, 1);
    assert_false(world_bury(world, a, TN_TOO_FAR, until - 1)->bury.buried);
    assert_true(world_bury(world, a, TN_TOO_FAR, until)->bury.buried);
}

/* Others would go on planning for a node that is gone, or not see one that came. */
static void members_are_told(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    uint64_t epoch = world_epoch(world);
    const uint64_t b = world_join(world, "B");
    world_sync(world, 0, epoch);
    assert_true(world->op.tick.deltas[0].members_changed);
    assert_int_equal(world->op.tick.deltas[0].n_members, 2);
    assert_int_equal(world->op.tick.deltas[0].members[0].session, a);
    assert_string_equal(world->op.tick.deltas[0].members[1].node_id, "B");
    epoch = world->op.tick.deltas[0].epoch;
    world_tick(world, b, epoch);
    assert_false(world->op.tick.deltas[0].members_changed);
    world->op.tick.leaving = true;
    world_exec(world, world->op);
    assert_true(world->op.tick.deltas[0].members_changed);
    assert_int_equal(world->op.tick.deltas[0].members[1].state, TN_SESSION_LEAVING);
    epoch = world->op.tick.deltas[0].epoch;
    world_leave(world, b);
    world_sync(world, 0, epoch);
    assert_int_equal(world->op.tick.deltas[0].n_members, 1);
    epoch = world->op.tick.deltas[0].epoch;
    world_pass(world, WORLD_LEASE_MS);
    world_bury(world, a, TN_EXPIRED, 0);
    world_sync(world, 0, epoch);
    assert_true(world->op.tick.deltas[0].members_changed);
    assert_int_equal(world->op.tick.deltas[0].n_members, 0);
}

/* A renewal past its time is never a plain renewal, and a lost reply must not hide that it was late. */
static void late_renewal_is_told_until_it_is_seen(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_pass(world, WORLD_LEASE_MS + 1);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_LATE);
    assert_int_equal(world->op.tick.lates, 1);
    assert_int_equal(world_sync(world, a, 0)->tick.renewal, TN_LATE);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_LATE);
    world->op.tick.lates_seen = 1;
    assert_int_equal(world_exec(world, world->op)->tick.renewal, TN_RENEWED);
    assert_int_equal(world->op.tick.lease_until_ms, world->lease_ms + WORLD_LEASE_MS);
}

/* Everybody must learn who is close to its end, to bury it the moment it passes. */
static void suspects_come_with_the_tick(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_pass(world, WORLD_LEASE_MS / 2);
    const uint64_t b = world_join(world, "B");
    world_tick(world, b, 0);
    assert_int_equal(world->op.tick.n_suspects, 1);
    assert_int_equal(world->op.tick.suspects[0].session, a);
    assert_int_equal(world->op.tick.suspects[0].lease_until_ms,
                     world->lease_ms + WORLD_LEASE_MS - WORLD_LEASE_MS / 2);
}

/* The store's clock counts: a requester with a wrong clock could otherwise prolong a dead lease. */
static void time_is_the_stores(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world_tick(world, a, 0);
    world->op.sent_ms = world->lease_ms + 3600000;
    world_exec(world, world->op);
    assert_int_equal(world->op.store_ms, world->lease_ms);
    assert_int_equal(world->op.unix_ms, world->unix_ms);
    assert_int_equal(world->op.tick.lease_until_ms, world->lease_ms + WORLD_LEASE_MS);
}

/* A zombie must not touch anything: not the plan, not a shard, not another session. */
static void the_dead_change_nothing(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    world_pass(world, WORLD_LEASE_MS);
    world_bury(world, a, TN_EXPIRED, 0);
    const uint64_t epoch = world_epoch(world);
    struct tn_item item = {.shard = 0, .token = token, .checkpoint = {.data = "x", .size = 1}};
    for (enum tn_op_kind kind = TN_OP_PROBE; kind < TN_OP_COUNT; kind++) {
        struct tn_op op = {.kind = kind, .session = a, .group = world->group};
        if (kind >= TN_OP_PLAN && kind != TN_OP_LEAVE) {
            op.items = &item;
            op.n_items = 1;
        }
        assert_int_equal(world_exec(world, op)->status, TENURE_SESSION_ENDED);
    }
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(world_sync(world, a, 0)->tick.renewal, TN_ENDED);
    assert_int_equal(world_row(world, 0).token, token);
}

/* A leave whose reply was lost is repeated: it must not look like an error. */
static void leave_can_be_repeated(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    assert_int_equal(world_leave(world, a)->status, TENURE_OK);
    assert_int_equal(world_leave(world, a)->status, TENURE_OK);
    assert_int_equal(world_events(world, "left"), 1);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_ENDED);
    assert_string_equal(world->op.tick.end_reason, "left");
}

/* Taking "I do not know" for "dead" would bury healthy nodes. */
static void presence_is_gone_only_when_the_process_is(struct world *world)
{
    const uint64_t a = world_join_elsewhere(world, "A");
    assert_int_equal(world_probe(world, a), TN_PRESENCE_THERE);
    assert_int_equal(world_probe(world, a + 100), TN_PRESENCE_UNKNOWN);
    assert_false(world_bury(world, a, TN_CRASHED, 0)->bury.buried);
    world_sync(world, 0, 0);
    assert_true(world->op.tick.deltas[0].members[0].presence);
    world_kill_elsewhere(world);
    assert_int_equal(world_probe(world, a), TN_PRESENCE_GONE);
    assert_true(world_bury(world, a, TN_CRASHED, 0)->bury.buried);
    assert_int_equal(world_events(world, "crashed"), 1);
    assert_int_equal(world_probe(world, a), TN_PRESENCE_UNKNOWN);
}

/* An operator's mark must reach the planner, survive a restart of the node, and be taken back. */
static void a_drained_node_stays_drained(struct world *world)
{
    struct tenure_error error;
    struct tn_store *store = world->store;
    assert_int_equal(store->type->node_drain(store, "A", 0, true, 1000, &error), TENURE_NOT_FOUND);
    const uint64_t a = world_join(world, "A");
    const uint64_t epoch = world_epoch(world);
    assert_int_equal(store->type->node_drain(store, "A", 0, true, 1000, &error), TENURE_OK);
    world_sync(world, 0, epoch);
    assert_true(world->op.tick.deltas[0].members[0].draining);
    world_leave(world, a);
    world_join(world, "A");
    world_sync(world, 0, 0);
    assert_true(world->op.tick.deltas[0].members[0].draining);
    assert_int_equal(store->type->node_drain(store, "A", 0, false, 1000, &error), TENURE_OK);
    world_sync(world, 0, 0);
    assert_false(world->op.tick.deltas[0].members[0].draining);
}

int main(void)
{
    static const struct clause clauses[] = {
        {"C3 time is the store's", time_is_the_stores},
        {"C4 a repeated join is the same session", join_repeated},
        {"C4 a repeated join adds groups", join_adds_groups},
        {"C4 a second start of a node id is refused", second_start_is_refused},
        {"C4 replace ends the first", replace_ends_the_first},
        {"C4 an expired rival is buried by the join", expired_rival_is_buried_by_join},
        {"C4 a crashed rival is buried by the join", crashed_rival_is_buried_by_join},
        {"C4 an unknown group changes nothing", unknown_group_changes_nothing},
        {"C4 the nonce of an ended session is refused", nonce_of_the_dead_is_refused},
        {"C4 bad node names are refused", bad_node_names_are_refused},
        {"C5 burial and renewal exclude each other", burial_and_renewal_exclude_each_other},
        {"C5 nobody is buried before its own time", nobody_is_buried_before_its_own_time},
        {"C5 an impossible lease can be ended", an_impossible_lease_can_be_ended},
        {"C5 members are told of each change", members_are_told},
        {"C6 a late renewal is told until it is seen", late_renewal_is_told_until_it_is_seen},
        {"C6 suspects come with the tick", suspects_come_with_the_tick},
        {"C9 the dead change nothing", the_dead_change_nothing},
        {"C9 leave can be repeated", leave_can_be_repeated},
        {"C17 presence is gone only when the process is", presence_is_gone_only_when_the_process_is},
        {"a drained node stays drained", a_drained_node_stays_drained},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
