/* Rows against holdings: what the store says of a shard, and what this node does about it. */
#include "core/keeper/seats.h"

#include "core/lease/rule.h"

enum { retry_ms = 100 };

static struct tn_keeper_group *group_of(struct tn_step *step, uint32_t group)
{
    return step->keeper->groups[group];
}

/* ---- moving a holding, and what each new state means ---- */

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

static void ask(struct tn_step *step, enum tn_op_kind verb, uint32_t group, uint32_t shard)
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

static void tell_drain(struct tn_step *step, uint32_t group, uint32_t shard, int64_t until_ms)
{
    const struct tn_keeper *keeper = step->keeper;
    struct tn_notice *notice = tn_say(step, TN_NOTICE_DRAIN, group, shard);
    notice->token = keeper->groups[group]->holdings[shard].token;
    const bool leaving = !keeper->groups[group]->holdings[shard].peer;
    const int64_t left = leaving ? keeper->stop_at_ms - step->now_ms
                                 : until_ms - tn_contact_store_ms(&keeper->contact, step->now_ms);
    notice->deadline_in_ms = left > 0 ? left : 0;
}

/* Entering a state, whatever led there. */
static void enter(struct tn_step *step, uint32_t group, uint32_t shard, uint64_t old_token,
                  const char *reason)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[shard];
    const struct tn_shard_row *row = &g->view.rows[shard];
    switch ((enum tn_holding_state)holding->state) {
    case TN_HOLDING_WARMING: {
        struct tn_notice *notice = tn_say(step, TN_NOTICE_PREPARE, group, shard);
        const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
        notice->deadline_in_ms = row->until_ms > store_now ? row->until_ms - store_now : 0;
        break;
    }
    case TN_HOLDING_WARM: ask(step, TN_OP_PREPARED, group, shard); break;
    case TN_HOLDING_CLAIMING: ask(step, TN_OP_CLAIM, group, shard); break;
    case TN_HOLDING_LOADING: ask(step, TN_OP_LOAD, group, shard); break;
    case TN_HOLDING_RELOADING: ask(step, TN_OP_RELOAD, group, shard); break;
    case TN_HOLDING_SERVING:
        holding->progress_ms = step->now_ms;
        tn_say_gate(step, group, shard, holding->token, false);
        ask(step, TN_OP_READY, group, shard);
        break;
    case TN_HOLDING_DRAINING:
        tn_say_gate(step, group, shard, 0, true);
        tell_drain(step, group, shard, row->until_ms);
        break;
    case TN_HOLDING_TRANSFERRING:
        ask(step, holding->peer ? TN_OP_TRANSFER : TN_OP_RELEASE, group, shard);
        break;
    case TN_HOLDING_QUIESCING: tn_say_gate(step, group, shard, 0, true); break;
    case TN_HOLDING_ENDING: {
        tn_say_gate(step, group, shard, 0, true);
        struct tn_notice *notice = tn_say(step, TN_NOTICE_LOST, group, shard);
        notice->token = old_token;
        notice->reason = reason;
        break;
    }
    case TN_HOLDING_NONE:
    case TN_HOLDING_RESTORING:
    case TN_HOLDING_STATES_N: break;
    }
}

static bool serving(enum tn_holding_state state)
{
    return state == TN_HOLDING_SERVING;
}

void tn_shards_event(struct tn_step *step, uint32_t group, uint32_t shard, enum tn_holding_event event,
                     const char *reason)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[shard];
    const struct tn_holding before = *holding;
    bool bug = false;
    if (!tn_holding_next(holding, event, &bug)) {
        if (bug) {
            step->keeper->counters.bugs++;
            tn_say_log(step, "bug: shard %u: event %s in state %s", shard, tn_holding_event_name(event),
                       tn_holding_state_name(before.state));
        }
        return;
    }
    g->held += (holding->state != TN_HOLDING_NONE) - (before.state != TN_HOLDING_NONE);
    g->serving += serving(holding->state) - serving(before.state);
    if (event == TN_HOLD_COOLED ||
        (event == TN_HOLD_LOST && (before.state == TN_HOLDING_WARM || before.state == TN_HOLDING_WARMING)))
        tn_say(step, TN_NOTICE_CANCELLED, group, shard);
    if (event == TN_HOLD_DRAIN && before.state == TN_HOLDING_RESTORING) {
        struct tn_notice *notice = tn_say(step, TN_NOTICE_LOST, group, shard);
        notice->token = before.token;
        notice->reason = "this node is leaving";
    }
    if (event == TN_HOLD_GIVEN)
        step->keeper->counters.moves_out++;
    if (event == TN_HOLD_LOST)
        g->rescan = true; /* it may be this node's again, under another token */
    enter(step, group, shard, before.token, reason);
}

