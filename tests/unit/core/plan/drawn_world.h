/* Small worlds drawn at random. */
#ifndef TEST_DRAWN_WORLD_H
#define TEST_DRAWN_WORLD_H

#include "made_world.h"

#include "base/rng.h"

enum { LAW_NODES = 8, RANDOM_WORLDS = 25000, SEED = 20240607 };

static inline void draw_shards(struct made *made, struct tn_rng *rng)
{
    const uint64_t n = made->world.n_nodes;
    const uint64_t crowded = 1 + tn_rng_below(rng, n); /* worlds where few own all are the interesting ones */
    const bool pins = n && tn_rng_below(rng, 3) == 0;
    for (uint32_t shard = 0; shard < made->world.shards; shard++) {
        const bool owned = n && tn_rng_below(rng, 5);
        made->previous[shard] = owned ? (int32_t)tn_rng_below(rng, crowded) : TN_PLAN_NONE;
        made->orphan[shard] = !owned && tn_rng_below(rng, 2);
        made->sticky[shard] = tn_rng_below(rng, 3) == 0;
        if (pins && tn_rng_below(rng, 4) == 0)
            made->pins[shard] = (int32_t)tn_rng_below(rng, n);
    }
}

static inline void draw(struct made *made, struct tn_rng *rng)
{
    char ids[LAW_NODES + 1] = "fbhaecgd";
    ids[tn_rng_below(rng, LAW_NODES + 1)] = 0;
    made_init(made, ids, (uint32_t)tn_rng_below(rng, 48));
    const bool weighted = tn_rng_below(rng, 2);
    for (size_t i = 0; i < made->world.n_nodes; i++) {
        if (weighted)
            made->nodes[i].weight_milli = tn_rng_below(rng, 6) * 500;
        made->nodes[i].draining = tn_rng_below(rng, 6) == 0;
    }
    draw_shards(made, rng);
}

#endif
