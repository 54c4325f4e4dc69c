/* Rounds: which moves begin, which phases took too long, which moves became pointless. The store's budget
 * arbitrates. */
#include "core/keeper/seats.h"
#include "core/lease/rule.h"
#include "core/lease/trouble.h"

/* ---- when balance moves rest ---- */

int64_t tn_rounds_frozen_until_ms(const struct tn_step *step, const struct tn_view *view)
{
    const struct tn_keeper *keeper = step->keeper;
    const int64_t store_now = tn_contact_store_ms(&keeper->contact, step->now_ms);
    if (view->paused)
        return INT64_MAX;
    if (store_now == INT64_MIN)
        return step->now_ms;
    int64_t left = view->frozen_until_ms > store_now ? view->frozen_until_ms - store_now : 0;
    const int64_t quiet = tn_settings_quiet_left_ms(&view->settings, store_now + keeper->calendar_offset_ms);
    left = quiet > left ? quiet : left;
    return step->now_ms + left;
}

/* ---- beginning moves ---- */

static void count_handoffs(const struct tn_view *view, const struct tn_seats *seats)
{
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        struct tn_seat *from = tn_seat_owner(seats, view, s);
        struct tn_seat *to = row->desired ? tn_seat_find(seats, row->desired) : NULL;
        if (from && to && from != to)
            from->gives = to->receives = true;
        if (!tn_rule_in_handoff(row))
            continue;
        if (row->state ==
            TN_SHARD_RESTORING) { /* the target has it already; whoever gave it is done with it */
            if (from)
                from->in++;
            continue;
        }
        if (from)
            from->out++;
        if (to)
            to->in++;
    }
}

/* A newcomer (gives nothing) and a leaver (receives nothing) may use the whole budget. */
static bool room_for(const struct tn_settings *settings, const struct tn_seat *from, const struct tn_seat *to)
{
    const bool leaver = from->index == TN_PLAN_NONE;
    const int64_t from_most = leaver ? settings->max_moves : settings->max_moves_per_node;
    const int64_t to_most = to->gives ? settings->max_moves_per_node : settings->max_moves;
    return from->out < from_most && to->in < to_most;
}

/* What holds a move that need not be made now, on the store's clock; 0: nothing. */
static int64_t held_until_ms(const struct tn_settings *settings, const struct tn_shard_row *row)
{
    const int64_t cool = row->moved_ms ? row->moved_ms + settings->cool_down_ms : 0;
    return cool > row->hold_until_ms ? cool : row->hold_until_ms;
}

static void start_moves(struct tn_step *step, uint32_t index, const struct tn_seats *seats, bool only_own)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    const struct tn_view *view = &group->view;
    const struct tn_settings *settings = &view->settings;
    const int64_t store_now = tn_contact_store_ms(&keeper->contact, step->now_ms);
    const bool frozen = tn_rounds_frozen_until_ms(step, view) > step->now_ms;
    count_handoffs(view, seats);
    group->next_cool_end_ms = INT64_MAX;
    int64_t budget = settings->max_moves - view->in_handoff;
    for (uint32_t s = 0; s < settings->shards && budget > 0; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        if (row->state != TN_SHARD_OWNED || (only_own && row->session != keeper->session))
            continue;
        struct tn_seat *from = tn_seat_owner(seats, view, s);
        struct tn_seat *to = row->desired ? tn_seat_find(seats, row->desired) : NULL;
        if (!from || from == to || !tn_seat_takes(to))
            continue;
        const bool must_go = from->index == TN_PLAN_NONE;
        const int64_t held = must_go ? 0 : held_until_ms(settings, row);
        if (held > store_now && held < group->next_cool_end_ms)
            group->next_cool_end_ms = held;
        if (held > store_now || (frozen && !must_go) || !room_for(settings, from, to))
            continue;
        tn_say_item(step, TN_OP_PREPARE, index, s, row->token)->peer = to->member->session;
        group->prepare_in_air = true;
        from->out++, to->in++, budget--;
    }
}

static void wake_for_moves(struct tn_step *step, const struct tn_keeper_group *group)
{
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    const int64_t frozen = tn_rounds_frozen_until_ms(step, &group->view);
    if (frozen > step->now_ms)
        tn_wake_by(step, frozen);
    if (group->next_cool_end_ms != INT64_MAX && store_now != INT64_MIN)
        tn_wake_by(step, step->now_ms + group->next_cool_end_ms - store_now);
}

void tn_rounds_consider(struct tn_step *step, uint32_t index, struct tn_seats *seats)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    const bool leaving = keeper->phase == TN_PHASE_LEAVING;
    if (!group->misplaced || group->prepare_in_air ||
        group->view.in_handoff >= group->view.settings.max_moves || (leaving && tn_keeper_returns(keeper)))
        return;
    const int64_t due = group->misplaced_ms + (leaving ? 0 : tn_conduct_stagger_ms(group, keeper->session));
    if (step->now_ms < due) {
        tn_wake_by(step, due);
        return;
    }
    start_moves(step, index, seats, leaving);
    wake_for_moves(step, group);
}

/* ---- phases that took too long, and moves that became pointless ---- */

static enum tn_op_kind remedy(const struct tn_view *view, const struct tn_seats *seats, uint32_t shard,
                              int64_t store_now)
{
    const struct tn_shard_row *row = &view->rows[shard];
    const bool over = row->until_ms <= store_now;
    if (tn_view_free(view, shard))
        return TN_OP_COUNT;
    if (row->state == TN_SHARD_RESTORING) {
        const struct tn_seat *owner = tn_seat_owner(seats, view, shard);
        return over && owner && seats->n_here > tn_seat_takes(owner) ? TN_OP_REVOKE : TN_OP_COUNT;
    }
    if (row->state != TN_SHARD_PREPARING && row->state != TN_SHARD_DRAINING)
        return TN_OP_COUNT;
    const struct tn_member *target = tn_view_member(view, row->target);
    const struct tn_seat *seat = target ? tn_seat_find(seats, target->node) : NULL;
    if (!tn_seat_takes(seat) || row->desired != target->node)
        return TN_OP_ABORT;
    if (!over)
        return TN_OP_COUNT;
    return row->state == TN_SHARD_DRAINING && !view->settings.on_drain_timeout ? TN_OP_FORCE : TN_OP_ABORT;
}

void tn_repair_consider(struct tn_step *step, uint32_t index, const struct tn_seats *seats)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    const struct tn_view *view = &group->view;
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    if (group->next_phase_end_ms == INT64_MAX || group->repair_in_air || store_now == INT64_MIN)
        return;
    const int64_t mine = store_now - tn_conduct_stagger_ms(group, step->keeper->session);
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const enum tn_op_kind verb = remedy(view, seats, s, mine);
        if (verb == TN_OP_COUNT)
            continue;
        tn_say_item(step, verb, index, s, view->rows[s].token)->peer = view->rows[s].target;
        group->repair_in_air = true;
    }
    if (group->next_phase_end_ms > store_now)
        tn_wake_by(step, step->now_ms + group->next_phase_end_ms - store_now);
}
