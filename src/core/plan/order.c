#include "core/plan/order.h"

#include <string.h>

struct run {
    const uint32_t *from;
    uint32_t *to;
    size_t low, middle, high; /* [low, middle) and [middle, high) are in order */
};

static void merge(const struct run *run, tn_order_before *before, const void *context)
{
    const uint32_t *from = run->from;
    size_t left = run->low;
    size_t right = run->middle;
    /* Mostly ordered lists are the rule (stores answer by id), so a pair of runs that fits is not compared
     * through. */
    if (right >= run->high || !before(context, from[right], from[right - 1])) {
        memcpy(run->to + run->low, from + run->low, (run->high - run->low) * sizeof *from);
        return;
    }
    for (size_t i = run->low; i < run->high; i++) {
        const bool take_right =
            left == run->middle || (right < run->high && before(context, from[right], from[left]));
        run->to[i] = take_right ? from[right++] : from[left++];
    }
}

static size_t at_most(size_t value, size_t most)
{
    return value < most ? value : most;
}

void tn_order_sort(uint32_t *items, size_t n, tn_order_before *before, const void *context,
                   struct tn_arena *arena)
{
    if (n < 2)
        return;
    uint32_t *from = items;
    uint32_t *to = tn_arena_array(arena, n, sizeof *to);
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            const struct run run = {from, to, low, at_most(low + width, n), at_most(low + 2 * width, n)};
            merge(&run, before, context);
        }
        uint32_t *done = to;
        to = from;
        from = done;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

static bool id_before(const void *context, uint32_t a, uint32_t b)
{
    const struct tn_plan_node *nodes = context;
    return strcmp(nodes[a].id, nodes[b].id) < 0;
}

uint32_t *tn_order_nodes(const struct tn_plan_node *nodes, size_t n_nodes, struct tn_arena *arena)
{
    uint32_t *by_id = tn_arena_array(arena, n_nodes, sizeof *by_id);
    for (size_t i = 0; i < n_nodes; i++)
        by_id[i] = (uint32_t)i;
    tn_order_sort(by_id, n_nodes, id_before, nodes, arena);
    return by_id;
}
