/* The node's events become lines, and the records of what each shard's worker has been told. */
#include "agent/giveup.h"
#include "agent/parts.h"
#include "agent/word.h"

#include <stdio.h>

enum { turn_events = 256 };

void tn_charge_set(struct tn_agent *agent, uint32_t shard, enum tn_charge_state state, uint64_t token)
{
    struct tn_charge *charge = &agent->charges[shard];
    agent->unready += (state == TN_CHARGE_ASSIGNED) - (charge->state == TN_CHARGE_ASSIGNED);
    agent->ready += (state == TN_CHARGE_READY) - (charge->state == TN_CHARGE_READY);
    charge->state = (uint8_t)state;
    charge->token = token;
    if (state == TN_CHARGE_NONE || state == TN_CHARGE_ASSIGNED) {
        charge->saves = 0;
        charge->released = false;
    }
}

static void tell_ready(struct tn_agent *agent, uint32_t shard)
{
    const struct tn_charge *charge = &agent->charges[shard];
    if (tenure_ready(agent->group, shard, charge->token) == TENURE_OK)
        tn_charge_set(agent, shard, TN_CHARGE_READY, charge->token);
}

void tn_charge_started(struct tn_agent *agent, struct tn_worker *worker)
{
    if (worker->shard >= 0 && agent->charges[worker->shard].state == TN_CHARGE_ASSIGNED)
        tell_ready(agent, (uint32_t)worker->shard);
}

/* ---- a worker that is gone ---- */

static void reload(struct tn_agent *agent, uint32_t shard)
{
    const uint64_t token = agent->charges[shard].token;
    tn_charge_set(agent, shard, TN_CHARGE_NONE, 0);
    tenure_reload(agent->group, shard, token); /* STALE: LOST is on its way */
}

void tn_charge_orphan(struct tn_agent *agent, const struct tn_worker *worker)
{
    for (uint32_t shard = 0; shard < agent->shards; shard++) {
        if (!tn_agent_is_of(worker, shard))
            continue;
        agent->charges[shard].warming = false;
        switch ((enum tn_charge_state)agent->charges[shard].state) {
        case TN_CHARGE_NONE: break;
        case TN_CHARGE_RELEASED: tn_charge_set(agent, shard, TN_CHARGE_NONE, 0); break;
        default: reload(agent, shard); break;
        }
    }
}

void tn_charge_finished(struct tn_agent *agent, const struct tn_worker *worker)
{
    const uint32_t shard = (uint32_t)worker->shard;
    const struct tn_charge charge = agent->charges[shard];
    if (charge.state == TN_CHARGE_DRAINING) {
        tn_answer_released(agent, shard);
        return;
    }
    tn_charge_set(agent, shard, TN_CHARGE_NONE, 0);
    if (charge.state != TN_CHARGE_ASSIGNED && charge.state != TN_CHARGE_READY)
        return;
    tn_log_say(agent->log, TENURE_LOG_INFO, "the worker of shard %u is done with it: given to another node",
               shard);
    tenure_give_up(agent->group, shard, charge.token); /* STALE: LOST is on its way */
}

void tn_charge_give_up(struct tn_agent *agent, const struct tn_worker *worker)
{
    if (worker->shard >= 0)
        tn_log_say(agent->log, TENURE_LOG_ERROR,
                   "the worker of shard %lld ended %d times within a minute: this node is drained",
                   (long long)worker->shard, TN_WORKER_CRASHES);
    else
        tn_log_say(
            agent->log, TENURE_LOG_ERROR,
            "the worker ended %d times within a minute: its shards are given up and this node is drained",
            TN_WORKER_CRASHES);
    tn_giveup_drain(agent);
}

/* ---- events ---- */

static void on_assigned(struct tn_agent *agent, const struct tenure_event *event)
{
    struct tn_worker *worker = tn_agent_worker(agent, event->shard);
    agent->charges[event->shard].warming = false;
    if (agent->stopping)
        return; /* the node gives it back unserved */
    tn_charge_set(agent, event->shard, TN_CHARGE_ASSIGNED, event->token);
    agent->ever_assigned = true;
    if (worker->shard >= 0)
        tn_worker_forgive(worker);
    if (worker->given_up) { /* nobody works on it; only a shard that is served can be handed over */
        tell_ready(agent, event->shard);
        return;
    }
    if (worker->shard >= 0 && worker->state == TN_WORKER_UP && worker->token != event->token)
        tn_worker_end(worker, 0);
    tn_word_assigned(&agent->line, event->shard, event->token, event->checkpoint, event->checkpoint_size,
                     event->seq);
    tn_worker_put(worker);
    if (worker->state != TN_WORKER_UP)
        tn_worker_want(worker, event->token);
}

