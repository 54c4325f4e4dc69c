/* Lines and turns. */
#include "node.h"

#include <inttypes.h>
#include <stdio.h>

void node_say(const char *event, uint32_t number, uint64_t token)
{
    dprintf(STDOUT_FILENO, "{\"event\":\"%s\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64 "}\n", event, number,
            token);
}

void node_complain(const struct node *node, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", node->name, what, why);
}

/* ---- lines ---- */

/* A line about a shard. Those that are not named here ask for nothing: progress is in the data file, so what
 * becomes of a checkpoint (`saved`, `save_failed`) changes nothing. */
static void on_shard(struct node *node, const char *line)
{
    const uint32_t number = (uint32_t)line_number(line, "shard");
    const uint64_t token = line_number(line, "token");
    if (number >= node->n || !token)
        return;
    const bool current = node->shards[number].token == token;
    if (line_says(line, "event", "assigned"))
        shard_assign(node, number, token);
    else if (line_says(line, "event", "prepare"))
        node_say("prepared", number, token); /* there is nothing to warm up */
    else if (line_says(line, "event", "drain") && current)
        shard_give_back(node, number);
    else if (line_says(line, "event", "lost")) {
        notes_put(&node->notes, "lost", number, token, 0);
        if (current)
            shard_drop(node, number);
    }
}

/* False: the end. */
static bool on_line(struct node *node, const char *line)
{
    if (line_says(line, "event", "shutdown"))
        return false;
    if (!line_says(line, "event", "hello"))
        on_shard(node, line);
    return true;
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
 * lines. */
static int64_t take_turn(struct node *node)
{
    const int64_t now_ms = notes_boot_ms();
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

void node_live(struct node *node)
{
    int64_t wait_ms = 0;
    notes_put(&node->notes, "hello", 0, 0, 0);
    while (!node->lines.ended) {
        lines_read(&node->lines, (int)wait_ms);
        for (const char *line; (line = lines_next(&node->lines));)
            if (!on_line(node, line))
                return;
        wait_ms = take_turn(node);
    }
}
