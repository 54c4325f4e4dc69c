/* Tenure: who owns which shard right now.
 *
 * A program opens a handle (one session in the store), joins groups, and then lives by events: ASSIGNED,
 * PREPARE, DRAIN, LOST. Everything that must happen in time (renewal, stopping before the lease ends, burial
 * of dead nodes, planning, handoff) is done by two threads behind the handle; no callback of yours runs on
 * them.
 *
 * The life of a shard, as the program sees it:
 *
 *     ASSIGNED(token, checkpoint)  raise your stamps to `token`, load your state, then tenure_ready()
 *     tenure_enter() ... tenure_leave()  round each piece of work; write under the token (the fence)
 *     DRAIN  no new work is admitted; finish, save, then tenure_released()
 *     LOST   stop at once; what you still write under the old token is refused
 *     PREPARE  the shard may come to you: warm up if that helps, then tenure_prepared()
 *
 * Units: milliseconds unless a name ends in _ns. Weights are thousandths (1000 is 1). Keys are bytes.
 * Strings passed in are copied. Strings and data in an event are valid until the next tenure_next on the same
 * handle. Threads: every function may be called from any thread, except that one thread at a time calls
 * tenure_next, and nobody calls anything once tenure_close has begun. "Blocks" is said where it is so; all
 * else returns at once. After fork only the parent may use a handle. */
#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

#include "tenure/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct tenure;       /* a handle: one node with one session */
struct tenure_group; /* a group that the handle has joined; owned by the handle, valid until tenure_close */

const char *tenure_version(void); /* "0.1.0" */

/* ---- opening and joining ---- */

struct tenure_options {
    size_t size;             /* sizeof (struct tenure_options): set by tenure_options_init */
    const char *store;       /* URL; NULL: $TENURE_STORE, else the default SQLite file */
    const char *node_id;     /* stable name of this node; NULL: a fresh unique one, HOST-PID-RANDOM */
    const char *address;     /* where others reach it, for routing; NULL: "" */
    const char *labels_json; /* object of strings, as JSON text; NULL: "{}" */
    uint64_t weight_milli;   /* 1000 */
    bool replace;            /* fence a live session of the same id instead of failing with ID_IN_USE */
    int64_t join_limit_ms;   /* how long tenure_join keeps trying; 10000 */
    /* Called with finished lines for the operator ("tenure: ..."); from internal threads, must not block.
     * NULL: no log. */
    void (*log)(void *context, int level, const char *line);
    void *log_context;
};
enum tenure_log_level { TENURE_LOG_ERROR, TENURE_LOG_WARNING, TENURE_LOG_INFO, TENURE_LOG_DEBUG };

void tenure_options_init(struct tenure_options *options);

/* Opens the store and starts the threads; no session yet. Blocks for file access. BAD_INPUT, UNREACHABLE,
 * CORRUPT, NEWER_SCHEMA, REFUSED. On success *ret_tenure is owned by the caller, to be given to tenure_close.
 */
enum tenure_status tenure_open(const struct tenure_options *options, struct tenure **ret_tenure,
                               struct tenure_error *error);

/* Joins a group; the first join makes the session. Blocks up to join_limit_ms. NOT_FOUND (no such group),
 * ID_IN_USE, FINGERPRINT, BAD_INPUT, or the store's trouble. Joining twice returns the same group. CLOSED
 * once the handle is stopping. */
enum tenure_status tenure_join(struct tenure *tenure, const char *group, struct tenure_group **ret_group,
                               struct tenure_error *error);

/* Leaves cleanly: others are asked to take the shards, each is drained, and only then does the session end;
 * DRAIN events come as for any move and the last event is STOPPED. Returns at once; go on calling
 * tenure_next. `limit_ms`: what is not drained by then is given up (its session ends; others claim it). */
void tenure_stop(struct tenure *tenure, int64_t limit_ms);

/* Ends the threads and frees everything. A session that is still live is left to end by itself (crash
 * detection, else expiry): call tenure_stop first and wait for STOPPED to leave cleanly. Blocks for at most
 * one store call. */
void tenure_close(struct tenure *tenure);

/* ---- events ---- */

