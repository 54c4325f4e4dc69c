#include "store/rows/parts.h"

#include <stdarg.h>
#include <stdio.h>

void tn_rows_init(struct tn_rows *rows, const struct tn_store_type *store, const struct tn_rows_type *type)
{
    *rows = (struct tn_rows){.store = {.type = store}, .type = type, .events_kept = TN_EVENTS_KEPT};
    tn_arena_init(&rows->scratch);
}

void tn_rows_done(struct tn_rows *rows)
{
    tn_arena_done(&rows->scratch);
}

void tn_rows_fail(struct tn_rows *rows, enum tenure_status status, const char *format, ...)
{
    if (rows->failed != TENURE_OK)
        return;
    rows->failed = rows->error.status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(rows->error.text, sizeof rows->error.text, format, args);
    va_end(args);
}

static enum tenure_status finish(struct tn_rows *rows, enum tenure_status status)
{
    if (status == TENURE_OK && rows->evented)
        rows->type->events_prune(rows, rows->events_kept, TN_EVENTS_STEP);
    if (rows->failed != TENURE_OK)
        status = rows->failed;
    if (status == TENURE_OK && !rows->store.rehearse)
        return rows->type->commit(rows);
    rows->type->rollback(rows);
    return status;
}

enum tenure_status tn_rows_run(struct tn_rows *rows, enum tn_rows_mode mode, int64_t limit_ms,
                               tn_rows_work *work, void *context, struct tenure_error *error)
{
    const int64_t deadline = rows->type->deadline(rows, limit_ms);
    enum tenure_status status;
    do {
        tn_arena_reset(&rows->scratch);
        rows->failed = TENURE_OK;
        rows->error = (struct tenure_error){.status = TENURE_OK};
        rows->evented = false;
        status = rows->type->begin(rows, mode, deadline);
        if (status == TENURE_OK)
            status = finish(rows, work(rows, context));
    } while (status == TENURE_BUSY && mode == TN_ROWS_READ && rows->type->wait(rows, deadline));
    if (status == TENURE_OK)
        return status;
    if (!rows->error.text[0])
        tn_error_set(&rows->error, status, "%s", tenure_status_sentence(status));
    rows->error.status = status;
    if (error)
        *error = rows->error;
    return status;
}

void tn_rows_event(struct tn_rows *rows, const struct tn_event_row *event)
{
    rows->evented = true;
    rows->type->event_add(rows, event);
}

/* ---- operations ---- */

static enum tn_rows_mode mode_of(enum tn_op_kind kind)
{
    return kind == TN_OP_SYNC || kind == TN_OP_PROBE || kind == TN_OP_LOAD ? TN_ROWS_READ : TN_ROWS_WRITE;
}

/* C9. Those that speak of the session itself answer in their own words. */
static enum tenure_status check_session(struct tn_rows *rows, const struct tn_op *op)
{
    if (!op->session || op->kind == TN_OP_JOIN || op->kind == TN_OP_TICK || op->kind == TN_OP_SYNC ||
        op->kind == TN_OP_LEAVE)
        return TENURE_OK;
    if (rows->type->session_lives(rows, op->session))
        return TENURE_OK;
    struct tn_session_record record;
    const bool there = rows->type->session_get(rows, op->session, &record);
    return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: %s",
                        !there                                  ? "long ago"
                        : record.lease.state == TN_SESSION_AWAY ? "left"
                                                                : record.end_reason);
}

static enum tenure_status carry_out(struct tn_rows *rows, struct tn_op *op)
{
    switch (op->kind) {
    case TN_OP_JOIN: return tn_rows_join(rows, op);
    case TN_OP_TICK: return tn_rows_tick(rows, op);
    case TN_OP_SYNC: return tn_rows_sync(rows, op);
    case TN_OP_PROBE: return tn_rows_probe(rows, op);
    case TN_OP_BURY: return tn_rows_bury(rows, op);
    case TN_OP_LEAVE: return tn_rows_leave(rows, op);
    case TN_OP_PLAN: return tn_rows_plan(rows, op);
    case TN_OP_SAVE: return tn_rows_save(rows, op);
    case TN_OP_CLAIM:
    case TN_OP_PREPARE:
    case TN_OP_PREPARED:
    case TN_OP_TRANSFER:
    case TN_OP_FORCE:
    case TN_OP_ABORT:
    case TN_OP_REVOKE:
    case TN_OP_READY:
    case TN_OP_RELOAD:
    case TN_OP_LOAD:
    case TN_OP_RELEASE: return tn_rows_verb(rows, op);
    case TN_OP_COUNT: break;
    }
    return tn_error_set(&rows->error, TENURE_BUG, "no such operation: %d", (int)op->kind);
}

static enum tenure_status work(struct tn_rows *rows, void *context)
{
    struct tn_op *op = context;
    enum tenure_status status = check_session(rows, op);
    if (status == TENURE_OK)
        status = carry_out(rows, op);
    op->store_ms = rows->now_ms;
    op->unix_ms = rows->unix_ms;
    op->history = rows->history;
    return status;
}

void tn_rows_exec(struct tn_store *store, struct tn_op *op)
{
    struct tn_rows *rows = (struct tn_rows *)store;
    op->error = (struct tenure_error){.status = TENURE_OK};
    op->status = tn_rows_run(rows, mode_of(op->kind), op->limit_ms, work, op, &op->error);
}
