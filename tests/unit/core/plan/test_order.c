/* The order of nodes that all decisions end in. */
#include "made_world.h"

#include "base/rng.h"
#include "core/plan/order.h"

static bool tens_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a / 10 < b / 10;
}

/* Where equals change places, a tie is broken by chance, and two planners break it differently. */
static void sorting_orders_all_and_leaves_equals_as_they_were(void **state)
{
    (void)state;
    struct tn_rng rng = {11};
    struct tn_arena arena;
    tn_arena_init(&arena);
    for (size_t n = 0; n < 200; n++) {
        uint32_t items[200], next[20] = {0}, seen[20] = {0};
        for (size_t i = 0; i < n; i++) {
            const uint32_t tens = (uint32_t)tn_rng_below(&rng, 20);
            items[i] = tens * 10 + next[tens]++ % 10;
        }
        tn_order_sort(items, n, tens_before, NULL, &arena);
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || items[i - 1] / 10 <= items[i] / 10);
            assert_int_equal(items[i] % 10, seen[items[i] / 10]++ % 10);
        }
        assert_memory_equal(next, seen, sizeof next);
    }
    tn_arena_done(&arena);
}

/* Bytes above 0x7f are negative where char is signed: the same ids would sort differently on ARM and on x86.
 */
static void nodes_are_ordered_by_unsigned_bytes_of_their_ids(void **state)
{
    (void)state;
    const struct tn_plan_node nodes[] = {
        {.id = "\xc3\xa9"}, {.id = "b"}, {.id = "a10"}, {.id = "a9"}, {.id = "a"}};
    struct tn_arena arena;
    tn_arena_init(&arena);
    const uint32_t *by_id = tn_order_nodes(nodes, 5, &arena);
    assert_memory_equal(by_id, ((const uint32_t[]){4, 2, 3, 1, 0}), 5 * sizeof *by_id);
    tn_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_orders_all_and_leaves_equals_as_they_were),
        cmocka_unit_test(nodes_are_ordered_by_unsigned_bytes_of_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
