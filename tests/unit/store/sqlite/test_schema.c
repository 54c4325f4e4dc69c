/* The tables as others find them: integers for times, the view, rows that somebody else wrote. */
#include "scratch.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Deadlines as text compare by their format: an expired row counts as alive until midnight (case B37). */
static void all_times_are_integers_that_text_cannot_enter(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch_join(scratch, store, "A", 1);
    assert_in_range(
        scratch_number(scratch,
                       "select count(*) from sqlite_master m, pragma_table_info(m.name) c"
                       " where m.type = 'table' and c.name like '%\\_ms' escape '\\' and c.type = 'INTEGER'"),
        8, 20);
    assert_int_equal(scratch_number(scratch,
                                    "select count(*) from sqlite_master m, pragma_table_info(m.name) c"
                                    " where m.type = 'table' and c.type <> 'INTEGER' and"
                                    " (c.name like '%ms' or c.name like '%until%' or c.name like '%time' or "
                                    "c.name like '%\\_at' escape '\\')"),
                     0);
    assert_int_equal(
        scratch_number(scratch,
                       "select count(*) from pragma_table_list where schema = 'main' and type = 'table'"
                       " and strict = 0 and name not like 'sqlite_%'"),
        0);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "update lease set lease_until_ms = '2026-07-25 23:59:59'", NULL, NULL, NULL),
        SQLITE_CONSTRAINT);
    sqlite3_close(db);
    scratch_close(store);
}

/* A row that nobody owns yet, with NULL where others have a deadline, must be claimable (case B18). */
static void a_row_with_nulls_is_claimable(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 3);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_sql(scratch, "delete from shard where shard in (0, 1);"
                         "insert into shard (group_id, shard, session, until_ms, since_ms, target, desired)"
                         " values (1, 0, null, null, null, null, null);"
                         "insert into shard (group_id, shard) values (1, 1)");
    scratch_own(scratch, store, &a, 3);
    assert_int_equal(scratch_number(scratch, "select count(*) from shard where session = 1 and token = 1"),
                     3);
    scratch_close(store);
}

/* Scripts read this view; its names and units are promised. */
static void the_view_shows_owner_deadline_and_token(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct tn_op a = scratch_join(scratch, store, "A", 1);
    scratch_own(scratch, store, &a, 5);
    char question[256];
    snprintf(question, sizeof question,
             "select count(*) from tenure_shard_lease where group_name = 'orders' and owner_node_id = 'A'"
             " and fencing_token = 1 and lease_until = %lld and shard_id < 5",
             (long long)scratch->unix_ms + 15000);
    assert_int_equal(scratch_number(scratch, question), 5);
    assert_int_equal(scratch_number(scratch,
                                    "select count(*) from tenure_shard_lease where owner_node_id is null"
                                    " and lease_until is null and fencing_token = 0"),
                     3);
    scratch_close(store);
}

/* Each needless write makes every renewal dearer; a wrong offset shows operators wrong times. */
static void the_calendar_offset_follows_when_it_moves(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    const int64_t offset = scratch->unix_ms - scratch->lease_ms;
    assert_int_equal(scratch_number(scratch, "select calendar_offset_ms from store"), offset);
    scratch->unix_ms += 5;
    scratch_tick(scratch, store, session, 1000);
    assert_int_equal(scratch_number(scratch, "select calendar_offset_ms from store"), offset);
    scratch->unix_ms -= 3605;
    const struct tn_op op = scratch_tick(scratch, store, session, 1000);
    assert_int_equal(op.tick.renewal, TN_RENEWED); /* decisions look at the lease clock only */
    assert_int_equal(op.unix_ms, scratch->unix_ms);
    assert_int_equal(scratch_number(scratch, "select calendar_offset_ms from store"), offset - 3600);
    scratch_close(store);
}

/* A record that was broken by hand must show, be repairable, and not hurt its neighbours (case B44). */
static void a_broken_record_can_be_repaired(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    struct tn_settings settings;
    tn_settings_init(&settings);
    tn_settings_derive(&settings);
    scratch_group(scratch, store, 8);
    assert_int_equal(store->type->group_create(store, "good", &settings, 1, 1000, &scratch->error),
                     TENURE_OK);
    scratch_sql(scratch, "update setting set value = -5 where group_id = 1 and name = 'lease_ms'");
    assert_int_equal(scratch_join(scratch, store, "A", 1).status, TENURE_CORRUPT);
    struct tn_group_info *groups = NULL;
    size_t n = 0;
    assert_int_equal(store->type->group_list(store, &scratch->arena, &groups, &n, 1000, &scratch->error),
                     TENURE_OK);
    assert_int_equal(n, 2);
    assert_int_equal(tn_settings_check(&groups[0].settings, &scratch->error), TENURE_BAD_INPUT);
    assert_int_equal(tn_settings_check(&groups[1].settings, &scratch->error), TENURE_OK);
    settings.shards = 8;
    assert_int_equal(store->type->group_set(store, "orders", &settings, 1000, &scratch->error), TENURE_OK);
    assert_int_equal(scratch_join(scratch, store, "A", 1).status, TENURE_OK);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "update grp set shards = 0", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    sqlite3_close(db);
    scratch_close(store);
}

