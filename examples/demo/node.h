/* One worker node of the demo: its shards, and what it does with each.
 *
 * One thread does everything by turns: first whatever events wait, then one batch of one shard; so an event
 * waits for one batch at most. shard.c is about one shard (restore, batch, save, give back), node.c about
 * whose turn it is. */
#ifndef DEMO_NODE_H
#define DEMO_NODE_H

#include "datafile.h"
#include "notes.h"

#include "tenure/tenure.h"

#include <signal.h>
#include <stdbool.h>

enum { IDLE_MS = 50 }; /* the longest sleep: a signal waits no longer */

enum stage {
    STAGE_AWAY,      /* not ours, or not before the next ASSIGNED */
    STAGE_RESTORING, /* assigned; the stamp is not raised yet */
    STAGE_WORKING
};

struct shard {
    enum stage stage;
    uint64_t token;
    int64_t next_seq,
        due_ms;            /* the next record, and when it is due after the begin; INT64_MAX: there is none */
    int64_t not_before_ms; /* after a failure: not again before this; Unix ms */
};

struct node_options {
    const char *store, *group, *node, *data, *notes;
    long work_ms, batch;
};

struct node {
    const struct node_options *options;
    struct tenure *tenure;
    struct tenure_group *group;
    struct data *data;
    struct notes notes;
    struct shard *shards;
    uint32_t n, turn; /* turn: the shard that comes next */
    int64_t begin_ms; /* the instant from which due times count, Unix ms; 0: not given yet */
    int64_t saved_ms; /* when a checkpoint was last saved in passing */
    bool stopping;
};

/* node.c: until the session is over; *stop_wanted asks for a clean leave. How it ended, as the STOPPED event
 * says it. */
enum tenure_status node_live(struct node *node, const volatile sig_atomic_t *stop_wanted);
void node_complain(const struct node *node, const char *what, const char *why);

/* shard.c */
void shard_assign(struct node *node, uint32_t number, uint64_t token);
void shard_restore(struct node *node,
                   uint32_t number); /* what is left of an assignment; tried again after a failure */
void shard_work(struct node *node, uint32_t number);
void shard_give_back(struct node *node, uint32_t number);
void shard_drop(struct node *node, uint32_t number);

#endif
