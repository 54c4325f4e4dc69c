#include "store/stamp/stamp.h"

#include "core/hash/hash.h"
#include "core/lease/settings.h"
#include "store/stamp/file.h"
#include "tenure/tenure.h"

#include <string.h>

/* The message of RAISE must be a literal: it cannot name the values. */
static const char *const schema[] = {
    "create table if not exists tenure_stamp("
    " group_name text not null, shard integer not null, token integer not null,"
    " node text not null default '', fenced_ms integer not null default 0,"
    " primary key(group_name, shard))",
    "create view if not exists tenure_fence(group_name, shard, node, token) as"
    " select group_name, shard, node, token from tenure_stamp",
    "create trigger if not exists tenure_fence_check instead of insert on tenure_fence begin"
    " select raise(abort, 'TN001: stale fencing token: the stamp of this shard is another, or was never "
    "raised')"
    " where not exists (select 1 from tenure_stamp"
    "  where group_name = new.group_name and shard = new.shard and token = new.token);"
    " update tenure_stamp set node = coalesce(new.node, ''),"
    "  fenced_ms = cast((julianday('now') - 2440587.5) * 86400000 as integer)"
    " where group_name = new.group_name and shard = new.shard; end",
    "create table if not exists tenure_effect("
    " group_name text not null, shard integer not null, key text not null, token integer not null,"
    " done_ms integer not null default (cast((julianday('now') - 2440587.5) * 86400000 as integer)),"
    " primary key(group_name, shard, key)) without rowid",
};

static enum tenure_status check(const char *group, uint32_t shard, struct tenure_error *error);
static enum tenure_status verify(struct tn_stamp_file *file);
static enum tenure_status raise_to(struct tn_stamp_file *file, const char *group, uint32_t shard,
                                   uint64_t token);
static enum tenure_status read_token(struct tn_stamp_file *file, const char *group, uint32_t shard,
                                     uint64_t *ret_token);

enum tenure_status tenure_stamp_install(const char *path, struct tenure_error *error)
{
    return tn_stamp_install(path, TN_STAMP_LIMIT_MS, error);
}

enum tenure_status tn_stamp_install(const char *path, int64_t limit_ms, struct tenure_error *error)
{
    struct tn_stamp_file file;
    enum tenure_status status =
        tn_stamp_file_open(&file, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, limit_ms, error);
    if (status == TENURE_OK)
        status = tn_stamp_file_begin(&file);
    for (size_t i = 0; status == TENURE_OK && i < sizeof schema / sizeof schema[0]; i++)
        if (sqlite3_exec(file.db, schema[i], NULL, NULL, NULL) != SQLITE_OK)
            status =
                sqlite3_errcode(file.db) == SQLITE_ERROR
                    ? tn_error_set(error, TENURE_EXISTS, "'%.200s' has something else of that name: %.200s",
                                   path, sqlite3_errmsg(file.db))
                    : tn_stamp_file_fail(&file, false);
    if (status == TENURE_OK)
        status = verify(&file);
    if (status == TENURE_OK)
        status = tn_stamp_file_commit(&file);
    tn_stamp_file_close(&file);
    return status;
}

enum tenure_status tenure_stamp_raise(const char *path, const char *group, uint32_t shard, uint64_t token,
                                      int64_t limit_ms, struct tenure_error *error)
{
    enum tenure_status status = check(group, shard, error);
    if (status != TENURE_OK)
        return status;
    if (token < 1 || token > TN_STAMP_TOKEN_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "token %llu is not from 1 to 2^53 - 1",
                            (unsigned long long)token);
    struct tn_stamp_file file;
    status = tn_stamp_file_open(&file, path, SQLITE_OPEN_READWRITE, limit_ms, error);
    if (status == TENURE_OK)
        status = tn_stamp_file_begin(&file);
    if (status == TENURE_OK)
        status = raise_to(&file, group, shard, token);
    if (status == TENURE_OK)
        status = tn_stamp_file_commit(&file);
    tn_stamp_file_close(&file);
    return status;
}

enum tenure_status tn_stamp_get(const char *path, const char *group, uint32_t shard, int64_t limit_ms,
                                uint64_t *ret_token, struct tenure_error *error)
{
    enum tenure_status status = check(group, shard, error);
    if (status != TENURE_OK)
        return status;
    struct tn_stamp_file file;
    status = tn_stamp_file_open(&file, path, SQLITE_OPEN_READONLY, limit_ms, error);
    while (status == TENURE_OK) {
        status = read_token(&file, group, shard, ret_token);
        if (status != TENURE_BUSY || !tn_stamp_file_pause(&file))
            break;
        status = TENURE_OK;
    }
    tn_stamp_file_close(&file);
    return status;
}

