#include "store/memory/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tn_memory *tn_memory_of(struct tn_rows *rows)
{
    return (struct tn_memory *)rows;
}

void *tn_memory_grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    *room = *room ? *room * 2 : 16;
    void *moved = realloc(array, *room * size);
    if (!moved) {
        fputs("tenure: out of memory\n", stderr);
        abort();
    }
    return moved;
}

char *tn_memory_copy_text(const char *text)
{
    size_t room = 0;
    const size_t size = strlen(text) + 1;
    return memcpy(tn_memory_grow(NULL, 0, &room, (size + 15) / 16), text, size);
}

/* ---- transactions: there is nobody to lock out, and nothing to undo ---- */

static int64_t deadline(struct tn_rows *rows, int64_t limit_ms)
{
    (void)rows;
    return limit_ms;
}

static bool wait(struct tn_rows *rows, int64_t until)
{
    (void)rows;
    (void)until;
    return false;
}

static enum tenure_status begin(struct tn_rows *rows, enum tn_rows_mode mode, int64_t until)
{
    struct tn_memory *memory = tn_memory_of(rows);
    (void)mode;
    (void)until;
    const struct tn_memory_options *options = &memory->options;
    rows->now_ms = options->lease_ms ? options->lease_ms(options->context) : memory->lease_ms;
    rows->unix_ms = options->unix_ms ? options->unix_ms(options->context) : memory->unix_ms;
    rows->history = memory->history;
    memory->wrote = false;
    return TENURE_OK;
}

static enum tenure_status commit(struct tn_rows *rows)
{
    struct tn_memory *memory = tn_memory_of(rows);
    memory->commits += memory->wrote;
    return TENURE_OK;
}

static void rollback(struct tn_rows *rows)
{
    /* rows.h: what is refused has written nothing. Here is where a breach of that rule shows. */
    if (tn_memory_of(rows)->wrote && !rows->store.rehearse)
        abort();
}

static void history_put(struct tn_rows *rows, uint32_t history)
{
    tn_memory_of(rows)->history = history;
    tn_memory_of(rows)->wrote = true;
}

/* ---- the timeline ---- */

static void event_add(struct tn_rows *rows, const struct tn_event_row *event)
{
    struct tn_memory *memory = tn_memory_of(rows);
    memory->events =
        tn_memory_grow(memory->events, memory->n_events, &memory->events_room, sizeof *memory->events);
    const char *node =
        event->node && event->node <= memory->n_nodes ? memory->nodes[event->node - 1].node_id : "";
    memory->events[memory->n_events++].event =
        (struct tn_event){.id = ++memory->next_event,
                          .unix_ms = rows->unix_ms,
                          .group = tn_memory_copy_text(event->group),
                          .shard = event->shard,
                          .node = node, /* nodes are never forgotten here */
                          .session = event->session,
                          .token = event->token,
                          .cause = event->cause};
    memory->wrote = true;
}

/* The room of what is forgotten is closed up when it is half of the array. */
static void forget_events(struct tn_memory *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)memory->events[memory->first_event++].event.group);
    if (memory->first_event * 2 <= memory->n_events)
        return;
    memory->n_events -= memory->first_event;
    memmove(memory->events, memory->events + memory->first_event, memory->n_events * sizeof *memory->events);
    memory->first_event = 0;
}

static size_t events_prune(struct tn_rows *rows, size_t keep, size_t most)
{
    struct tn_memory *memory = tn_memory_of(rows);
    const size_t there = memory->n_events - memory->first_event;
    const size_t surplus = there > keep ? there - keep : 0;
    const size_t n = surplus < most ? surplus : most;
    if (n)
        forget_events(memory, n);
    return n;
}

static bool asked_for(const struct tn_event_query *query, const struct tn_event *event)
{
    return (!query->group || !strcmp(query->group, event->group)) &&
           (query->shard < 0 || query->shard == event->shard) && event->unix_ms >= query->since_unix_ms;
}

static struct tn_event *events(struct tn_rows *rows, const struct tn_event_query *query,
                               struct tn_arena *arena, size_t *ret_n)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    const size_t limit = query->limit ? query->limit : 1000;
    size_t n = 0;
    size_t first = memory->n_events;
    while (first > memory->first_event && n < limit)
        n += asked_for(query, &memory->events[--first].event);
    struct tn_event *found = tn_arena_array(arena, n, sizeof *found);
    *ret_n = 0;
    for (size_t i = first; i < memory->n_events; i++) {
        const struct tn_event *event = &memory->events[i].event;
        if (!asked_for(query, event))
            continue;
        struct tn_event *copy = &found[(*ret_n)++];
        *copy = *event;
        copy->group = tn_arena_text(arena, event->group);
        copy->node = tn_arena_text(arena, event->node);
        copy->cause = tn_arena_text(arena, event->cause);
    }
    return found;
}

static void info(struct tn_rows *rows, struct tn_arena *arena, struct tn_store_info *ret)
{
    const struct tn_memory *memory = tn_memory_of(rows);
    (void)arena;
    ret->location = ret->identity = "memory";
    ret->schema = 1;
    ret->events = memory->n_events - memory->first_event;
    for (size_t i = 0; i < memory->n_nodes; i++)
        ret->stale_rejected += memory->nodes[i].rejected;
}

