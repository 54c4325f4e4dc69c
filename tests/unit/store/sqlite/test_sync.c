/* Clause C2: an answer is given only once the disk has it. The system's calls are counted by standing in for
 * them. */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int syncs;

/* Found before the C library's own, also by SQLite. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}

static int syncs_of(struct tn_store *store, struct tn_op *op)
{
    syncs = 0;
    store->type->exec(store, op);
    if (op->status != TENURE_OK)
        fail_msg("%s: %s", tn_op_name(op->kind), op->error.text);
    return syncs;
}

/* A token that is given out and then forgotten by a power cut is given out again, to somebody else. */
static void each_change_is_on_the_disk_before_the_answer(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    syncs = 0;
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    assert_true(syncs >= 1);
    struct tn_item item = {.shard = 0, .node = a.join.node};
    struct tn_op op = {.kind = TN_OP_PLAN,
                       .session = a.join.session,
                       .group = a.group,
                       .limit_ms = 1000,
                       .arena = &scratch->arena,
                       .items = &item,
                       .n_items = 1,
                       .plan = {.fingerprint = 1}};
    assert_int_equal(syncs_of(store, &op), 1);
    const enum tn_op_kind verbs[] = {TN_OP_CLAIM, TN_OP_READY, TN_OP_RELOAD, TN_OP_SAVE, TN_OP_RELEASE};
    const uint64_t tokens[] = {0, 1, 1, 2, 2};
    for (size_t i = 0; i < 5; i++) {
        op.kind = verbs[i];
        item.token = tokens[i];
        item.checkpoint = (struct tn_checkpoint){.data = "x", .size = 1};
        assert_int_equal(syncs_of(store, &op), 1);
        assert_int_equal(item.outcome, TN_DONE);
    }
    scratch->lease_ms += 5000;
    struct tn_op tick = {.kind = TN_OP_TICK,
                         .session = a.join.session,
                         .limit_ms = 1000,
                         .arena = &scratch->arena,
                         .tick = {.lease_ms = 15000}};
    assert_int_equal(syncs_of(store, &tick), 1);
    tick.kind = TN_OP_SYNC;
    assert_int_equal(syncs_of(store, &tick), 0);
    scratch->lease_ms += 15000;
    struct tn_op bury = {
        .kind = TN_OP_BURY, .limit_ms = 1000, .arena = &scratch->arena, .bury = {.victim = a.join.session}};
    assert_int_equal(syncs_of(store, &bury), 1);
    assert_true(bury.bury.buried);
    assert_int_equal(syncs_of(store, &bury), 0); /* nothing changed */
    scratch_close(store);
}

/* What a crash of the machine leaves: the file and its log as they are, without the shared memory. */
static void an_image_of_the_files_has_all_that_was_answered(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 8);
    char command[256];
    snprintf(command, sizeof command, "cd %s && mkdir image && cp store.db store.db-wal image",
             scratch->directory);
    assert_int_equal(system(command), 0);
    scratch_close(store);
    snprintf(scratch->path, sizeof scratch->path, "%s/image/store.db", scratch->directory);
    scratch_check(scratch);
    assert_int_equal(scratch_number(scratch, "select count(*) from shard where session = 1 and token = 1"),
                     8);
    assert_int_equal(scratch_number(scratch, "select count(*) from lease"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(each_change_is_on_the_disk_before_the_answer),
        SCRATCH_TEST(an_image_of_the_files_has_all_that_was_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
