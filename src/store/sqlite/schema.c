/* The tables, by version. A file is brought forward when it is opened; one from a newer program is left
 * alone. All times are integers, in milliseconds, on the lease clock unless said otherwise (case B37: text
 * does not compare). Columns that a row of no owner may leave NULL read as 0 (case B18). */
#include "store/sqlite/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { application_id = 0x544e5552 /* "TNUR" */ };

static const char *const steps[] = {
    /* 1 */
    "create table store ("
    " id integer primary key check (id = 1),"
    " identity text not null,"
    " history integer not null,"
    " boot_id text not null,"
    " machine_id text not null,"
    " calendar_offset_ms integer not null," /* Unix time = lease clock + this */
    " token_floor integer not null"         /* the largest token of any group that was deleted */
    ") strict;"
    "create table node ("
    " id integer primary key autoincrement,"
    " node_id text not null unique,"
    " draining integer not null default 0,"
    " rejected integer not null default 0"
    ") strict;"
    "create table session ("
    " id integer primary key autoincrement,"
    " node integer not null,"
    " weight_milli integer not null,"
    " joined_ms integer not null,"
    " ended_ms integer,"
    " time_namespace integer not null,"
    " directory integer not null,"
    " nonce blob not null unique,"
    " presence text," /* "INODE:ID" of the presence file; null: cannot be told */
    " end_reason text,"
    " address text not null,"
    " labels text not null"
    ") strict;"
    /* One row a live session. A renewal reads and writes only here, so that it touches as few pages as can
     * be. No index on the expiry: each renewal would move in it. */
    "create table lease ("
    " session integer primary key,"
    " node integer not null,"
    " state integer not null," /* 0 live, 1 leaving */
    " lease_ms integer not null,"
    " lease_until_ms integer not null,"
    " lates integer not null,"
    " version integer not null"
    ") strict;"
    "create index session_node on session (node);"
    "create table grp ("
    " id integer primary key autoincrement,"
    " name text unique,"      /* null: deleted, its rows are being removed */
    " made integer not null," /* shard rows so far; invisible until all are there */
    " shards integer not null check (shards between 1 and 1048576),"
    " epoch integer not null,"
    " members_epoch integer not null,"
    " settings_epoch integer not null,"
    " plan_epoch integer not null,"
    " plan_fingerprint integer not null,"
    " planner_version integer not null,"
    " fingerprint integer not null,"
    " hash text not null,"
    " seed integer not null,"
    " strategy text not null"
    ") strict;"
    "create table setting ("
    " group_id integer not null,"
    " name text not null,"
    " value integer not null,"
    " primary key (group_id, name)"
    ") strict, without rowid;"
    "create table member ("
    " group_id integer not null,"
    " session integer not null,"
    " primary key (group_id, session)"
    ") strict, without rowid;"
    "create index member_session on member (session);"
    "create table shard ("
    " group_id integer not null,"
    " shard integer not null,"
    " session integer default 0,"
    " token integer not null default 0,"
    " target integer default 0,"
    " desired integer default 0,"
    " state integer not null default 0," /* 0 unowned, 1 owned, 2 preparing, 3 draining, 4 restoring, 5
                                            quarantined */
    " handed integer not null default 0,"
    " moving integer not null default 0," /* 1: counts under max_moves; 2: under max_takeovers */
    " since_ms integer default 0,"
    " until_ms integer default 0,"
    " moved_ms integer default 0,"
    " epoch integer not null default 1,"
    " primary key (group_id, shard)"
    ") strict, without rowid;"
    "create index shard_epoch on shard (group_id, epoch);"
    "create index shard_moving on shard (group_id) where moving = 1;"
    "create table checkpoint ("
    " group_id integer not null,"
    " shard integer not null,"
    " token integer not null,"
    " seq integer not null,"
    " saved_ms integer not null," /* Unix time */
    " data blob not null,"
    " primary key (group_id, shard)"
    ") strict;"
    "create table event ("
    " id integer primary key autoincrement,"
    " unix_ms integer not null,"
    " group_name text not null,"
    " shard integer not null,"
    " node_id text not null,"
    " session integer not null,"
    " token integer not null,"
    " cause text not null"
    ") strict;"
    "create view tenure_shard_lease as" /* lease_until: Unix time in ms */
    " select g.name as group_name, h.shard as shard_id, n.node_id as owner_node_id,"
    " l.lease_until_ms + (select calendar_offset_ms from store) as lease_until, h.token as fencing_token"
    " from grp g join shard h on h.group_id = g.id"
    " left join lease l on l.session = h.session"
    " left join node n on n.id = l.node"
    " where g.name is not null and g.made = g.shards;",
    /* 2: what went wrong with a shard; pauses; the mass-loss guard; lease.state 3: away */
    "alter table shard add column avoid integer not null default 0;"
    "alter table shard add column fails integer not null default 0;"
    "alter table shard add column deaths integer not null default 0;"
    "alter table shard add column hold_until_ms integer not null default 0;"
    "alter table shard add column death_ms integer not null default 0;"
    "alter table shard add column death_node integer not null default 0;"
    "create index shard_starting on shard (group_id) where moving = 2;"
    "alter table grp add column pauses integer not null default 0;"
    "alter table grp add column lost integer not null default 0;"
    "alter table grp add column lost_of integer not null default 0;"
    "alter table grp add column loss_from_ms integer not null default 0;"
    "alter table grp add column frozen_until_ms integer not null default 0;"
    "create table pause ("
    " id integer primary key,"
    " group_id integer not null,"
    " reason text not null,"
    " author text not null,"
    " unix_ms integer not null"
    ") strict;"
    "create index pause_group on pause (group_id);",
    /* 3: nodes drained in one group alone */
    "create table drained ("
    " node integer not null,"
    " group_id integer not null,"
    " primary key (node, group_id)"
    ") strict, without rowid;"
    "create index drained_group on drained (group_id);",
};
enum { newest = sizeof steps / sizeof steps[0] };

