#include "node/page.h"

#include "sys/clock.h"
#include "tenure/gate_page.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { shards = 100, stale_ms = 500 };

static void open_gate(struct tn_page *page)
{
    tn_page_beat(page, tn_clock_boot_ns(), (int64_t)stale_ms * 1000000);
    tn_deadline_set(&page->head->deadline, tn_clock_boot_ms() + 10000);
    tn_gate_set(&page->slots[7], 19, false);
}

/* A worker asks here before each step: every way in which the answer must be no. */
static void the_reader_says_yes_only_while_all_is_well(void **state)
{
    struct tn_page page;
    char path[64];
    (void)state;
    assert_true(tn_page_open(&page, shards, (int64_t)stale_ms * 1000000));
    tn_page_path(&page, path, sizeof path);
    const struct tenure_gate_page *seen = tenure_gate_map(path);
    assert_non_null(seen);
    assert_false(tenure_gate_open(seen, 7, 19)); /* nothing was opened yet */

    open_gate(&page);
    assert_true(tenure_gate_open(seen, 7, 19));
    assert_true(tenure_gate_left_ns(seen, 7, 19) <= (int64_t)stale_ms * 1000000);
    assert_false(tenure_gate_open(seen, 7, 18)); /* another token */
    assert_false(tenure_gate_open(seen, 7, 0));
    assert_false(tenure_gate_open(seen, 8, 19)); /* another shard */
    assert_false(tenure_gate_open(seen, 8, 0));  /* closed is not token 0 */
    assert_false(tenure_gate_open(seen, shards, 19));
    assert_false(tenure_gate_open(NULL, 7, 19));

    tn_page_beat(&page, tn_clock_boot_ns() - (int64_t)stale_ms * 1000001, (int64_t)stale_ms * 1000000);
    assert_false(tenure_gate_open(seen, 7, 19)); /* the agent stands still */
    open_gate(&page);
    tn_deadline_set(&page.head->deadline, tn_clock_boot_ms() - 1);
    assert_false(tenure_gate_open(seen, 7, 19)); /* the lease is about to end */
    open_gate(&page);
    tn_deadline_set(&page.head->deadline, 0);
    assert_false(tenure_gate_open(seen, 7, 19)); /* all closed at once */
    open_gate(&page);
    tn_gate_set(&page.slots[7], 0, false);
    assert_false(tenure_gate_open(seen, 7, 19));
    tn_page_close(&page);
    assert_null(tenure_gate_map(path));
}

/* A worker, or what broke into one, must not be able to open its own gate or cut the page short. */
static void nobody_else_can_write_to_the_page(void **state)
{
    struct tn_page page;
    char path[64];
    (void)state;
    assert_true(tn_page_open(&page, shards, 1));
    tn_page_path(&page, path, sizeof path);
    const int fd = open(path, O_RDWR);
    if (fd >= 0) {
        assert_ptr_equal(mmap(NULL, page.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
        assert_int_equal(pwrite(fd, "x", 1, 0), -1);
        assert_int_equal(ftruncate(fd, 0), -1);
        close(fd);
    }
    tn_page_close(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_says_yes_only_while_all_is_well),
        cmocka_unit_test(nobody_else_can_write_to_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
