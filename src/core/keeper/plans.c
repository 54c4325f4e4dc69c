/* Plans: any live node may make one; the store's compare-and-set on the plan epoch arbitrates. */
#include "core/keeper/seats.h"
#include "core/lease/trouble.h"
#include "core/plan/evade.h"

enum { first_plan_ms = 300, first_plan_most_ms = 900 };

/* Shards that nobody claims although the plan names a live node: after one lease another node shall have
 * them. */
static int64_t unclaimed_due_ms(const struct tn_keeper_group *group)
{
    return group->unclaimed && group->eligible > 1 ? group->unclaimed_ms + group->view.settings.lease_ms
                                                   : INT64_MAX;
}

int64_t tn_plans_due_ms(const struct tn_step *step, const struct tn_keeper_group *group, bool *ret_recover)
{
    const struct tn_view *view = &group->view;
    *ret_recover = false;
    if (!group->eligible || view->planner_version > TN_PLAN_VERSION)
        return INT64_MAX;
    if (!view->plan_epoch) {
        const int64_t quiet = group->last_join_ms + first_plan_ms,
                      latest = group->first_join_ms + first_plan_most_ms;
        return quiet < latest ? quiet : latest;
    }
    *ret_recover = true;
    if (group->unplaced)
        return group->need_ms;
    const int64_t unclaimed = unclaimed_due_ms(group);
    if (unclaimed <= step->now_ms)
        return unclaimed;
    *ret_recover = false;
    int64_t due = INT64_MAX;
    if (view->plan_fingerprint != group->fingerprint || view->planner_version != TN_PLAN_VERSION) {
        const int64_t frozen = tn_rounds_frozen_until_ms(step, view);
        due = group->members_ms + view->settings.settle_ms;
        due = frozen > due ? frozen : due;
    }
    if (unclaimed < due) {
        *ret_recover = true;
        due = unclaimed;
    }
    return due;
}

/* What speaks against giving a shard to a node. */
struct doubts {
    int32_t *avoid;
    uint8_t *suspect;
    bool any_suspect;
};

static void fill_world(struct tn_step *step, const struct tn_keeper_group *group,
                       const struct tn_seats *seats, struct tn_plan_world *world, struct doubts *doubts)
{
    struct tn_arena *scratch = &step->keeper->scratch;
    const struct tn_view *view = &group->view;
    const uint32_t shards = view->settings.shards;
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    const bool overdue = unclaimed_due_ms(group) <= step->now_ms;
    int32_t *previous = tn_arena_array(scratch, shards, sizeof *previous);
    int32_t *avoid = doubts->avoid = tn_arena_array(scratch, shards, sizeof *avoid);
    doubts->suspect = tn_arena_get(scratch, shards);
    uint8_t *orphan = tn_arena_get(scratch, shards), *sticky = tn_arena_get(scratch, shards);
    for (uint32_t s = 0; s < shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        const struct tn_seat *seat = row->desired ? tn_seat_find(seats, row->desired) : NULL;
        const struct tn_seat *shunned =
            row->avoid && tn_trouble_holds(row, store_now) ? tn_seat_find(seats, row->avoid) : NULL;
        previous[s] = seat ? seat->index : TN_PLAN_NONE;
        avoid[s] = shunned ? shunned->index : TN_PLAN_NONE;
        if (overdue && tn_seat_takes(seat) && tn_view_free(view, s)) {
            avoid[s] = previous[s];
            previous[s] = TN_PLAN_NONE;
        }
        doubts->suspect[s] = tn_trouble_suspect(row, &view->settings, store_now);
        doubts->any_suspect |= doubts->suspect[s];
        orphan[s] = row->desired && previous[s] == TN_PLAN_NONE;
        sticky[s] = row->moved_ms && row->moved_ms + view->settings.cool_down_ms > store_now;
    }
    world->previous = previous;
    world->orphan = orphan;
    world->sticky = sticky;
}

static void commit(struct tn_step *step, uint32_t index, const struct tn_seats *seats,
                   const struct tn_plan_result *result, bool partial)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    const struct tn_view *view = &group->view;
    struct tn_op *op = tn_say_op(step, TN_OP_PLAN);
    op->group = view->group;
    op->items = tn_arena_array(step->update->arena, TN_PLAN_BATCH_MAX, sizeof *op->items);
    bool whole = true;
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const int32_t to = result->assignment[s];
        const uint32_t node = to == TN_PLAN_NONE ? 0 : seats->numbers[to];
        if (node == view->rows[s].desired)
            continue;
        if (op->n_items == TN_PLAN_BATCH_MAX) {
            whole = false;
            break;
        }
        op->items[op->n_items++] = (struct tn_item){.shard = s, .node = node};
    }
    op->plan.plan_epoch = view->plan_epoch;
    op->plan.fingerprint = whole && !partial ? group->fingerprint : 0;
    op->plan.planner_version = TN_PLAN_VERSION;
    group->plan_in_air = true;
    step->keeper->counters.plans++;
}

static void plan(struct tn_step *step, uint32_t index, const struct tn_seats *seats, bool recover)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    const struct tn_settings *settings = &group->view.settings;
    struct tn_plan_world world = {.nodes = seats->nodes,
                                  .n_nodes = seats->n_nodes,
                                  .shards = settings->shards,
                                  .job = group->name,
                                  .recover_only = recover};
    struct doubts doubts = {0};
    fill_world(step, group, seats, &world, &doubts);
    struct tn_plan_result result;
    struct tenure_error error = {0};
    tn_plan_function *strategy = tn_plan_find(settings->strategy);
    if (!strategy || strategy(&world, &step->keeper->scratch, &result, &error) != TENURE_OK) {
        tn_say_log(step, "group %s: strategy %s made no plan: %s", group->name, settings->strategy,
                   strategy ? error.text : "this program does not have it");
        group->members_ms = group->need_ms = group->unclaimed_ms = step->now_ms; /* not again at once */
        return;
    }
    tn_plan_evade(&world, doubts.avoid, &step->keeper->scratch, &result);
    if (recover && doubts.any_suspect)
        tn_plan_scatter(&world, doubts.suspect, doubts.avoid, &step->keeper->scratch, &result);
    group->unclaimed_ms = step->now_ms;
    commit(step, index, seats, &result, recover);
}

void tn_plans_consider(struct tn_step *step, uint32_t index, const struct tn_seats *seats)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    bool recover;
    const int64_t due = tn_plans_due_ms(step, group, &recover);
    if (due == INT64_MAX || group->plan_in_air)
        return;
    const int64_t mine = due + tn_conduct_stagger_ms(group, step->keeper->session);
    if (step->now_ms >= mine)
        plan(step, index, seats, recover);
    else
        tn_wake_by(step, mine);
}
