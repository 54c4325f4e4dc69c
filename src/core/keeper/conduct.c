/* Who does what in a group, and when: any live node may plan, start moves and repair.
 *
 * So that not all do the same work, nodes act in order of rank (session number): the first at once, the
 * others later by a stagger each; when the first is dead or paused, the second has done it before anybody
 * notices. */
#include "core/keeper/seats.h"

enum { stagger_ms = 150, stagger_most_ms = 1000, retry_ms = 100, again_ms = 10, alarm_leases = 2 };

int64_t tn_conduct_stagger_ms(const struct tn_keeper_group *group, uint64_t session)
{
    int64_t rank = 0;
    for (size_t i = 0; i < group->view.n_members && group->view.members[i].session < session; i++)
        rank += group->view.members[i].state == TN_SESSION_LIVE;
    const int64_t wait = rank * stagger_ms;
    return wait < stagger_most_ms ? wait : stagger_most_ms;
}

/* ---- one look at all rows ---- */

struct census {
    uint32_t unplaced, misplaced, unclaimed, unowned, first_unowned;
    int64_t next_phase_end_ms;
};

static void look_at_row(struct census *census, struct tn_keeper_group *group, const struct tn_seats *seats,
                        uint32_t shard)
{
    const struct tn_view *view = &group->view;
    const struct tn_shard_row *row = &view->rows[shard];
    const struct tn_seat *desired = row->desired ? tn_seat_find(seats, row->desired) : NULL;
    const bool placed = desired && desired->index != TN_PLAN_NONE;
    const bool free = tn_view_free(view, shard);
    group->ever_owned |= row->token != 0;
    if (row->state == TN_SHARD_QUARANTINED)
        return;
    census->unplaced += !placed;
    census->misplaced +=
        placed && row->state == TN_SHARD_OWNED && row->session != desired->member->session && !free;
    census->unclaimed += free && tn_seat_takes(desired);
    if (free && !(placed && desired->member->state == TN_SESSION_AWAY) && !census->unowned++)
        census->first_unowned = shard;
    const bool phase = !free && (row->state == TN_SHARD_PREPARING || row->state == TN_SHARD_DRAINING ||
                                 row->state == TN_SHARD_RESTORING);
    if (phase && row->until_ms < census->next_phase_end_ms)
        census->next_phase_end_ms = row->until_ms;
}

static void scan(struct tn_step *step, struct tn_keeper_group *group, const struct tn_seats *seats)
{
    const struct tn_view *view = &group->view;
    struct census census = {.next_phase_end_ms = INT64_MAX};
    for (uint32_t s = 0; s < view->settings.shards; s++)
        look_at_row(&census, group, seats, s);
    const struct tn_plan_world world = {.nodes = seats->nodes,
                                        .n_nodes = seats->n_nodes,
                                        .shards = view->settings.shards,
                                        .job = group->name};
    group->fingerprint = tn_plan_fingerprint(&world, view->settings.strategy);
    /* As long as somebody makes progress, the patience of the others starts again. */
    if (group->unplaced != census.unplaced)
        group->need_ms = step->now_ms;
    if (group->misplaced != census.misplaced || view->in_handoff != group->seen_in_handoff)
        group->misplaced_ms = step->now_ms;
    if (group->unclaimed != census.unclaimed)
        group->unclaimed_ms = step->now_ms;
    if (!group->unowned || census.unowned < group->unowned)
        group->alarm_ms = step->now_ms + alarm_leases * view->settings.lease_ms;
    group->eligible = (uint32_t)seats->n_nodes;
    group->unplaced = census.unplaced;
    group->misplaced = census.misplaced;
    group->unclaimed = census.unclaimed;
    group->unowned = census.unowned;
    group->first_unowned = census.first_unowned;
    group->next_phase_end_ms = census.next_phase_end_ms;
    group->seen_in_handoff = view->in_handoff;
    group->dirty = false;
}

/* ---- the alarm ---- */

static void watch_unowned(struct tn_step *step, struct tn_keeper_group *group)
{
    if (!group->unowned)
        return;
    if (step->now_ms < group->alarm_ms) {
        tn_wake_by(step, group->alarm_ms);
        return;
    }
    const struct tn_view *view = &group->view;
    const struct tn_member *node = tn_view_node(view, view->rows[group->first_unowned].desired);
    step->keeper->counters.alarms++;
    tn_say_log(
        step, "alarm: %u shards of group %s have had no owner for two leases; the first is shard %u, %s%s",
        group->unowned, group->name, group->first_unowned,
        node ? "which the plan gives to " : "which the plan gives to nobody", node ? node->node_id : "");
    group->alarm_ms = step->now_ms + alarm_leases * view->settings.lease_ms;
}

/* ---- */

static bool idle(const struct tn_step *step, const struct tn_keeper_group *group)
{
    bool recover;
    return !group->dirty && tn_plans_due_ms(step, group, &recover) == INT64_MAX && !group->misplaced &&
           group->next_phase_end_ms == INT64_MAX;
}

void tn_conduct(struct tn_step *step, uint32_t index)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    if (!tn_session_working(keeper) || !group->view.epoch)
        return;
    if (step->now_ms < group->conduct_after_ms) {
        tn_wake_by(step, group->conduct_after_ms);
        return;
    }
    watch_unowned(step, group);
    if (idle(step, group))
        return;
    tn_arena_reset(&keeper->scratch);
    struct tn_seats seats = tn_seats_of(step, &group->view);
    if (group->dirty)
        scan(step, group, &seats);
    if (keeper->phase == TN_PHASE_LEAVING && !group->eligible && group->serving) {
        group->rescan = true; /* nobody to hand over to: look_when_leaving releases them */
        tn_shards_look_all(step, index);
    }
    tn_plans_consider(step, index, &seats);
    tn_rounds_consider(step, index, &seats);
    tn_repair_consider(step, index, &seats);
}

void tn_conduct_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    const uint32_t index = tn_group_index(keeper, op->group);
    if (index == UINT32_MAX)
        return;
    struct tn_keeper_group *group = keeper->groups[index];
    group->dirty = true;
    switch (op->kind) {
    case TN_OP_PLAN: group->plan_in_air = false; break;
    case TN_OP_PREPARE: group->prepare_in_air = false; break;
    default: group->repair_in_air = false; break;
    }
    /* Whatever came of it shows in the rows; a refusal means that they are newer than this view. */
    keeper->want_sync = true;
    if (op->status != TENURE_OK)
        group->conduct_after_ms = step->now_ms + (op->status == TENURE_CONFLICT ? again_ms : retry_ms);
    if (op->status != TENURE_OK || op->kind == TN_OP_PLAN)
        return;
    for (size_t i = 0; i < op->n_items; i++)
        if (op->items[i].outcome != TN_DONE)
            group->conduct_after_ms = step->now_ms + again_ms;
    for (size_t i = 0; i < op->n_items; i++)
        if (tn_view_put(&group->view, op->items[i].shard, &op->items[i].row))
            tn_shards_look(step, index, op->items[i].shard);
}
