#include "sys/clock.h"

#include <stdlib.h>
#include <time.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec at;
    if (clock_gettime(clock, &at) != 0)
        abort();
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

int64_t tn_clock_boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

int64_t tn_clock_boot_ms(void)
{
    return read_ns(CLOCK_BOOTTIME) / 1000000;
}

int64_t tn_clock_quick_ns(void)
{
    return read_ns(CLOCK_MONOTONIC_COARSE);
}

int64_t tn_clock_unix_ms(void)
{
    return read_ns(CLOCK_REALTIME) / 1000000;
}

void tn_clock_sleep_ms(int64_t ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}
