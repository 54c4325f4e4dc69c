/* The workers' lines become answers to the node. */
#include "agent/parts.h"
#include "agent/word.h"

#include "sys/clock.h"

#include <stdlib.h>

enum { complain_every_ms = 1000 };

/* A worker that talks nonsense, or a flood of it, is worth a line a second. */
static void complain(struct tn_agent *agent, struct tn_worker *worker, const char *why, const char *line)
{
    const int64_t now_ms = tn_clock_boot_ms();
    if (now_ms - worker->complained_ms < complain_every_ms)
        return;
    worker->complained_ms = now_ms;
    tn_log_say(agent->log, TENURE_LOG_WARNING, "worker %d: a line is ignored (%s): %.120s",
               worker->process.pid, why, line);
}

/* ---- checkpoints ---- */

static void put_save(struct tn_agent *agent, struct tn_worker *worker, const struct tn_word *word)
{
    const struct tn_save save = {.shard = word->shard,
                                 .token = word->token,
                                 .seq = word->seq,
                                 .rewind = word->rewind,
                                 .worker = worker->number,
                                 .size = word->data_size};
    agent->charges[word->shard].saves++;
    worker->saves++;
    tn_saver_put(agent->saver, &save, word->data);
}

static void say_failed(struct tn_agent *agent, struct tn_worker *worker, uint32_t shard, uint64_t token,
                       uint64_t seq, enum tenure_status status)
{
    agent->counters.save_failed++;
    tn_word_save_failed(&agent->line, shard, token, seq, status);
    tn_worker_put(worker);
}

static void on_saved(struct tn_agent *agent, const struct tn_save *save)
{
    struct tn_worker *worker = tn_agent_worker(agent, save->shard);
    struct tn_charge *charge = &agent->charges[save->shard];
    if (save->worker != worker->number)
        return; /* who asked is no more */
    worker->saves--;
    if (save->status == TENURE_OK) {
        agent->counters.saved++;
        tn_word_saved(&agent->line, save->shard, save->token, save->seq);
        tn_worker_put(worker);
    } else {
        say_failed(agent, worker, save->shard, save->token, save->seq, save->status);
    }
    if (charge->token != save->token || !charge->saves)
        return;
    charge->saves--;
    if (charge->released && !charge->saves)
        tn_answer_released(agent, save->shard);
}

void tn_answer_saves(struct tn_agent *agent)
{
    for (struct tn_save *save; (save = tn_saver_take(agent->saver)); free(save))
        on_saved(agent, save);
}

/* ---- words about a shard ---- */

/* A checkpoint sent before `released` is saved before the shard goes, whether the worker waits for it or not.
 */
void tn_answer_released(struct tn_agent *agent, uint32_t shard)
{
    struct tn_charge *charge = &agent->charges[shard];
    if (charge->state != TN_CHARGE_DRAINING)
        return;
    if (charge->saves) {
        charge->released = true;
        return;
    }
    tenure_released(agent->group, shard, charge->token);
    tn_charge_set(agent, shard, TN_CHARGE_RELEASED, charge->token);
    if (agent->options->per_shard)
        tn_worker_shut_down(tn_agent_worker(agent, shard), TN_SHUTDOWN_MS);
}

static void on_ready(struct tn_agent *agent, uint32_t shard)
{
    struct tn_charge *charge = &agent->charges[shard];
    if (charge->state == TN_CHARGE_ASSIGNED && tenure_ready(agent->group, shard, charge->token) == TENURE_OK)
        tn_charge_set(agent, shard, TN_CHARGE_READY, charge->token);
}

static void on_reload(struct tn_agent *agent, uint32_t shard)
{
    const uint64_t token = agent->charges[shard].token;
    tn_charge_set(agent, shard, TN_CHARGE_NONE, 0);
    tenure_reload(agent->group, shard, token);
}

static void on_stale(struct tn_agent *agent, struct tn_worker *worker, const struct tn_word *word)
{
    agent->counters.stale++;
    tn_log_say(agent->log, TENURE_LOG_DEBUG, "worker %d: %s of shard %u under old token %llu is ignored",
               worker->process.pid, tn_word_name(word->kind), word->shard, (unsigned long long)word->token);
    if (word->kind == TN_WORD_CHECKPOINT) /* the worker may be waiting for it */
        say_failed(agent, worker, word->shard, word->token, word->seq, TENURE_STALE);
}

static void on_current(struct tn_agent *agent, struct tn_worker *worker, const struct tn_word *word)
{
    switch (word->kind) {
    case TN_WORD_READY: on_ready(agent, word->shard); break;
    case TN_WORD_RELEASED: tn_answer_released(agent, word->shard); break;
    case TN_WORD_RELOAD: on_reload(agent, word->shard); break;
    case TN_WORD_REJECTED: tenure_rejected(agent->group, word->shard, word->token); break;
    case TN_WORD_CHECKPOINT:
        put_save(agent, worker, word); /* also one that is too big: answers come in order */
        break;
    case TN_WORD_LOAD:
        agent->counters.load_ops += word->ops;
        agent->counters.load_bytes += word->bytes;
        agent->counters.load_ms += word->ms;
        break;
    case TN_WORD_TOUCH: agent->counters.touches++; break;
    case TN_WORD_PROGRESS:
        agent->counters.progress++;
        tenure_progress(agent->group, word->shard, word->token);
        break;
    default: break;
    }
}

static void on_prepared(struct tn_agent *agent, struct tn_worker *worker, const struct tn_word *word)
{
    struct tn_charge *charge = &agent->charges[word->shard];
    if (!charge->warming || charge->warm_token != word->token) {
        on_stale(agent, worker, word);
        return;
    }
    charge->warming = false;
    tenure_prepared(agent->group, word->shard);
}

static void on_shard_word(struct tn_agent *agent, struct tn_worker *worker, const struct tn_word *word,
                          const char *line)
{
    if (word->shard >= agent->shards || !tn_agent_is_of(worker, word->shard)) {
        agent->counters.stray++;
        complain(agent, worker, "not a shard of its own", line);
        return;
    }
    const struct tn_charge *charge = &agent->charges[word->shard];
    if (word->kind == TN_WORD_PREPARED)
        on_prepared(agent, worker, word);
    else if (!word->token || charge->token != word->token || charge->state == TN_CHARGE_RELEASED)
        on_stale(agent, worker, word);
    else
        on_current(agent, worker, word);
}

void tn_answer_line(struct tn_agent *agent, struct tn_worker *worker, const char *line, size_t length)
{
    struct tn_word word;
    const char *why;
    if (!tn_word_read(line, length, &word, &why)) {
        agent->counters.unparsable++;
        complain(agent, worker, why, line);
        return;
    }
    switch (word.kind) {
    case TN_WORD_LOG:
        tn_log_say(agent->log, word.level, "worker %d: %s", worker->process.pid, word.text);
        break;
    case TN_WORD_DONE:
    case TN_WORD_FAILED:
        if (!worker->told_jobs)
            tn_log_say(agent->log, TENURE_LOG_WARNING,
                       "worker %d: %s is ignored: jobs are not in this version", worker->process.pid,
                       tn_word_name(word.kind));
        worker->told_jobs = true;
        break;
    default: on_shard_word(agent, worker, &word, line); break;
    }
    tn_word_done(&word);
}
