/* What operators say of a group's movements: pauses, and shards set aside. */
#include "store/rows/parts.h"

#include <string.h>

enum { most_reason_bytes = 1024 };

struct pausing {
    uint32_t group;
    const char *reason, *author;
    bool thaw;
    uint32_t dropped;
    struct tn_arena *arena;
    struct tn_pause *list;
    size_t n;
};

static bool has(const struct tn_pause *list, size_t n, const char *reason)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].reason, reason))
            return true;
    return false;
}

static enum tenure_status do_pause(struct tn_rows *rows, void *context)
{
    const struct pausing *wanted = context;
    struct tn_group_row group;
    const enum tenure_status status = tn_rows_group_visible(rows, wanted->group, &group);
    if (status != TENURE_OK)
        return status;
    size_t n = 0;
    const struct tn_pause *list = rows->type->pauses(rows, group.id, &rows->scratch, &n);
    if (has(list, n, wanted->reason))
        return TENURE_OK;
    const struct tn_pause pause = {wanted->reason, wanted->author, rows->unix_ms};
    rows->type->pause_add(rows, group.id, &pause);
    group.pauses = (uint32_t)n + 1;
    group.epoch++;
    rows->type->group_put(rows, &group);
    tn_rows_event(rows, &(struct tn_event_row){.group = group.name, .shard = -1, .cause = "paused"});
    return TENURE_OK;
}

enum tenure_status tn_rows_pause(struct tn_store *store, uint32_t group, const char *reason,
                                 const char *author, int64_t limit_ms, struct tenure_error *error)
{
    struct pausing pausing = {.group = group, .reason = reason, .author = author};
    if (!reason[0] || strlen(reason) > most_reason_bytes || strlen(author) > most_reason_bytes)
        return tn_error_set(error, TENURE_BAD_INPUT, "a reason and its author have 1 to %d bytes each",
                            most_reason_bytes);
    return tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, do_pause, &pausing, error);
}

static enum tenure_status do_resume(struct tn_rows *rows, void *context)
{
    struct pausing *wanted = context;
    struct tn_group_row group;
    const enum tenure_status status = tn_rows_group_visible(rows, wanted->group, &group);
    if (status != TENURE_OK)
        return status;
    size_t n = 0;
    const struct tn_pause *list = rows->type->pauses(rows, group.id, &rows->scratch, &n);
    const bool there = wanted->reason ? has(list, n, wanted->reason) : n > 0;
    const bool thaws = wanted->thaw && group.losses.frozen_until_ms > rows->now_ms;
    if (!there && !thaws)
        return tn_error_set(&rows->error, TENURE_NOT_FOUND, "group %.128s is not paused%s%.200s%s",
                            group.name, wanted->reason ? " for '" : "", wanted->reason ? wanted->reason : "",
                            wanted->reason ? "'" : "");
    if (there)
        wanted->dropped = rows->type->pause_drop(rows, group.id, wanted->reason);
    if (thaws)
        group.losses = (struct tn_losses){0};
    group.pauses = (uint32_t)n - wanted->dropped;
    group.epoch++;
    rows->type->group_put(rows, &group);
    tn_rows_event(rows, &(struct tn_event_row){.group = group.name, .shard = -1, .cause = "resumed"});
    return TENURE_OK;
}

enum tenure_status tn_rows_resume(struct tn_store *store, uint32_t group, const char *reason, bool thaw,
                                  uint32_t *ret_dropped, int64_t limit_ms, struct tenure_error *error)
{
    struct pausing pausing = {.group = group, .reason = reason, .thaw = thaw};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, do_resume, &pausing, error);
    if (status == TENURE_OK)
        *ret_dropped = pausing.dropped;
    return status;
}

static enum tenure_status do_list(struct tn_rows *rows, void *context)
{
    struct pausing *wanted = context;
    struct tn_group_row group;
    const enum tenure_status status = tn_rows_group_visible(rows, wanted->group, &group);
    if (status == TENURE_OK)
        wanted->list = rows->type->pauses(rows, group.id, wanted->arena, &wanted->n);
    return status;
}

enum tenure_status tn_rows_pauses(struct tn_store *store, uint32_t group, struct tn_arena *arena,
                                  struct tn_pause **ret, size_t *ret_n, int64_t limit_ms,
                                  struct tenure_error *error)
{
    struct pausing pausing = {.group = group, .arena = arena};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_READ, limit_ms, do_list, &pausing, error);
    if (status == TENURE_OK) {
        *ret = pausing.list;
        *ret_n = pausing.n;
    }
    return status;
}

/* ---- shards set aside ---- */

struct setting_aside {
    uint32_t group, shard;
    bool aside;
};

static enum tenure_status do_quarantine(struct tn_rows *rows, void *context)
{
    const struct setting_aside *wanted = context;
    struct tn_group_row group;
    struct tn_shard_row row;
    const enum tenure_status status = tn_rows_group_visible(rows, wanted->group, &group);
    if (status != TENURE_OK)
        return status;
    if (wanted->shard >= group.shards || !rows->type->shard_get(rows, group.id, wanted->shard, &row))
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "shard %u: expected 0 to %u", wanted->shard,
                            group.shards - 1);
    const uint64_t owner = row.session;
    const bool changed =
        wanted->aside ? tn_rule_set_aside(&row, rows->now_ms) : tn_rule_take_back(&row, rows->now_ms);
    if (!changed)
        return wanted->aside ? TENURE_OK
                             : tn_error_set(&rows->error, TENURE_CONFLICT, "shard %u is not in quarantine",
                                            wanted->shard);
    group.epoch++;
    rows->type->shard_put(rows, group.id, wanted->shard, &row, group.epoch);
    rows->type->group_put(rows, &group);
    if (owner)
        rows->type->session_moved(rows, owner);
    tn_rows_event(rows, &(struct tn_event_row){.group = group.name,
                                               .shard = wanted->shard,
                                               .token = row.token,
                                               .cause = wanted->aside ? "quarantined" : "taken back"});
    return TENURE_OK;
}

enum tenure_status tn_rows_quarantine(struct tn_store *store, uint32_t group, uint32_t shard, bool aside,
                                      int64_t limit_ms, struct tenure_error *error)
{
    struct setting_aside wanted = {group, shard, aside};
    return tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, do_quarantine, &wanted, error);
}
