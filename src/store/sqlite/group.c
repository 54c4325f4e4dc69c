#include "store/sqlite/sql.h"

#include <string.h>

static struct tn_group_row row_of(sqlite3_stmt *row, struct tn_arena *arena)
{
    return (struct tn_group_row){
        .id = (uint32_t)sqlite3_column_int64(row, 0),
        .name = sqlite3_column_type(row, 1) == SQLITE_NULL ? NULL : tn_sql_column(row, 1, arena),
        .made = (uint32_t)sqlite3_column_int64(row, 2),
        .shards = (uint32_t)sqlite3_column_int64(row, 3),
        .epoch = (uint64_t)sqlite3_column_int64(row, 4),
        .members_epoch = (uint64_t)sqlite3_column_int64(row, 5),
        .settings_epoch = (uint64_t)sqlite3_column_int64(row, 6),
        .plan_epoch = (uint64_t)sqlite3_column_int64(row, 7),
        .plan_fingerprint = (uint64_t)sqlite3_column_int64(row, 8),
        .planner_version = (uint32_t)sqlite3_column_int64(row, 9),
        .fingerprint = (uint64_t)sqlite3_column_int64(row, 10),
        .pauses = (uint32_t)sqlite3_column_int64(row, 11),
        .losses = {.lost = (uint32_t)sqlite3_column_int64(row, 12),
                   .of = (uint32_t)sqlite3_column_int64(row, 13),
                   .from_ms = sqlite3_column_int64(row, 14),
                   .frozen_until_ms = sqlite3_column_int64(row, 15)},
    };
}

static bool one(struct tn_sqlite *sqlite, sqlite3_stmt *row, struct tn_group_row *ret)
{
    if (!tn_sql_row(sqlite, row))
        return false;
    *ret = row_of(row, &sqlite->rows.scratch);
    sqlite3_reset(row);
    return true;
}

bool tn_sqlite_group_get(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    return one(sqlite, TN_SQL(sqlite, GROUP_GET, group), ret);
}

bool tn_sqlite_group_find(struct tn_rows *rows, const char *name, struct tn_group_row *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *find = TN_SQL0(sqlite, GROUP_FIND);
    tn_sql_text(find, 1, name);
    return one(sqlite, find, ret);
}

struct tn_group_row *tn_sqlite_groups(struct tn_rows *rows, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL0(sqlite, GROUPS);
    size_t room = 16;
    struct tn_group_row *all = tn_arena_array(&rows->scratch, room, sizeof *all);
    *ret_n = 0;
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            struct tn_group_row *more = tn_arena_array(&rows->scratch, room *= 2, sizeof *all);
            all = memcpy(more, all, *ret_n * sizeof *all);
        }
        all[(*ret_n)++] = row_of(row, &rows->scratch);
    }
    return all;
}

uint32_t tn_sqlite_group_add(struct tn_rows *rows, const struct tn_group_row *row,
                             const struct tn_settings *settings)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *add =
        TN_SQL(sqlite, GROUP_ADD, 0, row->made, row->shards, (int64_t)row->epoch, (int64_t)row->members_epoch,
               (int64_t)row->settings_epoch, (int64_t)row->plan_epoch, (int64_t)row->plan_fingerprint,
               row->planner_version, (int64_t)row->fingerprint);
    tn_sql_text(add, 1, row->name);
    tn_sql_run(sqlite, add);
    const uint32_t group = (uint32_t)sqlite3_last_insert_rowid(sqlite->db);
    tn_sqlite_settings_put(rows, group, settings);
    return group;
}

void tn_sqlite_group_put(struct tn_rows *rows, const struct tn_group_row *row)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite,
               TN_SQL(sqlite, GROUP_PUT, row->id, row->made, (int64_t)row->epoch, (int64_t)row->members_epoch,
                      (int64_t)row->settings_epoch, (int64_t)row->plan_epoch, (int64_t)row->plan_fingerprint,
                      row->planner_version, row->pauses, row->losses.lost, row->losses.of,
                      row->losses.from_ms, row->losses.frozen_until_ms));
    if (!row->name)
        tn_sql_run(sqlite, TN_SQL(sqlite, GROUP_UNNAME, row->id));
}

void tn_sqlite_group_drop(struct tn_rows *rows, uint32_t group)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, SETTINGS_DROP, group));
    tn_sql_run(sqlite, TN_SQL(sqlite, PAUSE_DROP, group));
    tn_sql_run(sqlite, TN_SQL(sqlite, DRAINED_FORGET, group));
    tn_sql_run(sqlite, TN_SQL(sqlite, GROUP_DROP, group));
}

/* ---- settings ---- */

static void get_hash(struct tn_sqlite *sqlite, uint32_t group, struct tn_settings *ret)
{
    sqlite3_stmt *row = TN_SQL(sqlite, HASH_GET, group);
    if (!tn_sql_row(sqlite, row))
        return;
    const char *hash = tn_sql_column(row, 0, &sqlite->rows.scratch);
    if (!tn_hash_parse(hash, &ret->algo))
        ret->algo = TN_HASH_COUNT; /* tn_settings_check says so */
    ret->seed = (uint64_t)sqlite3_column_int64(row, 1);
    ret->shards = (uint32_t)sqlite3_column_int64(row, 2);
    sqlite3_snprintf(sizeof ret->strategy, ret->strategy, "%s", tn_sql_column(row, 3, &sqlite->rows.scratch));
    sqlite3_reset(row);
}

