/* Saves checkpoints for the agent's loop, which must not wait for a store.
 *
 * A few lanes, each a thread with a queue; a shard always takes the same lane, so that its saves are carried
 * out and answered in order, and saves of different shards wait in the store's line together, where they
 * share a transaction (node/courier.h). Answers are collected by the loop when `fd` polls readable.
 * `tn_saver_put` and `tn_saver_take` are the loop's; nothing here blocks it. */
#ifndef TN_AGENT_SAVER_H
#define TN_AGENT_SAVER_H

#include "tenure/tenure.h"

#include <stdbool.h>
#include <stdint.h>

struct tn_saver;

struct tn_save {
    struct tn_save *next;
    uint32_t shard;
    uint64_t token, seq; /* seq asked for; when it is OK, the one stored */
    uint64_t worker;     /* the loop's mark: which process asked */
    bool rewind;
    enum tenure_status status;
    size_t size;
    char data[]; /* not kept after the save */
};

struct tn_saver *tn_saver_open(struct tenure_group *group);
/* Waits for the saves under way (each is bounded); what is still queued is dropped. */
void tn_saver_close(struct tn_saver *saver);
int tn_saver_fd(const struct tn_saver *saver);
/* Queues a copy. */
void tn_saver_put(struct tn_saver *saver, const struct tn_save *save, const void *data);
/* The next answer, the caller's to free; NULL: none now. */
struct tn_save *tn_saver_take(struct tn_saver *saver);

#endif
