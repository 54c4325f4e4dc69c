#include "tenure/tenure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

struct data {
    char path[64];
    sqlite3 *db;
};

static int begin(void **state)
{
    struct data *data = calloc(1, sizeof *data);
    snprintf(data->path, sizeof data->path, "/tmp/tenure-effect-%d.db", getpid());
    unlink(data->path);
    *state = data;
    return tenure_stamp_install(data->path, NULL) != TENURE_OK ||
           tenure_stamp_raise(data->path, "orders", 3, 18, 1000, NULL) != TENURE_OK ||
           sqlite3_open(data->path, &data->db) != SQLITE_OK;
}

static int end(void **state)
{
    struct data *data = *state;
    sqlite3_close(data->db);
    unlink(data->path);
    free(data);
    return 0;
}

static void sql(struct data *data, const char *text)
{
    assert_int_equal(sqlite3_exec(data->db, text, NULL, NULL, NULL), SQLITE_OK);
}

static enum tenure_status claim(struct data *data, uint64_t token, const char *key)
{
    return tenure_effect_claim(data->db, "orders", 3, "a", token, key, NULL);
}

/* An e-mail that was sent must not be sent again by the next owner. */
static void an_effect_is_claimed_once_by_all_owners_together(void **state)
{
    struct data *data = *state;
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 18, "mail 1"), TENURE_OK);
    assert_int_equal(claim(data, 18, "mail 1"), TENURE_NO);
    sql(data, "commit");
    assert_int_equal(tenure_stamp_raise(data->path, "orders", 3, 19, 1000, NULL), TENURE_OK);
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 19, "mail 1"), TENURE_NO);
    assert_int_equal(claim(data, 19, "mail 2"), TENURE_OK);
    sql(data, "commit");
}

/* A node that lost the shard must not claim what its successor is about to do. */
static void a_stale_owner_claims_nothing(void **state)
{
    struct data *data = *state;
    assert_int_equal(tenure_stamp_raise(data->path, "orders", 3, 19, 1000, NULL), TENURE_OK);
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 18, "mail 1"), TENURE_STALE);
    sql(data, "rollback");
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 19, "mail 1"), TENURE_OK);
    sql(data, "commit");
}

/* In autocommit the fence is over before the claim is written. */
static void a_claim_outside_of_a_transaction_is_refused(void **state)
{
    assert_int_equal(claim(*state, 18, "mail 1"), TENURE_BAD_INPUT);
}

/* Work that is rolled back and done again must find its effect undone. */
static void a_rollback_gives_the_claim_up(void **state)
{
    struct data *data = *state;
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 18, "mail 1"), TENURE_OK);
    sql(data, "rollback");
    sql(data, "begin immediate");
    assert_int_equal(claim(data, 18, "mail 1"), TENURE_OK);
    sql(data, "commit");
}

/* Two groups whose names differ in a slash must not share keys. */
static void an_idempotency_key_names_group_shard_token_and_sequence(void **state)
{
    char key[64], small[4];
    (void)state;
    assert_int_equal(tenure_effect_key("orders", 37, 19, 5, key, sizeof key), strlen("orders/37/19/5"));
    assert_string_equal(key, "orders/37/19/5");
    tenure_effect_key("a b\xc3\xa4", 1, 2, 3, key, sizeof key);
    assert_string_equal(key, "a%20b%C3%A4/1/2/3");
    assert_int_equal(tenure_effect_key("orders", 37, 19, 5, small, sizeof small), 14);
    assert_string_equal(small, "ord");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_effect_is_claimed_once_by_all_owners_together, begin, end),
        cmocka_unit_test_setup_teardown(a_stale_owner_claims_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_claim_outside_of_a_transaction_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_rollback_gives_the_claim_up, begin, end),
        cmocka_unit_test(an_idempotency_key_names_group_shard_token_and_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
