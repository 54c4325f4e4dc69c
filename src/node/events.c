#include "node/events.h"

#include "sys/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool tn_events_init(struct tn_events *events)
{
    memset(events, 0, sizeof *events);
    events->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (events->fd < 0)
        return false;
    tn_cond_init(&events->news);
    pthread_mutex_init(&events->lock, NULL);
    events->last = &events->first;
    return true;
}

void tn_events_done(struct tn_events *events)
{
    while (events->first) {
        struct tn_queued *next = events->first->next;
        free(events->first);
        events->first = next;
    }
    free(events->current);
    close(events->fd);
    pthread_cond_destroy(&events->news);
    pthread_mutex_destroy(&events->lock);
}

void tn_events_put(struct tn_events *events, const struct tenure_event *event)
{
    const char *reason = event->reason ? event->reason : "";
    const size_t words = strlen(reason) + 1;
    struct tn_queued *queued = malloc(sizeof *queued + words + event->checkpoint_size);
    if (!queued)
        abort();
    queued->next = NULL;
    queued->event = *event;
    char *behind = (char *)(queued + 1);
    queued->event.reason = memcpy(behind, reason, words);
    if (event->checkpoint)
        queued->event.checkpoint = memcpy(behind + words, event->checkpoint, event->checkpoint_size);
    pthread_mutex_lock(&events->lock);
    *events->last = queued;
    events->last = &queued->next;
    const uint64_t one = 1;
    if (write(events->fd, &one, sizeof one) != sizeof one && errno != EAGAIN)
        abort();
    pthread_cond_signal(&events->news);
    pthread_mutex_unlock(&events->lock);
}

static bool wait_for_news(struct tn_events *events, const struct timespec *until)
{
    while (!events->first) {
        if (!until)
            pthread_cond_wait(&events->news, &events->lock);
        else if (pthread_cond_timedwait(&events->news, &events->lock, until) == ETIMEDOUT)
            return events->first != NULL;
    }
    return true;
}

static void hand_out(struct tn_events *events, struct tenure_event *ret_event)
{
    free(events->current);
    events->current = events->first;
    events->first = events->current->next;
    if (!events->first) {
        events->last = &events->first;
        uint64_t count;
        if (read(events->fd, &count, sizeof count) != sizeof count && errno != EAGAIN)
            abort();
    }
    *ret_event = events->current->event;
    events->closed = ret_event->kind == TENURE_EVENT_STOPPED;
}

enum tenure_status tn_events_get(struct tn_events *events, int64_t timeout_ms, struct tenure_event *ret_event)
{
    const struct timespec until = tn_cond_in_ms(timeout_ms < 0 ? 0 : timeout_ms);
    enum tenure_status status = TENURE_OK;
    pthread_mutex_lock(&events->lock);
    if (events->closed && !events->first)
        status = TENURE_CLOSED;
    else if (!wait_for_news(events, timeout_ms < 0 ? NULL : &until))
        status = TENURE_TIMEOUT;
    else
        hand_out(events, ret_event);
    pthread_mutex_unlock(&events->lock);
    return status;
}
