/* The public handle, on a real SQLite store in a temporary folder: what a program in C sees. */
#include "tenure/tenure.h"

#include "core/hash/hash.h"
#include "store/store.h"
#include "sys/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64], url[128];

static void add_group(const char *name, uint32_t shards)
{
    struct tenure_error error = {0};
    struct tn_store *store;
    struct tn_settings settings;
    struct tn_hasher hasher;
    tn_settings_init(&settings);
    settings.shards = shards;
    settings.lease_ms = 2000;
    settings.renew_ms = 500;
    tn_settings_derive(&settings);
    assert_int_equal(tn_store_open(url, TN_STORE_CREATE, &store, &error), TENURE_OK);
    assert_int_equal(tn_hasher_init(&hasher, settings.algo, settings.seed, shards, &error), TENURE_OK);
    assert_int_equal(
        store->type->group_create(store, name, &settings, tn_hash_fingerprint(&hasher), 5000, &error),
        TENURE_OK);
    store->type->close(store);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tenure-handle-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(url, sizeof url, "sqlite:%s/store.db", folder);
    add_group("orders", 8);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct tenure *open_node(const char *id)
{
    struct tenure_options options;
    struct tenure_error error = {0};
    struct tenure *tenure;
    tenure_options_init(&options);
    options.store = url;
    options.node_id = id;
    options.join_limit_ms = 5000;
    assert_int_equal(tenure_open(&options, &tenure, &error), TENURE_OK);
    return tenure;
}

static struct tenure_event await_event(struct tenure *tenure, enum tenure_event_kind kind)
{
    struct tenure_event event = {.kind = TENURE_EVENT_NONE};
    const int64_t until = tn_clock_boot_ms() + 20000;
    while (event.kind != kind && tn_clock_boot_ms() < until)
        if (tenure_next(tenure, 100, &event) != TENURE_OK)
            event.kind = TENURE_EVENT_NONE;
    assert_int_equal(event.kind, kind);
    return event;
}

/* Everything a worker does in its life, and every answer it gets when it is late or wrong. */
static void a_worker_lives_from_assigned_to_stopped(void **state)
{
    (void)state;
    struct tenure *tenure = open_node("A");
    struct tenure_group *group;
    struct tenure_error error = {0};
    assert_int_equal(tenure_join(tenure, "orders", &group, &error), TENURE_OK);
    struct tenure_event event = await_event(tenure, TENURE_EVENT_ASSIGNED);
    const uint32_t shard = event.shard;
    assert_null(event.checkpoint);
    assert_int_equal(tenure_enter(group, shard, event.token), TENURE_MOVING);
    assert_int_equal(tenure_ready(group, shard, event.token + 1), TENURE_STALE);
    assert_int_equal(tenure_ready(group, shard, event.token), TENURE_OK);
    assert_true(tenure_gate_exact(group, shard, event.token) && tenure_gate_quick(group, shard, event.token));
    assert_int_equal(tenure_enter(group, shard, event.token), TENURE_OK);
    tenure_leave(group, shard);
    assert_int_equal(tenure_enter(group, 8, event.token), TENURE_BAD_INPUT);
    assert_int_equal(tenure_released(group, shard, event.token), TENURE_STALE);
    assert_int_equal(tenure_prepared(group, shard), TENURE_STALE);

    uint64_t seq = 0;
    assert_int_equal(tenure_checkpoint_save(group, shard, event.token, "a\0b", 3, 0, false, &seq), TENURE_OK);
    assert_int_equal(seq, 1);
    assert_int_equal(tenure_checkpoint_save(group, shard, event.token, "x", 1, 800, false, NULL), TENURE_OK);
    assert_int_equal(tenure_checkpoint_save(group, shard, event.token, "y", 1, 700, false, NULL),
                     TENURE_REGRESSED);
    assert_int_equal(tenure_checkpoint_save(group, shard, event.token, "y", 1, 700, true, NULL), TENURE_OK);
    static char huge[65537];
    assert_int_equal(tenure_checkpoint_save(group, shard, event.token, huge, sizeof huge, 0, false, NULL),
                     TENURE_TOO_BIG);

    assert_int_equal(tenure_reload(group, shard, event.token), TENURE_OK);
    const uint64_t old = event.token;
    do
        event = await_event(tenure, TENURE_EVENT_ASSIGNED);
    while (event.shard != shard);
    assert_int_equal(event.token, old + 1);
    assert_int_equal(event.seq, 700);
    assert_memory_equal(event.checkpoint, "y", 1);
    assert_int_equal(tenure_checkpoint_save(group, shard, old, "late", 4, 0, false, NULL), TENURE_STALE);
    struct tenure_counters counters;
    tenure_counters(tenure, &counters);
    assert_int_equal(counters.stale_rejected, 1);

    tenure_stop(tenure, 5000);
    struct tenure_group *again = NULL;
    assert_int_equal(tenure_join(tenure, "orders", &again, &error), TENURE_OK);
    assert_ptr_equal(again, group);
    assert_int_equal(tenure_join(tenure, "later still", &again, &error), TENURE_CLOSED);
    for (;;) {
        assert_int_equal(tenure_next(tenure, 10000, &event), TENURE_OK);
        if (event.kind == TENURE_EVENT_DRAIN)
            assert_int_equal(tenure_released(group, event.shard, event.token), TENURE_OK);
        if (event.kind == TENURE_EVENT_STOPPED)
            break;
    }
    assert_int_equal(event.status, TENURE_OK);
    assert_int_equal(tenure_next(tenure, 0, &event), TENURE_CLOSED);
    assert_int_equal(tenure_released(group, shard, old + 1), TENURE_STALE);
    tenure_close(tenure);
}

/* A missing group is an answer, not an end: it can be created and joined later. */
static void a_join_that_failed_can_be_tried_again(void **state)
{
    (void)state;
    struct tenure *tenure = open_node("B");
    struct tenure_group *group;
    struct tenure_error error = {0};
    assert_int_equal(tenure_join(tenure, "later", &group, &error), TENURE_NOT_FOUND);
    assert_non_null(strstr(error.text, "later"));
    add_group("later", 4);
    assert_int_equal(tenure_join(tenure, "later", &group, &error), TENURE_OK);
    assert_int_equal(tenure_group_shards(group), 4);
    assert_int_equal(tenure_join(tenure, "a/b", &group, &error), TENURE_BAD_INPUT);
    tenure_close(tenure);
}

struct joiner {
    struct tenure *tenure;
    int from;
};

static void *join_ten(void *context)
{
    const struct joiner *joiner = context;
    uintptr_t wrong = 0;
    for (int i = joiner->from; i < joiner->from + 10; i++) {
        char name[16];
        struct tenure_group *group = NULL;
        snprintf(name, sizeof name, "g%d", i);
        wrong += tenure_join(joiner->tenure, name, &group, NULL) != TENURE_OK ||
                 strcmp(tenure_group_name(group), name) != 0 || tenure_group_shards(group) != (uint32_t)i + 1;
    }
    return (void *)wrong;
}

/* If two joins at once mixed up their groups, one group's gate would answer for another's shard. */
static void groups_joined_from_two_threads_are_not_mixed_up(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        add_group(name, (uint32_t)i + 1);
    }
    struct tenure *tenure = open_node("C");
    struct joiner joiners[2] = {{tenure, 0}, {tenure, 10}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, join_ten, &joiners[i]);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    tenure_close(tenure);
}

