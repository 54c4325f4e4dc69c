#include "sys/clock.h"

#include <dlfcn.h>

int (*tn_clock_source)(clockid_t clock, struct timespec *ret_at) = clock_gettime;

/* The vDSO is mapped into every process; under some tools (valgrind) it is hidden, and the wrapper stays. */
__attribute__((constructor)) static void find_source(void)
{
    void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
    if (found)
        __extension__ tn_clock_source = (int (*)(clockid_t, struct timespec *))found;
}

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
