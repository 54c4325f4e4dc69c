#include "agent/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    int lines, too_long;
    size_t length;
    char last[64];
};

static void on_line(void *context, const char *line, size_t length)
{
    struct seen *seen = context;
    seen->lines++;
    seen->length = length;
    strncpy(seen->last, line, sizeof seen->last - 1);
}

static void on_too_long(void *context)
{
    ((struct seen *)context)->too_long++;
}

static void feed(struct tn_line_reader *reader, struct seen *seen, const char *bytes, size_t n)
{
    const struct tn_line_clients clients = {seen, on_line, on_too_long};
    tn_line_feed(reader, bytes, n, &clients);
}

/* Pipes cut lines anywhere: a line must come out the same however it came in. */
static void a_line_comes_out_whole_however_it_is_cut(void **state)
{
    const char text[] = "one\n\ntwo words\nhalf";
    (void)state;
    for (size_t cut = 0; cut <= sizeof text - 1; cut++) {
        struct tn_line_reader reader;
        struct seen seen = {0};
        tn_line_init(&reader);
        feed(&reader, &seen, text, cut);
        feed(&reader, &seen, text + cut, sizeof text - 1 - cut);
        assert_int_equal(seen.lines, 3);
        assert_string_equal(seen.last, "two words");
        feed(&reader, &seen, " more\n", 6);
        assert_string_equal(seen.last, "half more");
        tn_line_done(&reader);
    }
}

/* A worker that prints without end must not eat the agent's memory, nor the line after it. */
static void a_line_of_more_than_a_mebibyte_is_discarded_up_to_its_newline(void **state)
{
    struct tn_line_reader reader;
    struct seen seen = {0};
    char *much = malloc(TN_LINE_MAX + 1);
    (void)state;
    memset(much, 'x', TN_LINE_MAX + 1);
    tn_line_init(&reader);
    feed(&reader, &seen, much, TN_LINE_MAX);
    feed(&reader, &seen, "\n", 1);
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.length, TN_LINE_MAX);
    for (int i = 0; i < 10; i++)
        feed(&reader, &seen, much, TN_LINE_MAX + 1);
    assert_int_equal(seen.too_long, 1);
    assert_true(reader.room <= 2 * TN_LINE_MAX + 2);
    feed(&reader, &seen, "\nnext\n", 6);
    assert_int_equal(seen.lines, 2);
    assert_string_equal(seen.last, "next");
    tn_line_done(&reader);
    free(much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_comes_out_whole_however_it_is_cut),
        cmocka_unit_test(a_line_of_more_than_a_mebibyte_is_discarded_up_to_its_newline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
