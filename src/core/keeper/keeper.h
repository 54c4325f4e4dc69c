/* The keeper: one node's whole decision maker.
 *
 * `tn_keeper_step(keeper, event, now) -> update`: events are things that happened (time passed, the store
 * answered, the application said something, nothing is in flight any more); the update says what to do:
 * requests for the store, gates to open and close, notices for the application, and when to be called next.
 * It drives no clock, thread or I/O; the runtime (src/node) and the simulator drive the same code.
 *
 * The shell must, in this order: apply `deadline_ms`, apply the gate changes, then deliver notices and send
 * ops. It answers a gate change with want_idle by an IDLE event once no work on that shard is in flight (at
 * once if none is). Every op comes back exactly once in a REPLY event, with a status, whatever happened to
 * it.
 *
 * Confined to one thread. Memory: own arenas; an update lives in the arena that the caller handed in. Times:
 * boot clock, ms. */
#ifndef TN_CORE_KEEPER_KEEPER_H
#define TN_CORE_KEEPER_KEEPER_H

#include "base/rng.h"
#include "core/lease/holding.h"
#include "core/lease/phase.h"
#include "core/member/contact.h"
#include "core/member/view.h"
#include "core/op/op.h"

enum { TN_GROUPS_MAX = 1024 };

struct tn_keeper_options {
    const char *node_id, *address, *labels; /* borrowed for the keeper's life */
    uint64_t weight_milli;
    bool replace;
    uint64_t seed; /* jitter and nonces: must differ between starts */
};

enum tn_keeper_event_kind {
    TN_KEEPER_WAKE,    /* the time asked for has come */
    TN_KEEPER_REPLY,   /* op */
    TN_KEEPER_CHANGED, /* somebody else changed the store */
    TN_KEEPER_JOIN,    /* name: join this group, or try again; the answer is a GROUP or GROUP_FAILED notice */
    TN_KEEPER_STOP,    /* limit_ms: leave */
    TN_KEEPER_READY,   /* group, shard, token */
    TN_KEEPER_WARMED,  /* group, shard */
    TN_KEEPER_RELEASED, /* group, shard, token */
    TN_KEEPER_RELOAD,   /* group, shard, token */
    TN_KEEPER_UNABLE,   /* group, shard, token: the application gives it up */
    TN_KEEPER_PROGRESS, /* group, shard, token: it gets on with its work */
    TN_KEEPER_IDLE,     /* group, shard */
    TN_KEEPER_STALE     /* group, shard, token: a write of this node was refused by the fence */
};

struct tn_keeper_event {
    enum tn_keeper_event_kind kind;
    uint32_t group; /* index, in order of JOIN events */
    uint32_t shard;
    uint64_t token;
    int64_t limit_ms;
    const char *name;
    struct tn_op *op;
};

enum tn_notice_kind {
    TN_NOTICE_ASSIGNED,
    TN_NOTICE_PREPARE,
    TN_NOTICE_CANCELLED,
    TN_NOTICE_DRAIN,
    TN_NOTICE_LOST,
    TN_NOTICE_JOINED,       /* session began; token is its number */
    TN_NOTICE_GROUP,        /* group `group` is joined; settings in the view */
    TN_NOTICE_GROUP_FAILED, /* group could not be joined for now: status, error text; final unless class RETRY
                             */
    TN_NOTICE_ENDED,
    TN_NOTICE_STOPPED,
    TN_NOTICE_LOG /* words for the operator */
};

struct tn_notice {
    struct tn_notice *next;
    enum tn_notice_kind kind;
    uint32_t group, shard;
    uint64_t token;
    struct tn_checkpoint checkpoint;
    int64_t deadline_in_ms;
    enum tenure_status status;
    const char *reason;
};

struct tn_gate_change {
    struct tn_gate_change *next;
    uint32_t group, shard;
    uint64_t token; /* open under this token; 0: closed */
    bool want_idle;
};

struct tn_request {
    struct tn_request *next;
    struct tn_op op;
};

struct tn_update {
    struct tn_arena *arena; /* the caller's; everything below lives in it */
    struct tn_notice *notices, **last_notice;
    struct tn_gate_change *gates, **last_gate;
    struct tn_request *requests, **last_request;
    int64_t deadline_ms; /* of every open gate; 0: all closed */
    int64_t wake_ms;     /* call again at this time at the latest */
};

