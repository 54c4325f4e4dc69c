#include "world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/faulty/faulty.h"
#include "store/memory/memory.h"
#include "store/sqlite/sqlite.h"

/* ---- backends ---- */

static int64_t lease_clock(void *context)
{
    return ((struct world *)context)->lease_ms;
}

static int64_t unix_clock(void *context)
{
    return ((struct world *)context)->unix_ms;
}

static struct tn_store *open_memory(struct world *world)
{
    return tn_memory_open(
        &(struct tn_memory_options){.lease_ms = lease_clock, .unix_ms = unix_clock, .context = world, .events_kept = 500});
}

static struct tn_store *open_sqlite(struct world *world)
{
    const struct tn_sqlite_options options = {
        .lease_ms = lease_clock, .unix_ms = unix_clock, .context = world, .events_kept = 500};
    struct tn_store *store = NULL;
    struct tenure_error error = {0};
    if (tn_sqlite_open(world->path, true, &options, &store, &error) != TENURE_OK)
        fail_msg("%s", error.text);
    return store;
}

static struct tn_store *open_faulty(struct world *world)
{
    return tn_faulty_open(open_sqlite(world), NULL);
}

static const struct backend backends[] = {
    {"memory", open_memory, false}, {"sqlite", open_sqlite, true}, {"faulty", open_faulty, true}};
enum { n_backends = sizeof backends / sizeof backends[0] };

/* ---- running ---- */

struct trial {
    const struct clause *clause;
    const struct backend *backend;
    char name[256];
};

static int set_up(void **state)
{
    const struct trial *trial = *state;
    struct world *world = calloc(1, sizeof *world);
    struct tenure_error error = {0};
    world->backend = trial->backend;
    world->lease_ms = 1000000;
    world->unix_ms = 1790000000000;
    world->next_nonce = 1;
    const char *temporary = getenv("TMPDIR");
    snprintf(world->directory, sizeof world->directory, "%.40s/tenure-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(world->directory));
    snprintf(world->path, sizeof world->path, "%s/store.db", world->directory);
    tn_arena_init(&world->arena);
    world->store = world->backend->open(world);
    tn_settings_init(&world->settings);
    world->settings.shards = WORLD_SHARDS;
    tn_settings_derive(&world->settings);
    if (world->store->type->group_create(world->store, "orders", &world->settings, 77, 1000, &error) != TENURE_OK)
        fail_msg("%s", error.text);
    world->group = 1;
    *state = world;
    return 0;
}

static void check_file(const struct world *world)
{
    sqlite3 *db;
    sqlite3_stmt *check;
    assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "pragma integrity_check", -1, &check, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(check), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    sqlite3_close(db);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    if (world->elsewhere)
        world->elsewhere->type->close(world->elsewhere);
    world->store->type->close(world->store);
    if (world->backend->files)
        check_file(world);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", world->directory);
    const int code = system(command);
    tn_arena_done(&world->arena);
    free(world);
    return code;
}

static void run_trial(void **state)
{
    struct world *world = *state;
    void (*run)(struct world *) = NULL;
    memcpy(&run, world->directory + sizeof world->directory - sizeof run, sizeof run);
    run(world);
}

static int set_up_trial(void **state)
{
    const struct trial *trial = *state;
    const int code = set_up(state);
    struct world *world = *state;
    memcpy(world->directory + sizeof world->directory - sizeof trial->clause->run, &trial->clause->run,
           sizeof trial->clause->run);
    return code;
}

int world_run(const struct clause *clauses, size_t n)
{
    struct trial *trials = calloc(n * n_backends, sizeof *trials);
    struct CMUnitTest *tests = calloc(n * n_backends, sizeof *tests);
    for (size_t i = 0; i < n * n_backends; i++) {
        struct trial *trial = &trials[i];
        trial->clause = &clauses[i / n_backends];
        trial->backend = &backends[i % n_backends];
        snprintf(trial->name, sizeof trial->name, "%s (%s)", trial->clause->sentence, trial->backend->name);
        tests[i] = (struct CMUnitTest){trial->name, run_trial, set_up_trial, tear_down, trial};
    }
    const int failed = _cmocka_run_group_tests("conformance", tests, n * n_backends, NULL, NULL);
    free(tests);
    free(trials);
    return failed;
}
