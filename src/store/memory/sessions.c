#include "store/memory/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes: number = index + 1 ---- */

uint32_t tn_memory_node_find(struct tn_rows *rows, const char *node_id)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    for (size_t i = 0; i < memory->n_nodes; i++)
        if (!strcmp(memory->nodes[i].node_id, node_id))
            return (uint32_t)i + 1;
    return 0;
}

uint32_t tn_memory_node_add(struct tn_rows *rows, const char *node_id)
{
    struct tn_memory *memory = tn_memory_of(rows);
    memory->nodes =
        tn_memory_grow(memory->nodes, memory->n_nodes, &memory->nodes_room, sizeof *memory->nodes);
    memory->nodes[memory->n_nodes++] = (struct tn_memory_node){.node_id = tn_memory_copy_text(node_id)};
    memory->wrote = true;
    return (uint32_t)memory->n_nodes;
}

static size_t find_drained(const struct tn_memory_node *node, uint32_t group)
{
    size_t i = 0;
    while (i < node->n_drained_in && node->drained_in[i] != group)
        i++;
    return i;
}

void tn_memory_node_drain(struct tn_rows *rows, uint32_t node, uint32_t group, bool draining)
{
    struct tn_memory_node *found = &tn_memory_of(rows)->nodes[node - 1];
    const size_t at = find_drained(found, group);
    tn_memory_of(rows)->wrote = true;
    if (!group) {
        found->draining = draining;
        found->n_drained_in = draining ? found->n_drained_in : 0;
    } else if (draining && at == found->n_drained_in) {
        found->drained_in = tn_memory_grow(found->drained_in, found->n_drained_in, &found->drained_in_room,
                                           sizeof *found->drained_in);
        found->drained_in[found->n_drained_in++] = group;
    } else if (!draining && at < found->n_drained_in) {
        found->drained_in[at] = found->drained_in[--found->n_drained_in];
    }
}

bool tn_memory_node_draining(struct tn_rows *rows, uint32_t node, uint32_t group)
{
    const struct tn_memory_node *found = &tn_memory_of(rows)->nodes[node - 1];
    return group ? find_drained(found, group) < found->n_drained_in : found->draining;
}

void tn_memory_node_rejected(struct tn_rows *rows, uint32_t node, uint64_t more)
{
    struct tn_memory *memory = tn_memory_of(rows);
    if (!node || node > memory->n_nodes)
        return;
    memory->nodes[node - 1].rejected += more;
    memory->wrote = true;
}

/* ---- sessions ---- */

struct tn_memory_session *tn_memory_session(struct tn_rows *rows, uint64_t session)
{
    struct tn_memory *memory = tn_memory_of(rows);
    return session && session <= memory->n_sessions ? &memory->sessions[session - 1] : NULL;
}

bool tn_memory_sessions_get(struct tn_rows *rows, uint64_t session, struct tn_session_record *ret)
{
    const struct tn_memory_session *found = tn_memory_session(rows, session);
    if (found)
        *ret = found->record;
    return found != NULL;
}

bool tn_memory_sessions_lives(struct tn_rows *rows, uint64_t session)
{
    const struct tn_memory_session *found = tn_memory_session(rows, session);
    return found && found->record.lease.state != TN_SESSION_DEAD &&
           found->record.lease.state != TN_SESSION_AWAY;
}

uint64_t tn_memory_sessions_by_nonce(struct tn_rows *rows, const uint8_t *nonce)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    for (size_t i = memory->n_sessions; i > 0; i--)
        if (!memcmp(memory->sessions[i - 1].record.nonce, nonce, TN_NONCE_BYTES))
            return i;
    return 0;
}

uint64_t tn_memory_sessions_of_node(struct tn_rows *rows, uint32_t node)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    for (size_t i = memory->n_sessions; i > 0; i--)
        if (memory->sessions[i - 1].record.node == node &&
            memory->sessions[i - 1].record.lease.state != TN_SESSION_DEAD)
            return i;
    return 0;
}

uint64_t tn_memory_sessions_highest(struct tn_rows *rows)
{
    return tn_memory_of(rows)->n_sessions;
}

uint64_t tn_memory_sessions_add(struct tn_rows *rows, const struct tn_session_record *record)
{
    struct tn_memory *memory = tn_memory_of(rows);
    memory->sessions = tn_memory_grow(memory->sessions, memory->n_sessions, &memory->sessions_room,
                                      sizeof *memory->sessions);
    struct tn_memory_session *added = &memory->sessions[memory->n_sessions++];
    *added = (struct tn_memory_session){.record = *record};
    added->record.id = memory->n_sessions;
    added->record.node_id = memory->nodes[record->node - 1].node_id;
    added->record.address = tn_memory_copy_text(record->address);
    added->record.labels = tn_memory_copy_text(record->labels);
    added->record.end_reason = tn_memory_copy_text("");
    added->record.presence = false;
    memory->wrote = true;
    return memory->n_sessions;
}

void tn_memory_sessions_put(struct tn_rows *rows, uint64_t session, const struct tn_session_row *lease)
{
    tn_memory_session(rows, session)->record.lease = *lease;
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_sessions_moved(struct tn_rows *rows, uint64_t session)
{
    struct tn_memory_session *found = tn_memory_session(rows, session);
    if (!found)
        return;
    found->record.lease.version++;
    tn_memory_of(rows)->wrote = true;
}

void tn_memory_sessions_end(struct tn_rows *rows, uint64_t session, const char *reason)
{
    struct tn_memory_session *found = tn_memory_session(rows, session);
    found->record.lease.state = TN_SESSION_DEAD;
    free((void *)(uintptr_t)found->record.end_reason);
    found->record.end_reason = tn_memory_copy_text(reason);
    tn_memory_groups_member_drop(tn_memory_of(rows), session);
    tn_memory_of(rows)->wrote = true;
}

struct tn_live_session *tn_memory_sessions_live(struct tn_rows *rows, size_t *ret_n)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    struct tn_live_session *live = tn_arena_array(&rows->scratch, memory->n_sessions, sizeof *live);
    *ret_n = 0;
    for (size_t i = 0; i < memory->n_sessions; i++)
        if (memory->sessions[i].record.lease.state != TN_SESSION_DEAD)
            live[(*ret_n)++] = (struct tn_live_session){i + 1, memory->sessions[i].record.lease};
    return live;
}

void tn_memory_sessions_prune(struct tn_rows *rows, size_t keep)
{
    (void)rows; /* numbers are places in an array here, and a test's run is short */
    (void)keep;
}

enum tn_presence tn_memory_sessions_presence(struct tn_rows *rows, uint64_t session)
{
    const struct tn_memory_session *found = tn_memory_session(rows, session);
    return found && found->record.lease.state != TN_SESSION_DEAD ? found->presence : TN_PRESENCE_UNKNOWN;
}
