/* A store under test, the clock it looks at, and one request at a time.
 *
 * Every clause of store/store.h runs on each backend of the table in world.c. The clock is the test's:
 * nothing here waits. "Elsewhere" is another process as far as the backend can tell them apart: it can die
 * without saying so. */
#ifndef TN_TESTS_CONFORMANCE_WORLD_H
#define TN_TESTS_CONFORMANCE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"

enum { WORLD_SHARDS = 8, WORLD_LEASE_MS = 15000 };

struct world {
    const struct backend *backend;
    const struct clause *clause;
    struct tn_store *store;
    int64_t lease_ms, unix_ms; /* the store's clocks */
    struct tn_settings settings;
    uint32_t group; /* "orders", 8 shards, made at the start */
    struct tn_arena arena;
    struct tn_op op; /* the last request and its reply */
    struct tn_join_group joined;
    struct tn_cursor cursor;
    struct tn_item items[WORLD_SHARDS];
    char directory[64], path[96];
    struct tn_store *elsewhere; /* the other process's handle; NULL none */
    uint64_t session_elsewhere;
    uint8_t next_nonce;
};

struct backend {
    const char *name;
    struct tn_store *(*open)(struct world *world);
    bool files; /* has a file of its own at world->path */
};

struct clause {
    const char *sentence; /* begins with the clause's number */
    void (*run)(struct world *world);
};

/* All clauses on all backends; the exit status. */
int world_run(const struct clause *clauses, size_t n);

/* Each fills world->op, carries it out and returns it. */
struct tn_op *world_exec(struct world *world, struct tn_op op);
struct tn_op *world_ask_join(struct world *world, const char *node, uint8_t nonce, bool replace);
struct tn_op *world_tick(struct world *world, uint64_t session, uint64_t since);
struct tn_op *world_sync(struct world *world, uint64_t session, uint64_t since);
struct tn_op *world_bury(struct world *world, uint64_t victim, enum tn_evidence evidence,
                         int64_t seen_until_ms);
struct tn_op *world_leave(struct world *world, uint64_t session);
/* One item: shard, the token believed current, and the peer. */
struct tn_item *world_verb(struct world *world, enum tn_op_kind verb, uint64_t session, uint32_t shard,
                           uint64_t token, uint64_t peer);
struct tn_item *world_save(struct world *world, uint64_t session, uint32_t shard, uint64_t token,
                           uint64_t seq, const void *data, size_t size);
enum tn_presence world_probe(struct world *world, uint64_t session);

/* With assertions that they work. */
uint64_t world_join(struct world *world, const char *node);
uint64_t world_join_elsewhere(struct world *world, const char *node);
void world_kill_elsewhere(struct world *world);
uint32_t world_node_of(struct world *world, uint64_t session);
void world_plan(struct world *world, uint32_t node); /* every shard to it */
/* Planned, claimed and ready: the token. */
uint64_t world_own(struct world *world, uint64_t session, uint32_t shard);
struct tn_shard_row world_row(struct world *world, uint32_t shard);
uint64_t world_epoch(struct world *world);
size_t world_events(struct world *world, const char *cause); /* how many of that cause there are */
void world_pass(struct world *world, int64_t ms);

#endif