int tn_schema_version(void)
{
    return newest;
}

static int number_cell(void *into, int n, char **values, char **names)
{
    (void)names;
    *(int64_t *)into = n > 0 && values[0] ? strtoll(values[0], NULL, 10) : 0;
    return 0;
}

static int ask(struct tn_sqlite *sqlite, const char *question, int64_t deadline, int64_t *ret)
{
    int code;
    *ret = 0;
    do {
        errno = 0;
        code = sqlite3_exec(sqlite->db, question, number_cell, ret, NULL);
    } while ((code & 0xff) == SQLITE_BUSY && tn_lock_wait(&sqlite->rows, deadline));
    return code;
}

struct file_facts {
    int64_t application, version, tables;
};

static int look(struct tn_sqlite *sqlite, int64_t deadline, struct file_facts *facts)
{
    /* One snapshot: between two looks another process may just have made the tables. */
    int code = tn_lock_script(sqlite, "begin", deadline);
    if (code == SQLITE_OK)
        code = ask(sqlite, "pragma application_id", deadline, &facts->application);
    if (code == SQLITE_OK)
        code = ask(sqlite, "pragma user_version", deadline, &facts->version);
    if (code == SQLITE_OK)
        code = ask(sqlite, "select count(*) from sqlite_master", deadline, &facts->tables);
    if (!sqlite3_get_autocommit(sqlite->db))
        sqlite3_exec(sqlite->db, "rollback", NULL, NULL, NULL);
    return code;
}

static enum tenure_status judge(const struct tn_sqlite *sqlite, bool create, const struct file_facts *facts,
                                struct tenure_error *error)
{
    const bool empty = !facts->application && !facts->version && !facts->tables;
    if (empty && create)
        return TENURE_OK;
    if (empty)
        return tn_error_set(error, TENURE_UNREACHABLE, "%.300s: the file is empty, there is no store in it",
                            sqlite->path);
    if (facts->application != application_id)
        return tn_error_set(error, TENURE_CORRUPT, "%.300s: this SQLite file is not a Tenure store",
                            sqlite->path);
    if (facts->version > newest)
        return tn_error_set(error, TENURE_NEWER_SCHEMA,
                            "%.300s: written by a newer version (schema %lld; this program knows up to %d)",
                            sqlite->path, (long long)facts->version, newest);
    return TENURE_OK;
}

