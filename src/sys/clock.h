/* The only readers of clocks. Any thread. A clock that cannot be read is a broken system: aborts. */
#ifndef TN_SYS_CLOCK_H
#define TN_SYS_CLOCK_H

#include <stdint.h>

/* Boot clock (counts suspend): all deadlines of a node, and the lease clock of SQLite stores. */
int64_t tn_clock_boot_ms(void);
int64_t tn_clock_boot_ns(void);
/* Coarse monotonic clock: the quick gate's. Up to one tick (1-4 ms) late. */
int64_t tn_clock_quick_ns(void);
/* Calendar, Unix ms: for people. */
int64_t tn_clock_unix_ms(void);
void tn_clock_sleep_ms(int64_t ms);

#endif
