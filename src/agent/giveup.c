#include "agent/giveup.h"

#include "agent/parts.h"
#include "store/store.h"
#include "sys/thread.h"

enum { limit_ms = 5000 };

static void *run(void *context)
{
    const struct tn_agent *agent = context;
    struct tenure_error error = {0};
    struct tn_store *store;
    enum tenure_status status = tn_store_open(agent->facts.store, 0, &store, &error);
    if (status == TENURE_OK) {
        status = store->type->node_drain(store, agent->facts.node, 0, true, limit_ms, &error);
        store->type->close(store);
    }
    if (status == TENURE_OK)
        tn_log_say(agent->log, TENURE_LOG_WARNING,
                   "this node is marked as drained; when the worker is repaired: tenure undrain %s",
                   agent->facts.node);
    else
        tn_log_say(agent->log, TENURE_LOG_ERROR, "this node could not be marked as drained: %s", error.text);
    return NULL;
}

void tn_giveup_drain(struct tn_agent *agent)
{
    if (agent->drained)
        return;
    agent->drained = true;
    tn_thread_start(&agent->giveup, run, agent);
}

void tn_giveup_done(struct tn_agent *agent)
{
    if (agent->drained)
        pthread_join(agent->giveup, NULL);
}
