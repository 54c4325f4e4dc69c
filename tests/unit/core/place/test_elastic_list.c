/* The order of ElasticJob's node list, which decides who gets which shard there. */
#include "../plan/made_world.h"

#include "core/place/elastic_list.h"

static void expect_order(const char *smaller, const char *greater)
{
    assert_true(tn_elastic_list_compare(smaller, greater) < 0);
    assert_true(tn_elastic_list_compare(greater, smaller) > 0);
    assert_int_equal(tn_elastic_list_compare(smaller, smaller), 0);
}

/* Teams that migrate would find every shard elsewhere. */
static void ids_compare_by_utf16_units_as_java_strings_do(void **state)
{
    (void)state;
    expect_order("10.0.0.10", "10.0.0.9");
    expect_order("host1", "host1@");
    expect_order("host10@-@0", "host1@-@0");
    expect_order("", "a");
    expect_order("z", "\xc3\xa9");                       /* U+00E9 */
    expect_order("\xed\x9f\xbf", "\xf0\x9f\x98\x80");    /* U+D7FF before U+1F600 */
    expect_order("\xf0\x9f\x98\x80", "\xee\x80\x80");    /* U+1F600 before U+E000: the surrogate is smaller */
    expect_order("\xf4\x8f\xbf\xbf", "\xef\xbf\xbd");    /* U+10FFFF before U+FFFD */
    expect_order("a\xf0\x9f\x98\x80z", "a\xef\xbf\xbd"); /* after an equal beginning */
    expect_order("\xf0\x90\x80\x80", "\xf0\x90\x80\x81"); /* both above U+FFFF */
    expect_order("\xee\x80\x80", "\xef\xbf\xbd");         /* both below */
}

/* The list is made of those who take shards, whatever order they came in. */
static void the_list_is_descending_and_without_those_that_take_nothing(void **state)
{
    (void)state;
    static const char *const expected[] = {"host9@-@0", "host2@-@0", "host11@-@0", "host10@-@0", "host0@-@0"};
    struct made made;
    made_init(&made, "", 1);
    for (const char *const *id = (const char *const[]){"host0@-@0", "host1@-@0", "host2@-@0", "host10@-@0",
                                                       "host11@-@0", "host8@-@0", "host9@-@0", NULL};
         *id; id++)
        made_add(&made, *id);
    made.nodes[1].draining = true;
    made.nodes[5].weight_milli = 0;
    size_t n;
    const uint32_t *list = tn_elastic_list_build(&made.world, &made.arena, &n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(made.nodes[list[i]].id, expected[i]);
    made_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_compare_by_utf16_units_as_java_strings_do),
        cmocka_unit_test(the_list_is_descending_and_without_those_that_take_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
