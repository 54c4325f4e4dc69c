#include "sys/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

void tn_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec tn_cond_in_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

bool tn_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
    const struct timespec until = tn_cond_in_ms(ms);
    return pthread_cond_timedwait(cond, lock, &until) != ETIMEDOUT;
}

void tn_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(ret_thread, NULL, run, context) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