enum tenure_event_kind {
    TENURE_EVENT_NONE,
    TENURE_EVENT_ASSIGNED,  /* shard, token, checkpoint, seq: load, then tenure_ready */
    TENURE_EVENT_PREPARE,   /* shard, deadline_in_ms, checkpoint: warm up, then tenure_prepared */
    TENURE_EVENT_CANCELLED, /* shard: a PREPARE that came to nothing */
    TENURE_EVENT_DRAIN,     /* shard, token, deadline_in_ms: finish, save, then tenure_released */
    TENURE_EVENT_LOST,      /* shard, token, reason: stop at once */
    TENURE_EVENT_JOINED,    /* a session began (also after the old one was ended): `token` is its number */
    TENURE_EVENT_ENDED,     /* the session was ended by others; status says how. SESSION_ENDED: it rejoins by
                               itself;     REPLACED: it does not, and STOPPED follows */
    TENURE_EVENT_STOPPED /* nothing more will come. status OK: a clean leave; REFUSED: shards were given up at
                            the limit; REPLACED; others: a failure that cannot heal, error text in reason */
};

struct tenure_event {
    enum tenure_event_kind kind;
    struct tenure_group *group; /* NULL for session events */
    uint32_t shard;
    uint64_t token;
    uint64_t seq;           /* of the checkpoint; 0 none */
    const void *checkpoint; /* NULL none */
    size_t checkpoint_size;
    int64_t deadline_in_ms; /* time left, when the event was made */
    enum tenure_status status;
    const char *reason; /* "" or words for people */
};

/* A descriptor that polls readable while an event waits. Owned by the handle; do not read it. */
int tenure_fd(const struct tenure *tenure);
/* The next event, waiting up to timeout_ms (0: not at all; -1: for ever). OK, TIMEOUT, or CLOSED after
 * STOPPED was delivered. */
enum tenure_status tenure_next(struct tenure *tenure, int64_t timeout_ms, struct tenure_event *ret_event);

/* ---- answers ---- */

/* The shard's state is loaded: opens the gate for (shard, token). STALE when that token is not (or no longer)
 * assigned here. */
enum tenure_status tenure_ready(struct tenure_group *group, uint32_t shard, uint64_t token);
/* Warmed up. STALE when no PREPARE is open for the shard. */
enum tenure_status tenure_prepared(struct tenure_group *group, uint32_t shard);
/* No work on the shard is left; it may go. STALE when it is not draining under this token. */
enum tenure_status tenure_released(struct tenure_group *group, uint32_t shard, uint64_t token);
/* After a write whose outcome is unknown: stops intake, waits out work in flight, raises the token, and gives
 * the shard back by a new ASSIGNED with the stored checkpoint. STALE when the shard is not held under this
 * token. */
enum tenure_status tenure_reload(struct tenure_group *group, uint32_t shard, uint64_t token);

/* A fenced write of this program was refused (TN001): counts it, stops the shard, and finds out what became
 * of it. BAD_INPUT for a shard out of range or token 0. */
enum tenure_status tenure_rejected(struct tenure_group *group, uint32_t shard, uint64_t token);

/* This node does not get on with the shard (its data cannot be read here, its program refuses it): the work
 * ends here with LOST, and the store gives the shard to another node; to this one again only after a while,
 * or when there is no other. STALE when the shard is not held under this token. */
enum tenure_status tenure_give_up(struct tenure_group *group, uint32_t shard, uint64_t token);

/* The shard's worker gets on with its work. Where the group's `stall-after` is set, a shard that is ready and
 * of which this is not said for so long is given up as above. Cheap: at most ten a second and shard reach the
 * keeper. STALE when the shard is not held under this token. */
enum tenure_status tenure_progress(struct tenure_group *group, uint32_t shard, uint64_t token);

#define TENURE_SEQ_MAX (((uint64_t)1 << 53) - 1) /* exact in JSON */
/* Saves the shard's progress under its token, durable when it returns OK. seq 0: one more than stored; it
 * must grow, or REGRESSED, unless `rewind`. data up to 65536 bytes and seq up to TENURE_SEQ_MAX, else
 * TOO_BIG. STALE: the token is not current; nothing was written. MAYBE: reload. Blocks up to twice the
 * request timeout that the group had when it was joined. *ret_seq (may be NULL): the sequence stored. */
enum tenure_status tenure_checkpoint_save(struct tenure_group *group, uint32_t shard, uint64_t token,
                                          const void *data, size_t size, uint64_t seq, bool rewind,
                                          uint64_t *ret_seq);

/* ---- keys ---- */

uint32_t tenure_group_shards(const struct tenure_group *group);
const char *tenure_group_name(const struct tenure_group *group);
/* Key -> shard, by the group's pinned hash. The empty key is refused: UINT32_MAX. */
uint32_t tenure_shard_of(const struct tenure_group *group, const void *key, size_t size);
/* Is this key mine? The token under which this node holds the key's shard, 0 when it does not; *ret_shard
 * (may be NULL). A table look-up without a clock: between two gates, to choose what to work on; not a
 * permission to write. */
