/* The public side of a handle: opening, joining, stopping, closing. */
#include "node/node.h"

#include "core/lease/settings.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { rival_patience_ms = 2500, join_look_ms = 50 };

const char *tenure_version(void)
{
    return TENURE_VERSION;
}

void tenure_options_init(struct tenure_options *options)
{
    *options = (struct tenure_options){.size = sizeof *options, .weight_milli = 1000, .join_limit_ms = 10000};
}

static uint64_t random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)tn_clock_boot_ns() ^ (uint64_t)getpid() << 40;
    return seed;
}

static char *fresh_id(uint64_t seed)
{
    char host[64] = "host", id[TN_NAME_MAX + 1];
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c == '/' || (unsigned char)*c < 32)
            *c = '-';
    snprintf(id, sizeof id, "%s-%ld-%08llx", host, (long)getpid(), (unsigned long long)(seed & 0xffffffff));
    return strdup(id);
}

static enum tenure_status check_options(const struct tenure_options *options, struct tenure_error *error)
{
    if (!options || options->size != sizeof *options)
        return tn_error_set(error, TENURE_BAD_INPUT, "options must be made by tenure_options_init");
    if (options->address && strlen(options->address) > 255)
        return tn_error_set(error, TENURE_BAD_INPUT, "the address is longer than 255 bytes");
    if (options->labels_json && strlen(options->labels_json) > 4096)
        return tn_error_set(error, TENURE_BAD_INPUT, "the labels are longer than 4096 bytes");
    if (options->weight_milli > 1000000000000)
        return tn_error_set(error, TENURE_BAD_INPUT, "the weight %llu is above 10^12 thousandths",
                            (unsigned long long)options->weight_milli);
    return options->node_id ? tn_name_check("node", options->node_id, error) : TENURE_OK;
}

static enum tenure_status open_store(const char *url, struct tn_store **ret_store, struct tenure_error *error)
{
    char fallback[4096];
    if (!url)
        url = getenv("TENURE_STORE");
    if (!url || !*url) {
        const enum tenure_status status = tn_store_default_url(fallback, sizeof fallback, error);
        if (status != TENURE_OK)
            return status;
        url = fallback;
    }
    return tn_store_open(url, 0, ret_store, error);
}

static struct tenure *new_handle(const struct tenure_options *options)
{
    struct tenure *tenure = calloc(1, sizeof *tenure);
    if (!tenure || !tn_events_init(&tenure->events)) {
        free(tenure);
        return NULL;
    }
    const uint64_t seed = random_seed();
    tenure->node_id = options->node_id ? strdup(options->node_id) : fresh_id(seed);
    tenure->address = strdup(options->address ? options->address : "");
    tenure->labels = strdup(options->labels_json ? options->labels_json : "{}");
    tenure->join_limit_ms = options->join_limit_ms;
    tenure->log = options->log;
    tenure->log_context = options->log_context;
    tenure->last = &tenure->first;
    pthread_mutex_init(&tenure->lock, NULL);
    pthread_mutex_init(&tenure->join_lock, NULL);
    tn_cond_init(&tenure->news);
    tn_cond_init(&tenure->joined);
    const struct tn_keeper_options keeper = {.node_id = tenure->node_id,
                                             .address = tenure->address,
                                             .labels = tenure->labels,
                                             .weight_milli = options->weight_milli,
                                             .replace = options->replace,
                                             .seed = seed};
    tn_keeper_init(&tenure->keeper, &keeper);
    return tenure;
}

enum tenure_status tenure_open(const struct tenure_options *options, struct tenure **ret_tenure,
                               struct tenure_error *error)
{
    enum tenure_status status = check_options(options, error);
    if (status != TENURE_OK)
        return status;
    struct tn_store *store;
    status = open_store(options->store, &store, error);
    if (status != TENURE_OK)
        return status;
    struct tenure *tenure = new_handle(options);
    if (!tenure) {
        store->type->close(store);
        return tn_error_set(error, TENURE_NO_MEMORY, "no memory or no file descriptor for a handle: %s",
                            strerror(errno));
    }
    tn_node_start(tenure, store);
    *ret_tenure = tenure;
    return TENURE_OK;
}

/* ---- joining ---- */

/* The group's entry, made when it is new; its index is that of the keeper, since both only append, in the
 * same order. */
