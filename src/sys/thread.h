/* Waiting with a limit on the monotonic clock, and threads that handle no signals. */
#ifndef TN_SYS_THREAD_H
#define TN_SYS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void tn_cond_init(pthread_cond_t *cond);
struct timespec
tn_cond_in_ms(int64_t ms); /* an instant for pthread_cond_timedwait on a tn_cond_init condition */
/* Waits once (spurious wake-ups are the caller's loop); false when the time passed. */
bool tn_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms);
/* Signals are the application's: all are blocked on the new thread. Aborts when no thread can be made. */
void tn_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context);

#endif
