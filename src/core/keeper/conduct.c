/* Plans and rounds: any live node may plan and start moves; the store's compare-and-set and its budget
 * arbitrate.
 *
 * So that not all do the same work, nodes act in order of rank (session number): the first at once, the
 * others later by a stagger each; when the first is dead or paused, the second has done it before anybody
 * notices. */
#include "core/keeper/parts.h"

#include "core/lease/rule.h"
#include "core/plan/plan.h"

#include <stdlib.h>

enum {
    first_plan_ms = 300,
    first_plan_most_ms = 900,
    stagger_ms = 150,
    stagger_most_ms = 1000,
    retry_ms = 100,
    again_ms = 10
};

/* A member as the planner and the rounds see it; sorted by node number. */
struct seat {
    const struct tn_member *member;
    uint32_t node;
    int32_t index;        /* among the eligible, or TN_PLAN_NONE */
    uint32_t out, in;     /* handoffs under way */
    bool gives, receives; /* by the plan */
};

struct table {
    struct seat *seats;
    size_t n;
    struct tn_plan_node *nodes; /* the eligible ones */
    uint32_t *numbers;          /* node number of each of them */
    size_t n_nodes;
};

static int by_node(const void *a, const void *b)
{
    const uint32_t left = ((const struct seat *)a)->node, right = ((const struct seat *)b)->node;
    return (left > right) - (left < right);
}

static bool takes(const struct tn_keeper *keeper, const struct tn_member *member)
{
    return tn_member_eligible(member) &&
           !(member->session == keeper->session && keeper->phase == TN_PHASE_LEAVING);
}

static struct table seat_members(struct tn_step *step, const struct tn_view *view)
{
    struct tn_arena *scratch = &step->keeper->scratch;
    struct table table = {.n = view->n_members};
    table.seats = tn_arena_array(scratch, view->n_members, sizeof *table.seats);
    table.nodes = tn_arena_array(scratch, view->n_members, sizeof *table.nodes);
    table.numbers = tn_arena_array(scratch, view->n_members, sizeof *table.numbers);
    for (size_t i = 0; i < view->n_members; i++) {
        const struct tn_member *member = &view->members[i];
        table.seats[i] = (struct seat){.member = member, .node = member->node, .index = TN_PLAN_NONE};
        if (!takes(step->keeper, member))
            continue;
        table.seats[i].index = (int32_t)table.n_nodes;
        table.numbers[table.n_nodes] = member->node;
        table.nodes[table.n_nodes++] =
            (struct tn_plan_node){.id = member->node_id, .weight_milli = member->weight_milli};
    }
    qsort(table.seats, table.n, sizeof *table.seats, by_node);
    return table;
}

static struct seat *find_seat(const struct table *table, uint32_t node)
{
    size_t low = 0, high = table->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->seats[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->n && table->seats[low].node == node ? &table->seats[low] : NULL;
}

int64_t tn_conduct_stagger_ms(const struct tn_keeper_group *group, uint64_t session)
{
    int64_t rank = 0;
    for (size_t i = 0; i < group->view.n_members && group->view.members[i].session < session; i++)
        rank += group->view.members[i].state == TN_SESSION_LIVE;
    const int64_t wait = rank * stagger_ms;
    return wait < stagger_most_ms ? wait : stagger_most_ms;
}

/* ---- one look at all rows ---- */

static void scan(struct tn_step *step, struct tn_keeper_group *group, const struct table *table)
{
    const struct tn_view *view = &group->view;
    const uint32_t unplaced_before = group->unplaced, misplaced_before = group->misplaced;
    group->unplaced = group->misplaced = 0;
    group->eligible = (uint32_t)table->n_nodes;
    group->next_phase_end_ms = INT64_MAX;
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        group->ever_owned |= row->token != 0;
        const struct seat *desired = row->desired ? find_seat(table, row->desired) : NULL;
        const bool placed = desired && desired->index != TN_PLAN_NONE;
        group->unplaced += !placed;
        group->misplaced += placed && row->state == TN_SHARD_OWNED &&
                            row->session != desired->member->session && !tn_view_free(view, s);
        if ((row->state == TN_SHARD_PREPARING || row->state == TN_SHARD_DRAINING) &&
            row->until_ms < group->next_phase_end_ms)
            group->next_phase_end_ms = row->until_ms;
    }
    struct tn_plan_world world = {.nodes = table->nodes,
                                  .n_nodes = table->n_nodes,
                                  .shards = view->settings.shards,
                                  .job = group->name};
    group->fingerprint = tn_plan_fingerprint(&world, view->settings.strategy);
    /* As long as somebody makes progress, the stagger of the others starts again. */
    if (group->unplaced != unplaced_before)
        group->need_ms = step->now_ms;
    if (group->misplaced != misplaced_before || view->in_handoff != group->seen_in_handoff)
        group->misplaced_ms = step->now_ms;
    group->seen_in_handoff = view->in_handoff;
    group->dirty = false;
}

