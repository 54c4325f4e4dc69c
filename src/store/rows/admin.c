#include "store/rows/parts.h"

#include "core/lease/token.h"

/* ---- nodes ---- */

struct draining {
    const char *node_id;
    uint32_t group; /* 0: all */
    bool drain;
};

static enum tenure_status drain(struct tn_rows *rows, void *context)
{
    const struct draining *wanted = context;
    const uint32_t node = rows->type->node_find(rows, wanted->node_id);
    struct tn_group_row group = {0};
    if (!node)
        return tn_error_set(&rows->error, TENURE_NOT_FOUND, "there is no node %.128s", wanted->node_id);
    if (wanted->group && tn_rows_group_visible(rows, wanted->group, &group) != TENURE_OK)
        return TENURE_NOT_FOUND;
    if (wanted->group && !wanted->drain && rows->type->node_draining(rows, node, 0))
        return tn_error_set(&rows->error, TENURE_CONFLICT,
                            "node %.128s is drained in all groups; take that back without --group",
                            wanted->node_id);
    if (wanted->drain && rows->type->node_draining(rows, node, wanted->group))
        return TENURE_OK;
    rows->type->node_drain(rows, node, wanted->group, wanted->drain);
    const uint64_t session = rows->type->session_of_node(rows, node);
    if (wanted->group)
        tn_rows_members_changed(rows, &group);
    else if (session)
        tn_rows_touch_groups(rows, session);
    return TENURE_OK;
}

enum tenure_status tn_rows_node_drain(struct tn_store *store, const char *node_id, uint32_t group,
                                      bool wanted, int64_t limit_ms, struct tenure_error *error)
{
    struct draining draining = {node_id, group, wanted};
    return tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, drain, &draining, error);
}

/* ---- checkpoints ---- */

struct exchange {
    uint32_t group;
    struct tn_item item;
    bool force;
    struct tn_arena *arena;
};

static enum tenure_status find_shard(struct tn_rows *rows, const struct exchange *exchange,
                                     struct tn_shard_row *ret)
{
    struct tn_group_row group;
    const enum tenure_status status = tn_rows_group_visible(rows, exchange->group, &group);
    if (status != TENURE_OK)
        return status;
    if (exchange->item.shard >= group.shards ||
        !rows->type->shard_get(rows, group.id, exchange->item.shard, ret))
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "shard %u: expected 0 to %u",
                            exchange->item.shard, group.shards - 1);
    return TENURE_OK;
}

static enum tenure_status get(struct tn_rows *rows, void *context)
{
    struct exchange *exchange = context;
    struct tn_shard_row row = {0};
    const enum tenure_status status = find_shard(rows, exchange, &row);
    if (status == TENURE_OK)
        rows->type->checkpoint_get(rows, exchange->group, exchange->item.shard, exchange->arena,
                                   &exchange->item.checkpoint);
    return status;
}

enum tenure_status tn_rows_checkpoint_get(struct tn_store *store, uint32_t group, uint32_t shard,
                                          struct tn_arena *arena, struct tn_checkpoint *ret, int64_t limit_ms,
                                          struct tenure_error *error)
{
    struct exchange exchange = {.group = group, .item = {.shard = shard}, .arena = arena};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_READ, limit_ms, get, &exchange, error);
    if (status == TENURE_OK)
        *ret = exchange.item.checkpoint;
    return status;
}

static enum tenure_status put(struct tn_rows *rows, void *context)
{
    struct exchange *exchange = context;
    struct tn_shard_row row = {0};
    const enum tenure_status status = find_shard(rows, exchange, &row);
    if (status != TENURE_OK)
        return status;
    if (exchange->force)
        exchange->item.token = row.token;
    else if (exchange->item.token != row.token)
        return tn_error_set(&rows->error, TENURE_STALE, "shard %u has token %llu, not %llu",
                            exchange->item.shard, (unsigned long long)row.token,
                            (unsigned long long)exchange->item.token);
    const uint64_t wanted = exchange->item.checkpoint.seq;
    if (tn_rows_write_checkpoint(rows, exchange->group, &exchange->item, &rows->scratch) != TN_DONE)
        return tn_error_set(&rows->error, TENURE_REGRESSED, "sequence %llu is not above the stored %llu",
                            (unsigned long long)wanted, (unsigned long long)exchange->item.checkpoint.seq);
    return TENURE_OK;
}

enum tenure_status tn_rows_checkpoint_set(struct tn_store *store, uint32_t group, const struct tn_item *item,
                                          bool force, uint64_t *ret_seq, int64_t limit_ms,
                                          struct tenure_error *error)
{
    struct exchange exchange = {.group = group, .item = *item, .force = force};
    if (item->checkpoint.size > TN_CHECKPOINT_MAX)
        return tn_error_set(error, TENURE_TOO_BIG, "a checkpoint of %zu bytes: at most %d",
                            item->checkpoint.size, TN_CHECKPOINT_MAX);
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, put, &exchange, error);
    if (status == TENURE_OK)
        *ret_seq = exchange.item.checkpoint.seq;
    return status;
}

