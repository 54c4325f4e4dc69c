/* Between this folder's own files: the agent's state. Confined to the loop's thread, except where a part says
 * that it has a thread of its own. */
#ifndef TN_AGENT_PARTS_H
#define TN_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/family.h"
#include "agent/log.h"
#include "agent/process.h"
#include "agent/saver.h"
#include "agent/watchdog.h"
#include "agent/worker.h"
#include "base/text.h"
#include "node/node.h"

/* How long a worker may take to end after its last word. */
enum { TN_SHUTDOWN_MS = 5000 };

enum tn_charge_state {
    TN_CHARGE_NONE,     /* not ours, or on its way through a reload */
    TN_CHARGE_ASSIGNED, /* the worker was told, or will be once it runs */
    TN_CHARGE_READY,
    TN_CHARGE_DRAINING, /* the worker was told to finish */
    TN_CHARGE_RELEASED  /* it has finished; the node was told */
};

struct tn_charge {       /* a shard, as far as the worker is concerned */
    uint64_t token;      /* 0: no line about it is answered */
    uint64_t warm_token; /* of the open `prepare` */
    uint32_t saves;      /* checkpoints on their way to the store */
    uint8_t state;       /* enum tn_charge_state */
    bool warming;        /* a `prepare` is open */
    bool released;       /* `released` came while checkpoints were on their way */
};

struct tn_agent_counters {
    uint64_t lines, unparsable, too_long, stale, stray, saved, save_failed, starts, exits;
    uint64_t load_ops, load_bytes, load_ms, touches, progress;
};

struct tn_agent {
    const struct tn_agent_options *options;
    struct tn_log *log;
    struct tenure *tenure;
    struct tenure_group *group;
    struct tn_saver *saver;
    struct tn_watchdog watchdog;
    struct tn_family *family; /* NULL: the store knows no presence */
    int presence;             /* -1: none; inherited by the workers */
    bool expiry_only;         /* as the watchdog was told */
    int64_t lease_ms;
    int epoll, signals;
    struct tn_process_facts facts;
    char gate[64];
    struct tn_text line; /* the line being made */
    uint32_t shards;
    struct tn_charge *charges;  /* one a shard */
    struct tn_worker **workers; /* one, or one a shard; NULL: there was none yet */
    uint32_t workers_n;
    uint64_t next_number;
    struct tn_agent_counters counters;
    int64_t joined_ms;
    uint32_t unready, ready; /* charges that are ASSIGNED, and READY */
    bool ever_assigned, told_ready;
    bool stopping;    /* tenure_stop was called */
    bool stopped;     /* STOPPED came: workers are being ended */
    bool drained;     /* the node is being marked, after its worker failed too often */
    pthread_t giveup; /* that does it; see giveup.h */
    enum tenure_status outcome;
    char reason[256];
};

/* What an epoll event is about: kind in the low byte, a worker's index above it. */
enum tn_source {
    TN_SOURCE_EVENTS,
    TN_SOURCE_SIGNALS,
    TN_SOURCE_SAVER,
    TN_SOURCE_WATCHDOG,
    TN_SOURCE_FAMILY,
    TN_SOURCE_TO,
    TN_SOURCE_FROM
};

/* charge.c: the node's events */
void tn_charge_events(struct tn_agent *agent);
/* The worker's process is gone: what it had goes through reload. */
void tn_charge_orphan(struct tn_agent *agent, const struct tn_worker *worker);
/* Takes an assigned shard back from the worker: `lost`, or the end of a one-shard process. */
void tn_charge_withdraw(struct tn_agent *agent, uint32_t shard, const char *reason);
/* A one-shard process ended with status 0: it is done with the shard here, which goes to another node. */
void tn_charge_finished(struct tn_agent *agent, const struct tn_worker *worker);
/* No process will take the worker's shards any more: stands in for it, so that they can move away. */
void tn_charge_give_up(struct tn_agent *agent, const struct tn_worker *worker);
/* Its process runs: a one-shard process is ready by running. */
void tn_charge_started(struct tn_agent *agent, struct tn_worker *worker);
void tn_charge_set(struct tn_agent *agent, uint32_t shard, enum tn_charge_state state, uint64_t token);

/* answer.c: the workers' lines, and what the saver says */
void tn_answer_line(struct tn_agent *agent, struct tn_worker *worker, const char *line, size_t length);
void tn_answer_saves(struct tn_agent *agent);
void tn_answer_released(struct tn_agent *agent, uint32_t shard);

/* agent.c */
/* The session's presence is (again) what the store holds: for the watchdog and for workers yet to come. */
void tn_agent_take_presence(struct tn_agent *agent);
/* The worker that has the shard, made when there is none. */
struct tn_worker *tn_agent_worker(struct tn_agent *agent, uint32_t shard);
/* Is the shard one of this worker's? */
bool tn_agent_is_of(const struct tn_worker *worker, uint32_t shard);

#endif
