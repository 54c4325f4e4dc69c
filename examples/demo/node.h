/* The demo's worker in C: the shards of one node, and what it does with each.
 *
 * One thread does everything by turns: first whatever lines wait, then one batch of one shard; so a line
 * waits for one batch at most. shard.c is about one shard (restore, batch, save, give back), node.c about
 * lines and turns. */
#ifndef DEMO_NODE_H
#define DEMO_NODE_H

#include "datafile.h"
#include "lines.h"
#include "notes.h"

#include "tenure/gate_page.h"

#include <stdbool.h>

enum { IDLE_MS = 50 }; /* the longest wait for a line */

enum stage {
    STAGE_AWAY,      /* not ours, or not before the next `assigned` */
    STAGE_RESTORING, /* assigned; the stamp is not raised yet */
    STAGE_WORKING
};

struct shard {
    enum stage stage;
    uint64_t token;
    int64_t next_seq,
        due_ms;            /* the next record, and when it is due after the begin; INT64_MAX: there is none */
    int64_t not_before_ms; /* after a failure: not again before this; boot clock */
};

struct node_options {
    const char *data, *notes;
    long work_ms, inside_ms, batch;
};

struct node {
    const struct node_options *options;
    const char *group, *name;
    const struct tenure_gate_page *gate;
    struct data *data;
    struct notes notes;
    struct shard *shards;
    struct lines lines;
    uint32_t n, turn; /* turn: the shard that comes next */
    int64_t begin_ms; /* the instant from which due times count, boot clock; 0: not given yet */
    int64_t saved_ms; /* when a checkpoint was last saved in passing */
};

/* node.c: until the agent says `shutdown` or is gone. */
void node_live(struct node *node);
/* A line to the agent about a shard: `{"event":EVENT,"shard":..,"token":..}`. */
void node_say(const char *event, uint32_t number, uint64_t token);
void node_complain(const struct node *node, const char *what, const char *why);

/* shard.c */
void shard_assign(struct node *node, uint32_t number, uint64_t token);
/* What is left of an assignment; tried again after a failure. */
void shard_restore(struct node *node, uint32_t number);
void shard_work(struct node *node, uint32_t number);
void shard_give_back(struct node *node, uint32_t number);
void shard_drop(struct node *node, uint32_t number);

#endif
