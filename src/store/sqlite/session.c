#include "store/sqlite/sql.h"

#include <string.h>

/* ---- nodes ---- */

uint32_t tn_sqlite_node_find(struct tn_rows *rows, const char *node_id)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *find = TN_SQL0(sqlite, NODE_FIND);
    tn_sql_text(find, 1, node_id);
    return (uint32_t)tn_sql_number(sqlite, find);
}

uint32_t tn_sqlite_node_add(struct tn_rows *rows, const char *node_id)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *add = TN_SQL0(sqlite, NODE_ADD);
    tn_sql_text(add, 1, node_id);
    tn_sql_run(sqlite, add);
    return (uint32_t)sqlite3_last_insert_rowid(sqlite->db);
}

void tn_sqlite_node_drain(struct tn_rows *rows, uint32_t node, uint32_t group, bool draining)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    if (group && draining)
        tn_sql_run(sqlite, TN_SQL(sqlite, DRAINED_ADD, node, group));
    else
        tn_sql_run(sqlite, TN_SQL(sqlite, DRAINED_DROP, node, group));
    if (!group)
        tn_sql_run(sqlite, TN_SQL(sqlite, NODE_DRAIN, node, draining));
}

bool tn_sqlite_node_draining(struct tn_rows *rows, uint32_t node, uint32_t group)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    if (group)
        return tn_sql_number(sqlite, TN_SQL(sqlite, DRAINED_IS, node, group)) != 0;
    return tn_sql_number(sqlite, TN_SQL(sqlite, NODE_DRAINING, node)) != 0;
}

void tn_sqlite_node_rejected(struct tn_rows *rows, uint32_t node, uint64_t more)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, NODE_REJECTED, node, (int64_t)more));
}

/* ---- sessions ---- */

static struct tn_session_row lease_of(sqlite3_stmt *row) /* columns 1 to 5 */
{
    return (struct tn_session_row){.state = (uint8_t)sqlite3_column_int(row, 1),
                                   .lease_ms = sqlite3_column_int64(row, 2),
                                   .lease_until_ms = sqlite3_column_int64(row, 3),
                                   .lates = (uint32_t)sqlite3_column_int64(row, 4),
                                   .version = (uint64_t)sqlite3_column_int64(row, 5)};
}

bool tn_sqlite_session_lives(struct tn_rows *rows, uint64_t session)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return tn_sql_number(sqlite, TN_SQL(sqlite, LEASE_IS, (int64_t)session)) != 0;
}

bool tn_sqlite_session_get(struct tn_rows *rows, uint64_t session, struct tn_session_record *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, SESSION_GET, (int64_t)session);
    if (!tn_sql_row(sqlite, row))
        return false;
    *ret = (struct tn_session_record){.id = session,
                                      .node = (uint32_t)sqlite3_column_int64(row, 6),
                                      .weight_milli = (uint64_t)sqlite3_column_int64(row, 7),
                                      .joined_ms = sqlite3_column_int64(row, 8),
                                      .presence = sqlite3_column_int(row, 9) != 0,
                                      .lease = lease_of(row),
                                      .node_id = tn_sql_column(row, 11, &rows->scratch),
                                      .address = tn_sql_column(row, 12, &rows->scratch),
                                      .labels = tn_sql_column(row, 13, &rows->scratch),
                                      .end_reason = tn_sql_column(row, 14, &rows->scratch)};
    const void *nonce = sqlite3_column_blob(row, 10);
    if (nonce && sqlite3_column_bytes(row, 10) == TN_NONCE_BYTES)
        memcpy(ret->nonce, nonce, TN_NONCE_BYTES);
    sqlite3_reset(row);
    return true;
}

uint64_t tn_sqlite_session_by_nonce(struct tn_rows *rows, const uint8_t *nonce)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *find = TN_SQL0(sqlite, SESSION_BY_NONCE);
    if (find)
        sqlite3_bind_blob(find, 1, nonce, TN_NONCE_BYTES, SQLITE_STATIC);
    return (uint64_t)tn_sql_number(sqlite, find);
}

