/* The protocol over rows: what a backend supplies to get every operation of the store carried out.
 *
 * A backend that can lock, read and write single rows fills a tn_rows_type and puts struct tn_rows first in
 * its own struct; all of exec and the operators' verbs then come from this folder, which asks
 * core/lease/rule.h for each decision. So the memory store (the simulator's) and SQLite cannot differ in what
 * they decide. (A database server decides in its own functions and is held to the same answers by the
 * conformance suite.)
 *
 * Failures are sticky: a row function that fails calls tn_rows_fail and says "nothing there"; until the
 * transaction ends all others then do nothing. Nobody checks in between: the end of the transaction rolls
 * back and reports the first failure. An operation decides before it writes: what is refused has written
 * nothing, so a backend need not undo for that.
 *
 * Confined like the store handle. Texts that row functions return live in tn_rows.scratch. */
#ifndef TN_STORE_ROWS_ROWS_H
#define TN_STORE_ROWS_ROWS_H

#include "core/lease/rule.h"
#include "store/store.h"

enum { TN_SESSIONS_KEPT = 1000, TN_EVENTS_KEPT = 100000, TN_EVENTS_STEP = 64, TN_SHARDS_STEP = 8192 };

enum tn_rows_mode { TN_ROWS_READ, TN_ROWS_WRITE };

struct tn_session_record {
    uint64_t id;
    uint32_t node;
    const char *node_id, *address, *labels;
    const char *end_reason; /* "" while it lives */
    uint8_t nonce[TN_NONCE_BYTES];
    uint64_t weight_milli;
    int64_t joined_ms;
    bool presence;
    struct tn_session_row lease;
};

struct tn_live_session {
    uint64_t id;
    struct tn_session_row lease;
};

struct tn_group_row {
    uint32_t id;
    const char *name; /* NULL: being deleted, invisible */
    uint32_t made;    /* shard rows made so far; fewer than settings say: being created, invisible */
    uint32_t shards;
    uint64_t epoch, members_epoch, settings_epoch;
    uint64_t plan_epoch, plan_fingerprint;
    uint32_t planner_version;
    uint64_t fingerprint;
    uint32_t pauses; /* reasons for which balance moves are paused */
    struct tn_losses losses;
};

struct tn_event_row {
    const char *group; /* "" none */
    int64_t shard;     /* -1 none */
    uint32_t node;     /* 0 none */
    uint64_t session, token;
    const char *cause;
};

struct tn_rows;

struct tn_rows_type {
    /* ---- transactions ---- */
    /* The moment (backend's own clock) at which patience of limit_ms ends, and a short wait: false once it
     * has come. */
    int64_t (*deadline)(struct tn_rows *rows, int64_t limit_ms);
    bool (*wait)(struct tn_rows *rows, int64_t deadline);
    /* Locks (WRITE: against all writers; READ: a snapshot), then reads the clocks and the history into
     * `rows`. BUSY past the deadline. On failure no transaction is open and rows->error says why. */
    enum tenure_status (*begin)(struct tn_rows *rows, enum tn_rows_mode mode, int64_t deadline);
    /* WRITE: durable when OK. Class RETRY or WORLD: nothing happened. MAYBE. The transaction is over in any
     * case. */
    enum tenure_status (*commit)(struct tn_rows *rows);
    void (*rollback)(struct tn_rows *rows);
    void (*history_put)(struct tn_rows *rows, uint32_t history);

    /* ---- nodes ---- */
    uint32_t (*node_find)(struct tn_rows *rows, const char *node_id); /* 0: never seen */
    uint32_t (*node_add)(struct tn_rows *rows, const char *node_id);
    /* The mark for one group, or (0) for all. Taken back for all: every mark. */
    void (*node_drain)(struct tn_rows *rows, uint32_t node, uint32_t group, bool draining);
    bool (*node_draining)(struct tn_rows *rows, uint32_t node, uint32_t group); /* that mark alone */
    void (*node_rejected)(struct tn_rows *rows, uint32_t node, uint64_t more);

    /* ---- sessions ---- */
    bool (*session_get)(struct tn_rows *rows, uint64_t session, struct tn_session_record *ret);
    bool (*session_lives)(struct tn_rows *rows, uint64_t session);
    uint64_t (*session_by_nonce)(struct tn_rows *rows, const uint8_t *nonce); /* also of a dead one; 0 none */
    uint64_t (*session_of_node)(struct tn_rows *rows, uint32_t node);         /* not dead; 0 none */
    /* The largest number ever given out. */
    uint64_t (*session_highest)(struct tn_rows *rows);
    /* Takes presence where there is such a thing; record->id and ->presence are ignored. Its number. */
    uint64_t (*session_add)(struct tn_rows *rows, const struct tn_session_record *record);
    void (*session_put)(struct tn_rows *rows, uint64_t session, const struct tn_session_row *lease);
    void (*session_moved)(struct tn_rows *rows, uint64_t session); /* version + 1 */
    /* Marks it dead and takes it out of all groups. */
    void (*session_end)(struct tn_rows *rows, uint64_t session, const char *reason);
    /* Not dead, ascending; in scratch. */
    struct tn_live_session *(*sessions_live)(struct tn_rows *rows, size_t *ret_n);
    /* Forgets dead ones beyond the newest `keep`, and nodes of which nothing is left. */
    void (*sessions_prune)(struct tn_rows *rows, size_t keep);
    enum tn_presence (*presence)(struct tn_rows *rows, uint64_t session);

