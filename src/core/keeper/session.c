/* Join, renewal, lapse and end of this node's session. */
#include "core/keeper/seats.h"

#include <string.h>

enum { join_retry_ms = 100, refresh_ms = 1000, tick_retry_ms = 100 };

bool tn_session_working(const struct tn_keeper *keeper)
{
    return (keeper->phase == TN_PHASE_LIVE || keeper->phase == TN_PHASE_LEAVING) && !keeper->lapsed;
}

/* ---- joining ---- */

static void ask_join(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    if (tn_phase_next(&keeper->phase, TN_PHASE_ON_ASK))
        for (int i = 0; i < TN_NONCE_BYTES; i++)
            keeper->nonce[i] = (uint8_t)tn_rng_next(&keeper->rng);
    struct tn_op *op = tn_say_op(step, TN_OP_JOIN);
    op->session = 0;
    op->join.node_id = keeper->options.node_id;
    op->join.address = keeper->options.address;
    op->join.labels = keeper->options.labels;
    op->join.weight_milli = keeper->options.weight_milli;
    op->join.replace = keeper->options.replace;
    memcpy(op->join.nonce, keeper->nonce, sizeof keeper->nonce);
    op->join.groups = tn_arena_array(step->update->arena, keeper->n_groups, sizeof *op->join.groups);
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (!keeper->groups[i]->refused)
            op->join.groups[op->join.n_groups++].name = keeper->groups[i]->name;
    keeper->join_in_air = true;
}

static bool wants_a_group(const struct tn_keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (!keeper->groups[i]->refused)
            return true;
    return false;
}

static void fail_group(struct tn_step *step, uint32_t index, enum tenure_status status, const char *text)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    if (tenure_status_class(status) != TENURE_CLASS_RETRY &&
        tenure_status_class(status) != TENURE_CLASS_MAYBE)
        group->refused = true;
    struct tn_notice *notice = tn_say(step, TN_NOTICE_GROUP_FAILED, index, 0);
    notice->status = status;
    notice->reason = tn_arena_text(step->update->arena, text);
}

static bool fingerprint_agrees(struct tn_step *step, uint32_t index, const struct tn_join_group *joined)
{
    struct tn_hasher hasher;
    struct tenure_error error = {0};
    const struct tn_settings *settings = &joined->settings;
    enum tenure_status status =
        tn_hasher_init(&hasher, settings->algo, settings->seed, settings->shards, &error);
    if (status == TENURE_OK && tn_hash_fingerprint(&hasher) == joined->fingerprint)
        return true;
    fail_group(step, index, TENURE_FINGERPRINT,
               status == TENURE_OK
                   ? "this program's hash of the group's sample keys differs from the group's "
                     "fingerprint; it must be built with the same hash"
                   : error.text);
    return false;
}

/* Deleted and made anew while this session was over: the name is the same, everything else is not. */
static bool reopened(const struct tn_keeper_group *group, const struct tn_join_group *joined)
{
    return group->joined && group->view.group != joined->group;
}

static bool fits(const struct tn_keeper_group *group, const struct tn_settings *settings)
{
    const struct tn_settings *had = &group->view.settings;
    return had->shards == settings->shards && had->algo == settings->algo && had->seed == settings->seed;
}

static void open_group(struct tn_step *step, uint32_t index, const struct tn_join_group *joined)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    if (reopened(group, joined)) {
        tn_view_done(&group->view);
        tn_view_init(&group->view, joined->group, &joined->settings);
        group->dirty = true;
        group->first_join_ms = group->last_join_ms = 0;
    }
    if (!group->joined) {
        tn_view_init(&group->view, joined->group, &joined->settings);
        group->holdings = tn_arena_array(&group->memory, joined->settings.shards, sizeof *group->holdings);
        group->joined = true;
        group->next_phase_end_ms = group->next_cool_end_ms = INT64_MAX;
        tn_say(step, TN_NOTICE_GROUP, index, 0);
    }
    group->view.epoch = 0; /* read everything again: the session may be another one */
    group->plan_in_air = group->prepare_in_air = group->repair_in_air = false;
    tn_shards_new_session(group);
}

/* The session is as strict as the strictest of its groups. */
static void adopt_timing(struct tn_keeper *keeper)
{
    const struct tn_settings *strictest = NULL;
    keeper->crash_grace_ms = keeper->return_within_ms = INT64_MAX;
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        if (!keeper->groups[i]->joined)
            continue;
        const struct tn_settings *settings = &keeper->groups[i]->view.settings;
        if (!strictest || settings->lease_ms < strictest->lease_ms)
            strictest = settings;
        if (settings->crash_grace_ms < keeper->crash_grace_ms)
            keeper->crash_grace_ms = settings->crash_grace_ms;
        if (settings->return_within_ms < keeper->return_within_ms)
            keeper->return_within_ms = settings->return_within_ms;
    }
    if (!strictest)
        return;
    keeper->lease_ms = strictest->lease_ms;
    keeper->renew_ms = strictest->renew_ms;
    keeper->request_ms = strictest->request_ms;
    keeper->margin_ms = strictest->margin_ms;
}

