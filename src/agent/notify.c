#include "agent/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void tn_notify_say(const char *state)
{
    const char *const path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t length = path ? strlen(path) : 0;
    if (!length || (path[0] != '/' && path[0] != '@') || length >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, length);
    if (path[0] == '@')
        to.sun_path[0] = 0; /* a name in the abstract space */
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(fd);
}

int64_t tn_notify_watchdog_ms(void)
{
    const char *const text = getenv("WATCHDOG_USEC"), *const pid = getenv("WATCHDOG_PID");
    if (!text || (pid && atoll(pid) != getpid()))
        return 0;
    return atoll(text) / 2000;
}
