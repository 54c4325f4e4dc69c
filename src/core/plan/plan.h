/* Shard -> node: the planner's final interface.
 *
 * A strategy is a pure function from a world (nodes, shards with load and previous node, options) to the node
 * of each shard, with a reason for each. Same world, same bytes out, whatever the order in which the nodes
 * are listed: nodes are compared by id bytes, never by position. Integers only. Cost of `balanced` by count:
 * O(shards + nodes log nodes), all memory from the arena handed in (5 bytes a shard, under 128 a node).
 *
 * Knows nothing of sessions, leases, time or stores. Thread-safe: no global state.
 * Sources: balanced by count is ours (exact ceil/floor with the fewest moves; the larger quotas go to those
 * who own most, as Kafka's sticky assignor does); `average` is ElasticJob's AVG_ALLOCATION, see
 * tests/vectors/README. */
#ifndef TN_CORE_PLAN_PLAN_H
#define TN_CORE_PLAN_PLAN_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TN_PLAN_NONE = -1, TN_PLAN_VERSION = 1 };

enum tn_plan_reason {
    TN_REASON_KEPT,       /* stays: quota not exceeded */
    TN_REASON_FIRST,      /* had no node before */
    TN_REASON_OWNER_GONE, /* previous node is not in the list */
    TN_REASON_DRAINING,   /* previous node is draining or has weight 0 */
    TN_REASON_OVER_QUOTA, /* previous node had more than its quota: moved to balance */
    TN_REASON_PINNED,     /* a pin says so */
    TN_REASON_STRATEGY,   /* strategies that do not look at the previous plan */
    TN_REASON_NO_NODE,    /* nobody eligible: unassigned */
    TN_REASON_POSTPONED,  /* recover_only: stays, but a full plan would move it */
    TN_REASON_COUNT
};
const char *tn_plan_reason_text(enum tn_plan_reason reason); /* "kept: quota not exceeded", ... */

struct tn_plan_node {
    const char *id;        /* unique in the list, bytes compare; borrowed */
    uint64_t weight_milli; /* 1000 is weight 1; 0: takes nothing (drained); up to 10^12 */
    bool draining;         /* takes nothing, keeps nothing */
};

struct tn_plan_world {
    const struct tn_plan_node *nodes; /* any order; borrowed */
    size_t n_nodes;
    uint32_t shards;
    /* Index into nodes or TN_PLAN_NONE, one a shard; NULL: all NONE. A node that is gone is simply not in the
     * list: give TN_PLAN_NONE and set `orphan` if the distinction matters. */
    const int32_t *previous;
    /* Optional, one a shard: 1 when it had a node that is gone (for the reason only). */
    const uint8_t *orphan;
    /* Optional, one a shard: 1 when it moved recently; others move first when there is a choice. */
    const uint8_t *sticky;
    /* Optional, one a shard: index into nodes or TN_PLAN_NONE. Void while that node takes nothing. */
    const int32_t *pins;
    const char *job;   /* group or job name; some strategies hash it, the others take NULL */
    bool recover_only; /* balanced: assign only shards without an eligible node, the others stay */
};

struct tn_plan_result {
    int32_t *assignment; /* in arena, one a shard: index into world->nodes or TN_PLAN_NONE */
    uint8_t *reason;     /* in arena, one a shard: enum tn_plan_reason */
    size_t moves;        /* shards that go from one node of the list to another; NONE is no node */
};

/* One strategy: fills ret (memory from arena). BAD_INPUT with text when the world is not valid for it, for
 * all of them: more shards than TN_SHARDS_MAX, an id missing or twice, a weight above 10^12, an index outside
 * the list. No shards, no nodes and no eligible node are valid. On failure ret is untouched. */
typedef enum tenure_status tn_plan_function(const struct tn_plan_world *world, struct tn_arena *arena,
                                            struct tn_plan_result *ret, struct tenure_error *error);

/* NULL when there is no such strategy; names: "balanced", "average". */
tn_plan_function *tn_plan_find(const char *name);
/* The i-th name, NULL past the end; for messages and help. */
const char *tn_plan_name(size_t i);

/* Quotas of `balanced` by count: node i's share of `shards` in proportion to weight, by largest remainder;
 * ties go to the node that owns more above its whole share (owned[i] - floor), which with equal weights is
 * the one that owns more. Where that is equal too the smaller id goes first: gives first when there is
 * something to give (so the greater id keeps the larger quota: A-D with 64 each and a new E end at
 * 51,51,51,52,51), else receives first (64 orphans for B-D with 64 each: 86,85,85). Equal weights give
 * exactly ceil and floor. No choice of ties costs fewer moves. Draining nodes and weight 0 get 0; so does
 * everybody when no node takes shards. Ids must be unique. Writes quota[i]. */
void tn_plan_quotas(const struct tn_plan_node *nodes, size_t n_nodes, const uint32_t *owned, uint32_t shards,
                    struct tn_arena *arena, uint32_t *quota);

/* Fingerprint of what a plan depends on (nodes' ids, weights, draining; shards; pins; strategy), independent
 * of node order. What is not in it: previous, orphan and sticky (a plan's own outcome), and the job's name,
 * which does not change. Stored in plans, so its values are pinned by a test. The world must be valid. Needs
 * no memory. */
uint64_t tn_plan_fingerprint(const struct tn_plan_world *world, const char *strategy);

#endif