/* ---- planning ---- */

/* When a plan is due, or INT64_MAX; *ret_recover: only the shards that have no node. */
static int64_t plan_due_ms(const struct tn_keeper_group *group, bool *ret_recover)
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
    if (group->unplaced) {
        *ret_recover = true;
        return group->need_ms;
    }
    if (view->plan_fingerprint != group->fingerprint || view->planner_version != TN_PLAN_VERSION)
        return group->members_ms + view->settings.settle_ms;
    return INT64_MAX;
}

static void fill_world(struct tn_step *step, const struct tn_view *view, const struct table *table,
                       struct tn_plan_world *world)
{
    struct tn_arena *scratch = &step->keeper->scratch;
    const uint32_t shards = view->settings.shards;
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    int32_t *previous = tn_arena_array(scratch, shards, sizeof *previous);
    uint8_t *orphan = tn_arena_get(scratch, shards), *sticky = tn_arena_get(scratch, shards);
    for (uint32_t s = 0; s < shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        const struct seat *seat = row->desired ? find_seat(table, row->desired) : NULL;
        previous[s] = seat ? seat->index : TN_PLAN_NONE;
        orphan[s] = row->desired && previous[s] == TN_PLAN_NONE;
        sticky[s] = row->moved_ms && row->moved_ms + view->settings.cool_down_ms > store_now;
    }
    world->previous = previous;
    world->orphan = orphan;
    world->sticky = sticky;
}

static void commit(struct tn_step *step, uint32_t index, const struct table *table,
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
        const uint32_t node = to == TN_PLAN_NONE ? 0 : table->numbers[to];
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

static void plan(struct tn_step *step, uint32_t index, const struct table *table, bool recover)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    const struct tn_settings *settings = &group->view.settings;
    struct tn_plan_world world = {.nodes = table->nodes,
                                  .n_nodes = table->n_nodes,
                                  .shards = settings->shards,
                                  .job = group->name,
                                  .recover_only = recover};
    fill_world(step, &group->view, table, &world);
    struct tn_plan_result result;
    struct tenure_error error = {0};
    tn_plan_function *strategy = tn_plan_find(settings->strategy);
    if (!strategy || strategy(&world, &step->keeper->scratch, &result, &error) != TENURE_OK) {
        tn_say_log(step, "group %s: strategy %s made no plan: %s", group->name, settings->strategy,
                   strategy ? error.text : "this program does not have it");
        group->members_ms = group->need_ms = step->now_ms; /* not again at once */
        return;
    }
    commit(step, index, table, &result, recover);
}

static void consider_plan(struct tn_step *step, uint32_t index, const struct table *table)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    bool recover;
    const int64_t due = plan_due_ms(group, &recover);
    if (due == INT64_MAX || group->plan_in_air)
        return;
    const int64_t mine = due + tn_conduct_stagger_ms(group, step->keeper->session);
    if (step->now_ms >= mine)
        plan(step, index, table, recover);
    else
        tn_wake_by(step, mine);
}

