/* The gates: asked before every write, from any thread, while the keeper opens and closes them. */
#include "node/gate.h"

#include "sys/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct tn_deadline in_an_hour(void)
{
    struct tn_deadline deadline;
    tn_deadline_set(&deadline, tn_clock_boot_ms() + 3600000);
    return deadline;
}

/* Work under an old token, or after the deadline, is what the whole product exists to prevent. */
static void a_gate_says_yes_only_for_its_token_and_before_the_deadline(void **state)
{
    (void)state;
    struct tn_deadline deadline = in_an_hour();
    struct tn_slot slot = {.token = 0};
    assert_false(tn_gate_exact(&deadline, &slot, 0));
    assert_false(tn_gate_quick(&deadline, &slot, 0));
    tn_gate_set(&slot, 19, false);
    assert_true(tn_gate_exact(&deadline, &slot, 19) && tn_gate_quick(&deadline, &slot, 19));
    assert_false(tn_gate_exact(&deadline, &slot, 18) || tn_gate_quick(&deadline, &slot, 18));
    tn_deadline_set(&deadline, tn_clock_boot_ms() - 1);
    assert_false(tn_gate_exact(&deadline, &slot, 19));
    tn_deadline_set(&deadline, tn_clock_boot_ms() - 20); /* the coarse clock may lag by a tick */
    assert_false(tn_gate_quick(&deadline, &slot, 19));
    bool idle;
    assert_false(tn_gate_enter(&deadline, &slot, 19, &idle));
    assert_int_equal(slot.in_flight, 0);
    tn_deadline_set(&deadline, 0);
    assert_false(tn_gate_enter(&deadline, &slot, 19, &idle));
    assert_false(tn_gate_exact(&deadline, &slot, 19) || tn_gate_quick(&deadline, &slot, 19));
}

/* If the last one out were not heard, a handoff would wait for ever. */
static void the_last_to_leave_is_heard_exactly_once(void **state)
{
    (void)state;
    struct tn_deadline deadline = in_an_hour();
    struct tn_slot slot = {.token = 0};
    bool idle;
    tn_gate_set(&slot, 5, false);
    assert_true(tn_gate_enter(&deadline, &slot, 5, &idle));
    assert_true(tn_gate_enter(&deadline, &slot, 5, &idle));
    assert_false(tn_gate_set(&slot, 0, true));
    assert_false(tn_gate_enter(&deadline, &slot, 5, &idle));
    assert_false(idle);
    assert_false(tn_gate_leave(&slot));
    assert_true(tn_gate_leave(&slot));
    assert_true(tn_gate_set(&slot, 0, true));
}

struct arena {
    struct tn_deadline deadline;
    struct tn_slot slot;
    _Atomic bool over;
    _Atomic bool closed; /* the keeper has heard that nothing is in flight */
    _Atomic uint64_t idles, broken, entered;
};

static void *enter_and_leave(void *context)
{
    struct arena *arena = context;
    while (!arena->over) {
        bool idle;
        const uint64_t token = atomic_load(&arena->slot.token);
        if (!token)
            continue;
        if (tn_gate_enter(&arena->deadline, &arena->slot, token, &idle)) {
            arena->broken += arena->closed;
            arena->entered++;
            arena->idles += tn_gate_leave(&arena->slot);
        } else {
            arena->idles += idle;
        }
    }
    return NULL;
}

/* If work could slip in after the keeper was told that nothing is in flight, the shard would be transferred
 * under it. */
static void nobody_works_after_the_keeper_heard_that_all_is_quiet(void **state)
{
    (void)state;
    static struct arena arena;
    arena.deadline = in_an_hour();
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, enter_and_leave, &arena);
    for (uint64_t round = 1; round <= 3000; round++) {
        const uint64_t heard = arena.idles;
        tn_gate_set(&arena.slot, round, false);
        while (round % 64 == 0 && arena.entered < round / 64)
            continue;
        if (!tn_gate_set(&arena.slot, 0, true))
            while (arena.idles == heard)
                continue;
        else
            assert_int_equal(arena.idles, heard);
        arena.closed = true;
        for (volatile int spin = 0; spin < 200; spin++)
            continue;
        arena.closed = false;
    }
    arena.over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(arena.broken, 0);
    assert_true(arena.entered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_says_yes_only_for_its_token_and_before_the_deadline),
        cmocka_unit_test(the_last_to_leave_is_heard_exactly_once),
        cmocka_unit_test(nobody_works_after_the_keeper_heard_that_all_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
