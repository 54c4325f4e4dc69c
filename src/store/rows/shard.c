#include "store/rows/parts.h"

#include <string.h>

/* One batch of a verb under way. */
struct batch {
    struct tn_rows *rows;
    struct tn_op *op;
    struct tn_group_row group;
    struct tn_settings settings;
    struct tn_rule_world world;
    bool changed;
    uint64_t asked; /* the dead session that `died` speaks of */
    bool died;
    uint32_t died_node;
};

static enum tenure_status check_items(struct tn_rows *rows, const struct tn_op *op, uint32_t shards)
{
    if (!op->session)
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "%s needs a session", tn_op_name(op->kind));
    if (op->n_items > TN_BATCH_MAX)
        return tn_error_set(&rows->error, TENURE_TOO_BIG, "%zu items in one request: at most %d", op->n_items,
                            TN_BATCH_MAX);
    for (size_t i = 0; i < op->n_items; i++) {
        if (op->items[i].shard >= shards)
            return tn_error_set(&rows->error, TENURE_BAD_INPUT, "shard %u: expected 0 to %u",
                                op->items[i].shard, shards - 1);
        if (op->kind == TN_OP_SAVE && op->items[i].checkpoint.size > TN_CHECKPOINT_MAX)
            return tn_error_set(&rows->error, TENURE_TOO_BIG, "a checkpoint of %zu bytes: at most %d",
                                op->items[i].checkpoint.size, TN_CHECKPOINT_MAX);
    }
    return TENURE_OK;
}

static enum tenure_status open_batch(struct batch *batch, struct tn_rows *rows, struct tn_op *op)
{
    *batch = (struct batch){.rows = rows, .op = op};
    enum tenure_status status = tn_rows_group_visible(rows, op->group, &batch->group);
    if (status == TENURE_OK)
        status = check_items(rows, op, batch->group.shards);
    if (status != TENURE_OK)
        return status;
    rows->type->settings_get(rows, op->group, &batch->settings);
    batch->world =
        (struct tn_rule_world){.now_ms = rows->now_ms, .settings = &batch->settings, .me = op->session};
    rows->type->facts(rows, op->group, op->session, &batch->world.requester);
    if (op->kind == TN_OP_PREPARE)
        batch->world.in_handoff = rows->type->shards_moving(rows, op->group);
    batch->world.most_starting = tn_rule_most_starting(&batch->settings, &batch->group.losses, rows->now_ms);
    if (op->kind == TN_OP_CLAIM && batch->world.most_starting < UINT32_MAX)
        batch->world.starting = rows->type->shards_starting(rows, op->group);
    batch->group.epoch++; /* written only if something changes */
    return rows->failed;
}

/* All that follows from a row's change besides the row. */
static void record(struct batch *batch, const struct tn_item *item, const struct tn_shard_row *before)
{
    struct tn_rows *rows = batch->rows;
    rows->type->shard_put(rows, batch->op->group, item->shard, &item->row, batch->group.epoch);
    batch->changed = true;
    batch->world.in_handoff += tn_rule_in_handoff(&item->row);
    batch->world.in_handoff -= tn_rule_in_handoff(before);
    batch->world.starting += tn_rule_starting(&item->row);
    batch->world.starting -= tn_rule_starting(before);
    if (before->session && before->session != item->row.session)
        rows->type->session_moved(rows, before->session);
    const char *cause = tn_rule_cause(batch->op->kind, before, &item->row);
    if (!cause)
        return;
    struct tn_session_facts owner = {0};
    rows->type->facts(rows, batch->op->group, item->row.session, &owner);
    tn_rows_event(rows, &(struct tn_event_row){.group = batch->group.name,
                                               .shard = item->shard,
                                               .node = owner.node,
                                               .session = item->row.session,
                                               .token = item->row.token,
                                               .cause = cause});
}

/* Was this session buried? Many shards of a batch have the same owner. */
static void look_at_dead(struct batch *batch, uint64_t session)
{
    struct tn_session_record record;
    if (session != batch->asked) {
        batch->asked = session;
        batch->died = batch->rows->type->session_get(batch->rows, session, &record) &&
                      (!strcmp(record.end_reason, "crashed") || !strcmp(record.end_reason, "expired"));
        batch->died_node = batch->died ? record.node : 0;
    }
    batch->world.owner.died = batch->died;
    batch->world.owner.died_node = batch->died_node;
}

/* Decides one item; false when its row is not there. */
static void decide(struct batch *batch, struct tn_item *item)
{
    struct tn_rows *rows = batch->rows;
    const struct tn_op *op = batch->op;
    struct tn_shard_row before;
    item->outcome = TN_STALE;
    if (!rows->type->shard_get(rows, op->group, item->shard, &before))
        return;
    rows->type->facts(rows, op->group, before.session, &batch->world.owner);
    rows->type->facts(rows, op->group, op->kind == TN_OP_PREPARE ? item->peer : before.target,
                      &batch->world.target);
    if (op->kind == TN_OP_CLAIM && before.session && !batch->world.owner.live)
        look_at_dead(batch, before.session);
    item->row = before;
    item->outcome = tn_rule_shard(op->kind, &batch->world, item, &item->row);
    if (!tn_rule_same(&before, &item->row))
        record(batch, item, &before);
}

static void close_batch(struct batch *batch)
{
    if (batch->changed)
        batch->rows->type->group_put(batch->rows, &batch->group);
}

enum tenure_status tn_rows_verb(struct tn_rows *rows, struct tn_op *op)
{
    struct batch batch;
    const enum tenure_status status = open_batch(&batch, rows, op);
    if (status != TENURE_OK)
        return status;
    const bool loads = op->kind == TN_OP_CLAIM || op->kind == TN_OP_RELOAD || op->kind == TN_OP_LOAD;
    for (size_t i = 0; i < op->n_items; i++) {
        decide(&batch, &op->items[i]);
        if (loads && op->items[i].outcome == TN_DONE)
            rows->type->checkpoint_get(rows, op->group, op->items[i].shard, op->arena,
                                       &op->items[i].checkpoint);
    }
    close_batch(&batch);
    return TENURE_OK;
}

enum tn_outcome tn_rows_write_checkpoint(struct tn_rows *rows, uint32_t group, struct tn_item *item,
                                         struct tn_arena *arena)
{
    struct tn_checkpoint stored;
    uint64_t seq = 0;
    bool write = false;
    rows->type->checkpoint_get(rows, group, item->shard, arena, &stored);
    const enum tn_outcome outcome = tn_rule_save(item, &stored, &seq, &write);
    if (outcome != TN_DONE || !write) {
        item->checkpoint = stored;
        return outcome;
    }
    item->checkpoint.seq = seq;
    item->checkpoint.token = item->token;
    item->checkpoint.saved_ms = rows->unix_ms;
    rows->type->checkpoint_put(rows, group, item->shard, &item->checkpoint);
    return TN_DONE;
}

enum tenure_status tn_rows_save(struct tn_rows *rows, struct tn_op *op)
{
    struct batch batch;
    const enum tenure_status status = open_batch(&batch, rows, op);
    if (status != TENURE_OK)
        return status;
    uint64_t rejected = 0;
    for (size_t i = 0; i < op->n_items; i++) {
        struct tn_item *item = &op->items[i];
        decide(&batch, item);
        rejected += item->outcome == TN_STALE;
        if (item->outcome == TN_DONE)
            item->outcome = tn_rows_write_checkpoint(rows, op->group, item, op->arena);
    }
    if (rejected)
        rows->type->node_rejected(rows, batch.world.requester.node, rejected);
    return TENURE_OK;
}
