#include "core/plan/plan.h"

#include "base/rng.h"
#include "core/place/average.h"
#include "core/plan/balanced.h"

#include <string.h>

/* The one list. Not an array of pointers: those need relocating, and then core's archive would hold writable
 * data. */
#define STRATEGIES(X)                                                                                        \
    X("balanced", tn_balanced_plan)                                                                          \
    X("average", tn_average_plan)

tn_plan_function *tn_plan_find(const char *name)
{
#define X(known, function)                                                                                   \
    if (strcmp(known, name) == 0)                                                                            \
        return function;
    STRATEGIES(X)
#undef X
    return NULL;
}

const char *tn_plan_name(size_t i)
{
    static const char names[][16] = {
#define X(known, function) known,
        STRATEGIES(X)
#undef X
    };
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

const char *tn_plan_reason_text(enum tn_plan_reason reason)
{
    switch (reason) {
    case TN_REASON_KEPT: return "kept: quota not exceeded";
    case TN_REASON_FIRST: return "first owner";
    case TN_REASON_OWNER_GONE: return "owner gone";
    case TN_REASON_DRAINING: return "owner is draining or has weight 0";
    case TN_REASON_OVER_QUOTA: return "moved: owner was over its quota";
    case TN_REASON_PINNED: return "pinned";
    case TN_REASON_STRATEGY: return "the strategy's choice, whoever had it before";
    case TN_REASON_NO_NODE: return "unassigned: no node takes shards";
    case TN_REASON_POSTPONED: return "kept for now: only recovery was asked for";
    case TN_REASON_COUNT: break;
    }
    return "?";
}

/* FNV-1a, for text; its low bits are weak, so each use is mixed again. */
static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    struct tn_rng first = {a};
    struct tn_rng second = {tn_rng_next(&first) + b};
    return tn_rng_next(&second);
}

/* Nodes and pins are added up, so that no order of them matters and no memory is needed to sort them. */
uint64_t tn_plan_fingerprint(const struct tn_plan_world *world, const char *strategy)
{
    uint64_t nodes = 0;
    for (size_t i = 0; i < world->n_nodes; i++) {
        const struct tn_plan_node *node = &world->nodes[i];
        nodes += mix(text_hash(node->id), node->weight_milli * 2 + node->draining);
    }
    uint64_t pins = 0;
    for (uint32_t shard = 0; world->pins && shard < world->shards; shard++)
        if (world->pins[shard] != TN_PLAN_NONE)
            pins += mix(text_hash(world->nodes[world->pins[shard]].id), shard);
    return mix(mix(nodes, pins), mix(text_hash(strategy), world->shards));
}
