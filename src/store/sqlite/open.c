#include "store/sqlite/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { open_limit_ms = 5000, path_room = 4096 };

/* ---- what can be said before SQLite touches anything ---- */

static enum tenure_status absolute(const char *path, char *into, struct tenure_error *error)
{
    char here[path_room] = "";
    if (!path[0])
        return tn_error_set(error, TENURE_BAD_INPUT, "the store's path is empty: expected sqlite:PATH");
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return tn_error_set(error, TENURE_IO, "current directory: %s", strerror(errno));
    const int length = snprintf(into, path_room, "%s%s%s", here, here[0] ? "/" : "", path);
    if (length >= path_room - 64) /* the names of the files beside it are longer */
        return tn_error_set(error, TENURE_BAD_INPUT, "the store's path is too long");
    char *real = realpath(into, NULL); /* SQLite follows links too: its log lies beside the real file */
    if (real)
        snprintf(into, path_room, "%s", real);
    free(real);
    return TENURE_OK;
}

static void directory_of(const char *path, char *into)
{
    const size_t length = (size_t)(strrchr(path, '/') - path);
    snprintf(into, path_room, "%.*s", length ? (int)length : 1, path);
}

static void make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0700); /* a failure shows when the file is looked for */
}

static enum tenure_status check_directory(char *directory, const struct tn_sqlite_options *options,
                                          uint64_t *ret_inode, struct tenure_error *error)
{
    struct stat found;
    if (options->make_directory)
        make_directories(directory);
    if (stat(directory, &found) != 0)
        return tn_error_set(error, errno == ENOENT || errno == ENOTDIR ? TENURE_UNREACHABLE : TENURE_IO,
                            "directory %.300s: %s", directory, strerror(errno));
    *ret_inode = found.st_ino;
    if (access(directory, W_OK | X_OK) != 0)
        return tn_error_set(error, TENURE_IO, "directory %.300s: %s", directory, strerror(errno));
    return tn_machine_check_fs(directory, options, error);
}

static enum tenure_status check_file(const char *path, bool create, struct tenure_error *error)
{
    struct stat found;
    if (stat(path, &found) != 0) {
        if (errno == ENOENT && create)
            return TENURE_OK;
        return tn_error_set(error, errno == ENOENT ? TENURE_UNREACHABLE : TENURE_IO, "store %.300s: %s", path,
                            strerror(errno));
    }
    if (!S_ISREG(found.st_mode))
        return tn_error_set(error, TENURE_CORRUPT, "store %.300s: not a regular file", path);
    if (access(path, R_OK | W_OK) != 0)
        return tn_error_set(error, TENURE_IO, "store %.300s: %s", path, strerror(errno));
    return TENURE_OK;
}

/* ---- the handle ---- */

static bool changed(struct tn_store *store)
{
    struct tn_sqlite *sqlite = (struct tn_sqlite *)store;
    if (getpid() != sqlite->pid)
        return false;
    sqlite->rows.failed = TENURE_OK;
    const int64_t version = tn_sql_number(sqlite, TN_SQL0(sqlite, DATA_VERSION));
    const bool news = version != sqlite->data_version;
    sqlite->data_version = version;
    return news;
}

static void close_store(struct tn_store *store)
{
    struct tn_sqlite *sqlite = (struct tn_sqlite *)store;
    if (getpid() == sqlite->pid) { /* in a child the connection is still the parent's: leave it alone */
        tn_sql_done(sqlite);
        sqlite3_close(sqlite->db);
        tn_presence_done(sqlite);
    }
    free(sqlite->path);
    tn_rows_done(&sqlite->rows);
    free(sqlite);
}

static void info(struct tn_rows *rows, struct tn_arena *arena, struct tn_store_info *ret)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL0(sqlite, STORE_GET);
    ret->location = tn_arena_text(arena, sqlite->path);
    if (tn_sql_row(sqlite, row)) {
        ret->identity = tn_sql_column(row, 4, arena);
        sqlite3_reset(row);
    }
    ret->schema = (uint32_t)tn_schema_version();
    ret->events = (size_t)tn_sql_number(sqlite, TN_SQL0(sqlite, EVENT_COUNT));
    ret->stale_rejected = (uint64_t)tn_sql_number(sqlite, TN_SQL0(sqlite, NODE_REJECTED_SUM));
}

static void history_put(struct tn_rows *rows, uint32_t history)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    tn_sql_run(sqlite, TN_SQL(sqlite, HISTORY_PUT, history));
}

static const struct tn_store_type store_type = {TN_ROWS_STORE_TYPE, .name = "sqlite", .changed = changed,
                                                .close = close_store};

