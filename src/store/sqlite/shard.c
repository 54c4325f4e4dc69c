#include "store/sqlite/sql.h"

#include <string.h>

void tn_sqlite_shards_add(struct tn_rows *rows, uint32_t group, uint32_t from, uint32_t n, uint64_t epoch,
                          uint64_t token)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    for (uint32_t i = from; i < from + n; i++)
        tn_sql_run(sqlite, TN_SQL(sqlite, SHARD_ADD, group, i, (int64_t)epoch, (int64_t)token));
}

uint64_t tn_sqlite_floor_get(struct tn_rows *rows)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL0(sqlite, FLOOR_GET);
    uint64_t token = 0;
    if (tn_sql_row(sqlite, row)) {
        token = (uint64_t)sqlite3_column_int64(row, 0);
        sqlite3_reset(row);
    }
    return token;
}

void tn_sqlite_floor_put(struct tn_rows *rows, uint64_t token)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, FLOOR_PUT, (int64_t)token));
}

uint32_t tn_sqlite_shards_drop(struct tn_rows *rows, uint32_t group, uint32_t at_most)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, CHECKPOINTS_DROP, group, at_most));
    const int checkpoints = sqlite3_changes(sqlite->db);
    tn_sql_run(sqlite, TN_SQL(sqlite, SHARDS_DROP, group, at_most));
    const int shards = sqlite3_changes(sqlite->db);
    return (uint32_t)(checkpoints > shards ? checkpoints : shards);
}

static struct tn_shard_row row_of(sqlite3_stmt *row) /* columns of TN_SQL_SHARD */
{
    return (struct tn_shard_row){.session = (uint64_t)sqlite3_column_int64(row, 1),
                                 .token = (uint64_t)sqlite3_column_int64(row, 2),
                                 .target = (uint64_t)sqlite3_column_int64(row, 3),
                                 .desired = (uint32_t)sqlite3_column_int64(row, 4),
                                 .state = (uint8_t)sqlite3_column_int(row, 5),
                                 .handed = (uint8_t)sqlite3_column_int(row, 6),
                                 .since_ms = sqlite3_column_int64(row, 7),
                                 .until_ms = sqlite3_column_int64(row, 8),
                                 .moved_ms = sqlite3_column_int64(row, 9),
                                 .avoid = (uint32_t)sqlite3_column_int64(row, 10),
                                 .fails = (uint8_t)sqlite3_column_int(row, 11),
                                 .deaths = (uint8_t)sqlite3_column_int(row, 12),
                                 .hold_until_ms = sqlite3_column_int64(row, 13),
                                 .death_ms = sqlite3_column_int64(row, 14),
                                 .death_node = (uint32_t)sqlite3_column_int64(row, 15)};
}

bool tn_sqlite_shard_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_shard_row *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, SHARD_GET, group, shard);
    if (!tn_sql_row(sqlite, row))
        return false;
    *ret = row_of(row);
    sqlite3_reset(row);
    return true;
}

static int64_t moving(const struct tn_shard_row *row)
{
    return tn_rule_in_handoff(row) ? 1 : tn_rule_starting(row) ? 2 : 0;
}

void tn_sqlite_shard_put(struct tn_rows *rows, uint32_t group, uint32_t shard, const struct tn_shard_row *row,
                         uint64_t epoch)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, SHARD_PUT, group, shard, (int64_t)row->session, (int64_t)row->token,
                              (int64_t)row->target, row->desired, row->state, row->handed, row->since_ms,
                              row->until_ms, row->moved_ms, moving(row), (int64_t)epoch, row->avoid,
                              row->fails, row->deaths, row->hold_until_ms, row->death_ms, row->death_node));
}

uint32_t tn_sqlite_shards_moving(struct tn_rows *rows, uint32_t group)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return (uint32_t)tn_sql_number(sqlite, TN_SQL(sqlite, SHARDS_MOVING, group));
}

uint32_t tn_sqlite_shards_starting(struct tn_rows *rows, uint32_t group)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return (uint32_t)tn_sql_number(sqlite, TN_SQL(sqlite, SHARDS_STARTING, group));
}

struct tn_change *tn_sqlite_shards_since(struct tn_rows *rows, uint32_t group, uint64_t since,
                                         struct tn_arena *arena, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    struct tn_group_row info;
    *ret_n = 0;
    size_t room = 64;
    if (!since && tn_sqlite_group_get(rows, group, &info))
        room = info.made ? info.made : 1;
    sqlite3_stmt *row =
        since ? TN_SQL(sqlite, SHARDS_SINCE, group, (int64_t)since) : TN_SQL(sqlite, SHARDS_ALL, group);
    struct tn_change *changes = tn_arena_array(arena, room, sizeof *changes);
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            struct tn_change *more = tn_arena_array(arena, room *= 2, sizeof *changes);
            changes = memcpy(more, changes, *ret_n * sizeof *changes);
        }
        changes[(*ret_n)++] = (struct tn_change){(uint32_t)sqlite3_column_int64(row, 0), row_of(row)};
    }
    return changes;
}

void tn_sqlite_checkpoint_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_arena *arena,
                              struct tn_checkpoint *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    *ret = (struct tn_checkpoint){0};
    sqlite3_stmt *row = TN_SQL(sqlite, CHECKPOINT_GET, group, shard);
    if (!tn_sql_row(sqlite, row))
        return;
    const void *data = sqlite3_column_blob(row, 3);
    const size_t size = (size_t)sqlite3_column_bytes(row, 3);
    *ret = (struct tn_checkpoint){.data = tn_arena_copy(arena, data, size),
                                  .size = size,
                                  .token = (uint64_t)sqlite3_column_int64(row, 0),
                                  .seq = (uint64_t)sqlite3_column_int64(row, 1),
                                  .saved_ms = sqlite3_column_int64(row, 2)};
    sqlite3_reset(row);
}

void tn_sqlite_checkpoint_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                              const struct tn_checkpoint *checkpoint)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *put = TN_SQL(sqlite, CHECKPOINT_PUT, group, shard, (int64_t)checkpoint->token,
                               (int64_t)checkpoint->seq, checkpoint->saved_ms);
    if (put) /* a NULL pointer would be stored as NULL, not as an empty value */
        sqlite3_bind_blob(put, 6, checkpoint->size ? checkpoint->data : "", (int)checkpoint->size,
                          SQLITE_STATIC);
    tn_sql_run(sqlite, put);
}
