/* Transactions. A writer takes the write lock with its first statement: one that reads first and writes later
 * cannot be upgraded once somebody else has committed, and no waiting helps it (case B36). */
#include "store/sqlite/sql.h"

#include "sys/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { first_wait_ns = 200000, longest_wait_ns = 2000000, offset_slack_ms = 5 };

int64_t tn_lock_deadline(struct tn_rows *rows, int64_t limit_ms)
{
    tn_sqlite_of(rows)->wait_ns = first_wait_ns;
    return tn_clock_boot_ns() + limit_ms * 1000000;
}

bool tn_lock_wait(struct tn_rows *rows, int64_t deadline)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    const int64_t left = deadline - tn_clock_boot_ns();
    if (left <= 0)
        return false;
    int64_t wait = sqlite->wait_ns / 2 + (int64_t)tn_rng_below(&sqlite->rng, (uint64_t)sqlite->wait_ns);
    if (wait > left)
        wait = left;
    const struct timespec pause = {.tv_nsec = wait};
    nanosleep(&pause, NULL);
    sqlite->wait_ns = sqlite->wait_ns * 2 < longest_wait_ns ? sqlite->wait_ns * 2 : longest_wait_ns;
    return true;
}

int tn_lock_script(struct tn_sqlite *sqlite, const char *text, int64_t deadline)
{
    int code;
    do {
        errno = 0;
        code = sqlite3_exec(sqlite->db, text, NULL, NULL, NULL);
    } while ((code & 0xff) == SQLITE_BUSY && tn_lock_wait(&sqlite->rows, deadline));
    return code;
}

/* Is this handle still the opener's, and the file under its name still the one that is open? */
static enum tenure_status check_handle(struct tn_sqlite *sqlite)
{
    if (getpid() != sqlite->pid)
        return tn_error_set(&sqlite->rows.error, TENURE_BUG,
                            "a store handle was used after fork, in another process");
    int moved = 0;
    sqlite3_file_control(sqlite->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved)
        return TENURE_OK;
    return tn_error_set(&sqlite->rows.error, TENURE_CORRUPT,
                        "%.300s: the file was replaced or deleted while it was in use", sqlite->path);
}

static enum tenure_status take_lock(struct tn_sqlite *sqlite, enum tn_rows_mode mode, int64_t deadline)
{
    struct tn_rows *rows = &sqlite->rows;
    sqlite3_stmt *begin = mode == TN_ROWS_WRITE ? TN_SQL0(sqlite, BEGIN_WRITE) : TN_SQL0(sqlite, BEGIN_READ);
    if (!begin)
        return rows->failed;
    int code;
    do {
        errno = 0;
        code = sqlite3_step(begin);
        sqlite3_reset(begin);
    } while ((code & 0xff) == SQLITE_BUSY && tn_lock_wait(rows, deadline));
    if (code == SQLITE_DONE)
        return TENURE_OK;
    const enum tenure_status status = tn_sqlite_error(sqlite, code, &rows->error);
    if (status == TENURE_BUSY)
        tn_error_set(&rows->error, status, "%.300s: another process holds the write lock", sqlite->path);
    return status;
}

static int64_t lease_now(const struct tn_sqlite *sqlite)
{
    return sqlite->options.lease_ms ? sqlite->options.lease_ms(sqlite->options.context) : tn_clock_boot_ms();
}

static int64_t unix_now(const struct tn_sqlite *sqlite)
{
    return sqlite->options.unix_ms ? sqlite->options.unix_ms(sqlite->options.context) : tn_clock_unix_ms();
}

/* With the lock held: first the row (it opens a reader's snapshot), then the clocks. */
static void look_round(struct tn_sqlite *sqlite)
{
    struct tn_rows *rows = &sqlite->rows;
    sqlite3_stmt *row = TN_SQL0(sqlite, STORE_GET);
    const bool found = tn_sql_row(sqlite, row);
    if (found) {
        rows->history = (uint32_t)sqlite3_column_int64(row, 0);
        sqlite->stored_offset_ms = sqlite3_column_int64(row, 1);
        const char *boot_id = (const char *)sqlite3_column_text(row, 2);
        if (sqlite->settled && !rows->store.rehearse /* which took nothing over */ &&
            (!boot_id || strcmp(boot_id, sqlite->machine.boot_id) != 0))
            tn_rows_fail(rows, TENURE_REFUSED, "%.300s: the store was taken over by another machine",
                         sqlite->path);
        sqlite3_reset(row);
    } else {
        tn_rows_fail(rows, TENURE_CORRUPT, "%.300s: its store row is missing", sqlite->path);
    }
    rows->now_ms = lease_now(sqlite);
    rows->unix_ms = unix_now(sqlite);
}

/* So that the view and other readers can tell lease times as calendar times. */
static void note_offset(struct tn_sqlite *sqlite)
{
    const int64_t offset = sqlite->rows.unix_ms - sqlite->rows.now_ms;
    const int64_t off_by = offset - sqlite->stored_offset_ms;
    if (off_by > offset_slack_ms || off_by < -offset_slack_ms)
        tn_sql_run(sqlite, TN_SQL(sqlite, OFFSET_PUT, offset));
}

enum tenure_status tn_lock_begin(struct tn_rows *rows, enum tn_rows_mode mode, int64_t deadline)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    enum tenure_status status = check_handle(sqlite);
    if (status == TENURE_OK)
        status = take_lock(sqlite, mode, deadline);
    if (status != TENURE_OK)
        return status;
    sqlite->writing = mode == TN_ROWS_WRITE;
    sqlite->joined = 0;
    look_round(sqlite);
    if (rows->failed == TENURE_OK && sqlite->writing)
        note_offset(sqlite);
    if (rows->failed == TENURE_OK)
        return TENURE_OK;
    tn_lock_rollback(rows);
    return rows->failed;
}

void tn_lock_rollback(struct tn_rows *rows)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    if (sqlite->joined)
        tn_presence_give_up(sqlite, sqlite->joined);
    sqlite->joined = 0;
    for (int i = 0; i < TN_SQL_COUNT; i++)
        sqlite3_reset(sqlite->statements[i]); /* an open cursor would keep the transaction alive */
    if (!sqlite3_get_autocommit(sqlite->db))
        sqlite3_exec(sqlite->db, "rollback", NULL, NULL, NULL);
}

enum tenure_status tn_lock_commit(struct tn_rows *rows)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL0(sqlite, COMMIT));
    if (rows->failed == TENURE_OK) {
        sqlite->joined = 0;
        return TENURE_OK;
    }
    /* Without room the log was not written to its end. After any other failure, and when only the sync
     * failed, the next one who recovers the log may find the transaction whole. */
    const bool unsynced = sqlite3_extended_errcode(sqlite->db) == SQLITE_IOERR_FSYNC;
    const bool unknown = sqlite->writing && (rows->failed == TENURE_IO || unsynced);
    if (unknown)
        sqlite->joined = 0; /* presence is kept: the session may exist */
    tn_lock_rollback(rows);
    return rows->failed = rows->error.status = unknown ? TENURE_MAYBE : rows->failed;
}
