/* The quotas of a world and the fewest moves, worked out in another way than the planner's: by trying every
 * way to break ties. For small worlds only. */
#ifndef TEST_FAIR_ORACLE_H
#define TEST_FAIR_ORACLE_H

#include "drawn_world.h"

struct fair {
    uint32_t floor[LAW_NODES];     /* whole part of the share; pins for nodes set apart */
    uint64_t remainder[LAW_NODES]; /* 0 for those who cannot get one more */
    uint32_t extras;               /* nodes that get one more */
};

static inline bool takes(const struct made *made, int32_t node)
{
    return node != TN_PLAN_NONE && !made->nodes[node].draining && made->nodes[node].weight_milli;
}

static inline int32_t pin_of(const struct made *made, uint32_t shard)
{
    return takes(made, made->pins[shard]) ? made->pins[shard] : TN_PLAN_NONE;
}

/* Where a shard is if only pins move shards. */
static inline int32_t start_of(const struct made *made, uint32_t shard)
{
    if (pin_of(made, shard) != TN_PLAN_NONE)
        return pin_of(made, shard);
    return takes(made, made->previous[shard]) ? made->previous[shard] : TN_PLAN_NONE;
}

static inline struct fair work_out_fair(const struct made *made)
{
    struct fair fair = {0};
    uint64_t weight[LAW_NODES], total = 0, left = made->world.shards;
    uint32_t pinned[LAW_NODES] = {0};
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        if (pin_of(made, shard) != TN_PLAN_NONE)
            pinned[pin_of(made, shard)]++;
    for (size_t i = 0; i < made->world.n_nodes; i++)
        total += weight[i] = takes(made, (int32_t)i) ? made->nodes[i].weight_milli : 0;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < made->world.n_nodes; i++) {
            if (!weight[i] || pinned[i] * total <= left * weight[i])
                continue;
            fair.floor[i] = pinned[i];
            left -= pinned[i];
            total -= weight[i];
            weight[i] = 0;
            again = true;
        }
    }
    uint64_t whole = 0;
    for (size_t i = 0; i < made->world.n_nodes; i++) {
        if (!weight[i])
            continue;
        fair.floor[i] = (uint32_t)(left * weight[i] / total);
        fair.remainder[i] = left * weight[i] % total;
        whole += fair.floor[i];
    }
    fair.extras = (uint32_t)(left - whole);
    return fair;
}

/* Do the nodes in `set` have the largest remainders (in one of the ways to break ties)? */
static inline bool set_is_fair(const struct fair *fair, unsigned set, size_t n)
{
    uint64_t least_in = UINT64_MAX, most_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (set >> i & 1 && fair->remainder[i] < least_in)
            least_in = fair->remainder[i];
        if (!(set >> i & 1) && fair->remainder[i] > most_out)
            most_out = fair->remainder[i];
    }
    return (uint32_t)__builtin_popcount(set) == fair->extras && least_in > 0 && least_in >= most_out;
}

static inline uint32_t excess_of(const uint32_t *held, const struct fair *fair, unsigned set, size_t n)
{
    uint32_t excess = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t quota = fair->floor[i] + (set >> i & 1);
        excess += held[i] > quota ? held[i] - quota : 0;
    }
    return excess;
}

/* Shards that must leave for balance, with the luckiest fair choice of who has one more. */
static inline uint32_t fewest_leavers(const struct made *made, const struct fair *fair)
{
    uint32_t held[LAW_NODES] = {0}, fewest = UINT32_MAX;
    for (uint32_t shard = 0; shard < made->world.shards; shard++)
        if (start_of(made, shard) != TN_PLAN_NONE)
            held[start_of(made, shard)]++;
    for (unsigned set = 0; set < 1u << made->world.n_nodes; set++) {
        if (!set_is_fair(fair, set, made->world.n_nodes))
            continue;
        const uint32_t excess = excess_of(held, fair, set, made->world.n_nodes);
        fewest = excess < fewest ? excess : fewest;
    }
    return fewest;
}

#endif
