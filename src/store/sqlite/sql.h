/* Every statement the SQLite store runs on its rows, prepared once a handle; and how they are run.
 * Failures are sticky (store/rows/rows.h): after one, tn_sql_row says "no row" and nothing runs. */
#ifndef TN_STORE_SQLITE_SQL_H
#define TN_STORE_SQLITE_SQL_H

#include "store/sqlite/parts.h"

#define TN_SQL_LEASE "state, lease_ms, lease_until_ms, lates, version"
#define TN_SQL_SESSION                                                                                       \
    "select s.id, coalesce(l.state, 2), l.lease_ms, l.lease_until_ms, l.lates, l.version, s.node,"           \
    " s.weight_milli, s.joined_ms, s.presence is not null, s.nonce, n.node_id, s.address, s.labels,"         \
    " coalesce(s.end_reason, '')"                                                                            \
    " from session s join node n on n.id = s.node left join lease l on l.session = s.id "
#define TN_SQL_GROUP                                                                                         \
    "select id, name, made, shards, epoch, members_epoch, settings_epoch, plan_epoch, plan_fingerprint,"     \
    " planner_version, fingerprint, pauses, lost, lost_of, loss_from_ms, frozen_until_ms from grp "
#define TN_SQL_SHARD                                                                                         \
    "select shard, session, token, target, desired, state, handed, since_ms, until_ms, moved_ms, avoid,"     \
    " fails, deaths, hold_until_ms, death_ms, death_node from shard "

