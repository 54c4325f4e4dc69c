/* Store operations: what a node asks of the store, and what the store answers.
 *
 * Holds: the shapes only. The core makes requests and reads replies; a store backend carries them out, each
 * as one atomic transaction (contract: store/store.h). An op is one struct with request and reply side by
 * side, so that it can travel between threads, or through a simulated network, as one thing.
 *
 * Ownership: everything an op points to lives in memory of whoever made it (request) or in op->arena (reply).
 * Time: `_ms` in requests and replies is the store's lease clock unless the name begins with sent_ (the
 * node's boot clock). Identity: nodes are numbers per store (never reused), sessions are numbers per store
 * (never reused), groups likewise. */
#ifndef TN_CORE_OP_OP_H
#define TN_CORE_OP_OP_H

#include "base/arena.h"
#include "base/status.h"
#include "core/lease/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TN_CHECKPOINT_MAX = 65536, TN_NONCE_BYTES = 16, TN_BATCH_MAX = 256, TN_PLAN_BATCH_MAX = 8192 };

/* ---- rows as everybody sees them ---- */

enum tn_shard_state {
    TN_SHARD_UNOWNED,
    TN_SHARD_OWNED,
    TN_SHARD_PREPARING, /* the target warms up, the owner works on */
    TN_SHARD_DRAINING,  /* the target is prepared, the owner finishes */
    TN_SHARD_RESTORING, /* transferred or claimed, the worker is not yet ready */
    TN_SHARD_QUARANTINED
};

struct tn_shard_row {
    uint64_t session; /* the owner's; 0 none. May be of a dead session: then the shard is claimable */
    uint64_t token;   /* 0 before the first claim */
    uint64_t target;  /* session, while preparing or draining */
    uint32_t desired; /* node number by the plan; 0 none */
    uint8_t state;    /* enum tn_shard_state */
    uint8_t handed;   /* 1 when the present owner got it by a handoff (counts as a move until ready) */
    int64_t since_ms; /* of the present owner and token */
    int64_t until_ms; /* of the present phase; 0 none */
    int64_t moved_ms; /* last handoff; 0 never */
    /* What went wrong with it lately (core/lease/trouble.h). */
    uint32_t avoid;        /* node that did not get it to work, while hold_until_ms lasts; 0 none */
    uint8_t fails;         /* moves and starts in a row that came to nothing */
    uint8_t deaths;        /* nodes that died with it since death_ms, each once in a row */
    uint32_t death_node;   /* the last of them */
    int64_t hold_until_ms; /* no balance move of it begins before */
    int64_t death_ms;      /* the first of `deaths` */
};

enum tn_session_state {
    TN_SESSION_LIVE,
    TN_SESSION_LEAVING,
    TN_SESSION_DEAD,
    TN_SESSION_AWAY /* left, and will be back before its time is over: it has nothing, and keeps its place */
};

struct tn_member {
    uint64_t session;
    uint32_t node;
    uint8_t state;                          /* LIVE, LEAVING or AWAY; dead sessions are not listed */
    bool draining;                          /* an operator drained the node */
    bool presence;                          /* the store can tell when its process is gone */
    const char *node_id, *address, *labels; /* labels: JSON object text */
    uint64_t weight_milli;
    int64_t joined_ms, lease_ms, lease_until_ms;
};

struct tn_checkpoint {
    const void *data; /* NULL when there is none yet */
    size_t size;
    uint64_t seq;
    uint64_t token;   /* under which it was written; 0 none */
    int64_t saved_ms; /* calendar clock, Unix ms; 0 none */
};

/* ---- the kinds ---- */

/* clang-format off */
#define TN_OPS(X)                                                                                             \
    X(JOIN) X(TICK) X(SYNC) X(PROBE) X(BURY) X(PLAN) X(CLAIM) X(PREPARE) X(PREPARED) X(TRANSFER) X(FORCE)     \
    X(ABORT) X(REVOKE) X(READY) X(RELOAD) X(LOAD) X(RELEASE) X(SAVE) X(LEAVE)
/* clang-format on */

enum tn_op_kind {
#define X(name) TN_OP_##name,
    TN_OPS(X)
#undef X
        TN_OP_COUNT
};
const char *tn_op_name(enum tn_op_kind kind); /* "claim" */

/* Outcome of one item of a batch. */
enum tn_outcome {
    TN_DONE,         /* it is so now; also when it was so before (a repeated request) */
    TN_STALE,        /* the shard has another token or owner than the request said */
    TN_NOT_FREE,     /* its owner lives */
    TN_NOT_DESIRED,  /* the plan names another node */
    TN_OVER_BUDGET,  /* max_moves are in handoff already */
    TN_TARGET_GONE,  /* the target's session is not live or not in the group */
    TN_WRONG_STATE,  /* not in the phase that the verb belongs to */
    TN_NOT_YET,      /* its deadline has not come */
    TN_ROW_BUSY,     /* locked by a user's transaction; try again */
    TN_SET_ASIDE,    /* its owners died one after another: quarantined */
    TN_SEQ_REGRESSED /* checkpoint sequence not larger than the stored one */
};
const char *tn_outcome_name(enum tn_outcome outcome);

struct tn_item {
    uint32_t shard;
    uint32_t node;  /* PLAN: desired node number, 0 none */
    uint64_t token; /* the token that the requester believes current */
    uint64_t peer;  /* PREPARE, TRANSFER, FORCE: target session */
    bool rewind;    /* SAVE */
    bool unable;    /* RELEASE: this node could not work on it; another one, please */
    struct tn_checkpoint
        checkpoint; /* SAVE: to write (seq 0: stored + 1); reply of CLAIM, RELOAD, LOAD, SAVE: as stored */
    enum tn_outcome outcome; /* reply */
    struct tn_shard_row row; /* reply: as it stands after the operation */
};

