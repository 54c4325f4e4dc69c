#include "store/rows/parts.h"

void tn_rows_look(struct tn_rows *rows, const struct tn_op *op, struct tn_rows_view *ret)
{
    const struct tn_op_tick *tick = &op->tick;
    ret->live = rows->type->sessions_live(rows, &ret->n_live);
    ret->groups = tn_arena_array(&rows->scratch, tick->n_cursors, sizeof *ret->groups);
    for (size_t i = 0; i < tick->n_cursors; i++)
        rows->type->group_get(rows, tick->cursors[i].group, &ret->groups[i]);
}

struct tn_live_session *tn_rows_find_live(const struct tn_rows_view *view, uint64_t session)
{
    size_t low = 0;
    size_t high = view->n_live;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (view->live[middle].id == session)
            return &view->live[middle];
        if (view->live[middle].id < session)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool tn_rows_lost_history(struct tn_rows *rows, const struct tn_op *op, const struct tn_rows_view *view)
{
    const struct tn_op_tick *tick = &op->tick;
    if (tick->history > rows->history)
        return true;
    for (size_t i = 0; tick->history == rows->history && i < tick->n_cursors; i++)
        if (view->groups[i].id && tick->cursors[i].epoch > view->groups[i].epoch)
            return true;
    /* A session that this store never began. */
    return !tn_rows_find_live(view, op->session) && op->session > rows->type->session_highest(rows);
}

static void fill(struct tn_rows *rows, struct tn_op *op, const struct tn_cursor *cursor,
                 const struct tn_group_row *group, struct tn_delta *delta)
{
    delta->group = cursor->group;
    delta->epoch = cursor->epoch;
    if (!group->id || !tn_rows_group_is_visible(group)) {
        delta->gone = true;
        return;
    }
    delta->full = !cursor->epoch || cursor->epoch > group->epoch || op->tick.history != rows->history;
    const uint64_t since = delta->full ? 0 : cursor->epoch;
    delta->epoch = group->epoch;
    delta->plan_epoch = group->plan_epoch;
    delta->plan_fingerprint = group->plan_fingerprint;
    delta->planner_version = group->planner_version;
    delta->paused = group->pauses > 0;
    delta->frozen_until_ms = group->losses.frozen_until_ms;
    if (group->epoch == since)
        return;
    if (group->settings_epoch > since) {
        struct tn_settings *settings = tn_arena_get(op->arena, sizeof *settings);
        rows->type->settings_get(rows, cursor->group, settings);
        delta->settings = settings;
    }
    delta->members_changed = delta->full || group->members_epoch > since;
    if (delta->members_changed)
        delta->members = rows->type->members(rows, cursor->group, op->arena, &delta->n_members);
    delta->changes = rows->type->shards_since(rows, cursor->group, since, op->arena, &delta->n_changes);
}

void tn_rows_deltas(struct tn_rows *rows, struct tn_op *op, const struct tn_rows_view *view)
{
    struct tn_op_tick *tick = &op->tick;
    tick->deltas = tn_arena_array(op->arena, tick->n_cursors, sizeof *tick->deltas);
    tick->n_deltas = tick->n_cursors;
    for (size_t i = 0; i < tick->n_cursors; i++)
        fill(rows, op, &tick->cursors[i], &view->groups[i], &tick->deltas[i]);
}

void tn_rows_suspects(struct tn_rows *rows, struct tn_op *op, const struct tn_rows_view *view)
{
    struct tn_op_tick *tick = &op->tick;
    tick->n_suspects = 0;
    for (size_t i = 0; i < view->n_live; i++)
        tick->n_suspects += tn_rule_suspect(&view->live[i].lease, rows->now_ms);
    tick->suspects = tn_arena_array(op->arena, tick->n_suspects, sizeof *tick->suspects);
    struct tn_suspect *next = tick->suspects;
    for (size_t i = 0; i < view->n_live; i++) {
        const struct tn_session_row *lease = &view->live[i].lease;
        if (tn_rule_suspect(lease, rows->now_ms))
            *next++ = (struct tn_suspect){view->live[i].id, lease->lease_ms, lease->lease_until_ms};
    }
}