/* ---- the store ---- */

static bool changed(struct tn_store *store)
{
    struct tn_memory *memory = (struct tn_memory *)store;
    const bool news = memory->commits != memory->commits_seen;
    memory->commits_seen = memory->commits;
    return news;
}

static void free_record(struct tn_session_record *record)
{
    free((void *)(uintptr_t)record->address);
    free((void *)(uintptr_t)record->labels);
    free((void *)(uintptr_t)record->end_reason);
}

static void close_store(struct tn_store *store)
{
    struct tn_memory *memory = (struct tn_memory *)store;
    for (size_t i = memory->first_event; i < memory->n_events; i++)
        free((void *)(uintptr_t)memory->events[i].event.group);
    for (size_t i = 0; i < memory->n_nodes; i++) {
        free(memory->nodes[i].node_id);
        free(memory->nodes[i].drained_in);
    }
    for (size_t i = 0; i < memory->n_sessions; i++)
        free_record(&memory->sessions[i].record);
    for (size_t i = 0; i < memory->n_groups; i++) {
        tn_memory_forget_shards(&memory->groups[i]);
        tn_memory_forget_pauses(&memory->groups[i]);
        free(memory->groups[i].members);
        free((void *)(uintptr_t)memory->groups[i].row.name);
    }
    free(memory->events);
    free(memory->nodes);
    free(memory->sessions);
    free(memory->groups);
    tn_rows_done(&memory->rows);
    free(memory);
}

static const struct tn_store_type store_type = {TN_ROWS_STORE_TYPE, .name = "memory", .changed = changed,
                                                .close = close_store};

static const struct tn_rows_type rows_type = {
    .deadline = deadline,
    .wait = wait,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .history_put = history_put,
    .node_find = tn_memory_node_find,
    .node_add = tn_memory_node_add,
    .node_drain = tn_memory_node_drain,
    .node_draining = tn_memory_node_draining,
    .node_rejected = tn_memory_node_rejected,
    .session_get = tn_memory_sessions_get,
    .session_lives = tn_memory_sessions_lives,
    .session_by_nonce = tn_memory_sessions_by_nonce,
    .session_of_node = tn_memory_sessions_of_node,
    .session_highest = tn_memory_sessions_highest,
    .session_add = tn_memory_sessions_add,
    .session_put = tn_memory_sessions_put,
    .session_moved = tn_memory_sessions_moved,
    .session_end = tn_memory_sessions_end,
    .sessions_live = tn_memory_sessions_live,
    .sessions_prune = tn_memory_sessions_prune,
    .presence = tn_memory_sessions_presence,
    .group_get = tn_memory_groups_get,
    .group_find = tn_memory_groups_find,
    .groups = tn_memory_groups_all,
    .group_add = tn_memory_groups_add,
    .group_put = tn_memory_groups_put,
    .group_drop = tn_memory_groups_drop,
    .settings_get = tn_memory_groups_settings_get,
    .settings_put = tn_memory_groups_settings_put,
    .member_add = tn_memory_groups_member_add,
    .facts = tn_memory_groups_facts,
    .groups_of = tn_memory_groups_of,
    .members = tn_memory_groups_members,
    .floor_get = tn_memory_floor_get,
    .floor_put = tn_memory_floor_put,
    .shards_add = tn_memory_shards_add,
    .shards_drop = tn_memory_shards_drop,
    .shard_get = tn_memory_shards_get,
    .shard_put = tn_memory_shards_put,
    .shards_moving = tn_memory_shards_moving,
    .shards_starting = tn_memory_shards_starting,
    .pause_add = tn_memory_pause_add,
    .pause_drop = tn_memory_pause_drop,
    .pauses = tn_memory_pauses,
    .shards_since = tn_memory_shards_since,
    .checkpoint_get = tn_memory_shards_checkpoint_get,
    .checkpoint_put = tn_memory_shards_checkpoint_put,
    .event_add = event_add,
    .events_prune = events_prune,
    .events = events,
    .info = info,
};

struct tn_store *tn_memory_open(const struct tn_memory_options *options)
{
    size_t room = 0;
    struct tn_memory *memory = tn_memory_grow(NULL, 0, &room, (sizeof *memory + 15) / 16);
    *memory = (struct tn_memory){.options = options ? *options : (struct tn_memory_options){0}};
    tn_rows_init(&memory->rows, &store_type, &rows_type);
    if (memory->options.events_kept)
        memory->rows.events_kept = memory->options.events_kept;
    return &memory->rows.store;
}

void tn_memory_set_clock(struct tn_store *store, int64_t lease_ms, int64_t unix_ms)
{
    struct tn_memory *memory = (struct tn_memory *)store;
    memory->lease_ms = lease_ms;
    memory->unix_ms = unix_ms;
}

void tn_memory_set_presence(struct tn_store *store, uint64_t session, enum tn_presence presence)
{
    struct tn_memory_session *found = tn_memory_session((struct tn_rows *)store, session);
    if (!found)
        return;
    found->presence = presence;
    found->record.presence = presence != TN_PRESENCE_UNKNOWN;
}
