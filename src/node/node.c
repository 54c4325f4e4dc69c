#include "node/node.h"

#include "sys/clock.h"
#include "sys/thread.h"

#include <stdlib.h>

enum { calm_poll_ms = 50, busy_poll_ms = 4, beats_per_grace = 8 };

/* ---- the inbox ---- */

static void put(struct tenure *tenure, struct tn_letter *letter)
{
    pthread_mutex_lock(&tenure->lock);
    letter->next = NULL;
    *tenure->last = letter;
    tenure->last = &letter->next;
    pthread_cond_signal(&tenure->news);
    pthread_mutex_unlock(&tenure->lock);
}

static struct tn_letter *new_letter(void)
{
    struct tn_letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        abort();
    return letter;
}

static void put_and_wait(struct tenure *tenure, struct tn_letter *letter)
{
    struct tn_wait wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .done_cond = PTHREAD_COND_INITIALIZER};
    letter->wait = &wait;
    put(tenure, letter);
    pthread_mutex_lock(&wait.lock);
    while (!wait.done)
        pthread_cond_wait(&wait.done_cond, &wait.lock);
    pthread_mutex_unlock(&wait.lock);
}

static void answer(struct tn_wait *wait)
{
    if (!wait)
        return;
    pthread_mutex_lock(&wait->lock);
    wait->done = true;
    pthread_cond_signal(&wait->done_cond);
    pthread_mutex_unlock(&wait->lock);
}

void tn_node_tell(struct tenure *tenure, const struct tn_keeper_event *event, bool wait)
{
    struct tn_letter *letter = new_letter();
    letter->event = *event;
    if (wait)
        put_and_wait(tenure, letter);
    else
        put(tenure, letter);
}

void tn_node_call(struct tenure *tenure, void (*call)(struct tenure *, void *), void *argument)
{
    struct tn_letter *letter = new_letter();
    letter->call = call;
    letter->argument = argument;
    put_and_wait(tenure, letter);
}

static void on_reply(void *context, struct tn_parcel *parcel)
{
    struct tn_letter *letter = new_letter();
    letter->event.kind = TN_KEEPER_REPLY;
    letter->parcel = parcel;
    put(context, letter);
}

static void on_changed(void *context)
{
    tn_node_tell(context, &(struct tn_keeper_event){.kind = TN_KEEPER_CHANGED}, false);
}

/* ---- carrying out an update ---- */

static void open_group(struct tenure *tenure, uint32_t index)
{
    struct tenure_group *group = tenure->groups[index];
    const struct tn_settings *settings = &tenure->keeper.groups[index]->view.settings;
    if (tenure->share_gates) {
        if (!tn_page_open(&group->page, settings->shards, tenure->keeper.crash_grace_ms * 500000))
            abort();
        tn_deadline_set(&group->page.head->deadline, tenure->deadline_ms);
        group->deadline = &group->page.head->deadline;
        group->slots = group->page.slots;
    } else {
        group->slots = calloc(settings->shards, sizeof *group->slots);
    }
    group->progress = calloc(settings->shards, sizeof *group->progress);
    if (!group->slots || !group->progress ||
        tn_hasher_init(&group->hasher, settings->algo, settings->seed, settings->shards, NULL) != TENURE_OK)
        abort();
    group->request_ms = settings->request_ms;
    pthread_mutex_lock(&tenure->lock);
    group->joined = true;
    pthread_cond_broadcast(&tenure->joined);
    pthread_mutex_unlock(&tenure->lock);
}

static void fail_group(struct tenure *tenure, const struct tn_notice *notice)
{
    pthread_mutex_lock(&tenure->lock);
    struct tenure_group *group = tenure->groups[notice->group];
    tn_error_set(&group->error, notice->status, "%s", notice->reason);
    group->failed = true;
    pthread_cond_broadcast(&tenure->joined);
    pthread_mutex_unlock(&tenure->lock);
}