    /* ---- groups ---- */
    bool (*group_get)(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret);
    bool (*group_find)(struct tn_rows *rows, const char *name, struct tn_group_row *ret);
    struct tn_group_row *(*groups)(struct tn_rows *rows, size_t *ret_n); /* all, by number; in scratch */
    uint32_t (*group_add)(struct tn_rows *rows, const struct tn_group_row *row,
                          const struct tn_settings *settings);
    void (*group_put)(struct tn_rows *rows, const struct tn_group_row *row); /* all but id, shards */
    void (*group_drop)(struct tn_rows *rows, uint32_t group);                /* once it has no shard rows */
    void (*settings_get)(struct tn_rows *rows, uint32_t group, struct tn_settings *ret);
    void (*settings_put)(struct tn_rows *rows, uint32_t group, const struct tn_settings *settings);

    /* ---- reasons for which a group's balance moves are paused ---- */
    void (*pause_add)(struct tn_rows *rows, uint32_t group, const struct tn_pause *pause);
    /* `reason` NULL: all. How many went. */
    uint32_t (*pause_drop)(struct tn_rows *rows, uint32_t group, const char *reason);
    struct tn_pause *(*pauses)(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                               size_t *ret_n); /* oldest first */

    /* ---- members: live sessions in groups ---- */
    void (*member_add)(struct tn_rows *rows, uint32_t group, uint64_t session);
    /* All false and 0 for a session that is dead or not known. */
    void (*facts)(struct tn_rows *rows, uint32_t group, uint64_t session, struct tn_session_facts *ret);
    uint32_t *(*groups_of)(struct tn_rows *rows, uint64_t session, size_t *ret_n); /* in scratch */
    /* Ascending by session; texts and array in `arena`. */
    struct tn_member *(*members)(struct tn_rows *rows, uint32_t group, struct tn_arena *arena, size_t *ret_n);

    /* ---- shards ---- */
    /* The largest token of any group that was deleted: a group made anew goes on above it. */
    uint64_t (*floor_get)(struct tn_rows *rows);
    void (*floor_put)(struct tn_rows *rows, uint64_t token);
    void (*shards_add)(struct tn_rows *rows, uint32_t group, uint32_t from, uint32_t n, uint64_t epoch,
                       uint64_t token);
    /* Checkpoints too. How many went. */
    uint32_t (*shards_drop)(struct tn_rows *rows, uint32_t group, uint32_t at_most);
    bool (*shard_get)(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_shard_row *ret);
    void (*shard_put)(struct tn_rows *rows, uint32_t group, uint32_t shard, const struct tn_shard_row *row,
                      uint64_t epoch);
    /* How many tn_rule_in_handoff says yes to; how many tn_rule_starting. */
    uint32_t (*shards_moving)(struct tn_rows *rows, uint32_t group);
    uint32_t (*shards_starting)(struct tn_rows *rows, uint32_t group);
    /* With an epoch above `since`, ascending by shard. */
    struct tn_change *(*shards_since)(struct tn_rows *rows, uint32_t group, uint64_t since,
                                      struct tn_arena *arena, size_t *ret_n);
    void (*checkpoint_get)(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_arena *arena,
                           struct tn_checkpoint *ret);
    void (*checkpoint_put)(struct tn_rows *rows, uint32_t group, uint32_t shard,
                           const struct tn_checkpoint *checkpoint);

    /* ---- the timeline ---- */
    void (*event_add)(struct tn_rows *rows, const struct tn_event_row *event);
    /* Removes at most `most` of the oldest beyond the newest `keep`; how many went. */
    size_t (*events_prune)(struct tn_rows *rows, size_t keep, size_t most);
    struct tn_event *(*events)(struct tn_rows *rows, const struct tn_event_query *query,
                               struct tn_arena *arena, size_t *ret_n); /* newest so many, oldest first */

    /* Fills what the backend knows: texts, schema, events, stale_rejected. */
    void (*info)(struct tn_rows *rows, struct tn_arena *arena, struct tn_store_info *ret);
};

