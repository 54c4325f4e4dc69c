/* Clauses C1, C2, C16 under SIGKILL: a process that works as fast as it can is killed at any instant, forty
 * times over. What it had been answered is there afterwards, what is there is whole, and the next process
 * goes on from it. */
#include "world.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/sqlite/sqlite.h"
#include "sys/clock.h"

enum { shards = 16, kills = 40 };

struct told { /* what the worker was answered, sent when it was */
    uint32_t shard;
    uint64_t token, seq;
};

struct worker {
    struct tn_store *store;
    struct tn_arena arena;
    struct tn_rng rng;
    uint64_t session;
    uint32_t node, group;
    uint64_t token[shards], seq[shards];
    bool owned[shards];
    int report;
};

static struct tn_op *run(struct worker *worker, struct tn_op *op)
{
    op->limit_ms = 2000;
    op->session = op->kind == TN_OP_JOIN ? 0 : worker->session;
    op->group = worker->group;
    op->arena = &worker->arena;
    worker->store->type->exec(worker->store, op);
    if (op->status != TENURE_OK) {
        fprintf(stderr, "%s: %s\n", tn_op_name(op->kind), op->error.text);
        _exit(3);
    }
    return op;
}

static void join(struct worker *worker, const char *id)
{
    struct tn_join_group group = {.name = "orders"};
    const uint64_t nonce = tn_rng_next(&worker->rng);
    struct tn_op op = {
        .kind = TN_OP_JOIN,
        .join = {
            .node_id = id, .address = "", .labels = "{}", .replace = true, .groups = &group, .n_groups = 1}};
    memcpy(op.join.nonce, &nonce, sizeof nonce);
    run(worker, &op);
    worker->session = op.join.session;
    worker->node = op.join.node;
    worker->group = group.group;
}

static void take_all(struct worker *worker)
{
    struct tn_cursor cursor = {.group = worker->group};
    struct tn_op read = {.kind = TN_OP_SYNC, .tick = {.cursors = &cursor, .n_cursors = 1}};
    struct tn_item items[shards];
    run(worker, &read);
    for (uint32_t i = 0; i < shards; i++) {
        worker->token[i] = read.tick.deltas[0].changes[i].row.token;
        items[i] = (struct tn_item){.shard = i, .node = worker->node};
    }
    struct tn_op plan = {.kind = TN_OP_PLAN,
                         .items = items,
                         .n_items = shards,
                         .plan = {.plan_epoch = read.tick.deltas[0].plan_epoch, .fingerprint = 1}};
    run(worker, &plan);
}

static void tell(struct worker *worker, uint32_t shard)
{
    const struct told told = {shard, worker->token[shard], worker->seq[shard]};
    if (write(worker->report, &told, sizeof told) != sizeof told)
        _exit(4);
}

static void do_something(struct worker *worker)
{
    static const char data[3000] = "progress";
    const uint32_t shard = (uint32_t)tn_rng_below(&worker->rng, shards);
    const uint64_t what = tn_rng_below(&worker->rng, 4);
    struct tn_item item = {.shard = shard, .token = worker->token[shard]};
    struct tn_op op = {.kind = TN_OP_CLAIM, .items = &item, .n_items = 1};
    if (worker->owned[shard]) {
        op.kind = what == 0 ? TN_OP_RELEASE : what == 1 ? TN_OP_RELOAD : TN_OP_SAVE;
        item.checkpoint =
            (struct tn_checkpoint){.data = data, .size = 1 + tn_rng_below(&worker->rng, sizeof data)};
    }
    run(worker, &op);
    if (item.outcome != TN_DONE)
        _exit(5);
    worker->owned[shard] = op.kind != TN_OP_RELEASE;
    worker->token[shard] = item.row.token;
    if (op.kind == TN_OP_SAVE)
        worker->seq[shard] = item.checkpoint.seq;
    tell(worker, shard);
    if (what == 3) {
        struct tn_op tick = {.kind = TN_OP_TICK, .tick = {.lease_ms = 15000}};
        run(worker, &tick);
    }
    tn_arena_reset(&worker->arena);
}

static void work(const char *path, uint64_t seed, int report)
{
    struct worker worker = {.rng = {.state = seed}, .report = report};
    struct tenure_error error = {0};
    if (tn_sqlite_open(path, false, NULL, &worker.store, &error) != TENURE_OK) {
        fprintf(stderr, "%s\n", error.text);
        _exit(2);
    }
    join(&worker, "A");
    take_all(&worker);
    for (;;)
        do_something(&worker);
}

