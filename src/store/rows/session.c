#include "store/rows/parts.h"

#include "core/lease/token.h"

#include <stdio.h>
#include <string.h>

static int64_t lease_of_group(struct tn_rows *rows, uint32_t group)
{
    struct tn_settings settings = {.lease_ms = 0};
    rows->type->settings_get(rows, group, &settings);
    return settings.lease_ms;
}

void tn_rows_members_changed(struct tn_rows *rows, struct tn_group_row *row)
{
    row->members_epoch = ++row->epoch;
    if (row->losses.frozen_until_ms > rows->now_ms)
        tn_rule_members_changed(&row->losses, lease_of_group(rows, row->id), rows->now_ms);
    rows->type->group_put(rows, row);
}

void tn_rows_touch_groups(struct tn_rows *rows, uint64_t session)
{
    size_t n = 0;
    const uint32_t *groups = rows->type->groups_of(rows, session, &n);
    for (size_t i = 0; i < n; i++) {
        struct tn_group_row row;
        if (!rows->type->group_get(rows, groups[i], &row))
            continue;
        tn_rows_members_changed(rows, &row);
    }
}

/* A burial counts against each of its groups, before its members are told. */
static void count_loss(struct tn_rows *rows, uint64_t session)
{
    size_t n = 0, n_members = 0;
    const uint32_t *groups = rows->type->groups_of(rows, session, &n);
    for (size_t i = 0; i < n; i++) {
        struct tn_group_row row;
        if (!rows->type->group_get(rows, groups[i], &row))
            continue;
        const bool frozen = row.losses.frozen_until_ms > rows->now_ms;
        rows->type->members(rows, row.id, &rows->scratch, &n_members);
        tn_rule_lost(&row.losses, (uint32_t)n_members, lease_of_group(rows, row.id), rows->now_ms);
        rows->type->group_put(rows, &row);
        if (!frozen && row.losses.frozen_until_ms > rows->now_ms && tn_rows_group_is_visible(&row))
            tn_rows_event(rows, &(struct tn_event_row){.group = row.name, .shard = -1, .cause = "mass loss"});
    }
}

void tn_rows_end_session(struct tn_rows *rows, uint64_t session, const char *reason)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, session, &record))
        return;
    if (!strcmp(reason, "crashed") || !strcmp(reason, "expired"))
        count_loss(rows, session);
    tn_rows_touch_groups(rows, session);
    rows->type->session_end(rows, session, reason);
    tn_rows_event(rows,
                  &(struct tn_event_row){
                      .group = "", .shard = -1, .node = record.node, .session = session, .cause = reason});
}

/* ---- TICK and SYNC ---- */

static enum tenure_status answer_ended(struct tn_op *op, const char *reason)
{
    op->tick.renewal = TN_ENDED;
    snprintf(op->tick.end_reason, sizeof op->tick.end_reason, "%s", reason);
    op->tick.n_deltas = op->tick.n_suspects = 0;
    return TENURE_OK;
}

static enum tenure_status answer(struct tn_rows *rows, struct tn_op *op, enum tn_renewal renewal,
                                 const struct tn_session_row *lease, const struct tn_rows_view *view)
{
    op->tick.renewal = renewal;
    op->tick.end_reason[0] = 0;
    op->tick.lates = lease->lates;
    op->tick.version = lease->version;
    op->tick.lease_until_ms = lease->lease_until_ms;
    tn_rows_deltas(rows, op, view);
    tn_rows_suspects(rows, op, view);
    return TENURE_OK;
}

/* A session that is away has left, as far as it knows itself. */
static bool lives(const struct tn_live_session *own)
{
    return own && own->lease.state != TN_SESSION_AWAY;
}

/* Why it is not live; "expired" when that is so long ago that it is forgotten. */
static const char *end_reason(struct tn_rows *rows, uint64_t session)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, session, &record))
        return "expired";
    return record.lease.state == TN_SESSION_AWAY ? "left" : record.end_reason;
}

/* The lists in `view` stay as they were read, but for the own lease: what this renewal changed is put in. */
static void renew(struct tn_rows *rows, const struct tn_op *op, struct tn_rows_view *view,
                  struct tn_live_session *own, const struct tn_session_row *lease)
{
    const bool leaves = own->lease.state != lease->state;
    own->lease = *lease;
    rows->type->session_put(rows, op->session, lease);
    if (!leaves)
        return;
    tn_rows_touch_groups(rows, op->session);
    for (size_t i = 0; i < op->tick.n_cursors; i++)
        rows->type->group_get(rows, op->tick.cursors[i].group, &view->groups[i]);
}

