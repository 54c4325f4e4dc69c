/* The same as test_full.c on a file system that really is full; needs the right to mount one. */
#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static char place[] = "/tmp/tenure-full-XXXXXX";

/* ENOSPC comes from other calls than a file size limit: growing shared memory, syncing, making files. */
static void a_full_file_system_leaves_the_store_unharmed(void **state)
{
    struct scratch *scratch = *state;
    static char data[TN_CHECKPOINT_MAX];
    snprintf(scratch->path, sizeof scratch->path, "%s/store.db", place);
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 64);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 64);
    enum tenure_status status = TENURE_OK;
    uint32_t saved = 0;
    for (uint32_t i = 0; i < 64 && status == TENURE_OK; i++) {
        struct tn_item item = {.shard = i, .token = 1, .checkpoint = {.data = data, .size = sizeof data}};
        struct tn_op op = {.kind = TN_OP_SAVE,
                           .session = a.join.session,
                           .group = a.group,
                           .limit_ms = 1000,
                           .arena = &scratch->arena,
                           .items = &item,
                           .n_items = 1};
        store->type->exec(store, &op);
        status = op.status;
        saved += status == TENURE_OK;
    }
    assert_int_equal(status, TENURE_STORE_FULL);
    assert_int_equal(scratch_number(scratch, "select count(*) from checkpoint"), saved);
    assert_int_equal(mount(NULL, place, NULL, MS_REMOUNT, "size=64m"), 0);
    scratch->lease_ms += 1000;
    assert_int_equal(scratch_tick(scratch, store, a.join.session, 1000).status, TENURE_OK);
    scratch_close(store);
    scratch_check(scratch);
}

int main(void)
{
    if (!mkdtemp(place) || mount("tenure-test", place, "tmpfs", 0, "size=1m") != 0) {
        printf("skipped: needs mount (%s)\n", strerror(errno));
        return 77;
    }
    const struct CMUnitTest tests[] = {SCRATCH_TEST(a_full_file_system_leaves_the_store_unharmed)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    umount2(place, MNT_DETACH);
    rmdir(place);
    return failed;
}
