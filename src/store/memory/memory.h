/* A store in this process's memory, for the simulator and tests: the protocol of store/rows over arrays.
 *
 * Deterministic: time comes from the caller's function, presence is what the test says, nothing is random. It
 * forgets nothing but events. Every operation takes effect at once and whole; nothing here can fail. One
 * handle is the whole store: its nodes share it. Cost: look-ups by number O(1), by name O(n); an unchanged
 * TICK O(groups + sessions ever). */
#ifndef TN_STORE_MEMORY_MEMORY_H
#define TN_STORE_MEMORY_MEMORY_H

#include "store/store.h"

struct tn_memory_options {
    int64_t (*lease_ms)(void *context); /* the lease clock; NULL: stands at what tn_memory_set_clock said */
    int64_t (*unix_ms)(void *context);
    void *context;
    uint32_t events_kept; /* 0: TN_EVENTS_KEPT */
};

/* Never fails. `options` may be NULL. Close by type->close. */
struct tn_store *tn_memory_open(const struct tn_memory_options *options);
/* Of a store without clock functions. */
void tn_memory_set_clock(struct tn_store *store, int64_t lease_ms, int64_t unix_ms);
/* What PROBE and JOIN find out about a session from now on; UNKNOWN until said. Members show `presence`
 * unless UNKNOWN. */
void tn_memory_set_presence(struct tn_store *store, uint64_t session, enum tn_presence presence);

#endif
