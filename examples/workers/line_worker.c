/* A worker for `tenure run`, in C, with nothing but the C library and the gate page's header.
 *
 *     tenure run --group orders -- ./line_worker
 *
 * Its work is to count; the count of a shard is its checkpoint. It polls its input between steps, and asks
 * the gate page before each. A worker that links libtenure is examples/worker.c. */
#include "tenure/gate_page.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { step_ms = 50, save_every = 100, line_room = 512 * 1024 };

struct shard {
    uint64_t token; /* 0: not ours */
    uint64_t count;
};

static struct shard *shards;
static uint32_t shards_n;

/* The agent's lines are compact, and a quote inside of a text is escaped: `"name":` is found only where it is
 * a name. */
static const char *find(const char *line, const char *name)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : "";
}

static uint64_t number(const char *line, const char *name)
{
    return strtoull(find(line, name), NULL, 10);
}

static int is(const char *line, const char *event)
{
    const char *at = find(line, "event");
    return *at == '"' && !strncmp(at + 1, event, strlen(event)) && at[1 + strlen(event)] == '"';
}

static void say(const char *event, uint32_t shard, uint64_t token)
{
    printf("{\"event\":\"%s\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64 "}\n", event, shard, token);
}

static void save(uint32_t number_of, const struct shard *shard)
{
    printf("{\"event\":\"checkpoint\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64 ",\"data\":\"%" PRIu64
           "\"}\n",
           number_of, shard->token, shard->count);
}

static void on_assigned(const char *line, uint32_t at, uint64_t token)
{
    const char *checkpoint = find(line, "checkpoint");
    shards[at].token = token;
    shards[at].count = *checkpoint == '"' ? strtoull(checkpoint + 1, NULL, 10) : 0;
    /* a worker with a database of its own raises its stamp here, before it reads */
    say("ready", at, token);
}

/* 0: end. */
static int on_line(const char *line)
{
    const uint32_t at = (uint32_t)number(line, "shard");
    const uint64_t token = number(line, "token");
    if (is(line, "hello")) {
        shards_n = (uint32_t)number(line, "shards");
        shards = calloc(shards_n, sizeof *shards);
        return shards != NULL;
    }
    if (is(line, "shutdown"))
        return 0;
    if (at >= shards_n)
        return 1;
    if (is(line, "assigned")) {
        on_assigned(line, at, token);
    } else if (is(line, "prepare")) {
        say("prepared", at, token);
    } else if (is(line, "drain") && shards[at].token == token) {
        save(at, &shards[at]);
        shards[at].token = 0;
        say("released", at, token);
    } else if (is(line, "lost") && shards[at].token == token) {
        shards[at].token = 0;
    }
    return 1;
}

/* What has come within wait_ms; 0: end. */
static int take_lines(int wait_ms)
{
    static char room[line_room];
    static size_t length;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, wait_ms) <= 0)
        return 1;
    const ssize_t n = read(STDIN_FILENO, room + length, sizeof room - length - 1);
    if (n <= 0)
        return 0; /* the agent is gone */
    length += (size_t)n;
    room[length] = 0;
    char *line = room;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (!on_line(line))
            return 0;
    }
    length -= (size_t)(line - room);
    memmove(room, line, length);
    return 1;
}

static int64_t now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

int main(void)
{
    const struct tenure_gate_page *gate = tenure_gate_map(getenv("TENURE_GATE"));
    if (!gate) {
        fprintf(stderr, "line_worker: no gate page: to be started by `tenure run`\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int64_t stepped_ms = 0;
    while (take_lines(step_ms)) {
        if (now_ms() - stepped_ms < step_ms)
            continue;
        stepped_ms = now_ms();
        for (uint32_t i = 0; i < shards_n; i++) {
            if (!tenure_gate_open(gate, i, shards[i].token))
                continue;
            shards[i].count++; /* the work */
            if (shards[i].count % save_every == 0)
                save(i, &shards[i]);
        }
    }
    free(shards);
    return 0;
}
