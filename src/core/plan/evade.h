/* Shards that must not go to a certain node for a while: a last pass over any strategy's plan. Pure.
 *
 * A shard that the plan gives (not leaves) to the node it avoids changes places with another shard that is
 * being given too, so that the counts stay; where there is none, it goes to the node that is fullest last:
 * the one with the fewest shards for its weight, ties to the smaller id. Where nobody else takes shards, it
 * stays: worked on by a doubtful node is better than by none. O(shards) and O(shards) for each such shard. */
#ifndef TN_CORE_PLAN_EVADE_H
#define TN_CORE_PLAN_EVADE_H

#include "core/plan/plan.h"

/* avoid[i]: index into world->nodes, or TN_PLAN_NONE. */
void tn_plan_evade(const struct tn_plan_world *world, const int32_t *avoid, struct tn_arena *arena,
                   struct tn_plan_result *result);

/* Shards under suspicion that the plan gives away go to as many different nodes as there are, whatever the
 * counts: the node with the fewest of them so far, then with the fewest shards for its weight, then the
 * smaller id. `avoid` is minded. O(shards + suspects x nodes). */
void tn_plan_scatter(const struct tn_plan_world *world, const uint8_t *suspect, const int32_t *avoid,
                     struct tn_arena *arena, struct tn_plan_result *result);

#endif
