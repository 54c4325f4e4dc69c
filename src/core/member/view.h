/* One node's picture of a group: rows, members, settings, as the store last told it.
 *
 * Holds copies of everything (the ops it is fed from are freed). Cost: 64 bytes a shard, and the members.
 * Knows nothing of what this node itself is doing. Confined to its keeper. Pure; memory from its own arenas.
 */
#ifndef TN_CORE_MEMBER_VIEW_H
#define TN_CORE_MEMBER_VIEW_H

#include "core/op/op.h"

struct tn_view {
    uint32_t group;
    uint64_t epoch, plan_epoch, plan_fingerprint;
    uint32_t planner_version;
    bool paused;             /* by an operator's reason */
    int64_t frozen_until_ms; /* after a mass loss; store's lease clock */
    struct tn_settings settings;
    struct tn_shard_row *rows; /* settings.shards of them */
    struct tn_member *members; /* ascending by session */
    size_t n_members;
    uint32_t in_handoff; /* rows that tn_rule_in_handoff says yes to */
    struct tn_arena row_memory, member_memory[2];
    int member_side;
};

void tn_view_init(struct tn_view *view, uint32_t group, const struct tn_settings *settings);
void tn_view_done(struct tn_view *view);

/* Takes over what a delta says. Does not touch rows for which the view knows a later token. */
void tn_view_apply(struct tn_view *view, const struct tn_delta *delta);
/* One row as a reply told it. False when the view knows better already. */
bool tn_view_put(struct tn_view *view, uint32_t shard, const struct tn_shard_row *row);

/* Borrowed; NULL when not a member (for a session: dead or of no interest; for a node: no live session). */
const struct tn_member *tn_view_member(const struct tn_view *view, uint64_t session);
const struct tn_member *tn_view_node(const struct tn_view *view, uint32_t node);
/* May be planned for: live, or away for a while; not leaving, not drained, weight above 0. */
bool tn_member_eligible(const struct tn_member *member);
/* May be claimed by whom the plan names: nobody has it, or its owner is dead. */
bool tn_view_free(const struct tn_view *view, uint32_t shard);

#endif
