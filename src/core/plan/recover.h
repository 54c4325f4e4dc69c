/* Where shards without a node go while nobody else may move.
 * Pure; thread-safe. Cost: O(nodes); when quotas have more room than there are orphans, O(orphans log nodes)
 * more. */
#ifndef TN_CORE_PLAN_RECOVER_H
#define TN_CORE_PLAN_RECOVER_H

#include "core/plan/plan.h"

struct tn_recover_question {
    const struct tn_plan_node *nodes;
    size_t n_nodes;
    const uint32_t *by_id; /* positions of nodes ascending by id */
    const uint32_t *held;  /* one a node: shards that stay with it */
    uint32_t orphans;      /* shards to hand out; the room below quota must suffice */
};

/* quota[i] goes in as the fair share of node i and comes out as the number of shards it shall have after
 * recovery: at least held[i], and more than that only up to the fair share. Unchanged when nobody is over it.
 */
void tn_recover_lower(const struct tn_recover_question *question, struct tn_arena *arena, uint32_t *quota);

#endif
