/* The smallest complete worker: joins a group, works on the shards that it is given, gives them back when
 * asked.
 *
 *     worker [GROUP [NODE]]     else TENURE_GROUP and TENURE_NODE; the store is TENURE_STORE
 *
 * Its work is to count. The count of a shard is its checkpoint, so it goes on where the last owner stopped,
 * whichever node that was. Each line on standard output is a JSON object. Exit status: 0 after a clean leave,
 * 5 when shards had to be given up, 4 when another process took over the node id; otherwise as the table in
 * tenure/status.h says. */
#include "tenure/tenure.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { turn_ms = 50, save_every = 20, leave_limit_ms = 10000 };

struct shard {
    uint64_t token; /* that it is served under here; 0: it is not */
    uint64_t count;
};

static volatile sig_atomic_t stop_wanted;

static void on_signal(int number)
{
    (void)number;
    stop_wanted = 1;
}

static void say(const char *what, uint32_t shard, uint64_t token, uint64_t count)
{
    printf("{\"what\":\"%s\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64 ",\"count\":%" PRIu64 "}\n", what,
           shard, token, count);
    fflush(stdout);
}

/* Under the shard's token: once another node has the shard this changes nothing and says STALE. */
static void save(struct tenure_group *group, uint32_t number, struct shard *shard)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%" PRIu64, shard->count);
    switch (tenure_checkpoint_save(group, number, shard->token, text, (size_t)length, 0, false, NULL)) {
    case TENURE_OK: say("saved", number, shard->token, shard->count); break;
    case TENURE_STALE: /* LOST follows, or has come already */
        say("stale", number, shard->token, shard->count);
        shard->token = 0;
        break;
    case TENURE_MAYBE: /* it may still land: a raised token shuts it out; ASSIGNED comes again */
        tenure_reload(group, number, shard->token);
        shard->token = 0;
        break;
    default: break; /* the store is away: the next save brings it up to date */
    }
}

/* One piece of work. Between enter and leave the shard cannot be handed over. */
static void work(struct tenure_group *group, uint32_t number, struct shard *shard)
{
    if (tenure_enter(group, number, shard->token) != TENURE_OK)
        return; /* an event says why */
    shard->count++;
    tenure_leave(group, number);
    if (shard->count % save_every == 0)
        save(group, number, shard);
}

static void on_assigned(const struct tenure_event *event, struct shard *shard)
{
    char text[32] = "";
    if (event->checkpoint && event->checkpoint_size < sizeof text)
        memcpy(text, event->checkpoint, event->checkpoint_size);
    shard->count = strtoull(text, NULL, 10);
    /* A worker that writes to a database of its own raises its stamp to the token here, before it reads. */
    if (tenure_ready(event->group, event->shard, event->token) == TENURE_OK)
        shard->token = event->token;
    say("ready", event->shard, event->token, shard->count);
}

static void on_event(const struct tenure_event *event, struct shard *shards)
{
    struct shard *shard = &shards[event->shard]; /* 0 in an event that is not about a shard */
    switch (event->kind) {
    case TENURE_EVENT_PREPARE: tenure_prepared(event->group, event->shard); break;
    case TENURE_EVENT_ASSIGNED: on_assigned(event, shard); break;
    case TENURE_EVENT_DRAIN:
        if (shard->token == event->token)
            save(event->group, event->shard, shard);
        shard->token = 0;
        tenure_released(event->group, event->shard, event->token);
        say("released", event->shard, event->token, shard->count);
        break;
    case TENURE_EVENT_LOST:
        if (shard->token == event->token)
            shard->token = 0;
        say("lost", event->shard, event->token, shard->count);
        break;
    case TENURE_EVENT_JOINED: say("joined", 0, event->token, 0); break;
    case TENURE_EVENT_ENDED: say("ended", 0, 0, 0); break;
    default: break;
    }
}

/* Events first, then a turn of work; until STOPPED. Returns how that went. */
static enum tenure_status live(struct tenure *tenure, struct tenure_group *group, struct shard *shards)
{
    bool stopping = false;
    for (;;) {
        struct tenure_event event;
        while (tenure_next(tenure, turn_ms, &event) == TENURE_OK) {
            if (event.kind == TENURE_EVENT_STOPPED)
                return event.status;
            on_event(&event, shards);
        }
        if (stop_wanted && !stopping) {
            stopping = true;
            tenure_stop(tenure, leave_limit_ms);
        }
        for (uint32_t i = 0; i < tenure_group_shards(group); i++)
            if (shards[i].token)
                work(group, i, &shards[i]);
    }
}

static int fail(const struct tenure_error *error)
{
    fprintf(stderr, "worker: %s\n", error->text);
    return tenure_status_exit(error->status);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : getenv("TENURE_GROUP");
    if (!name) {
        fprintf(stderr, "usage: worker GROUP [NODE]   (or TENURE_GROUP, TENURE_NODE; store: TENURE_STORE)\n");
        return 2;
    }
    struct tenure_options options;
    tenure_options_init(&options);
    options.node_id = argc > 2 ? argv[2] : getenv("TENURE_NODE"); /* NULL: a fresh one */
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);

    struct tenure *tenure;
    struct tenure_group *group;
    struct tenure_error error;
    if (tenure_open(&options, &tenure, &error) != TENURE_OK)
        return fail(&error);
    if (tenure_join(tenure, name, &group, &error) != TENURE_OK) {
        tenure_close(tenure);
        return fail(&error);
    }
    struct shard *shards = calloc(tenure_group_shards(group), sizeof *shards);
    const enum tenure_status status = shards ? live(tenure, group, shards) : TENURE_NO_MEMORY;
    free(shards);
    tenure_close(tenure);
    return tenure_status_exit(status);
}
