/* No room left: nothing half-written, and everything as before once there is room again. The limit on file
 * size (RLIMIT_FSIZE) stands for the full disk: to SQLite both are a write that falls short. */
#include "scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static enum tenure_status save(struct scratch *scratch, struct tn_store *store, const struct tn_op *joined,
                               uint32_t shard, const void *data, size_t size)
{
    struct tn_item item = {.shard = shard, .token = 1, .checkpoint = {.data = data, .size = size}};
    struct tn_op op = {.kind = TN_OP_SAVE,
                       .session = joined->join.session,
                       .group = joined->group,
                       .limit_ms = 1000,
                       .arena = &scratch->arena,
                       .items = &item,
                       .n_items = 1};
    store->type->exec(store, &op);
    if (op.status == TENURE_OK && item.outcome != TN_DONE)
        return TENURE_BUG;
    scratch->error = op.error;
    return op.status;
}

#define CHECK(what)                                                                                          \
    do                                                                                                       \
        if (!(what)) {                                                                                       \
            fprintf(stderr, "not so: %s (%s)\n", #what, scratch->error.text);                                \
            _exit(1);                                                                                        \
        }                                                                                                    \
    while (0)

/* In a process of its own: the limit would hit the test's output too. */
static void fill_up(struct scratch *scratch)
{
    static char data[TN_CHECKPOINT_MAX];
    memset(data, 'x', sizeof data);
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 64);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 64);
    CHECK(save(scratch, store, &a, 0, "old", 3) == TENURE_OK);
    limit_files(600000);
    enum tenure_status status = TENURE_OK;
    uint32_t saved = 0;
    for (uint32_t i = 1; i < 64 && status == TENURE_OK; i++) {
        status = save(scratch, store, &a, i, data, sizeof data);
        saved += status == TENURE_OK;
    }
    CHECK(status == TENURE_STORE_FULL);
    CHECK(strstr(scratch->error.text, scratch->path));
    CHECK(tenure_status_class(status) == TENURE_CLASS_WORLD);
    for (int i = 0; i < 20; i++)
        CHECK(save(scratch, store, &a, 63, data, sizeof data) == TENURE_STORE_FULL);
    limit_files(RLIM_INFINITY);
    char question[128];
    snprintf(question, sizeof question, "select count(*) = %u from checkpoint", saved + 1);
    CHECK(scratch_number(scratch, question) == 1);
    CHECK(scratch_number(scratch, "select data = x'6f6c64' from checkpoint where shard = 0") == 1);
    CHECK(scratch_tick(scratch, store, a.join.session, 1000).status == TENURE_OK);
    CHECK(save(scratch, store, &a, 63, data, sizeof data) == TENURE_OK);
    scratch_close(store);
    CHECK(scratch_number(scratch,
                         "select count(*) from pragma_integrity_check where integrity_check <> 'ok'") == 0);
    CHECK(scratch_try(scratch, false) == TENURE_OK);
    _exit(0);
}

static void a_full_disk_leaves_the_store_unharmed(void **state)
{
    struct scratch *scratch = *state;
    const pid_t child = fork();
    if (child == 0)
        fill_up(scratch);
    int code = 0;
    waitpid(child, &code, 0);
    assert_int_equal(code, 0);
}

/* A store that cannot even be made must say so, not leave something that looks like one. */
static void a_store_is_made_whole_or_not_at_all(void **state)
{
    struct scratch *scratch = *state;
    const pid_t child = fork();
    if (child == 0) {
        limit_files(20000);
        const enum tenure_status status = scratch_try(scratch, true);
        limit_files(RLIM_INFINITY);
        CHECK(status == TENURE_STORE_FULL);
        CHECK(scratch_try(scratch, true) == TENURE_OK);
        _exit(0);
    }
    int code = 0;
    waitpid(child, &code, 0);
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_full_disk_leaves_the_store_unharmed),
        SCRATCH_TEST(a_store_is_made_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
