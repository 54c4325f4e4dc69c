#include "agent/agent.h"

#include "agent/giveup.h"
#include "agent/notify.h"
#include "agent/parts.h"
#include "agent/word.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    batch = 64,
    idle_ms = 1000,
    forced_shutdown_ms = 500,
    presence_fd_least = 64,
    no_shards_ready_ms = 2000
};

/* ---- workers ---- */

bool tn_agent_is_of(const struct tn_worker *worker, uint32_t shard)
{
    return worker->shard < 0 || worker->shard == shard;
}

struct tn_worker *tn_agent_worker(struct tn_agent *agent, uint32_t shard)
{
    const uint32_t index = agent->options->per_shard ? shard : 0;
    if (!agent->workers[index])
        agent->workers[index] = tn_worker_new(agent, index, agent->options->per_shard ? (int64_t)shard : -1);
    return agent->workers[index];
}

/* ---- presence ---- */

static void tell_watchdog(struct tn_agent *agent)
{
    tn_watchdog_hold(&agent->watchdog, agent->presence, agent->lease_ms);
    tn_watchdog_linger(&agent->watchdog, agent->expiry_only);
    for (uint32_t i = 0; i < agent->workers_n; i++)
        if (agent->workers[i] && agent->workers[i]->state != TN_WORKER_DOWN)
            tn_watchdog_guard(&agent->watchdog, agent->workers[i]->process.pid, true);
}

static void look_at(struct tn_agent *agent, int fd, enum tn_source source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = source};
    if (epoll_ctl(agent->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
}

/* Away from the small numbers, which a worker's script may use for its own files and close with that. */
static int move_up(int fd)
{
    const int raised = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, presence_fd_least);
    if (raised < 0)
        return fd;
    close(fd);
    return raised;
}

void tn_agent_take_presence(struct tn_agent *agent)
{
    if (agent->presence >= 0)
        close(agent->presence);
    agent->presence = move_up(tn_node_presence(agent->tenure));
    if (agent->presence >= 0 && !agent->family) {
        agent->expiry_only = true; /* until it was looked at */
        agent->family = tn_family_open(agent->presence, agent->watchdog.pid);
        look_at(agent, tn_family_fd(agent->family), TN_SOURCE_FAMILY);
    }
    tell_watchdog(agent);
}

static void on_family(struct tn_agent *agent)
{
    const struct tn_family_verdict verdict = tn_family_verdict(agent->family);
    if (!verdict.held && verdict.without)
        tn_log_say(agent->log, TENURE_LOG_WARNING,
                   "process %d (%s) does not hold the session's presence: it or what started it closed its "
                   "descriptors; if this agent dies, its session lasts until its lease ends",
                   verdict.without, verdict.name);
    if (verdict.held == !agent->expiry_only)
        return;
    agent->expiry_only = !verdict.held;
    tn_watchdog_linger(&agent->watchdog, agent->expiry_only);
}

static void start_watchdog(struct tn_agent *agent)
{
    if (!tn_watchdog_open(&agent->watchdog)) {
        tn_log_say(agent->log, TENURE_LOG_ERROR, "there is no watchdog: %s", strerror(errno));
        return;
    }
    look_at(agent, tn_watchdog_fd(&agent->watchdog), TN_SOURCE_WATCHDOG);
}

static void on_watchdog(struct tn_agent *agent)
{
    tn_log_say(agent->log, TENURE_LOG_WARNING, "the watchdog is gone; another one is started");
    close(agent->watchdog.fd); /* also takes it out of epoll */
    start_watchdog(agent);
    if (agent->family)
        tn_family_stranger(agent->family, agent->watchdog.pid);
    tell_watchdog(agent);
}

/* ---- signals ---- */

static void stop(struct tn_agent *agent, int number)
{
    tn_log_say(agent->log, TENURE_LOG_INFO, "%s: %s", strsignal(number),
               agent->stopping ? "already draining" : "draining, then leaving");
    if (agent->stopping)
        return;
    agent->stopping = true;
    tn_notify_say("STOPPING=1\nSTATUS=draining");
    tenure_stop(agent->tenure, agent->options->drain_limit_ms);
    /* what is assigned but not ready is given back by the node without a further word */
    for (uint32_t shard = 0; shard < agent->shards; shard++)
        if (agent->charges[shard].state == TN_CHARGE_ASSIGNED)
            tn_charge_withdraw(agent, shard, "this node is leaving");
}

