#include "core/keeper/seats.h"

#include <stdlib.h>

static int by_node(const void *a, const void *b)
{
    const uint32_t left = ((const struct tn_seat *)a)->node, right = ((const struct tn_seat *)b)->node;
    return (left > right) - (left < right);
}

bool tn_keeper_returns(const struct tn_keeper *keeper)
{
    return keeper->return_within_ms > 0 && !keeper->gave_up;
}

static bool planned_for(const struct tn_keeper *keeper, const struct tn_member *member)
{
    return tn_member_eligible(member) && !(member->session == keeper->session &&
                                           keeper->phase == TN_PHASE_LEAVING && !tn_keeper_returns(keeper));
}

struct tn_seats tn_seats_of(struct tn_step *step, const struct tn_view *view)
{
    struct tn_arena *scratch = &step->keeper->scratch;
    struct tn_seats seats = {.n = view->n_members};
    seats.seats = tn_arena_array(scratch, view->n_members, sizeof *seats.seats);
    seats.nodes = tn_arena_array(scratch, view->n_members, sizeof *seats.nodes);
    seats.numbers = tn_arena_array(scratch, view->n_members, sizeof *seats.numbers);
    for (size_t i = 0; i < view->n_members; i++) {
        const struct tn_member *member = &view->members[i];
        seats.seats[i] = (struct tn_seat){.member = member, .node = member->node, .index = TN_PLAN_NONE};
        if (!planned_for(step->keeper, member))
            continue;
        seats.seats[i].index = (int32_t)seats.n_nodes;
        seats.numbers[seats.n_nodes] = member->node;
        seats.nodes[seats.n_nodes++] =
            (struct tn_plan_node){.id = member->node_id, .weight_milli = member->weight_milli};
        seats.n_here += member->state == TN_SESSION_LIVE;
    }
    qsort(seats.seats, seats.n, sizeof *seats.seats, by_node);
    return seats;
}

struct tn_seat *tn_seat_find(const struct tn_seats *seats, uint32_t node)
{
    size_t low = 0, high = seats->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (seats->seats[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < seats->n && seats->seats[low].node == node ? &seats->seats[low] : NULL;
}

struct tn_seat *tn_seat_owner(const struct tn_seats *seats, const struct tn_view *view, uint32_t shard)
{
    if (tn_view_free(view, shard) || !view->rows[shard].session)
        return NULL;
    const struct tn_member *owner = tn_view_member(view, view->rows[shard].session);
    return owner ? tn_seat_find(seats, owner->node) : NULL;
}
