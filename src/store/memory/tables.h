/* The memory store's arrays; between this folder's own files. */
#ifndef TN_STORE_MEMORY_TABLES_H
#define TN_STORE_MEMORY_TABLES_H

#include "store/memory/memory.h"
#include "store/rows/rows.h"

struct tn_memory_node {
    char *node_id; /* owned */
    bool draining;
    uint32_t *drained_in; /* owned: groups in which it alone is drained */
    size_t n_drained_in, drained_in_room;
    uint64_t rejected;
};

struct tn_memory_session {
    struct tn_session_record record; /* its texts are owned; number = index + 1 */
    enum tn_presence presence;
};

struct tn_memory_shard {
    struct tn_shard_row row;
    uint64_t epoch;
    struct tn_checkpoint checkpoint; /* data owned */
};

struct tn_memory_group {
    struct tn_group_row row; /* its name is owned; number = index + 1 */
    bool dropped;
    struct tn_settings settings;
    struct tn_memory_shard *shards; /* owned, row.shards of them once any was added */
    uint64_t rows_epoch;            /* of the newest row */
    struct tn_pause *pauses;        /* owned, texts too; oldest first */
    size_t n_pauses, pauses_room;
    uint64_t *members; /* owned; live sessions, ascending */
    size_t n_members, members_room;
};

struct tn_memory_event {
    struct tn_event event; /* texts owned */
};

struct tn_memory {
    struct tn_rows rows; /* first */
    struct tn_memory_options options;
    int64_t lease_ms, unix_ms;
    uint32_t history;
    uint64_t token_floor;
    bool wrote; /* in the transaction under way */
    uint64_t commits, commits_seen;
    struct tn_memory_node *nodes;
    size_t n_nodes, nodes_room;
    struct tn_memory_session *sessions;
    size_t n_sessions, sessions_room;
    struct tn_memory_group *groups;
    size_t n_groups, groups_room;
    struct tn_memory_event *events; /* oldest first, from first_event on */
    size_t first_event, n_events, events_room;
    uint64_t next_event;
};

struct tn_memory *tn_memory_of(struct tn_rows *rows);
/* Room for one more element of `size` bytes behind `n`; the array may move. Aborts when memory is out. */
void *tn_memory_grow(void *array, size_t n, size_t *room, size_t size);
char *tn_memory_copy_text(const char *text);
/* NULL when there is no such number. */
struct tn_memory_session *tn_memory_session(struct tn_rows *rows, uint64_t session);
struct tn_memory_group *tn_memory_group(struct tn_rows *rows, uint32_t group);
/* Frees the rows and their checkpoints. */
void tn_memory_forget_shards(struct tn_memory_group *group);

/* The row functions (store/rows/rows.h), by file. sessions.c: nodes and sessions */
uint32_t tn_memory_node_find(struct tn_rows *rows, const char *node_id);
uint32_t tn_memory_node_add(struct tn_rows *rows, const char *node_id);
void tn_memory_node_drain(struct tn_rows *rows, uint32_t node, uint32_t group, bool draining);
bool tn_memory_node_draining(struct tn_rows *rows, uint32_t node, uint32_t group);
void tn_memory_node_rejected(struct tn_rows *rows, uint32_t node, uint64_t more);
bool tn_memory_sessions_lives(struct tn_rows *rows, uint64_t session);
bool tn_memory_sessions_get(struct tn_rows *rows, uint64_t session, struct tn_session_record *ret);
uint64_t tn_memory_sessions_by_nonce(struct tn_rows *rows, const uint8_t *nonce);
uint64_t tn_memory_sessions_of_node(struct tn_rows *rows, uint32_t node);
uint64_t tn_memory_sessions_highest(struct tn_rows *rows);
uint64_t tn_memory_sessions_add(struct tn_rows *rows, const struct tn_session_record *record);
void tn_memory_sessions_put(struct tn_rows *rows, uint64_t session, const struct tn_session_row *lease);
void tn_memory_sessions_moved(struct tn_rows *rows, uint64_t session);
void tn_memory_sessions_end(struct tn_rows *rows, uint64_t session, const char *reason);
struct tn_live_session *tn_memory_sessions_live(struct tn_rows *rows, size_t *ret_n);
void tn_memory_sessions_prune(struct tn_rows *rows, size_t keep);
enum tn_presence tn_memory_sessions_presence(struct tn_rows *rows, uint64_t session);
/* groups.c: groups and members */
bool tn_memory_groups_get(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret);
bool tn_memory_groups_find(struct tn_rows *rows, const char *name, struct tn_group_row *ret);
struct tn_group_row *tn_memory_groups_all(struct tn_rows *rows, size_t *ret_n);
uint32_t tn_memory_groups_add(struct tn_rows *rows, const struct tn_group_row *row,
                              const struct tn_settings *settings);
void tn_memory_groups_put(struct tn_rows *rows, const struct tn_group_row *row);
void tn_memory_groups_drop(struct tn_rows *rows, uint32_t group);
void tn_memory_groups_settings_get(struct tn_rows *rows, uint32_t group, struct tn_settings *ret);
void tn_memory_groups_settings_put(struct tn_rows *rows, uint32_t group, const struct tn_settings *settings);
void tn_memory_groups_member_add(struct tn_rows *rows, uint32_t group, uint64_t session);
void tn_memory_groups_member_drop(struct tn_memory *memory, uint64_t session); /* from all */
void tn_memory_groups_facts(struct tn_rows *rows, uint32_t group, uint64_t session,
                            struct tn_session_facts *ret);
uint32_t *tn_memory_groups_of(struct tn_rows *rows, uint64_t session, size_t *ret_n);
struct tn_member *tn_memory_groups_members(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                           size_t *ret_n);
/* pauses.c */
void tn_memory_forget_pauses(struct tn_memory_group *group);
void tn_memory_pause_add(struct tn_rows *rows, uint32_t group, const struct tn_pause *pause);
uint32_t tn_memory_pause_drop(struct tn_rows *rows, uint32_t group, const char *reason);
struct tn_pause *tn_memory_pauses(struct tn_rows *rows, uint32_t group, struct tn_arena *arena,
                                  size_t *ret_n);
/* shards.c: shards and checkpoints */
void tn_memory_shards_add(struct tn_rows *rows, uint32_t group, uint32_t from, uint32_t n, uint64_t epoch,
                          uint64_t token);
uint64_t tn_memory_floor_get(struct tn_rows *rows);
void tn_memory_floor_put(struct tn_rows *rows, uint64_t token);
uint32_t tn_memory_shards_drop(struct tn_rows *rows, uint32_t group, uint32_t at_most);
bool tn_memory_shards_get(struct tn_rows *rows, uint32_t group, uint32_t shard, struct tn_shard_row *ret);
void tn_memory_shards_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                          const struct tn_shard_row *row, uint64_t epoch);
uint32_t tn_memory_shards_moving(struct tn_rows *rows, uint32_t group);
uint32_t tn_memory_shards_starting(struct tn_rows *rows, uint32_t group);
struct tn_change *tn_memory_shards_since(struct tn_rows *rows, uint32_t group, uint64_t since,
                                         struct tn_arena *arena, size_t *ret_n);
void tn_memory_shards_checkpoint_get(struct tn_rows *rows, uint32_t group, uint32_t shard,
                                     struct tn_arena *arena, struct tn_checkpoint *ret);
void tn_memory_shards_checkpoint_put(struct tn_rows *rows, uint32_t group, uint32_t shard,
                                     const struct tn_checkpoint *checkpoint);

#endif
