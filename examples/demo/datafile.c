#include "datafile.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { patience_ms = 500 };

struct file {
    sqlite3 *db;   /* NULL: closed */
    uint64_t used; /* grows: when it was used last */
};

struct data {
    char dir[PATH_MAX - 64], path[PATH_MAX], error[512];
    uint32_t shards;
    size_t most, n_open;
    uint64_t uses;
    struct file *files;
};

struct data *data_new(const char *dir, uint32_t shards, size_t most)
{
    struct data *data = calloc(1, sizeof *data);
    if (!data)
        return NULL;
    snprintf(data->dir, sizeof data->dir, "%s", dir);
    data->shards = shards;
    data->most = most;
    data->files = calloc(shards, sizeof *data->files);
    if (data->files)
        return data;
    free(data);
    return NULL;
}

void data_free(struct data *data)
{
    if (!data)
        return;
    for (uint32_t i = 0; i < data->shards; i++)
        sqlite3_close(data->files[i].db);
    free(data->files);
    free(data);
}

void data_close(struct data *data, uint32_t shard)
{
    struct file *file = &data->files[shard];
    if (!file->db)
        return;
    sqlite3_close(file->db);
    file->db = NULL;
    data->n_open--;
}

const char *data_path(struct data *data, uint32_t shard)
{
    snprintf(data->path, sizeof data->path, "%s/shard-%03u.db", data->dir, shard);
    return data->path;
}

const char *data_error(const struct data *data)
{
    return data->error;
}

/* ---- files ---- */

static void close_oldest(struct data *data)
{
    uint32_t oldest = UINT32_MAX;
    for (uint32_t i = 0; i < data->shards; i++)
        if (data->files[i].db && (oldest == UINT32_MAX || data->files[i].used < data->files[oldest].used))
            oldest = i;
    data_close(data, oldest);
}

static void keep_error(struct data *data, uint32_t shard, sqlite3 *db)
{
    snprintf(data->error, sizeof data->error, "shard %u: %s", shard,
             db ? sqlite3_errmsg(db) : "out of memory");
}

/* The shard's connection, opened if need be; NULL with the error kept. */
static sqlite3 *use(struct data *data, uint32_t shard)
{
    struct file *file = &data->files[shard];
    file->used = ++data->uses;
    if (file->db)
        return file->db;
    if (data->n_open >= data->most)
        close_oldest(data);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(data_path(data, shard), &file->db, flags, NULL) != SQLITE_OK) {
        keep_error(data, shard, file->db);
        sqlite3_close(file->db);
        file->db = NULL;
        return NULL;
    }
    sqlite3_busy_timeout(file->db, patience_ms);
    data->n_open++;
    return file->db;
}

/* ---- reading ---- */

/* Finishes a statement of which `code` is the last step's. */
static enum data_outcome end(struct data *data, uint32_t shard, sqlite3_stmt *statement, int code)
{
    const bool fine = code == SQLITE_DONE || code == SQLITE_ROW;
    if (!fine)
        keep_error(data, shard, data->files[shard].db);
    sqlite3_finalize(statement);
    return fine ? DATA_OK : DATA_FAILED;
}

enum data_outcome data_progress(struct data *data, uint32_t shard, int64_t *ret_next_seq, int64_t *ret_due_ms)
{
    static const char sql[] =
        "select p.next_seq, r.due_ms from progress p left join record r on r.seq = p.next_seq";
    sqlite3 *db = use(data, shard);
    sqlite3_stmt *statement = NULL;
    if (!db)
        return DATA_FAILED;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *ret_next_seq = sqlite3_column_int64(statement, 0);
        const bool more = sqlite3_column_type(statement, 1) != SQLITE_NULL;
        *ret_due_ms = more ? sqlite3_column_int64(statement, 1) : INT64_MAX;
    }
    return end(data, shard, statement, code == SQLITE_DONE ? SQLITE_ERROR : code);
}

static void read_record(sqlite3_stmt *statement, struct data_record *record)
{
    const char *path = (const char *)sqlite3_column_text(statement, 1);
    record->seq = sqlite3_column_int64(statement, 0);
    snprintf(record->path, sizeof record->path, "%s", path ? path : "");
    record->offset = sqlite3_column_int64(statement, 2);
    record->length = sqlite3_column_int64(statement, 3);
}

