/* Who is dead: presence for processes that are gone, expiry for those that are paused or cut off. */
#include "core/keeper/parts.h"

#include <string.h>

enum { probe_every_ms = 100, probe_batch = 64, bury_stagger_ms = 15, bury_retry_ms = 200 };

static struct tn_watched *find(struct tn_keeper *keeper, uint64_t session)
{
    for (size_t i = 0; i < keeper->n_watched; i++)
        if (keeper->watched[i].session == session)
            return &keeper->watched[i];
    return NULL;
}

static struct tn_watched *add(struct tn_keeper *keeper, uint64_t session)
{
    if (keeper->n_watched == keeper->watched_room) {
        const size_t room = keeper->watched_room ? keeper->watched_room * 2 : 16;
        struct tn_watched *wider = tn_arena_array(&keeper->memory, room, sizeof *wider);
        if (keeper->n_watched)
            memcpy(wider, keeper->watched, keeper->n_watched * sizeof *wider);
        keeper->watched = wider;
        keeper->watched_room = room;
    }
    struct tn_watched *watched = &keeper->watched[keeper->n_watched++];
    *watched = (struct tn_watched){.session = session, .grace_ms = INT64_MAX};
    return watched;
}

static bool member_of_any(const struct tn_keeper *keeper, uint64_t session)
{
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (keeper->groups[i]->joined && tn_view_member(&keeper->groups[i]->view, session))
            return true;
    return false;
}

/* Members came or went: forget those who went, start to watch those who came. What is known of the rest
 * stays. */
void tn_watch_members(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    size_t kept = 0;
    for (size_t i = 0; i < keeper->n_watched; i++)
        if (member_of_any(keeper, keeper->watched[i].session))
            keeper->watched[kept++] = keeper->watched[i];
    keeper->n_watched = kept;
    for (size_t i = 0; i < kept; i++)
        keeper->watched[i].grace_ms = INT64_MAX;
    for (uint32_t g = 0; g < keeper->n_groups; g++) {
        const struct tn_keeper_group *group = keeper->groups[g];
        const uint32_t rank =
            group->joined ? (uint32_t)(tn_conduct_stagger_ms(group, keeper->session) / 150) : 0;
        for (size_t i = 0; group->joined && i < group->view.n_members; i++) {
            const struct tn_member *member = &group->view.members[i];
            if (member->session == keeper->session)
                continue;
            struct tn_watched *watched = find(keeper, member->session);
            if (!watched)
                watched = add(keeper, member->session);
            watched->away = member->state == TN_SESSION_AWAY;
            watched->presence = member->presence && !watched->away;
            watched->lease_ms = member->lease_ms;
            if (member->lease_until_ms > watched->lease_until_ms)
                watched->lease_until_ms = member->lease_until_ms;
            if (group->view.settings.crash_grace_ms < watched->grace_ms)
                watched->grace_ms = group->view.settings.crash_grace_ms;
            watched->rank = rank;
        }
    }
}

void tn_watch_suspects(struct tn_step *step, const struct tn_op_tick *tick)
{
    struct tn_keeper *keeper = step->keeper;
    for (size_t i = 0; i < keeper->n_watched; i++)
        keeper->watched[i].suspect = false;
    for (size_t i = 0; i < tick->n_suspects; i++) {
        const struct tn_suspect *suspect = &tick->suspects[i];
        struct tn_watched *watched = find(keeper, suspect->session);
        if (!watched)
            continue;
        watched->suspect = true;
        if (suspect->lease_until_ms != watched->lease_until_ms)
            watched->far_since_ms = 0;
        watched->lease_ms = suspect->lease_ms;
        watched->lease_until_ms = suspect->lease_until_ms;
    }
    for (size_t i = 0; i < keeper->n_watched; i++)
        if (!keeper->watched[i].suspect)
            keeper->watched[i].far_since_ms = 0;
}

static void bury(struct tn_step *step, struct tn_watched *watched, enum tn_evidence evidence)
{
    struct tn_op *op = tn_say_op(step, TN_OP_BURY);
    op->bury.victim = watched->session;
    op->bury.evidence = evidence;
    op->bury.seen_until_ms = watched->lease_until_ms;
    watched->asked = true;
}

/* By presence: the process and all it started are gone, seen for crash_grace. */
static bool crashed(struct tn_step *step, struct tn_watched *watched)
{
    if (!watched->gone_since_ms)
        return false;
    const int64_t due = watched->gone_since_ms + watched->grace_ms + watched->rank * bury_stagger_ms;
    tn_wake_by(step, due);
    return step->now_ms >= due;
}

/* By expiry: its time has passed on the store's clock, which this node has known steadily for one lease of
 * that session. */
