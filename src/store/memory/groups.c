#include "store/memory/tables.h"

#include <stdlib.h>
#include <string.h>

struct tn_memory_group *tn_memory_group(struct tn_rows *rows, uint32_t group)
{
    struct tn_memory *memory = tn_memory_of(rows);
    return group && group <= memory->n_groups && !memory->groups[group - 1].dropped
               ? &memory->groups[group - 1]
               : NULL;
}

bool tn_memory_groups_get(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    if (found)
        *ret = found->row;
    return found != NULL;
}

bool tn_memory_groups_find(struct tn_rows *rows, const char *name, struct tn_group_row *ret)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    for (size_t i = 0; i < memory->n_groups; i++) {
        if (memory->groups[i].dropped || !memory->groups[i].row.name ||
            strcmp(memory->groups[i].row.name, name) != 0)
            continue;
        *ret = memory->groups[i].row;
        return true;
    }
    return false;
}

struct tn_group_row *tn_memory_groups_all(struct tn_rows *rows, size_t *ret_n)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    struct tn_group_row *all = tn_arena_array(&rows->scratch, memory->n_groups, sizeof *all);
    *ret_n = 0;
    for (size_t i = 0; i < memory->n_groups; i++)
        if (!memory->groups[i].dropped)
            all[(*ret_n)++] = memory->groups[i].row;
    return all;
}

uint32_t tn_memory_groups_add(struct tn_rows *rows, const struct tn_group_row *row,
                              const struct tn_settings *settings)
{
    struct tn_memory *memory = tn_memory_of(rows);
    memory->groups =
        tn_memory_grow(memory->groups, memory->n_groups, &memory->groups_room, sizeof *memory->groups);
    struct tn_memory_group *added = &memory->groups[memory->n_groups++];
    *added = (struct tn_memory_group){.row = *row, .settings = *settings};
    added->row.id = (uint32_t)memory->n_groups;
    added->row.name = tn_memory_copy_text(row->name);
    memory->wrote = true;
    return added->row.id;
}

void tn_memory_groups_put(struct tn_rows *rows, const struct tn_group_row *row)
{
    struct tn_memory_group *found = tn_memory_group(rows, row->id);
    const char *name = found->row.name;
    found->row = *row;
    found->row.name = name;
    if (!row->name) {
        free((void *)(uintptr_t)name);
        found->row.name = NULL;
    }
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_groups_drop(struct tn_rows *rows, uint32_t group)
{
    tn_memory_forget_pauses(tn_memory_group(rows, group));
    tn_memory_group(rows, group)->dropped = true;
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_groups_settings_get(struct tn_rows *rows, uint32_t group, struct tn_settings *ret)
{
    const struct tn_memory_group *found = tn_memory_group(rows, group);
    if (found)
        *ret = found->settings;
}

void tn_memory_groups_settings_put(struct tn_rows *rows, uint32_t group, const struct tn_settings *settings)
{
    tn_memory_group(rows, group)->settings = *settings;
    tn_memory_of(rows)->wrote = true;
}

/* ---- members ---- */

static bool is_member(const struct tn_memory_group *group, uint64_t session)
{
    for (size_t i = 0; i < group->n_members; i++)
        if (group->members[i] == session)
            return true;
    return false;
}

void tn_memory_groups_member_add(struct tn_rows *rows, uint32_t group, uint64_t session)
{
    struct tn_memory_group *found = tn_memory_group(rows, group);
    found->members =
        tn_memory_grow(found->members, found->n_members, &found->members_room, sizeof *found->members);
    size_t at = found->n_members++;
    for (; at > 0 && found->members[at - 1] > session; at--)
        found->members[at] = found->members[at - 1];
    found->members[at] = session;
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_groups_member_drop(struct tn_memory *memory, uint64_t session)
{
    for (size_t g = 0; g < memory->n_groups; g++) {
        struct tn_memory_group *group = &memory->groups[g];
        size_t kept = 0;
        for (size_t i = 0; i < group->n_members; i++)
            if (group->members[i] != session)
                group->members[kept++] = group->members[i];
        group->n_members = kept;
    }
}

void tn_memory_groups_facts(struct tn_rows *rows, uint32_t group, uint64_t session,
                            struct tn_session_facts *ret)
{
    const struct tn_memory_group *in = tn_memory_group(rows, group);
    const struct tn_memory_session *found = tn_memory_session(rows, session);
    *ret = (struct tn_session_facts){0};
    if (!found || found->record.lease.state == TN_SESSION_DEAD)
        return;
    const bool member = in && is_member(in, session);
    ret->node = found->record.node;
    ret->live = member && found->record.lease.state != TN_SESSION_AWAY;
    ret->takes = member && found->record.lease.state == TN_SESSION_LIVE;
}

uint32_t *tn_memory_groups_of(struct tn_rows *rows, uint64_t session, size_t *ret_n)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    uint32_t *groups = tn_arena_array(&rows->scratch, memory->n_groups, sizeof *groups);
    *ret_n = 0;
    for (size_t i = 0; i < memory->n_groups; i++)
        if (!memory->groups[i].dropped && is_member(&memory->groups[i], session))
            groups[(*ret_n)++] = (uint32_t)i + 1;
    return groups;
}

struct tn_member *tn_memory_groups_members(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                           size_t *ret_n)
{
    const struct tn_memory_group *in = tn_memory_group(rows, group);
    struct tn_member *members = tn_arena_array(arena, in ? in->n_members : 0, sizeof *members);
    *ret_n = in ? in->n_members : 0;
    for (size_t i = 0; i < *ret_n; i++) {
        const struct tn_session_record *record = &tn_memory_session(rows, in->members[i])->record;
        members[i] = (struct tn_member){.session = record->id,
                                        .node = record->node,
                                        .state = record->lease.state,
                                        .draining = tn_memory_node_draining(rows, record->node, 0) ||
                                                    tn_memory_node_draining(rows, record->node, group),
                                        .presence = record->presence,
                                        .node_id = tn_arena_text(arena, record->node_id),
                                        .address = tn_arena_text(arena, record->address),
                                        .labels = tn_arena_text(arena, record->labels),
                                        .weight_milli = record->weight_milli,
                                        .joined_ms = record->joined_ms,
                                        .lease_ms = record->lease.lease_ms,
                                        .lease_until_ms = record->lease.lease_until_ms};
    }
    return members;
}
