/* Events and turns. */
#include "node.h"

#include <inttypes.h>
#include <stdio.h>

enum { leave_limit_ms = 30000, leave_more_ms = 20 /* a shard */ };

void node_complain(const struct node *node, const char *what, const char *why)
{
    fprintf(stderr, "%" PRId64 " %s: %s: %s\n", notes_unix_ms(), node->options->node, what, why);
}

/* ---- events ---- */

static void on_event(struct node *node, const struct tenure_event *event)
{
    const uint32_t number = event->shard;
    const struct shard *shard = &node->shards[number];
    switch (event->kind) {
    case TENURE_EVENT_PREPARE: tenure_prepared(node->group, number); break;
    case TENURE_EVENT_ASSIGNED: shard_assign(node, number, event->token); break;
    case TENURE_EVENT_DRAIN:
        if (shard->token == event->token)
            shard_give_back(node, number);
        break;
    case TENURE_EVENT_LOST:
        notes_put(&node->notes, "lost", number, event->token, 0);
        if (shard->token == event->token)
            shard_drop(node, number);
        break;
    case TENURE_EVENT_JOINED: notes_put(&node->notes, "joined", 0, event->token, 0); break;
    case TENURE_EVENT_ENDED:
        notes_put(&node->notes, "ended", 0, 0, 0);
        node_complain(node, "the session was ended", event->reason);
        break;
    default: break;
    }
}

static void look_for_stop(struct node *node, const volatile sig_atomic_t *stop_wanted)
{
    if (!*stop_wanted || node->stopping)
        return;
    node->stopping = true;
    notes_put(&node->notes, "stopping", 0, 0, 0);
    tenure_stop(node->tenure, leave_limit_ms + (int64_t)node->n * leave_more_ms);
}

/* ---- turns ---- */

/* The demo writes the begin once every shard is served. */
static void look_for_begin(struct node *node)
{
    char path[PATH_MAX];
    long long begin_ms;
    snprintf(path, sizeof path, "%s/begin", node->options->data);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fscanf(file, "%lld", &begin_ms) == 1)
        node->begin_ms = begin_ms;
    fclose(file);
}

/* When the shard has something to do; INT64_MAX: not as things stand. */
static int64_t next_ms(const struct node *node, const struct shard *shard)
{
    if (shard->stage == STAGE_RESTORING)
        return shard->not_before_ms;
    if (shard->stage == STAGE_AWAY || !node->begin_ms || shard->due_ms == INT64_MAX)
        return INT64_MAX;
    const int64_t due_ms = node->begin_ms + shard->due_ms;
    return due_ms > shard->not_before_ms ? due_ms : shard->not_before_ms;
}

/* One turn of one shard, the next in the circle that has something to do. Returns how long to wait for
 * events. */
static int64_t take_turn(struct node *node)
{
    const int64_t now_ms = notes_unix_ms();
    int64_t soonest_ms = now_ms + IDLE_MS;
    if (!node->begin_ms)
        look_for_begin(node);
    for (uint32_t i = 0; i < node->n; i++) {
        const uint32_t number = (node->turn + i) % node->n;
        const struct shard *shard = &node->shards[number];
        const int64_t at_ms = next_ms(node, shard);
        if (at_ms <= now_ms) {
            node->turn = number + 1;
            (shard->stage == STAGE_RESTORING ? shard_restore : shard_work)(node, number);
            return 0;
        }
        if (at_ms < soonest_ms)
            soonest_ms = at_ms;
    }
    return soonest_ms - now_ms;
}

enum tenure_status node_live(struct node *node, const volatile sig_atomic_t *stop_wanted)
{
    int64_t wait_ms = 0;
    for (;;) {
        struct tenure_event event;
        for (; tenure_next(node->tenure, wait_ms, &event) == TENURE_OK; wait_ms = 0) {
            if (event.kind == TENURE_EVENT_STOPPED) {
                notes_put(&node->notes, "stopped", 0, 0, 0);
                return event.status;
            }
            on_event(node, &event);
        }
        look_for_stop(node, stop_wanted);
        wait_ms = take_turn(node);
    }
}