static enum tenure_status check(const char *group, uint32_t shard, struct tenure_error *error)
{
    if (shard >= TN_SHARDS_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "shard %u is not from 0 to %d", shard,
                            TN_SHARDS_MAX - 1);
    return tn_name_check("group", group, error);
}

/* "if not exists" says nothing about the shape of what exists. */
static enum tenure_status verify(struct tn_stamp_file *file)
{
    static const char *const probes[] = {
        "select group_name, shard, token, node, fenced_ms from tenure_stamp limit 0",
        "insert into tenure_stamp(group_name, shard) values (1, 1) on conflict(group_name, shard) do nothing",
        "insert into tenure_fence values ('', 0, '', 0)",
        "insert into tenure_effect(group_name, shard, key, token, done_ms) values ('', 0, '', 0, 0)",
    };
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        sqlite3_stmt *probe;
        const int code = sqlite3_prepare_v2(file->db, probes[i], -1, &probe, NULL);
        sqlite3_finalize(probe);
        if (code == SQLITE_ERROR)
            return tn_error_set(
                file->error, TENURE_EXISTS,
                "'%.200s' has a tenure_stamp, tenure_fence or tenure_effect of another shape: %.200s",
                file->path, sqlite3_errmsg(file->db));
        if (code != SQLITE_OK)
            return tn_stamp_file_fail(file, false);
    }
    return TENURE_OK;
}

static enum tenure_status put_token(struct tn_stamp_file *file, const char *group, uint32_t shard,
                                    uint64_t token)
{
    sqlite3_stmt *put = NULL;
    int code = sqlite3_prepare_v2(file->db,
                                  "insert into tenure_stamp(group_name, shard, token) values (?1, ?2, ?3)"
                                  " on conflict(group_name, shard) do update set token = ?3",
                                  -1, &put, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(put, 1, group, -1, SQLITE_STATIC);
        sqlite3_bind_int64(put, 2, shard);
        sqlite3_bind_int64(put, 3, (sqlite3_int64)token);
        code = sqlite3_step(put);
    }
    const enum tenure_status status = code == SQLITE_DONE ? TENURE_OK : tn_stamp_file_fail(file, false);
    sqlite3_finalize(put);
    return status;
}

static enum tenure_status raise_to(struct tn_stamp_file *file, const char *group, uint32_t shard,
                                   uint64_t token)
{
    uint64_t stamp;
    const enum tenure_status status = read_token(file, group, shard, &stamp);
    if (status != TENURE_OK || stamp == token)
        return status;
    if (stamp > token)
        return tn_error_set(
            file->error, TENURE_STALE,
            "the stamp of shard %u is %llu already, above token %llu: another owner took over", shard,
            (unsigned long long)stamp, (unsigned long long)token);
    return put_token(file, group, shard, token);
}

static enum tenure_status read_token(struct tn_stamp_file *file, const char *group, uint32_t shard,
                                     uint64_t *ret_token)
{
    sqlite3_stmt *get = NULL;
    int code = sqlite3_prepare_v2(
        file->db, "select token from tenure_stamp where group_name = ?1 and shard = ?2", -1, &get, NULL);
    if (code == SQLITE_ERROR)
        return tn_error_set(file->error, TENURE_NOT_FOUND,
                            "'%.200s' has no stamps; `tenure stamp install` makes them (%.100s)", file->path,
                            sqlite3_errmsg(file->db));
    if (code == SQLITE_OK) {
        sqlite3_bind_text(get, 1, group, -1, SQLITE_STATIC);
        sqlite3_bind_int64(get, 2, shard);
        code = sqlite3_step(get);
    }
    enum tenure_status status = TENURE_OK;
    if (code == SQLITE_DONE)
        *ret_token = 0;
    else if (code != SQLITE_ROW)
        status = tn_stamp_file_fail(file, false);
    else if (sqlite3_column_type(get, 0) != SQLITE_INTEGER || sqlite3_column_int64(get, 0) < 0)
        status = tn_error_set(file->error, TENURE_CORRUPT,
                              "'%.200s' has a stamp that is not a number (shard %u)", file->path, shard);
    else
        *ret_token = (uint64_t)sqlite3_column_int64(get, 0);
    sqlite3_finalize(get);
    return status;
}
