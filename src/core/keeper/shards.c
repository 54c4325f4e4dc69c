/* Rows against holdings: what the store says of a shard, and what this node does about it. */
#include "core/keeper/seats.h"

#include "core/lease/rule.h"

static struct tn_keeper_group *group_of(struct tn_step *step, uint32_t group)
{
    return step->keeper->groups[group];
}

/* ---- moving a holding, and what each new state means ---- */

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
    case TN_HOLDING_WARM: tn_shards_ask(step, TN_OP_PREPARED, group, shard); break;
    case TN_HOLDING_CLAIMING: tn_shards_ask(step, TN_OP_CLAIM, group, shard); break;
    case TN_HOLDING_LOADING: tn_shards_ask(step, TN_OP_LOAD, group, shard); break;
    case TN_HOLDING_RELOADING: tn_shards_ask(step, TN_OP_RELOAD, group, shard); break;
    case TN_HOLDING_SERVING:
        holding->progress_ms = step->now_ms;
        tn_say_gate(step, group, shard, holding->token, false);
        tn_shards_ask(step, TN_OP_READY, group, shard);
        break;
    case TN_HOLDING_DRAINING:
        tn_say_gate(step, group, shard, 0, true);
        tell_drain(step, group, shard, row->until_ms);
        break;
    case TN_HOLDING_TRANSFERRING:
        tn_shards_ask(step, holding->peer ? TN_OP_TRANSFER : TN_OP_RELEASE, group, shard);
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
        tn_shards_ask(step, TN_OP_RELEASE, group, shard);
        return;
    }
    switch ((enum tn_holding_state)holding->state) {
    case TN_HOLDING_CLAIMING: tn_shards_ask(step, TN_OP_CLAIM, group, shard); return;
    case TN_HOLDING_RELOADING: tn_shards_ask(step, TN_OP_RELOAD, group, shard); return;
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
        tn_shards_ask(step, TN_OP_LOAD, group, shard);
    else if (holding->state == TN_HOLDING_SERVING && row->state == TN_SHARD_DRAINING)
        start_drain(step, group, shard, row->target);
    else if (holding->state == TN_HOLDING_SERVING && row->state == TN_SHARD_RESTORING)
        tn_shards_ask(step, TN_OP_READY, group, shard);
    else if (holding->state == TN_HOLDING_DRAINING)
        holding->kept = holding->peer && row->state != TN_SHARD_DRAINING;
    else if (holding->state == TN_HOLDING_TRANSFERRING && !holding->asked && holding->peer &&
             row->state != TN_SHARD_DRAINING)
        tn_shards_event(step, group, shard, TN_HOLD_KEPT, "");
    else if (holding->state == TN_HOLDING_TRANSFERRING)
        tn_shards_ask(step, holding->peer ? TN_OP_TRANSFER : TN_OP_RELEASE, group, shard);
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
            tn_shards_ask(step, TN_OP_PREPARED, group, shard);
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
            tn_shards_ask(step, TN_OP_CLAIM, group, shard);
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
