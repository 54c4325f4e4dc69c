#include "store/rows/parts.h"

#include <inttypes.h>

static enum tenure_status check(struct tn_rows *rows, const struct tn_op *op,
                                const struct tn_group_row *group)
{
    if (op->n_items > TN_PLAN_BATCH_MAX)
        return tn_error_set(&rows->error, TENURE_TOO_BIG, "%zu items in one plan request: at most %d",
                            op->n_items, TN_PLAN_BATCH_MAX);
    for (size_t i = 0; i < op->n_items; i++)
        if (op->items[i].shard >= group->shards)
            return tn_error_set(&rows->error, TENURE_BAD_INPUT, "shard %u: expected 0 to %u",
                                op->items[i].shard, group->shards - 1);
    if (group->plan_epoch == op->plan.plan_epoch)
        return TENURE_OK;
    return tn_error_set(&rows->error, TENURE_CONFLICT, "the plan is at epoch %" PRIu64 ", not %" PRIu64,
                        group->plan_epoch, op->plan.plan_epoch);
}

static void want(struct tn_rows *rows, const struct tn_group_row *group, struct tn_item *item)
{
    item->outcome = TN_STALE;
    if (!rows->type->shard_get(rows, group->id, item->shard, &item->row))
        return;
    item->outcome = TN_DONE;
    if (item->row.desired == item->node)
        return;
    item->row.desired = item->node;
    rows->type->shard_put(rows, group->id, item->shard, &item->row, group->epoch);
}

static void say_planned(struct tn_rows *rows, const struct tn_group_row *group, int64_t shard, uint32_t node)
{
    tn_rows_event(
        rows, &(struct tn_event_row){.group = group->name, .shard = shard, .node = node, .cause = "planned"});
}

enum tenure_status tn_rows_plan(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_group_row group;
    enum tenure_status status = tn_rows_group_visible(rows, op->group, &group);
    if (status == TENURE_OK)
        status = check(rows, op, &group);
    if (status != TENURE_OK)
        return status;
    group.epoch++;
    group.plan_epoch++;
    group.plan_fingerprint = op->plan.fingerprint;
    group.planner_version = op->plan.planner_version;
    for (size_t i = 0; i < op->n_items; i++)
        want(rows, &group, &op->items[i]);
    rows->type->group_put(rows, &group);
    if (op->plan.fingerprint)
        say_planned(rows, &group, -1, 0);
    op->plan.new_plan_epoch = group.plan_epoch;
    return TENURE_OK;
}

/* ---- an operator's move ---- */

struct move {
    uint32_t group, shard;
    const char *node_id;
};

static enum tenure_status check_target(struct tn_rows *rows, const struct move *move, uint32_t *ret_node)
{
    const uint32_t node = rows->type->node_find(rows, move->node_id);
    if (!node)
        return tn_error_set(&rows->error, TENURE_NOT_FOUND, "there is no node %.128s", move->node_id);
    struct tn_session_facts facts;
    rows->type->facts(rows, move->group, rows->type->session_of_node(rows, node), &facts);
    if (!facts.takes)
        return tn_error_set(&rows->error, TENURE_CONFLICT, "node %.128s is not a live member of the group",
                            move->node_id);
    if (rows->type->node_draining(rows, node, 0) || rows->type->node_draining(rows, node, move->group))
        return tn_error_set(&rows->error, TENURE_CONFLICT, "node %.128s is drained", move->node_id);
    *ret_node = node;
    return TENURE_OK;
}

static enum tenure_status do_move(struct tn_rows *rows, void *context)
{
    const struct move *move = context;
    struct tn_group_row group;
    struct tn_item item = {.shard = move->shard};
    enum tenure_status status = tn_rows_group_visible(rows, move->group, &group);
    if (status == TENURE_OK && move->shard >= group.shards)
        status = tn_error_set(&rows->error, TENURE_BAD_INPUT, "shard %u: expected 0 to %u", move->shard,
                              group.shards - 1);
    if (status == TENURE_OK)
        status = check_target(rows, move, &item.node);
    if (status != TENURE_OK)
        return status;
    if (rows->type->shard_get(rows, group.id, move->shard, &item.row) &&
        item.row.state == TN_SHARD_QUARANTINED)
        return tn_error_set(&rows->error, TENURE_CONFLICT,
                            "shard %u is in quarantine; take it back with: tenure quarantine %u --lift",
                            move->shard, move->shard);
    /* A planner that has not seen this yet must not undo it: its plan epoch is out of date now. */
    group.epoch++;
    group.plan_epoch++;
    want(rows, &group, &item);
    /* An operator's word does not wait for the cool-down, which is there to calm the planner. */
    if (item.row.moved_ms || item.row.hold_until_ms) {
        item.row.moved_ms = item.row.hold_until_ms = 0;
        rows->type->shard_put(rows, group.id, move->shard, &item.row, group.epoch);
    }
    rows->type->group_put(rows, &group);
    say_planned(rows, &group, move->shard, item.node);
    return TENURE_OK;
}

enum tenure_status tn_rows_move(struct tn_store *store, uint32_t group, uint32_t shard, const char *node_id,
                                int64_t limit_ms, struct tenure_error *error)
{
    struct move move = {group, shard, node_id};
    return tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, do_move, &move, error);
}
