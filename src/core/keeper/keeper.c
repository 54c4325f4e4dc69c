#include "core/keeper/keeper.h"

#include "core/keeper/parts.h"

#include <string.h>

enum { idle_wake_ms = 1000, late_wake_ms = 250 };

void tn_keeper_init(struct tn_keeper *keeper, const struct tn_keeper_options *options)
{
    memset(keeper, 0, sizeof *keeper);
    keeper->options = *options;
    keeper->rng.state = options->seed;
    tn_arena_init(&keeper->memory);
    tn_arena_init(&keeper->scratch);
    keeper->request_ms = 1500;
    keeper->next_tick_ms = keeper->next_sync_ms = keeper->next_probe_ms = INT64_MAX;
    keeper->next_join_ms = keeper->stop_at_ms = INT64_MAX;
}

void tn_keeper_done(struct tn_keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        if (keeper->groups[i]->joined)
            tn_view_done(&keeper->groups[i]->view);
        tn_arena_done(&keeper->groups[i]->memory);
    }
    tn_arena_done(&keeper->memory);
    tn_arena_done(&keeper->scratch);
}

static void refuse_group(struct tn_step *step, uint32_t index, enum tenure_status status, const char *words)
{
    struct tn_notice *notice = tn_say(step, TN_NOTICE_GROUP_FAILED, index, 0);
    notice->status = status;
    notice->reason = words;
}

static void add_group(struct tn_step *step, const char *name)
{
    struct tn_keeper *keeper = step->keeper;
    uint32_t index = 0;
    while (index < keeper->n_groups && strcmp(keeper->groups[index]->name, name) != 0)
        index++;
    if (index < keeper->n_groups && keeper->groups[index]->joined)
        return;
    if (index == keeper->n_groups) {
        struct tn_keeper_group *group = tn_arena_get(&keeper->memory, sizeof *group);
        group->name = tn_arena_text(&keeper->memory, name);
        tn_arena_init(&group->memory);
        keeper->groups[keeper->n_groups++] = group;
    }
    keeper->groups[index]->refused =
        keeper->phase >= TN_PHASE_LEAVING; /* else asked for again: it may exist by now */
    if (keeper->groups[index]->refused)
        refuse_group(step, index, TENURE_CLOSED, "the handle is stopping");
    else
        keeper->next_join_ms = step->now_ms;
}

static void stop(struct tn_step *step, int64_t limit_ms)
{
    struct tn_keeper *keeper = step->keeper;
    if (!tn_phase_next(&keeper->phase, TN_PHASE_ON_STOP))
        return;
    if (keeper->phase == TN_PHASE_STOPPED) {
        tn_say(step, TN_NOTICE_STOPPED, UINT32_MAX, 0)->status = TENURE_OK;
        return;
    }
    keeper->stop_at_ms = limit_ms < INT64_MAX / 4 ? step->now_ms + limit_ms : INT64_MAX / 2;
    keeper->next_tick_ms = step->now_ms;
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        keeper->groups[i]->rescan = keeper->groups[i]->dirty = true;
}

static void heard(struct tn_keeper *keeper, const struct tn_op *op, int64_t now_ms)
{
    tn_contact_answer(&keeper->contact, op->sent_ms, now_ms, op->store_ms, keeper->margin_ms,
                      keeper->renew_ms + 2 * keeper->request_ms);
    keeper->calendar_offset_ms = op->unix_ms - op->store_ms;
}

static void on_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    if (op->status == TENURE_OK)
        heard(keeper, op, step->now_ms);
    if (op->status == TENURE_SESSION_ENDED && op->session == keeper->session)
        tn_session_doubted(step);
    switch (op->kind) {
    case TN_OP_JOIN: tn_session_join_reply(step, op); break;
    case TN_OP_TICK:
    case TN_OP_SYNC: tn_session_tick_reply(step, op); break;
    case TN_OP_LEAVE: tn_session_leave_reply(step, op); break;
    case TN_OP_PROBE:
    case TN_OP_BURY: tn_watch_reply(step, op); break;
    case TN_OP_PLAN:
    case TN_OP_PREPARE:
    case TN_OP_FORCE:
    case TN_OP_ABORT:
    case TN_OP_REVOKE: tn_conduct_reply(step, op); break;
    default: tn_shards_reply(step, op); break;
    }
}