/* Several ways lead out of draining; all need the worker's word and nothing in flight. */
static void try_drained(struct tn_step *step, uint32_t group, uint32_t shard)
{
    struct tn_holding *holding = &group_of(step, group)->holdings[shard];
    if (holding->state != TN_HOLDING_DRAINING || !holding->released || !holding->idle)
        return;
    tn_shards_event(step, group, shard, holding->kept ? TN_HOLD_KEPT : TN_HOLD_DRAINED, "");
}

/* ---- one row ---- */

static bool claimable(const struct tn_keeper *keeper, const struct tn_keeper_group *group, uint32_t shard)
{
    return keeper->phase == TN_PHASE_LIVE && group->view.rows[shard].desired == keeper->node &&
           tn_view_free(&group->view, shard);
}

static void start_drain(struct tn_step *step, uint32_t group, uint32_t shard, uint64_t peer)
{
    group_of(step, group)->holdings[shard].peer = peer;
    tn_shards_event(step, group, shard, TN_HOLD_DRAIN, "");
}

/* The store says that the shard is this session's. */
static void look_at_mine(struct tn_step *step, uint32_t group, uint32_t shard)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[shard];
    const struct tn_shard_row *row = &g->view.rows[shard];
    if (holding->unable) {
        ask(step, TN_OP_RELEASE, group, shard);
        return;
    }
    switch ((enum tn_holding_state)holding->state) {
    case TN_HOLDING_CLAIMING: ask(step, TN_OP_CLAIM, group, shard); return;
    case TN_HOLDING_RELOADING: ask(step, TN_OP_RELOAD, group, shard); return;
    case TN_HOLDING_ENDING: return;
    case TN_HOLDING_NONE:
    case TN_HOLDING_WARMING:
    case TN_HOLDING_WARM: {
        const bool arrived = holding->state == TN_HOLDING_WARM && row->state == TN_SHARD_RESTORING &&
                             row->handed && row->token == holding->token + 1;
        holding->token = row->token;
        tn_shards_event(step, group, shard, arrived ? TN_HOLD_ARRIVED : TN_HOLD_FOUND, "");
        return;
    }
    default: break;
    }
    if (row->token < holding->token)
        return;
    if (row->token > holding->token) {
        tn_shards_event(step, group, shard, TN_HOLD_LOST, "its token was raised in the store");
        return;
    }
    if (holding->state == TN_HOLDING_LOADING)
        ask(step, TN_OP_LOAD, group, shard);
    else if (holding->state == TN_HOLDING_SERVING && row->state == TN_SHARD_DRAINING)
        start_drain(step, group, shard, row->target);
    else if (holding->state == TN_HOLDING_SERVING && row->state == TN_SHARD_RESTORING)
        ask(step, TN_OP_READY, group, shard);
    else if (holding->state == TN_HOLDING_DRAINING)
        holding->kept = holding->peer && row->state != TN_SHARD_DRAINING;
    else if (holding->state == TN_HOLDING_TRANSFERRING && !holding->asked && holding->peer &&
             row->state != TN_SHARD_DRAINING)
        tn_shards_event(step, group, shard, TN_HOLD_KEPT, "");
    else if (holding->state == TN_HOLDING_TRANSFERRING)
        ask(step, holding->peer ? TN_OP_TRANSFER : TN_OP_RELEASE, group, shard);
}

