/* Clauses C14 and C15: replies that get lost, and stores that keep one waiting. */
#include "world.h"

#include <sqlite3.h>
#include <string.h>

#include "store/faulty/faulty.h"
#include "sys/clock.h"

/* Loses the reply to the next operation, where the backend can; elsewhere the test is one of plain
 * repetition. */
static void lose_next(struct world *world)
{
    if (!strcmp(world->backend->name, "faulty"))
        assert_true(
            tn_faulty_order(world->store, &(struct tn_fault){.kind = TN_FAULT_LOSE, .op = TN_OP_COUNT}));
}

static struct tn_item *one(struct world *world, enum tn_op_kind verb, uint64_t session, uint64_t token,
                           uint64_t peer)
{
    world->items[0] = (struct tn_item){.shard = 0, .token = token, .peer = peer};
    world_exec(
        world,
        (struct tn_op){
            .kind = verb, .session = session, .group = world->group, .items = world->items, .n_items = 1});
    return &world->items[0];
}

/* Asked, reply lost, asked again: what a node does after MAYBE. */
static struct tn_item *twice(struct world *world, enum tn_op_kind verb, uint64_t session, uint64_t token,
                             uint64_t peer)
{
    lose_next(world);
    one(world, verb, session, token, peer);
    if (!strcmp(world->backend->name, "faulty")) {
        assert_int_equal(world->op.status, TENURE_MAYBE);
        assert_int_equal(tenure_status_class(world->op.status), TENURE_CLASS_MAYBE);
    }
    one(world, verb, session, token, peer);
    assert_int_equal(world->op.status, TENURE_OK);
    return &world->items[0];
}

/* Acquire, handoff and release whose answers are lost: one raise of the token each, and no error (case B14).
 */
static void lost_replies_change_nothing_twice(struct world *world)
{
    lose_next(world);
    world_ask_join(world, "A", 99, false);
    assert_int_equal(world_ask_join(world, "A", 99, false)->status, TENURE_OK);
    const uint64_t a = world->op.join.session;
    assert_int_equal(world_events(world, "joined"), 1);
    const uint64_t b = world_join(world, "B");
    world_plan(world, world_node_of(world, a));
    assert_int_equal(twice(world, TN_OP_CLAIM, a, 0, 0)->row.token, 1);
    assert_int_equal(twice(world, TN_OP_READY, a, 1, 0)->outcome, TN_DONE);
    lose_next(world);
    world_tick(world, a, 0);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_RENEWED);
    assert_int_equal(world_row(world, 0).token, 1);
    world_plan(world, world_node_of(world, b));
    assert_int_equal(twice(world, TN_OP_PREPARE, a, 1, b)->outcome, TN_DONE);
    assert_int_equal(twice(world, TN_OP_PREPARED, b, 1, 0)->outcome, TN_DONE);
    const struct tn_item *item = twice(world, TN_OP_TRANSFER, a, 1, b);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.token, 2);
    assert_int_equal(item->row.session, b);
    assert_int_equal(twice(world, TN_OP_RELOAD, b, 2, 0)->row.token, 3);
    item = twice(world, TN_OP_RELEASE, b, 3, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->row.session, 0);
    assert_int_equal(world_events(world, "handed over"), 1);
    assert_int_equal(world_events(world, "released"), 1);
    lose_next(world);
    world_leave(world, b);
    assert_int_equal(world_leave(world, b)->status, TENURE_OK);
    assert_int_equal(world_events(world, "left"), 1);
}

/* A plan whose reply was lost may have been committed: a repetition must not commit it over somebody else's.
 */
static void a_lost_plan_is_a_conflict(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    world->items[0] = (struct tn_item){.shard = 0, .node = 1};
    const struct tn_op plan = {.kind = TN_OP_PLAN,
                               .session = a,
                               .group = world->group,
                               .items = world->items,
                               .n_items = 1,
                               .plan = {.fingerprint = 1}};
    lose_next(world);
    world_exec(world, plan);
    assert_int_equal(world_exec(world, plan)->status, TENURE_CONFLICT);
    assert_int_equal(world_row(world, 0).desired, 1);
}

/* A call past its limit makes the caller miss its own deadline; BUSY must mean that nothing happened. */
static void the_limit_ends_every_call(struct world *world)
{
    if (!world->backend->files)
        return; /* nobody can keep it waiting */
    const uint64_t a = world_join(world, "A");
    world_own(world, a, 0);
    const uint64_t epoch = world_epoch(world);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
    const enum tn_op_kind writers[] = {TN_OP_TICK,    TN_OP_BURY,     TN_OP_PLAN,   TN_OP_CLAIM,
                                       TN_OP_PREPARE, TN_OP_TRANSFER, TN_OP_RELOAD, TN_OP_READY,
                                       TN_OP_SAVE,    TN_OP_RELEASE,  TN_OP_LEAVE};
    struct tn_item item = {.shard = 0, .token = 1};
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        struct tn_op op = {.kind = writers[i], .session = a, .group = world->group, .limit_ms = 60};
        if (writers[i] != TN_OP_TICK && writers[i] != TN_OP_BURY && writers[i] != TN_OP_LEAVE) {
            op.items = &item;
            op.n_items = 1;
        }
        const int64_t start = tn_clock_boot_ms();
        assert_int_equal(world_exec(world, op)->status, TENURE_BUSY);
        assert_int_equal(tenure_status_class(world->op.status), TENURE_CLASS_RETRY);
        assert_in_range(tn_clock_boot_ms() - start, 60, 1060);
    }
    struct tenure_error error;
    assert_int_equal(world->store->type->group_set(world->store, "orders", &world->settings, 60, &error),
                     TENURE_BUSY);
    assert_int_equal(world->store->type->node_drain(world->store, "A", 0, true, 60, &error), TENURE_BUSY);
    sqlite3_exec(db, "rollback", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(world_epoch(world), epoch);
    assert_int_equal(world_tick(world, a, 0)->tick.renewal, TN_RENEWED);
}

int main(void)
{
    static const struct clause clauses[] = {
        {"C14 lost replies change nothing twice", lost_replies_change_nothing_twice},
        {"C12 C14 a lost plan is a conflict", a_lost_plan_is_a_conflict},
        {"C15 the limit ends every call", the_limit_ends_every_call},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
