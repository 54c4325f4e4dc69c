#include "agent/worker.h"

#include "agent/parts.h"
#include "agent/word.h"
#include "sys/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    first_backoff_ms = 100,
    longest_backoff_ms = 10000,
    stable_after_ms = 10000,
    crash_window_ms = 60000,
    read_bytes = 65536,
    last_reads = 64, /* of a process that has ended */
    answers_most_bytes = 1 << 20,
    saves_most = 256,
    queue_bytes = 16 << 20,
    queue_bytes_a_shard = 512 << 10
};

struct tn_worker *tn_worker_new(struct tn_agent *agent, uint32_t index, int64_t shard)
{
    struct tn_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        abort();
    worker->agent = agent;
    worker->index = index;
    worker->shard = shard;
    worker->backoff_ms = first_backoff_ms;
    worker->process = (struct tn_process){.to = -1, .from = -1, .input = -1, .go = -1};
    tn_outbox_init(&worker->outbox);
    tn_line_init(&worker->reader);
    return worker;
}

void tn_worker_free(struct tn_worker *worker)
{
    if (!worker)
        return;
    tn_process_close(&worker->process);
    tn_outbox_clear(&worker->outbox);
    tn_line_done(&worker->reader);
    free(worker);
}

/* ---- what epoll looks at ---- */

static void watch_one(struct tn_worker *worker, int fd, uint32_t events, enum tn_source source, bool *watching)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)worker->index << 8 | source};
    if (fd < 0)
        return;
    /* a descriptor without wishes is taken out: its hang-up would be reported again and again */
    if (events)
        epoll_ctl(worker->agent->epoll, *watching ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    else if (*watching)
        epoll_ctl(worker->agent->epoll, EPOLL_CTL_DEL, fd, NULL);
    *watching = events != 0;
}

static void watch(struct tn_worker *worker)
{
    const bool up = worker->state == TN_WORKER_UP;
    const bool hungry = up && worker->outbox.bytes < answers_most_bytes && worker->saves < saves_most;
    const uint32_t in = hungry ? EPOLLIN : 0, out = up && worker->outbox.first ? EPOLLOUT : 0;
    if (worker->process.from == worker->process.to) {
        watch_one(worker, worker->process.from, in | out, TN_SOURCE_FROM, &worker->watching_from);
        return;
    }
    watch_one(worker, worker->process.from, in, TN_SOURCE_FROM, &worker->watching_from);
    watch_one(worker, worker->process.to, out, TN_SOURCE_TO, &worker->watching_to);
}

/* ---- starting ---- */

static void put_hello(struct tn_worker *worker)
{
    struct tn_agent *agent = worker->agent;
    struct tn_settings settings;
    tn_node_settings(agent->group, &settings);
    const struct tn_word_hello hello = {.group = agent->facts.group,
                                        .node = agent->facts.node,
                                        .hash = tn_hash_name(settings.algo),
                                        .store = agent->facts.store,
                                        .gate = agent->facts.gate,
                                        .session = tenure_session(agent->tenure),
                                        .seed = settings.seed,
                                        .shards = agent->shards};
    tn_word_hello(&agent->line, &hello);
    tn_outbox_put_first(&worker->outbox, agent->line.bytes, agent->line.length);
}

static void back_off(struct tn_worker *worker, int64_t now_ms)
{
    worker->start_at_ms = now_ms + worker->backoff_ms;
    worker->backoff_ms *= 2;
    if (worker->backoff_ms > longest_backoff_ms)
        worker->backoff_ms = longest_backoff_ms;
}

static void start(struct tn_worker *worker, int64_t now_ms)
{
    struct tn_agent *agent = worker->agent;
    const struct tn_process_request request = {.command = agent->options->command,
                                               .facts = &agent->facts,
                                               .presence = agent->presence,
                                               .shard = worker->shard,
                                               .token = worker->token};
    if (!tn_process_start(&request, &worker->process)) {
        tn_log_say(agent->log, TENURE_LOG_ERROR, "no worker can be started: %s", strerror(errno));
        back_off(worker, now_ms);
        return;
    }
    tn_watchdog_guard(&agent->watchdog, worker->process.pid, true);
    if (agent->family)
        tn_family_worker(agent->family, worker->process.pid, true);
    tn_process_go(&worker->process);
    agent->counters.starts++;
    worker->number = ++agent->next_number;
    worker->state = TN_WORKER_UP;
    worker->saves = 0;
    worker->kill_at_ms = 0;
    worker->expected = worker->last_line = worker->wanted = false;
    worker->started_ms = now_ms;
    tn_log_say(agent->log, TENURE_LOG_INFO, "worker %d started", worker->process.pid);
    put_hello(worker);
    tn_charge_started(agent, worker);
    tn_worker_send(worker);
}

