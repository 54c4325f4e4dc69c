/* The faulty stand-in must do exactly what it was asked for: a fault that never struck proves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/faulty/faulty.h"
#include "store/memory/memory.h"

#include <string.h>

static int64_t slept_ms;

static void sleep_ms(int64_t ms)
{
    slept_ms += ms;
}

static int set_up(void **state)
{
    struct tn_store *store = tn_faulty_open(tn_memory_open(NULL), sleep_ms);
    struct tn_settings settings;
    tn_settings_init(&settings);
    tn_settings_derive(&settings);
    tn_memory_set_clock(tn_faulty_inner(store), 1000, 2000);
    *state = store;
    slept_ms = 0;
    return store->type->group_create(store, "orders", &settings, 1, 1000, NULL);
}

static int tear_down(void **state)
{
    struct tn_store *store = *state;
    store->type->close(store);
    return 0;
}

static struct tn_op join(struct tn_store *store, uint8_t nonce)
{
    static struct tn_arena arena;
    struct tn_join_group group = {.name = "orders"};
    struct tn_op op = {.kind = TN_OP_JOIN,
                       .arena = &arena,
                       .join = {.node_id = "A",
                                .address = "",
                                .labels = "{}",
                                .nonce = {nonce},
                                .groups = &group,
                                .n_groups = 1}};
    store->type->exec(store, &op);
    return op;
}

static size_t joins(struct tn_store *store)
{
    struct tn_arena arena;
    struct tn_event *events;
    size_t n = 0;
    tn_arena_init(&arena);
    store->type->events(store, &(struct tn_event_query){.shard = -1}, &arena, &events, &n, 1000, NULL);
    tn_arena_done(&arena);
    return n;
}

static void without_orders_it_is_transparent(void **state)
{
    assert_int_equal(join(*state, 1).status, TENURE_OK);
    assert_int_equal(joins(*state), 1);
}

static void a_refusal_happens_before(void **state)
{
    assert_true(tn_faulty_order(
        *state, &(struct tn_fault){.kind = TN_FAULT_REFUSE, .op = TN_OP_JOIN, .status = TENURE_BUSY}));
    const struct tn_op op = join(*state, 1);
    assert_int_equal(op.status, TENURE_BUSY);
    assert_int_equal(op.join.session, 0);
    assert_int_equal(joins(*state), 0);
    assert_int_equal(tn_faulty_waiting(*state), 0);
    assert_int_equal(join(*state, 1).status, TENURE_OK);
}

static void a_lost_reply_happens_after(void **state)
{
    tn_faulty_order(*state, &(struct tn_fault){.kind = TN_FAULT_LOSE, .op = TN_OP_COUNT});
    const struct tn_op op = join(*state, 1);
    assert_int_equal(op.status, TENURE_MAYBE);
    assert_int_equal(op.join.session, 0);
    assert_int_equal(op.store_ms, 0);
    assert_int_equal(joins(*state), 1);
    assert_int_equal(join(*state, 1).join.session, 1); /* the retry finds it */
    assert_int_equal(joins(*state), 1);
}

static void a_repetition_happens_twice(void **state)
{
    tn_faulty_order(*state, &(struct tn_fault){.kind = TN_FAULT_REPEAT, .op = TN_OP_JOIN});
    assert_int_equal(join(*state, 1).status, TENURE_OK);
    assert_int_equal(joins(*state), 1); /* C4: the same join */
}

static void a_fault_waits_for_its_turn(void **state)
{
    tn_faulty_order(*state, &(struct tn_fault){.kind = TN_FAULT_REFUSE, .op = TN_OP_JOIN, .nth = 3});
    tn_faulty_order(*state, &(struct tn_fault){.kind = TN_FAULT_REFUSE, .op = TN_OP_TICK});
    tn_faulty_order(*state,
                    &(struct tn_fault){.kind = TN_FAULT_DELAY, .op = TN_OP_JOIN, .nth = 2, .delay_ms = 40});
    assert_int_equal(join(*state, 1).status, TENURE_OK);
    assert_int_equal(slept_ms, 0);
    assert_int_equal(join(*state, 1).status, TENURE_OK);
    assert_int_equal(slept_ms, 40);
    assert_int_equal(join(*state, 1).status, TENURE_UNREACHABLE);
    assert_int_equal(tn_faulty_waiting(*state), 1);
    struct tn_fault fault = {.kind = TN_FAULT_REFUSE, .op = TN_OP_SAVE};
    while (tn_faulty_waiting(*state) < TN_FAULTS_MAX)
        assert_true(tn_faulty_order(*state, &fault));
    assert_false(tn_faulty_order(*state, &fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_orders_it_is_transparent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_happens_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_reply_happens_after, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_repetition_happens_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_fault_waits_for_its_turn, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