uint64_t tenure_owns(const struct tenure_group *group, const void *key, size_t size, uint32_t *ret_shard);
/* A composite key: length-prefixed parts, so that ("ab","c") and ("a","bc") differ. Returns the length
 * needed. */
size_t tenure_key_join(const void *const *parts, const size_t *sizes, size_t n, void *into, size_t room);
/* Start of the time bucket of width_ms (above 0) that contains the instant; never below INT64_MIN. */
int64_t tenure_key_bucket(int64_t instant_ms, int64_t width_ms);

/* ---- the gates ---- */

/* May I work on the shard under this token, now? Exact: reads the boot clock; right also after a pause or
 * suspend. */
bool tenure_gate_exact(const struct tenure_group *group, uint32_t shard, uint64_t token);
/* The same by the coarse monotonic clock: right at once after a stop signal, up to a tick late, and after a
 * suspend of the whole host right only once the keeper has run. */
bool tenure_gate_quick(const struct tenure_group *group, uint32_t shard, uint64_t token);
/* Exact gate plus in-flight accounting: OK, or NOT_OWNER / MOVING. A handoff and a reload wait for the
 * tenure_leave of every tenure_enter that said OK. */
enum tenure_status tenure_enter(struct tenure_group *group, uint32_t shard, uint64_t token);
void tenure_leave(struct tenure_group *group, uint32_t shard);

/* ---- routing and status ---- */

struct tenure_route {
    uint32_t shard;
    uint64_t token;  /* 0 when unowned */
    char owner[132]; /* node id, "" when unowned */
    char address[260];
    bool mine;
};
/* Who has the shard, by this node's latest view (at most about a second old). NO when unowned. */
enum tenure_status tenure_route_shard(struct tenure_group *group, uint32_t shard,
                                      struct tenure_route *ret_route);

struct tenure_counters {
    uint64_t shards_owned, renewals, renewal_failures, stale_rejected, takeovers, moves_in, moves_out,
        reloads, pauses, store_calls;
};
void tenure_counters(struct tenure *tenure, struct tenure_counters *ret_counters);
/* Of the handle's session; 0 before the first join. */
uint64_t tenure_session(struct tenure *tenure);
const char *tenure_node_id(const struct tenure *tenure);

/* ---- stamps: fencing in SQLite files of your own ---- */

/* Creates tenure_stamp and tenure_fence in the data file (made when missing). Idempotent. Blocks. */
enum tenure_status tenure_stamp_install(const char *path, struct tenure_error *error);
/* Raises the stamp of (group, shard) to `token`: on ASSIGNED, before you read. STALE when the stamp is
 * higher: you are no longer the owner; nothing is lowered. BUSY after limit_ms of a locked file; error text
 * names a process that holds it, if it can be told. */
enum tenure_status tenure_stamp_raise(const char *path, const char *group, uint32_t shard, uint64_t token,
                                      int64_t limit_ms, struct tenure_error *error);

/* ---- effects: what cannot be fenced (an e-mail, a call to a third party) ---- */

struct sqlite3; /* sqlite3.h */

/* The idempotency key of a step of work, for a third party that takes one: "GROUP/SHARD/TOKEN/SEQUENCE", with
 * what is not a letter, a digit, '.', '_' or '-' in the group's name as %XX. Returns the length needed,
 * without the terminator. Another owner of the shard has another token, so this key tells repeats of one
 * owner apart from each other; to recognise what an earlier owner did, take a key of your own data for the
 * claim below. */
size_t tenure_effect_key(const char *group, uint32_t shard, uint64_t token, uint64_t sequence, char *into,
                         size_t room);
/* Inside the caller's open transaction on a data file prepared by tenure_stamp_install: takes the fence, then
 * claims the effect `key` for the shard. OK: nobody did it, it is the caller's: commit, do it, and go on. NO:
 * it was claimed before, by this owner or an earlier one: do not do it again. STALE: no longer the owner;
 * roll back. BAD_INPUT: no transaction is open (a fence in autocommit protects nothing), or not prepared.
 * Rolling back gives the claim up. Whoever crashes between commit and effect leaves it claimed and undone:
 * the effect happens at most once. */
enum tenure_status tenure_effect_claim(struct sqlite3 *db, const char *group, uint32_t shard,
                                       const char *node, uint64_t token, const char *key,
                                       struct tenure_error *error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