static char *first_row(const struct tn_sqlite *sqlite)
{
    uint64_t random[2];
    tn_machine_random(random, sizeof random);
    return sqlite3_mprintf("insert into store values (1, '%016llx%016llx', 0, %Q, %Q, 0, 0);"
                           "pragma application_id = %d;",
                           random[0], random[1], sqlite->machine.boot_id, sqlite->machine.machine_id,
                           application_id);
}

/* In a transaction that holds the write lock. */
static int step_forward(struct tn_sqlite *sqlite, int64_t deadline)
{
    int64_t version = 0;
    int code = ask(sqlite, "pragma user_version", deadline, &version); /* somebody may have been faster */
    for (int64_t next = version; code == SQLITE_OK && next < newest; next++) {
        code = sqlite3_exec(sqlite->db, steps[next], NULL, NULL, NULL);
        char *row = next == 0 ? first_row(sqlite) : NULL;
        if (code == SQLITE_OK && row)
            code = sqlite3_exec(sqlite->db, row, NULL, NULL, NULL);
        sqlite3_free(row);
        char number[64];
        sqlite3_snprintf(sizeof number, number, "pragma user_version = %d", (int)next + 1);
        if (code == SQLITE_OK)
            code = sqlite3_exec(sqlite->db, number, NULL, NULL, NULL);
    }
    return code;
}

static enum tenure_status migrate(struct tn_sqlite *sqlite, int64_t deadline, struct tenure_error *error)
{
    int code = tn_lock_script(sqlite, "begin immediate", deadline);
    if (code != SQLITE_OK)
        return tn_sqlite_error(sqlite, code, error);
    errno = 0;
    code = step_forward(sqlite, deadline);
    if (code == SQLITE_OK)
        code = sqlite3_exec(sqlite->db, "commit", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        return TENURE_OK;
    const enum tenure_status status = tn_sqlite_error(sqlite, code, error);
    sqlite3_exec(sqlite->db, "rollback", NULL, NULL, NULL);
    return status;
}

static int is_wal(void *into, int n, char **values, char **names)
{
    (void)names;
    *(bool *)into = n > 0 && values[0] && !strcmp(values[0], "wal");
    return 0;
}

static int use_wal(struct tn_sqlite *sqlite, int64_t deadline, bool *ret_wal)
{
    int code;
    do {
        errno = 0;
        code = sqlite3_exec(sqlite->db, "pragma journal_mode = wal", is_wal, ret_wal, NULL);
    } while ((code & 0xff) == SQLITE_BUSY && tn_lock_wait(&sqlite->rows, deadline));
    if (code == SQLITE_OK)
        code = tn_lock_script(
            sqlite,
            "pragma synchronous = full; pragma secure_delete = off; pragma trusted_schema = off;"
            "pragma temp_store = memory; pragma cache_size = -16000; pragma journal_size_limit = 16777216",
            deadline);
    return code;
}

enum tenure_status tn_schema_bring(struct tn_sqlite *sqlite, bool create, int64_t limit_ms,
                                   struct tenure_error *error)
{
    const int64_t deadline = tn_lock_deadline(&sqlite->rows, limit_ms);
    struct file_facts facts;
    int code = look(sqlite, deadline, &facts);
    if (code != SQLITE_OK)
        return tn_sqlite_error(sqlite, code, error);
    const enum tenure_status status = judge(sqlite, create, &facts, error);
    if (status != TENURE_OK)
        return status;
    bool wal = false;
    code = use_wal(sqlite, deadline, &wal);
    if (code == SQLITE_OK && !wal)
        return tn_error_set(error, TENURE_REFUSED, "%.300s: SQLite cannot keep a write-ahead log here",
                            sqlite->path);
    if (code != SQLITE_OK)
        return tn_sqlite_error(sqlite, code, error);
    return facts.version < newest ? migrate(sqlite, deadline, error) : TENURE_OK;
}
