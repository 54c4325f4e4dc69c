#include "core/plan/recover.h"

/* A binary heap of the nodes with room, the one that one more shard fills the least at the top. */
struct heap {
    const struct tn_plan_node *nodes;
    uint32_t *count; /* one a node: shards with those given so far */
    uint32_t *rank;  /* one a node: place by id, to break ties */
    uint32_t *slots;
    size_t n;
};

/* Weights are at most 10^12 and counts 2^20, so the products fit in 64 bits. */
static bool fills_less(const struct heap *heap, uint32_t a, uint32_t b)
{
    const uint64_t left = (heap->count[a] + 1) * heap->nodes[b].weight_milli;
    const uint64_t right = (heap->count[b] + 1) * heap->nodes[a].weight_milli;
    return left != right ? left < right : heap->rank[a] < heap->rank[b];
}

static void sink(struct heap *heap, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->n; child++)
            if (fills_less(heap, heap->slots[child], heap->slots[least]))
                least = child;
        if (least == at)
            return;
        const uint32_t node = heap->slots[at];
        heap->slots[at] = heap->slots[least];
        heap->slots[least] = node;
        at = least;
    }
}

static void build(struct heap *heap, const struct tn_recover_question *question, const uint32_t *quota,
                  struct tn_arena *arena)
{
    heap->nodes = question->nodes;
    heap->count = tn_arena_copy(arena, question->held, question->n_nodes * sizeof *heap->count);
    heap->rank = tn_arena_array(arena, question->n_nodes, sizeof *heap->rank);
    heap->slots = tn_arena_array(arena, question->n_nodes, sizeof *heap->slots);
    for (uint32_t i = 0; i < question->n_nodes; i++) {
        const uint32_t node = question->by_id[i];
        heap->rank[node] = i;
        if (quota[node] > question->held[node])
            heap->slots[heap->n++] = node;
    }
    for (size_t i = heap->n / 2; i-- > 0;)
        sink(heap, i);
}

static uint32_t room_below(const struct tn_recover_question *question, const uint32_t *quota)
{
    uint32_t room = 0;
    for (size_t i = 0; i < question->n_nodes; i++)
        room += quota[i] > question->held[i] ? quota[i] - question->held[i] : 0;
    return room;
}

void tn_recover_lower(const struct tn_recover_question *question, struct tn_arena *arena, uint32_t *quota)
{
    if (room_below(question, quota) == question->orphans)
        return;
    struct heap heap = {0};
    build(&heap, question, quota, arena);
    for (uint32_t given = 0; given < question->orphans; given++) {
        const uint32_t node = heap.slots[0];
        if (++heap.count[node] == quota[node])
            heap.slots[0] = heap.slots[--heap.n];
        sink(&heap, 0);
    }
    for (size_t i = 0; i < question->n_nodes; i++)
        quota[i] = heap.count[i];
}