#define TN_STATEMENTS(X)                                                                                     \
    X(BEGIN_READ, "begin")                                                                                   \
    X(BEGIN_WRITE, "begin immediate")                                                                        \
    X(COMMIT, "commit")                                                                                      \
    X(DATA_VERSION, "pragma data_version")                                                                   \
    X(STORE_GET, "select history, calendar_offset_ms, boot_id, machine_id, identity from store")             \
    X(HISTORY_PUT, "update store set history = ?1")                                                          \
    X(OFFSET_PUT, "update store set calendar_offset_ms = ?1")                                                \
    X(PLACE_PUT, "update store set boot_id = ?1, machine_id = ?2")                                           \
    X(NODE_FIND, "select id from node where node_id = ?1")                                                   \
    X(NODE_ADD, "insert into node (node_id) values (?1)")                                                    \
    X(NODE_DRAIN, "update node set draining = ?2 where id = ?1")                                             \
    X(NODE_DRAINING, "select draining from node where id = ?1")                                              \
    X(DRAINED_ADD, "insert or ignore into drained (node, group_id) values (?1, ?2)")                         \
    X(DRAINED_DROP, "delete from drained where node = ?1 and (?2 = 0 or group_id = ?2)")                     \
    X(DRAINED_IS, "select 1 from drained where node = ?1 and group_id = ?2")                                 \
    X(DRAINED_FORGET, "delete from drained where group_id = ?1")                                             \
    X(NODE_REJECTED, "update node set rejected = rejected + ?2 where id = ?1")                               \
    X(NODE_REJECTED_SUM, "select coalesce(sum(rejected), 0) from node")                                      \
    X(NODES_PRUNE, "delete from node where draining = 0 and not exists"                                      \
                   " (select 1 from session where session.node = node.id) and not exists"                    \
                   " (select 1 from drained where drained.node = node.id)")                                  \
    X(SESSION_GET, TN_SQL_SESSION "where s.id = ?1")                                                         \
    X(SESSION_BY_NONCE, "select id from session where nonce = ?1")                                           \
    X(SESSION_OF_NODE, "select session from lease where node = ?1 order by session desc limit 1")            \
    X(SESSION_HIGHEST, "select seq from sqlite_sequence where name = 'session'")                             \
    X(SESSION_ADD,                                                                                           \
      "insert into session (node, weight_milli, joined_ms, time_namespace, directory, nonce, address,"       \
      " labels) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                                    \
    X(LEASE_ADD, "insert into lease (session, node, " TN_SQL_LEASE ") values (?1, ?2, ?3, ?4, ?5, 0, 0)")    \
    X(SESSION_PRESENCE, "update session set presence = ?2 where id = ?1")                                    \
    X(LEASE_PUT, "update lease set state = ?2, lease_ms = ?3, lease_until_ms = ?4, lates = ?5, version = ?6" \
                 " where session = ?1")                                                                      \
    X(LEASE_MOVED, "update lease set version = version + 1 where session = ?1")                              \
    X(LEASE_IS, "select 1 from lease where session = ?1 and state <> 3")                                     \
    X(LEASE_DROP, "delete from lease where session = ?1")                                                    \
    X(SESSION_END, "update session set end_reason = ?2, ended_ms = ?3 where id = ?1")                        \
    X(LEASES, "select session, " TN_SQL_LEASE " from lease order by session")                                \
    X(SESSIONS_ELSEWHERE, "select s.id, s.time_namespace, s.directory from lease l join session s"           \
                          " on s.id = l.session where s.time_namespace <> ?1 or s.directory <> ?2 limit 1")  \
    X(SESSIONS_PRUNE, "delete from session where end_reason is not null and id <= (select id from session"   \
                      " where end_reason is not null order by id desc limit 1 offset ?1)")                   \
    X(PRESENCE_GET, "select s.presence from lease l join session s on s.id = l.session where l.session = ?1" \
                    " and s.presence is not null")                                                           \
    X(GROUP_GET, TN_SQL_GROUP "where id = ?1")                                                               \
    X(GROUP_FIND, TN_SQL_GROUP "where name = ?1")                                                            \
    X(GROUPS, TN_SQL_GROUP "order by id")                                                                    \
    X(GROUP_ADD, "insert into grp (name, made, shards, epoch, members_epoch, settings_epoch, plan_epoch,"    \
                 " plan_fingerprint, planner_version, fingerprint, hash, seed, strategy)"                    \
                 " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '', 0, '')")                             \
    X(GROUP_PUT,                                                                                             \
      "update grp set made = ?2, epoch = ?3, members_epoch = ?4, settings_epoch = ?5, plan_epoch = ?6,"      \
      " plan_fingerprint = ?7, planner_version = ?8, pauses = ?9, lost = ?10, lost_of = ?11,"                \
      " loss_from_ms = ?12, frozen_until_ms = ?13 where id = ?1")                                            \
    X(GROUP_UNNAME, "update grp set name = null where id = ?1")                                              \
    X(GROUP_DROP, "delete from grp where id = ?1")                                                           \
    X(HASH_GET, "select hash, seed, shards, strategy from grp where id = ?1")                                \
    X(HASH_PUT, "update grp set hash = ?2, seed = ?3, strategy = ?4 where id = ?1")                          \
    X(SETTINGS_GET, "select name, value from setting where group_id = ?1")                                   \
    X(SETTING_PUT, "insert or replace into setting (group_id, name, value) values (?1, ?2, ?3)")             \
    X(SETTINGS_DROP, "delete from setting where group_id = ?1")                                              \
    X(PAUSE_ADD, "insert into pause (group_id, unix_ms, reason, author) values (?1, ?2, ?3, ?4)")            \
    X(PAUSE_DROP, "delete from pause where group_id = ?1 and (?2 is null or reason = ?2)")                   \
    X(PAUSES, "select reason, author, unix_ms from pause where group_id = ?1 order by id")                   \
    X(MEMBER_ADD, "insert into member (group_id, session) values (?1, ?2)")                                  \
    X(MEMBER_DROP, "delete from member where session = ?1")                                                  \
    X(MEMBER_IS, "select state, node, exists (select 1 from member where group_id = ?1 and session = ?2)"    \
                 " from lease where session = ?2")                                                           \
    X(MEMBER_GROUPS, "select group_id from member where session = ?1 order by group_id")                     \
    X(MEMBERS,                                                                                               \
      "select s.id, s.node, l.state, n.draining or exists (select 1 from drained d where d.node = s.node"    \
      " and d.group_id = ?1), s.presence is not null, n.node_id, s.address, s.labels,"                       \
      " s.weight_milli, s.joined_ms, l.lease_ms, l.lease_until_ms from member m"                             \
      " join lease l on l.session = m.session join session s on s.id = m.session"                            \
      " join node n on n.id = s.node where m.group_id = ?1 order by m.session")                              \
    X(FLOOR_GET, "select token_floor from store")                                                            \
    X(FLOOR_PUT, "update store set token_floor = ?1")                                                        \
    X(SHARD_ADD, "insert into shard (group_id, shard, epoch, token) values (?1, ?2, ?3, ?4)")                \
    X(SHARDS_DROP, "delete from shard where group_id = ?1 and shard in"                                      \
                   " (select shard from shard where group_id = ?1 limit ?2)")                                \
    X(SHARD_GET, TN_SQL_SHARD "where group_id = ?1 and shard = ?2")                                          \
    X(SHARD_PUT,                                                                                             \
      "update shard set session = ?3, token = ?4, target = ?5, desired = ?6, state = ?7, handed = ?8,"       \
      " since_ms = ?9, until_ms = ?10, moved_ms = ?11, moving = ?12, epoch = ?13, avoid = ?14, fails = ?15," \
      " deaths = ?16, hold_until_ms = ?17, death_ms = ?18, death_node = ?19"                                 \
      " where group_id = ?1 and shard = ?2")                                                                 \
    X(SHARDS_MOVING, "select count(*) from shard where group_id = ?1 and moving = 1")                        \
    X(SHARDS_STARTING, "select count(*) from shard where group_id = ?1 and moving = 2")                      \
    X(SHARDS_ALL, TN_SQL_SHARD "where group_id = ?1 order by shard")                                         \
    X(SHARDS_SINCE, TN_SQL_SHARD "indexed by shard_epoch where group_id = ?1 and epoch > ?2 order by shard") \
    X(SHARDS_REBOOT,                                                                                         \
      "update shard set until_ms = 0, moved_ms = 0, hold_until_ms = 0, death_ms = 0, deaths = 0,"            \
      " since_ms = coalesce(since_ms, 0) + ?2, epoch = ?3"                                                   \
      " where group_id = ?1")                                                                                \
    X(CHECKPOINT_GET,                                                                                        \
      "select token, seq, saved_ms, data from checkpoint where group_id = ?1 and shard = ?2")                \
    X(CHECKPOINT_PUT, "insert or replace into checkpoint (group_id, shard, token, seq, saved_ms, data)"      \
                      " values (?1, ?2, ?3, ?4, ?5, ?6)")                                                    \
    X(CHECKPOINTS_DROP, "delete from checkpoint where group_id = ?1 and shard in"                            \
                        " (select shard from checkpoint where group_id = ?1 limit ?2)")                      \
    X(EVENT_ADD, "insert into event (unix_ms, group_name, shard, node_id, session, token, cause) values"     \
                 " (?1, ?2, ?3, coalesce((select node_id from node where id = ?4), ''), ?5, ?6, ?7)")        \
    X(EVENTS_PRUNE,                                                                                          \
      "delete from event where id in"                                                                        \
      " (select id from event where id <= (select max(id) from event) - ?1 order by id limit ?2)")           \
    X(EVENTS, "select id, unix_ms, group_name, shard, node_id, session, token, cause from event"             \
              " where (?1 is null or group_name = ?1) and (?2 < 0 or shard = ?2) and unix_ms >= ?3"          \
              " order by id desc limit ?4")                                                                  \
    X(EVENT_COUNT, "select count(*) from event")