static void begin_session(struct tn_step *step, const struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    const bool fresh = keeper->session != op->join.session;
    bool changed = false;
    keeper->session = op->join.session;
    keeper->node = op->join.node;
    keeper->history = op->history;
    if (fresh) /* before the groups: who waits for a group finds the session's event there */
        tn_say(step, TN_NOTICE_JOINED, UINT32_MAX, 0)->token = keeper->session;
    for (size_t j = 0; j < op->join.n_groups; j++)
        for (uint32_t i = 0; i < keeper->n_groups; i++)
            if (!keeper->groups[i]->refused && !strcmp(keeper->groups[i]->name, op->join.groups[j].name) &&
                (!keeper->groups[i]->joined || fresh) && fingerprint_agrees(step, i, &op->join.groups[j])) {
                changed |= reopened(keeper->groups[i], &op->join.groups[j]) &&
                           !fits(keeper->groups[i], &op->join.groups[j].settings);
                if (!changed)
                    open_group(step, i, &op->join.groups[j]);
            }
    adopt_timing(keeper);
    if (!fresh)
        return;
    tn_phase_next(&keeper->phase, TN_PHASE_ON_JOINED);
    keeper->lates = 0;
    keeper->version = 0;
    keeper->lapsed = false;
    keeper->rival_told = false;
    keeper->tick_in_air = keeper->sync_in_air = keeper->probe_in_air = false;
    for (size_t i = 0; i < keeper->n_watched; i++)
        keeper->watched[i].asked = false; /* what the old session asked is answered to nobody */
    /* From what the store says, not from the lease: a repeated join answers with the time of the first. */
    keeper->deadline_ms = op->sent_ms + (op->join.lease_until_ms - op->store_ms) - keeper->margin_ms;
    keeper->next_tick_ms = step->now_ms + keeper->renew_ms;
    keeper->next_probe_ms = step->now_ms;
    if (!changed)
        return;
    /* Keys and shards of this handle mean something else now: leave, rather than be given shards that nobody
     * serves. */
    tn_say_log(step, "a group was deleted and made anew with another shard count or hash: this node leaves");
    tn_phase_next(&keeper->phase, TN_PHASE_ON_STOP);
    keeper->gave_up = true;
    keeper->stop_at_ms = step->now_ms;
}

static void join_refused(struct tn_step *step, const struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->next_join_ms =
        step->now_ms + join_retry_ms + (int64_t)tn_rng_below(&keeper->rng, join_retry_ms / 2);
    if (op->status == TENURE_SESSION_ENDED) /* made by an earlier try, and over before its answer came */
        tn_phase_next(&keeper->phase, TN_PHASE_ON_OVER);
    if (op->status == TENURE_NOT_FOUND && op->join.missing_group < op->join.n_groups) {
        for (uint32_t i = 0; i < keeper->n_groups; i++)
            if (!keeper->groups[i]->refused &&
                !strcmp(keeper->groups[i]->name, op->join.groups[op->join.missing_group].name))
                fail_group(step, i, op->status, op->error.text);
        return;
    }
    /* A rival may be a crashed process that nobody has buried yet: keep asking, the caller's patience is the
     * limit. */
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        if (keeper->groups[i]->joined || keeper->groups[i]->refused)
            continue;
        struct tn_notice *notice = tn_say(step, TN_NOTICE_GROUP_FAILED, i, 0);
        notice->status = op->status;
        notice->reason = tn_arena_text(step->update->arena, op->error.text);
    }
}

void tn_session_join_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->join_in_air = false;
    if (keeper->phase == TN_PHASE_STOPPED)
        return;
    if (op->status != TENURE_OK) {
        join_refused(step, op);
        return;
    }
    begin_session(step, op);
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (!keeper->groups[i]->joined && !keeper->groups[i]->refused)
            keeper->next_join_ms = step->now_ms; /* asked for while this join was on its way */
    keeper->want_sync = true;
}

/* ---- renewing ---- */

static struct tn_op *ask_read(struct tn_step *step, enum tn_op_kind kind)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_op *op = tn_say_op(step, kind);
    op->tick.lease_ms = keeper->lease_ms;
    op->tick.leaving = keeper->phase == TN_PHASE_LEAVING && !tn_keeper_returns(keeper);
    op->tick.lates_seen = keeper->lates;
    op->tick.history = keeper->history;
    op->tick.cursors = tn_arena_array(step->update->arena, keeper->n_groups, sizeof *op->tick.cursors);
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        const struct tn_keeper_group *group = keeper->groups[i];
        if (group->joined)
            op->tick.cursors[op->tick.n_cursors++] =
                (struct tn_cursor){.group = group->view.group, .epoch = group->view.epoch};
    }
    keeper->want_sync = false;
    keeper->next_sync_ms = step->now_ms + refresh_ms;
    return op;
}

