#include "core/plan/world.h"

#include "core/hash/hash.h"
#include "core/plan/order.h"

#include <inttypes.h>
#include <string.h>

bool tn_world_takes(const struct tn_plan_node *node)
{
    return !node->draining && node->weight_milli > 0;
}

int32_t tn_world_pin(const struct tn_plan_world *world, uint32_t shard)
{
    if (!world->pins || world->pins[shard] == TN_PLAN_NONE)
        return TN_PLAN_NONE;
    return tn_world_takes(&world->nodes[world->pins[shard]]) ? world->pins[shard] : TN_PLAN_NONE;
}

static enum tenure_status check_nodes(const struct tn_plan_world *world, struct tenure_error *error)
{
    for (size_t i = 0; i < world->n_nodes; i++) {
        const struct tn_plan_node *node = &world->nodes[i];
        if (!node->id || !node->id[0])
            return tn_error_set(error, TENURE_BAD_INPUT, "node %zu of the list has no id", i);
        if (node->weight_milli > TN_PLAN_WEIGHT_MAX)
            return tn_error_set(error, TENURE_BAD_INPUT,
                                "node '%s' has weight %" PRIu64 " thousandths; at most %" PRIu64
                                " are allowed",
                                node->id, node->weight_milli, (uint64_t)TN_PLAN_WEIGHT_MAX);
    }
    return TENURE_OK;
}

static enum tenure_status check_unique(const struct tn_plan_world *world, const uint32_t *by_id,
                                       struct tenure_error *error)
{
    for (size_t i = 1; i < world->n_nodes; i++) {
        const char *id = world->nodes[by_id[i]].id;
        if (strcmp(world->nodes[by_id[i - 1]].id, id) == 0)
            return tn_error_set(error, TENURE_BAD_INPUT, "node '%s' is in the list twice", id);
    }
    return TENURE_OK;
}

static enum tenure_status check_indices(const struct tn_plan_world *world, const int32_t *indices,
                                        const char *what, struct tenure_error *error)
{
    for (uint32_t shard = 0; indices && shard < world->shards; shard++) {
        const int64_t node = indices[shard];
        if (node < TN_PLAN_NONE || node >= (int64_t)world->n_nodes)
            return tn_error_set(error, TENURE_BAD_INPUT,
                                "the %s of shard %" PRIu32 " is node number %" PRId64
                                ", but there are %zu nodes",
                                what, shard, node, world->n_nodes);
    }
    return TENURE_OK;
}

enum tenure_status tn_world_check(const struct tn_plan_world *world, struct tn_arena *arena,
                                  uint32_t **ret_by_id, struct tenure_error *error)
{
    if (world->shards > TN_SHARDS_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "%" PRIu32 " shards; at most %d are allowed",
                            world->shards, TN_SHARDS_MAX);
    if (world->n_nodes > INT32_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "%zu nodes; at most %d are allowed", world->n_nodes,
                            INT32_MAX);
    enum tenure_status status = check_nodes(world, error);
    if (status == TENURE_OK)
        status = check_indices(world, world->previous, "previous node", error);
    if (status == TENURE_OK)
        status = check_indices(world, world->pins, "pin", error);
    if (status != TENURE_OK)
        return status;
    uint32_t *by_id = tn_order_nodes(world->nodes, world->n_nodes, arena);
    status = check_unique(world, by_id, error);
    if (status == TENURE_OK)
        *ret_by_id = by_id;
    return status;
}

void tn_world_result(const struct tn_plan_world *world, struct tn_arena *arena, struct tn_plan_result *ret)
{
    ret->assignment = tn_arena_array(arena, world->shards, sizeof *ret->assignment);
    ret->reason = tn_arena_array(arena, world->shards, sizeof *ret->reason);
    for (uint32_t shard = 0; shard < world->shards; shard++)
        ret->assignment[shard] = TN_PLAN_NONE;
    memset(ret->reason, TN_REASON_NO_NODE, world->shards);
    ret->moves = 0;
}

size_t tn_world_moves(const struct tn_plan_world *world, const struct tn_plan_result *result)
{
    size_t moves = 0;
    for (uint32_t shard = 0; world->previous && shard < world->shards; shard++) {
        const int32_t before = world->previous[shard];
        const int32_t after = result->assignment[shard];
        moves += before != TN_PLAN_NONE && after != TN_PLAN_NONE && before != after;
    }
    return moves;
}