/* ---- rounds ---- */

static void count_handoffs(const struct tn_view *view, const struct table *table)
{
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        const struct tn_member *owner = row->session ? tn_view_member(view, row->session) : NULL;
        struct seat *from = owner ? find_seat(table, owner->node) : NULL;
        struct seat *to = row->desired ? find_seat(table, row->desired) : NULL;
        if (from && to && from != to)
            from->gives = to->receives = true;
        if (!tn_rule_in_handoff(row))
            continue;
        if (row->state ==
            TN_SHARD_RESTORING) { /* the target has it already; whoever gave it is done with it */
            if (from)
                from->in++;
            continue;
        }
        if (from)
            from->out++;
        if (to)
            to->in++;
    }
}

/* A newcomer (gives nothing) and a leaver (receives nothing) may use the whole budget. */
static bool room_for(const struct tn_keeper *keeper, const struct tn_settings *settings,
                     const struct seat *from, const struct seat *to)
{
    const bool leaver = !takes(keeper, from->member) || !from->receives;
    const int64_t from_most =
        leaver && from->index == TN_PLAN_NONE ? settings->max_moves : settings->max_moves_per_node;
    const int64_t to_most = to->gives ? settings->max_moves_per_node : settings->max_moves;
    return from->out < from_most && to->in < to_most;
}

static void start_moves(struct tn_step *step, uint32_t index, const struct table *table, bool only_own)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    const struct tn_view *view = &group->view;
    const struct tn_settings *settings = &view->settings;
    const int64_t store_now = tn_contact_store_ms(&keeper->contact, step->now_ms);
    count_handoffs(view, table);
    group->next_cool_end_ms = INT64_MAX;
    int64_t budget = settings->max_moves - view->in_handoff;
    for (uint32_t s = 0; s < settings->shards && budget > 0; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        if (row->state != TN_SHARD_OWNED || (only_own && row->session != keeper->session))
            continue;
        const struct tn_member *owner = tn_view_member(view, row->session);
        struct seat *from = owner ? find_seat(table, owner->node) : NULL;
        struct seat *to = row->desired ? find_seat(table, row->desired) : NULL;
        if (!from || !to || from == to || to->index == TN_PLAN_NONE)
            continue;
        const bool must_go = from->index == TN_PLAN_NONE;
        if (!must_go && row->moved_ms && row->moved_ms + settings->cool_down_ms > store_now) {
            if (row->moved_ms + settings->cool_down_ms < group->next_cool_end_ms)
                group->next_cool_end_ms = row->moved_ms + settings->cool_down_ms;
            continue;
        }
        if (!room_for(keeper, settings, from, to))
            continue;
        tn_say_item(step, TN_OP_PREPARE, index, s, row->token)->peer = to->member->session;
        group->prepare_in_air = true;
        from->out++, to->in++, budget--;
    }
}

static void consider_round(struct tn_step *step, uint32_t index, const struct table *table)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    if (!group->misplaced || group->prepare_in_air ||
        group->view.in_handoff >= group->view.settings.max_moves)
        return;
    const bool leaving = keeper->phase == TN_PHASE_LEAVING;
    const int64_t due = group->misplaced_ms + (leaving ? 0 : tn_conduct_stagger_ms(group, keeper->session));
    if (step->now_ms < due) {
        tn_wake_by(step, due);
        return;
    }
    start_moves(step, index, table, leaving);
    const int64_t store_now = tn_contact_store_ms(&keeper->contact, step->now_ms);
    if (group->next_cool_end_ms != INT64_MAX && store_now != INT64_MIN)
        tn_wake_by(step, step->now_ms + group->next_cool_end_ms - store_now);
}

/* ---- phases that took too long, and moves that became pointless ---- */