/* ---- views ---- */

struct tn_cursor {
    uint32_t group;
    uint64_t epoch; /* 0: give me everything */
};

struct tn_change {
    uint32_t shard;
    struct tn_shard_row row;
};

struct tn_delta {
    uint32_t group;
    bool gone;           /* the group was deleted */
    bool full;           /* every row of the group follows */
    uint64_t epoch;      /* the cursor to use next */
    uint64_t plan_epoch; /* 0: never planned */
    uint64_t plan_fingerprint;
    uint32_t planner_version;
    bool paused;                        /* no balance moves: an operator has a reason */
    int64_t frozen_until_ms;            /* nor until then: a mass loss; 0 never */
    const struct tn_settings *settings; /* NULL when unchanged since the cursor */
    bool members_changed;
    const struct tn_member *members; /* when members_changed: all of them, ascending by session */
    size_t n_members;
    const struct tn_change *changes; /* ascending by shard */
    size_t n_changes;
};

struct tn_suspect { /* a live session close to its end, or with an end further ahead than its lease allows */
    uint64_t session;
    int64_t lease_ms, lease_until_ms;
};

/* ---- requests and replies ---- */

struct tn_join_group {
    const char *name;
    uint64_t fingerprint;        /* reply; the requester compares it with its own */
    uint32_t group;              /* reply */
    struct tn_settings settings; /* reply */
};

struct tn_op_join {
    const char *node_id, *address, *labels;
    uint64_t weight_milli;
    uint8_t nonce[TN_NONCE_BYTES]; /* the same nonce again is the same join: a repeated request gets the same
                                      session */
    bool replace;
    struct tn_join_group *groups; /* all the session wants, repeated joins may add */
    size_t n_groups;
    /* reply */
    uint64_t session;
    uint32_t node;
    int64_t lease_ms, lease_until_ms; /* the shortest lease of the groups */
    uint32_t missing_group;           /* NOT_FOUND: index of the group that does not exist */
    uint64_t rival;                   /* ID_IN_USE: the session that has the id */
    int64_t rival_until_ms;
    const char *rival_address;
};

enum tn_renewal { TN_RENEWED, TN_LATE, TN_ENDED };

struct tn_op_tick { /* TICK renews and reads; SYNC only reads */
    int64_t lease_ms;
    bool leaving;        /* TICK: the session is on its way out */
    uint32_t lates_seen; /* how often this node was told LATE: a lost reply cannot hide one */
    uint32_t history;    /* as this node knows it; 0 with cursors at 0 */
    struct tn_cursor *cursors;
    size_t n_cursors;
    /* reply */
    enum tn_renewal renewal;
    uint32_t lates;
    uint64_t version; /* of the session: grows whenever a shard was moved away from it */
    int64_t lease_until_ms;
    char end_reason[48]; /* ENDED: "expired", "crashed", "replaced", "history", "left", "returned", "stayed
                            away" */
    struct tn_delta
        *deltas; /* one a cursor, in order; those without news have epoch == cursor and no changes */
    size_t n_deltas;
    struct tn_suspect *suspects;
    size_t n_suspects;
};

enum tn_presence { TN_PRESENCE_UNKNOWN, TN_PRESENCE_THERE, TN_PRESENCE_GONE };

struct tn_op_probe {
    const uint64_t *sessions;
    size_t n;
    enum tn_presence *found; /* reply, one a session, in arena */
};

enum tn_evidence {
    TN_EXPIRED,
    TN_CRASHED,
    TN_TOO_FAR /* lease_until is further ahead than a lease, for a whole lease */
};

struct tn_op_bury {
    uint64_t victim;
    enum tn_evidence evidence;
    int64_t seen_until_ms;
    /* reply */
    bool buried; /* by this request */
    bool dead;   /* it is dead now, whoever did it */
    int64_t lease_until_ms;
};

struct tn_op_leave {
    int64_t return_within_ms; /* above 0: the session is AWAY for so long */
};

struct tn_op_plan {
    uint64_t plan_epoch;  /* expected; CONFLICT when it is another */
    uint64_t fingerprint; /* stored with the last batch; 0: a partial plan */
    uint32_t planner_version;
    /* reply */
    uint64_t new_plan_epoch;
};

struct tn_op {
    enum tn_op_kind kind;
    uint64_t id;           /* the requester's, for matching */
    uint64_t session;      /* who asks; 0: nobody's session (join, admin) */
    uint32_t group;        /* PLAN and the shard verbs */
    int64_t sent_ms;       /* boot clock of the node when the request was made */
    int64_t limit_ms;      /* how long the store may take */
    struct tn_item *items; /* PLAN and the shard verbs */
    size_t n_items;
    union {
        struct tn_op_join join;
        struct tn_op_tick tick;
        struct tn_op_probe probe;
        struct tn_op_bury bury;
        struct tn_op_plan plan;
        struct tn_op_leave leave;
    };
    struct tn_arena *arena; /* reply memory */
    /* reply, all kinds */
    enum tenure_status status; /* OK: the reply is valid. Class RETRY: nothing happened. MAYBE: unknown */
    struct tenure_error error;
    int64_t store_ms; /* lease clock, read inside the transaction */
    int64_t unix_ms;  /* calendar clock of the store at the same instant, for people only */
    uint32_t history; /* history number of the store */
};

#endif
