/* A worker's lines, in both directions, and what epoll is asked about them. */
#include "agent/parts.h"
#include "agent/worker.h"
#include "sys/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    read_bytes = 65536,
    answers_most_bytes = 1 << 20,
    saves_most = 256,
    queue_bytes = 16 << 20,
    queue_bytes_a_shard = 512 << 10
};

/* ---- what epoll looks at ---- */

static void watch_one(struct tn_worker *worker, int fd, uint32_t events, enum tn_source source,
                      bool *watching)
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

void tn_worker_watch(struct tn_worker *worker)
{
    const bool up = worker->state == TN_WORKER_UP;
    const bool hungry =
        up && !worker->closed_ms && worker->outbox.bytes < answers_most_bytes && worker->saves < saves_most;
    const uint32_t in = hungry ? EPOLLIN : 0, out = up && worker->outbox.first ? EPOLLOUT : 0;
    if (worker->process.from == worker->process.to) {
        watch_one(worker, worker->process.from, in | out, TN_SOURCE_FROM, &worker->watching_from);
        return;
    }
    watch_one(worker, worker->process.from, in, TN_SOURCE_FROM, &worker->watching_from);
    watch_one(worker, worker->process.to, out, TN_SOURCE_TO, &worker->watching_to);
}

/* ---- lines to it ---- */

void tn_worker_put(struct tn_worker *worker)
{
    const struct tn_agent *agent = worker->agent;
    const size_t shards = worker->shard < 0 ? agent->shards : 1;
    tn_outbox_put(&worker->outbox, agent->line.bytes, agent->line.length);
    if (worker->state == TN_WORKER_UP && worker->outbox.bytes > queue_bytes + shards * queue_bytes_a_shard)
        tn_worker_crash(worker, "it does not read, and too much waits for it");
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
            tn_worker_crash(worker, "it closed its input");
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
    tn_worker_watch(worker);
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

bool tn_worker_read(struct tn_worker *worker, bool *ret_end)
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
    tn_worker_read(worker, &end);
    if (end) /* most often the process has ended as well: its own word is waited for */
        worker->closed_ms = tn_clock_boot_ms();
    tn_worker_watch(worker);
}
