/* The store: one interface, several backends, one contract.
 *
 * A store keeps sessions, plans, shards and checkpoints, and carries out the operations of core/op/op.h.
 * What it must promise is numbered here; tests/conformance has one test a clause and runs them all on every
 * backend.
 *
 *  C1  Each operation is atomic: all of it is seen by others, or none, also after a kill at any
 *      instant or a full disk.
 *  C2  JOIN, TICK, BURY, PLAN and every verb that changes a shard are durable before they are
 *      answered.
 *  C3  Time is the store's lease clock, read after the operation holds its locks. The requester's
 *      clock is never used.
 *  C4  JOIN with a nonce seen before answers the same session (adding groups that are new). A live
 *      session of the same node id with another nonce is ID_IN_USE, unless `replace`, or its lease
 *      has passed, or the store knows that its process is gone: then it is buried in the same
 *      transaction. An unknown group: NOT_FOUND, nothing changed.
 *  C5  A session ends by one compare-and-set on its own row (tn_rule_bury); of a burial and a
 *      renewal exactly one wins. JOIN, BURY, LEAVE and a change of LIVE to LEAVING bump the epoch
 *      of each group of the session and mark its members changed.
 *  C6  TICK follows tn_rule_renew. The reply has the deltas of all cursors, and the suspects, from
 *      the same transaction.
 *  C7  A delta holds every row whose epoch is above the cursor's; the epoch it returns is read
 *      before or with the rows. A cursor of 0, or one ahead of the store's epoch, or one of another
 *      history gets `full`.
 *  C8  The shard verbs follow tn_rule_shard, each item on its own; one refused item does not stop
 *      the others. Every change of a row bumps the group's epoch. Moving a shard away from a
 *      session bumps that session's version.
 *  C9  An operation with `session` set answers SESSION_ENDED when that session is dead, and changes
 *      nothing; TICK and SYNC say it by renewal ENDED with the reason. A repeated LEAVE is OK.
 *  C10 A token only grows; by exactly one at each change of owner or reload (tn_rule_shard, give).
 *  C11 SAVE writes only under the current token of a session that is not dead, follows
 *      tn_rule_save, and keeps exact bytes (with NUL) up to TN_CHECKPOINT_MAX; larger: TOO_BIG,
 *      nothing changed. CLAIM, RELOAD and LOAD answer with the checkpoint as of the same
 *      transaction as the token.
 *  C12 PLAN sets `desired` only if the group's plan epoch is the expected one (else CONFLICT), and
 *      bumps it.
 *  C13 PREPARE never lets more than max_moves rows of a group be in handoff, whoever asks at once.
 *  C14 A request may be repeated after a lost reply: the outcome is DONE and nothing changes a
 *      second time (C4, C8, C11).
 *  C15 `limit_ms` bounds every call on a store that answers; past it: BUSY when nothing happened,
 *      MAYBE when unknown.
 *  C16 Each change of owner or token leaves one history event; the history is pruned to a bound.
 *  C17 Presence: PROBE says GONE only when the process that joined and everything that inherited
 *      its presence are gone; whatever cannot be told is UNKNOWN.
 *  C18 After new_history every token is larger than any before it, every session is dead, and old
 *      cursors get `full`.
 *
 * Threads: a handle is confined to one thread at a time. It does not survive fork: a call in a child is
 * refused (BUG). */
#ifndef TN_STORE_STORE_H
#define TN_STORE_STORE_H

#include "core/op/op.h"

struct tn_store; /* every backend's struct begins with `const struct tn_store_type *type;` */

struct tn_group_info {
    uint32_t group;
    const char *name;
    struct tn_settings settings;
    uint64_t fingerprint;
    uint64_t plan_epoch;
};

enum { TN_PRUNE_STEP = 2000, TN_PRUNE_KEEP_MAX = 1000000000 };

struct tn_pause { /* a reason for which a group's balance moves are paused */
    const char *reason, *author;
    int64_t unix_ms; /* since */
};

struct tn_event { /* one line of the ownership timeline */
    uint64_t id;  /* grows */
    int64_t unix_ms;
    const char *group; /* "" for events of a session alone */
    int64_t shard;     /* -1: of a session */
    const char *node;  /* node id of the (new) owner; "" none */
    uint64_t session, token;
    const char *cause; /* tn_rule_cause; "joined", why a session ended, "planned", "new history" */
};

struct tn_event_query {
    const char *group;     /* NULL: all */
    int64_t shard;         /* -1: all */
    int64_t since_unix_ms; /* 0: all */
    size_t limit;          /* newest so many; 0: 1000 */
};

struct tn_store_info {
    const char *backend, *location, *identity; /* identity: random, made with the store */
    uint32_t history, schema;
    int64_t lease_clock_ms, unix_ms;
    size_t groups, live_sessions, events;
    uint64_t stale_rejected; /* saves refused for their token, ever */
};

struct tn_store_type {
    const char *name; /* "sqlite" */
    /* Carries out `op`: fills its reply part, `op->status` included. */
    void (*exec)(struct tn_store *store, struct tn_op *op);
    /* Has somebody else committed since this was last asked? Cheap; a guess of true is allowed. */
    bool (*changed)(struct tn_store *store);
    void (*close)(struct tn_store *store);

