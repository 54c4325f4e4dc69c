#include "core/place/average.h"

#include "core/place/elastic_list.h"
#include "core/plan/world.h"

size_t tn_average_position(size_t n, uint32_t shards, uint32_t shard)
{
    const size_t each = shards / n;
    return shard < each * n ? shard / each : shard - each * n;
}

enum tenure_status tn_average_plan(const struct tn_plan_world *world, struct tn_arena *arena,
                                   struct tn_plan_result *ret, struct tenure_error *error)
{
    uint32_t *by_id;
    const enum tenure_status status = tn_world_check(world, arena, &by_id, error);
    if (status != TENURE_OK)
        return status;
    tn_world_result(world, arena, ret);
    size_t n;
    const uint32_t *list = tn_elastic_list_build(world, arena, &n);
    for (uint32_t shard = 0; n && shard < world->shards; shard++) {
        const int32_t pin = tn_world_pin(world, shard);
        const uint32_t fair = list[tn_average_position(n, world->shards, shard)];
        ret->assignment[shard] = pin != TN_PLAN_NONE ? pin : (int32_t)fair;
        ret->reason[shard] = pin != TN_PLAN_NONE ? TN_REASON_PINNED : TN_REASON_STRATEGY;
    }
    ret->moves = tn_world_moves(world, ret);
    return TENURE_OK;
}
