/* The only readers of clocks. Any thread. A clock that cannot be read is a broken system: aborts.
 * Inline, because the gates are nanoseconds. */
#ifndef TN_SYS_CLOCK_H
#define TN_SYS_CLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* clock_gettime, or the kernel's own function behind it where that can be found: the wrapper costs as much as
 * the coarse clock itself. Set before main. */
extern int (*tn_clock_source)(clockid_t clock, struct timespec *ret_at);

static inline int64_t tn_clock_read_ns(clockid_t clock)
{
    struct timespec at;
    if (__builtin_expect(tn_clock_source(clock, &at) != 0, 0))
        abort();
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Boot clock (counts suspend): all deadlines of a node, and the lease clock of SQLite stores. */
static inline int64_t tn_clock_boot_ns(void)
{
    return tn_clock_read_ns(CLOCK_BOOTTIME);
}

/* Coarse monotonic clock: the quick gate's. Up to one tick (1-4 ms) late. Where it cannot be read it is later
 * than every deadline: a test of the answer would cost a tenth of the gate. */
static inline int64_t tn_clock_quick_ns(void)
{
    struct timespec at = {.tv_sec = INT64_MAX / 1000000000 - 1};
    tn_clock_source(CLOCK_MONOTONIC_COARSE, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

int64_t tn_clock_boot_ms(void);
/* Calendar, Unix ms: for people. */
int64_t tn_clock_unix_ms(void);
void tn_clock_sleep_ms(int64_t ms);

#endif
