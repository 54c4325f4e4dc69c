/* Several processes on one file: waiting for the write lock, with a limit, and judging time after the wait
 * (cases B36, B38). */
#include "scratch.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "sys/clock.h"

/* Somebody else who holds the write lock. */
struct holder {
    struct scratch *scratch;
    int64_t hold_ms, clock_jump_ms;
    pthread_barrier_t locked;
};

static sqlite3 *lock_file(const struct scratch *scratch)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "begin immediate; update store set history = history", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void *hold(void *argument)
{
    struct holder *holder = argument;
    sqlite3 *db = lock_file(holder->scratch);
    pthread_barrier_wait(&holder->locked);
    tn_clock_sleep_ms(holder->hold_ms);
    __atomic_add_fetch(&holder->scratch->lease_ms, holder->clock_jump_ms, __ATOMIC_SEQ_CST);
    sqlite3_exec(db, "commit", NULL, NULL, NULL);
    sqlite3_close(db);
    return NULL;
}

static struct tn_op tick_against(struct holder *holder, struct tn_store *store, uint64_t session,
                                 int64_t limit_ms)
{
    pthread_t thread;
    pthread_barrier_init(&holder->locked, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, hold, holder), 0);
    pthread_barrier_wait(&holder->locked);
    const struct tn_op op = scratch_tick(holder->scratch, store, session, limit_ms);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&holder->locked);
    return op;
}

/* A caller that waits for ever misses its own deadline; one that is refused at once loses its lease for
 * nothing. */
static void the_wait_for_the_lock_ends_at_the_limit(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    sqlite3 *db = lock_file(scratch);
    const int64_t start = tn_clock_boot_ms();
    struct tn_op op = scratch_tick(scratch, store, session, 300);
    const int64_t waited = tn_clock_boot_ms() - start;
    assert_int_equal(op.status, TENURE_BUSY);
    assert_non_null(strstr(op.error.text, scratch->path));
    assert_in_range(waited, 300, 1500);
    assert_int_equal(scratch_tick(scratch, store, session, 0).status, TENURE_BUSY);
    struct tn_op read = {.kind = TN_OP_SYNC, .limit_ms = 300, .arena = &scratch->arena};
    store->type->exec(store, &read);
    assert_int_equal(read.status, TENURE_OK); /* readers are not kept out */
    sqlite3_exec(db, "rollback", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(scratch_tick(scratch, store, session, 300).status, TENURE_OK);
    scratch_close(store);
    scratch_check(scratch);
}

static void a_lock_that_is_given_up_in_time_is_waited_for(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    struct holder holder = {.scratch = scratch, .hold_ms = 200};
    assert_int_equal(tick_against(&holder, store, session, 5000).status, TENURE_OK);
    scratch_close(store);
}

/* A renewal asked for in time that got the lock too late is late: others may have been entitled meanwhile. */
static void time_is_judged_after_the_wait(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    struct holder holder = {.scratch = scratch, .hold_ms = 100, .clock_jump_ms = 15000};
    const int64_t before = scratch->lease_ms;
    const struct tn_op op = tick_against(&holder, store, session, 5000);
    assert_int_equal(op.status, TENURE_OK);
    assert_int_equal(op.tick.renewal, TN_LATE);
    assert_int_equal(op.store_ms, before + 15000);
    assert_int_equal(op.tick.lease_until_ms, before + 30000);
    scratch_close(store);
}

/* The trap itself, so that nobody takes the helper for needless: SQLite cannot upgrade a read that is out of
 * date, and says so at once, whatever busy timeout is set. The store's own transactions never begin with a
 * read. */
static void a_read_cannot_be_upgraded_after_another_commit(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, "begin; select * from lease", NULL, NULL, NULL), SQLITE_OK);
    scratch->lease_ms++;
    assert_int_equal(scratch_tick(scratch, store, session, 1000).status,
                     TENURE_OK); /* not kept out by a reader */
    const int64_t start = tn_clock_boot_ms();
    sqlite3_exec(db, "update store set history = history", NULL, NULL, NULL);
    assert_int_equal(sqlite3_extended_errcode(db), SQLITE_BUSY_SNAPSHOT);
    assert_in_range(tn_clock_boot_ms() - start, 0, 1000);
    sqlite3_close(db);
    scratch_close(store);
}

/* A reader that another connection shuts out (an exclusive lock, as at the end of the last connection) waits
 * as well. */
static void a_reader_that_is_shut_out_waits(void **state)
{
    struct scratch *scratch = *state;
    scratch_close(scratch_open(scratch));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "pragma locking_mode = exclusive; begin immediate; select * from store",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    const int64_t start = tn_clock_boot_ms();
    assert_int_equal(scratch_try(scratch, false), TENURE_BUSY);
    assert_in_range(tn_clock_boot_ms() - start, 4000, 12000);
    sqlite3_close(db);
    assert_int_equal(scratch_try(scratch, false), TENURE_OK);
}

/* Nodes look at this between renewals: missing somebody else's change makes a handoff wait for the next
 * renewal. */
static void changes_of_others_are_noticed(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    struct tn_store *other = scratch_open(scratch);
    assert_false(store->type->changed(store));
    scratch_group(scratch, other, 8);
    assert_true(store->type->changed(store));
    assert_false(store->type->changed(store));
    assert_false(other->type->changed(other)); /* its own */
    scratch_close(other);
    scratch_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(the_wait_for_the_lock_ends_at_the_limit),
        SCRATCH_TEST(a_lock_that_is_given_up_in_time_is_waited_for),
        SCRATCH_TEST(time_is_judged_after_the_wait),
        SCRATCH_TEST(a_read_cannot_be_upgraded_after_another_commit),
        SCRATCH_TEST(a_reader_that_is_shut_out_waits),
        SCRATCH_TEST(changes_of_others_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
