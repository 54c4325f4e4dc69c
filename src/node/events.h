/* The application's event queue: filled by the keeper thread, emptied by the application, with a pollable
 * descriptor. Bounded only by what the protocol can say (a few events a shard); each event owns its data.
 * Thread-safe. */
#ifndef TN_NODE_EVENTS_H
#define TN_NODE_EVENTS_H

#include "tenure/tenure.h"

#include <pthread.h>

struct tn_queued {
    struct tn_queued *next;
    struct tenure_event event; /* checkpoint and reason point behind this struct */
};

struct tn_events {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct tn_queued *first, **last;
    struct tn_queued *current; /* the one handed out last; the reader's */
    bool closed;               /* STOPPED was handed out */
    int fd;
};

/* False when no descriptor is to be had. */
bool tn_events_init(struct tn_events *events);
void tn_events_done(struct tn_events *events);
/* Copies the event's data. */
void tn_events_put(struct tn_events *events, const struct tenure_event *event);
enum tenure_status tn_events_get(struct tn_events *events, int64_t timeout_ms,
                                 struct tenure_event *ret_event);

#endif
