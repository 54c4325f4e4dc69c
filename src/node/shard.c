/* The public side of a shard: events, answers, gates, checkpoints, keys, routing. */
#include "node/node.h"

#include "core/hash/key.h"
#include "sys/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tenure_status tenure_next(struct tenure *tenure, int64_t timeout_ms, struct tenure_event *ret_event)
{
    return tn_events_get(&tenure->events, timeout_ms, ret_event);
}

int tenure_fd(const struct tenure *tenure)
{
    return tenure->events.fd;
}

/* ---- answers ---- */

enum { progress_every_ns = 100 * 1000 * 1000 };

static bool assigned(const struct tenure_group *group, uint32_t shard, uint64_t token)
{
    return shard < group->hasher.shards && token &&
           (atomic_load(&group->slots[shard].assigned) & ~TN_SLOT_DRAINING) == token;
}

static void tell(const struct tenure_group *group, enum tn_keeper_event_kind kind, uint32_t shard,
                 uint64_t token, bool wait)
{
    tn_node_tell(
        group->tenure,
        &(struct tn_keeper_event){.kind = kind, .group = group->index, .shard = shard, .token = token}, wait);
}

enum tenure_status tenure_ready(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (!assigned(group, shard, token))
        return TENURE_STALE;
    tell(group, TN_KEEPER_READY, shard, token, true); /* the gate is open when this returns */
    return TENURE_OK;
}

/* True once: the answer that was open is taken. */
static bool answer(struct tenure_group *group, uint32_t shard, uint64_t expected)
{
    return shard < group->hasher.shards &&
           atomic_compare_exchange_strong(&group->slots[shard].assigned, &expected, 0);
}

enum tenure_status tenure_prepared(struct tenure_group *group, uint32_t shard)
{
    if (!answer(group, shard, TN_SLOT_PREPARING))
        return TENURE_STALE;
    tell(group, TN_KEEPER_WARMED, shard, 0, false);
    return TENURE_OK;
}

enum tenure_status tenure_released(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    /* Nothing is left to be said under this token: the shard goes, or comes back under another. */
    if (!answer(group, shard, TN_SLOT_DRAINING | token))
        return TENURE_STALE;
    tell(group, TN_KEEPER_RELEASED, shard, token, false);
    return TENURE_OK;
}

enum tenure_status tenure_reload(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (!assigned(group, shard, token))
        return TENURE_STALE;
    tell(group, TN_KEEPER_RELOAD, shard, token, true);
    return TENURE_OK;
}

enum tenure_status tenure_rejected(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (shard >= group->hasher.shards || !token)
        return TENURE_BAD_INPUT;
    tell(group, TN_KEEPER_STALE, shard, token, false);
    return TENURE_OK;
}

enum tenure_status tenure_give_up(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (!assigned(group, shard, token))
        return TENURE_STALE;
    tell(group, TN_KEEPER_UNABLE, shard, token, true);
    return TENURE_OK;
}

enum tenure_status tenure_progress(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (!assigned(group, shard, token))
        return TENURE_STALE;
    /* a worker that says it for every record must not be the keeper's main occupation */
    const uint32_t tick = (uint32_t)(tn_clock_quick_ns() / progress_every_ns) | 1u << 31;
    if (atomic_exchange_explicit(&group->progress[shard], tick, memory_order_relaxed) != tick)
        tell(group, TN_KEEPER_PROGRESS, shard, token, false);
    return TENURE_OK;
}

/* ---- checkpoints ---- */

static struct tn_parcel *save_parcel(struct tenure_group *group, const struct tn_item *item)
{
    const struct tn_op op = {.kind = TN_OP_SAVE,
                             .session = atomic_load(&group->tenure->session),
                             .group = group->tenure->keeper.groups[group->index]->view.group,
                             .limit_ms = group->request_ms};
    struct tn_parcel *parcel = tn_parcel_new(&op);
    parcel->item = *item;
    parcel->item.checkpoint.data =
        tn_arena_copy(&parcel->reply, item->checkpoint.data, item->checkpoint.size);
    struct tn_wait *wait = calloc(1, sizeof *wait);
    if (!wait)
        abort();
    tn_cond_init(&wait->done_cond);
    pthread_mutex_init(&wait->lock, NULL);
    parcel->wait = wait;
    return parcel;
}

static enum tenure_status save_outcome(const struct tn_parcel *parcel)
{
    if (parcel->op.status == TENURE_SESSION_ENDED)
        return TENURE_STALE;
    if (parcel->op.status != TENURE_OK)
        return parcel->op.status;
    switch (parcel->item.outcome) {
    case TN_DONE: return TENURE_OK;
    case TN_SEQ_REGRESSED: return TENURE_REGRESSED;
    case TN_ROW_BUSY: return TENURE_BUSY;
    default: return TENURE_STALE;
    }
}