struct tn_rows {
    struct tn_store store; /* first: a tn_store pointer is a tn_rows pointer */
    const struct tn_rows_type *type;
    struct tn_arena scratch; /* emptied when a transaction begins */
    int64_t now_ms, unix_ms; /* of the transaction under way */
    uint32_t history;
    size_t events_kept;        /* how long the timeline may get */
    bool evented;              /* the transaction under way added to it */
    enum tenure_status failed; /* first failure in it; OK none */
    struct tenure_error error; /* of that, or of a refusal */
};

void tn_rows_init(struct tn_rows *rows, const struct tn_store_type *store, const struct tn_rows_type *type);
void tn_rows_done(struct tn_rows *rows);
/* Records the first failure of a transaction. */
void tn_rows_fail(struct tn_rows *rows, enum tenure_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One transaction: begin, `work`, commit; what `work` refuses (any status but OK) is rolled back. A read that
 * finds the store locked is done again until limit_ms have passed. */
typedef enum tenure_status tn_rows_work(struct tn_rows *rows, void *context);
enum tenure_status tn_rows_run(struct tn_rows *rows, enum tn_rows_mode mode, int64_t limit_ms,
                               tn_rows_work *work, void *context, struct tenure_error *error);

/* Inside a transaction: ends every session, raises every token into a new history. For new_history, and for a
 * backend that finds at opening that its store comes from elsewhere. */
void tn_rows_renew_history(struct tn_rows *rows, uint32_t seen);
/* Inside a transaction: ends a session, with its groups told. */
void tn_rows_end_session(struct tn_rows *rows, uint64_t session, const char *reason);

/* For a backend's struct tn_store_type; meanings in store/store.h. */
void tn_rows_exec(struct tn_store *store, struct tn_op *op);
#define TN_ROWS_STORE_TYPE                                                                                   \
    .exec = tn_rows_exec, .group_create = tn_rows_group_create, .group_list = tn_rows_group_list,            \
    .group_set = tn_rows_group_set, .pause = tn_rows_pause, .resume = tn_rows_resume,                        \
    .pauses = tn_rows_pauses, .quarantine = tn_rows_quarantine, .group_delete = tn_rows_group_delete,        \
    .node_drain = tn_rows_node_drain, .move = tn_rows_move, .checkpoint_get = tn_rows_checkpoint_get,        \
    .checkpoint_set = tn_rows_checkpoint_set, .events = tn_rows_events, .info = tn_rows_info,                \
    .new_history = tn_rows_new_history, .prune = tn_rows_prune

enum tenure_status tn_rows_group_create(struct tn_store *store, const char *name,
                                        const struct tn_settings *settings, uint64_t fingerprint,
                                        int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_group_list(struct tn_store *store, struct tn_arena *arena,
                                      struct tn_group_info **ret, size_t *ret_n, int64_t limit_ms,
                                      struct tenure_error *error);
enum tenure_status tn_rows_group_set(struct tn_store *store, const char *name,
                                     const struct tn_settings *settings, int64_t limit_ms,
                                     struct tenure_error *error);
enum tenure_status tn_rows_group_delete(struct tn_store *store, const char *name, int64_t limit_ms,
                                        struct tenure_error *error);
enum tenure_status tn_rows_pause(struct tn_store *store, uint32_t group, const char *reason,
                                 const char *author, int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_resume(struct tn_store *store, uint32_t group, const char *reason, bool thaw,
                                  uint32_t *ret_dropped, int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_pauses(struct tn_store *store, uint32_t group, struct tn_arena *arena,
                                  struct tn_pause **ret, size_t *ret_n, int64_t limit_ms,
                                  struct tenure_error *error);
enum tenure_status tn_rows_quarantine(struct tn_store *store, uint32_t group, uint32_t shard, bool aside,
                                      int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_node_drain(struct tn_store *store, const char *node_id, uint32_t group, bool drain,
                                      int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_move(struct tn_store *store, uint32_t group, uint32_t shard, const char *node_id,
                                int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_checkpoint_get(struct tn_store *store, uint32_t group, uint32_t shard,
                                          struct tn_arena *arena, struct tn_checkpoint *ret, int64_t limit_ms,
                                          struct tenure_error *error);
enum tenure_status tn_rows_checkpoint_set(struct tn_store *store, uint32_t group, const struct tn_item *item,
                                          bool force, uint64_t *ret_seq, int64_t limit_ms,
                                          struct tenure_error *error);
enum tenure_status tn_rows_events(struct tn_store *store, const struct tn_event_query *query,
                                  struct tn_arena *arena, struct tn_event **ret, size_t *ret_n,
                                  int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_info(struct tn_store *store, struct tn_arena *arena, struct tn_store_info *ret,
                                int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_new_history(struct tn_store *store, uint32_t seen, uint32_t *ret_history,
                                       int64_t limit_ms, struct tenure_error *error);
enum tenure_status tn_rows_prune(struct tn_store *store, size_t keep, size_t *ret_removed, int64_t limit_ms,
                                 struct tenure_error *error);

#endif
