#include "cli/snapshot.h"

#include "core/lease/rule.h"
#include "sys/clock.h"

#include <stdlib.h>

static void count(struct tn_snapshot *snapshot);
static double skew(const struct tn_snapshot *snapshot);

/* A writer may hold the store for a moment: SYNC is repeated by the store itself up to limit_ms. */
static enum tenure_status sync_group(struct tn_cli *cli, struct tn_arena *arena,
                                     const struct tn_group_info *group, struct tn_op *op)
{
    struct tn_cursor *const cursor = tn_arena_get(arena, sizeof *cursor);
    cursor->group = group->group;
    *op = (struct tn_op){.kind = TN_OP_SYNC,
                         .id = 1,
                         .sent_ms = tn_clock_boot_ms(),
                         .limit_ms = tn_cli_limit_ms(cli),
                         .tick = {.cursors = cursor, .n_cursors = 1},
                         .arena = arena};
    cli->store->type->exec(cli->store, op);
    if (op->status != TENURE_OK)
        return tn_cli_fail(cli, op->status, "%s",
                           op->error.text[0] ? op->error.text : tenure_status_sentence(op->status));
    if (op->tick.n_deltas != 1 || op->tick.deltas[0].gone)
        return tn_cli_fail(cli, TENURE_NOT_FOUND, "there is no group '%s' any more",
                           tn_cli_shown(cli, group->name));
    return TENURE_OK;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct tn_snapshot_node *const *const left = a, *const *const right = b;
    const uint32_t x = (*left)->member->node, y = (*right)->member->node;
    return (x > y) - (x < y);
}

static void take_members(struct tn_snapshot *snapshot, struct tn_arena *arena, const struct tn_delta *delta)
{
    const size_t n = delta->n_members;
    snapshot->n_nodes = n;
    snapshot->nodes = tn_arena_array(arena, n, sizeof *snapshot->nodes);
    snapshot->by_node = tn_arena_array(arena, n, sizeof *snapshot->by_node);
    for (size_t i = 0; i < n; i++) {
        snapshot->nodes[i].member = &delta->members[i];
        snapshot->nodes[i].dead = delta->members[i].lease_until_ms <= snapshot->store_ms;
        snapshot->by_node[i] = &snapshot->nodes[i];
    }
    if (n)
        qsort(snapshot->by_node, n, sizeof *snapshot->by_node, compare_nodes);
}

enum tenure_status tn_snapshot_read(struct tn_cli *cli, struct tn_arena *arena,
                                    const struct tn_group_info *group, struct tn_snapshot *ret)
{
    struct tn_op op;
    const enum tenure_status status = sync_group(cli, arena, group, &op);
    if (status != TENURE_OK)
        return status;
    const struct tn_delta *const delta = &op.tick.deltas[0];
    struct tn_shard_row *const rows = tn_arena_array(arena, group->settings.shards, sizeof *rows);
    for (size_t i = 0; i < delta->n_changes; i++)
        if (delta->changes[i].shard < group->settings.shards)
            rows[delta->changes[i].shard] = delta->changes[i].row;
    struct tn_snapshot snapshot = {.group = group,
                                   .rows = rows,
                                   .plan_epoch = delta->plan_epoch,
                                   .paused = delta->paused,
                                   .frozen_until_ms =
                                       delta->frozen_until_ms > op.store_ms ? delta->frozen_until_ms : 0,
                                   .store_ms = op.store_ms,
                                   .unix_ms = op.unix_ms};
    take_members(&snapshot, arena, delta);
    count(&snapshot);
    *ret = snapshot;
    return TENURE_OK;
}

static struct tn_snapshot_node *node_of_session(const struct tn_snapshot *snapshot, uint64_t session)
{
    size_t from = 0, to = snapshot->n_nodes;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (snapshot->nodes[middle].member->session < session)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < snapshot->n_nodes && snapshot->nodes[from].member->session == session)
        return &snapshot->nodes[from];
    return NULL;
}