/* ---- reading ---- */

struct timeline {
    const struct tn_event_query *query;
    struct tn_arena *arena;
    struct tn_event *events;
    size_t n;
};

static enum tenure_status read_events(struct tn_rows *rows, void *context)
{
    struct timeline *timeline = context;
    timeline->events = rows->type->events(rows, timeline->query, timeline->arena, &timeline->n);
    return TENURE_OK;
}

enum tenure_status tn_rows_events(struct tn_store *store, const struct tn_event_query *query,
                                  struct tn_arena *arena, struct tn_event **ret, size_t *ret_n,
                                  int64_t limit_ms, struct tenure_error *error)
{
    struct timeline timeline = {.query = query, .arena = arena};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_READ, limit_ms, read_events, &timeline, error);
    if (status == TENURE_OK) {
        *ret = timeline.events;
        *ret_n = timeline.n;
    }
    return status;
}

struct asking {
    struct tn_arena *arena;
    struct tn_store_info info;
};

static enum tenure_status read_info(struct tn_rows *rows, void *context)
{
    struct asking *asking = context;
    struct tn_store_info *info = &asking->info;
    *info = (struct tn_store_info){.backend = rows->store.type->name,
                                   .history = rows->history,
                                   .lease_clock_ms = rows->now_ms,
                                   .unix_ms = rows->unix_ms};
    size_t n = 0;
    const struct tn_group_row *groups = rows->type->groups(rows, &n);
    for (size_t i = 0; i < n; i++)
        info->groups += tn_rows_group_is_visible(&groups[i]);
    rows->type->sessions_live(rows, &info->live_sessions);
    rows->type->info(rows, asking->arena, info);
    return TENURE_OK;
}

enum tenure_status tn_rows_info(struct tn_store *store, struct tn_arena *arena, struct tn_store_info *ret,
                                int64_t limit_ms, struct tenure_error *error)
{
    struct asking asking = {.arena = arena};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_READ, limit_ms, read_info, &asking, error);
    if (status == TENURE_OK)
        *ret = asking.info;
    return status;
}

/* ---- the timeline's end ---- */

struct pruning {
    size_t keep, removed;
};

static enum tenure_status prune(struct tn_rows *rows, void *context)
{
    struct pruning *pruning = context;
    pruning->removed = rows->type->events_prune(rows, pruning->keep, TN_PRUNE_STEP);
    return TENURE_OK;
}

enum tenure_status tn_rows_prune(struct tn_store *store, size_t keep, size_t *ret_removed, int64_t limit_ms,
                                 struct tenure_error *error)
{
    struct pruning pruning = {.keep = keep};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, prune, &pruning, error);
    if (status == TENURE_OK)
        *ret_removed = pruning.removed;
    return status;
}

/* ---- a new history ---- */

static void renew_group(struct tn_rows *rows, struct tn_group_row group)
{
    struct tn_arena memory;
    tn_arena_init(&memory);
    size_t n = 0;
    group.members_epoch = ++group.epoch;
    struct tn_change *changes = rows->type->shards_since(rows, group.id, 0, &memory, &n);
    for (size_t i = 0; i < n; i++) {
        tn_rule_new_history(&changes[i].row, rows->history, rows->now_ms);
        rows->type->shard_put(rows, group.id, changes[i].shard, &changes[i].row, group.epoch);
    }
    rows->type->group_put(rows, &group);
    tn_arena_done(&memory);
}

void tn_rows_renew_history(struct tn_rows *rows, uint32_t seen)
{
    rows->history = tn_rule_next_history(rows->history, seen, rows->unix_ms);
    rows->type->history_put(rows, rows->history);
    size_t n = 0;
    const struct tn_live_session *live = rows->type->sessions_live(rows, &n);
    for (size_t i = 0; i < n; i++)
        tn_rows_end_session(rows, live[i].id, "history");
    const struct tn_group_row *groups = rows->type->groups(rows, &n);
    for (size_t i = 0; i < n; i++)
        renew_group(rows, groups[i]);
    tn_rows_event(
        rows, &(struct tn_event_row){
                  .group = "", .shard = -1, .token = tn_token_first(rows->history), .cause = "new history"});
}

static enum tenure_status renew(struct tn_rows *rows, void *context)
{
    uint32_t *seen = context;
    tn_rows_renew_history(rows, *seen);
    *seen = rows->history;
    return TENURE_OK;
}

enum tenure_status tn_rows_new_history(struct tn_store *store, uint32_t seen, uint32_t *ret_history,
                                       int64_t limit_ms, struct tenure_error *error)
{
    uint32_t history = seen;
    if (seen >= TN_HISTORY_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "history %u: expected 0 to %d", seen,
                            TN_HISTORY_MAX - 1);
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, renew, &history, error);
    if (status == TENURE_OK)
        *ret_history = history;
    return status;
}
