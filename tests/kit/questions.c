/* Questions to the lab's store, and the bound that is judged there. */
#include "kit/lab.h"

#include "core/lease/rule.h"

#include <stdlib.h>
#include <string.h>

/* The whole group as the store has it; in `memory`. */
static const struct tn_delta *look(struct tn_lab *lab, struct tn_arena *memory)
{
    struct tn_cursor cursor = {.group = lab->group_number};
    struct tn_op op = {.kind = TN_OP_SYNC, .limit_ms = 1000, .arena = memory};
    op.tick.cursors = &cursor;
    op.tick.n_cursors = 1;
    lab->store->type->exec(lab->store, &op);
    if (op.status != TENURE_OK || op.tick.n_deltas != 1)
        abort();
    return &op.tick.deltas[0];
}

static bool alive(const struct tn_delta *delta, uint64_t session)
{
    for (size_t i = 0; i < delta->n_members; i++)
        if (delta->members[i].session == session)
            return true;
    return false;
}

void tn_lab_judge_store(struct tn_lab *lab)
{
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    uint32_t moving = 0;
    for (size_t i = 0; i < delta->n_changes; i++)
        moving += tn_rule_in_handoff(&delta->changes[i].row) && alive(delta, delta->changes[i].row.session);
    if (moving > lab->most_in_handoff)
        lab->most_in_handoff = moving;
    if (moving > lab->settings.max_moves)
        tn_lab_broke(lab, "%u shards are in handoff, at most %lld may be", moving,
                     (long long)lab->settings.max_moves);
    tn_arena_done(&memory);
}

static const struct tn_lab_node *owner_of(struct tn_lab *lab, uint64_t session)
{
    for (int i = 0; session && i < TN_LAB_NODES; i++)
        if (lab->nodes[i].used && lab->nodes[i].keeper.session == session)
            return &lab->nodes[i];
    return NULL;
}

bool tn_lab_all_owned(struct tn_lab *lab, const void *unused)
{
    (void)unused;
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    bool all = delta->n_changes == lab->settings.shards;
    for (size_t i = 0; all && i < delta->n_changes; i++) {
        const struct tn_shard_row *row = &delta->changes[i].row;
        const struct tn_lab_node *node = owner_of(lab, row->session);
        all = row->state == TN_SHARD_OWNED && node && node->running && !node->paused &&
              node->gate[delta->changes[i].shard] == row->token && lab->now_ms < node->deadline_ms;
    }
    tn_arena_done(&memory);
    return all;
}

uint32_t tn_lab_owned(struct tn_lab *lab, const char *id)
{
    const uint64_t session = tn_lab_node(lab, id)->keeper.session;
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    uint32_t n = 0;
    for (size_t i = 0; i < delta->n_changes; i++)
        n += delta->changes[i].row.session == session;
    tn_arena_done(&memory);
    return n;
}

bool tn_lab_balanced(struct tn_lab *lab, const void *unused)
{
    if (!tn_lab_all_owned(lab, unused))
        return false;
    uint32_t least = UINT32_MAX, most = 0;
    for (int i = 0; i < TN_LAB_NODES; i++) {
        const struct tn_lab_node *node = &lab->nodes[i];
        if (!node->used || !node->running || node->paused || node->keeper.phase != TN_PHASE_LIVE)
            continue;
        uint32_t open = 0;
        for (uint32_t s = 0; s < lab->settings.shards; s++)
            open += node->gate[s] != 0;
        least = open < least ? open : least;
        most = open > most ? open : most;
    }
    return most - least <= 1;
}

struct tn_shard_row tn_lab_row(struct tn_lab *lab, uint32_t shard)
{
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    struct tn_shard_row row = {0};
    for (size_t i = 0; i < delta->n_changes; i++)
        if (delta->changes[i].shard == shard)
            row = delta->changes[i].row;
    tn_arena_done(&memory);
    return row;
}

uint32_t tn_lab_unowned(struct tn_lab *lab)
{
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    uint32_t n = 0;
    for (size_t i = 0; i < delta->n_changes; i++)
        n += !alive(delta, delta->changes[i].row.session);
    tn_arena_done(&memory);
    return n;
}

int64_t tn_lab_lease_until(struct tn_lab *lab, const char *id)
{
    const uint64_t session = tn_lab_node(lab, id)->keeper.session;
    struct tn_arena memory;
    tn_arena_init(&memory);
    const struct tn_delta *delta = look(lab, &memory);
    int64_t until = 0;
    for (size_t i = 0; i < delta->n_members; i++)
        if (delta->members[i].session == session)
            until = delta->members[i].lease_until_ms;
    tn_arena_done(&memory);
    return until;
}
