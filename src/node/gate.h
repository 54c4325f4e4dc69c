/* The gates: may this node work on a shard under a token, now? Answered from memory, in nanoseconds.
 *
 * Written by the keeper thread alone (open, close, deadline), read by any thread. A slot's token is 0 when
 * the gate is closed. The deadline is one for all groups. In-flight accounting is Dekker's pattern: `enter`
 * announces itself and then looks at the token, `close` clears the token and then looks at the announcements;
 * both sequentially consistent, so one of them sees the other. */
#ifndef TN_NODE_GATE_H
#define TN_NODE_GATE_H

#include "sys/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tn_deadline {
    _Atomic int64_t exact_ns; /* boot clock; 0: passed */
    _Atomic int64_t quick_ns; /* coarse monotonic clock */
};

/* Above every token. */
#define TN_SLOT_DRAINING ((uint64_t)1 << 63)
#define TN_SLOT_PREPARING ((uint64_t)1 << 62)

struct tn_slot {
    _Atomic uint64_t token;    /* of the open gate; 0 closed */
    _Atomic uint64_t assigned; /* what the application may answer to: a token, TN_SLOT_DRAINING | token, or
                                  TN_SLOT_PREPARING; 0 nothing */
    _Atomic uint32_t in_flight;
    _Atomic uint32_t want_idle; /* the keeper waits for in_flight to become 0 */
};

/* deadline_ms of the boot clock; 0 closes all at once. */
void tn_deadline_set(struct tn_deadline *deadline, int64_t deadline_ms);

static inline bool tn_gate_exact(const struct tn_deadline *deadline, const struct tn_slot *slot,
                                 uint64_t token)
{
    if (atomic_load_explicit(&slot->token, memory_order_acquire) != token || !token)
        return false;
    return tn_clock_boot_ns() < atomic_load_explicit(&deadline->exact_ns, memory_order_acquire);
}

static inline bool tn_gate_quick(const struct tn_deadline *deadline, const struct tn_slot *slot,
                                 uint64_t token)
{
    if (atomic_load_explicit(&slot->token, memory_order_acquire) != token || !token)
        return false;
    return tn_clock_quick_ns() < atomic_load_explicit(&deadline->quick_ns, memory_order_acquire);
}

/* True: admitted, to be followed by tn_gate_leave. False: not, and *ret_idle says that this attempt was the
 * last thing in the keeper's way (then IDLE must be sent on). */
bool tn_gate_enter(const struct tn_deadline *deadline, struct tn_slot *slot, uint64_t token, bool *ret_idle);
/* True when the keeper waits for this and must be told IDLE. */
bool tn_gate_leave(struct tn_slot *slot);

/* Keeper only. Opens under `token`, or closes (0). With want_idle: true when nothing is in flight now, else
 * some later tn_gate_leave says it. */
bool tn_gate_set(struct tn_slot *slot, uint64_t token, bool want_idle);

#endif