/* The store says that the shard is somebody else's, or nobody's. */
static void look_at_foreign(struct tn_step *step, uint32_t group, uint32_t shard)
{
    struct tn_keeper_group *g = group_of(step, group);
    struct tn_holding *holding = &g->holdings[shard];
    const struct tn_shard_row *row = &g->view.rows[shard];
    holding->unable = false;
    const bool towards_me = (row->state == TN_SHARD_PREPARING || row->state == TN_SHARD_DRAINING) &&
                            row->target == step->keeper->session;
    switch ((enum tn_holding_state)holding->state) {
    case TN_HOLDING_NONE:
    case TN_HOLDING_WARMING:
    case TN_HOLDING_WARM:
        if (claimable(step->keeper, g, shard)) {
            holding->token = row->token;
            tn_shards_event(step, group, shard, TN_HOLD_CLAIM, "");
        } else if (towards_me && holding->state == TN_HOLDING_WARM && row->state == TN_SHARD_PREPARING) {
            ask(step, TN_OP_PREPARED, group, shard);
        } else if (towards_me && holding->state == TN_HOLDING_NONE && row->state == TN_SHARD_PREPARING) {
            holding->token = row->token;
            tn_shards_event(step, group, shard, TN_HOLD_WARM_UP, "");
        } else if (!towards_me && holding->state != TN_HOLDING_NONE) {
            tn_shards_event(step, group, shard, TN_HOLD_COOLED, "");
        }
        return;
    case TN_HOLDING_CLAIMING:
        if (!holding->asked && !claimable(step->keeper, g, shard))
            tn_shards_event(step, group, shard, TN_HOLD_REFUSED, "");
        else
            ask(step, TN_OP_CLAIM, group, shard);
        return;
    case TN_HOLDING_TRANSFERRING:
        if (row->token > holding->token || (!holding->peer && row->session != step->keeper->session))
            tn_shards_event(step, group, shard, TN_HOLD_GIVEN, "");
        return;
    case TN_HOLDING_ENDING: return;
    default:
        if (row->token >= holding->token)
            tn_shards_event(step, group, shard, TN_HOLD_LOST, "it belongs to another node now");
        return;
    }
}

/* A leaving node whose shard nobody can take over drains it all the same, and releases it. */
static void look_when_leaving(struct tn_step *step, uint32_t group, uint32_t shard)
{
    struct tn_keeper_group *g = group_of(step, group);
    const struct tn_holding *holding = &g->holdings[shard];
    if (holding->state == TN_HOLDING_RESTORING ||
        (holding->state == TN_HOLDING_SERVING &&
         ((!g->eligible && !g->dirty) || tn_keeper_returns(step->keeper))))
        start_drain(step, group, shard, 0);
    else if (holding->state == TN_HOLDING_WARM || holding->state == TN_HOLDING_WARMING)
        tn_shards_event(step, group, shard, TN_HOLD_COOLED, "");
}

void tn_shards_look(struct tn_step *step, uint32_t group, uint32_t shard)
{
    const struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *g = group_of(step, group);
    if (!tn_session_working(keeper) || !g->view.epoch)
        return;
    if (g->view.rows[shard].session == keeper->session)
        look_at_mine(step, group, shard);
    else
        look_at_foreign(step, group, shard);
    if (keeper->phase == TN_PHASE_LEAVING)
        look_when_leaving(step, group, shard);
}

void tn_shards_look_all(struct tn_step *step, uint32_t group)
{
    struct tn_keeper_group *g = group_of(step, group);
    if (g->retry_ms && step->now_ms >= g->retry_ms) {
        g->retry_ms = 0;
        g->rescan = true;
    }
    if (g->retry_ms)
        tn_wake_by(step, g->retry_ms);
    if (!g->rescan || !tn_session_working(step->keeper) || !g->view.epoch)
        return;
    g->rescan = false;
    for (uint32_t shard = 0; shard < g->view.settings.shards; shard++)
        tn_shards_look(step, group, shard);
}

void tn_shards_drop_all(struct tn_step *step, const char *reason)
{
    struct tn_keeper *keeper = step->keeper;
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        struct tn_keeper_group *g = keeper->groups[i];
        for (uint32_t shard = 0; g->joined && g->held && shard < g->view.settings.shards; shard++)
            if (g->holdings[shard].state != TN_HOLDING_NONE)
                tn_shards_event(step, i, shard, TN_HOLD_LOST, reason);
    }
}