static void apply_deltas(struct tn_step *step, const struct tn_op_tick *tick)
{
    struct tn_keeper *keeper = step->keeper;
    bool members_changed = false;
    for (size_t d = 0; d < tick->n_deltas; d++) {
        const struct tn_delta *delta = &tick->deltas[d];
        const uint32_t index = tn_group_index(keeper, delta->group);
        if (index == UINT32_MAX)
            continue;
        struct tn_keeper_group *group = keeper->groups[index];
        if (delta->gone) {
            tn_say_log(step, "group %s was deleted", group->name);
            continue;
        }
        tn_view_apply(&group->view, delta);
        if (delta->settings) {
            adopt_timing(keeper);
            members_changed = true; /* how they are watched depends on the settings */
        }
        if (delta->members_changed) {
            if (!group->first_join_ms)
                group->first_join_ms = step->now_ms;
            group->last_join_ms = group->members_ms = step->now_ms;
            group->rescan = members_changed = true;
        }
        if (delta->full)
            group->rescan = true;
        if (delta->n_changes || delta->members_changed || delta->settings)
            group->dirty = true;
        if (!group->rescan)
            for (size_t i = 0; i < delta->n_changes; i++)
                tn_shards_look(step, index, delta->changes[i].shard);
    }
    if (members_changed)
        tn_watch_members(step);
    tn_watch_suspects(step, tick);
}

static void renewed(struct tn_step *step, const struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->counters.renewals++;
    if (op->tick.renewal == TN_LATE) {
        tn_say_log(step, "the lease had run out before it was renewed; every shard is taken up again under a "
                         "raised token");
        tn_shards_drop_all(step, "the lease ran out");
        keeper->lates = op->tick.lates;
    }
    const int64_t deadline = op->sent_ms + op->tick.lease_until_ms - op->store_ms - keeper->margin_ms;
    if (deadline <= step->now_ms)
        return; /* the answer came too late to be of use */
    keeper->deadline_ms = deadline;
    if (keeper->lapsed || op->tick.renewal == TN_LATE)
        for (uint32_t i = 0; i < keeper->n_groups; i++)
            keeper->groups[i]->rescan = true;
    keeper->lapsed = false;
}

static void session_ended(struct tn_step *step, const char *reason)
{
    struct tn_keeper *keeper = step->keeper;
    const bool replaced = !strcmp(reason, "replaced");
    tn_shards_drop_all(step, replaced ? "another process took over this node id" : "the session was ended");
    keeper->deadline_ms = 0;
    keeper->next_tick_ms = keeper->next_probe_ms = keeper->next_sync_ms = INT64_MAX;
    struct tn_notice *notice = tn_say(step, TN_NOTICE_ENDED, UINT32_MAX, 0);
    notice->status = replaced ? TENURE_REPLACED : TENURE_SESSION_ENDED;
    notice->reason = tn_arena_text(step->update->arena, reason);
    tn_phase_next(&keeper->phase, replaced ? TN_PHASE_ON_REPLACED : TN_PHASE_ON_OVER);
    if (keeper->phase == TN_PHASE_STOPPED)
        tn_say(step, TN_NOTICE_STOPPED, UINT32_MAX, 0)->status = replaced                  ? TENURE_REPLACED
                                                                 : !strcmp(reason, "left") ? TENURE_OK
                                                                                           : TENURE_REFUSED;
    else
        keeper->next_join_ms = step->now_ms;
}

/* Something was moved away from this session although the deltas show nothing: they are not to be trusted. */
static void check_version(struct tn_keeper *keeper, const struct tn_op_tick *tick)
{
    bool news = false;
    for (size_t d = 0; d < tick->n_deltas; d++)
        news |= tick->deltas[d].n_changes > 0;
    if (tick->version != keeper->version && !news && keeper->version) {
        for (uint32_t i = 0; i < keeper->n_groups; i++)
            keeper->groups[i]->view.epoch = 0;
        keeper->want_sync = true;
    }
    keeper->version = tick->version;
}

