#include "scratch.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t lease_clock(void *context)
{
    return __atomic_load_n(&((struct scratch *)context)->lease_ms, __ATOMIC_SEQ_CST);
}

static int64_t unix_clock(void *context)
{
    return ((struct scratch *)context)->unix_ms;
}

int scratch_set_up(void **state)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);
    const char *temporary = getenv("TMPDIR");
    snprintf(scratch->directory, sizeof scratch->directory, "%.40s/tenure-XXXXXX",
             temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(scratch->directory));
    snprintf(scratch->path, sizeof scratch->path, "%s/store.db", scratch->directory);
    scratch->lease_ms = 1000000;
    scratch->unix_ms = 1790000000000;
    scratch->options = (struct tn_sqlite_options){.lease_ms = lease_clock,
                                                  .unix_ms = unix_clock,
                                                  .context = scratch,
                                                  .boot_id = "b1",
                                                  .machine_id = "m1"};
    tn_arena_init(&scratch->arena);
    *state = scratch;
    return 0;
}

int scratch_tear_down(void **state)
{
    struct scratch *scratch = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch->directory);
    const int code = system(command);
    tn_arena_done(&scratch->arena);
    free(scratch);
    return code;
}

struct tn_store *scratch_open(struct scratch *scratch)
{
    struct tn_store *store = NULL;
    if (tn_sqlite_open(scratch->path, true, &scratch->options, &store, &scratch->error) != TENURE_OK)
        fail_msg("%s", scratch->error.text);
    return store;
}

enum tenure_status scratch_try(struct scratch *scratch, bool create)
{
    struct tn_store *store = NULL;
    scratch->error.text[0] = 0;
    const enum tenure_status status =
        tn_sqlite_open(scratch->path, create, &scratch->options, &store, &scratch->error);
    if (status == TENURE_OK)
        scratch_close(store);
    else
        assert_null(store);
    return status;
}

void scratch_close(struct tn_store *store)
{
    store->type->close(store);
}

void scratch_group(struct scratch *scratch, struct tn_store *store, uint32_t shards)
{
    struct tn_settings settings;
    tn_settings_init(&settings);
    settings.shards = shards;
    tn_settings_derive(&settings);
    if (store->type->group_create(store, "orders", &settings, 77, 5000, &scratch->error) != TENURE_OK)
        fail_msg("%s", scratch->error.text);
}

struct tn_op scratch_join(struct scratch *scratch, struct tn_store *store, const char *node, uint8_t nonce)
{
    struct tn_join_group group = {.name = "orders"};
    struct tn_op op = {.kind = TN_OP_JOIN,
                       .limit_ms = 5000,
                       .arena = &scratch->arena,
                       .join = {.node_id = node,
                                .address = "",
                                .labels = "{}",
                                .weight_milli = 1000,
                                .nonce = {nonce},
                                .groups = &group,
                                .n_groups = 1}};
    store->type->exec(store, &op);
    op.group = group.group;
    op.join.groups = NULL;
    return op;
}

struct tn_op scratch_tick(struct scratch *scratch, struct tn_store *store, uint64_t session, int64_t limit_ms)
{
    struct tn_op op = {.kind = TN_OP_TICK,
                       .session = session,
                       .limit_ms = limit_ms,
                       .arena = &scratch->arena,
                       .tick = {.lease_ms = 15000}};
    store->type->exec(store, &op);
    return op;
}

void scratch_own(struct scratch *scratch, struct tn_store *store, const struct tn_op *joined, uint32_t shards)
{
    struct tn_item *items = tn_arena_array(&scratch->arena, shards, sizeof *items);
    const uint64_t plan_epoch = (uint64_t)scratch_number(scratch, "select plan_epoch from grp");
    for (uint32_t i = 0; i < shards; i++)
        items[i] = (struct tn_item){.shard = i, .node = joined->join.node};
    struct tn_op op = {.kind = TN_OP_PLAN,
                       .session = joined->join.session,
                       .group = joined->group,
                       .limit_ms = 5000,
                       .arena = &scratch->arena,
                       .items = items,
                       .n_items = shards,
                       .plan = {.plan_epoch = plan_epoch, .fingerprint = 1}};
    store->type->exec(store, &op);
    if (op.status != TENURE_OK)
        fail_msg("plan: %s", op.error.text);
    op.kind = TN_OP_CLAIM;
    for (uint32_t i = 0; i < shards; i++)
        items[i].token = items[i].row.token;
    store->type->exec(store, &op);
    if (op.status != TENURE_OK)
        fail_msg("claim: %s", op.error.text);
    for (uint32_t i = 0; i < shards; i++)
        assert_int_equal(items[i].outcome, TN_DONE);
}

void scratch_sql(const struct scratch *scratch, const char *text)
{
    sqlite3 *db;
    char *words = NULL;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_exec(db, text, NULL, NULL, &words) != SQLITE_OK)
        fail_msg("%s: %s", text, words);
    sqlite3_close(db);
}

int64_t scratch_number(const struct scratch *scratch, const char *question)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t number = -1;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_prepare_v2(db, question, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", question, sqlite3_errmsg(db));
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

void scratch_check(const struct scratch *scratch)
{
    assert_int_equal(
        scratch_number(scratch, "select count(*) from pragma_integrity_check where integrity_check <> 'ok'"),
        0);
}
