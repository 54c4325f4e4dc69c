/* A renewal in SQLite against one bare UPDATE and COMMIT in a file with the same settings, in the same run;
 * and how many store calls a node makes for a renewal, by number of shards.
 *
 * usage: renewal [SHARDS ...] */
#include "median.h"
#include "core/lease/settings.h"
#include "store/store.h"
#include "sys/clock.h"
#include "tenure/tenure.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rounds = 400 };

static void must(int code, sqlite3 *db)
{
    if (code == SQLITE_OK || code == SQLITE_DONE)
        return;
    fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static sqlite3 *bare_file(const char *folder, sqlite3_stmt **ret_update)
{
    char path[4096];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/bare.db", folder);
    must(sqlite3_open(path, &db), db);
    must(sqlite3_exec(db,
                      "pragma journal_mode=wal; pragma synchronous=full; create table t(id integer primary "
                      "key, until integer);"
                      "insert into t values (1, 0)",
                      NULL, NULL, NULL),
         db);
    must(sqlite3_prepare_v2(db, "update t set until = ?1 where id = 1", -1, ret_update, NULL), db);
    return db;
}

static void bare_update(sqlite3 *db, sqlite3_stmt *update, int64_t value)
{
    must(sqlite3_exec(db, "begin immediate", NULL, NULL, NULL), db);
    sqlite3_bind_int64(update, 1, value);
    must(sqlite3_step(update), db);
    must(sqlite3_reset(update), db);
    must(sqlite3_exec(db, "commit", NULL, NULL, NULL), db);
}

static void exec(struct tn_store *store, struct tn_op *op)
{
    store->type->exec(store, op);
    if (op->status == TENURE_OK)
        return;
    fprintf(stderr, "%s: %s\n", tn_op_name(op->kind), op->error.text);
    exit(1);
}

/* A session that owns every shard of a group of `shards`. */
static struct tn_store *owner(const char *folder, uint32_t shards, uint64_t *ret_session, uint32_t *ret_group)
{
    char url[4096];
    snprintf(url, sizeof url, "sqlite:%s/store-%u.db", folder, shards);
    struct tenure_error error = {0};
    struct tn_store *store;
    if (tn_store_open(url, TN_STORE_CREATE, &store, &error) != TENURE_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    struct tn_settings settings;
    tn_settings_init(&settings);
    settings.shards = shards;
    tn_settings_derive(&settings);
    if (store->type->group_create(store, "bench", &settings, 1, 60000, &error) != TENURE_OK)
        exit(1);
    struct tn_arena arena;
    tn_arena_init(&arena);
    struct tn_join_group group = {.name = "bench"};
    struct tn_op op = {.kind = TN_OP_JOIN, .limit_ms = 1000, .arena = &arena};
    op.join = (struct tn_op_join){.node_id = "A",
                                  .address = "",
                                  .labels = "{}",
                                  .weight_milli = 1000,
                                  .nonce = {1},
                                  .groups = &group,
                                  .n_groups = 1};
    exec(store, &op);
    *ret_session = op.join.session;
    *ret_group = group.group;
    struct tn_item *items = calloc(TN_BATCH_MAX, sizeof *items);
    uint64_t plan_epoch = 0;
    for (uint32_t from = 0; from < shards; from += TN_BATCH_MAX) {
        const size_t n = shards - from < TN_BATCH_MAX ? shards - from : TN_BATCH_MAX;
        for (size_t i = 0; i < n; i++)
            items[i] = (struct tn_item){.shard = from + (uint32_t)i, .node = op.join.node};
        struct tn_op plan = {.kind = TN_OP_PLAN,
                             .session = *ret_session,
                             .group = *ret_group,
                             .limit_ms = 1000,
                             .items = items,
                             .n_items = n,
                             .arena = &arena};
        plan.plan.plan_epoch = plan_epoch;
        plan.plan.planner_version = 1;
        exec(store, &plan);
        plan_epoch = plan.plan.new_plan_epoch;
        struct tn_op claim = {.kind = TN_OP_CLAIM,
                              .session = *ret_session,
                              .group = *ret_group,
                              .limit_ms = 1000,
                              .items = items,
                              .n_items = n,
                              .arena = &arena};
        exec(store, &claim);
        tn_arena_reset(&arena);
    }
    free(items);
    tn_arena_done(&arena);
    return store;
}

static void tick(struct tn_store *store, uint64_t session, struct tn_cursor *cursor)
{
    struct tn_arena arena;
    tn_arena_init(&arena);
    struct tn_op op = {.kind = TN_OP_TICK, .session = session, .limit_ms = 1000, .arena = &arena};
    op.tick = (struct tn_op_tick){.lease_ms = 15000, .cursors = cursor, .n_cursors = 1};
    exec(store, &op);
    cursor->epoch = op.tick.deltas[0].epoch;
    tn_arena_done(&arena);
}

static void compare(const char *folder, uint32_t shards)
{
    static double bare[rounds], renewal[rounds];
    uint64_t session;
    struct tn_cursor cursor = {0};
    struct tn_store *store = owner(folder, shards, &session, &cursor.group);
    sqlite3_stmt *update;
    sqlite3 *db = bare_file(folder, &update);
    for (int i = -20; i < rounds; i++) { /* the first are warm-up */
        int64_t at = tn_clock_boot_ns();
        bare_update(db, update, i);
        const double one = (double)(tn_clock_boot_ns() - at) / 1e3;
        at = tn_clock_boot_ns();
        tick(store, session, &cursor);
        if (i >= 0)
            bare[i] = one, renewal[i] = (double)(tn_clock_boot_ns() - at) / 1e3;
    }
    const double b = median(bare, rounds), r = median(renewal, rounds);
    printf("%6u shards: bare UPDATE + COMMIT %.0f us, renewal %.0f us, ratio %.2f (at most 1.3)\n", shards, b,
           r, r / b);
    sqlite3_finalize(update);
    sqlite3_close(db);
    store->type->close(store);
    char path[4096];
    snprintf(path, sizeof path, "%s/bare.db", folder);
    unlink(path);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tenure-bench-XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    if (argc < 2) {
        compare(folder, 256);
        compare(folder, 65536);
    }
    for (int i = 1; i < argc; i++)
        compare(folder, (uint32_t)atoi(argv[i]));
    char command[4200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
