#include "node/courier.h"

#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { merge_most = 64, save_gap_ms = 1 };

struct tn_courier {
    struct tn_store *store;
    struct tn_courier_clients clients;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the line and `closing` */
    pthread_cond_t news;
    struct tn_parcel *first, **last;
    bool closing;
    int presence; /* own duplicate, so that it can be handed out while the store is busy; -1; guarded by
                     `lock` */
    _Atomic int64_t every_ms;
    _Atomic uint64_t calls;
};

/* Renewals first, then what the keeper asks (a move may wait for it), then what applications save; within
 * each in order. */
static int rank(const struct tn_parcel *parcel)
{
    return parcel->urgent ? 2 : parcel->wait ? 0 : 1;
}

static struct tn_parcel *take(struct tn_courier *courier)
{
    struct tn_parcel **at = &courier->first;
    for (struct tn_parcel **p = &courier->first; *p; p = &(*p)->next)
        if (rank(*p) > rank(*at))
            at = p;
    struct tn_parcel *parcel = *at;
    if (!parcel)
        return NULL;
    *at = parcel->next;
    if (!*at)
        courier->last = at;
    parcel->next = NULL;
    return parcel;
}

static bool goes_with(const struct tn_parcel *a, const struct tn_parcel *b)
{
    return b->wait && b->op.kind == TN_OP_SAVE && a->op.group == b->op.group &&
           a->op.session == b->op.session;
}

/* Takes the saves that can share the transaction of `parcel`, in order, and never two of one shard. */
static void take_companions(struct tn_courier *courier, struct tn_parcel *parcel)
{
    if (!parcel->wait || parcel->op.kind != TN_OP_SAVE)
        return;
    int n = 1;
    struct tn_parcel **end = &parcel->next;
    struct tn_parcel **p = &courier->first;
    while (*p && n < merge_most) {
        struct tn_parcel *other = *p;
        bool fits = goes_with(parcel, other);
        for (const struct tn_parcel *had = parcel; fits && had; had = had->next)
            fits = had->item.shard != other->item.shard;
        if (!fits) {
            p = &other->next;
            continue;
        }
        *p = other->next;
        other->next = NULL;
        *end = other;
        end = &other->next;
        n++;
    }
    courier->last = &courier->first;
    while (*courier->last)
        courier->last = &(*courier->last)->next;
}

static void finish(struct tn_courier *courier, struct tn_parcel *parcel)
{
    struct tn_wait *wait = parcel->wait;
    if (!wait) {
        courier->clients.reply(courier->clients.context, parcel);
        return;
    }
    pthread_mutex_lock(&wait->lock);
    wait->done = true;
    const bool abandoned = wait->abandoned;
    pthread_cond_signal(&wait->done_cond);
    pthread_mutex_unlock(&wait->lock);
    if (abandoned) {
        pthread_mutex_destroy(&wait->lock);
        pthread_cond_destroy(&wait->done_cond);
        free(wait);
        tn_parcel_free(parcel);
    }
}

/* After a join the store may hold another presence than before. */
static void note_presence(struct tn_courier *courier)
{
    const int held = tn_store_presence(courier->store);
    pthread_mutex_lock(&courier->lock);
    if (courier->presence >= 0)
        close(courier->presence);
    courier->presence = held < 0 ? -1 : fcntl(held, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&courier->lock);
}

static void carry_out(struct tn_courier *courier, struct tn_parcel *parcel)
{
    struct tn_item items[merge_most];
    parcel->op.arena = &parcel->reply;
    if (parcel->wait) {
        parcel->op.items = items;
        parcel->op.n_items = 0;
        for (struct tn_parcel *p = parcel; p; p = p->next)
            items[parcel->op.n_items++] = p->item;
    }
    courier->store->type->exec(courier->store, &parcel->op);
    if (parcel->op.kind == TN_OP_JOIN)
        note_presence(courier);
    atomic_fetch_add_explicit(&courier->calls, 1, memory_order_relaxed);
    const struct tn_op done = parcel->op;
    size_t i = 0;
    for (struct tn_parcel *p = parcel, *next; p; p = next) {
        next = p->next;
        p->next = NULL;
        if (p->wait) {
            p->item.outcome = items[i].outcome;
            p->item.checkpoint.seq = items[i++].checkpoint.seq;
            p->op.status = done.status;
            p->op.error = done.error;
        }
        finish(courier, p);
    }
}

