/* How many shards each node should have: largest remainder (Hare, Hamilton), in integers.
 *
 * Holds the side of quotas that only strategies need; the public one is tn_plan_quotas in plan.h. Every
 * product is taken in 128 bits, so no weight rounds. Pure; thread-safe. Cost: O(nodes log nodes). */
#ifndef TN_CORE_PLAN_QUOTA_H
#define TN_CORE_PLAN_QUOTA_H

#include "core/plan/plan.h"

struct tn_quota_question {
    const struct tn_plan_node *nodes;
    size_t n_nodes;
    const uint32_t *by_id; /* positions of nodes ascending by id */
    const uint32_t *owned; /* one a node: shards it has now */
    const uint32_t
        *pinned;     /* one a node: shards that it must get; NULL: none. 0 for nodes that take nothing */
    uint32_t shards; /* to share out, pinned ones included */
};

/* Writes quota[i] >= pinned[i]; the sum is `shards`, or 0 when no node takes any. A node whose pins exceed
 * its share gets just its pins, and the others share the rest. */
void tn_quota_share(const struct tn_quota_question *question, struct tn_arena *arena, uint32_t *quota);

#endif
