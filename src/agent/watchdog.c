#include "agent/watchdog.h"

#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { groups_most = 1 << 16, look_ms = 2, patience_ms = 100 };

enum order_kind { ORDER_HOLD, ORDER_LINGER, ORDER_GUARD, ORDER_FREE, ORDER_BYE };

struct order { /* one packet */
    int32_t kind, group;
    int64_t number;
};

/* ---- the watchdog's own process: it was forked from a process with threads, so it uses system calls only
 * ---- */

static struct {
    int control, presence;
    bool linger;
    int64_t lease_ms;
    int n;
    pid_t groups[groups_most];
} dog;

static void guard(pid_t group, bool guarded)
{
    int at = 0;
    while (at < dog.n && dog.groups[at] != group)
        at++;
    if (guarded && at == dog.n && dog.n < groups_most)
        dog.groups[dog.n++] = group;
    else if (!guarded && at < dog.n)
        dog.groups[at] = dog.groups[--dog.n];
}

static void obey(const struct order *order, int fd)
{
    switch ((enum order_kind)order->kind) {
    case ORDER_HOLD:
        if (dog.presence >= 0)
            close(dog.presence);
        dog.presence = fd;
        dog.lease_ms = order->number;
        break;
    case ORDER_LINGER: dog.linger = order->number != 0; break;
    case ORDER_GUARD:
    case ORDER_FREE: guard(order->group, order->kind == ORDER_GUARD); break;
    case ORDER_BYE: _exit(0);
    }
}

/* False: the agent is gone. */
static bool read_order(void)
{
    struct order order;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = &order, .iov_len = sizeof order};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(dog.control, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR)
        return true;
    if (n != (ssize_t)sizeof order)
        return false;
    int fd = -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    obey(&order, fd);
    return true;
}

/* A process that nobody reaps is dead all the same. */
static bool is_dead(pid_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *const name_end = strrchr(text, ')');
    return !name_end || name_end[1] == 0 || name_end[2] == 'Z' || name_end[2] == 'X';
}

/* Killed processes are given a moment; then only one that leads a group can still be waited for. */
static bool all_gone(bool patient)
{
    while (dog.n) {
        const pid_t group = dog.groups[dog.n - 1];
        const bool empty = kill(-group, SIGKILL) != 0 && errno == ESRCH;
        if (!empty && (patient || !is_dead(group)))
            return false;
        dog.n--;
    }
    return true;
}

/* A renewal that the agent sent just before its death lasts for a lease from then at most. */
static void after_the_agent(void)
{
    const int64_t lease_end_ms = tn_clock_boot_ms() + dog.lease_ms;
    for (int i = 0; i < dog.n; i++)
        kill(-dog.groups[i], SIGKILL);
    const int64_t patient_until_ms = tn_clock_boot_ms() + patience_ms;
    while (!all_gone(tn_clock_boot_ms() < patient_until_ms) && tn_clock_boot_ms() < lease_end_ms)
        tn_clock_sleep_ms(look_ms);
    if (dog.linger && tn_clock_boot_ms() < lease_end_ms)
        tn_clock_sleep_ms(lease_end_ms - tn_clock_boot_ms());
}

static void watch(int control)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    setsid(); /* a signal to the agent's group or terminal is not meant for this process */
    prctl(PR_SET_NAME, "tenure-watchdog");
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    dog.control = dup2(control, 3);
    close_range(4, ~0U, 0);
    dog.presence = -1;
    dog.n = 0;
    dog.linger = false;
    while (read_order())
        continue;
    after_the_agent();
    _exit(0);
}

/* ---- the agent's side ---- */

bool tn_watchdog_open(struct tn_watchdog *watchdog)
{
    int ends[2];
    *watchdog = (struct tn_watchdog){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0)
        watch(ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *watchdog = (struct tn_watchdog){.pid = pid, .fd = ends[0]};
    return true;
}

int tn_watchdog_fd(const struct tn_watchdog *watchdog)
{
    return watchdog->fd;
}

static void send_order(struct tn_watchdog *watchdog, const struct order *order, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct order copy = *order;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    if (watchdog->fd >= 0 && sendmsg(watchdog->fd, &message, MSG_NOSIGNAL) < 0)
        shutdown(watchdog->fd, SHUT_RDWR); /* the loop sees it and makes another watchdog */
}

void tn_watchdog_close(struct tn_watchdog *watchdog)
{
    if (watchdog->fd < 0)
        return;
    send_order(watchdog, &(struct order){.kind = ORDER_BYE}, -1);
    close(watchdog->fd);
    watchdog->fd = -1;
}

void tn_watchdog_hold(struct tn_watchdog *watchdog, int presence, int64_t lease_ms)
{
    send_order(watchdog, &(struct order){.kind = ORDER_HOLD, .number = lease_ms}, presence);
}

void tn_watchdog_linger(struct tn_watchdog *watchdog, bool linger)
{
    send_order(watchdog, &(struct order){.kind = ORDER_LINGER, .number = linger}, -1);
}

void tn_watchdog_guard(struct tn_watchdog *watchdog, pid_t group, bool guarded)
{
    send_order(watchdog, &(struct order){.kind = guarded ? ORDER_GUARD : ORDER_FREE, .group = group}, -1);
}