enum tn_statement {
#define X(name, text) TN_SQL_##name,
    TN_STATEMENTS(X)
#undef X
        TN_SQL_COUNT
};

/* The statement, reset, with its first parameters bound to these integers; more may be bound by the caller.
 * NULL after a failure: sqlite3_bind_* and the functions below then do nothing. */
sqlite3_stmt *tn_sql(struct tn_sqlite *sqlite, enum tn_statement which, const int64_t *values, int n);
#define TN_SQL(sqlite, which, ...)                                                                           \
    tn_sql(sqlite, TN_SQL_##which, (const int64_t[]){__VA_ARGS__},                                           \
           (int)(sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t)))
#define TN_SQL0(sqlite, which) tn_sql(sqlite, TN_SQL_##which, NULL, 0)
void tn_sql_text(sqlite3_stmt *statement, int parameter,
                 const char *text); /* must live until the statement has run */
/* Steps: true, there is a row; false, there is none (any more), or a failure. */
bool tn_sql_row(struct tn_sqlite *sqlite, sqlite3_stmt *statement);
/* Runs to its end; its parameters are released. */
void tn_sql_run(struct tn_sqlite *sqlite, sqlite3_stmt *statement);
/* First column of its first row, 0 without one. */
int64_t tn_sql_number(struct tn_sqlite *sqlite, sqlite3_stmt *statement);
/* Text of a column, copied; "" for NULL. */
const char *tn_sql_column(sqlite3_stmt *statement, int column, struct tn_arena *arena);
void tn_sql_done(struct tn_sqlite *sqlite);

#endif
