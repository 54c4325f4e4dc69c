#include "sys/clock.h"

int64_t tn_clock_boot_ms(void)
{
    return tn_clock_boot_ns() / 1000000;
}

int64_t tn_clock_unix_ms(void)
{
    return tn_clock_read_ns(CLOCK_REALTIME) / 1000000;
}

void tn_clock_sleep_ms(int64_t ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}