/* ---- lines to it ---- */

static void crash(struct tn_worker *worker, const char *why);

void tn_worker_put(struct tn_worker *worker)
{
    const struct tn_agent *agent = worker->agent;
    const size_t shards = worker->shard < 0 ? agent->shards : 1;
    tn_outbox_put(&worker->outbox, agent->line.bytes, agent->line.length);
    if (worker->state == TN_WORKER_UP && worker->outbox.bytes > queue_bytes + shards * queue_bytes_a_shard)
        crash(worker, "it does not read, and too much waits for it");
    else
        tn_worker_send(worker);
}

void tn_worker_send(struct tn_worker *worker)
{
    if (worker->state != TN_WORKER_UP)
        return;
    switch (tn_outbox_send(&worker->outbox, worker->process.to, tn_clock_boot_ms())) {
    case TN_OUTBOX_BROKEN:
        if (worker->expected)
            tn_outbox_clear(&worker->outbox);
        else
            crash(worker, "it closed its input");
        break;
    case TN_OUTBOX_EMPTY:
        if (worker->last_line && worker->process.to != worker->process.from) {
            watch_one(worker, worker->process.to, 0, TN_SOURCE_TO, &worker->watching_to);
            close(worker->process.to); /* end of input */
            worker->process.to = -1;
        }
        break;
    case TN_OUTBOX_FULL_PIPE: break;
    }
    watch(worker);
}

/* ---- lines from it ---- */

static void on_line(void *context, const char *line, size_t length)
{
    struct tn_worker *worker = context;
    worker->agent->counters.lines++;
    tn_answer_line(worker->agent, worker, line, length);
}

static void on_too_long(void *context)
{
    struct tn_worker *worker = context;
    worker->agent->counters.too_long++;
    tn_log_say(worker->agent->log, TENURE_LOG_WARNING,
               "worker %d: a line of more than 1 MiB is discarded up to its newline", worker->process.pid);
}

/* False: there was nothing, or it has ended; *ret_end says which. */
static bool read_some(struct tn_worker *worker, bool *ret_end)
{
    static char bytes[read_bytes];
    const struct tn_line_clients clients = {.context = worker, .line = on_line, .too_long = on_too_long};
    const ssize_t n = worker->process.from < 0 ? -1 : read(worker->process.from, bytes, sizeof bytes);
    *ret_end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n <= 0)
        return false;
    tn_line_feed(&worker->reader, bytes, (size_t)n, &clients);
    return true;
}

void tn_worker_receive(struct tn_worker *worker)
{
    bool end = false;
    if (worker->state != TN_WORKER_UP)
        return;
    read_some(worker, &end);
    if (end && worker->expected)
        watch_one(worker, worker->process.from, 0, TN_SOURCE_FROM, &worker->watching_from);
    else if (end)
        crash(worker, "it closed its output");
    else
        watch(worker);
}

/* ---- its end ---- */

static void kill_group(struct tn_worker *worker)
{
    kill(-worker->process.pid, SIGKILL);
    worker->state = TN_WORKER_ENDING;
    watch(worker);
}

/* Found wanting: killed, and restarted as if it had crashed. */
static void crash(struct tn_worker *worker, const char *why)
{
    tn_log_say(worker->agent->log, TENURE_LOG_WARNING, "worker %d is killed: %s", worker->process.pid, why);
    kill_group(worker);
}

void tn_worker_signal(const struct tn_worker *worker, int number)
{
    if (worker->state == TN_WORKER_UP)
        kill(worker->process.pid, number);
}

void tn_worker_want(struct tn_worker *worker, uint64_t token)
{
    worker->token = token;
    worker->wanted = true;
}

void tn_worker_end(struct tn_worker *worker, int64_t kill_at_ms)
{
    worker->wanted = false;
    if (worker->state != TN_WORKER_UP)
        return;
    worker->expected = true;
    if (kill_at_ms)
        worker->kill_at_ms = kill_at_ms;
    else
        kill_group(worker);
}

void tn_worker_shut_down(struct tn_worker *worker, int64_t limit_ms)
{
    tn_worker_end(worker, tn_clock_boot_ms() + limit_ms);
    if (worker->state != TN_WORKER_UP)
        return;
    if (worker->shard >= 0)
        tn_worker_signal(worker, SIGTERM);
    worker->last_line = true;
    tn_word_shutdown(&worker->agent->line, limit_ms);
    tn_worker_put(worker);
}