struct tn_keeper_counters {
    uint64_t renewals, renewal_failures, stale_rejected, takeovers, moves_in, moves_out, reloads, pauses,
        bugs, burials, plans, ops, alarms, stalls;
};

/* Shards that wait for a request of one verb. One request of a verb is under way at a time, so that what
 * comes up meanwhile goes together in the next. Entries that were overtaken by events are passed over when it
 * is made. */
struct tn_line {
    uint32_t *shards;
    size_t n, room;
    bool in_air;
};

struct tn_keeper_group {
    const char *name;
    bool joined, refused;
    struct tn_view view;
    struct tn_holding *holdings; /* one a shard */
    uint32_t held;               /* not NONE */
    uint32_t serving;
    struct tn_arena memory;
    struct tn_line lines[TN_OP_COUNT];
    bool rescan;      /* compare every row with its holding at the end of this step */
    int64_t retry_ms; /* when to do so because a request failed; 0 never */
    /* conduct */
    bool dirty; /* the scan below is out of date */
    bool plan_in_air, prepare_in_air, repair_in_air;
    bool ever_owned;
    uint32_t unplaced, misplaced, eligible, seen_in_handoff;
    uint32_t unclaimed;              /* free, and the plan names a node that is there */
    uint32_t unowned, first_unowned; /* free, and not kept for a node that is away */
    int64_t unclaimed_ms;            /* since when nothing changed in that */
    int64_t alarm_ms;                /* when to speak of the unowned ones */
    int64_t stall_look_ms;           /* when to look for shards that stand still */
    uint64_t fingerprint;            /* of the members as they are */
    int64_t first_join_ms, last_join_ms, members_ms, need_ms, misplaced_ms, conduct_after_ms;
    int64_t next_phase_end_ms, next_cool_end_ms; /* store clock; INT64_MAX none */
};

struct tn_watched {
    uint64_t session;
    bool presence, suspect, asked, away;
    int64_t gone_since_ms; /* 0: there, or unknown */
    int64_t lease_ms, lease_until_ms;
    int64_t far_since_ms;  /* its end is impossibly far ahead since; 0 no */
    int64_t not_before_ms; /* asked lately: not again before */
    int64_t grace_ms;      /* the shortest crash_grace of the groups that it shares with this node */
    uint32_t rank;
};

struct tn_keeper {
    struct tn_keeper_options options;
    struct tn_rng rng;
    enum tn_phase phase;
    struct tn_keeper_group *groups[TN_GROUPS_MAX];
    uint32_t n_groups;
    struct tn_arena memory, scratch;
    uint8_t nonce[TN_NONCE_BYTES];
    uint64_t session;
    uint32_t node;
    uint32_t history, lates;
    uint64_t version;
    /* the lease */
    int64_t lease_ms, renew_ms, request_ms, margin_ms, crash_grace_ms, return_within_ms;
    int64_t calendar_offset_ms; /* the store's calendar clock - its lease clock */
    int64_t deadline_ms;        /* 0: none */
    bool lapsed;                /* the deadline passed: everything was dropped, waits for a renewal */
    struct tn_contact contact;
    /* timers, boot clock; INT64_MAX: off */
    int64_t next_tick_ms, next_sync_ms, next_probe_ms, next_join_ms, next_leave_ms, stop_at_ms;
    int64_t expected_wake_ms;
    bool tick_in_air, sync_in_air, probe_in_air, join_in_air, leave_in_air, want_sync, gave_up, rival_told;
    /* others */
    struct tn_watched *watched;
    size_t n_watched, watched_room, probe_from;
    uint64_t next_op;
    struct tn_keeper_counters counters;
};

void tn_keeper_init(struct tn_keeper *keeper, const struct tn_keeper_options *options);
void tn_keeper_done(struct tn_keeper *keeper);

/* `update->arena` set by the caller, the rest is filled. The op of a REPLY may be freed after the call. */
void tn_keeper_step(struct tn_keeper *keeper, const struct tn_keeper_event *event, int64_t now_ms,
                    struct tn_update *update);

/* Laws that hold after every step; NULL when all hold, else the broken one in words. For tests and the
 * simulator. */
const char *tn_keeper_check(const struct tn_keeper *keeper);

#endif
