#include "store/rows/parts.h"

#include "core/lease/token.h"

#include <stdio.h>
#include <string.h>

void tn_rows_touch_groups(struct tn_rows *rows, uint64_t session)
{
    size_t n = 0;
    const uint32_t *groups = rows->type->groups_of(rows, session, &n);
    for (size_t i = 0; i < n; i++) {
        struct tn_group_row row;
        if (!rows->type->group_get(rows, groups[i], &row))
            continue;
        row.members_epoch = ++row.epoch;
        rows->type->group_put(rows, &row);
    }
}

void tn_rows_end_session(struct tn_rows *rows, uint64_t session, const char *reason)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, session, &record))
        return;
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

/* Why it is not live; "expired" when that is so long ago that it is forgotten. */
static const char *end_reason(struct tn_rows *rows, uint64_t session)
{
    struct tn_session_record record;
    return rows->type->session_get(rows, session, &record) ? record.end_reason : "expired";
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
    if (!own)
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
    if (!own)
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
        tn_rows_end_session(rows, bury->victim, bury->evidence == TN_CRASHED ? "crashed" : "expired");
    return TENURE_OK;
}

enum tenure_status tn_rows_leave(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, op->session, &record))
        return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: long ago");
    if (record.lease.state != TN_SESSION_DEAD)
        tn_rows_end_session(rows, op->session, "left");
    else if (strcmp(record.end_reason, "left") != 0) /* a repeated LEAVE found what it wanted */
        return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: %s",
                            record.end_reason);
    return TENURE_OK;
}
