/* Orders of indices, so that no decision depends on how a list happened to be handed over.
 *
 * Holds: a stable merge sort over indices and the order of nodes by id. The sort of the C library is not used
 * here: it is not stable, and glibc's takes memory from the heap. Cost: O(n log n), O(n) for what is in order
 * already; n indices of arena memory. Pure; thread-safe. */
#ifndef TN_CORE_PLAN_ORDER_H
#define TN_CORE_PLAN_ORDER_H

#include "core/plan/plan.h"

/* True when `a` must come before `b`; false for equals, which then keep their order. */
typedef bool tn_order_before(const void *context, uint32_t a, uint32_t b);

/* Sorts `items` in place. */
void tn_order_sort(uint32_t *items, size_t n, tn_order_before *before, const void *context,
                   struct tn_arena *arena);

/* The positions 0 .. n_nodes-1 of `nodes`, ascending by the bytes of their ids; in arena. */
uint32_t *tn_order_nodes(const struct tn_plan_node *nodes, size_t n_nodes, struct tn_arena *arena);

#endif
