/* Stamps guard the user's own data: a stamp that lets a former owner write is a lost update nobody sees. */
#include "store/stamp/stamp.h"

#include "tenure/tenure.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FREE_MS = 10000, NOBODY = 65534 };

struct world {
    char directory[64], path[96];
    struct tenure_error error;
};

static int set_up(void **state)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    strcpy(world->directory, "/tmp/tenure-stamp-XXXXXX");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->path, sizeof world->path, "%s/data.db", world->directory);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *const world = *state;
    chmod(world->directory, 0700);
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", world->path, suffixes[i]);
        unlink(path);
    }
    rmdir(world->directory);
    free(world);
    return 0;
}

static void install(struct world *world)
{
    assert_int_equal(tenure_stamp_install(world->path, &world->error), TENURE_OK);
}

static enum tenure_status raise_to(struct world *world, uint64_t token, int64_t limit_ms)
{
    return tenure_stamp_raise(world->path, "orders", 37, token, limit_ms, &world->error);
}

static uint64_t stamp(struct world *world)
{
    uint64_t token = 0;
    assert_int_equal(tn_stamp_get(world->path, "orders", 37, FREE_MS, &token, &world->error), TENURE_OK);
    return token;
}

static sqlite3 *open_db(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static void must(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void assert_fenced(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_memory_equal(sqlite3_errmsg(db), "TN001", 5);
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

static const char fence_19[] =
    "insert into tenure_fence(group_name, shard, node, token) values ('orders', 37, 'A', 19)";

/* ---- the fence ---- */

static void a_fence_passes_only_the_token_that_equals_the_stamp(void **state)
{
    /* Above the stamp is as wrong as below it: the writer did not raise first, so its predecessor still
     * writes. */
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    sqlite3 *const db = open_db(world->path);
    must(db, fence_19);
    must(db, "insert into tenure_fence values ('orders', 37, 'A', 19)");
    must(db, "insert into tenure_fence values ('orders', '37', null, '19')");
    assert_fenced(db, "insert into tenure_fence values ('orders', 37, 'A', 18)");
    assert_fenced(db, "insert into tenure_fence values ('orders', 37, 'A', 20)");
    assert_fenced(db, "insert into tenure_fence values ('orders', 37, 'A', null)");
    assert_fenced(db, "insert into tenure_fence values ('orders', 37, 'A', 'x')");
    sqlite3_close(db);
}

static void a_fence_without_a_stamp_aborts(void **state)
{
    /* A missing stamp must not read as "anybody may": nothing fails open. */
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    sqlite3 *const db = open_db(world->path);
    assert_fenced(db, "insert into tenure_fence values ('orders', 38, 'A', 19)");
    assert_fenced(db, "insert into tenure_fence values ('others', 37, 'A', 19)");
    sqlite3_close(db);
}

static void no_conflict_clause_talks_a_stale_fence_away(void **state)
{
    /* SQLite lets the outer statement's ON CONFLICT override those inside a trigger; RAISE must not be among
     * them. */
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    sqlite3 *const db = open_db(world->path);
    assert_fenced(db, "insert or ignore into tenure_fence values ('orders', 37, 'A', 18)");
    assert_fenced(db, "insert or replace into tenure_fence values ('orders', 37, 'A', 18)");
    assert_fenced(db, "insert or fail into tenure_fence values ('orders', 37, 'A', 18)");
    sqlite3_close(db);
}

static void a_fence_records_the_node_and_the_time(void **state)
{
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    sqlite3 *const db = open_db(world->path);
    must(db, fence_19);
    assert_int_equal(number(db, "select count(*) from tenure_stamp where node = 'A'"
                                " and abs(fenced_ms - strftime('%s', 'now') * 1000) < 60000"),
                     1);
    sqlite3_close(db);
}

static void a_fence_protects_until_the_commit(void **state)
{
    /* Checked, but not locked, would let a new owner raise and read before this transaction's write lands. */
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    sqlite3 *const db = open_db(world->path);
    must(db, "create table work(x); begin");
    must(db, fence_19);
    assert_int_equal(raise_to(world, 20, 0), TENURE_BUSY);
    assert_non_null(strstr(world->error.text, "this same process"));
    must(db, "insert into work values (1); commit");
    assert_int_equal(raise_to(world, 20, FREE_MS), TENURE_OK);
    must(db, "begin");
    assert_fenced(db, fence_19);
    must(db, "rollback");
    sqlite3_close(db);
}

/* ---- raising ---- */

static void a_stamp_never_goes_down(void **state)
{
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    assert_int_equal(raise_to(world, 18, FREE_MS), TENURE_STALE);
    assert_non_null(strstr(world->error.text, "19"));
    assert_int_equal(stamp(world), 19);
    assert_int_equal(raise_to(world, TN_STAMP_TOKEN_MAX, FREE_MS), TENURE_OK);
    assert_int_equal(stamp(world), TN_STAMP_TOKEN_MAX);
}

static void bad_arguments_are_named_and_change_nothing(void **state)
{
    struct world *const world = *state;
    struct tenure_error *const error = &world->error;
    install(world);
    assert_int_equal(raise_to(world, 0, 0), TENURE_BAD_INPUT);
    assert_int_equal(raise_to(world, TN_STAMP_TOKEN_MAX + 1, 0), TENURE_BAD_INPUT);
    assert_int_equal(tenure_stamp_raise(world->path, "orders", 1048576, 1, 0, error), TENURE_BAD_INPUT);
    assert_int_equal(tenure_stamp_raise(world->path, "a/b", 1, 1, 0, error), TENURE_BAD_INPUT);
    assert_int_equal(tenure_stamp_raise("", "orders", 1, 1, 0, error), TENURE_BAD_INPUT);
    assert_int_equal(tenure_stamp_raise(":memory:", "orders", 1, 1, 0, error), TENURE_BAD_INPUT);
    assert_int_equal(stamp(world), 0);
}

static void installing_twice_keeps_the_stamps_and_the_journal_mode(void **state)
{
    struct world *const world = *state;
    sqlite3 *const db = open_db(world->path);
    must(db, "pragma journal_mode = wal; create table mine(x)");
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    install(world);
    assert_int_equal(stamp(world), 19);
    assert_int_equal(number(db, "select journal_mode = 'wal' from pragma_journal_mode"), 1);
    must(db, fence_19);
    sqlite3_close(db);
}

static void a_foreign_table_of_that_name_is_not_taken_for_ours(void **state)
{
    struct world *const world = *state;
    sqlite3 *const db = open_db(world->path);
    must(db, "create table tenure_stamp(a, b)");
    assert_int_equal(tenure_stamp_install(world->path, &world->error), TENURE_EXISTS);
    must(db, "drop table tenure_stamp; create table tenure_fence(a, b)");
    assert_int_equal(tenure_stamp_install(world->path, &world->error), TENURE_EXISTS);
    assert_int_equal(number(db, "select count(*) from sqlite_master"), 1);
    sqlite3_close(db);
}

/* ---- two processes ---- */

struct holder {
    pid_t pid;
    int said, go; /* reads what it says; writes to let it go on */
};

static void say(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(3);
}

static void hear(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 1)
        _exit(4);
}

/* A process in the middle of a fenced transaction that has written; on `go` it commits. */
static struct holder start_holder(const struct world *world)
{
    int said[2], go[2];
    assert_int_equal(pipe2(said, O_CLOEXEC) | pipe2(go, O_CLOEXEC), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *db;
        /* As any program that shares a file must: a reader's shared lock can be in a commit's way for a
         * moment. */
        if (sqlite3_open(world->path, &db) != SQLITE_OK || sqlite3_busy_timeout(db, FREE_MS) != SQLITE_OK ||
            sqlite3_exec(db, "create table if not exists work(x); begin", NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_exec(db, fence_19, NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_exec(db, "insert into work values (1)", NULL, NULL, NULL) != SQLITE_OK)
            _exit(1);
        say(said[1]);
        hear(go[0]);
        _exit(sqlite3_exec(db, "commit", NULL, NULL, NULL) == SQLITE_OK ? 0 : 2);
    }
    close(said[1]);
    close(go[0]);
    hear(said[0]);
    return (struct holder){.pid = pid, .said = said[0], .go = go[1]};
}

static int end_holder(const struct holder *holder)
{
    int result;
    assert_int_equal(waitpid(holder->pid, &result, 0), holder->pid);
    close(holder->said);
    close(holder->go);
    return result;
}

static int64_t work_done(const struct world *world)
{
    sqlite3 *const db = open_db(world->path);
    const int64_t rows = number(db, "select count(*) from work");
    sqlite3_close(db);
    return rows;
}

struct raising {
    struct world *world;
    enum tenure_status status;
    int64_t seen; /* rows of work right after the raise */
};

static void *raise_and_look(void *argument)
{
    struct raising *const raising = argument;
    raising->status = raise_to(raising->world, 20, FREE_MS);
    raising->seen = work_done(raising->world);
    return NULL;
}

static void a_raise_waits_for_an_open_fenced_transaction(void **state)
{
    /* The new owner reads after it raised: it must see what the old one committed under the old token. */
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    const struct holder holder = start_holder(world);
    assert_int_equal(raise_to(world, 20, 0), TENURE_BUSY);
    struct raising raising = {.world = world};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, raise_and_look, &raising), 0);
    say(holder.go);
    pthread_join(thread, NULL);
    assert_int_equal(end_holder(&holder), 0);
    assert_int_equal(raising.status, TENURE_OK);
    assert_int_equal(raising.seen, 1);
    assert_int_equal(stamp(world), 20);
}

static void a_locked_file_names_the_process_that_holds_it(void **state)
{
    struct world *const world = *state;
    install(world);
    for (int wal = 0; wal < 2; wal++) {
        sqlite3 *const db = open_db(world->path);
        must(db, wal ? "pragma journal_mode = wal" : "pragma journal_mode = delete");
        sqlite3_close(db);
        assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
        const struct holder holder = start_holder(world);
        assert_int_equal(raise_to(world, 20, 20), TENURE_BUSY);
        char pid[32];
        snprintf(pid, sizeof pid, "process %d ", holder.pid);
        assert_non_null(strstr(world->error.text, pid));
        say(holder.go);
        assert_int_equal(end_holder(&holder), 0);
    }
}

static void a_writer_killed_inside_its_transaction_leaves_nothing(void **state)
{
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    const struct holder holder = start_holder(world);
    kill(holder.pid, SIGKILL);
    assert_true(WIFSIGNALED(end_holder(&holder)));
    assert_int_equal(raise_to(world, 20, FREE_MS), TENURE_OK);
    assert_int_equal(work_done(world), 0);
    sqlite3 *const db = open_db(world->path);
    assert_int_equal(number(db, "select fenced_ms from tenure_stamp"), 0);
    sqlite3_close(db);
}

/* ---- files that are not what they should be ---- */

static void a_missing_file_is_not_made_by_a_raise(void **state)
{
    struct world *const world = *state;
    assert_int_equal(raise_to(world, 1, 0), TENURE_UNREACHABLE);
    assert_int_equal(access(world->path, F_OK), -1);
}

static void a_file_without_stamps_names_the_remedy(void **state)
{
    struct world *const world = *state;
    sqlite3 *const db = open_db(world->path);
    must(db, "create table mine(x)");
    sqlite3_close(db);
    assert_int_equal(raise_to(world, 1, FREE_MS), TENURE_NOT_FOUND);
    assert_non_null(strstr(world->error.text, "tenure stamp install"));
}

static void a_file_that_is_no_database_is_left_alone(void **state)
{
    struct world *const world = *state;
    FILE *const file = fopen(world->path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fputs("not a database\n", file);
    fclose(file);
    assert_int_equal(tenure_stamp_install(world->path, &world->error), TENURE_CORRUPT);
    assert_int_equal(raise_to(world, 1, FREE_MS), TENURE_CORRUPT);
    struct stat after;
    assert_int_equal(stat(world->path, &after), 0);
    assert_int_equal(after.st_size, 200 * 15);
}

/* Runs as a user that cannot write, since root may write everywhere. Returns the status that the raise had.
 */
static int raise_as_nobody(const struct world *world)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(99);
        struct tenure_error error;
        const enum tenure_status status = tenure_stamp_raise(world->path, "orders", 37, 20, 0, &error);
        _exit((int)status);
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void a_place_that_may_not_be_written_is_refused(void **state)
{
    struct world *const world = *state;
    install(world);
    assert_int_equal(raise_to(world, 19, FREE_MS), TENURE_OK);
    chmod(world->path, 0666);
    chmod(world->directory, 0555); /* no journal can be made */
    assert_int_equal(raise_as_nobody(world), TENURE_REFUSED);
    chmod(world->directory, 0777);
    chmod(world->path, 0444);
    assert_int_equal(raise_as_nobody(world), TENURE_REFUSED);
    chmod(world->path, 0000);
    assert_int_equal(raise_as_nobody(world), TENURE_REFUSED);
    chmod(world->path, 0666);
    assert_int_equal(stamp(world), 19);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fence_passes_only_the_token_that_equals_the_stamp),
        TEST(a_fence_without_a_stamp_aborts),
        TEST(no_conflict_clause_talks_a_stale_fence_away),
        TEST(a_fence_records_the_node_and_the_time),
        TEST(a_fence_protects_until_the_commit),
        TEST(a_stamp_never_goes_down),
        TEST(bad_arguments_are_named_and_change_nothing),
        TEST(installing_twice_keeps_the_stamps_and_the_journal_mode),
        TEST(a_foreign_table_of_that_name_is_not_taken_for_ours),
        TEST(a_raise_waits_for_an_open_fenced_transaction),
        TEST(a_locked_file_names_the_process_that_holds_it),
        TEST(a_writer_killed_inside_its_transaction_leaves_nothing),
        TEST(a_missing_file_is_not_made_by_a_raise),
        TEST(a_file_without_stamps_names_the_remedy),
        TEST(a_file_that_is_no_database_is_left_alone),
        TEST(a_place_that_may_not_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