/* ---- what must be true of the file ---- */

struct law {
    const char *sentence;
    const char *count_of_breaches;
};

static const struct law laws[] = {
    {"the file is sound", "select count(*) from pragma_integrity_check where integrity_check <> 'ok'"},
    {"all rows are there", "select abs(count(*) - 16) from shard"},
    {"a lease has a session that was not ended", "select count(*) from lease left join session on id = "
                                                 "session where id is null or end_reason is not null"},
    {"a session without lease was ended",
     "select count(*) from session where end_reason is null and id not in (select session from lease)"},
    {"members are live", "select count(*) from member where session not in (select session from lease)"},
    {"no two live sessions of a node",
     "select count(*) from (select node from lease group by node having count(*) > 1)"},
    {"no row is newer than its group",
     "select count(*) from shard join grp on id = group_id where shard.epoch > grp.epoch"},
    {"what moves is marked", "select count(*) from shard where moving <> case when state in (2, 3) or (state "
                             "= 4 and handed = 1) then 1"
                             " when state = 4 then 2 else 0 end"},
    {"one event a token",
     "select count(*) from (select shard, token from event where shard >= 0 and cause <> 'released'"
     " and cause <> 'planned' group by shard, token having count(*) <> 1)"},
    {"an event for each token", "select count(*) from shard s where token <>"
                                " (select count(distinct token) from event e where e.shard = s.shard and "
                                "cause <> 'planned' and token > 0)"},
};

static int64_t number(sqlite3 *db, const char *question)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, question, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", question, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

static void check_laws(sqlite3 *db, uint64_t seed)
{
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++)
        if (number(db, laws[i].count_of_breaches) != 0)
            fail_msg("seed %llu: not so: %s", (unsigned long long)seed, laws[i].sentence);
}

static void check_told(sqlite3 *db, int report, size_t *told_so_far)
{
    struct told told;
    while (read(report, &told, sizeof told) == sizeof told) {
        char question[256];
        snprintf(question, sizeof question,
                 "select count(*) from shard h left join checkpoint c on c.group_id = h.group_id and c.shard "
                 "= h.shard"
                 " where h.shard = %u and (h.token < %llu or coalesce(c.seq, 0) < %llu)",
                 told.shard, (unsigned long long)told.token, (unsigned long long)told.seq);
        if (number(db, question) != 0)
            fail_msg("shard %u: token %llu or sequence %llu was answered and is not there", told.shard,
                     (unsigned long long)told.token, (unsigned long long)told.seq);
        (*told_so_far)++;
    }
}

static void kill_one(const char *path, uint64_t seed, size_t *told)
{
    int ends[2];
    struct tn_rng rng = {.state = seed};
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(path, seed, ends[1]);
    }
    close(ends[1]);
    tn_clock_sleep_ms(3 + (int64_t)tn_rng_below(&rng, 90));
    kill(child, SIGKILL);
    int code = 0;
    waitpid(child, &code, 0);
    if (!WIFSIGNALED(code))
        fail_msg("seed %llu: the worker ended by itself (%d)", (unsigned long long)seed, WEXITSTATUS(code));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    check_laws(db, seed);
    check_told(db, ends[0], told);
    sqlite3_close(db);
    close(ends[0]);
}

/* A power cut or the kernel's out-of-memory killer comes at any instruction. */
static void killed_at_any_instant(void **state)
{
    (void)state;
    char directory[] = "/tmp/tenure-kills-XXXXXX";
    char path[64];
    struct tn_store *store = NULL;
    struct tenure_error error = {0};
    struct tn_settings settings;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/store.db", directory);
    tn_settings_init(&settings);
    settings.shards = shards;
    tn_settings_derive(&settings);
    if (tn_sqlite_open(path, true, NULL, &store, &error) != TENURE_OK)
        fail_msg("%s", error.text);
    assert_int_equal(store->type->group_create(store, "orders", &settings, 1, 1000, &error), TENURE_OK);
    store->type->close(store);
    size_t told = 0;
    const uint64_t first = (uint64_t)tn_clock_unix_ms();
    printf("seeds from %llu\n", (unsigned long long)first);
    for (uint64_t i = 0; i < kills; i++)
        kill_one(path, first + i, &told);
    printf("%d kills, %zu answers checked\n", kills, told);
    assert_true(told > kills);
    char command[80];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_any_instant)};
    return cmocka_run_group_tests_name("C1 C2 C16 (sqlite)", tests, NULL, NULL);
}