static struct tn_snapshot_node *find_owner(const struct tn_snapshot *snapshot, uint32_t shard)
{
    const uint64_t session = snapshot->rows[shard].session;
    struct tn_snapshot_node *const node = session ? node_of_session(snapshot, session) : NULL;
    return node && !node->dead ? node : NULL;
}

const struct tn_snapshot_node *tn_snapshot_owner(const struct tn_snapshot *snapshot, uint32_t shard)
{
    return find_owner(snapshot, shard);
}

static struct tn_snapshot_node *find_desired(const struct tn_snapshot *snapshot, uint32_t shard)
{
    const uint32_t node = snapshot->rows[shard].desired;
    size_t from = 0, to = snapshot->n_nodes;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (snapshot->by_node[middle]->member->node < node)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < snapshot->n_nodes && snapshot->by_node[from]->member->node == node)
        return snapshot->by_node[from];
    return NULL;
}

const struct tn_snapshot_node *tn_snapshot_desired(const struct tn_snapshot *snapshot, uint32_t shard)
{
    return find_desired(snapshot, shard);
}

const char *tn_snapshot_state(const struct tn_snapshot *snapshot, uint32_t shard)
{
    const enum tn_shard_state state = (enum tn_shard_state)snapshot->rows[shard].state;
    if (state == TN_SHARD_QUARANTINED)
        return "quarantined";
    if (!find_owner(snapshot, shard))
        return "unowned";
    switch (state) {
    case TN_SHARD_OWNED: return "owned";
    case TN_SHARD_PREPARING: return "preparing";
    case TN_SHARD_DRAINING: return "draining";
    case TN_SHARD_RESTORING: return "restoring";
    case TN_SHARD_UNOWNED:
    case TN_SHARD_QUARANTINED: break;
    }
    return "unowned";
}

bool tn_snapshot_node_away(const struct tn_snapshot_node *node)
{
    return !node->dead && node->member->state == TN_SESSION_AWAY;
}

const char *tn_snapshot_node_state(const struct tn_snapshot_node *node)
{
    return node->dead                                                                 ? "dead"
           : tn_snapshot_node_away(node) || node->member->state == TN_SESSION_LEAVING ? "leaving"
           : node->member->draining                                                   ? "draining"
                                                                                      : "live";
}

int64_t tn_snapshot_unix_ms(const struct tn_snapshot *snapshot, int64_t lease_clock_ms)
{
    return lease_clock_ms + (snapshot->unix_ms - snapshot->store_ms);
}

static void count(struct tn_snapshot *snapshot)
{
    for (uint32_t shard = 0; shard < snapshot->group->settings.shards; shard++) {
        struct tn_snapshot_node *const owner = find_owner(snapshot, shard);
        struct tn_snapshot_node *const desired = find_desired(snapshot, shard);
        const uint8_t state = snapshot->rows[shard].state;
        if (owner)
            owner->shards++;
        if (desired)
            desired->desired++;
        snapshot->unowned += !owner;
        snapshot->quarantined += state == TN_SHARD_QUARANTINED;
        snapshot->not_ready += !owner || state == TN_SHARD_RESTORING || state == TN_SHARD_QUARANTINED;
        snapshot->moves_in_flight += tn_rule_in_handoff(&snapshot->rows[shard]);
    }
    snapshot->skew = skew(snapshot);
}

static double skew(const struct tn_snapshot *snapshot)
{
    uint64_t eligible = 0, total = 0, largest = 0;
    for (size_t i = 0; i < snapshot->n_nodes; i++) {
        const struct tn_snapshot_node *const node = &snapshot->nodes[i];
        if (node->dead || node->member->draining || node->member->state != TN_SESSION_LIVE ||
            node->member->weight_milli == 0)
            continue;
        eligible++;
        total += node->shards;
        if (node->shards > largest)
            largest = node->shards;
    }
    return total ? (double)largest * (double)eligible / (double)total : 1.0;
}