enum tenure_status tenure_checkpoint_save(struct tenure_group *group, uint32_t shard, uint64_t token,
                                          const void *data, size_t size, uint64_t seq, bool rewind,
                                          uint64_t *ret_seq)
{
    if (shard >= group->hasher.shards || !token)
        return TENURE_BAD_INPUT;
    if (size > TN_CHECKPOINT_MAX || seq > TENURE_SEQ_MAX)
        return TENURE_TOO_BIG;
    const struct tn_item item = {.shard = shard,
                                 .token = token,
                                 .rewind = rewind,
                                 .checkpoint = {.data = data, .size = size, .seq = seq}};
    struct tn_parcel *parcel = save_parcel(group, &item);
    tn_courier_send(group->tenure->courier, parcel);
    /* Twice the request timeout: one for the call before it in line, one for its own. */
    if (!tn_courier_await(parcel, 2 * group->request_ms))
        return TENURE_MAYBE;
    const enum tenure_status status = save_outcome(parcel);
    if (status == TENURE_OK && ret_seq)
        *ret_seq = parcel->item.checkpoint.seq;
    tn_parcel_free(parcel);
    if (status == TENURE_STALE)
        tell(group, TN_KEEPER_STALE, shard, token, false);
    return status;
}

/* ---- keys ---- */

uint32_t tenure_group_shards(const struct tenure_group *group)
{
    return group->hasher.shards;
}

const char *tenure_group_name(const struct tenure_group *group)
{
    return group->name;
}

size_t tenure_key_join(const void *const *parts, const size_t *sizes, size_t n, void *into, size_t room)
{
    return tn_key_join(parts, sizes, n, into, room);
}

int64_t tenure_key_bucket(int64_t instant_ms, int64_t width_ms)
{
    return tn_key_bucket(instant_ms, width_ms);
}

/* ---- admission (the bare gates are in hot.c) ---- */

enum tenure_status tenure_enter(struct tenure_group *group, uint32_t shard, uint64_t token)
{
    if (shard >= group->hasher.shards)
        return TENURE_BAD_INPUT;
    bool idle;
    if (tn_gate_enter(group->deadline, &group->slots[shard], token, &idle))
        return TENURE_OK;
    if (idle)
        tell(group, TN_KEEPER_IDLE, shard, 0, false);
    return assigned(group, shard, token) ? TENURE_MOVING : TENURE_NOT_OWNER;
}

void tenure_leave(struct tenure_group *group, uint32_t shard)
{
    if (tn_gate_leave(&group->slots[shard]))
        tell(group, TN_KEEPER_IDLE, shard, 0, false);
}

/* ---- routing, settings and counters ---- */

struct settings_question {
    uint32_t index;
    struct tn_settings *settings;
};

static void look_up_settings(struct tenure *tenure, void *argument)
{
    const struct settings_question *question = argument;
    *question->settings = tenure->keeper.groups[question->index]->view.settings;
}

void tn_node_settings(const struct tenure_group *group, struct tn_settings *ret_settings)
{
    struct settings_question question = {.index = group->index, .settings = ret_settings};
    tn_node_call(group->tenure, look_up_settings, &question);
}

struct route_question {
    const struct tenure_group *group;
    struct tenure_route *route;
    bool owned;
};

static void look_up(struct tenure *tenure, void *argument)
{
    struct route_question *question = argument;
    const struct tn_view *view = &tenure->keeper.groups[question->group->index]->view;
    const struct tn_shard_row *row = &view->rows[question->route->shard];
    const struct tn_member *member = row->session ? tn_view_member(view, row->session) : NULL;
    question->owned = member != NULL;
    if (!member)
        return;
    question->route->token = row->token;
    question->route->mine = row->session == tenure->keeper.session;
    snprintf(question->route->owner, sizeof question->route->owner, "%s", member->node_id);
    snprintf(question->route->address, sizeof question->route->address, "%s", member->address);
}

enum tenure_status tenure_route_shard(struct tenure_group *group, uint32_t shard,
                                      struct tenure_route *ret_route)
{
    if (shard >= group->hasher.shards)
        return TENURE_BAD_INPUT;
    *ret_route = (struct tenure_route){.shard = shard};
    struct route_question question = {.group = group, .route = ret_route};
    tn_node_call(group->tenure, look_up, &question);
    return question.owned ? TENURE_OK : TENURE_NO;
}

static void count(struct tenure *tenure, void *argument)
{
    const struct tn_keeper *keeper = &tenure->keeper;
    struct tenure_counters *counters = argument;
    *counters = (struct tenure_counters){.renewals = keeper->counters.renewals,
                                         .renewal_failures = keeper->counters.renewal_failures,
                                         .stale_rejected = keeper->counters.stale_rejected,
                                         .takeovers = keeper->counters.takeovers,
                                         .moves_in = keeper->counters.moves_in,
                                         .moves_out = keeper->counters.moves_out,
                                         .reloads = keeper->counters.reloads,
                                         .pauses = keeper->counters.pauses,
                                         .store_calls = tn_courier_calls(tenure->courier)};
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        counters->shards_owned += keeper->groups[i]->serving;
}

void tenure_counters(struct tenure *tenure, struct tenure_counters *ret_counters)
{
    tn_node_call(tenure, count, ret_counters);
}

uint64_t tenure_session(struct tenure *tenure)
{
    return atomic_load(&tenure->session);
}

const char *tenure_node_id(const struct tenure *tenure)
{
    return tenure->node_id;
}
