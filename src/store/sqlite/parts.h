/* Between this folder's own files. */
#ifndef TN_STORE_SQLITE_PARTS_H
#define TN_STORE_SQLITE_PARTS_H

#include "base/rng.h"
#include "store/rows/rows.h"
#include "store/sqlite/sqlite.h"

#include <sqlite3.h>
#include <sys/types.h>

enum { TN_STATEMENTS_ROOM = 96, TN_ID_ROOM = 80 };

/* Which machine, boot and name spaces this process lives in, as far as the store cares. */
struct tn_machine {
    char boot_id[TN_ID_ROOM], machine_id[TN_ID_ROOM]; /* "" unknown */
    uint64_t time_namespace;                          /* 0 unknown */
};

struct tn_presence_file {
    int fd;                    /* holds the locks; -1 not open */
    char identity[TN_ID_ROOM]; /* "INODE:RANDOM" */
};

struct tn_sqlite {
    struct tn_rows rows; /* first */
    sqlite3 *db;
    sqlite3_stmt *statements[TN_STATEMENTS_ROOM]; /* prepared on first use */
    struct tn_sqlite_options options;             /* without its texts */
    struct tn_machine machine;
    struct tn_presence_file presence;
    char *path;         /* absolute, links resolved; owned */
    uint64_t directory; /* inode of the directory of the file */
    pid_t pid;          /* of the opener: handles do not survive fork */
    struct tn_rng rng;  /* of the waiting times */
    int64_t wait_ns;    /* the next wait */
    int64_t stored_offset_ms;
    int64_t data_version;
    uint64_t joined; /* session that the transaction under way added; 0 none */
    bool writing;    /* the transaction under way is a WRITE */
    bool settled;    /* known to belong to this boot; from then on checked in every transaction */
};

static inline struct tn_sqlite *tn_sqlite_of(struct tn_rows *rows)
{
    return (struct tn_sqlite *)rows;
}

/* error.c: the one translation of SQLite's result codes; `number` is what the operating system said (errno),
 * 0 nothing. Never OK. */
enum tenure_status tn_sqlite_status(int code, int number);
/* Records the failure of the transaction under way, with the path, SQLite's words and those for errno: to be
 * called right after the failure, and errno to be cleared before what may fail. */
void tn_sqlite_fail(struct tn_sqlite *sqlite, int code);
/* The same outside of one. */
enum tenure_status tn_sqlite_error(const struct tn_sqlite *sqlite, int code, struct tenure_error *error);

/* machine.c */
void tn_machine_read(struct tn_machine *machine, const struct tn_sqlite_options *options);
/* REFUSED unless the file system under the directory is known to work, or any is wanted. */
enum tenure_status tn_machine_check_fs(const char *directory, const struct tn_sqlite_options *options,
                                       struct tenure_error *error);

/* Fills `into` with n random bytes. */
void tn_machine_random(void *into, size_t n);

/* schema.c: brings the file to the present schema. CORRUPT (not ours), NEWER_SCHEMA, UNREACHABLE (empty, and
 * not to be created). */
enum tenure_status tn_schema_bring(struct tn_sqlite *sqlite, bool create, int64_t limit_ms,
                                   struct tenure_error *error);
int tn_schema_version(void);

/* lock.c */
int64_t tn_lock_deadline(struct tn_rows *rows, int64_t limit_ms);
bool tn_lock_wait(struct tn_rows *rows, int64_t deadline);
enum tenure_status tn_lock_begin(struct tn_rows *rows, enum tn_rows_mode mode, int64_t deadline);
enum tenure_status tn_lock_commit(struct tn_rows *rows);
void tn_lock_rollback(struct tn_rows *rows);
/* Runs SQL text, waiting for locks until the deadline; the result code. For opening only. */
int tn_lock_script(struct tn_sqlite *sqlite, const char *text, int64_t deadline);

/* place.c: does the file belong to this boot of this machine? Adopts it after a reboot; REFUSED otherwise. */
enum tenure_status tn_place_settle(struct tn_sqlite *sqlite, int64_t limit_ms, struct tenure_error *error);
/* Inside a transaction: REFUSED, sticky, when a live session sees another clock or directory than this
 * process. */
bool tn_place_shared(struct tn_sqlite *sqlite);

/* presence.c */
bool tn_presence_take(struct tn_sqlite *sqlite, uint64_t session); /* false: there will be none */
void tn_presence_give_up(struct tn_sqlite *sqlite, uint64_t session);
void tn_presence_done(struct tn_sqlite *sqlite);
enum tn_presence tn_presence_probe(struct tn_rows *rows, uint64_t session);

