/* The store thread: carries parcels to the store, one after another, renewals first and saves last, and looks
 * for foreign changes between.
 *
 * A store call may hang as long as it likes: only this thread hangs with it. Checkpoints that wait in line
 * for the same group are saved in one transaction. */
#ifndef TN_NODE_COURIER_H
#define TN_NODE_COURIER_H

#include "node/parcel.h"
#include "store/store.h"

struct tn_courier;

struct tn_courier_clients {
    void *context;
    void (*reply)(void *context, struct tn_parcel *parcel); /* takes over the parcel; store thread */
    void (*changed)(void *context);                         /* store thread */
};

/* Owns `store` from now on. Aborts when no thread can be made. */
struct tn_courier *tn_courier_open(struct tn_store *store, const struct tn_courier_clients *clients);
/* Waits for the call under way; parcels still in line are freed unsent. Closes the store. */
void tn_courier_close(struct tn_courier *courier);
void tn_courier_send(struct tn_courier *courier, struct tn_parcel *parcel);
/* How often to look for changes by others. */
void tn_courier_pace(struct tn_courier *courier, int64_t every_ms);

/* An application thread's wait for its parcel. False: limit passed; the parcel is no longer the caller's. */
bool tn_courier_await(struct tn_parcel *parcel, int64_t limit_ms);
uint64_t tn_courier_calls(struct tn_courier *courier);
/* A duplicate of the presence descriptor of the last session joined, the caller's; -1 none. Any thread. */
int tn_courier_presence(struct tn_courier *courier);

#endif
