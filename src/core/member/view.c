#include "core/member/view.h"

#include "core/lease/rule.h"

void tn_view_init(struct tn_view *view, uint32_t group, const struct tn_settings *settings)
{
    *view = (struct tn_view){.group = group, .settings = *settings};
    tn_arena_init(&view->row_memory);
    tn_arena_init(&view->member_memory[0]);
    tn_arena_init(&view->member_memory[1]);
    view->rows = tn_arena_array(&view->row_memory, settings->shards, sizeof *view->rows);
}

void tn_view_done(struct tn_view *view)
{
    tn_arena_done(&view->row_memory);
    tn_arena_done(&view->member_memory[0]);
    tn_arena_done(&view->member_memory[1]);
}

static void set_row(struct tn_view *view, uint32_t shard, const struct tn_shard_row *row)
{
    view->in_handoff -= tn_rule_in_handoff(&view->rows[shard]);
    view->rows[shard] = *row;
    view->in_handoff += tn_rule_in_handoff(row);
}

bool tn_view_put(struct tn_view *view, uint32_t shard, const struct tn_shard_row *row)
{
    if (shard >= view->settings.shards || row->token < view->rows[shard].token)
        return false;
    set_row(view, shard, row);
    return true;
}

/* The old list stays valid until the next change of members: whoever compares may still look at it. */
static void set_members(struct tn_view *view, const struct tn_delta *delta)
{
    view->member_side = !view->member_side;
    struct tn_arena *memory = &view->member_memory[view->member_side];
    tn_arena_reset(memory);
    view->members = tn_arena_array(memory, delta->n_members, sizeof *view->members);
    view->n_members = delta->n_members;
    for (size_t i = 0; i < delta->n_members; i++) {
        view->members[i] = delta->members[i];
        view->members[i].node_id = tn_arena_text(memory, delta->members[i].node_id);
        view->members[i].address = tn_arena_text(memory, delta->members[i].address);
        view->members[i].labels = tn_arena_text(memory, delta->members[i].labels);
    }
}

void tn_view_apply(struct tn_view *view, const struct tn_delta *delta)
{
    view->epoch = delta->epoch;
    view->plan_epoch = delta->plan_epoch;
    view->plan_fingerprint = delta->plan_fingerprint;
    view->planner_version = delta->planner_version;
    view->paused = delta->paused;
    view->frozen_until_ms = delta->frozen_until_ms;
    if (delta->settings)
        view->settings = *delta->settings;
    if (delta->members_changed)
        set_members(view, delta);
    for (size_t i = 0; i < delta->n_changes; i++) {
        const struct tn_change *change = &delta->changes[i];
        tn_view_put(view, change->shard, &change->row);
    }
}

const struct tn_member *tn_view_member(const struct tn_view *view, uint64_t session)
{
    size_t low = 0, high = view->n_members;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view->members[middle].session < session)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->n_members && view->members[low].session == session ? &view->members[low] : NULL;
}

const struct tn_member *tn_view_node(const struct tn_view *view, uint32_t node)
{
    for (size_t i = 0; i < view->n_members; i++)
        if (view->members[i].node == node)
            return &view->members[i];
    return NULL;
}

bool tn_member_eligible(const struct tn_member *member)
{
    return (member->state == TN_SESSION_LIVE || member->state == TN_SESSION_AWAY) && !member->draining &&
           member->weight_milli > 0;
}

bool tn_view_free(const struct tn_view *view, uint32_t shard)
{
    const struct tn_shard_row *row = &view->rows[shard];
    if (row->state == TN_SHARD_QUARANTINED)
        return false;
    const struct tn_member *owner = row->session ? tn_view_member(view, row->session) : NULL;
    return !owner || owner->state == TN_SESSION_AWAY;
}
