/* What one node holds of one shard: the machine from first interest to last work, as a table.
 *
 * A pair of state and event is a row or an explicit IGNORE; anything else is a bug that tn_holding_next
 * reports. The table prints itself for the documentation. Confined to its keeper. Pure. */
#ifndef TN_CORE_LEASE_HOLDING_H
#define TN_CORE_LEASE_HOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_HOLDING_STATES(X)                                                                                 \
    X(NONE, "not held")                                                                                      \
    X(WARMING, "asked to warm up")                                                                           \
    X(WARM, "warmed up, waits for the transfer")                                                             \
    X(CLAIMING, "claim sent")                                                                                \
    X(LOADING, "arrived by handoff, checkpoint asked for")                                                   \
    X(RELOADING, "raising the token for itself")                                                             \
    X(RESTORING, "assigned to the worker, not yet ready")                                                    \
    X(SERVING, "the worker is at work")                                                                      \
    X(DRAINING, "the worker finishes, for a handoff")                                                        \
    X(TRANSFERRING, "transfer or release sent")                                                              \
    X(QUIESCING, "waits out work in flight, before a reload")                                                \
    X(ENDING, "lost; waits until the last work in flight is over")

#define TN_HOLDING_EVENTS(X)                                                                                 \
    X(WARM_UP, "a move towards this node began")                                                             \
    X(WARMED, "the worker is prepared")                                                                      \
    X(COOLED, "the move came to nothing")                                                                    \
    X(CLAIM, "the plan names this node and the shard is free")                                               \
    X(REFUSED, "somebody else was first")                                                                    \
    X(ARRIVED, "the former owner handed it over")                                                            \
    X(FOUND, "the store lists it here, and it does not run here")                                            \
    X(GRANTED, "the store gave a token and a checkpoint")                                                    \
    X(READY, "the worker is ready")                                                                          \
    X(DRAIN, "a move away from this node began")                                                             \
    X(DRAINED, "the worker released it and nothing is in flight")                                            \
    X(GIVEN, "the store confirms that it went")                                                              \
    X(KEPT, "the move away came to nothing")                                                                 \
    X(RELOAD, "the worker does not know what its last write did")                                            \
    X(IDLE, "nothing is in flight any more")                                                                 \
    X(LOST, "the right to it ended")

enum tn_holding_state {
#define X(name, words) TN_HOLDING_##name,
    TN_HOLDING_STATES(X)
#undef X
        TN_HOLDING_STATES_N
};

enum tn_holding_event {
#define X(name, words) TN_HOLD_##name,
    TN_HOLDING_EVENTS(X)
#undef X
        TN_HOLDING_EVENTS_N
};

struct tn_holding {
    uint64_t token;      /* held, or expected by the claim or reload under way */
    uint64_t peer;       /* TRANSFERRING: the target session; 0: released to nobody */
    uint8_t state;       /* enum tn_holding_state */
    bool asked;          /* a request about it is on its way */
    bool released;       /* DRAINING: the worker said so */
    bool idle;           /* DRAINING: nothing is in flight */
    bool kept;           /* DRAINING: the move was given up meanwhile; reload when drained */
    bool unable;         /* given up: the store is to take it from this node; lasts until it has */
    int64_t progress_ms; /* SERVING: when the application last got on; boot clock */
};

struct tn_holding_row {
    enum tn_holding_state from;
    enum tn_holding_event event;
    enum tn_holding_state next;
    const char *sentence; /* what happens, for an operator */
};

/* The whole table, for printing and for the test that it is whole. */
const struct tn_holding_row *tn_holding_table(size_t *ret_n);
const char *tn_holding_state_name(enum tn_holding_state state);
const char *tn_holding_state_words(enum tn_holding_state state);
const char *tn_holding_event_name(enum tn_holding_event event);

/* Moves on. True: the state changed (or was confirmed) by a row; false: the pair is ignored on purpose. A
 * pair that is neither sets *ret_bug (may not be NULL) and changes nothing. Flags are cleared by every change
 * of state. */
bool tn_holding_next(struct tn_holding *holding, enum tn_holding_event event, bool *ret_bug);

/* The node may have work under holding->token: it must be told LOST when that ends. */
bool tn_holding_active(const struct tn_holding *holding);

#endif