    /* What operators do. Each is one transaction, obeys C1 and C15 (limit_ms), returns a status and fills
     * error. Results live in `arena`. */
    enum tenure_status (*group_create)(struct tn_store *store, const char *name,
                                       const struct tn_settings *settings, uint64_t fingerprint,
                                       int64_t limit_ms, struct tenure_error *error);
    enum tenure_status (*group_list)(struct tn_store *store, struct tn_arena *arena,
                                     struct tn_group_info **ret, size_t *ret_n, int64_t limit_ms,
                                     struct tenure_error *error);
    enum tenure_status (*group_set)(struct tn_store *store, const char *name,
                                    const struct tn_settings *settings, int64_t limit_ms,
                                    struct tenure_error *error);
    /* CONFLICT while a live session is in it. */
    enum tenure_status (*group_delete)(struct tn_store *store, const char *name, int64_t limit_ms,
                                       struct tenure_error *error);
    /* An operator's mark on the node, for one group or (0) for all; it survives restarts. Taking the mark for
     * all back takes those for single groups back too. NOT_FOUND when the store never saw the id; CONFLICT
     * for a group's mark to be taken back while the one for all stands. */
    enum tenure_status (*node_drain)(struct tn_store *store, const char *node_id, uint32_t group, bool drain,
                                     int64_t limit_ms, struct tenure_error *error);
    /* Sets the shard's desired node, which must be a live, not draining member. */
    enum tenure_status (*move)(struct tn_store *store, uint32_t group, uint32_t shard, const char *node_id,
                               int64_t limit_ms, struct tenure_error *error);
    /* Balance moves stop while there is a reason; takeovers, drains and leaves go on. Reasons stack; the same
     * reason again is DONE. */
    enum tenure_status (*pause)(struct tn_store *store, uint32_t group, const char *reason,
                                const char *author, int64_t limit_ms, struct tenure_error *error);
    /* Takes a reason back, or all (NULL). NOT_FOUND when there is none such. `thaw`: also ends a freeze after
     * a mass loss; then a missing reason is no error. */
    enum tenure_status (*resume)(struct tn_store *store, uint32_t group, const char *reason, bool thaw,
                                 uint32_t *ret_dropped, int64_t limit_ms, struct tenure_error *error);
    enum tenure_status (*pauses)(struct tn_store *store, uint32_t group, struct tn_arena *arena,
                                 struct tn_pause **ret, size_t *ret_n, int64_t limit_ms,
                                 struct tenure_error *error);
    /* Sets a shard aside (its owner loses it, token + 1), or takes it back into service: CONFLICT when it is
     * not set aside. */
    enum tenure_status (*quarantine)(struct tn_store *store, uint32_t group, uint32_t shard, bool aside,
                                     int64_t limit_ms, struct tenure_error *error);
    enum tenure_status (*checkpoint_get)(struct tn_store *store, uint32_t group, uint32_t shard,
                                         struct tn_arena *arena, struct tn_checkpoint *ret, int64_t limit_ms,
                                         struct tenure_error *error);
    /* `force`: under whatever token is current, item->token is ignored. STALE and REGRESSED as SAVE. Returns
     * the sequence stored. */
    enum tenure_status (*checkpoint_set)(struct tn_store *store, uint32_t group, const struct tn_item *item,
                                         bool force, uint64_t *ret_seq, int64_t limit_ms,
                                         struct tenure_error *error);
    enum tenure_status (*events)(struct tn_store *store, const struct tn_event_query *query,
                                 struct tn_arena *arena, struct tn_event **ret, size_t *ret_n,
                                 int64_t limit_ms, struct tenure_error *error);
    enum tenure_status (*info)(struct tn_store *store, struct tn_arena *arena, struct tn_store_info *ret,
                               int64_t limit_ms, struct tenure_error *error);
    enum tenure_status (*new_history)(struct tn_store *store, uint32_t seen, uint32_t *ret_history,
                                      int64_t limit_ms, struct tenure_error *error);
    /* Removes the oldest events of the timeline beyond the newest `keep`, at most TN_PRUNE_STEP in a call;
     * *ret_removed 0: there are no more. */
    enum tenure_status (*prune)(struct tn_store *store, size_t keep, size_t *ret_removed, int64_t limit_ms,
                                struct tenure_error *error);
};

struct tn_store {
    const struct tn_store_type *type;
    bool rehearse; /* writes are checked and worked out, then rolled back; the first transaction of each */
};

/* Opens by URL: "sqlite:PATH[?any_fs=1]", "memory:" (this process only, for tests). `how`: CREATE makes it
 * when it is not there, else a missing store is UNREACHABLE. Other schemes: BAD_INPUT naming those built in.
 * A file that was moved here from another machine is REFUSED, unless it is to be adopted: then it is taken
 * over, in a new history (what `tenure store new-history` does). */
enum { TN_STORE_CREATE = 1, TN_STORE_ADOPT = 2, TN_STORE_REHEARSE = 4 };
enum tenure_status tn_store_open(const char *url, unsigned how, struct tn_store **ret_store,
                                 struct tenure_error *error);
/* The descriptor that holds this handle's presence, to be inherited by processes that must keep the session
 * alive; -1 where a store has none. Borrowed. Any thread, once joined. */
int tn_store_presence(const struct tn_store *store);
/* The default URL, an SQLite file in the user's state directory ($XDG_STATE_HOME, else ~/.local/state), into
 * `into`. */
enum tenure_status tn_store_default_url(char *into, size_t room, struct tenure_error *error);

#endif