static const struct tn_rows_type rows_type = {
    .deadline = tn_lock_deadline,
    .wait = tn_lock_wait,
    .begin = tn_lock_begin,
    .commit = tn_lock_commit,
    .rollback = tn_lock_rollback,
    .history_put = history_put,
    .node_find = tn_sqlite_node_find,
    .node_add = tn_sqlite_node_add,
    .node_drain = tn_sqlite_node_drain,
    .node_draining = tn_sqlite_node_draining,
    .node_rejected = tn_sqlite_node_rejected,
    .session_get = tn_sqlite_session_get,
    .session_lives = tn_sqlite_session_lives,
    .session_by_nonce = tn_sqlite_session_by_nonce,
    .session_of_node = tn_sqlite_session_of_node,
    .session_highest = tn_sqlite_session_highest,
    .session_add = tn_sqlite_session_add,
    .session_put = tn_sqlite_session_put,
    .session_moved = tn_sqlite_session_moved,
    .session_end = tn_sqlite_session_end,
    .sessions_live = tn_sqlite_sessions_live,
    .sessions_prune = tn_sqlite_sessions_prune,
    .presence = tn_presence_probe,
    .group_get = tn_sqlite_group_get,
    .group_find = tn_sqlite_group_find,
    .groups = tn_sqlite_groups,
    .group_add = tn_sqlite_group_add,
    .group_put = tn_sqlite_group_put,
    .group_drop = tn_sqlite_group_drop,
    .settings_get = tn_sqlite_settings_get,
    .settings_put = tn_sqlite_settings_put,
    .member_add = tn_sqlite_member_add,
    .facts = tn_sqlite_facts,
    .groups_of = tn_sqlite_groups_of,
    .members = tn_sqlite_members,
    .floor_get = tn_sqlite_floor_get,
    .floor_put = tn_sqlite_floor_put,
    .shards_add = tn_sqlite_shards_add,
    .shards_drop = tn_sqlite_shards_drop,
    .shard_get = tn_sqlite_shard_get,
    .shard_put = tn_sqlite_shard_put,
    .shards_moving = tn_sqlite_shards_moving,
    .shards_starting = tn_sqlite_shards_starting,
    .pause_add = tn_sqlite_pause_add,
    .pause_drop = tn_sqlite_pause_drop,
    .pauses = tn_sqlite_pauses,
    .shards_since = tn_sqlite_shards_since,
    .checkpoint_get = tn_sqlite_checkpoint_get,
    .checkpoint_put = tn_sqlite_checkpoint_put,
    .event_add = tn_sqlite_event_add,
    .events_prune = tn_sqlite_events_prune,
    .events = tn_sqlite_events,
    .info = info,
};

static struct tn_sqlite *new_handle(const struct tn_sqlite_options *options, const char *path)
{
    struct tn_sqlite *sqlite = calloc(1, sizeof *sqlite);
    char *own_path = strdup(path);
    if (!sqlite || !own_path) {
        free(sqlite);
        free(own_path);
        return NULL;
    }
    tn_rows_init(&sqlite->rows, &store_type, &rows_type);
    sqlite->options = *options;
    sqlite->rows.store.rehearse = options->rehearse;
    if (options->events_kept)
        sqlite->rows.events_kept = options->events_kept;
    sqlite->options.boot_id = sqlite->options.machine_id = NULL;
    sqlite->path = own_path;
    sqlite->presence.fd = -1;
    sqlite->pid = getpid();
    tn_machine_read(&sqlite->machine, options);
    tn_machine_random(&sqlite->rng.state, sizeof sqlite->rng.state);
    return sqlite;
}

static enum tenure_status connect_file(struct tn_sqlite *sqlite, bool create, struct tenure_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (create ? SQLITE_OPEN_CREATE : 0);
    errno = 0;
    const int code = sqlite3_open_v2(sqlite->path, &sqlite->db, flags, NULL);
    if (code != SQLITE_OK)
        return tn_sqlite_error(sqlite, code, error);
    enum tenure_status status = tn_schema_bring(sqlite, create, open_limit_ms, error);
    if (status == TENURE_OK)
        status = tn_place_settle(sqlite, open_limit_ms, error);
    if (status == TENURE_OK)
        changed(&sqlite->rows.store); /* from here on */
    return status;
}

enum tenure_status tn_sqlite_open(const char *path, bool create, const struct tn_sqlite_options *options,
                                  struct tn_store **ret_store, struct tenure_error *error)
{
    static const struct tn_sqlite_options ordinary = {0};
    char full[path_room];
    char directory[path_room];
    uint64_t inode = 0;
    if (!options)
        options = &ordinary;
    enum tenure_status status = absolute(path, full, error);
    if (status != TENURE_OK)
        return status;
    directory_of(full, directory);
    status = check_directory(directory, options, &inode, error);
    if (status == TENURE_OK)
        status = check_file(full, create, error);
    if (status != TENURE_OK)
        return status;
    struct tn_sqlite *sqlite = new_handle(options, full);
    if (!sqlite)
        return tn_error_set(error, TENURE_NO_MEMORY, "out of memory");
    sqlite->directory = inode;
    status = connect_file(sqlite, create, error);
    if (status != TENURE_OK)
        close_store(&sqlite->rows.store);
    else
        *ret_store = &sqlite->rows.store;
    return status;
}