static struct tenure_group *entry(struct tenure *tenure, const char *name)
{
    for (uint32_t i = 0; i < tenure->n_groups; i++) {
        if (strcmp(tenure->groups[i]->name, name) != 0)
            continue;
        pthread_mutex_lock(&tenure->lock);
        tenure->groups[i]->failed = false;
        pthread_mutex_unlock(&tenure->lock);
        return tenure->groups[i];
    }
    if (tenure->n_groups == TN_GROUPS_MAX)
        return NULL;
    struct tenure_group *group = calloc(1, sizeof *group);
    if (!group)
        abort();
    group->tenure = tenure;
    group->deadline = &tenure->deadline;
    group->index = tenure->n_groups;
    group->name = strdup(name);
    tenure->groups[tenure->n_groups] = group;
    tenure->n_groups++;
    return group;
}

/* Worth waiting for something better? */
static bool patient(const struct tenure_group *group, int64_t since_ms, int64_t now_ms, int64_t limit_ms)
{
    if (now_ms - since_ms >= limit_ms)
        return false;
    if (!group->failed)
        return true;
    switch (tenure_status_class(group->error.status)) {
    case TENURE_CLASS_RETRY:
    case TENURE_CLASS_MAYBE: return true;
    default: return group->error.status == TENURE_ID_IN_USE && now_ms - since_ms < rival_patience_ms;
    }
}

static enum tenure_status await_join(struct tenure *tenure, struct tenure_group *group,
                                     struct tenure_error *error)
{
    const int64_t since = tn_clock_boot_ms();
    while (!group->joined && patient(group, since, tn_clock_boot_ms(), tenure->join_limit_ms))
        tn_cond_wait_ms(&tenure->joined, &tenure->lock, join_look_ms);
    if (group->joined)
        return TENURE_OK;
    if (group->failed) {
        if (error)
            *error = group->error;
        return group->error.status;
    }
    return tn_error_set(error, TENURE_UNREACHABLE, "the store gave no answer within %lld ms",
                        (long long)tenure->join_limit_ms);
}

enum tenure_status tenure_join(struct tenure *tenure, const char *name, struct tenure_group **ret_group,
                               struct tenure_error *error)
{
    const enum tenure_status named = tn_name_check("group", name, error);
    if (named != TENURE_OK)
        return named;
    /* One at a time, so that entries and the keeper's groups are in the same order. */
    pthread_mutex_lock(&tenure->join_lock);
    struct tenure_group *group = entry(tenure, name);
    if (group)
        tn_node_tell(tenure, &(struct tn_keeper_event){.kind = TN_KEEPER_JOIN, .name = group->name}, true);
    pthread_mutex_unlock(&tenure->join_lock);
    if (!group)
        return tn_error_set(error, TENURE_TOO_BIG, "a handle joins at most %d groups", TN_GROUPS_MAX);
    pthread_mutex_lock(&tenure->lock);
    const enum tenure_status status = await_join(tenure, group, error);
    pthread_mutex_unlock(&tenure->lock);
    if (status == TENURE_OK)
        *ret_group = group;
    return status;
}

void tenure_stop(struct tenure *tenure, int64_t limit_ms)
{
    tn_node_tell(tenure, &(struct tn_keeper_event){.kind = TN_KEEPER_STOP, .limit_ms = limit_ms}, false);
}

static void share_gates(struct tenure *tenure, void *argument)
{
    (void)argument;
    tenure->share_gates = true;
}

void tn_node_share_gates(struct tenure *tenure)
{
    tn_node_call(tenure, share_gates, NULL); /* the flag is the keeper thread's */
}

int tn_node_presence(struct tenure *tenure)
{
    return tn_courier_presence(tenure->courier);
}

void tenure_close(struct tenure *tenure)
{
    if (!tenure)
        return;
    tn_node_stop(tenure);
    tn_keeper_done(&tenure->keeper);
    tn_events_done(&tenure->events);
    for (uint32_t i = 0; i < tenure->n_groups; i++) {
        if (tenure->groups[i]->page.head)
            tn_page_close(&tenure->groups[i]->page);
        else
            free(tenure->groups[i]->slots);
        free(tenure->groups[i]->progress);
        free(tenure->groups[i]->name);
        free(tenure->groups[i]);
    }
    pthread_cond_destroy(&tenure->news);
    pthread_cond_destroy(&tenure->joined);
    pthread_mutex_destroy(&tenure->lock);
    pthread_mutex_destroy(&tenure->join_lock);
    free(tenure->node_id);
    free(tenure->address);
    free(tenure->labels);
    free(tenure);
}
