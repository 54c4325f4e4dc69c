/* The application's word on its shards, and what follows when there is none. */
#include "core/keeper/parts.h"

/* ---- shards that this node does not get on with ---- */

/* Its work here ends at once, and the store gives it to another node. */
static void give_up(struct tn_step *step, uint32_t group, uint32_t shard, const char *reason)
{
    struct tn_holding *holding = &step->keeper->groups[group]->holdings[shard];
    tn_shards_event(step, group, shard, TN_HOLD_LOST, reason);
    holding->unable = true;
    tn_shards_look(step, group, shard); /* which asks for the release */
}

void tn_shards_stalled(struct tn_step *step, uint32_t group)
{
    struct tn_keeper_group *g = step->keeper->groups[group];
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

/* Several ways lead out of draining; all need the worker's word and nothing in flight. */
static void try_drained(struct tn_step *step, uint32_t group, uint32_t shard)
{
    struct tn_holding *holding = &step->keeper->groups[group]->holdings[shard];
    if (holding->state != TN_HOLDING_DRAINING || !holding->released || !holding->idle)
        return;
    tn_shards_event(step, group, shard, holding->kept ? TN_HOLD_KEPT : TN_HOLD_DRAINED, "");
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