void tn_sqlite_settings_get(struct tn_rows *rows, uint32_t group, struct tn_settings *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_settings_init(ret); /* what an older program did not know has its default */
    get_hash(sqlite, group, ret);
    sqlite3_stmt *row = TN_SQL(sqlite, SETTINGS_GET, group);
    while (tn_sql_row(sqlite, row)) {
        const struct tn_setting *setting = tn_setting_find((const char *)sqlite3_column_text(row, 0));
        if (setting)
            tn_setting_put(ret, setting, sqlite3_column_int64(row, 1));
    }
    tn_settings_derive(ret);
}

void tn_sqlite_settings_put(struct tn_rows *rows, uint32_t group, const struct tn_settings *settings)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *put = TN_SQL(sqlite, HASH_PUT, group, 0, (int64_t)settings->seed);
    tn_sql_text(put, 2, tn_hash_name(settings->algo));
    tn_sql_text(put, 4, settings->strategy);
    tn_sql_run(sqlite, put);
    size_t n = 0;
    const struct tn_setting *table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++) {
        put = TN_SQL(sqlite, SETTING_PUT, group, 0, tn_setting_get(settings, &table[i]));
        tn_sql_text(put, 2, table[i].name);
        tn_sql_run(sqlite, put);
    }
}

/* ---- pauses ---- */

void tn_sqlite_pause_add(struct tn_rows *rows, uint32_t group, const struct tn_pause *pause)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *add = TN_SQL(sqlite, PAUSE_ADD, group, pause->unix_ms);
    tn_sql_text(add, 3, pause->reason);
    tn_sql_text(add, 4, pause->author);
    tn_sql_run(sqlite, add);
}

uint32_t tn_sqlite_pause_drop(struct tn_rows *rows, uint32_t group, const char *reason)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *drop = TN_SQL(sqlite, PAUSE_DROP, group);
    if (reason)
        tn_sql_text(drop, 2, reason);
    tn_sql_run(sqlite, drop);
    return (uint32_t)sqlite3_changes(sqlite->db);
}

struct tn_pause *tn_sqlite_pauses(struct tn_rows *rows, uint32_t group, struct tn_arena *arena, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, PAUSES, group);
    size_t room = 8;
    struct tn_pause *list = tn_arena_array(arena, room, sizeof *list);
    *ret_n = 0;
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            struct tn_pause *more = tn_arena_array(arena, room *= 2, sizeof *list);
            list = memcpy(more, list, *ret_n * sizeof *list);
        }
        list[(*ret_n)++] = (struct tn_pause){.reason = tn_sql_column(row, 0, arena),
                                             .author = tn_sql_column(row, 1, arena),
                                             .unix_ms = sqlite3_column_int64(row, 2)};
    }
    return list;
}

/* ---- members ---- */

void tn_sqlite_member_add(struct tn_rows *rows, uint32_t group, uint64_t session)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, MEMBER_ADD, group, (int64_t)session));
}

void tn_sqlite_facts(struct tn_rows *rows, uint32_t group, uint64_t session, struct tn_session_facts *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    *ret = (struct tn_session_facts){0};
    sqlite3_stmt *row = session ? TN_SQL(sqlite, MEMBER_IS, group, (int64_t)session) : NULL;
    if (!tn_sql_row(sqlite, row))
        return;
    const int state = sqlite3_column_int(row, 0);
    const bool member = sqlite3_column_int(row, 2) != 0;
    ret->node = (uint32_t)sqlite3_column_int64(row, 1);
    ret->live = member && state != TN_SESSION_AWAY;
    ret->takes = member && state == TN_SESSION_LIVE;
    sqlite3_reset(row);
}

uint32_t *tn_sqlite_groups_of(struct tn_rows *rows, uint64_t session, size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, MEMBER_GROUPS, (int64_t)session);
    size_t room = 16;
    uint32_t *groups = tn_arena_array(&rows->scratch, room, sizeof *groups);
    *ret_n = 0;
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            uint32_t *more = tn_arena_array(&rows->scratch, room *= 2, sizeof *groups);
            groups = memcpy(more, groups, *ret_n * sizeof *groups);
        }
        groups[(*ret_n)++] = (uint32_t)sqlite3_column_int64(row, 0);
    }
    return groups;
}

static struct tn_member member_of(sqlite3_stmt *row, struct tn_arena *arena)
{
    return (struct tn_member){.session = (uint64_t)sqlite3_column_int64(row, 0),
                              .node = (uint32_t)sqlite3_column_int64(row, 1),
                              .state = (uint8_t)sqlite3_column_int(row, 2),
                              .draining = sqlite3_column_int(row, 3) != 0,
                              .presence = sqlite3_column_int(row, 4) != 0,
                              .node_id = tn_sql_column(row, 5, arena),
                              .address = tn_sql_column(row, 6, arena),
                              .labels = tn_sql_column(row, 7, arena),
                              .weight_milli = (uint64_t)sqlite3_column_int64(row, 8),
                              .joined_ms = sqlite3_column_int64(row, 9),
                              .lease_ms = sqlite3_column_int64(row, 10),
                              .lease_until_ms = sqlite3_column_int64(row, 11)};
}

struct tn_member *tn_sqlite_members(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                    size_t *ret_n)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, MEMBERS, group);
    size_t room = 16;
    struct tn_member *members = tn_arena_array(arena, room, sizeof *members);
    *ret_n = 0;
    while (tn_sql_row(sqlite, row)) {
        if (*ret_n == room) {
            struct tn_member *more = tn_arena_array(arena, room *= 2, sizeof *members);
            members = memcpy(more, members, *ret_n * sizeof *members);
        }
        members[(*ret_n)++] = member_of(row, arena);
    }
    return members;
}
