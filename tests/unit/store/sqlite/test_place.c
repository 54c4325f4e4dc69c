/* Whose clock does the file run on? Reboots, other machines, other name spaces. */
#include "scratch.h"

#include <string.h>

/* After a reboot the lease clock starts anew: old deadlines would then lie days ahead, and dead nodes live
 * on. */
static void a_reboot_ends_all_sessions_and_deadlines(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 8);
    scratch_close(store);
    assert_true(scratch_number(scratch, "select min(until_ms) from shard") > 0);
    const int64_t since_unix =
        scratch_number(scratch, "select since_ms + calendar_offset_ms from shard, store");
    scratch->options.boot_id = "b2";
    scratch->lease_ms = 5000;
    scratch->unix_ms += 60000;
    store = scratch_open(scratch);
    struct tn_op tick = scratch_tick(scratch, store, a.join.session, 1000);
    assert_int_equal(tick.tick.renewal, TN_ENDED);
    assert_string_equal(tick.tick.end_reason, "reboot");
    assert_int_equal(scratch_number(scratch, "select max(until_ms) + max(moved_ms) from shard"), 0);
    assert_int_equal(scratch_number(scratch, "select since_ms + calendar_offset_ms from shard, store"),
                     since_unix);
    assert_int_equal(scratch_number(scratch, "select min(token) from shard"), 1);
    const struct tn_op again = scratch_join(scratch, store, "A", 2);
    assert_int_equal(again.join.node, a.join.node);
    scratch_own(scratch, store, &again, 8);
    assert_int_equal(scratch_number(scratch, "select min(token) from shard"), 2);
    assert_int_equal(tick.history, 0);
    scratch_close(store);
    assert_int_equal(scratch_try(scratch, false), TENURE_OK);
}

/* A file on a shared disk opened from a second machine has two clocks: nobody's lease means anything. */
static void another_machine_is_refused_until_adopted(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 8);
    scratch->options.machine_id = "m2";
    assert_int_equal(scratch_try(scratch, true), TENURE_REFUSED);
    assert_non_null(strstr(scratch->error.text, "tenure store new-history"));
    scratch->options.boot_id = "b2";
    assert_int_equal(scratch_try(scratch, true), TENURE_REFUSED);
    scratch->options.adopt_machine = true;
    struct tn_store *here = scratch_open(scratch);
    scratch->options.adopt_machine = false;
    assert_true(scratch_number(scratch, "select history from store") > 0);
    assert_true(scratch_number(scratch, "select min(token) from shard") > 1 << 29);
    assert_int_equal(scratch_number(scratch, "select count(*) from lease"), 0);
    /* The old machine must not go on as if nothing had happened. */
    const struct tn_op op = scratch_tick(scratch, store, a.join.session, 1000);
    assert_int_equal(op.status, TENURE_REFUSED);
    scratch_close(here);
    scratch_close(store);
    assert_int_equal(scratch_try(scratch, false), TENURE_OK);
}

/* Containers without a machine id: known by their boot as long as it lasts, then not. */
static void a_machine_without_id_is_known_by_its_boot(void **state)
{
    struct scratch *scratch = *state;
    scratch->options.machine_id = "";
    scratch_close(scratch_open(scratch));
    assert_int_equal(scratch_try(scratch, false), TENURE_OK);
    scratch->options.boot_id = "b2";
    assert_int_equal(scratch_try(scratch, false), TENURE_REFUSED);
}

/* In another time namespace the boot clock is shifted: leases would end early or never. */
static void another_time_namespace_is_refused_while_sessions_live(void **state)
{
    struct scratch *scratch = *state;
    scratch->options.time_namespace = 100;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch->options.time_namespace = 200;
    struct tn_store *other = scratch_open(scratch); /* nobody is there yet */
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    assert_int_equal(scratch_join(scratch, other, "B", 2).status, TENURE_REFUSED);
    scratch_close(other);
    assert_int_equal(scratch_try(scratch, true), TENURE_REFUSED);
    assert_non_null(strstr(scratch->error.text, "time namespace"));
    struct tn_op leave = {.kind = TN_OP_LEAVE, .session = a.join.session, .limit_ms = 1000};
    store->type->exec(store, &leave);
    assert_int_equal(scratch_try(scratch, true), TENURE_OK);
    scratch_close(store);
}

/* A file mounted alone into a container has its log elsewhere: two writers that do not see each other. */
static void another_directory_is_refused_while_sessions_live(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch_join(scratch, store, "A", 1);
    scratch_sql(scratch, "update session set directory = directory + 1");
    assert_int_equal(scratch_try(scratch, true), TENURE_REFUSED);
    assert_non_null(strstr(scratch->error.text, "directory"));
    scratch_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_reboot_ends_all_sessions_and_deadlines),
        SCRATCH_TEST(another_machine_is_refused_until_adopted),
        SCRATCH_TEST(a_machine_without_id_is_known_by_its_boot),
        SCRATCH_TEST(another_time_namespace_is_refused_while_sessions_live),
        SCRATCH_TEST(another_directory_is_refused_while_sessions_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