static void say_exit(const struct tn_worker *worker, int code, int status)
{
    const bool by_itself = code == CLD_EXITED;
    tn_log_say(worker->agent->log, worker->expected ? TENURE_LOG_INFO : TENURE_LOG_WARNING,
               "worker %d %s %d after %lld ms", worker->process.pid,
               by_itself ? "ended with status" : "was ended by signal", status,
               (long long)(tn_clock_boot_ms() - worker->started_ms));
}

static void count_crash(struct tn_worker *worker, int64_t now_ms)
{
    struct tn_agent *agent = worker->agent;
    agent->counters.exits++;
    memmove(worker->crashes_ms + 1, worker->crashes_ms, (TN_WORKER_CRASHES - 1) * sizeof *worker->crashes_ms);
    worker->crashes_ms[0] = now_ms;
    back_off(worker, now_ms);
    worker->wanted = true;
    const int64_t oldest = worker->crashes_ms[TN_WORKER_CRASHES - 1];
    const bool too_often = oldest && now_ms - oldest <= crash_window_ms;
    tn_log_say(agent->log, TENURE_LOG_INFO, "the worker is started again in %lld ms%s",
               (long long)(worker->start_at_ms - now_ms),
               worker->given_up ? "; its shards stay away until it runs" : "");
    if (!too_often || worker->given_up)
        return;
    worker->given_up = true;
    tn_charge_give_up(agent, worker);
}

void tn_worker_exited(struct tn_worker *worker, int code, int status)
{
    struct tn_agent *agent = worker->agent;
    const int64_t now_ms = tn_clock_boot_ms();
    bool end = false;
    kill(-worker->process.pid, SIGKILL); /* what it started, while its number cannot be another's */
    for (int i = 0; i < last_reads && read_some(worker, &end); i++)
        continue; /* its last words count */
    say_exit(worker, code, status);
    tn_watchdog_guard(&agent->watchdog, worker->process.pid, false);
    if (agent->family)
        tn_family_worker(agent->family, worker->process.pid, false);
    worker->state = TN_WORKER_DOWN;
    worker->watching_to = worker->watching_from = false;
    worker->number = 0;
    tn_process_close(&worker->process);
    tn_line_done(&worker->reader);
    if (worker->expected) {
        worker->start_at_ms = now_ms; /* wanted again meanwhile, perhaps: what waits is for the next one */
        return;
    }
    tn_outbox_clear(&worker->outbox);
    const bool finished = worker->shard >= 0 && code == CLD_EXITED && status == 0 &&
                          agent->charges[worker->shard].state >= TN_CHARGE_DRAINING;
    if (finished) {
        tn_answer_released(agent, (uint32_t)worker->shard);
        return;
    }
    tn_charge_orphan(agent, worker);
    if (!agent->stopped)
        count_crash(worker, now_ms);
}

/* ---- time ---- */

static void settle(struct tn_worker *worker)
{
    worker->backoff_ms = first_backoff_ms;
    if (!worker->given_up)
        return;
    worker->given_up = false;
    memset(worker->crashes_ms, 0, sizeof worker->crashes_ms);
    tn_log_say(worker->agent->log, TENURE_LOG_INFO, "the worker runs again; `tenure undrain` lets this node have shards again");
    tn_charge_orphan(worker->agent, worker); /* what nobody took meanwhile: taken up again */
}

int64_t tn_worker_tick(struct tn_worker *worker, int64_t now_ms)
{
    int64_t due = INT64_MAX;
    if (worker->state == TN_WORKER_DOWN && worker->wanted && now_ms >= worker->start_at_ms)
        start(worker, now_ms);
    if (worker->state == TN_WORKER_DOWN && worker->wanted)
        return worker->start_at_ms;
    if (worker->state != TN_WORKER_UP)
        return due;
    const int64_t waits_since = worker->outbox.waits_since_ms, stuck = worker->agent->options->stuck_after_ms;
    if (worker->kill_at_ms && now_ms >= worker->kill_at_ms) {
        tn_log_say(worker->agent->log, TENURE_LOG_WARNING, "worker %d did not end in time and is killed",
                   worker->process.pid);
        kill_group(worker);
        return due;
    }
    if (waits_since && now_ms - waits_since >= stuck && !worker->expected) {
        crash(worker, "it has not read its input for too long");
        return due;
    }
    if (worker->kill_at_ms)
        due = worker->kill_at_ms;
    if (waits_since && waits_since + stuck < due)
        due = waits_since + stuck;
    if (worker->backoff_ms > first_backoff_ms || worker->given_up) {
        const int64_t stable_at = worker->started_ms + stable_after_ms;
        if (now_ms >= stable_at)
            settle(worker);
        else if (stable_at < due)
            due = stable_at;
    }
    return due;
}
