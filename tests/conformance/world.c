#include "world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/faulty/faulty.h"
#include "store/memory/memory.h"
#include "store/sqlite/sqlite.h"

/* ---- backends ---- */

static int64_t lease_clock(void *context)
{
    return ((struct world *)context)->lease_ms;
}

static int64_t unix_clock(void *context)
{
    return ((struct world *)context)->unix_ms;
}

static struct tn_store *open_memory(struct world *world)
{
    return tn_memory_open(&(struct tn_memory_options){
        .lease_ms = lease_clock, .unix_ms = unix_clock, .context = world, .events_kept = 500});
}

static struct tn_store *open_sqlite(struct world *world)
{
    const struct tn_sqlite_options options = {
        .lease_ms = lease_clock, .unix_ms = unix_clock, .context = world, .events_kept = 500};
    struct tn_store *store = NULL;
    struct tenure_error error = {0};
    if (tn_sqlite_open(world->path, true, &options, &store, &error) != TENURE_OK)
        fail_msg("%s", error.text);
    return store;
}

static struct tn_store *open_faulty(struct world *world)
{
    return tn_faulty_open(open_sqlite(world), NULL);
}

static const struct backend backends[] = {
    {"memory", open_memory, false}, {"sqlite", open_sqlite, true}, {"faulty", open_faulty, true}};
enum { n_backends = sizeof backends / sizeof backends[0] };

/* ---- running ---- */

struct trial {
    const struct clause *clause;
    const struct backend *backend;
    char name[256];
};

static int set_up(void **state)
{
    const struct trial *trial = *state;
    struct world *world = calloc(1, sizeof *world);
    struct tenure_error error = {0};
    world->backend = trial->backend;
    world->clause = trial->clause;
    world->lease_ms = 1000000;
    world->unix_ms = 1790000000000;
    world->next_nonce = 1;
    const char *temporary = getenv("TMPDIR");
    snprintf(world->directory, sizeof world->directory, "%.40s/tenure-XXXXXX",
             temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->path, sizeof world->path, "%s/store.db", world->directory);
    tn_arena_init(&world->arena);
    world->store = world->backend->open(world);
    tn_settings_init(&world->settings);
    world->settings.shards = WORLD_SHARDS;
    tn_settings_derive(&world->settings);
    if (world->store->type->group_create(world->store, "orders", &world->settings, 77, 1000, &error) !=
        TENURE_OK)
        fail_msg("%s", error.text);
    world->group = 1;
    *state = world;
    return 0;
}

static void check_file(const struct world *world)
{
    sqlite3 *db;
    sqlite3_stmt *check;
    assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "pragma integrity_check", -1, &check, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(check), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    sqlite3_close(db);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    if (world->elsewhere)
        world->elsewhere->type->close(world->elsewhere);
    world->store->type->close(world->store);
    if (world->backend->files)
        check_file(world);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", world->directory);
    const int code = system(command);
    tn_arena_done(&world->arena);
    free(world);
    return code;
}

static void run_trial(void **state)
{
    struct world *world = *state;
    world->clause->run(world);
}

int world_run(const struct clause *clauses, size_t n)
{
    struct trial *trials = calloc(n * n_backends, sizeof *trials);
    struct CMUnitTest *tests = calloc(n * n_backends, sizeof *tests);
    for (size_t i = 0; i < n * n_backends; i++) {
        struct trial *trial = &trials[i];
        trial->clause = &clauses[i / n_backends];
        trial->backend = &backends[i % n_backends];
        snprintf(trial->name, sizeof trial->name, "%s (%s)", trial->clause->sentence, trial->backend->name);
        tests[i] = (struct CMUnitTest){trial->name, run_trial, set_up, tear_down, trial};
    }
    const int failed = _cmocka_run_group_tests("conformance", tests, n * n_backends, NULL, NULL);
    free(tests);
    free(trials);
    return failed;
}

/* ---- requests ---- */

struct tn_op *world_exec(struct world *world, struct tn_op op)
{
    world->op = op;
    world->op.arena = &world->arena;
    if (!world->op.limit_ms)
        world->op.limit_ms = 1000;
    world->store->type->exec(world->store, &world->op);
    return &world->op;
}

static struct tn_op join_request(struct world *world, const char *node, uint8_t nonce)
{
    world->joined = (struct tn_join_group){.name = "orders"};
    return (struct tn_op){.kind = TN_OP_JOIN,
                          .join = {.node_id = node,
                                   .address = "host:1",
                                   .labels = "{}",
                                   .weight_milli = 1000,
                                   .nonce = {nonce, 0xaa},
                                   .groups = &world->joined,
                                   .n_groups = 1}};
}

struct tn_op *world_ask_join(struct world *world, const char *node, uint8_t nonce, bool replace)
{
    struct tn_op op = join_request(world, node, nonce);
    op.join.replace = replace;
    return world_exec(world, op);
}

static struct tn_op *read_request(struct world *world, enum tn_op_kind kind, uint64_t session, uint64_t since)
{
    world->cursor = (struct tn_cursor){world->group, since};
    return world_exec(
        world,
        (struct tn_op){.kind = kind,
                       .session = session,
                       .tick = {.lease_ms = WORLD_LEASE_MS, .cursors = &world->cursor, .n_cursors = 1}});
}

struct tn_op *world_tick(struct world *world, uint64_t session, uint64_t since)
{
    return read_request(world, TN_OP_TICK, session, since);
}

struct tn_op *world_sync(struct world *world, uint64_t session, uint64_t since)
{
    return read_request(world, TN_OP_SYNC, session, since);
}

