#include "store/memory/tables.h"

#include <stdlib.h>
#include <string.h>

void tn_memory_pause_add(struct tn_rows *rows, uint32_t group, const struct tn_pause *pause)
{
    struct tn_memory_group *found = tn_memory_group(rows, group);
    found->pauses =
        tn_memory_grow(found->pauses, found->n_pauses, &found->pauses_room, sizeof *found->pauses);
    found->pauses[found->n_pauses++] = (struct tn_pause){.reason = tn_memory_copy_text(pause->reason),
                                                         .author = tn_memory_copy_text(pause->author),
                                                         .unix_ms = pause->unix_ms};
    tn_memory_of(rows)->wrote = true;
}

static void forget(const struct tn_pause *pause)
{
    free((void *)(uintptr_t)pause->reason);
    free((void *)(uintptr_t)pause->author);
}

void tn_memory_forget_pauses(struct tn_memory_group *group)
{
    for (size_t i = 0; i < group->n_pauses; i++)
        forget(&group->pauses[i]);
    free(group->pauses);
    group->pauses = NULL;
    group->n_pauses = group->pauses_room = 0;
}

uint32_t tn_memory_pause_drop(struct tn_rows *rows, uint32_t group, const char *reason)
{
    struct tn_memory_group *found = tn_memory_group(rows, group);
    size_t kept = 0;
    const size_t before = found->n_pauses;
    for (size_t i = 0; reason && i < before; i++) {
        if (strcmp(found->pauses[i].reason, reason) != 0)
            found->pauses[kept++] = found->pauses[i];
        else
            forget(&found->pauses[i]);
    }
    if (reason)
        found->n_pauses = kept;
    else
        tn_memory_forget_pauses(found);
    tn_memory_of(rows)->wrote = true;
    return (uint32_t)(before - kept);
}

struct tn_pause *tn_memory_pauses(struct tn_rows *rows, uint32_t group, struct tn_arena *arena, size_t *ret_n)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    struct tn_pause *list = tn_arena_array(arena, found->n_pauses, sizeof *list);
    for (size_t i = 0; i < found->n_pauses; i++)
        list[i] = (struct tn_pause){.reason = tn_arena_text(arena, found->pauses[i].reason),
                                    .author = tn_arena_text(arena, found->pauses[i].author),
                                    .unix_ms = found->pauses[i].unix_ms};
    *ret_n = found->n_pauses;
    return list;
}
