#include "store/rows/parts.h"

bool tn_rows_lost_history(struct tn_rows *rows, const struct tn_op *op)
{
    const struct tn_op_tick *tick = &op->tick;
    if (tick->history > rows->history)
        return true;
    if (op->session > rows->type->session_highest(rows))
        return true; /* a session that this store never began */
    for (size_t i = 0; tick->history == rows->history && i < tick->n_cursors; i++) {
        struct tn_group_row group;
        if (rows->type->group_get(rows, tick->cursors[i].group, &group) && tick->cursors[i].epoch > group.epoch)
            return true;
    }
    return false;
}

static void fill(struct tn_rows *rows, struct tn_op *op, const struct tn_cursor *cursor, struct tn_delta *delta)
{
    struct tn_group_row group;
    delta->group = cursor->group;
    delta->epoch = cursor->epoch;
    if (!rows->type->group_get(rows, cursor->group, &group) || !tn_rows_group_is_visible(&group)) {
        delta->gone = true;
        return;
    }
    delta->full = !cursor->epoch || cursor->epoch > group.epoch || op->tick.history != rows->history;
    const uint64_t since = delta->full ? 0 : cursor->epoch;
    delta->epoch = group.epoch;
    delta->plan_epoch = group.plan_epoch;
    delta->plan_fingerprint = group.plan_fingerprint;
    delta->planner_version = group.planner_version;
    if (group.epoch == since)
        return;
    if (group.settings_epoch > since) {
        struct tn_settings *settings = tn_arena_get(op->arena, sizeof *settings);
        rows->type->settings_get(rows, cursor->group, settings);
        delta->settings = settings;
    }
    delta->members_changed = delta->full || group.members_epoch > since;
    if (delta->members_changed)
        delta->members = rows->type->members(rows, cursor->group, op->arena, &delta->n_members);
    delta->changes = rows->type->shards_since(rows, cursor->group, since, op->arena, &delta->n_changes);
}

void tn_rows_deltas(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_op_tick *tick = &op->tick;
    tick->deltas = tn_arena_array(op->arena, tick->n_cursors, sizeof *tick->deltas);
    tick->n_deltas = tick->n_cursors;
    for (size_t i = 0; i < tick->n_cursors; i++)
        fill(rows, op, &tick->cursors[i], &tick->deltas[i]);
}

void tn_rows_suspects(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_op_tick *tick = &op->tick;
    size_t n = 0;
    const struct tn_live_session *live = rows->type->sessions_live(rows, &n);
    tick->n_suspects = 0;
    for (size_t i = 0; i < n; i++)
        tick->n_suspects += tn_rule_suspect(&live[i].lease, rows->now_ms);
    tick->suspects = tn_arena_array(op->arena, tick->n_suspects, sizeof *tick->suspects);
    struct tn_suspect *next = tick->suspects;
    for (size_t i = 0; i < n; i++)
        if (tn_rule_suspect(&live[i].lease, rows->now_ms))
            *next++ = (struct tn_suspect){live[i].id, live[i].lease.lease_ms, live[i].lease.lease_until_ms};
}
