#include "agent/worker.h"

#include "agent/parts.h"
#include "agent/word.h"
#include "sys/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    first_backoff_ms = 100,
    longest_backoff_ms = 10000,
    stable_after_ms = 10000,
    crash_window_ms = 60000,
    closed_patience_ms = 200,
    last_reads = 64 /* of a process that has ended */
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
    worker->kill_at_ms = worker->closed_ms = 0;
    worker->expected = worker->last_line = worker->wanted = worker->terminated = false;
    worker->started_ms = now_ms;
    tn_log_say(agent->log, TENURE_LOG_INFO, "worker %d started", worker->process.pid);
    put_hello(worker);
    tn_charge_started(agent, worker);
    tn_worker_send(worker);
}

/* ---- its end ---- */

static void kill_group(struct tn_worker *worker)
{
    kill(-worker->process.pid, SIGKILL);
    worker->state = TN_WORKER_ENDING;
    tn_outbox_clear(&worker->outbox); /* what comes from now on is for the next process */
    tn_worker_watch(worker);
}

void tn_worker_crash(struct tn_worker *worker, const char *why)
{
    tn_log_say(worker->agent->log, TENURE_LOG_WARNING, "worker %d is killed: %s", worker->process.pid, why);
    kill_group(worker);
}

void tn_worker_terminate(struct tn_worker *worker)
{
    if (worker->state == TN_WORKER_UP && !worker->terminated)
        kill(worker->process.pid, SIGTERM);
    worker->terminated = true;
}

void tn_worker_want(struct tn_worker *worker, uint64_t token)
{
    worker->token = token;
    worker->wanted = true;
}

void tn_worker_end(struct tn_worker *worker, int64_t kill_at_ms)
{
    worker->wanted = false;
    if (worker->state == TN_WORKER_DOWN)
        tn_outbox_clear(&worker->outbox);
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
        tn_worker_terminate(worker);
    worker->last_line = true;
    tn_word_shutdown(&worker->agent->line, limit_ms);
    tn_worker_put(worker);
}

void tn_worker_forgive(struct tn_worker *worker)
{
    if (tn_clock_boot_ms() - worker->crashes_ms[0] > crash_window_ms)
        worker->given_up = false;
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
    worker->wanted = worker->shard < 0; /* a shard's process starts when the shard is assigned again */
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
    worker->state = TN_WORKER_ENDING;
    kill(-worker->process.pid, SIGKILL); /* what it started, while its number cannot be another's */
    for (int i = 0; i < last_reads && tn_worker_read(worker, &end); i++)
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
    if (worker->shard >= 0 && code == CLD_EXITED && status == 0) {
        worker->wanted = false;
        tn_charge_finished(agent, worker);
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
    tn_log_say(worker->agent->log, TENURE_LOG_INFO,
               "the worker runs again; `tenure undrain` lets this node have shards again");
    tn_charge_orphan(worker->agent, worker); /* what nobody took meanwhile: taken up again */
}

static void by(int64_t *due_ms, int64_t at_ms)
{
    if (at_ms < *due_ms)
        *due_ms = at_ms;
}

/* Why the process must be killed now; NULL: it need not, and *due_ms is when to look again. */
static const char *find_fault(const struct tn_worker *worker, int64_t now_ms, int64_t *due_ms)
{
    const int64_t stuck_at_ms = worker->outbox.waits_since_ms + worker->agent->options->stuck_after_ms;
    const int64_t gone_at_ms = worker->closed_ms + closed_patience_ms;
    if (worker->expected) {
        if (worker->kill_at_ms && now_ms >= worker->kill_at_ms)
            return "it did not end in time";
        by(due_ms, worker->kill_at_ms ? worker->kill_at_ms : INT64_MAX);
        return NULL;
    }
    if (worker->outbox.waits_since_ms && now_ms >= stuck_at_ms)
        return "it has not read its input for too long";
    if (worker->closed_ms && now_ms >= gone_at_ms)
        return "it closed its output";
    by(due_ms, worker->outbox.waits_since_ms ? stuck_at_ms : INT64_MAX);
    by(due_ms, worker->closed_ms ? gone_at_ms : INT64_MAX);
    return NULL;
}

int64_t tn_worker_tick(struct tn_worker *worker, int64_t now_ms)
{
    int64_t due_ms = INT64_MAX;
    if (worker->state == TN_WORKER_DOWN && worker->wanted && now_ms >= worker->start_at_ms)
        start(worker, now_ms);
    if (worker->state == TN_WORKER_DOWN && worker->wanted)
        return worker->start_at_ms;
    if (worker->state != TN_WORKER_UP)
        return due_ms;
    const char *fault = find_fault(worker, now_ms, &due_ms);
    if (fault) {
        tn_worker_crash(worker, fault);
        return INT64_MAX;
    }
    if (worker->backoff_ms == first_backoff_ms && !worker->given_up)
        return due_ms;
    if (now_ms >= worker->started_ms + stable_after_ms)
        settle(worker);
    else
        by(&due_ms, worker->started_ms + stable_after_ms);
    return due_ms;
}
