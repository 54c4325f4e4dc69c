#include "core/plan/quota.h"

#include "core/plan/order.h"
#include "core/plan/world.h"

typedef unsigned __int128 wide; /* shards x weights does not fit in 64 bits for every list of nodes */

struct sharing {
    const struct tn_quota_question *question;
    uint64_t *weight; /* 0: not (or no longer) in the sharing */
    wide total;       /* sum of weight */
    uint32_t left;    /* shards not given yet */
    wide *remainder;  /* of the exact share above its floor, times total */
    int64_t *surplus; /* owned above the floor of the share */
    uint32_t *quota;  /* out */
};

static void start(struct sharing *sharing, struct tn_arena *arena)
{
    const struct tn_quota_question *question = sharing->question;
    sharing->weight = tn_arena_array(arena, question->n_nodes, sizeof *sharing->weight);
    sharing->remainder = tn_arena_array(arena, question->n_nodes, sizeof *sharing->remainder);
    sharing->surplus = tn_arena_array(arena, question->n_nodes, sizeof *sharing->surplus);
    for (size_t i = 0; i < question->n_nodes; i++) {
        sharing->quota[i] = 0;
        if (tn_world_takes(&question->nodes[i]))
            sharing->weight[i] = question->nodes[i].weight_milli;
        sharing->total += sharing->weight[i];
    }
}

/* More pins for its weight comes first. */
static bool pins_press_more(const void *context, uint32_t a, uint32_t b)
{
    const struct tn_quota_question *question = context;
    return (wide)question->pinned[a] * question->nodes[b].weight_milli >
           (wide)question->pinned[b] * question->nodes[a].weight_milli;
}

/* Takes those out whose pins exceed their share. Each one taken lowers the share of the rest, so they are
 * tried from the most pressed down, and the first that fits ends it. The choice looks at pins and weights
 * only, never at who owns what: otherwise a plan and the plan made after it could choose differently. */
static void set_pinned_apart(struct sharing *sharing, struct tn_arena *arena)
{
    const struct tn_quota_question *question = sharing->question;
    uint32_t *order = tn_arena_array(arena, question->n_nodes, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < question->n_nodes; i++)
        if (question->pinned[question->by_id[i]])
            order[n++] = question->by_id[i];
    tn_order_sort(order, n, pins_press_more, question, arena);
    for (size_t i = 0; i < n; i++) {
        const uint32_t node = order[i];
        const uint32_t pinned = question->pinned[node];
        if (pinned * sharing->total <= (wide)sharing->left * sharing->weight[node])
            return;
        sharing->quota[node] = pinned;
        sharing->left -= pinned;
        sharing->total -= sharing->weight[node];
        sharing->weight[node] = 0;
    }
}

static void give_whole_shares(struct sharing *sharing)
{
    const uint32_t shards = sharing->left;
    for (size_t i = 0; i < sharing->question->n_nodes; i++) {
        if (!sharing->weight[i])
            continue;
        const wide product = (wide)shards * sharing->weight[i];
        sharing->quota[i] = (uint32_t)(product / sharing->total);
        sharing->remainder[i] = product % sharing->total;
        sharing->surplus[i] = (int64_t)sharing->question->owned[i] - sharing->quota[i];
        sharing->left -= sharing->quota[i];
    }
}

/* Equal ones keep the order by id that they come in. */
static bool deserves_more(const void *context, uint32_t a, uint32_t b)
{
    const struct sharing *sharing = context;
    if (sharing->remainder[a] != sharing->remainder[b])
        return sharing->remainder[a] > sharing->remainder[b];
    return sharing->surplus[a] > sharing->surplus[b];
}

/* Among equals that have something to give the smaller id gives first, so the greater keeps the larger quota:
 * a stretch of equals is turned round. Among equals with nothing to give the smaller id is also the first to
 * receive. */
static void let_smaller_ids_give_first(const struct sharing *sharing, uint32_t *order, size_t n)
{
    for (size_t low = 0, high; low < n; low = high) {
        for (high = low + 1; high < n && !deserves_more(sharing, order[low], order[high]);)
            high++;
        if (sharing->surplus[order[low]] <= 0)
            continue;
        for (size_t a = low, b = high - 1; a < b; a++, b--) {
            const uint32_t node = order[a];
            order[a] = order[b];
            order[b] = node;
        }
    }
}

static void give_remainders(struct sharing *sharing, struct tn_arena *arena)
{
    uint32_t *order = tn_arena_array(arena, sharing->question->n_nodes, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < sharing->question->n_nodes; i++)
        if (sharing->remainder[sharing->question->by_id[i]])
            order[n++] = sharing->question->by_id[i];
    tn_order_sort(order, n, deserves_more, sharing, arena);
    let_smaller_ids_give_first(sharing, order, n);
    for (size_t i = 0; sharing->left; i++, sharing->left--)
        sharing->quota[order[i]]++;
}

void tn_quota_share(const struct tn_quota_question *question, struct tn_arena *arena, uint32_t *quota)
{
    struct sharing sharing = {.question = question, .left = question->shards, .quota = quota};
    start(&sharing, arena);
    if (question->pinned)
        set_pinned_apart(&sharing, arena);
    if (!sharing.total)
        return;
    give_whole_shares(&sharing);
    if (sharing.left)
        give_remainders(&sharing, arena);
}

void tn_plan_quotas(const struct tn_plan_node *nodes, size_t n_nodes, const uint32_t *owned, uint32_t shards,
                    struct tn_arena *arena, uint32_t *quota)
{
    const struct tn_quota_question question = {
        .nodes = nodes,
        .n_nodes = n_nodes,
        .by_id = tn_order_nodes(nodes, n_nodes, arena),
        .owned = owned,
        .shards = shards,
    };
    tn_quota_share(&question, arena, quota);
}
