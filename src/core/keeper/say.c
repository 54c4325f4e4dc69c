#include "core/keeper/parts.h"

#include <stdarg.h>
#include <stdio.h>

enum { first_items = 16 };

struct tn_notice *tn_say(struct tn_step *step, enum tn_notice_kind kind, uint32_t group, uint32_t shard)
{
    struct tn_update *update = step->update;
    struct tn_notice *notice = tn_arena_get(update->arena, sizeof *notice);
    notice->kind = kind;
    notice->group = group;
    notice->shard = shard;
    notice->reason = "";
    *update->last_notice = notice;
    update->last_notice = &notice->next;
    return notice;
}

void tn_say_log(struct tn_step *step, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    tn_say(step, TN_NOTICE_LOG, UINT32_MAX, 0)->reason = tn_arena_text(step->update->arena, line);
}

void tn_say_gate(struct tn_step *step, uint32_t group, uint32_t shard, uint64_t token, bool want_idle)
{
    struct tn_update *update = step->update;
    struct tn_gate_change *change = tn_arena_get(update->arena, sizeof *change);
    *change = (struct tn_gate_change){.group = group, .shard = shard, .token = token, .want_idle = want_idle};
    *update->last_gate = change;
    update->last_gate = &change->next;
}

static struct tn_request *request(struct tn_step *step, enum tn_op_kind kind)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_update *update = step->update;
    struct tn_request *made = tn_arena_get(update->arena, sizeof *made);
    made->op.kind = kind;
    made->op.id = ++keeper->next_op;
    made->op.session = keeper->session;
    made->op.sent_ms = step->now_ms;
    made->op.limit_ms = keeper->request_ms;
    *update->last_request = made;
    update->last_request = &made->next;
    keeper->counters.ops++;
    return made;
}

struct tn_op *tn_say_op(struct tn_step *step, enum tn_op_kind kind)
{
    return &request(step, kind)->op;
}

/* Capacity is a power of two from first_items on: full exactly when n_items is one. */
static bool full(const struct tn_op *op)
{
    return op->n_items >= first_items && (op->n_items & (op->n_items - 1)) == 0;
}

struct tn_item *tn_say_item(struct tn_step *step, enum tn_op_kind verb, uint32_t group, uint32_t shard,
                            uint64_t token)
{
    if (step->open_group != group) {
        for (int i = 0; i < TN_OP_COUNT; i++)
            step->open[i] = NULL;
        step->open_group = group;
    }
    const size_t most = verb == TN_OP_PLAN ? TN_PLAN_BATCH_MAX : TN_BATCH_MAX;
    if (!step->open[verb] || step->open[verb]->op.n_items == most) {
        step->open[verb] = request(step, verb);
        step->open[verb]->op.group = step->keeper->groups[group]->view.group;
        step->open[verb]->op.items = tn_arena_array(step->update->arena, first_items, sizeof(struct tn_item));
    }
    struct tn_op *op = &step->open[verb]->op;
    if (full(op)) {
        struct tn_item *wider = tn_arena_array(step->update->arena, op->n_items * 2, sizeof *wider);
        for (size_t i = 0; i < op->n_items; i++)
            wider[i] = op->items[i];
        op->items = wider;
    }
    struct tn_item *item = &op->items[op->n_items++];
    item->shard = shard;
    item->token = token;
    return item;
}