/* ---- replies ---- */

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

/* ---- shards that this node does not get on with ---- */

/* Its work here ends at once, and the store gives it to another node. */
static void give_up(struct tn_step *step, uint32_t group, uint32_t shard, const char *reason)
{
    struct tn_holding *holding = &group_of(step, group)->holdings[shard];
    tn_shards_event(step, group, shard, TN_HOLD_LOST, reason);
    holding->unable = true;
    ask(step, TN_OP_RELEASE, group, shard);
}

void tn_shards_stalled(struct tn_step *step, uint32_t group)
{
    struct tn_keeper_group *g = group_of(step, group);
    const int64_t limit = g->view.settings.stall_after_ms;
    if (!limit || !g->serving || !tn_session_working(step->keeper))
        return;
    if (step->now_ms >= g->stall_look_ms) {
        g->stall_look_ms = step->now_ms + limit / 4 + 1;
        for (uint32_t shard = 0; shard < g->view.settings.shards; shard++) {
            const struct tn_holding *holding = &g->holdings[shard];
            if (holding->state != TN_HOLDING_SERVING || step->now_ms - holding->progress_ms < limit)
                continue;
            step->keeper->counters.stalls++;
            tn_say_log(step, "shard %u of group %s has made no progress for %lld ms: given up", shard,
                       g->name, (long long)(step->now_ms - holding->progress_ms));
            give_up(step, group, shard, "it made no progress");
        }
    }
    tn_wake_by(step, g->stall_look_ms);
}

/* ---- the application's word ---- */

static void app_event(struct tn_step *step, const struct tn_keeper_event *event, struct tn_holding *holding)
{
    const uint32_t group = event->group, shard = event->shard;
    const bool current = holding->token == event->token;
    switch (event->kind) {
    case TN_KEEPER_READY:
        if (current && holding->state == TN_HOLDING_RESTORING)
            tn_shards_event(step, group, shard, TN_HOLD_READY, "");
        break;
    case TN_KEEPER_WARMED:
        if (holding->state == TN_HOLDING_WARMING)
            tn_shards_event(step, group, shard, TN_HOLD_WARMED, "");
        break;
    case TN_KEEPER_RELEASED:
        if (current && holding->state == TN_HOLDING_DRAINING)
            holding->released = true;
        break;
    case TN_KEEPER_RELOAD:
        if (current && tn_holding_active(holding))
            tn_shards_event(step, group, shard, TN_HOLD_RELOAD, "");
        break;
    case TN_KEEPER_UNABLE:
        if (current && tn_holding_active(holding))
            give_up(step, group, shard, "the worker gave it up");
        break;
    case TN_KEEPER_PROGRESS:
        if (current)
            holding->progress_ms = step->now_ms;
        break;
    case TN_KEEPER_IDLE:
        if (holding->state == TN_HOLDING_DRAINING)
            holding->idle = true;
        else if (holding->state == TN_HOLDING_QUIESCING || holding->state == TN_HOLDING_ENDING)
            tn_shards_event(step, group, shard, TN_HOLD_IDLE, "");
        break;
    default: break;
    }
}

void tn_shards_app(struct tn_step *step, const struct tn_keeper_event *event)
{
    struct tn_keeper *keeper = step->keeper;
    if (event->group >= keeper->n_groups || !keeper->groups[event->group]->joined ||
        event->shard >= keeper->groups[event->group]->view.settings.shards)
        return;
    struct tn_holding *holding = &keeper->groups[event->group]->holdings[event->shard];
    if (event->kind == TN_KEEPER_STALE) {
        keeper->counters.stale_rejected++;
        keeper->want_sync = true;
        if (holding->token == event->token && tn_holding_active(holding))
            tn_shards_event(step, event->group, event->shard, TN_HOLD_LOST, "the fence refused a write");
    } else {
        app_event(step, event, holding);
    }
    try_drained(step, event->group, event->shard);
    tn_shards_look(step, event->group, event->shard);
}
