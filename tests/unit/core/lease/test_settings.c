#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/lease/settings.h"

#include <stdio.h>
#include <string.h>

static struct tn_settings with_lease(int64_t lease_ms)
{
    struct tn_settings settings;
    tn_settings_init(&settings);
    settings.lease_ms = lease_ms;
    tn_settings_derive(&settings);
    return settings;
}

/* Operators reason with the documented numbers; other ones would surprise them in an outage. */
static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    const struct tn_settings settings = with_lease(15000);
    assert_int_equal(settings.renew_ms, 5000);
    assert_int_equal(settings.request_ms, 1500);
    assert_int_equal(settings.margin_ms, 1000);
    assert_int_equal(settings.crash_grace_ms, 1000);
    assert_int_equal(settings.settle_ms, 5000);
    assert_int_equal(settings.drain_timeout_ms, 30000);
    assert_int_equal(settings.max_moves, 5);
    assert_int_equal(settings.shards, 256);
    assert_string_equal(settings.strategy, "balanced");
    assert_int_equal(tn_settings_check(&settings, NULL), TENURE_OK);
}

/* Whoever sets only the lease must get a working set, whatever the lease. */
static void every_lease_derives_valid_settings(void **state)
{
    (void)state;
    struct tenure_error error;
    for (int64_t lease_ms = 500; lease_ms <= 3600000; lease_ms += lease_ms < 5000 ? 1 : 997) {
        const struct tn_settings settings = with_lease(lease_ms);
        if (tn_settings_check(&settings, &error) != TENURE_OK)
            fail_msg("lease %lld: %s", (long long)lease_ms, error.text);
    }
}

/* Two instances with lease = renewal fight for ever (case B46). */
static void renewal_must_fit_twice_into_the_lease(void **state)
{
    (void)state;
    struct tenure_error error;
    struct tn_settings settings = with_lease(5000);
    settings.renew_ms = 5000;
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
    assert_non_null(strstr(error.text, "renew + request timeout + margin must be at most lease / 2"));
    assert_non_null(strstr(error.text, "5000 + 500 + 333 ms is more than half of 5000 ms"));
    settings = with_lease(15000);
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_OK);
    settings.margin_ms++;
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
}

/* A value that is stored before it is checked can never be repaired (case B44). */
static void values_out_of_bounds_are_named(void **state)
{
    (void)state;
    size_t n = 0;
    const struct tn_setting *table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++) {
        const int64_t wrong[] = {table[i].smallest - 1, table[i].largest + 1, INT64_MIN, INT64_MAX};
        for (size_t w = 0; w < 4; w++) {
            struct tenure_error error;
            struct tn_settings settings = with_lease(15000);
            tn_setting_put(&settings, &table[i], wrong[w]);
            assert_int_equal(tn_setting_get(&settings, &table[i]), wrong[w]);
            assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
            assert_non_null(strstr(error.text, table[i].option));
        }
    }
}

static void hash_shards_and_strategy_are_checked(void **state)
{
    (void)state;
    struct tenure_error error;
    struct tn_settings settings = with_lease(15000);
    const uint32_t counts[] = {0, 1048577, 2147483648u, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        settings.shards = counts[i];
        assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
    }
    settings.shards = 1048576;
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_OK);
    strcpy(settings.strategy, "fair");
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
    assert_non_null(strstr(error.text, "fair"));
    assert_non_null(strstr(error.text, "balanced"));
    settings = with_lease(15000);
    settings.algo = TN_HASH_JAVA;
    settings.seed = 1;
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
    settings = with_lease(15000);
    settings.algo = TN_HASH_COUNT;
    assert_int_equal(tn_settings_check(&settings, &error), TENURE_BAD_INPUT);
}

/* The same word must work on the command line and in the store. */
static void settings_are_found_by_both_names(void **state)
{
    (void)state;
    assert_ptr_equal(tn_setting_find("max_moves"), tn_setting_find("max-moves"));
    assert_string_equal(tn_setting_find("lease")->name, "lease_ms");
    assert_null(tn_setting_find("leese"));
    assert_null(tn_setting_find(""));
}

/* A name is printed on terminals, used in URLs and in file names: what those cannot take must not get in. */
static void names_are_utf8_without_control_characters(void **state)
{
    (void)state;
    char longest[TN_NAME_MAX + 2];
    memset(longest, 'x', sizeof longest);
    longest[TN_NAME_MAX] = 0;
    const char *const good[] = {"orders", "a",    "node-1.example:80", "größe", "日本", "\xf0\x9f\x98\x80",
                                " ",      longest};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(tn_name_check("group", good[i], NULL), TENURE_OK);
    const char *const bad[] = {
        "",      "a/b",      "a\nb",         "\x7f",         "\xc2\x85",         "\xff",
        "a\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80",
        "\x80x", "\xe6\x97"};
    struct tenure_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tn_name_check("group", bad[i], &error), TENURE_BAD_INPUT);
        assert_non_null(strstr(error.text, "group name"));
    }
    longest[TN_NAME_MAX] = 'x';
    longest[TN_NAME_MAX + 1] = 0;
    assert_int_equal(tn_name_check("node", longest, &error), TENURE_BAD_INPUT);
    assert_int_equal(tn_name_check("node", NULL, &error), TENURE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(every_lease_derives_valid_settings),
        cmocka_unit_test(renewal_must_fit_twice_into_the_lease),
        cmocka_unit_test(values_out_of_bounds_are_named),
        cmocka_unit_test(hash_shards_and_strategy_are_checked),
        cmocka_unit_test(settings_are_found_by_both_names),
        cmocka_unit_test(names_are_utf8_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
