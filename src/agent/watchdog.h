/* The watchdog: a small process beside the agent that outlives it for a moment.
 *
 * It waits on a socket. When the agent is gone without a word, it kills the process groups of the agent's
 * workers, waits until they are gone, and only then ends. It holds the presence of the session meanwhile
 * (node.h, tn_node_presence), so that nobody takes the shards while a worker may still be at work. Where some
 * process that the agent's workers started would escape both the killing and the presence (family.h), the
 * watchdog is told to linger: it then keeps the presence for one whole lease after the agent's death, and
 * with that the session ends by expiry alone.
 *
 * The orders are the loop's; they do not block: an order that cannot be sent means that
 * the watchdog is gone, and a new one is to be made (tn_watchdog_fd polls readable then). */
#ifndef TN_AGENT_WATCHDOG_H
#define TN_AGENT_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tn_watchdog {
    pid_t pid; /* 0: there is none */
    int fd;
};

/* Starts it. False: no process or descriptor is to be had. */
bool tn_watchdog_open(struct tn_watchdog *watchdog);
/* The agent ends as it should: nothing is killed, the watchdog ends at once. */
void tn_watchdog_close(struct tn_watchdog *watchdog);
/* Readable: the watchdog is gone. */
int tn_watchdog_fd(const struct tn_watchdog *watchdog);

/* Holds a copy of this descriptor from now on instead of the one before; -1: none. */
void tn_watchdog_hold(struct tn_watchdog *watchdog, int presence, int64_t lease_ms);
void tn_watchdog_linger(struct tn_watchdog *watchdog, bool linger);
/* The process group is the watchdog's to kill, or no more. */
void tn_watchdog_guard(struct tn_watchdog *watchdog, pid_t group, bool guarded);

#endif