static void on_prepare(struct tn_agent *agent, const struct tenure_event *event)
{
    struct tn_charge *charge = &agent->charges[event->shard];
    if (agent->options->per_shard) { /* its process starts when the shard has come */
        tenure_prepared(agent->group, event->shard);
        return;
    }
    struct tn_worker *worker = tn_agent_worker(agent, event->shard);
    struct tenure_route route;
    tenure_route_shard(agent->group, event->shard, &route); /* the present owner's token */
    charge->warm_token = route.token;
    charge->warming = true;
    tn_word_prepare(&agent->line, event->shard, route.token, event->checkpoint, event->checkpoint_size,
                    event->deadline_in_ms);
    tn_worker_put(worker);
}

static void on_cancelled(struct tn_agent *agent, const struct tenure_event *event)
{
    struct tn_charge *charge = &agent->charges[event->shard];
    if (!charge->warming)
        return;
    charge->warming = false;
    tn_word_lost(&agent->line, event->shard, charge->warm_token, "the move was called off");
    tn_worker_put(tn_agent_worker(agent, event->shard));
}

static void on_drain(struct tn_agent *agent, const struct tenure_event *event)
{
    struct tn_worker *worker = tn_agent_worker(agent, event->shard);
    if (event->token != agent->charges[event->shard].token)
        return; /* a reload overtook it */
    tn_charge_set(agent, event->shard, TN_CHARGE_DRAINING, event->token);
    if (worker->given_up) {
        tn_answer_released(agent, event->shard);
        return;
    }
    tn_word_drain(&agent->line, event->shard, event->token, event->deadline_in_ms);
    tn_worker_put(worker);
    if (worker->shard >= 0)
        tn_worker_terminate(worker);
}

static void tell_lost(struct tn_agent *agent, uint32_t shard, uint64_t token, const char *reason)
{
    struct tn_worker *worker = tn_agent_worker(agent, shard);
    if (token == agent->charges[shard].token)
        tn_charge_set(agent, shard, TN_CHARGE_NONE, 0);
    if (worker->shard >= 0) {
        if (worker->token == token)
            tn_worker_end(worker, 0);
        return;
    }
    tn_word_lost(&agent->line, shard, token, reason);
    if (worker->state == TN_WORKER_UP || worker->outbox.first)
        tn_worker_put(worker);
}

void tn_charge_withdraw(struct tn_agent *agent, uint32_t shard, const char *reason)
{
    tell_lost(agent, shard, agent->charges[shard].token, reason);
}

/* A new session is a new presence, and may have another lease. */
static void on_joined(struct tn_agent *agent, const struct tenure_event *event)
{
    struct tn_settings settings;
    tn_node_settings(agent->group, &settings);
    agent->lease_ms = settings.lease_ms;
    tn_log_say(agent->log, TENURE_LOG_INFO, "joined group %s as node %s, session %llu", agent->facts.group,
               agent->facts.node, (unsigned long long)event->token);
    tn_agent_take_presence(agent);
}

static void on_stopped(struct tn_agent *agent, const struct tenure_event *event)
{
    agent->stopped = true;
    agent->outcome = event->status;
    snprintf(agent->reason, sizeof agent->reason, "%s", event->reason);
    tn_log_say(agent->log, event->status == TENURE_OK ? TENURE_LOG_INFO : TENURE_LOG_WARNING,
               "this node has left: %s", tenure_status_sentence(event->status));
}

static void on_event(struct tn_agent *agent, const struct tenure_event *event)
{
    switch (event->kind) {
    case TENURE_EVENT_ASSIGNED: on_assigned(agent, event); break;
    case TENURE_EVENT_PREPARE: on_prepare(agent, event); break;
    case TENURE_EVENT_CANCELLED: on_cancelled(agent, event); break;
    case TENURE_EVENT_DRAIN: on_drain(agent, event); break;
    case TENURE_EVENT_LOST: tell_lost(agent, event->shard, event->token, event->reason); break;
    case TENURE_EVENT_JOINED: on_joined(agent, event); break;
    case TENURE_EVENT_ENDED:
        tn_log_say(agent->log, TENURE_LOG_WARNING, "the session was ended: %s", event->reason);
        break;
    case TENURE_EVENT_STOPPED: on_stopped(agent, event); break;
    case TENURE_EVENT_NONE: break;
    }
}

void tn_charge_events(struct tn_agent *agent)
{
    struct tenure_event event;
    for (int i = 0; i < turn_events && tenure_next(agent->tenure, 0, &event) == TENURE_OK; i++)
        on_event(agent, &event);
}
