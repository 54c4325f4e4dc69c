/* A directory for one test, a store in it, and SQL of the test's own on the same file. */
#ifndef TN_TESTS_STORE_SQLITE_SCRATCH_H
#define TN_TESTS_STORE_SQLITE_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/sqlite/sqlite.h"

struct scratch {
    char directory[64], path[96];
    int64_t lease_ms, unix_ms;        /* clocks for `options` below */
    struct tn_sqlite_options options; /* test clocks, machine "m1", boot "b1" */
    struct tn_arena arena;
    struct tenure_error error;
};

int scratch_set_up(void **state); /* *state: struct scratch */
int scratch_tear_down(void **state);
#define SCRATCH_TEST(f) cmocka_unit_test_setup_teardown(f, scratch_set_up, scratch_tear_down)

/* Opens or makes the store, with scratch->options; fails the test when it does not work. */
struct tn_store *scratch_open(struct scratch *scratch);
/* The same when it should not: the status; text in scratch->error. */
enum tenure_status scratch_try(struct scratch *scratch, bool create);
void scratch_close(struct tn_store *store);
/* Group "orders" with so many shards. */
void scratch_group(struct scratch *scratch, struct tn_store *store, uint32_t shards);
struct tn_op scratch_join(struct scratch *scratch, struct tn_store *store, const char *node, uint8_t nonce);
struct tn_op scratch_tick(struct scratch *scratch, struct tn_store *store, uint64_t session,
                          int64_t limit_ms);
/* Claims so many shards from 0, after planning them for the node. */
void scratch_own(struct scratch *scratch, struct tn_store *store, const struct tn_op *joined,
                 uint32_t shards);
void scratch_sql(const struct scratch *scratch, const char *text);
int64_t scratch_number(const struct scratch *scratch, const char *question);
void scratch_check(const struct scratch *scratch); /* pragma integrity_check */

#endif
