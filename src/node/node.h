/* One running node: the keeper thread round the pure keeper, the courier, the gates, the event queue.
 *
 * Threads: the keeper thread owns `keeper` and everything of `groups` but the gates; applications talk to it
 * through the inbox; the courier thread talks to it through the inbox too. The keeper thread runs no user
 * code but the log callback, and makes no call that can block for longer than a mutex that guards a list. */
#ifndef TN_NODE_NODE_H
#define TN_NODE_NODE_H

#include "core/keeper/keeper.h"
#include "node/courier.h"
#include "node/events.h"
#include "node/gate.h"
#include "node/page.h"
#include "tenure/tenure.h"

struct tenure_group {
    struct tenure *tenure;
    uint32_t index; /* in the keeper */
    char *name;
    struct tn_hasher hasher;
    const struct tn_deadline *deadline; /* the handle's, or the page's */
    struct tn_slot *slots;              /* NULL until joined; in the page, if there is one */
    _Atomic uint32_t *progress;         /* one a shard: when it was last said, in ticks; NULL until joined */
    struct tn_page page;                /* where the gates are shared with other processes */
    int64_t request_ms;
    /* guarded by tenure->lock */
    bool joined, failed;
    int64_t tried_since_ms;
    struct tenure_error error;
};

struct tn_letter { /* to the keeper thread */
    struct tn_letter *next;
    struct tn_keeper_event event;
    struct tn_parcel *parcel; /* REPLY */
    void (*call)(struct tenure *tenure,
                 void *); /* a question to be answered on the keeper thread; event unused */
    void *argument;
    struct tn_wait *wait; /* the sender waits until it was read */
};

struct tenure {
    struct tn_keeper keeper;
    struct tn_courier *courier;
    struct tn_deadline deadline;
    int64_t deadline_ms;
    struct tn_events events;
    pthread_t thread;
    pthread_mutex_t lock;  /* guards inbox, closing, groups' join state */
    pthread_cond_t news;   /* of the inbox */
    pthread_cond_t joined; /* of the groups */
    struct tn_letter *first, **last;
    bool closing;
    struct tenure_group *groups[TN_GROUPS_MAX];
    _Atomic uint32_t n_groups;
    pthread_mutex_t join_lock; /* one tenure_join appends at a time */
    char *node_id, *address, *labels;
    int64_t join_limit_ms;
    void (*log)(void *context, int level, const char *line);
    void *log_context;
    bool share_gates; /* set before the first join */
    _Atomic uint64_t session;
};

/* Starts both threads; everything else is set up. Takes over the store. */
void tn_node_start(struct tenure *tenure, struct tn_store *store);
void tn_node_stop(struct tenure *tenure);
/* Sends an event (copied) to the keeper thread; with `wait`, returns when the keeper has taken it in. */
void tn_node_tell(struct tenure *tenure, const struct tn_keeper_event *event, bool wait);
/* Runs `call` on the keeper thread between two steps, and waits for it. */
void tn_node_call(struct tenure *tenure, void (*call)(struct tenure *tenure, void *argument), void *argument);

/* What the agent needs beyond tenure.h. */

/* From now on each group joined has its gates in a page that other processes may map (node/page.h), with a
 * heartbeat at least every eighth of crash_grace. Before the first tenure_join. */
void tn_node_share_gates(struct tenure *tenure);
/* A duplicate of the descriptor that is this session's presence, to be inherited by what must keep the
 * session alive; close-on-exec, the caller's. -1: the store has none. Any thread, after JOINED; does not
 * block. */
int tn_node_presence(struct tenure *tenure);
/* The group's settings as the keeper knows them now. Waits for the keeper, which does not block. */
void tn_node_settings(const struct tenure_group *group, struct tn_settings *ret_settings);

#endif
