#include "agent/outbox.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A worker that reads late must find every line, in order and whole. */
static void lines_survive_a_full_pipe_in_order(void **state)
{
    int ends[2];
    struct tn_outbox outbox;
    char bytes[8192];
    size_t lines = 0, queued = 0;
    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    tn_outbox_init(&outbox);
    for (int i = 0; i < 20000; i++) {
        tn_outbox_put(&outbox, "a line of text", 14);
        queued += 15;
    }
    tn_outbox_put_first(&outbox, "hello", 5);
    assert_int_equal(outbox.bytes, queued + 6);
    assert_int_equal(tn_outbox_send(&outbox, ends[1], 5), TN_OUTBOX_FULL_PIPE);
    assert_int_equal(outbox.waits_since_ms, 5);
    assert_int_equal(tn_outbox_send(&outbox, ends[1], 9), TN_OUTBOX_FULL_PIPE);
    assert_int_equal(outbox.waits_since_ms, 5);
    bool first = true;
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) {
        if (first)
            assert_memory_equal(bytes, "hello\na line of text\n", 21);
        first = false;
        for (ssize_t i = 0; i < n; i++)
            lines += bytes[i] == '\n';
        tn_outbox_send(&outbox, ends[1], 20);
    }
    assert_int_equal(lines, 20001);
    assert_int_equal(outbox.bytes, 0);
    assert_int_equal(outbox.waits_since_ms, 0);
    tn_outbox_clear(&outbox);
    close(ends[0]);
    close(ends[1]);
}

/* The other side is gone: that must be an answer, not a signal. */
static void a_closed_pipe_is_broken(void **state)
{
    int ends[2];
    struct tn_outbox outbox;
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    close(ends[0]);
    tn_outbox_init(&outbox);
    tn_outbox_put(&outbox, "x", 1);
    assert_int_equal(tn_outbox_send(&outbox, ends[1], 1), TN_OUTBOX_BROKEN);
    tn_outbox_clear(&outbox);
    assert_int_equal(outbox.bytes, 0);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_survive_a_full_pipe_in_order),
        cmocka_unit_test(a_closed_pipe_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
