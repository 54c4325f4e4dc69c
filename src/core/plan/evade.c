#include "core/plan/evade.h"

#include "core/plan/world.h"

#include <string.h>

static bool given(const struct tn_plan_world *world, const struct tn_plan_result *result, uint32_t shard)
{
    return result->assignment[shard] != TN_PLAN_NONE && result->reason[shard] != TN_REASON_PINNED &&
           (!world->previous || world->previous[shard] != result->assignment[shard]);
}

static bool swap(const struct tn_plan_world *world, const int32_t *avoid, struct tn_plan_result *result,
                 uint32_t shard)
{
    const int32_t here = result->assignment[shard];
    for (uint32_t other = 0; other < world->shards; other++) {
        const int32_t there = result->assignment[other];
        if (there == here || avoid[other] == here || avoid[shard] == there || !given(world, result, other))
            continue;
        result->assignment[shard] = there;
        result->assignment[other] = here;
        return true;
    }
    return false;
}

/* Is node a, with as many shards, fuller for its weight than b? Ties: the greater id. */
static bool fuller(const struct tn_plan_world *world, const uint32_t *counts, int32_t a, int32_t b)
{
    const struct tn_plan_node *left = &world->nodes[a], *right = &world->nodes[b];
    const uint64_t mine = (uint64_t)(counts[a] + 1) * right->weight_milli,
                   its = (uint64_t)(counts[b] + 1) * left->weight_milli;
    return mine != its ? mine > its : strcmp(left->id, right->id) > 0;
}

/* The node with the fewest suspects, then the emptiest; NONE when nobody but `but` takes shards. */
static int32_t best_but(const struct tn_plan_world *world, const uint32_t *counts, const uint32_t *suspects,
                        int32_t but)
{
    int32_t best = TN_PLAN_NONE;
    for (int32_t i = 0; i < (int32_t)world->n_nodes; i++) {
        if (i == but || !tn_world_takes(&world->nodes[i]))
            continue;
        if (best == TN_PLAN_NONE || suspects[i] < suspects[best] ||
            (suspects[i] == suspects[best] && fuller(world, counts, best, i)))
            best = i;
    }
    return best;
}

static void count(const struct tn_plan_world *world, const struct tn_plan_result *result, uint32_t *counts)
{
    memset(counts, 0, world->n_nodes * sizeof *counts);
    for (uint32_t shard = 0; shard < world->shards; shard++)
        if (result->assignment[shard] != TN_PLAN_NONE)
            counts[result->assignment[shard]]++;
}

void tn_plan_evade(const struct tn_plan_world *world, const int32_t *avoid, struct tn_arena *arena,
                   struct tn_plan_result *result)
{
    uint32_t *counts = NULL, *none = NULL;
    for (uint32_t shard = 0; shard < world->shards; shard++) {
        const int32_t here = result->assignment[shard];
        if (here == TN_PLAN_NONE || here != avoid[shard] || !given(world, result, shard) ||
            swap(world, avoid, result, shard))
            continue;
        if (!counts) {
            counts = tn_arena_array(arena, world->n_nodes, sizeof *counts);
            none = tn_arena_array(arena, world->n_nodes, sizeof *none);
            count(world, result, counts);
        }
        const int32_t there = best_but(world, counts, none, here);
        if (there == TN_PLAN_NONE)
            continue;
        result->assignment[shard] = there;
        counts[here]--, counts[there]++;
    }
    result->moves = tn_world_moves(world, result);
}

void tn_plan_scatter(const struct tn_plan_world *world, const uint8_t *suspect, const int32_t *avoid,
                     struct tn_arena *arena, struct tn_plan_result *result)
{
    uint32_t *counts = tn_arena_array(arena, world->n_nodes, sizeof *counts);
    uint32_t *suspects = tn_arena_array(arena, world->n_nodes, sizeof *suspects);
    count(world, result, counts);
    for (uint32_t shard = 0; shard < world->shards; shard++)
        if (suspect[shard] && result->assignment[shard] != TN_PLAN_NONE && !given(world, result, shard))
            suspects[result->assignment[shard]]++;
    for (uint32_t shard = 0; shard < world->shards; shard++) {
        if (!suspect[shard] || !given(world, result, shard))
            continue;
        const int32_t here = result->assignment[shard];
        counts[here]--;
        int32_t there = best_but(world, counts, suspects, avoid[shard]);
        there = there == TN_PLAN_NONE ? here : there;
        result->assignment[shard] = there;
        counts[there]++, suspects[there]++;
    }
    result->moves = tn_world_moves(world, result);
}
