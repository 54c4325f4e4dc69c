/* One store operation on its way: request memory, reply memory, and where the reply goes.
 *
 * Made by the keeper thread (requests of the core) or by an application thread (a checkpoint to save);
 * carried out by the store thread; freed by whoever gets it last. */
#ifndef TN_NODE_PARCEL_H
#define TN_NODE_PARCEL_H

#include "core/op/op.h"

#include <pthread.h>

/* Request memory shared by the parcels of one step; counted, confined to the keeper thread. */
struct tn_batch {
    struct tn_arena arena;
    uint32_t users;
};
struct tn_batch *tn_batch_new(void); /* one user: the maker */
void tn_batch_drop(struct tn_batch *batch);

/* What an application thread waits on. Freed by the second of the two sides to be done with it. */
struct tn_wait {
    pthread_mutex_t lock;
    pthread_cond_t done_cond;
    bool done;
    bool abandoned; /* the waiter gave up: the other side frees */
};

struct tn_parcel {
    struct tn_parcel *next;
    struct tn_op op;
    struct tn_arena reply;
    struct tn_batch *batch; /* NULL for an application's parcel */
    bool urgent;            /* renewals go first */
    struct tn_wait *wait;   /* an application waits; NULL: the reply goes to the keeper */
    struct tn_item item;    /* of an application's parcel, with its data copied to `reply` */
};

struct tn_parcel *tn_parcel_new(const struct tn_op *op);
void tn_parcel_free(struct tn_parcel *parcel);

#endif