enum data_outcome data_due(struct data *data, uint32_t shard, int64_t next_seq, int64_t now_ms,
                           struct data_record *records, int room, int *ret_n)
{
    static const char sql[] = "select seq, path, offset, length from record where seq >= ?1 and due_ms <= ?2"
                              " order by seq limit ?3";
    sqlite3 *db = use(data, shard);
    sqlite3_stmt *statement = NULL;
    if (!db)
        return DATA_FAILED;
    int n = 0, code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, next_seq);
        sqlite3_bind_int64(statement, 2, now_ms);
        sqlite3_bind_int(statement, 3, room);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW && n < room)
            read_record(statement, &records[n++]);
    }
    *ret_n = n;
    return end(data, shard, statement, code);
}

/* ---- writing ---- */

static int pass_fence(sqlite3 *db, uint32_t shard, const struct data_writer *writer)
{
    sqlite3_stmt *fence = NULL;
    int code = sqlite3_prepare_v2(
        db, "insert into tenure_fence(group_name, shard, node, token) values (?1, ?2, ?3, ?4)", -1, &fence,
        NULL);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_text(fence, 1, writer->group, -1, SQLITE_STATIC);
    sqlite3_bind_int64(fence, 2, shard);
    sqlite3_bind_text(fence, 3, writer->node, -1, SQLITE_STATIC);
    sqlite3_bind_int64(fence, 4, (int64_t)writer->token);
    code = sqlite3_step(fence);
    sqlite3_finalize(fence);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int add_results(sqlite3 *db, const struct data_writer *writer, const struct data_record *records,
                       int n)
{
    sqlite3_stmt *add = NULL;
    int code = sqlite3_prepare_v2(db,
                                  "insert into result(seq, key, digest, node, token, done_ms)"
                                  " select seq, key, ?2, ?3, ?4, ?5 from record where seq = ?1",
                                  -1, &add, NULL);
    for (int i = 0; i < n && code == SQLITE_OK; i++) {
        sqlite3_bind_int64(add, 1, records[i].seq);
        sqlite3_bind_text(add, 2, records[i].digest, -1, SQLITE_STATIC);
        sqlite3_bind_text(add, 3, writer->node, -1, SQLITE_STATIC);
        sqlite3_bind_int64(add, 4, (int64_t)writer->token);
        sqlite3_bind_int64(add, 5, writer->now_ms);
        sqlite3_step(add);
        code = sqlite3_reset(add);
    }
    sqlite3_finalize(add);
    return code;
}

static int advance(sqlite3 *db, int64_t next_seq)
{
    sqlite3_stmt *update = NULL;
    int code = sqlite3_prepare_v2(db, "update progress set next_seq = ?1", -1, &update, NULL);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(update, 1, next_seq);
    code = sqlite3_step(update);
    sqlite3_finalize(update);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Says what a failure before the commit means, and undoes what was begun. */
static enum data_outcome undo(struct data *data, uint32_t shard, sqlite3 *db)
{
    keep_error(data, shard, db);
    const bool stale = strncmp(sqlite3_errmsg(db), "TN001", 5) == 0;
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "rollback", NULL, NULL, NULL);
    return stale ? DATA_STALE : DATA_FAILED;
}

enum data_outcome data_store(struct data *data, uint32_t shard, const struct data_writer *writer,
                             const struct data_record *records, int n)
{
    sqlite3 *db = use(data, shard);
    if (!db)
        return DATA_FAILED;
    int code = sqlite3_exec(db, "begin immediate", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pass_fence(db, shard, writer);
    if (code == SQLITE_OK && writer->inside)
        writer->inside(writer->context);
    if (code == SQLITE_OK)
        code = add_results(db, writer, records, n);
    if (code == SQLITE_OK)
        code = advance(db, records[n - 1].seq + 1);
    if (code != SQLITE_OK)
        return undo(data, shard, db);
    code = sqlite3_exec(db, "commit", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        return DATA_OK;
    undo(data, shard, db);
    return code == SQLITE_BUSY ? DATA_FAILED /* a reader was in the way, nothing was written */
                               : DATA_UNKNOWN;
}