static void *run(void *context)
{
    struct tn_courier *courier = context;
    int64_t looked_ms = 0;
    pthread_mutex_lock(&courier->lock);
    while (!courier->closing) {
        struct tn_parcel *parcel = take(courier);
        const int64_t now = tn_clock_boot_ms();
        const int64_t look_ms = looked_ms + atomic_load(&courier->every_ms);
        if (!parcel && now < look_ms) {
            tn_cond_wait_ms(&courier->news, &courier->lock, look_ms - now);
            continue;
        }
        if (parcel)
            take_companions(courier, parcel);
        pthread_mutex_unlock(&courier->lock);
        const bool save = parcel && rank(parcel) == 0;
        if (parcel)
            carry_out(courier, parcel);
        /* A store without a queue for its lock would go to whoever asks again at once: a node with much to
         * save leaves it free for a moment, or the renewals of others would starve. */
        if (save)
            tn_clock_sleep_ms(save_gap_ms);
        if (now >= look_ms) {
            looked_ms = now;
            if (courier->store->type->changed(courier->store))
                courier->clients.changed(courier->clients.context);
        }
        pthread_mutex_lock(&courier->lock);
    }
    pthread_mutex_unlock(&courier->lock);
    return NULL;
}

struct tn_courier *tn_courier_open(struct tn_store *store, const struct tn_courier_clients *clients)
{
    struct tn_courier *courier = calloc(1, sizeof *courier);
    if (!courier)
        abort();
    courier->store = store;
    courier->clients = *clients;
    courier->last = &courier->first;
    courier->every_ms = 50;
    courier->presence = -1;
    pthread_mutex_init(&courier->lock, NULL);
    tn_cond_init(&courier->news);
    tn_thread_start(&courier->thread, run, courier);
    return courier;
}

void tn_courier_close(struct tn_courier *courier)
{
    pthread_mutex_lock(&courier->lock);
    courier->closing = true;
    pthread_cond_signal(&courier->news);
    pthread_mutex_unlock(&courier->lock);
    pthread_join(courier->thread, NULL);
    for (struct tn_parcel *p = courier->first, *next; p; p = next) {
        next = p->next;
        p->op.status = TENURE_CLOSED;
        if (p->wait)
            finish(courier, p);
        else
            tn_parcel_free(p);
    }
    if (courier->presence >= 0)
        close(courier->presence);
    courier->store->type->close(courier->store);
    pthread_cond_destroy(&courier->news);
    pthread_mutex_destroy(&courier->lock);
    free(courier);
}

void tn_courier_send(struct tn_courier *courier, struct tn_parcel *parcel)
{
    pthread_mutex_lock(&courier->lock);
    parcel->next = NULL;
    *courier->last = parcel;
    courier->last = &parcel->next;
    pthread_cond_signal(&courier->news);
    pthread_mutex_unlock(&courier->lock);
}

void tn_courier_pace(struct tn_courier *courier, int64_t every_ms)
{
    if (atomic_exchange(&courier->every_ms, every_ms) <= every_ms)
        return;
    pthread_mutex_lock(&courier->lock);
    pthread_cond_signal(&courier->news);
    pthread_mutex_unlock(&courier->lock);
}

bool tn_courier_await(struct tn_parcel *parcel, int64_t limit_ms)
{
    struct tn_wait *wait = parcel->wait;
    const struct timespec until = tn_cond_in_ms(limit_ms);
    pthread_mutex_lock(&wait->lock);
    while (!wait->done && pthread_cond_timedwait(&wait->done_cond, &wait->lock, &until) != ETIMEDOUT)
        continue;
    const bool done = wait->done;
    wait->abandoned = !done;
    pthread_mutex_unlock(&wait->lock);
    if (done) {
        pthread_mutex_destroy(&wait->lock);
        pthread_cond_destroy(&wait->done_cond);
        free(wait);
        parcel->wait = NULL;
    }
    return done;
}

int tn_courier_presence(struct tn_courier *courier)
{
    pthread_mutex_lock(&courier->lock);
    const int copy = courier->presence < 0 ? -1 : fcntl(courier->presence, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&courier->lock);
    return copy;
}

uint64_t tn_courier_calls(struct tn_courier *courier)
{
    return atomic_load(&courier->calls);
}
