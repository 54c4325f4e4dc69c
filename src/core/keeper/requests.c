/* What a node asks of the store about its shards: a line of shards for each verb, one request of a verb under
 * way at a time. */
#include "core/keeper/parts.h"

enum { retry_ms = 100 };

static struct tn_keeper_group *group_of(struct tn_step *step, uint32_t group)
{
    return step->keeper->groups[group];
}

void tn_shards_ask(struct tn_step *step, enum tn_op_kind verb, uint32_t group, uint32_t shard)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[shard];
    if (holding->asked)
        return;
    holding->asked = true;
    struct tn_line *line = &g->lines[verb];
    if (line->n == line->room) {
        const size_t room = line->room ? line->room * 2 : 64;
        uint32_t *wider = tn_arena_array(&g->memory, room, sizeof *wider);
        for (size_t i = 0; i < line->n; i++)
            wider[i] = line->shards[i];
        line->shards = wider;
        line->room = room;
    }
    line->shards[line->n++] = shard;
}

/* ---- replies ---- */

static void assign(struct tn_step *step, uint32_t group, uint32_t shard,
                   const struct tn_checkpoint *checkpoint, const char *reason)
{
    struct tn_notice *notice = tn_say(step, TN_NOTICE_ASSIGNED, group, shard);
    notice->token = group_of(step, group)->holdings[shard].token;
    notice->reason = reason;
    notice->checkpoint = *checkpoint;
    if (checkpoint->data)
        notice->checkpoint.data = tn_arena_copy(step->update->arena, checkpoint->data, checkpoint->size);
}

static void granted(struct tn_step *step, uint32_t group, const struct tn_op *op, const struct tn_item *item)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_holding *holding = &keeper->groups[group]->holdings[item->shard];
    holding->token = item->row.token;
    const char *reason = "";
    switch (op->kind) {
    case TN_OP_CLAIM: keeper->counters.takeovers++, reason = "claimed"; break;
    case TN_OP_LOAD: keeper->counters.moves_in++, reason = "handed over"; break;
    default: keeper->counters.reloads++, reason = "reloaded"; break;
    }
    tn_shards_event(step, group, item->shard, TN_HOLD_GRANTED, "");
    assign(step, group, item->shard, &item->checkpoint, reason);
    if (keeper->phase == TN_PHASE_LEAVING)
        tn_shards_look(step, group, item->shard);
}

static bool waits_for(const struct tn_holding *holding, enum tn_op_kind verb)
{
    switch (verb) {
    case TN_OP_CLAIM: return holding->state == TN_HOLDING_CLAIMING;
    case TN_OP_LOAD: return holding->state == TN_HOLDING_LOADING;
    case TN_OP_RELOAD: return holding->state == TN_HOLDING_RELOADING;
    case TN_OP_READY: return holding->state == TN_HOLDING_SERVING;
    case TN_OP_PREPARED: return holding->state == TN_HOLDING_WARM;
    case TN_OP_TRANSFER: return holding->state == TN_HOLDING_TRANSFERRING && holding->peer;
    case TN_OP_RELEASE:
        return holding->unable || (holding->state == TN_HOLDING_TRANSFERRING && !holding->peer);
    default: return false;
    }
}

void tn_shards_flush(struct tn_step *step, uint32_t group)
{
    struct tn_keeper_group *g = group_of(step, group);
    if (!tn_session_working(step->keeper))
        return;
    for (int verb = 0; verb < TN_OP_COUNT; verb++) {
        struct tn_line *line = &g->lines[verb];
        size_t taken = 0, sent = 0;
        for (; !line->in_air && taken < line->n && sent < TN_BATCH_MAX; taken++) {
            const uint32_t shard = line->shards[taken];
            const struct tn_holding *holding = &g->holdings[shard];
            if (!holding->asked || !waits_for(holding, (enum tn_op_kind)verb))
                continue;
            struct tn_item *item = tn_say_item(step, (enum tn_op_kind)verb, group, shard, holding->token);
            item->peer = holding->peer;
            item->unable = holding->unable;
            sent++;
        }
        for (size_t i = taken; taken && i < line->n; i++)
            line->shards[i - taken] = line->shards[i];
        line->n -= taken;
        line->in_air |= sent > 0;
    }
}

/* What the old session had asked for is answered to nobody. */
void tn_shards_new_session(struct tn_keeper_group *group)
{
    for (int verb = 0; verb < TN_OP_COUNT; verb++) {
        group->lines[verb].n = 0;
        group->lines[verb].in_air = false;
    }
}

static void item_reply(struct tn_step *step, uint32_t group, const struct tn_op *op,
                       const struct tn_item *item)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[item->shard];
    if (!waits_for(holding, op->kind) || holding->token != item->token || !tn_session_working(step->keeper)) {
        tn_view_put(&g->view, item->shard, &item->row);
        return; /* of an earlier life of this holding; what it did in the store will be found there */
    }
    holding->asked = false;
    if (item->outcome == TN_ROW_BUSY) {
        g->retry_ms = step->now_ms + retry_ms;
        return;
    }
    tn_view_put(&g->view, item->shard, &item->row);
    if (holding->unable) {
        holding->unable = false;
        return;
    }
    if (item->outcome == TN_OVER_BUDGET)
        g->retry_ms = step->now_ms + retry_ms;
    const bool done = item->outcome == TN_DONE;
    if (done && (op->kind == TN_OP_CLAIM || op->kind == TN_OP_LOAD || op->kind == TN_OP_RELOAD))
        granted(step, group, op, item);
    else if (!done && op->kind == TN_OP_CLAIM)
        tn_shards_event(step, group, item->shard, TN_HOLD_REFUSED, "");
    else if (done && (op->kind == TN_OP_TRANSFER || op->kind == TN_OP_RELEASE))
        tn_shards_event(step, group, item->shard, TN_HOLD_GIVEN, "");
    else if (!done && (op->kind == TN_OP_LOAD || op->kind == TN_OP_RELOAD))
        tn_shards_event(step, group, item->shard, TN_HOLD_LOST, "");
    else if (!done)
        tn_shards_look(step, group, item->shard);
}

void tn_shards_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    const uint32_t group = tn_group_index(keeper, op->group);
    if (group == UINT32_MAX || op->session != keeper->session)
        return;
    struct tn_keeper_group *g = keeper->groups[group];
    g->dirty = true;
    g->lines[op->kind].in_air = false;
    if (op->status == TENURE_OK) {
        for (size_t i = 0; i < op->n_items; i++)
            item_reply(step, group, op, &op->items[i]);
        return;
    }
    /* Nothing happened, or nobody knows: every verb may be repeated, so it is. */
    for (size_t i = 0; i < op->n_items; i++) {
        struct tn_holding *holding = &g->holdings[op->items[i].shard];
        if (waits_for(holding, op->kind) && holding->token == op->items[i].token)
            holding->asked = false;
    }
    g->retry_ms = step->now_ms + retry_ms + (int64_t)tn_rng_below(&keeper->rng, retry_ms);
}
