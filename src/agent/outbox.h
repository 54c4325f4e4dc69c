/* Lines on their way to a worker: a queue in front of a descriptor that may be slow or stuck.
 *
 * Never blocks. Remembers since when the other side has taken nothing, so that the owner can call it stuck;
 * the bound on its size is the owner's too (worker.h states the rule). Confined. */
#ifndef TN_AGENT_OUTBOX_H
#define TN_AGENT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_outbox_line;

struct tn_outbox {
    struct tn_outbox_line *first, **last;
    size_t sent;            /* bytes of the first line that are gone */
    size_t bytes;           /* queued, not gone */
    int64_t waits_since_ms; /* boot clock: queued bytes and none taken since then; 0: nothing waits */
};

enum tn_outbox_result { TN_OUTBOX_EMPTY, TN_OUTBOX_FULL_PIPE, TN_OUTBOX_BROKEN };

void tn_outbox_init(struct tn_outbox *outbox);
/* Drops what is queued. */
void tn_outbox_clear(struct tn_outbox *outbox);
/* Queues a line (copied; the newline is added). */
void tn_outbox_put(struct tn_outbox *outbox, const char *line, size_t length);
/* The same in front of all others; only before anything was sent since the last clear. */
void tn_outbox_put_first(struct tn_outbox *outbox, const char *line, size_t length);
/* Writes what the descriptor (non-blocking) takes. */
enum tn_outbox_result tn_outbox_send(struct tn_outbox *outbox, int fd, int64_t now_ms);

#endif