/* A newer program may have stored a setting that this one does not know, an older one may lack one that it
 * does. */
static void unknown_and_missing_settings_are_tolerated(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch_sql(
        scratch,
        "insert into setting values (1, 'from_the_future', 7); delete from setting where name = 'settle_ms'");
    struct tn_group_info *groups = NULL;
    size_t n = 0;
    assert_int_equal(store->type->group_list(store, &scratch->arena, &groups, &n, 1000, &scratch->error),
                     TENURE_OK);
    assert_int_equal(groups[0].settings.settle_ms, 5000);
    scratch_close(store);
}

/* A creation that was killed half way must not block the name, nor be seen as a group with holes. */
static void an_unfinished_creation_is_finished_or_replaced(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    struct tn_group_info *groups = NULL;
    size_t n = 9;
    scratch_group(scratch, store, 100);
    const char *const half_done =
        "update grp set made = 40 where name = 'orders';"
        "delete from shard where shard >= 40 and group_id = (select max(id) from grp)";
    scratch_sql(scratch, half_done);
    assert_int_equal(store->type->group_list(store, &scratch->arena, &groups, &n, 1000, &scratch->error),
                     TENURE_OK);
    assert_int_equal(n, 0);
    assert_int_equal(scratch_join(scratch, store, "A", 1).status, TENURE_NOT_FOUND);
    scratch_group(scratch, store, 100);
    assert_int_equal(scratch_number(scratch, "select count(*) from shard where group_id = 1"), 100);
    assert_int_equal(scratch_join(scratch, store, "A", 1).status, TENURE_OK);
    struct tn_op leave = {.kind = TN_OP_LEAVE, .session = 1, .limit_ms = 1000};
    store->type->exec(store, &leave);
    scratch_sql(scratch, half_done);
    scratch_group(scratch, store, 64);
    assert_int_equal(scratch_number(scratch, "select count(*) from shard"), 64);
    assert_int_equal(scratch_number(scratch, "select count(*) from grp"), 1);
    scratch_close(store);
}

/* Sessions and nodes come and go for years: the file must not grow with every restart. */
static void the_dead_are_forgotten_in_time(void **state)
{
    struct scratch *scratch = *state;
    scratch->options.events_kept = 200;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch_join(scratch, store, "A", 1);
    store->type->node_drain(store, "A", 0, true, 1000, &scratch->error);
    struct tn_op leave = {.kind = TN_OP_LEAVE, .session = 1, .limit_ms = 1000};
    store->type->exec(store, &leave);
    scratch_sql(
        scratch,
        "with recursive n(i) as (select 100 union all select i + 1 from n where i < 3000)"
        " insert into node (id, node_id) select i, 'old-' || i from n;"
        "with recursive n(i) as (select 100 union all select i + 1 from n where i < 3000)"
        " insert into session (id, node, weight_milli, joined_ms, ended_ms, time_namespace, directory, nonce,"
        " end_reason, address, labels) select i, i, 1, 1, 1, 1, 1, randomblob(16), 'left', '', '{}' from n");
    const struct tn_op b = scratch_join(scratch, store, "B", 2);
    assert_int_equal(b.status, TENURE_OK);
    assert_int_equal(b.join.session, 3001);
    assert_in_range(scratch_number(scratch, "select count(*) from session"), 1000, 1002);
    assert_in_range(scratch_number(scratch, "select count(*) from node"), 1000, 1003);
    assert_int_equal(scratch_number(scratch, "select draining from node where node_id = 'A'"), 1);
    for (int i = 0; i < 60; i++)
        scratch_own(scratch, store, &b, 8), scratch_sql(scratch, "update shard set session = 0");
    assert_in_range(scratch_number(scratch, "select count(*) from event"), 190, 200);
    /* A session so old that it is forgotten is as dead as any. */
    assert_string_equal(scratch_tick(scratch, store, 1, 1000).tick.end_reason, "expired");
    scratch_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(all_times_are_integers_that_text_cannot_enter),
        SCRATCH_TEST(a_row_with_nulls_is_claimable),
        SCRATCH_TEST(the_view_shows_owner_deadline_and_token),
        SCRATCH_TEST(the_calendar_offset_follows_when_it_moves),
        SCRATCH_TEST(a_broken_record_can_be_repaired),
        SCRATCH_TEST(unknown_and_missing_settings_are_tolerated),
        SCRATCH_TEST(an_unfinished_creation_is_finished_or_replaced),
        SCRATCH_TEST(the_dead_are_forgotten_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