static struct tn_worker *worker_of(struct tn_agent *agent, pid_t pid)
{
    for (uint32_t i = 0; i < agent->workers_n; i++)
        if (agent->workers[i] && agent->workers[i]->state != TN_WORKER_DOWN &&
            agent->workers[i]->process.pid == pid)
            return agent->workers[i];
    return NULL;
}

/* The agent is a subreaper: orphans of its workers come here as well. */
static void reap(struct tn_agent *agent)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
            return;
        struct tn_worker *worker = worker_of(agent, info.si_pid);
        if (worker)
            tn_worker_exited(worker, info.si_code, info.si_status);
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

static void on_signals(struct tn_agent *agent)
{
    struct signalfd_siginfo info;
    while (read(agent->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap(agent);
        else
            stop(agent, (int)info.ssi_signo);
    }
}

static bool take_signals(struct tn_agent *agent)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN); /* a closed terminal is no reason to drop shards */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    agent->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return agent->signals >= 0;
}

/* ---- readiness ---- */

static int64_t tell_manager(struct tn_agent *agent, int64_t now_ms)
{
    const bool settled =
        agent->ready || (!agent->ever_assigned && now_ms >= agent->joined_ms + no_shards_ready_ms);
    if (!agent->told_ready && settled && !agent->unready && !agent->stopping) {
        agent->told_ready = true;
        tn_notify_say("READY=1\nSTATUS=serving");
        tn_log_say(agent->log, TENURE_LOG_INFO, "ready");
    }
    const int64_t every_ms = tn_notify_watchdog_ms();
    if (every_ms)
        tn_notify_say("WATCHDOG=1");
    return every_ms ? now_ms + every_ms : INT64_MAX;
}

/* ---- the loop ---- */

static void on_ready(struct tn_agent *agent, const struct epoll_event *event)
{
    const uint64_t index = event->data.u64 >> 8;
    struct tn_worker *worker = index < agent->workers_n ? agent->workers[index] : NULL;
    switch ((enum tn_source)(event->data.u64 & 0xff)) {
    case TN_SOURCE_EVENTS: tn_charge_events(agent); break;
    case TN_SOURCE_SIGNALS: on_signals(agent); break;
    case TN_SOURCE_SAVER: tn_answer_saves(agent); break;
    case TN_SOURCE_WATCHDOG: on_watchdog(agent); break;
    case TN_SOURCE_FAMILY: on_family(agent); break;
    case TN_SOURCE_TO: tn_worker_send(worker); break;
    case TN_SOURCE_FROM:
        if (event->events & EPOLLOUT)
            tn_worker_send(worker);
        if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            tn_worker_receive(worker);
        break;
    }
}

static void turn(struct tn_agent *agent)
{
    struct epoll_event events[batch];
    const int64_t now_ms = tn_clock_boot_ms();
    int64_t due = now_ms + idle_ms;
    for (uint32_t i = 0; i < agent->workers_n; i++) {
        const int64_t at = agent->workers[i] ? tn_worker_tick(agent->workers[i], now_ms) : INT64_MAX;
        due = at < due ? at : due;
    }
    const int64_t manager = tell_manager(agent, now_ms);
    due = manager < due ? manager : due;
    const int n = epoll_wait(agent->epoll, events, batch, due > now_ms ? (int)(due - now_ms) : 0);
    for (int i = 0; i < n; i++)
        on_ready(agent, &events[i]);
}

static bool any_runs(const struct tn_agent *agent)
{
    for (uint32_t i = 0; i < agent->workers_n; i++)
        if (agent->workers[i] && agent->workers[i]->state != TN_WORKER_DOWN)
            return true;
    return false;
}

static void end_workers(struct tn_agent *agent)
{
    const int64_t limit_ms = agent->outcome == TENURE_OK ? TN_SHUTDOWN_MS : forced_shutdown_ms;
    for (uint32_t i = 0; i < agent->workers_n; i++)
        if (agent->workers[i])
            tn_worker_shut_down(agent->workers[i], limit_ms);
    while (any_runs(agent))
        turn(agent);
}

/* ---- beginning and end ---- */

static void log_node(void *context, int level, const char *line)
{
    tn_log_say(context, (enum tenure_log_level)level, "%s", line);
}

static enum tenure_status join(struct tn_agent *agent, struct tenure_error *error)
{
    const struct tn_agent_options *options = agent->options;
    struct tenure_options node;
    tenure_options_init(&node);
    node.store = options->store;
    node.node_id = options->node_id;
    node.address = options->address;
    node.labels_json = options->labels_json;
    node.weight_milli = options->weight_milli;
    node.replace = options->replace;
    node.log = log_node;
    node.log_context = agent->log;
    enum tenure_status status = tenure_open(&node, &agent->tenure, error);
    if (status != TENURE_OK)
        return status;
    tn_node_share_gates(agent->tenure);
    status = tenure_join(agent->tenure, options->group, &agent->group, error);
    if (status == TENURE_OK)
        return status;
    tenure_close(agent->tenure);
    return status;
}

