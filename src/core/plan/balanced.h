/* The default strategy: exact by count, sticky, with the fewest moves.
 *
 * Every node gets its quota (quota.h), and a shard moves only if its node has more than that, is gone, takes
 * nothing, or a pin says so. Who leaves a node that has too many: shards that did not move recently before
 * those that did (`sticky`), then the highest numbers. Who receives: shards without a node, ascending, fill
 * the nodes with room, ascending by id; so the first plan of a group is one contiguous block a node. Planning
 * the result again makes no move. A pin on a node that takes nothing is void for that long.
 *
 * With `recover_only` nobody leaves a node that may keep it, not even for a pin. Shards without a node go to
 * their pin or to nodes below quota: as far as quotas allow, one by one to the node that is then the least
 * full for its weight. A full plan afterwards moves no more than one made at once would have.
 *
 * Pure; thread-safe. Cost: O(shards + nodes log nodes); recover_only while a survivor is over its quota:
 * O(orphans log nodes) more. Sources: Kafka's sticky assignor for who keeps the larger quotas; the rest is
 * ours. */
#ifndef TN_CORE_PLAN_BALANCED_H
#define TN_CORE_PLAN_BALANCED_H

#include "core/plan/plan.h"

tn_plan_function tn_balanced_plan;

#endif