static enum tenure_event_kind event_kind(enum tn_notice_kind kind)
{
    switch (kind) {
    case TN_NOTICE_ASSIGNED: return TENURE_EVENT_ASSIGNED;
    case TN_NOTICE_PREPARE: return TENURE_EVENT_PREPARE;
    case TN_NOTICE_CANCELLED: return TENURE_EVENT_CANCELLED;
    case TN_NOTICE_DRAIN: return TENURE_EVENT_DRAIN;
    case TN_NOTICE_LOST: return TENURE_EVENT_LOST;
    case TN_NOTICE_JOINED: return TENURE_EVENT_JOINED;
    case TN_NOTICE_ENDED: return TENURE_EVENT_ENDED;
    case TN_NOTICE_STOPPED: return TENURE_EVENT_STOPPED;
    default: return TENURE_EVENT_NONE;
    }
}

static void deliver(struct tenure *tenure, const struct tn_notice *notice)
{
    struct tenure_group *group = notice->group < tenure->n_groups ? tenure->groups[notice->group] : NULL;
    switch (notice->kind) {
    case TN_NOTICE_LOG:
        if (tenure->log)
            tenure->log(tenure->log_context, TENURE_LOG_INFO, notice->reason);
        return;
    case TN_NOTICE_GROUP: open_group(tenure, notice->group); return;
    case TN_NOTICE_GROUP_FAILED: fail_group(tenure, notice); return;
    case TN_NOTICE_ASSIGNED: atomic_store(&group->slots[notice->shard].assigned, notice->token); break;
    case TN_NOTICE_PREPARE: atomic_store(&group->slots[notice->shard].assigned, TN_SLOT_PREPARING); break;
    case TN_NOTICE_DRAIN:
        atomic_store(&group->slots[notice->shard].assigned, TN_SLOT_DRAINING | notice->token);
        break;
    case TN_NOTICE_CANCELLED:
    case TN_NOTICE_LOST: atomic_store(&group->slots[notice->shard].assigned, 0); break;
    case TN_NOTICE_JOINED: atomic_store(&tenure->session, notice->token); break;
    default: break;
    }
    const struct tenure_event event = {.kind = event_kind(notice->kind),
                                       .group = group,
                                       .shard = notice->shard,
                                       .token = notice->token,
                                       .seq = notice->checkpoint.seq,
                                       .checkpoint = notice->checkpoint.data,
                                       .checkpoint_size = notice->checkpoint.size,
                                       .deadline_in_ms = notice->deadline_in_ms,
                                       .status = notice->status,
                                       .reason = notice->reason};
    tn_events_put(&tenure->events, &event);
}

static void set_deadline(struct tenure *tenure, int64_t deadline_ms)
{
    tenure->deadline_ms = deadline_ms;
    tn_deadline_set(&tenure->deadline, deadline_ms);
    for (uint32_t i = 0; tenure->share_gates && i < tenure->keeper.n_groups; i++)
        if (tenure->groups[i]->page.head)
            tn_deadline_set(&tenure->groups[i]->page.head->deadline, deadline_ms);
}

/* Those who look into the pages learn by this that the keeper runs. The time of the next. */
static int64_t beat(struct tenure *tenure)
{
    if (!tenure->share_gates)
        return INT64_MAX;
    const int64_t now_ns = tn_clock_boot_ns(), grace_ms = tenure->keeper.crash_grace_ms;
    for (uint32_t i = 0; i < tenure->keeper.n_groups; i++)
        if (tenure->groups[i]->page.head)
            tn_page_beat(&tenure->groups[i]->page, now_ns, grace_ms * 500000);
    return now_ns / 1000000 + grace_ms / beats_per_grace;
}

static void apply_gates(struct tenure *tenure, const struct tn_update *update)
{
    if (update->deadline_ms != tenure->deadline_ms)
        set_deadline(tenure, update->deadline_ms);
    for (const struct tn_gate_change *change = update->gates; change; change = change->next) {
        struct tn_slot *slot = &tenure->groups[change->group]->slots[change->shard];
        if (tn_gate_set(slot, change->token, change->want_idle))
            tn_node_tell(tenure,
                         &(struct tn_keeper_event){
                             .kind = TN_KEEPER_IDLE, .group = change->group, .shard = change->shard},
                         false);
    }
}

static void send_requests(struct tenure *tenure, struct tn_batch *batch, const struct tn_update *update)
{
    for (const struct tn_request *request = update->requests; request; request = request->next) {
        struct tn_parcel *parcel = tn_parcel_new(&request->op);
        parcel->batch = batch;
        batch->users++;
        tn_courier_send(tenure->courier, parcel);
    }
}