struct tn_op *world_bury(struct world *world, uint64_t victim, enum tn_evidence evidence,
                         int64_t seen_until_ms)
{
    return world_exec(world,
                      (struct tn_op){.kind = TN_OP_BURY, .bury = {victim, evidence, seen_until_ms, 0, 0, 0}});
}

struct tn_op *world_leave(struct world *world, uint64_t session)
{
    return world_exec(world, (struct tn_op){.kind = TN_OP_LEAVE, .session = session});
}

static struct tn_item *one_item(struct world *world, enum tn_op_kind verb, uint64_t session,
                                struct tn_item item)
{
    world->items[0] = item;
    world_exec(
        world,
        (struct tn_op){
            .kind = verb, .session = session, .group = world->group, .items = world->items, .n_items = 1});
    return &world->items[0];
}

struct tn_item *world_verb(struct world *world, enum tn_op_kind verb, uint64_t session, uint32_t shard,
                           uint64_t token, uint64_t peer)
{
    struct tn_item *item =
        one_item(world, verb, session, (struct tn_item){.shard = shard, .token = token, .peer = peer});
    assert_int_equal(world->op.status, TENURE_OK);
    return item;
}

struct tn_item *world_save(struct world *world, uint64_t session, uint32_t shard, uint64_t token,
                           uint64_t seq, const void *data, size_t size)
{
    return one_item(world, TN_OP_SAVE, session,
                    (struct tn_item){.shard = shard,
                                     .token = token,
                                     .checkpoint = {.data = data, .size = size, .seq = seq}});
}

enum tn_presence world_probe(struct world *world, uint64_t session)
{
    world_exec(world, (struct tn_op){.kind = TN_OP_PROBE, .probe = {&session, 1, NULL}});
    assert_int_equal(world->op.status, TENURE_OK);
    return world->op.probe.found[0];
}

/* ---- that work ---- */

uint64_t world_join(struct world *world, const char *node)
{
    if (world_ask_join(world, node, world->next_nonce++, false)->status != TENURE_OK)
        fail_msg("join: %s", world->op.error.text);
    return world->op.join.session;
}

uint64_t world_join_elsewhere(struct world *world, const char *node)
{
    struct tn_store *const here = world->store;
    if (world->backend->files)
        world->store = world->elsewhere = world->backend->open(world);
    world->session_elsewhere = world_join(world, node);
    world->store = here;
    if (!world->backend->files)
        tn_memory_set_presence(here, world->session_elsewhere, TN_PRESENCE_THERE);
    return world->session_elsewhere;
}

void world_kill_elsewhere(struct world *world)
{
    if (world->elsewhere)
        world->elsewhere->type->close(world->elsewhere);
    else
        tn_memory_set_presence(world->store, world->session_elsewhere, TN_PRESENCE_GONE);
    world->elsewhere = NULL;
}

uint32_t world_node_of(struct world *world, uint64_t session)
{
    assert_int_equal(world_sync(world, 0, 0)->status, TENURE_OK);
    const struct tn_delta *delta = &world->op.tick.deltas[0];
    for (size_t i = 0; i < delta->n_members; i++)
        if (delta->members[i].session == session)
            return delta->members[i].node;
    fail_msg("session %llu is not a member", (unsigned long long)session);
    return 0;
}

void world_plan(struct world *world, uint32_t node)
{
    world_sync(world, 0, 0);
    const uint64_t plan_epoch = world->op.tick.deltas[0].plan_epoch;
    for (uint32_t i = 0; i < WORLD_SHARDS; i++)
        world->items[i] = (struct tn_item){.shard = i, .node = node};
    const struct tn_op op = {.kind = TN_OP_PLAN,
                             .group = world->group,
                             .items = world->items,
                             .n_items = WORLD_SHARDS,
                             .plan = {.plan_epoch = plan_epoch, .fingerprint = 5, .planner_version = 1}};
    if (world_exec(world, op)->status != TENURE_OK)
        fail_msg("plan: %s", world->op.error.text);
}

uint64_t world_own(struct world *world, uint64_t session, uint32_t shard)
{
    world_plan(world, world_node_of(world, session));
    const uint64_t before = world_row(world, shard).token;
    const struct tn_item *item = world_verb(world, TN_OP_CLAIM, session, shard, before, 0);
    assert_int_equal(item->outcome, TN_DONE);
    const uint64_t token = item->row.token;
    assert_int_equal(world_verb(world, TN_OP_READY, session, shard, token, 0)->outcome, TN_DONE);
    return token;
}

struct tn_shard_row world_row(struct world *world, uint32_t shard)
{
    assert_int_equal(world_sync(world, 0, 0)->status, TENURE_OK);
    const struct tn_delta *delta = &world->op.tick.deltas[0];
    assert_int_equal(delta->n_changes, WORLD_SHARDS);
    assert_int_equal(delta->changes[shard].shard, shard);
    return delta->changes[shard].row;
}

uint64_t world_epoch(struct world *world)
{
    assert_int_equal(world_sync(world, 0, 0)->status, TENURE_OK);
    return world->op.tick.deltas[0].epoch;
}

size_t world_events(struct world *world, const char *cause)
{
    struct tn_event *events = NULL;
    size_t n = 0;
    size_t found = 0;
    struct tenure_error error = {0};
    const struct tn_event_query all = {.shard = -1, .limit = 10000};
    assert_int_equal(world->store->type->events(world->store, &all, &world->arena, &events, &n, 1000, &error),
                     TENURE_OK);
    for (size_t i = 0; i < n; i++)
        found += !strcmp(events[i].cause, cause);
    return found;
}

void world_pass(struct world *world, int64_t ms)
{
    world->lease_ms += ms;
    world->unix_ms += ms;
}