enum tenure_status tn_rows_tick(struct tn_rows *rows, struct tn_op *op)
{
    if (op->tick.history >= TN_HISTORY_MAX)
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "history %u: there is no such", op->tick.history);
    struct tn_rows_view view;
    tn_rows_look(rows, op, &view);
    if (tn_rows_lost_history(rows, op, &view)) {
        tn_rows_renew_history(rows, op->tick.history);
        return answer_ended(op, "history");
    }
    struct tn_live_session *own = tn_rows_find_live(&view, op->session);
    if (!lives(own))
        return answer_ended(op, end_reason(rows, op->session));
    struct tn_session_row lease = own->lease;
    const enum tn_renewal renewal = tn_rule_renew(&lease, &op->tick, rows->now_ms);
    renew(rows, op, &view, own, &lease);
    return answer(rows, op, renewal, &lease, &view);
}

enum tenure_status tn_rows_sync(struct tn_rows *rows, struct tn_op *op)
{
    static const struct tn_session_row nobody = {0};
    struct tn_rows_view view;
    tn_rows_look(rows, op, &view);
    if (!op->session)
        return answer(rows, op, TN_RENEWED, &nobody, &view);
    const struct tn_live_session *own = tn_rows_find_live(&view, op->session);
    if (!lives(own))
        return answer_ended(op, end_reason(rows, op->session));
    const bool late = own->lease.lates != op->tick.lates_seen;
    return answer(rows, op, late ? TN_LATE : TN_RENEWED, &own->lease, &view);
}

/* ---- the end ---- */

enum tenure_status tn_rows_probe(struct tn_rows *rows, struct tn_op *op)
{
    op->probe.found = tn_arena_array(op->arena, op->probe.n, sizeof *op->probe.found);
    for (size_t i = 0; i < op->probe.n; i++)
        op->probe.found[i] = rows->type->presence(rows, op->probe.sessions[i]);
    return TENURE_OK;
}

enum tenure_status tn_rows_bury(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_op_bury *bury = &op->bury;
    struct tn_session_record record;
    bury->buried = false;
    bury->dead = true;
    bury->lease_until_ms = 0;
    if (!rows->type->session_get(rows, bury->victim, &record))
        return TENURE_OK; /* dead and forgotten */
    const enum tn_presence presence =
        bury->evidence == TN_CRASHED ? rows->type->presence(rows, bury->victim) : TN_PRESENCE_UNKNOWN;
    bury->lease_until_ms = record.lease.lease_until_ms;
    bury->buried = tn_rule_bury(&record.lease, bury, presence, rows->now_ms);
    bury->dead = bury->buried || record.lease.state == TN_SESSION_DEAD;
    if (bury->buried)
        tn_rows_end_session(rows, bury->victim,
                            record.lease.state == TN_SESSION_AWAY ? "stayed away"
                            : bury->evidence == TN_CRASHED        ? "crashed"
                                                                  : "expired");
    return TENURE_OK;
}

/* It keeps its place in the plan: its members are told, its row stays. */
static void go_away(struct tn_rows *rows, const struct tn_op *op, const struct tn_session_record *record)
{
    struct tn_session_row lease = record->lease;
    lease.state = TN_SESSION_AWAY;
    lease.lease_ms = op->leave.return_within_ms;
    lease.lease_until_ms = rows->now_ms + lease.lease_ms;
    rows->type->session_put(rows, op->session, &lease);
    tn_rows_touch_groups(rows, op->session);
    tn_rows_event(
        rows, &(struct tn_event_row){
                  .group = "", .shard = -1, .node = record->node, .session = op->session, .cause = "away"});
}

enum tenure_status tn_rows_leave(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, op->session, &record))
        return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: long ago");
    if (record.lease.state == TN_SESSION_AWAY)
        return TENURE_OK;
    if (record.lease.state != TN_SESSION_DEAD && op->leave.return_within_ms > 0)
        go_away(rows, op, &record);
    else if (record.lease.state != TN_SESSION_DEAD)
        tn_rows_end_session(rows, op->session, "left");
    else if (strcmp(record.end_reason, "left") != 0) /* a repeated LEAVE found what it wanted */
        return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: %s",
                            record.end_reason);
    return TENURE_OK;
}