/* apache/shardingsphere-elasticjob#483: ids made of address and process number collide in containers. */
static void a_thousand_ids_that_were_not_given_are_all_different(void **state)
{
    (void)state;
    enum { starts = 1000 };
    static char ids[starts][160];
    for (int i = 0; i < starts; i++) {
        struct tenure *tenure = open_node(NULL);
        snprintf(ids[i], sizeof ids[i], "%s", tenure_node_id(tenure));
        tenure_close(tenure);
    }
    qsort(ids, starts, sizeof ids[0], (int (*)(const void *, const void *))strcmp);
    for (int i = 1; i < starts; i++)
        assert_string_not_equal(ids[i - 1], ids[i]);
}

/* An empty key must never land on a default shard; a composite key must not be ambiguous. */
static void keys_are_refused_or_mapped_and_routes_name_the_owner(void **state)
{
    (void)state;
    struct tenure *tenure = open_node("D");
    struct tenure_group *group;
    assert_int_equal(tenure_join(tenure, "orders", &group, NULL), TENURE_OK);
    assert_int_equal(tenure_shard_of(group, "", 0), UINT32_MAX);
    assert_int_equal(tenure_owns(group, "", 0, NULL), 0);
    struct tn_hasher hasher;
    assert_int_equal(tn_hasher_init(&hasher, TN_HASH_XXH3, 0, 8, NULL), TENURE_OK);
    char key[64];
    for (size_t size = 1; size < sizeof key; size++) {
        memset(key, (int)size, sizeof key);
        assert_int_equal(tenure_shard_of(group, key, size), tn_hash_shard(&hasher, key, size));
    }
    struct tenure_event event;
    for (uint32_t ready = 0; ready < 8;) {
        event = await_event(tenure, TENURE_EVENT_ASSIGNED);
        ready += tenure_ready(group, event.shard, event.token) == TENURE_OK;
    }
    uint32_t shard;
    const uint64_t token = tenure_owns(group, "A10086", 6, &shard);
    assert_true(token > 0);
    struct tenure_route route;
    assert_int_equal(tenure_route_shard(group, shard, &route), TENURE_OK);
    assert_string_equal(route.owner, "D");
    assert_true(route.mine && route.token == token);
    assert_int_equal(tenure_route_shard(group, 8, &route), TENURE_BAD_INPUT);
    tenure_close(tenure);
}

/* A wrong start must end in words, not in a crash. */
static void bad_options_are_refused_with_words(void **state)
{
    (void)state;
    struct tenure_options options;
    struct tenure *tenure;
    struct tenure_error error = {0};
    char name[10001];
    memset(name, 'n', 10000);
    name[10000] = 0;
    tenure_options_init(&options);
    options.store = "mongodb://x";
    assert_int_equal(tenure_open(&options, &tenure, &error), TENURE_BAD_INPUT);
    options.store = "sqlite:/nowhere/at/all.db";
    assert_int_equal(tenure_status_exit(tenure_open(&options, &tenure, &error)), 3);
    options.store = url;
    options.node_id = name;
    assert_int_equal(tenure_open(&options, &tenure, &error), TENURE_BAD_INPUT);
    options.node_id = "x";
    options.size = 3;
    assert_int_equal(tenure_open(&options, &tenure, &error), TENURE_BAD_INPUT);
    assert_true(strlen(error.text) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_lives_from_assigned_to_stopped),
        cmocka_unit_test(a_join_that_failed_can_be_tried_again),
        cmocka_unit_test(groups_joined_from_two_threads_are_not_mixed_up),
        cmocka_unit_test(a_thousand_ids_that_were_not_given_are_all_different),
        cmocka_unit_test(keys_are_refused_or_mapped_and_routes_name_the_owner),
        cmocka_unit_test(bad_options_are_refused_with_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