void tn_session_tick_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    if (op->session != keeper->session || keeper->phase == TN_PHASE_STOPPED)
        return; /* of an earlier session */
    const bool tick = op->kind == TN_OP_TICK;
    *(tick ? &keeper->tick_in_air : &keeper->sync_in_air) = false;
    if (keeper->phase != TN_PHASE_LIVE && keeper->phase != TN_PHASE_LEAVING)
        return;
    if (op->status != TENURE_OK) {
        keeper->want_sync |= !tick;
        keeper->next_sync_ms = step->now_ms + refresh_ms;
        if (!tick)
            return;
        keeper->counters.renewal_failures++;
        tn_say_log(step, "renewal failed: %s",
                   op->error.text[0] ? op->error.text : tenure_status_sentence(op->status));
        const int64_t again =
            step->now_ms + tick_retry_ms + (int64_t)tn_rng_below(&keeper->rng, tick_retry_ms);
        if (again < keeper->next_tick_ms)
            keeper->next_tick_ms = again;
        return;
    }
    if (op->tick.renewal == TN_ENDED) {
        session_ended(step, op->tick.end_reason);
        return;
    }
    keeper->history = op->history;
    if (tick)
        renewed(step, op);
    apply_deltas(step, &op->tick);
    check_version(keeper, &op->tick);
}

/* ---- the end ---- */

static bool holds_nothing(const struct tn_keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (keeper->groups[i]->held)
            return false;
    return true;
}

static void try_to_leave(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    if (keeper->leave_in_air || step->now_ms < keeper->next_leave_ms) {
        tn_wake_by(step, keeper->next_leave_ms > step->now_ms ? keeper->next_leave_ms : INT64_MAX);
        return;
    }
    const bool over = step->now_ms >= keeper->stop_at_ms;
    if (!over && !holds_nothing(keeper)) {
        tn_wake_by(step, keeper->stop_at_ms);
        return;
    }
    if (!holds_nothing(keeper)) {
        keeper->gave_up = true;
        tn_shards_drop_all(step, "the time to drain is over");
    }
    tn_say_op(step, TN_OP_LEAVE)->leave.return_within_ms =
        tn_keeper_returns(keeper) ? keeper->return_within_ms : 0;
    keeper->leave_in_air = true;
}

void tn_session_leave_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->leave_in_air = false;
    if (keeper->phase != TN_PHASE_LEAVING)
        return;
    const bool left = op->status == TENURE_OK;
    keeper->next_leave_ms = step->now_ms + tick_retry_ms;
    if (!left && step->now_ms < keeper->stop_at_ms)
        return; /* tried again then */
    tn_phase_next(&keeper->phase, TN_PHASE_ON_LEFT);
    struct tn_notice *notice = tn_say(step, TN_NOTICE_STOPPED, UINT32_MAX, 0);
    notice->status = !left ? op->status : keeper->gave_up ? TENURE_REFUSED : TENURE_OK;
    notice->reason = tn_arena_text(step->update->arena, left ? "" : op->error.text);
}

/* ---- time ---- */

static void lapse(struct tn_step *step, const char *reason)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->lapsed = true;
    tn_shards_drop_all(step, reason);
    keeper->next_tick_ms = step->now_ms;
}

/* Some request was told that the session is dead. Stop at once; the renewal will say how it ended. */
void tn_session_doubted(struct tn_step *step)
{
    if (tn_session_working(step->keeper))
        lapse(step, "the session was ended");
}

void tn_session_wake(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    const int64_t now = step->now_ms;
    if (now >= keeper->next_join_ms && !keeper->join_in_air && keeper->phase <= TN_PHASE_LIVE) {
        keeper->next_join_ms = INT64_MAX;
        if (wants_a_group(keeper))
            ask_join(step);
    }
    tn_wake_by(step, keeper->join_in_air ? INT64_MAX : keeper->next_join_ms);
    if (keeper->phase != TN_PHASE_LIVE && keeper->phase != TN_PHASE_LEAVING)
        return;
    if (!keeper->lapsed && now >= keeper->deadline_ms)
        lapse(step, "the lease could not be renewed in time");
    if (!keeper->lapsed)
        tn_wake_by(step, keeper->deadline_ms);
    if (now >= keeper->next_tick_ms && !keeper->tick_in_air) {
        ask_read(step, TN_OP_TICK);
        keeper->tick_in_air = true;
        /* jittered downwards, so that a fleet does not renew in step and the interval is a promise */
        keeper->next_tick_ms =
            now + keeper->renew_ms - (int64_t)tn_rng_below(&keeper->rng, (uint64_t)keeper->renew_ms / 10 + 1);
    } else if ((keeper->want_sync || now >= keeper->next_sync_ms) && !keeper->sync_in_air) {
        ask_read(step, TN_OP_SYNC);
        keeper->sync_in_air = true;
    }
    if (!keeper->tick_in_air)
        tn_wake_by(step, keeper->next_tick_ms);
    if (!keeper->sync_in_air)
        tn_wake_by(step, keeper->next_sync_ms);
    if (keeper->phase == TN_PHASE_LEAVING)
        try_to_leave(step);
}
