/* The agent: `tenure run`. A node whose application is one or more processes in any language, which speak the
 * worker line protocol (docs/WORKERS.md).
 *
 * It joins the group, starts the command, turns the node's events into lines and the worker's lines into
 * answers, saves checkpoints, restarts what crashes, and at SIGTERM or SIGINT drains, leaves and ends. All of
 * it but the saving happens in one loop on the calling thread, which never waits for a worker or for the
 * store; the keeper is another thread (node/node.h) and waits for neither. */
#ifndef TN_AGENT_AGENT_H
#define TN_AGENT_AGENT_H

#include "tenure/tenure.h"

#include <stdbool.h>
#include <stdint.h>

struct tn_agent_options {
    const char *store, *group;                   /* borrowed, like all texts here */
    const char *node_id, *address, *labels_json; /* NULL: as tenure_options */
    uint64_t weight_milli;
    bool replace, per_shard, log_json;
    enum tenure_log_level log_level;
    int64_t drain_limit_ms; /* how long a stop may take before shards are given up */
    int64_t stuck_after_ms; /* a worker that takes no bytes for so long is killed */
    char *const *command;   /* NULL-terminated, at least one word */
};

/* Runs until it is told to stop, is replaced, or fails. OK after a clean leave; REFUSED: the drain limit
 * forced shards away; REPLACED; else what went wrong, with `error` filled. To be called once, from the main
 * thread of a process without other threads or children: it takes over the signals and all children. */
enum tenure_status tn_agent_run(const struct tn_agent_options *options, struct tenure_error *error);

#endif