static void on_event(struct tn_step *step, const struct tn_keeper_event *event)
{
    struct tn_keeper *keeper = step->keeper;
    switch (event->kind) {
    case TN_KEEPER_WAKE: break;
    case TN_KEEPER_REPLY: on_reply(step, event->op); break;
    case TN_KEEPER_CHANGED: keeper->want_sync = true; break;
    case TN_KEEPER_JOIN: add_group(step, event->name); break;
    case TN_KEEPER_STOP: stop(step, event->limit_ms); break;
    case TN_KEEPER_READY:
    case TN_KEEPER_WARMED:
    case TN_KEEPER_RELEASED:
    case TN_KEEPER_RELOAD:
    case TN_KEEPER_UNABLE:
    case TN_KEEPER_PROGRESS:
    case TN_KEEPER_IDLE:
    case TN_KEEPER_STALE: tn_shards_app(step, event); break;
    }
}

/* Being called late means that this process was held up: its knowledge of others is as old as that. */
static void notice_pause(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    if (!keeper->expected_wake_ms ||
        step->now_ms <= keeper->expected_wake_ms + late_wake_ms + keeper->margin_ms)
        return;
    keeper->counters.pauses++;
    tn_contact_break(&keeper->contact, step->now_ms);
    for (size_t i = 0; i < keeper->n_watched; i++)
        keeper->watched[i].gone_since_ms = 0;
    tn_say_log(step, "this process was held up for %lld ms",
               (long long)(step->now_ms - keeper->expected_wake_ms));
}

void tn_keeper_step(struct tn_keeper *keeper, const struct tn_keeper_event *event, int64_t now_ms,
                    struct tn_update *update)
{
    struct tn_step step = {.keeper = keeper, .now_ms = now_ms, .update = update, .open_group = UINT32_MAX};
    update->notices = NULL, update->last_notice = &update->notices;
    update->gates = NULL, update->last_gate = &update->gates;
    update->requests = NULL, update->last_request = &update->requests;
    update->wake_ms = now_ms + idle_wake_ms;

    notice_pause(&step);
    /* The own deadline comes before anything that the event may bring: what has lapsed is not revived by a
     * late answer. */
    tn_session_wake(&step);
    on_event(&step, event);
    tn_watch_wake(&step);
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        if (!keeper->groups[i]->joined)
            continue;
        tn_shards_look_all(&step, i);
        tn_shards_stalled(&step, i);
        tn_conduct(&step, i);
        tn_shards_flush(&step, i);
    }
    tn_session_wake(&step);

    update->deadline_ms = tn_session_working(keeper) ? keeper->deadline_ms : 0;
    keeper->expected_wake_ms = update->wake_ms;
}

const char *tn_keeper_check(const struct tn_keeper *keeper)
{
    if (keeper->counters.bugs)
        return "no event arrives in a state that has no row for it";
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        const struct tn_keeper_group *group = keeper->groups[i];
        uint32_t held = 0;
        for (uint32_t s = 0; group->joined && s < group->view.settings.shards; s++) {
            const struct tn_holding *holding = &group->holdings[s];
            held += holding->state != TN_HOLDING_NONE;
            if (holding->state == TN_HOLDING_SERVING && !tn_session_working(keeper))
                return "nothing is served by a node without a running lease";
            if (tn_holding_active(holding) && holding->token == 0)
                return "nothing is assigned without a token";
        }
        if (held != group->held)
            return "the number of held shards is what it is said to be";
    }
    return NULL;
}
