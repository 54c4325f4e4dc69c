/* A real node that owns every shard: resident memory, and store calls for renewals whatever the number of
 * shards.
 *
 * usage: footprint SHARDS ... */
#include "core/lease/settings.h"
#include "store/store.h"
#include "sys/clock.h"
#include "tenure/tenure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { watch_ms = 20000 };

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static void make_group(const char *url, uint32_t shards)
{
    struct tenure_error error = {0};
    struct tn_store *store;
    struct tn_settings settings;
    tn_settings_init(&settings);
    settings.shards = shards;
    tn_settings_derive(&settings);
    struct tn_hasher hasher;
    if (tn_store_open(url, TN_STORE_CREATE, &store, &error) != TENURE_OK ||
        tn_hasher_init(&hasher, settings.algo, settings.seed, shards, &error) != TENURE_OK ||
        store->type->group_create(store, "bench", &settings, tn_hash_fingerprint(&hasher), 60000, &error) !=
            TENURE_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    store->type->close(store);
}

static void measure(const char *url, uint32_t shards)
{
    const long before = resident_kib();
    struct tenure_options options;
    tenure_options_init(&options);
    options.store = url;
    options.node_id = "A";
    struct tenure *tenure;
    struct tenure_group *group;
    struct tenure_error error = {0};
    if (tenure_open(&options, &tenure, &error) != TENURE_OK ||
        tenure_join(tenure, "bench", &group, &error) != TENURE_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    struct tenure_event event;
    for (uint32_t ready = 0; ready < shards;)
        if (tenure_next(tenure, 100, &event) == TENURE_OK && event.kind == TENURE_EVENT_ASSIGNED)
            ready += tenure_ready(event.group, event.shard, event.token) == TENURE_OK;
    tn_clock_sleep_ms(2000);
    struct tenure_counters from, to;
    tenure_counters(tenure, &from);
    tn_clock_sleep_ms(watch_ms);
    tenure_counters(tenure, &to);
    printf("%6u shards on one node: %.1f MiB resident (%.1f before joining), %" PRIu64
           " renewals in %d s, a store call each; "
           "%" PRIu64 " store calls in all (the others read)\n",
           shards, (double)resident_kib() / 1024, (double)before / 1024, to.renewals - from.renewals,
           watch_ms / 1000, to.store_calls - from.store_calls);
    fflush(stdout);
    tenure_close(tenure);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tenure-bench-XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    for (int i = 1; i < argc; i++) {
        char url[256];
        const uint32_t shards = (uint32_t)atoi(argv[i]);
        snprintf(url, sizeof url, "sqlite:%s/store-%u.db", folder, shards);
        make_group(url, shards);
        if (fork() == 0) { /* a process of its own, so that one does not add to the other */
            measure(url, shards);
            _exit(0);
        }
        wait(NULL);
    }
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
