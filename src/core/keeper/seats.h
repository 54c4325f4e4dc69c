/* A group's members as the planner and the rounds see them: one look, good for one step. */
#ifndef TN_CORE_KEEPER_SEATS_H
#define TN_CORE_KEEPER_SEATS_H

#include "core/keeper/parts.h"
#include "core/plan/plan.h"

struct tn_seat {
    const struct tn_member *member;
    uint32_t node;
    int32_t index;        /* among those that are planned for, or TN_PLAN_NONE */
    uint32_t out, in;     /* handoffs under way */
    bool gives, receives; /* by the plan */
};

struct tn_seats {
    struct tn_seat *seats; /* ascending by node number */
    size_t n;
    struct tn_plan_node *nodes; /* those that are planned for */
    uint32_t *numbers;          /* node number of each of them */
    size_t n_nodes;
    size_t n_here; /* of these, not away */
};

/* In the keeper's scratch. */
struct tn_seats tn_seats_of(struct tn_step *step, const struct tn_view *view);
/* NULL when the node is no member. */
struct tn_seat *tn_seat_find(const struct tn_seats *seats, uint32_t node);
/* Of the shard's owner; NULL when it has none that lives. */
struct tn_seat *tn_seat_owner(const struct tn_seats *seats, const struct tn_view *view, uint32_t shard);
/* Planned for, and there to be given something now. */
static inline bool tn_seat_takes(const struct tn_seat *seat)
{
    return seat && seat->index != TN_PLAN_NONE && seat->member->state == TN_SESSION_LIVE;
}
/* Does this node, which is leaving, keep its place until it is back? */
bool tn_keeper_returns(const struct tn_keeper *keeper);

/* plans.c */
void tn_plans_consider(struct tn_step *step, uint32_t group, const struct tn_seats *seats);
/* When a plan is due on this node's clock, INT64_MAX never; *ret_recover: only for the shards without a node.
 */
int64_t tn_plans_due_ms(const struct tn_step *step, const struct tn_keeper_group *group, bool *ret_recover);
/* rounds.c */
void tn_rounds_consider(struct tn_step *step, uint32_t group, struct tn_seats *seats);
void tn_repair_consider(struct tn_step *step, uint32_t group, const struct tn_seats *seats);
/* No balance moves before this moment of this node's clock: an operator's pause (INT64_MAX), a mass loss,
 * quiet hours. Past: they may go on. */
int64_t tn_rounds_frozen_until_ms(const struct tn_step *step, const struct tn_view *view);

#endif