/* The event follows the join at once. The first worker needs the presence that it brings. */
static void wait_joined(struct tn_agent *agent)
{
    struct pollfd news = {.fd = tenure_fd(agent->tenure), .events = POLLIN};
    while (!agent->lease_ms && !agent->stopped) {
        poll(&news, 1, idle_ms);
        tn_charge_events(agent);
    }
}

static void set_up(struct tn_agent *agent)
{
    agent->joined_ms = tn_clock_boot_ms();
    agent->shards = tenure_group_shards(agent->group);
    tn_page_path(&agent->group->page, agent->gate, sizeof agent->gate);
    tn_log_node(agent->log, tenure_node_id(agent->tenure));
    agent->facts = (struct tn_process_facts){.group = agent->options->group,
                                             .node = tenure_node_id(agent->tenure),
                                             .store = agent->options->store,
                                             .gate = agent->gate,
                                             .shards = agent->shards};
    agent->workers_n = agent->options->per_shard ? agent->shards : 1;
    agent->charges = calloc(agent->shards, sizeof *agent->charges);
    agent->workers = calloc(agent->workers_n, sizeof(struct tn_worker *));
    if (!agent->charges || !agent->workers)
        abort();
    agent->saver = tn_saver_open(agent->group);
    look_at(agent, tn_saver_fd(agent->saver), TN_SOURCE_SAVER);
    look_at(agent, tenure_fd(agent->tenure), TN_SOURCE_EVENTS);
    wait_joined(agent);
    if (!agent->options->per_shard)
        tn_worker_want(tn_agent_worker(agent, 0), 0);
}

static void say_counters(const struct tn_agent *agent)
{
    const struct tn_agent_counters *c = &agent->counters;
    tn_log_say(agent->log, TENURE_LOG_INFO,
               "lines %" PRIu64 ", unparsable %" PRIu64 ", too long %" PRIu64 ", old tokens %" PRIu64
               ", not its own %" PRIu64 ", saved %" PRIu64 ", not saved %" PRIu64 ", starts %" PRIu64
               ", crashes %" PRIu64,
               c->lines, c->unparsable, c->too_long, c->stale, c->stray, c->saved, c->save_failed, c->starts,
               c->exits);
}

static void tear_down(struct tn_agent *agent)
{
    say_counters(agent);
    tn_giveup_done(agent);
    tn_saver_close(agent->saver);
    tenure_close(agent->tenure);
    tn_watchdog_close(&agent->watchdog);
    if (agent->family)
        tn_family_close(agent->family);
    for (uint32_t i = 0; i < agent->workers_n; i++)
        tn_worker_free(agent->workers[i]);
    free(agent->workers);
    free(agent->charges);
    tn_text_done(&agent->line);
    if (agent->presence >= 0)
        close(agent->presence);
    close(agent->signals);
    close(agent->epoll);
}

enum tenure_status tn_agent_run(const struct tn_agent_options *options, struct tenure_error *error)
{
    struct tn_agent agent = {.options = options, .presence = -1};
    if (!tn_process_exists(options->command[0]))
        return tn_error_set(error, TENURE_BAD_INPUT, "'%.200s' is no command that can be run",
                            options->command[0]);
    agent.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (agent.epoll < 0 || !take_signals(&agent) || !tn_watchdog_open(&agent.watchdog))
        return tn_error_set(error, TENURE_IO, "the agent cannot start: %s", strerror(errno));
    tn_text_init(&agent.line);
    agent.log = tn_log_open(options->log_level, options->log_json, options->node_id ? options->node_id : "");
    look_at(&agent, agent.signals, TN_SOURCE_SIGNALS);
    look_at(&agent, tn_watchdog_fd(&agent.watchdog), TN_SOURCE_WATCHDOG);
    enum tenure_status status = join(&agent, error);
    if (status == TENURE_OK) {
        set_up(&agent);
        while (!agent.stopped)
            turn(&agent);
        end_workers(&agent);
        tear_down(&agent);
        status = agent.outcome;
        if (status != TENURE_OK)
            tn_error_set(error, status, "%s",
                         agent.reason[0] ? agent.reason : tenure_status_sentence(status));
    } else {
        tn_watchdog_close(&agent.watchdog);
    }
    tn_log_close(agent.log);
    return status;
}
