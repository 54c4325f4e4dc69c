#include "store/faulty/faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct faulty {
    struct tn_store store;  /* first */
    struct tn_store *inner; /* owned */
    void (*sleep_ms)(int64_t ms);
    struct tn_fault faults[TN_FAULTS_MAX];
    size_t n_faults;
};

static struct tn_store *inner_of(struct tn_store *store)
{
    return ((struct faulty *)store)->inner;
}

/* The first fault whose time has come, taken off the list. */
static bool take_fault(struct faulty *faulty, enum tn_op_kind kind, struct tn_fault *ret)
{
    bool found = false;
    size_t kept = 0;
    for (size_t i = 0; i < faulty->n_faults; i++) {
        struct tn_fault fault = faulty->faults[i];
        const bool fits = fault.op == TN_OP_COUNT || fault.op == kind;
        if (fits && fault.nth <= 1 && !found) {
            *ret = fault;
            found = true;
            continue;
        }
        fault.nth -= fits && fault.nth > 1;
        faulty->faults[kept++] = fault;
    }
    faulty->n_faults = kept;
    return found;
}

static void answer(struct tn_op *op, enum tenure_status status, const char *words)
{
    op->status = status;
    tn_error_set(&op->error, status, "%s (on order)", words);
}

/* As if the reply had never come: the request is put back as it was. */
static void lose(struct faulty *faulty, struct tn_op *op, enum tenure_status status)
{
    const struct tn_op before = *op;
    const size_t bytes = op->n_items * sizeof *op->items;
    struct tn_item *items = op->arena && bytes ? tn_arena_copy(op->arena, op->items, bytes) : NULL;
    faulty->inner->type->exec(faulty->inner, op);
    const bool happened = op->status == TENURE_OK;
    const enum tenure_status inner_status = op->status;
    *op = before;
    if (items)
        memcpy(op->items, items, bytes);
    if (happened)
        answer(op, status == TENURE_OK ? TENURE_MAYBE : status, "the reply was lost");
    else
        answer(op, inner_status, "the reply was lost");
}

static void exec(struct tn_store *store, struct tn_op *op)
{
    struct faulty *faulty = (struct faulty *)store;
    struct tn_fault fault;
    if (!take_fault(faulty, op->kind, &fault)) {
        faulty->inner->type->exec(faulty->inner, op);
        return;
    }
    switch (fault.kind) {
    case TN_FAULT_REFUSE:
        answer(op, fault.status == TENURE_OK ? TENURE_UNREACHABLE : fault.status, "refused");
        return;
    case TN_FAULT_LOSE: lose(faulty, op, fault.status); return;
    case TN_FAULT_REPEAT: faulty->inner->type->exec(faulty->inner, op); break;
    case TN_FAULT_DELAY:
        if (faulty->sleep_ms)
            faulty->sleep_ms(fault.delay_ms);
        break;
    }
    faulty->inner->type->exec(faulty->inner, op);
}

static bool changed(struct tn_store *store)
{
    return inner_of(store)->type->changed(inner_of(store));
}

static void close_store(struct tn_store *store)
{
    inner_of(store)->type->close(inner_of(store));
    free(store);
}

/* ---- passed on ---- */

static enum tenure_status group_create(struct tn_store *store, const char *name,
                                       const struct tn_settings *settings, uint64_t fingerprint,
                                       int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->group_create(inner, name, settings, fingerprint, limit_ms, error);
}

static enum tenure_status group_list(struct tn_store *store, struct tn_arena *arena,
                                     struct tn_group_info **ret, size_t *ret_n, int64_t limit_ms,
                                     struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->group_list(inner, arena, ret, ret_n, limit_ms, error);
}

static enum tenure_status group_set(struct tn_store *store, const char *name,
                                    const struct tn_settings *settings, int64_t limit_ms,
                                    struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->group_set(inner, name, settings, limit_ms, error);
}

static enum tenure_status group_delete(struct tn_store *store, const char *name, int64_t limit_ms,
                                       struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->group_delete(inner, name, limit_ms, error);
}

static enum tenure_status node_drain(struct tn_store *store, const char *node_id, uint32_t group, bool drain,
                                     int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->node_drain(inner, node_id, group, drain, limit_ms, error);
}