/* The row functions (store/rows/rows.h). session.c: nodes and sessions */
uint32_t tn_sqlite_node_find(struct tn_rows *rows, const char *node_id);
uint32_t tn_sqlite_node_add(struct tn_rows *rows, const char *node_id);
void tn_sqlite_node_drain(struct tn_rows *rows, uint32_t node, uint32_t group, bool draining);
bool tn_sqlite_node_draining(struct tn_rows *rows, uint32_t node, uint32_t group);
void tn_sqlite_node_rejected(struct tn_rows *rows, uint32_t node, uint64_t more);
bool tn_sqlite_session_lives(struct tn_rows *rows, uint64_t session);
bool tn_sqlite_session_get(struct tn_rows *rows, uint64_t session, struct tn_session_record *ret);
uint64_t tn_sqlite_session_by_nonce(struct tn_rows *rows, const uint8_t *nonce);
uint64_t tn_sqlite_session_of_node(struct tn_rows *rows, uint32_t node);
uint64_t tn_sqlite_session_highest(struct tn_rows *rows);
uint64_t tn_sqlite_session_add(struct tn_rows *rows, const struct tn_session_record *record);
void tn_sqlite_session_put(struct tn_rows *rows, uint64_t session, const struct tn_session_row *lease);
void tn_sqlite_session_moved(struct tn_rows *rows, uint64_t session);
void tn_sqlite_session_end(struct tn_rows *rows, uint64_t session, const char *reason);
struct tn_live_session *tn_sqlite_sessions_live(struct tn_rows *rows, size_t *ret_n);
void tn_sqlite_sessions_prune(struct tn_rows *rows, size_t keep);
/* group.c: groups and members */
bool tn_sqlite_group_get(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret);
bool tn_sqlite_group_find(struct tn_rows *rows, const char *name, struct tn_group_row *ret);
struct tn_group_row *tn_sqlite_groups(struct tn_rows *rows, size_t *ret_n);
uint32_t tn_sqlite_group_add(struct tn_rows *rows, const struct tn_group_row *row,
                             const struct tn_settings *settings);
void tn_sqlite_group_put(struct tn_rows *rows, const struct tn_group_row *row);
void tn_sqlite_group_drop(struct tn_rows *rows, uint32_t group);
void tn_sqlite_settings_get(struct tn_rows *rows, uint32_t group, struct tn_settings *ret);
void tn_sqlite_settings_put(struct tn_rows *rows, uint32_t group, const struct tn_settings *settings);
void tn_sqlite_pause_add(struct tn_rows *rows, uint32_t group, const struct tn_pause *pause);
uint32_t tn_sqlite_pause_drop(struct tn_rows *rows, uint32_t group, const char *reason);
struct tn_pause *tn_sqlite_pauses(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                  size_t *ret_n);
void tn_sqlite_member_add(struct tn_rows *rows, uint32_t group, uint64_t session);
void tn_sqlite_facts(struct tn_rows *rows, uint32_t group, uint64_t session, struct tn_session_facts *ret);
uint32_t *tn_sqlite_groups_of(struct tn_rows *rows, uint64_t session, size_t *ret_n);
struct tn_member *tn_sqlite_members(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                    size_t *ret_n);
/* shard.c: shards and checkpoints */
void tn_sqlite_shards_add(struct tn_rows *rows, uint32_t group, uint32_t from, uint32_t n, uint64_t epoch,
                          uint64_t token);
uint64_t tn_sqlite_floor_get(struct tn_rows *rows);
void tn_sqlite_floor_put(struct tn_rows *rows, uint64_t token);
uint32_t tn_sqlite_shards_drop(struct tn_rows *rows, uint32_t group, uint32_t at_most);
bool tn_sqlite_shard_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_shard_row *ret);
void tn_sqlite_shard_put(struct tn_rows *rows, uint32_t group, uint32_t shard, const struct tn_shard_row *row,
                         uint64_t epoch);
uint32_t tn_sqlite_shards_moving(struct tn_rows *rows, uint32_t group);
uint32_t tn_sqlite_shards_starting(struct tn_rows *rows, uint32_t group);
struct tn_change *tn_sqlite_shards_since(struct tn_rows *rows, uint32_t group, uint64_t since,
                                         struct tn_arena *arena, size_t *ret_n);
void tn_sqlite_checkpoint_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_arena *arena,
                              struct tn_checkpoint *ret);
void tn_sqlite_checkpoint_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                              const struct tn_checkpoint *checkpoint);
/* event.c */
void tn_sqlite_event_add(struct tn_rows *rows, const struct tn_event_row *event);
size_t tn_sqlite_events_prune(struct tn_rows *rows, size_t keep, size_t most);
struct tn_event *tn_sqlite_events(struct tn_rows *rows, const struct tn_event_query *query,
                                  struct tn_arena *arena, size_t *ret_n);

#endif
