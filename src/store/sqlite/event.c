#include "store/sqlite/sql.h"

void tn_sqlite_event_add(struct tn_rows *rows, const struct tn_event_row *event)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *add = TN_SQL(sqlite, EVENT_ADD, rows->unix_ms, 0, event->shard, event->node,
                               (int64_t)event->session, (int64_t)event->token);
    tn_sql_text(add, 2, event->group);
    tn_sql_text(add, 7, event->cause);
    tn_sql_run(sqlite, add);
}

size_t tn_sqlite_events_prune(struct tn_rows *rows, size_t keep, size_t most)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, EVENTS_PRUNE, (int64_t)keep, (int64_t)most));
    return (size_t)sqlite3_changes(sqlite->db);
}

static struct tn_event event_of(sqlite3_stmt *row, struct tn_arena *arena)
{
    return (struct tn_event){.id = (uint64_t)sqlite3_column_int64(row, 0),
                             .unix_ms = sqlite3_column_int64(row, 1),
                             .group = tn_sql_column(row, 2, arena),
                             .shard = sqlite3_column_int64(row, 3),
                             .node = tn_sql_column(row, 4, arena),
                             .session = (uint64_t)sqlite3_column_int64(row, 5),
                             .token = (uint64_t)sqlite3_column_int64(row, 6),
                             .cause = tn_sql_column(row, 7, arena)};
}

struct tn_event *tn_sqlite_events(struct tn_rows *rows, const struct tn_event_query *query,
                                  struct tn_arena *arena, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    const size_t limit = query->limit && query->limit < TN_EVENTS_KEPT ? query->limit
                         : query->limit                                ? TN_EVENTS_KEPT
                                                                       : 1000;
    struct tn_event *events = tn_arena_array(arena, limit, sizeof *events);
    sqlite3_stmt *row = TN_SQL(sqlite, EVENTS, 0, query->shard, query->since_unix_ms, (int64_t)limit);
    tn_sql_text(row, 1, query->group); /* NULL binds as NULL: all */
    *ret_n = 0;
    while (*ret_n < limit && tn_sql_row(sqlite, row))
        events[(*ret_n)++] = event_of(row, arena);
    if (row)
        sqlite3_reset(row);
    for (size_t i = 0; i < *ret_n / 2; i++) { /* newest first: turn round */
        const struct tn_event swap = events[i];
        events[i] = events[*ret_n - 1 - i];
        events[*ret_n - 1 - i] = swap;
    }
    return events;
}