/* Parties to a handoff or a takeover look for news often, all others seldom: when fifty nodes start together,
 * every look of each at every join of each would be the load. */
static void set_pace(struct tenure *tenure)
{
    const struct tn_keeper *keeper = &tenure->keeper;
    bool busy = keeper->phase == TN_PHASE_LEAVING;
    for (uint32_t i = 0; i < keeper->n_groups; i++) {
        const struct tn_keeper_group *group = keeper->groups[i];
        if (group->joined && group->view.plan_epoch)
            busy |= group->unplaced || group->misplaced || group->view.in_handoff ||
                    group->held != group->serving;
    }
    tn_courier_pace(tenure->courier, busy ? busy_poll_ms : calm_poll_ms);
}

static int64_t step(struct tenure *tenure, const struct tn_keeper_event *event)
{
    struct tn_batch *batch = tn_batch_new();
    struct tn_update update = {.arena = &batch->arena};
    tn_keeper_step(&tenure->keeper, event, tn_clock_boot_ms(), &update);
    apply_gates(tenure, &update);
    for (const struct tn_notice *notice = update.notices; notice; notice = notice->next)
        deliver(tenure, notice);
    send_requests(tenure, batch, &update);
    set_pace(tenure);
    tn_batch_drop(batch);
    return update.wake_ms;
}

/* ---- the thread ---- */

static int64_t read_letter(struct tenure *tenure, struct tn_letter *letter)
{
    int64_t wake_ms;
    if (letter->call) {
        letter->call(tenure, letter->argument);
        wake_ms = 0;
    } else {
        letter->event.op = letter->parcel ? &letter->parcel->op : NULL;
        wake_ms = step(tenure, &letter->event);
    }
    answer(letter->wait);
    if (letter->parcel)
        tn_parcel_free(letter->parcel);
    free(letter);
    return wake_ms;
}

static struct tn_letter *next_letter(struct tenure *tenure, int64_t wake_ms)
{
    const int64_t left = wake_ms - tn_clock_boot_ms();
    if (!tenure->first && left > 0 && !tenure->closing)
        tn_cond_wait_ms(&tenure->news, &tenure->lock, left);
    struct tn_letter *letter = tenure->first;
    if (letter) {
        tenure->first = letter->next;
        if (!tenure->first)
            tenure->last = &tenure->first;
    }
    return letter;
}

static void *run(void *context)
{
    struct tenure *tenure = context;
    int64_t wake_ms = tn_clock_boot_ms(), beat_ms = INT64_MAX;
    pthread_mutex_lock(&tenure->lock);
    while (!tenure->closing) {
        struct tn_letter *letter = next_letter(tenure, wake_ms < beat_ms ? wake_ms : beat_ms);
        pthread_mutex_unlock(&tenure->lock);
        beat_ms = beat(tenure);
        const int64_t asked = letter ? read_letter(tenure, letter) : 0;
        if (asked)
            wake_ms = asked;
        else if (tn_clock_boot_ms() >= wake_ms)
            wake_ms = step(tenure, &(struct tn_keeper_event){.kind = TN_KEEPER_WAKE});
        pthread_mutex_lock(&tenure->lock);
    }
    pthread_mutex_unlock(&tenure->lock);
    return NULL;
}

void tn_node_start(struct tenure *tenure, struct tn_store *store)
{
    const struct tn_courier_clients clients = {.context = tenure, .reply = on_reply, .changed = on_changed};
    tenure->courier = tn_courier_open(store, &clients);
    tn_thread_start(&tenure->thread, run, tenure);
}

void tn_node_stop(struct tenure *tenure)
{
    pthread_mutex_lock(&tenure->lock);
    tenure->closing = true;
    pthread_cond_signal(&tenure->news);
    pthread_mutex_unlock(&tenure->lock);
    pthread_join(tenure->thread, NULL);
    set_deadline(tenure, 0);
    tn_courier_close(tenure->courier); /* its last replies land in the inbox */
    for (struct tn_letter *letter = tenure->first, *next; letter; letter = next) {
        next = letter->next;
        answer(letter->wait);
        if (letter->parcel)
            tn_parcel_free(letter->parcel);
        free(letter);
    }
}