static enum tenure_status move(struct tn_store *store, uint32_t group, uint32_t shard, const char *node_id,
                               int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->move(inner, group, shard, node_id, limit_ms, error);
}

static enum tenure_status pause_moves(struct tn_store *store, uint32_t group, const char *reason,
                                      const char *author, int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->pause(inner, group, reason, author, limit_ms, error);
}

static enum tenure_status resume(struct tn_store *store, uint32_t group, const char *reason, bool thaw,
                                 uint32_t *ret_dropped, int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->resume(inner, group, reason, thaw, ret_dropped, limit_ms, error);
}

static enum tenure_status pauses(struct tn_store *store, uint32_t group, struct tn_arena *arena,
                                 struct tn_pause **ret, size_t *ret_n, int64_t limit_ms,
                                 struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->pauses(inner, group, arena, ret, ret_n, limit_ms, error);
}

static enum tenure_status quarantine(struct tn_store *store, uint32_t group, uint32_t shard, bool aside,
                                     int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->quarantine(inner, group, shard, aside, limit_ms, error);
}

static enum tenure_status checkpoint_get(struct tn_store *store, uint32_t group, uint32_t shard,
                                         struct tn_arena *arena, struct tn_checkpoint *ret, int64_t limit_ms,
                                         struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->checkpoint_get(inner, group, shard, arena, ret, limit_ms, error);
}

static enum tenure_status checkpoint_set(struct tn_store *store, uint32_t group, const struct tn_item *item,
                                         bool force, uint64_t *ret_seq, int64_t limit_ms,
                                         struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->checkpoint_set(inner, group, item, force, ret_seq, limit_ms, error);
}

static enum tenure_status events(struct tn_store *store, const struct tn_event_query *query,
                                 struct tn_arena *arena, struct tn_event **ret, size_t *ret_n,
                                 int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->events(inner, query, arena, ret, ret_n, limit_ms, error);
}

static enum tenure_status info(struct tn_store *store, struct tn_arena *arena, struct tn_store_info *ret,
                               int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->info(inner, arena, ret, limit_ms, error);
}

static enum tenure_status new_history(struct tn_store *store, uint32_t seen, uint32_t *ret_history,
                                      int64_t limit_ms, struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->new_history(inner, seen, ret_history, limit_ms, error);
}

static enum tenure_status prune(struct tn_store *store, size_t keep, size_t *ret_removed, int64_t limit_ms,
                                struct tenure_error *error)
{
    struct tn_store *inner = inner_of(store);
    return inner->type->prune(inner, keep, ret_removed, limit_ms, error);
}

static const struct tn_store_type store_type = {.name = "faulty",
                                                .exec = exec,
                                                .changed = changed,
                                                .close = close_store,
                                                .group_create = group_create,
                                                .group_list = group_list,
                                                .group_set = group_set,
                                                .group_delete = group_delete,
                                                .node_drain = node_drain,
                                                .move = move,
                                                .pause = pause_moves,
                                                .resume = resume,
                                                .pauses = pauses,
                                                .quarantine = quarantine,
                                                .checkpoint_get = checkpoint_get,
                                                .checkpoint_set = checkpoint_set,
                                                .events = events,
                                                .info = info,
                                                .new_history = new_history,
                                                .prune = prune};

struct tn_store *tn_faulty_open(struct tn_store *inner, void (*sleep_ms)(int64_t ms))
{
    struct faulty *faulty = calloc(1, sizeof *faulty);
    if (!faulty) {
        fputs("tenure: out of memory\n", stderr);
        abort();
    }
    faulty->store.type = &store_type;
    faulty->inner = inner;
    faulty->sleep_ms = sleep_ms;
    return &faulty->store;
}

struct tn_store *tn_faulty_inner(struct tn_store *store)
{
    return inner_of(store);
}

bool tn_faulty_order(struct tn_store *store, const struct tn_fault *fault)
{
    struct faulty *faulty = (struct faulty *)store;
    if (faulty->n_faults == TN_FAULTS_MAX)
        return false;
    faulty->faults[faulty->n_faults++] = *fault;
    return true;
}

size_t tn_faulty_waiting(const struct tn_store *store)
{
    return ((const struct faulty *)store)->n_faults;
}