static bool expired(struct tn_step *step, struct tn_watched *watched)
{
    const struct tn_keeper *keeper = step->keeper;
    const int64_t store_now = tn_contact_store_ms(&keeper->contact, step->now_ms);
    if (!watched->suspect || store_now == INT64_MIN ||
        watched->lease_until_ms > store_now + watched->lease_ms)
        return false;
    const int64_t steady_at = keeper->contact.steady_since_ms + watched->lease_ms;
    int64_t due = step->now_ms + watched->lease_until_ms - store_now;
    if (due < steady_at && !watched->away) /* who is away cannot be thought dead by mistake */
        due = steady_at;
    due += watched->rank * bury_stagger_ms;
    tn_wake_by(step, due);
    return step->now_ms >= due;
}

/* An end further ahead than a lease can only come of a clock that stepped: it counts as one lease after it
 * was first seen. */
static bool too_far(struct tn_step *step, struct tn_watched *watched)
{
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    if (!watched->suspect || store_now == INT64_MIN ||
        watched->lease_until_ms <= store_now + watched->lease_ms + step->keeper->margin_ms) {
        watched->far_since_ms = 0;
        return false;
    }
    if (!watched->far_since_ms)
        watched->far_since_ms = step->now_ms;
    int64_t due = watched->far_since_ms + watched->lease_ms;
    const int64_t steady_at = step->keeper->contact.steady_since_ms + watched->lease_ms;
    if (due < steady_at)
        due = steady_at;
    tn_wake_by(step, due);
    return step->now_ms >= due;
}

static void probe(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    uint64_t *sessions = tn_arena_array(step->update->arena, probe_batch, sizeof *sessions);
    size_t n = 0, looked = 0;
    for (; looked < keeper->n_watched && n < probe_batch; looked++) {
        const struct tn_watched *watched =
            &keeper->watched[(keeper->probe_from + looked) % keeper->n_watched];
        if (watched->presence)
            sessions[n++] = watched->session;
    }
    if (keeper->n_watched)
        keeper->probe_from = (keeper->probe_from + looked) % keeper->n_watched;
    keeper->next_probe_ms = step->now_ms + probe_every_ms;
    if (!n)
        return;
    struct tn_op *op = tn_say_op(step, TN_OP_PROBE);
    op->probe.sessions = sessions;
    op->probe.n = n;
    keeper->probe_in_air = true;
}

void tn_watch_wake(struct tn_step *step)
{
    struct tn_keeper *keeper = step->keeper;
    if (!tn_session_working(keeper) || !keeper->n_watched)
        return;
    if (step->now_ms >= keeper->next_probe_ms && !keeper->probe_in_air)
        probe(step);
    if (!keeper->probe_in_air)
        tn_wake_by(step, keeper->next_probe_ms);
    for (size_t i = 0; i < keeper->n_watched; i++) {
        struct tn_watched *watched = &keeper->watched[i];
        if (watched->asked || step->now_ms < watched->not_before_ms)
            continue;
        if (crashed(step, watched))
            bury(step, watched, TN_CRASHED);
        else if (expired(step, watched))
            bury(step, watched, TN_EXPIRED);
        else if (too_far(step, watched))
            bury(step, watched, TN_TOO_FAR);
    }
}

static void probe_reply(struct tn_step *step, const struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->probe_in_air = false;
    for (size_t i = 0; op->status == TENURE_OK && i < op->probe.n; i++) {
        struct tn_watched *watched = find(keeper, op->probe.sessions[i]);
        if (!watched)
            continue;
        if (op->probe.found[i] != TN_PRESENCE_GONE)
            watched->gone_since_ms = 0;
        else if (!watched->gone_since_ms)
            watched->gone_since_ms = op->sent_ms;
    }
}

static void bury_reply(struct tn_step *step, const struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    keeper->want_sync = true;
    struct tn_watched *watched = find(keeper, op->bury.victim);
    if (op->status == TENURE_OK && op->bury.buried) {
        keeper->counters.burials++;
        tn_say_log(step, "session %llu is %s", (unsigned long long)op->bury.victim,
                   op->bury.evidence == TN_CRASHED ? "gone: its process is no more"
                                                   : "over: its lease ran out");
    }
    if (!watched)
        return;
    watched->asked = false;
    watched->not_before_ms = step->now_ms + bury_retry_ms;
    if (op->status != TENURE_OK || op->bury.dead)
        return;
    watched->lease_until_ms = op->bury.lease_until_ms;
    watched->gone_since_ms = 0;
}

void tn_watch_reply(struct tn_step *step, struct tn_op *op)
{
    if (op->session != step->keeper->session)
        return;
    if (op->kind == TN_OP_PROBE)
        probe_reply(step, op);
    else
        bury_reply(step, op);
}
