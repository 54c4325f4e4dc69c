#include "node/gate.h"

void tn_deadline_set(struct tn_deadline *deadline, int64_t deadline_ms)
{
    if (!deadline_ms) {
        atomic_store_explicit(&deadline->exact_ns, 0, memory_order_release);
        atomic_store_explicit(&deadline->quick_ns, 0, memory_order_release);
        return;
    }
    const int64_t exact = deadline_ms * 1000000;
    const int64_t quick = tn_clock_read_ns(CLOCK_MONOTONIC_COARSE) + (exact - tn_clock_boot_ns());
    atomic_store_explicit(&deadline->quick_ns, quick, memory_order_release);
    atomic_store_explicit(&deadline->exact_ns, exact, memory_order_release);
}

bool tn_gate_enter(const struct tn_deadline *deadline, struct tn_slot *slot, uint64_t token, bool *ret_idle)
{
    *ret_idle = false;
    atomic_fetch_add(&slot->in_flight, 1);
    if (token && atomic_load(&slot->token) == token &&
        tn_clock_boot_ns() < atomic_load_explicit(&deadline->exact_ns, memory_order_acquire))
        return true;
    *ret_idle = tn_gate_leave(slot);
    return false;
}

static bool take_wish(struct tn_slot *slot)
{
    return atomic_load(&slot->want_idle) && atomic_exchange(&slot->want_idle, 0);
}

bool tn_gate_leave(struct tn_slot *slot)
{
    return atomic_fetch_sub(&slot->in_flight, 1) == 1 && take_wish(slot);
}

bool tn_gate_set(struct tn_slot *slot, uint64_t token, bool want_idle)
{
    atomic_store(&slot->token, token);
    if (!want_idle)
        return false;
    atomic_store(&slot->want_idle, 1);
    return atomic_load(&slot->in_flight) == 0 && take_wish(slot);
}
