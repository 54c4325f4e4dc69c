/* Small worlds made by hand: nodes named in a text, a plan made and carried over into the next one. */
#ifndef TEST_MADE_WORLD_H
#define TEST_MADE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/plan/balanced.h"
#include "core/plan/plan.h"

enum { MADE_NODES = 100, MADE_SHARDS = 512, MADE_ID = 16 };

struct made {
    struct tn_arena arena;
    char ids[MADE_NODES][MADE_ID];
    struct tn_plan_node nodes[MADE_NODES];
    int32_t previous[MADE_SHARDS];
    uint8_t orphan[MADE_SHARDS];
    uint8_t sticky[MADE_SHARDS];
    int32_t pins[MADE_SHARDS];
    struct tn_plan_world world;
    struct tn_plan_result result;
};

static inline void made_add(struct made *made, const char *id)
{
    const size_t i = made->world.n_nodes++;
    assert_true(i < MADE_NODES && strlen(id) < MADE_ID);
    memcpy(made->ids[i], id, strlen(id) + 1);
    made->nodes[i] = (struct tn_plan_node){.id = made->ids[i], .weight_milli = 1000};
}

/* `ids` has one letter a node. */
static inline void made_init(struct made *made, const char *ids, uint32_t shards)
{
    memset(made, 0, sizeof *made);
    tn_arena_init(&made->arena);
    made->world.nodes = made->nodes;
    made->world.shards = shards;
    made->world.previous = made->previous;
    made->world.orphan = made->orphan;
    made->world.sticky = made->sticky;
    made->world.pins = made->pins;
    for (uint32_t shard = 0; shard < MADE_SHARDS; shard++)
        made->previous[shard] = made->pins[shard] = TN_PLAN_NONE;
    for (; *ids; ids++)
        made_add(made, (const char[]){*ids, 0});
}

static inline void made_done(struct made *made)
{
    tn_arena_done(&made->arena);
}

static inline int32_t made_find(const struct made *made, const char *id)
{
    for (size_t i = 0; i < made->world.n_nodes; i++)
        if (strcmp(made->nodes[i].id, id) == 0)
            return (int32_t)i;
    fail_msg("no node %s", id);
    return TN_PLAN_NONE;
}

static inline void made_own(struct made *made, const char *id, uint32_t first, uint32_t n)
{
    for (uint32_t shard = first; shard < first + n; shard++)
        made->previous[shard] = made_find(made, id);
}

/* The node dies: it leaves the list, its shards are orphans, and later nodes move up in the list. */
static inline void made_lose(struct made *made, const char *id)
{
    const int32_t gone = made_find(made, id);
    const size_t last = --made->world.n_nodes;
    for (size_t i = (size_t)gone; i < last; i++) {
        memcpy(made->ids[i], made->ids[i + 1], MADE_ID);
        made->nodes[i] = made->nodes[i + 1];
        made->nodes[i].id = made->ids[i];
    }
    for (uint32_t shard = 0; shard < made->world.shards; shard++) {
        made->orphan[shard] = made->previous[shard] == gone;
        if (made->previous[shard] == gone)
            made->previous[shard] = TN_PLAN_NONE;
        made->previous[shard] -= made->previous[shard] > gone;
    }
}

static inline size_t made_plan(struct made *made)
{
    struct tenure_error error = {0};
    tn_arena_reset(&made->arena);
    if (tn_balanced_plan(&made->world, &made->arena, &made->result, &error) != TENURE_OK)
        fail_msg("%s", error.text);
    return made->result.moves;
}

/* Carries the plan out: it is the previous one from now on. */
static inline void made_carry(struct made *made)
{
    memcpy(made->previous, made->result.assignment, made->world.shards * sizeof *made->previous);
    memset(made->orphan, 0, sizeof made->orphan);
}

static inline uint32_t made_count(const struct made *made, int32_t node)
{
    uint32_t count = 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        count += made->result.assignment[shard] == node;
    return count;
}

/* Counts of the plan in the order of the list: "51 51 52". */
static inline void made_expect_counts(const struct made *made, const char *expected)
{
    char text[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < made->world.n_nodes; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "",
                                 made_count(made, (int32_t)i));
    assert_string_equal(text, expected);
}

/* Shards of the plan that were with `id` before and are elsewhere now. */
static inline uint32_t made_taken_from(const struct made *made, const char *id)
{
    const int32_t node = made_find(made, id);
    uint32_t taken = 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        taken += made->previous[shard] == node && made->result.assignment[shard] != node;
    return taken;
}

static inline uint32_t made_reasons(const struct made *made, enum tn_plan_reason reason)
{
    uint32_t count = 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        count += made->result.reason[shard] == reason;
    return count;
}

#endif
