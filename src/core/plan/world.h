/* What every strategy asks of a world before it answers: is it valid, who may take shards, in which order.
 * Pure; thread-safe; memory from the arena. Cost: O(shards + nodes log nodes). */
#ifndef TN_CORE_PLAN_WORLD_H
#define TN_CORE_PLAN_WORLD_H

#include "core/plan/plan.h"

#define TN_PLAN_WEIGHT_MAX 1000000000000u /* weight_milli; shards x weight then fits in 64 bits */

/* May this node hold shards? Draining and weight 0 come to the same. */
bool tn_world_takes(const struct tn_plan_node *node);

/* The node that shard `shard` is pinned to, TN_PLAN_NONE without a pin. A pin on a node that takes nothing is
 * void for as long as it takes nothing: a drained node must come empty. */
int32_t tn_world_pin(const struct tn_plan_world *world, uint32_t shard);

/* Checks the world and sets *ret_by_id (arena): the positions of the nodes ascending by id.
 * BAD_INPUT: too many shards or nodes, a missing or repeated id, a weight above the maximum, or an index in
 * `previous` or `pins` that is no position in `nodes`. */
enum tenure_status tn_world_check(const struct tn_plan_world *world, struct tn_arena *arena,
                                  uint32_t **ret_by_id, struct tenure_error *error);

/* Room for the answer, every shard unassigned for want of a node. */
void tn_world_result(const struct tn_plan_world *world, struct tn_arena *arena, struct tn_plan_result *ret);

/* Moves of `result` against world->previous, as plan.h counts them. */
size_t tn_world_moves(const struct tn_plan_world *world, const struct tn_plan_result *result);

#endif
