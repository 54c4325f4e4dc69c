/* Words to the service manager: the sd_notify protocol, without its library. One datagram to the socket that
 * NOTIFY_SOCKET names; nothing happens when there is none. Does not block. Source: sd_notify(3). */
#ifndef TN_AGENT_NOTIFY_H
#define TN_AGENT_NOTIFY_H

#include <stdint.h>

/* For example "READY=1" or "STOPPING=1"; several lines in one message are allowed. */
void tn_notify_say(const char *state);
/* How often the service manager wants to hear "WATCHDOG=1" (half of what it allows), ms; 0: it does not. */
int64_t tn_notify_watchdog_ms(void);

#endif