static void repair(struct tn_step *step, uint32_t index, const struct table *table)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    const struct tn_view *view = &group->view;
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms) -
                              tn_conduct_stagger_ms(group, step->keeper->session);
    for (uint32_t s = 0; s < view->settings.shards; s++) {
        const struct tn_shard_row *row = &view->rows[s];
        if ((row->state != TN_SHARD_PREPARING && row->state != TN_SHARD_DRAINING) || tn_view_free(view, s))
            continue;
        const struct tn_member *target = tn_view_member(view, row->target);
        const struct seat *seat = target ? find_seat(table, target->node) : NULL;
        const bool pointless = !seat || seat->index == TN_PLAN_NONE || row->desired != target->node;
        const bool over = row->until_ms <= store_now;
        if (!pointless && !over)
            continue;
        const bool force =
            over && !pointless && row->state == TN_SHARD_DRAINING && !view->settings.on_drain_timeout;
        tn_say_item(step, force ? TN_OP_FORCE : TN_OP_ABORT, index, s, row->token)->peer = row->target;
        group->repair_in_air = true;
    }
}

static void consider_repair(struct tn_step *step, uint32_t index, const struct table *table)
{
    struct tn_keeper_group *group = step->keeper->groups[index];
    if (!group->view.in_handoff || group->repair_in_air)
        return;
    repair(step, index, table);
    const int64_t store_now = tn_contact_store_ms(&step->keeper->contact, step->now_ms);
    if (group->next_phase_end_ms != INT64_MAX && store_now != INT64_MIN &&
        group->next_phase_end_ms > store_now)
        tn_wake_by(step, step->now_ms + group->next_phase_end_ms - store_now);
}

/* ---- */

void tn_conduct(struct tn_step *step, uint32_t index)
{
    struct tn_keeper *keeper = step->keeper;
    struct tn_keeper_group *group = keeper->groups[index];
    if (!tn_session_working(keeper) || !group->view.epoch)
        return;
    if (step->now_ms < group->conduct_after_ms) {
        tn_wake_by(step, group->conduct_after_ms);
        return;
    }
    bool recover;
    const bool idle = !group->dirty && plan_due_ms(group, &recover) == INT64_MAX && !group->misplaced &&
                      !group->view.in_handoff;
    if (idle)
        return;
    tn_arena_reset(&keeper->scratch);
    const struct table table = seat_members(step, &group->view);
    if (group->dirty)
        scan(step, group, &table);
    if (keeper->phase == TN_PHASE_LEAVING && !group->eligible && group->serving) {
        group->rescan = true; /* nobody to hand over to: look_when_leaving releases them */
        tn_shards_look_all(step, index);
    }
    consider_plan(step, index, &table);
    consider_round(step, index, &table);
    consider_repair(step, index, &table);
}

void tn_conduct_reply(struct tn_step *step, struct tn_op *op)
{
    struct tn_keeper *keeper = step->keeper;
    const uint32_t index = tn_group_index(keeper, op->group);
    if (index == UINT32_MAX)
        return;
    struct tn_keeper_group *group = keeper->groups[index];
    group->dirty = true;
    switch (op->kind) {
    case TN_OP_PLAN: group->plan_in_air = false; break;
    case TN_OP_PREPARE: group->prepare_in_air = false; break;
    default: group->repair_in_air = false; break;
    }
    /* Whatever came of it shows in the rows; a refusal means that they are newer than this view. */
    keeper->want_sync = true;
    if (op->status != TENURE_OK)
        group->conduct_after_ms = step->now_ms + (op->status == TENURE_CONFLICT ? again_ms : retry_ms);
    if (op->status != TENURE_OK || op->kind == TN_OP_PLAN)
        return;
    for (size_t i = 0; i < op->n_items; i++)
        if (op->items[i].outcome != TN_DONE)
            group->conduct_after_ms = step->now_ms + again_ms;
    for (size_t i = 0; i < op->n_items; i++)
        if (tn_view_put(&group->view, op->items[i].shard, &op->items[i].row))
            tn_shards_look(step, index, op->items[i].shard);
}
