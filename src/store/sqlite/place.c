/* Does the file belong here? Its lease clock is this boot's boot clock, seen from one time namespace, and its
 * log and shared memory are found through one directory. */
#include "store/sqlite/sql.h"

#include <string.h>

struct recorded {
    char boot_id[TN_ID_ROOM], machine_id[TN_ID_ROOM];
};

static bool read_recorded(struct tn_sqlite *sqlite, struct recorded *recorded)
{
    sqlite3_stmt *row = TN_SQL0(sqlite, STORE_GET);
    if (!tn_sql_row(sqlite, row))
        return false;
    const char *boot_id = (const char *)sqlite3_column_text(row, 2);
    const char *machine_id = (const char *)sqlite3_column_text(row, 3);
    sqlite3_snprintf(TN_ID_ROOM, recorded->boot_id, "%s", boot_id ? boot_id : "");
    sqlite3_snprintf(TN_ID_ROOM, recorded->machine_id, "%s", machine_id ? machine_id : "");
    sqlite3_reset(row);
    return true;
}

bool tn_place_shared(struct tn_sqlite *sqlite)
{
    sqlite3_stmt *found = TN_SQL(sqlite, SESSIONS_ELSEWHERE, (int64_t)sqlite->machine.time_namespace,
                                 (int64_t)sqlite->directory);
    const bool elsewhere = tn_sql_row(sqlite, found);
    const bool clock = elsewhere && sqlite3_column_int64(found, 1) != (int64_t)sqlite->machine.time_namespace;
    if (found)
        sqlite3_reset(found);
    if (elsewhere)
        tn_error_set(
            &sqlite->rows.error, TENURE_REFUSED,
            clock ? "%.300s: a live session runs in another time namespace, where clocks differ from here"
                  : "%.300s: a live session reaches the file through another directory; mount the directory, "
                    "not the file, and the same one everywhere",
            sqlite->path);
    return !elsewhere;
}

/* The clock began anew: no session of before can be alive, and no deadline of before means anything. */
static void begin_boot(struct tn_sqlite *sqlite)
{
    struct tn_rows *rows = &sqlite->rows;
    const int64_t shift = sqlite->stored_offset_ms - (rows->unix_ms - rows->now_ms);
    size_t n = 0;
    const struct tn_live_session *live = rows->type->sessions_live(rows, &n);
    for (size_t i = 0; i < n; i++)
        tn_rows_end_session(rows, live[i].id, "reboot");
    struct tn_group_row *groups = rows->type->groups(rows, &n);
    for (size_t i = 0; i < n; i++) {
        groups[i].epoch++;
        groups[i].losses = (struct tn_losses){0};
        tn_sql_run(sqlite, TN_SQL(sqlite, SHARDS_REBOOT, groups[i].id, shift, (int64_t)groups[i].epoch));
        rows->type->group_put(rows, &groups[i]);
    }
}

static void record_place(struct tn_sqlite *sqlite)
{
    sqlite3_stmt *put = TN_SQL0(sqlite, PLACE_PUT);
    tn_sql_text(put, 1, sqlite->machine.boot_id);
    tn_sql_text(put, 2, sqlite->machine.machine_id);
    tn_sql_run(sqlite, put);
}

static bool same_machine(const struct tn_machine *machine, const struct recorded *recorded)
{
    if (machine->machine_id[0] && recorded->machine_id[0])
        return !strcmp(machine->machine_id, recorded->machine_id);
    return !strcmp(machine->boot_id,
                   recorded->boot_id); /* a machine without an id is known only while it runs */
}

static enum tenure_status settle(struct tn_rows *rows, void *context)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    struct recorded recorded;
    bool *reboot = context;
    if (!read_recorded(sqlite, &recorded))
        return rows->failed;
    const bool same_boot = !strcmp(sqlite->machine.boot_id, recorded.boot_id);
    if (!same_machine(&sqlite->machine, &recorded)) {
        if (!sqlite->options.adopt_machine)
            return tn_error_set(
                &rows->error, TENURE_REFUSED,
                "%.300s: the store belongs to another machine (%s). If it was moved here on purpose, and "
                "nothing uses it there: tenure store new-history",
                sqlite->path, recorded.machine_id[0] ? recorded.machine_id : "without an id");
    } else if (same_boot && (tn_place_shared(sqlite) || !sqlite->options.adopt_machine)) {
        return rows->error.status;
    }
    *reboot = true;
    if (!sqlite->writing)
        return TENURE_OK; /* come again with the write lock */
    begin_boot(sqlite);
    record_place(sqlite);
    if (!same_machine(&sqlite->machine, &recorded) || same_boot)
        tn_rows_renew_history(rows, rows->history);
    return TENURE_OK;
}

enum tenure_status tn_place_settle(struct tn_sqlite *sqlite, int64_t limit_ms, struct tenure_error *error)
{
    bool reboot = false;
    enum tenure_status status = tn_rows_run(&sqlite->rows, TN_ROWS_READ, limit_ms, settle, &reboot, error);
    if (status == TENURE_OK && reboot)
        status = tn_rows_run(&sqlite->rows, TN_ROWS_WRITE, limit_ms, settle, &reboot, error);
    sqlite->settled = status == TENURE_OK;
    return status;
}
