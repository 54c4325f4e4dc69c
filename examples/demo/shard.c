/* One shard in the hands of this node. */
#include "digest.h"
#include "node.h"

#include "tenure/tenure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum {
    raise_limit_ms = 200, /* how long a locked data file may hold up the lines */
    again_ms = 250,       /* after a failure of a data file */
    again_closed_ms = 20, /* after a look at a gate that is closed */
    save_every_ms = 1000  /* a checkpoint now and then, of whichever shard just worked */
};

static struct data_record records[DATA_BATCH_MAX];

static void put(const struct node *node, const char *what, uint32_t number)
{
    notes_put(&node->notes, what, number, node->shards[number].token, 0);
}

void shard_drop(struct node *node, uint32_t number)
{
    node->shards[number].stage = STAGE_AWAY;
    data_close(node->data, number);
}

/* ---- it comes ---- */

void shard_assign(struct node *node, uint32_t number, uint64_t token)
{
    node->shards[number] = (struct shard){.stage = STAGE_RESTORING, .token = token};
    put(node, "assigned", number);
    shard_restore(node, number);
}

/* Raise the stamp, then read, then say ready: in this order nothing that an earlier owner still writes can be
 * missed. */
void shard_restore(struct node *node, uint32_t number)
{
    struct shard *shard = &node->shards[number];
    struct tenure_error error;
    const enum tenure_status raised = tenure_stamp_raise(data_path(node->data, number), node->group, number,
                                                         shard->token, raise_limit_ms, &error);
    if (raised == TENURE_STALE) {
        put(node, "stale_raise", number);
        shard_drop(node, number); /* somebody later has it: `lost` is on its way */
        return;
    }
    if (raised != TENURE_OK ||
        data_progress(node->data, number, &shard->next_seq, &shard->due_ms) != DATA_OK) {
        node_complain(node, "restore", raised != TENURE_OK ? error.text : data_error(node->data));
        shard->not_before_ms = notes_boot_ms() + again_ms;
        return;
    }
    shard->stage = STAGE_WORKING;
    put(node, "ready", number);
    node_say("ready", number, shard->token);
}

/* ---- its checkpoint, and how it goes ---- */

/* For people and for other programs: the truth is in the data file, where progress changes together with the
 * results. The agent saves it before the shard goes, whatever is said after it. */
static void save(struct node *node, uint32_t number)
{
    const struct shard *shard = &node->shards[number];
    dprintf(STDOUT_FILENO,
            "{\"event\":\"checkpoint\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64
            ",\"data\":\"next_seq=%" PRId64 "\"}\n",
            number, shard->token, shard->next_seq);
    node->saved_ms = notes_boot_ms();
}

/* After a write that may or may not have happened. */
static void reload(struct node *node, uint32_t number)
{
    put(node, "reload", number);
    node_say("reload", number, node->shards[number].token);
    shard_drop(node, number); /* `assigned` comes again, under a raised token */
}

static void save_in_passing(struct node *node, uint32_t number)
{
    if (notes_boot_ms() - node->saved_ms >= save_every_ms)
        save(node, number);
}

/* No batch is under way when lines are read: what is left is to save. */
void shard_give_back(struct node *node, uint32_t number)
{
    const struct shard *shard = &node->shards[number];
    put(node, "drain", number);
    if (shard->stage == STAGE_WORKING)
        save(node, number);
    put(node, "released", number);
    node_say("released", number, shard->token);
    shard_drop(node, number);
}

/* ---- a batch ---- */

static void pass_time(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

struct inside {
    struct node *node;
    uint32_t number;
};

static void when_inside(void *context)
{
    const struct inside *inside = context;
    put(inside->node, "inside", inside->number);
    pass_time(inside->node->options->inside_ms);
}

static enum data_outcome store(struct node *node, uint32_t number, int n)
{
    struct inside inside = {.node = node, .number = number};
    const struct data_writer writer = {.group = node->group,
                                       .node = node->name,
                                       .token = node->shards[number].token,
                                       .now_ms = notes_boot_ms(),
                                       .inside = node->options->inside_ms ? when_inside : NULL,
                                       .context = &inside};
    return data_store(node->data, number, &writer, records, n);
}

/* Read, compute, visible work time, one fenced transaction. *ret_done: results committed. */
static enum data_outcome batch(struct node *node, uint32_t number, int *ret_done)
{
    struct shard *shard = &node->shards[number];
    int n;
    *ret_done = 0;
    enum data_outcome outcome =
        data_due(node->data, number, shard->next_seq, notes_boot_ms() - node->begin_ms, records,
                 (int)node->options->batch, &n);
    if (outcome != DATA_OK || n == 0)
        return outcome;
    for (int i = 0; i < n; i++)
        digest_record(&records[i]);
    put(node, "computed", number);
    pass_time(node->options->work_ms);
    outcome = store(node, number, n);
    if (outcome != DATA_OK)
        return outcome;
    *ret_done = n;
    shard->next_seq = records[n - 1].seq + 1;
    return data_progress(node->data, number, &shard->next_seq, &shard->due_ms);
}

static void after_batch(struct node *node, uint32_t number, enum data_outcome outcome)
{
    switch (outcome) {
    case DATA_OK: save_in_passing(node, number); break;
    case DATA_STALE:
        put(node, "stale", number);
        node_complain(node, "refused by the fence", data_error(node->data));
        node_say("rejected", number, node->shards[number].token);
        shard_drop(node, number);
        break;
    case DATA_FAILED:
        node_complain(node, "batch", data_error(node->data));
        node->shards[number].not_before_ms = notes_boot_ms() + again_ms;
        break;
    case DATA_UNKNOWN:
        node_complain(node, "commit", data_error(node->data));
        reload(node, number);
        break;
    }
}

/* One step of work begins only where the gate says yes; from there on the fence protects it, not the gate. */
void shard_work(struct node *node, uint32_t number)
{
    struct shard *shard = &node->shards[number];
    if (!tenure_gate_open(node->gate, number, shard->token)) {
        shard->not_before_ms = notes_boot_ms() + again_closed_ms; /* a line says why, or it opens soon */
        return;
    }
    int done;
    put(node, "start", number);
    const enum data_outcome outcome = batch(node, number, &done);
    notes_put(&node->notes, "end", number, shard->token, done); /* before the shard may go to another */
    after_batch(node, number, outcome);
}
