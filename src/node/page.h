/* A gate page: the memory in which the gates of one group live, when other processes are to see them.
 *
 * It has the layout of include/tenure/gate_page.h in front, and behind it the group's slots; struct tn_slot
 * begins with what that layout promises. There is no copy to be kept in step: the keeper opens and closes the
 * gates in the page itself. The page is a sealed memory file (memfd_create(2)): it has no name that a killed
 * process could leave behind, others open it read-only by /proc/PID/fd/FD while this process lives, and
 * nobody else can write to it or cut it short.
 *
 * Confined to the keeper thread, but for the gates themselves and tn_page_path. */
#ifndef TN_NODE_PAGE_H
#define TN_NODE_PAGE_H

#include "node/gate.h"

#include <stddef.h>

struct tn_page_head { /* struct tenure_gate_page, as its writer sees it */
    char magic[8];
    uint32_t byte_order, version, header_bytes, slot_bytes, shards, zero;
    _Atomic int64_t stale_after_ns;
    _Atomic int64_t heartbeat_ns;
    struct tn_deadline deadline;
};

struct tn_page {
    struct tn_page_head *head; /* NULL: there is no page */
    struct tn_slot *slots;
    size_t bytes;
    int fd;
};

/* All gates closed, heartbeat now. False when there is no memory for it. */
bool tn_page_open(struct tn_page *page, uint32_t shards, int64_t stale_after_ns);
void tn_page_close(struct tn_page *page);
/* The keeper ran at this time of the boot clock. */
void tn_page_beat(struct tn_page *page, int64_t now_ns, int64_t stale_after_ns);
/* The name under which other processes of this user open it. */
void tn_page_path(const struct tn_page *page, char *into, size_t room);

#endif
