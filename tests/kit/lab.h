/* A laboratory in virtual time: real keepers, the memory store, and an application that answers as a good
 * worker does.
 *
 * Everything that happens is in one queue ordered by time; the same seed gives the same run. After each step
 * two laws are judged: no shard has two open gates at one instant, and each keeper's own laws hold
 * (tn_keeper_check). A broken law stops the run and fails the test. Times are ms since the lab was opened. */
#ifndef TN_TESTS_KIT_LAB_H
#define TN_TESTS_KIT_LAB_H

#include "base/text.h"
#include "core/keeper/keeper.h"
#include "store/store.h"

enum { TN_LAB_NODES = 64 };

struct tn_lab_node {
    char id[32];
    struct tn_keeper keeper;
    bool used, running, paused; /* running: neither killed nor stopped */
    bool joined;
    bool cut;        /* the store cannot be reached from this node */
    uint64_t *gate;  /* one a shard: token of the open gate */
    uint64_t *token; /* one a shard: token last assigned */
    int64_t deadline_ms;
    uint64_t lost, assigned, drained;
    enum tenure_status failed;  /* of the last join that was refused */
    enum tenure_status stopped; /* status of the STOPPED notice */
    uint64_t wake;              /* the wake-up that counts */
    enum tn_op_kind lose_kind;  /* replies to lose; lose_count times */
    int lose_count;
    uint64_t calls[TN_OP_COUNT];
};

struct tn_lab {
    struct tn_store *store;
    struct tn_settings settings;
    const char *group;
    uint32_t group_number; /* in the store */
    int64_t now_ms;
    struct tn_lab_node nodes[TN_LAB_NODES];
    bool store_down;
    bool never_stops; /* negative control: gates do not close and deadlines do not pass */
    int64_t latency_ms, drain_ms, ready_ms;
    struct tn_rng rng;
    struct tn_text trace; /* one line an event, in an operator's words */
    bool quiet_shards;    /* leave shard by shard lines out of the trace */
    uint32_t most_in_handoff;
    char broken[256]; /* the law that was broken; "" none */
    struct tn_lab_event *events;
    size_t n_events, room;
    uint64_t order;
};

void tn_lab_open(struct tn_lab *lab, uint64_t seed, const struct tn_settings *settings);
void tn_lab_close(struct tn_lab *lab);

struct tn_lab_node *tn_lab_start(struct tn_lab *lab, const char *id);
struct tn_lab_node *tn_lab_node(struct tn_lab *lab, const char *id); /* the one started last with this id */
void tn_lab_kill(struct tn_lab *lab, const char *id);
void tn_lab_pause(struct tn_lab *lab, const char *id);
void tn_lab_resume(struct tn_lab *lab, const char *id);
void tn_lab_stop(struct tn_lab *lab, const char *id, int64_t limit_ms);
/* The application's word, as an event of the keeper. */
void tn_lab_tell(struct tn_lab *lab, const char *id, enum tn_keeper_event_kind kind, uint32_t shard,
                 uint64_t token);

void tn_lab_run(struct tn_lab *lab, int64_t ms);
/* Runs until `condition` holds; the time it took, or -1 when limit_ms passed first. */
int64_t tn_lab_until(struct tn_lab *lab, bool (*condition)(struct tn_lab *lab, const void *argument),
                     const void *argument, int64_t limit_ms);

/* Conditions and questions. */
bool tn_lab_all_owned(struct tn_lab *lab,
                      const void *unused); /* every shard OWNED in the store, by a node whose gate is open */
bool tn_lab_balanced(struct tn_lab *lab,
                     const void *unused); /* and counts differ by at most one, nothing in handoff */
uint32_t tn_lab_owned(struct tn_lab *lab, const char *id); /* rows of the store owned by the node's session */
struct tn_shard_row tn_lab_row(struct tn_lab *lab, uint32_t shard);
int64_t tn_lab_lease_until(struct tn_lab *lab, const char *id); /* of the node's session, in the store */
uint32_t tn_lab_unowned(struct tn_lab *lab);                    /* rows whose owner is nobody or dead */
/* Looks at the store after an operation: counts handoffs, and judges the bound on them. */
void tn_lab_judge_store(struct tn_lab *lab);
__attribute__((format(printf, 2, 3))) void tn_lab_broke(struct tn_lab *lab, const char *format, ...);

#endif
