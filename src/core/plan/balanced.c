#include "core/plan/balanced.h"

#include "core/plan/quota.h"
#include "core/plan/recover.h"
#include "core/plan/world.h"

struct draft {
    const struct tn_plan_world *world;
    struct tn_arena *arena;
    const uint32_t *by_id; /* positions of nodes ascending by id */
    uint32_t *held;        /* one a node: shards that are with it in the draft */
    uint32_t *pinned;      /* one a node: shards pinned to it; NULL when the world has no pins */
    uint32_t *quota;       /* one a node: shards it shall have */
    uint32_t homeless;     /* shards that are with nobody */
    int32_t *home;         /* the assignment in the making */
    uint8_t *reason;
};

static void count_pins(struct draft *draft)
{
    const struct tn_plan_world *world = draft->world;
    if (!world->pins)
        return;
    draft->pinned = tn_arena_array(draft->arena, world->n_nodes, sizeof *draft->pinned);
    for (uint32_t shard = 0; shard < world->shards; shard++) {
        const int32_t pin = tn_world_pin(world, shard);
        if (pin != TN_PLAN_NONE)
            draft->pinned[pin]++;
    }
}

static void put(struct draft *draft, uint32_t shard, int32_t node, enum tn_plan_reason reason)
{
    draft->home[shard] = node;
    draft->reason[shard] = (uint8_t)reason;
    if (node == TN_PLAN_NONE)
        draft->homeless++;
    else
        draft->held[node]++;
}

/* Where the shard is before anything is evened out. */
static void place(struct draft *draft, uint32_t shard)
{
    const struct tn_plan_world *world = draft->world;
    const int32_t previous = world->previous ? world->previous[shard] : TN_PLAN_NONE;
    const int32_t pin = tn_world_pin(world, shard);
    const bool may_stay = previous != TN_PLAN_NONE && tn_world_takes(&world->nodes[previous]);
    if (pin != TN_PLAN_NONE && may_stay && pin != previous && world->recover_only)
        put(draft, shard, previous, TN_REASON_POSTPONED);
    else if (pin != TN_PLAN_NONE)
        put(draft, shard, pin, TN_REASON_PINNED);
    else if (may_stay)
        put(draft, shard, previous, TN_REASON_KEPT);
    else if (previous != TN_PLAN_NONE)
        put(draft, shard, TN_PLAN_NONE, TN_REASON_DRAINING);
    else if (world->orphan && world->orphan[shard])
        put(draft, shard, TN_PLAN_NONE, TN_REASON_OWNER_GONE);
    else
        put(draft, shard, TN_PLAN_NONE, TN_REASON_FIRST);
}

static void share(struct draft *draft)
{
    const struct tn_quota_question question = {
        .nodes = draft->world->nodes,
        .n_nodes = draft->world->n_nodes,
        .by_id = draft->by_id,
        .owned = draft->held,
        .pinned = draft->pinned,
        .shards = draft->world->shards,
    };
    tn_quota_share(&question, draft->arena, draft->quota);
}

/* excess[i]: shards of node i above its quota. Their sum. */
static uint32_t count_excess(const struct draft *draft, uint32_t *excess)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < draft->world->n_nodes; i++) {
        excess[i] = draft->held[i] > draft->quota[i] ? draft->held[i] - draft->quota[i] : 0;
        sum += excess[i];
    }
    return sum;
}

static void leave(struct draft *draft, uint32_t shard)
{
    if (draft->world->recover_only) {
        draft->reason[shard] = TN_REASON_POSTPONED;
        return;
    }
    draft->held[draft->home[shard]]--;
    put(draft, shard, TN_PLAN_NONE, TN_REASON_OVER_QUOTA);
}

/* Two passes: shards that moved recently leave only where the others did not suffice. */
static void relieve(struct draft *draft)
{
    const struct tn_plan_world *world = draft->world;
    uint32_t *excess = tn_arena_array(draft->arena, world->n_nodes, sizeof *excess);
    uint32_t left = count_excess(draft, excess);
    for (int sticky = 0; sticky <= 1 && left; sticky++) {
        for (uint32_t shard = world->shards; shard-- > 0 && left;) {
            if (draft->reason[shard] != TN_REASON_KEPT || !excess[draft->home[shard]])
                continue;
            if (world->sticky && !sticky && world->sticky[shard])
                continue;
            excess[draft->home[shard]]--;
            left--;
            leave(draft, shard);
        }
    }
}

static void lower_to_recovery(struct draft *draft)
{
    const struct tn_recover_question question = {
        .nodes = draft->world->nodes,
        .n_nodes = draft->world->n_nodes,
        .by_id = draft->by_id,
        .held = draft->held,
        .orphans = draft->homeless,
    };
    tn_recover_lower(&question, draft->arena, draft->quota);
}

/* The room below quota is at least the number of homeless shards, so the cursor stays inside the list. */
static void house(struct draft *draft)
{
    size_t cursor = 0;
    for (uint32_t shard = 0; shard < draft->world->shards && draft->homeless; shard++) {
        if (draft->home[shard] != TN_PLAN_NONE)
            continue;
        uint32_t node = draft->by_id[cursor];
        while (draft->held[node] >= draft->quota[node])
            node = draft->by_id[++cursor];
        draft->home[shard] = (int32_t)node;
        draft->held[node]++;
        draft->homeless--;
    }
}

static void balance(struct draft *draft)
{
    draft->held = tn_arena_array(draft->arena, draft->world->n_nodes, sizeof *draft->held);
    draft->quota = tn_arena_array(draft->arena, draft->world->n_nodes, sizeof *draft->quota);
    count_pins(draft);
    for (uint32_t shard = 0; shard < draft->world->shards; shard++)
        place(draft, shard);
    share(draft);
    relieve(draft);
    if (draft->world->recover_only)
        lower_to_recovery(draft);
    house(draft);
}

static bool anybody_takes(const struct tn_plan_world *world)
{
    for (size_t i = 0; i < world->n_nodes; i++)
        if (tn_world_takes(&world->nodes[i]))
            return true;
    return false;
}

enum tenure_status tn_balanced_plan(const struct tn_plan_world *world, struct tn_arena *arena,
                                    struct tn_plan_result *ret, struct tenure_error *error)
{
    uint32_t *by_id;
    const enum tenure_status status = tn_world_check(world, arena, &by_id, error);
    if (status != TENURE_OK)
        return status;
    tn_world_result(world, arena, ret);
    struct draft draft = {
        .world = world,
        .arena = arena,
        .by_id = by_id,
        .home = ret->assignment,
        .reason = ret->reason,
    };
    if (anybody_takes(world))
        balance(&draft);
    ret->moves = tn_world_moves(world, ret);
    return TENURE_OK;
}
