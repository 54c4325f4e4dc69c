#include "store/memory/tables.h"

#include <stdlib.h>
#include <string.h>

void tn_memory_forget_shards(struct tn_memory_group *group)
{
    for (uint32_t i = 0; group->shards && i < group->row.shards; i++)
        free((void *)(uintptr_t)group->shards[i].checkpoint.data);
    free(group->shards);
    group->shards = NULL;
}

uint64_t tn_memory_floor_get(struct tn_rows *rows)
{
    return tn_memory_of(rows)->token_floor;
}

void tn_memory_floor_put(struct tn_rows *rows, uint64_t token)
{
    tn_memory_of(rows)->token_floor = token;
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_shards_add(struct tn_rows *rows, uint32_t group, uint32_t from, uint32_t n, uint64_t epoch,
                          uint64_t token)
{
    struct tn_memory_group *found = tn_memory_group(rows, group);
    if (!found->shards) {
        size_t room = 0;
        const size_t bytes = found->row.shards * sizeof *found->shards;
        found->shards = memset(tn_memory_grow(NULL, 0, &room, (bytes + 15) / 16), 0, bytes);
    }
    for (uint32_t i = from; i < from + n; i++) {
        found->shards[i].epoch = epoch;
        found->shards[i].row.token = token;
    }
    found->rows_epoch = epoch;
    tn_memory_of(rows)->wrote = true;
}

uint32_t tn_memory_shards_drop(struct tn_rows *rows, uint32_t group, uint32_t at_most)
{
    (void)at_most; /* all at once: nobody waits */
    tn_memory_forget_shards(tn_memory_group(rows, group));
    tn_memory_of(rows)->wrote = true;
    return 0;
}

static struct tn_memory_shard *find(struct tn_rows *rows, uint32_t group, uint32_t shard)
{
    struct tn_memory_group *found = tn_memory_group(rows, group);
    return found && found->shards && shard < found->row.shards ? &found->shards[shard] : NULL;
}

bool tn_memory_shards_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_shard_row *ret)
{
    const struct tn_memory_shard *found = find(rows, group, shard);
    if (found)
        *ret = found->row;
    return found != NULL;
}

void tn_memory_shards_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                          const struct tn_shard_row *row, uint64_t epoch)
{
    struct tn_memory_shard *found = find(rows, group, shard);
    found->row = *row;
    found->epoch = epoch;
    tn_memory_group(rows, group)->rows_epoch = epoch;
    tn_memory_of(rows)->wrote = true;
}

uint32_t tn_memory_shards_moving(struct tn_rows *rows, uint32_t group)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    uint32_t n = 0;
    for (uint32_t i = 0; i < found->row.shards; i++)
        n += tn_rule_in_handoff(&found->shards[i].row);
    return n;
}

uint32_t tn_memory_shards_starting(struct tn_rows *rows, uint32_t group)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    uint32_t n = 0;
    for (uint32_t i = 0; i < found->row.shards; i++)
        n += tn_rule_starting(&found->shards[i].row);
    return n;
}

struct tn_change *tn_memory_shards_since(struct tn_rows *rows, uint32_t group, uint64_t since,
                                         struct tn_arena *arena, size_t *ret_n)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    *ret_n = 0;
    if (!found || !found->shards || found->rows_epoch <= since)
        return tn_arena_get(arena, 0);
    size_t n = 0;
    for (uint32_t i = 0; i < found->row.made; i++)
        n += found->shards[i].epoch > since;
    struct tn_change *changes = tn_arena_array(arena, n, sizeof *changes);
    for (uint32_t i = 0; i < found->row.made; i++)
        if (found->shards[i].epoch > since)
            changes[(*ret_n)++] = (struct tn_change){i, found->shards[i].row};
    return changes;
}

void tn_memory_shards_checkpoint_get(struct tn_rows *rows, uint32_t group, uint32_t shard,
                                     struct tn_arena *arena, struct tn_checkpoint *ret)
{
    const struct tn_memory_shard *found = find(rows, group, shard);
    *ret = found ? found->checkpoint : (struct tn_checkpoint){0};
    if (ret->data)
        ret->data = tn_arena_copy(arena, ret->data, ret->size);
}

void tn_memory_shards_checkpoint_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                                     const struct tn_checkpoint *checkpoint)
{
    struct tn_memory_shard *found = find(rows, group, shard);
    size_t room = 0;
    void *data = tn_memory_grow(NULL, 0, &room, (checkpoint->size + 16) / 16);
    if (checkpoint->size)
        memcpy(data, checkpoint->data, checkpoint->size);
    free((void *)(uintptr_t)found->checkpoint.data);
    found->checkpoint = *checkpoint;
    found->checkpoint.data = data;
    tn_memory_of(rows)->wrote = true;
}
