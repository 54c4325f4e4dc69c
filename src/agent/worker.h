/* One worker: a command that is kept running, with its lines in both directions.
 *
 * The life of its process: DOWN (waits for the time of its next start), UP, ENDING (killed, not yet reaped).
 * Lines put while it is not up wait for the next process, which reads `hello` first.
 *
 * Rules: a process that ends by itself is a crash. The next start comes after 0.1 s, doubled at each crash up
 * to 10 s, and 0.1 s again once it ran for 10 s. After the fifth crash within a minute the worker is given
 * up: its shards go and its node is drained, but starts go on, so that the log shows whether it works again.
 * A process is killed and counts as crashed when it closes its output or its input, when it takes no bytes
 * for `stuck_after_ms` though lines wait, or when more waits than 16 MiB and 512 KiB a shard. It is not read
 * from while 1 MiB of answers or 256 checkpoints of its own wait. Confined to the loop. */
#ifndef TN_AGENT_WORKER_H
#define TN_AGENT_WORKER_H

#include "agent/line.h"
#include "agent/outbox.h"
#include "agent/process.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct tn_agent;

enum tn_worker_state { TN_WORKER_DOWN, TN_WORKER_UP, TN_WORKER_ENDING };

enum { TN_WORKER_CRASHES = 5 };

struct tn_worker {
    struct tn_agent *agent;
    uint32_t index;  /* in the agent's table */
    int64_t shard;   /* of a one-shard worker; -1: all */
    uint64_t token;  /* of a one-shard worker: that the process was started for */
    uint64_t number; /* of the process; never used twice */
    enum tn_worker_state state;
    struct tn_process process;
    struct tn_outbox outbox;
    struct tn_line_reader reader;
    uint32_t saves; /* checkpoints of this process on their way */
    bool wanted;    /* to be started (again) */
    bool given_up;
    bool expected;    /* its end was asked for: not a crash */
    bool terminated;  /* it got SIGTERM */
    bool told_jobs;   /* the log has it that jobs are not in this version */
    bool last_line;   /* close its input once the outbox is empty */
    bool watching_to; /* epoll looks at `to` */
    bool watching_from;
    int64_t closed_ms; /* its output ended then, and its process may be about to; 0: not */
    int64_t started_ms, start_at_ms, kill_at_ms, backoff_ms, complained_ms;
    int64_t crashes_ms[TN_WORKER_CRASHES]; /* the last ones, newest first; 0 none */
};

struct tn_worker *tn_worker_new(struct tn_agent *agent, uint32_t index, int64_t shard);
void tn_worker_free(struct tn_worker *worker);
/* Queues the agent's line of this moment (agent->line). */
void tn_worker_put(struct tn_worker *worker);
/* To be started when it is not up, now or when its backoff allows. */
void tn_worker_want(struct tn_worker *worker, uint64_t token);
/* A one-shard worker that was given up more than a minute ago gets another chance. */
void tn_worker_forgive(struct tn_worker *worker);
/* Its process is to end without being started again: SIGKILL now, or at `kill_at_ms`. */
void tn_worker_end(struct tn_worker *worker, int64_t kill_at_ms);
/* `shutdown` with this much time, then end of input, then SIGKILL. */
void tn_worker_shut_down(struct tn_worker *worker, int64_t limit_ms);
/* SIGTERM, once. */
void tn_worker_terminate(struct tn_worker *worker);
/* wire.c: something came, or room came. */
void tn_worker_receive(struct tn_worker *worker);
void tn_worker_send(struct tn_worker *worker);
/* Reads once. False: there was nothing, or it has ended, as *ret_end says. */
bool tn_worker_read(struct tn_worker *worker, bool *ret_end);
/* Asks epoll for what the worker's state makes of interest. */
void tn_worker_watch(struct tn_worker *worker);
/* Found wanting: killed, and started again as if it had crashed. */
void tn_worker_crash(struct tn_worker *worker, const char *why);
/* What is due by now; returns when to be called again (boot clock, INT64_MAX: not by the clock). */
int64_t tn_worker_tick(struct tn_worker *worker, int64_t now_ms);
/* Its process is a zombie; call before it is reaped. `status` as of waitid. */
void tn_worker_exited(struct tn_worker *worker, int code, int status);

#endif