uint64_t tn_sqlite_session_of_node(struct tn_rows *rows, uint32_t node)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return (uint64_t)tn_sql_number(sqlite, TN_SQL(sqlite, SESSION_OF_NODE, node));
}

uint64_t tn_sqlite_session_highest(struct tn_rows *rows)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return (uint64_t)tn_sql_number(sqlite, TN_SQL0(sqlite, SESSION_HIGHEST));
}

/* The lock is held before the row is committed with presence on: whoever sees the row can rely on it. */
static void take_presence(struct tn_sqlite *sqlite, uint64_t session)
{
    sqlite->joined = session; /* a rollback gives the lock up again */
    if (!tn_presence_take(sqlite, session))
        return;
    sqlite3_stmt *put = TN_SQL(sqlite, SESSION_PRESENCE, (int64_t)session);
    tn_sql_text(put, 2, sqlite->presence.identity);
    tn_sql_run(sqlite, put);
}

uint64_t tn_sqlite_session_add(struct tn_rows *rows, const struct tn_session_record *record)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    if (!tn_place_shared(sqlite)) {
        tn_rows_fail(rows, TENURE_REFUSED, "%s", tn_arena_text(&rows->scratch, rows->error.text));
        return 0;
    }
    sqlite3_stmt *add =
        TN_SQL(sqlite, SESSION_ADD, record->node, (int64_t)record->weight_milli, record->joined_ms,
               (int64_t)sqlite->machine.time_namespace, (int64_t)sqlite->directory);
    if (add)
        sqlite3_bind_blob(add, 6, record->nonce, TN_NONCE_BYTES, SQLITE_STATIC);
    tn_sql_text(add, 7, record->address);
    tn_sql_text(add, 8, record->labels);
    tn_sql_run(sqlite, add);
    if (rows->failed != TENURE_OK)
        return 0;
    const uint64_t session = (uint64_t)sqlite3_last_insert_rowid(sqlite->db);
    tn_sql_run(sqlite, TN_SQL(sqlite, LEASE_ADD, (int64_t)session, record->node, record->lease.state,
                              record->lease.lease_ms, record->lease.lease_until_ms));
    take_presence(sqlite, session);
    return session;
}

void tn_sqlite_session_put(struct tn_rows *rows, uint64_t session, const struct tn_session_row *lease)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, LEASE_PUT, (int64_t)session, lease->state, lease->lease_ms,
                              lease->lease_until_ms, lease->lates, (int64_t)lease->version));
}

void tn_sqlite_session_moved(struct tn_rows *rows, uint64_t session)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, LEASE_MOVED, (int64_t)session));
}

void tn_sqlite_session_end(struct tn_rows *rows, uint64_t session, const char *reason)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *end = TN_SQL(sqlite, SESSION_END, (int64_t)session, 0, rows->now_ms);
    tn_sql_text(end, 2, reason);
    tn_sql_run(sqlite, end);
    tn_sql_run(sqlite, TN_SQL(sqlite, LEASE_DROP, (int64_t)session));
    tn_sql_run(sqlite, TN_SQL(sqlite, MEMBER_DROP, (int64_t)session));
}

struct tn_live_session *tn_sqlite_sessions_live(struct tn_rows *rows, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL0(sqlite, LEASES);
    size_t room = 64;
    struct tn_live_session *live = tn_arena_array(&rows->scratch, room, sizeof *live);
    *ret_n = 0;
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            struct tn_live_session *more = tn_arena_array(&rows->scratch, room *= 2, sizeof *live);
            live = memcpy(more, live, *ret_n * sizeof *live);
        }
        live[(*ret_n)++] = (struct tn_live_session){(uint64_t)sqlite3_column_int64(row, 0), lease_of(row)};
    }
    return live;
}

void tn_sqlite_sessions_prune(struct tn_rows *rows, size_t keep)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, SESSIONS_PRUNE, (int64_t)keep));
    if (sqlite3_changes(sqlite->db) > 0)
        tn_sql_run(sqlite, TN_SQL0(sqlite, NODES_PRUNE));
}
