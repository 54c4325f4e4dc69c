/* One shard in the hands of this node. */
#include "digest.h"
#include "node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum {
    raise_limit_ms = 200, /* how long a locked data file may hold up the events */
    again_ms = 250,       /* after a failure of a data file */
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
    shard_restore(node, number);
}

/* Raise the stamp, then read, then open the gate: in this order nothing that an earlier owner still writes
 * can be missed. */
void shard_restore(struct node *node, uint32_t number)
{
    struct shard *shard = &node->shards[number];
    struct tenure_error error;
    const enum tenure_status raised = tenure_stamp_raise(data_path(node->data, number), node->options->group,
                                                         number, shard->token, raise_limit_ms, &error);
    if (raised == TENURE_STALE) {
        put(node, "stale_raise", number);
        shard_drop(node, number); /* somebody later has it: LOST is on its way */
        return;
    }
    if (raised != TENURE_OK ||
        data_progress(node->data, number, &shard->next_seq, &shard->due_ms) != DATA_OK) {
        node_complain(node, "restore", raised != TENURE_OK ? error.text : data_error(node->data));
        shard->not_before_ms = notes_unix_ms() + again_ms;
        return;
    }
    if (tenure_ready(node->group, number, shard->token) != TENURE_OK) {
        shard_drop(node, number);
        return;
    }
    shard->stage = STAGE_WORKING;
    put(node, "ready", number);
}

/* ---- its checkpoint, and how it goes ---- */

/* For people and for other programs: the truth is in the data file, where progress changes together with the
 * results. */
static enum tenure_status save(struct node *node, uint32_t number)
{
    const struct shard *shard = &node->shards[number];
    char text[48];
    const int length = snprintf(text, sizeof text, "next_seq=%" PRId64, shard->next_seq);
    const enum tenure_status status =
        tenure_checkpoint_save(node->group, number, shard->token, text, (size_t)length, 0, false, NULL);
    if (status != TENURE_OK)
        node_complain(node, "checkpoint", tenure_status_sentence(status));
    return status;
}

/* After a write that may or may not have happened. */
static void reload(struct node *node, uint32_t number)
{
    put(node, "reload", number);
    tenure_reload(node->group, number, node->shards[number].token);
    shard_drop(node, number); /* ASSIGNED comes again, under a raised token */
}

static void save_in_passing(struct node *node, uint32_t number)
{
    const int64_t now_ms = notes_unix_ms();
    if (now_ms - node->saved_ms < save_every_ms)
        return;
    node->saved_ms = now_ms;
    switch (save(node, number)) {
    case TENURE_STALE: shard_drop(node, number); break;
    case TENURE_MAYBE: reload(node, number); break;
    default: break;
    }
}

/* No batch is under way when events are read: what is left is to save. */
void shard_give_back(struct node *node, uint32_t number)
{
    const struct shard *shard = &node->shards[number];
    put(node, "drain", number);
    if (shard->stage == STAGE_WORKING && save(node, number) == TENURE_MAYBE) {
        reload(node, number);
        return;
    }
    put(node, "released", number);
    shard_drop(node, number);
    tenure_released(node->group, number, shard->token);
}

/* ---- a batch ---- */

static void work_time(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* Between the gates: read, compute, visible work time, one fenced transaction. *ret_done: results committed.
 */
static enum data_outcome batch(struct node *node, uint32_t number, int *ret_done)
{
    struct shard *shard = &node->shards[number];
    int n;
    *ret_done = 0;
    enum data_outcome outcome =
        data_due(node->data, number, shard->next_seq, notes_unix_ms() - node->begin_ms, records,
                 (int)node->options->batch, &n);
    if (outcome != DATA_OK || n == 0)
        return outcome;
    for (int i = 0; i < n; i++)
        digest_record(&records[i]);
    work_time(node->options->work_ms);
    const struct data_writer writer = {.group = node->options->group,
                                       .node = node->options->node,
                                       .token = shard->token,
                                       .now_ms = notes_unix_ms()};
    outcome = data_store(node->data, number, &writer, records, n);
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
        shard_drop(node, number);
        break;
    case DATA_FAILED:
        node_complain(node, "batch", data_error(node->data));
        node->shards[number].not_before_ms = notes_unix_ms() + again_ms;
        break;
    case DATA_UNKNOWN:
        node_complain(node, "commit", data_error(node->data));
        reload(node, number);
        break;
    }
}

void shard_work(struct node *node, uint32_t number)
{
    struct shard *shard = &node->shards[number];
    if (tenure_enter(node->group, number, shard->token) != TENURE_OK) {
        shard->not_before_ms = notes_unix_ms() + IDLE_MS; /* an event says why */
        return;
    }
    int done;
    put(node, "start", number);
    const enum data_outcome outcome = batch(node, number, &done);
    notes_put(&node->notes, "end", number, shard->token, done); /* before the shard may go to another */
    tenure_leave(node->group, number);
    after_batch(node, number, outcome);
}
