/* The gate page: what `tenure run` shows its workers, so that a worker in any language can ask "may I work on
 * this shard under this token, now?" from memory, without a round trip.
 *
 * TENURE_GATE names the page; map it read-only and keep the mapping. It is the very memory by which the agent
 * decides for itself, not a copy: a gate that closes is closed here first. The answer is no when the page's
 * heartbeat is too old (the agent died or stands still), when the boot clock has passed the deadline (the
 * lease is about to end), and when the shard's token is another one (0: closed). There is one deadline for
 * all shards, since one session holds them all.
 *
 * A yes is the right to begin a step of work now, not a permission to write later: protected writes carry the
 * token and are fenced (docs/WORKERS.md). Layout, version 1; integers are in the byte order of the machine:
 *
 *   offset  size  field            meaning
 *        0     8  magic            "TNGATE1" and a zero byte; written last when the page is made
 *        8     4  byte_order       0x01020304
 *       12     4  version          1; another one: do not read on
 *       16     4  header_bytes     offset of the slot of shard 0
 *       20     4  slot_bytes       distance of one slot to the next
 *       24     4  shards           number of slots
 *       28     4  (zero)
 *       32     8  stale_after_ns   a heartbeat older than this: every gate is closed
 *       40     8  heartbeat_ns     boot clock (CLOCK_BOOTTIME), when the agent's keeper last ran
 *       48     8  deadline_ns      boot clock; every gate is closed from then on; 0: closed
 *       56     8  (the agent's)
 *   slot: at header_bytes + shard * slot_bytes
 *        0     8  token            the shard is open under this token; 0: closed
 *        8     .  (the agent's)
 *
 * Every 8-byte field is aligned and written in one piece. This header needs nothing but itself: C11 or C++11
 * with GCC's or Clang's __atomic built-ins. */
#ifndef TENURE_GATE_PAGE_H
#define TENURE_GATE_PAGE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TENURE_GATE_MAGIC "TNGATE1"
#define TENURE_GATE_VERSION 1u
#define TENURE_GATE_BYTE_ORDER 0x01020304u

struct tenure_gate_page {
    char magic[8];
    uint32_t byte_order;
    uint32_t version;
    uint32_t header_bytes;
    uint32_t slot_bytes;
    uint32_t shards;
    uint32_t zero;
    int64_t stale_after_ns;
    int64_t heartbeat_ns;
    int64_t deadline_ns;
    int64_t reserved;
};

/* Maps the page of this name (TENURE_GATE). NULL: there is none, or it is not one that this header reads. */
static inline const struct tenure_gate_page *tenure_gate_map(const char *path)
{
    struct stat file;
    const struct tenure_gate_page *page;
    void *memory = MAP_FAILED;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &file) == 0 && (size_t)file.st_size >= sizeof *page)
        memory = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return NULL;
    page = (const struct tenure_gate_page *)memory;
    if (!memcmp(page->magic, TENURE_GATE_MAGIC, sizeof page->magic) &&
        page->byte_order == TENURE_GATE_BYTE_ORDER && page->version == TENURE_GATE_VERSION &&
        page->header_bytes + (uint64_t)page->slot_bytes * page->shards <= (uint64_t)file.st_size)
        return page;
    munmap(memory, (size_t)file.st_size);
    return NULL;
}

/* For how much longer the gate of (shard, token) is sure to be open, in ns, if nothing closes it; 0: it is
 * closed. */
static inline int64_t tenure_gate_left_ns(const struct tenure_gate_page *page, uint32_t shard, uint64_t token)
{
    struct timespec now;
    int64_t now_ns, deadline, stale;
    if (!page || shard >= page->shards || !token)
        return 0;
    const char *slot = (const char *)page + page->header_bytes + (size_t)shard * page->slot_bytes;
    if (__atomic_load_n((const uint64_t *)(const void *)slot, __ATOMIC_ACQUIRE) != token ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    deadline = __atomic_load_n(&page->deadline_ns, __ATOMIC_ACQUIRE);
    stale = __atomic_load_n(&page->heartbeat_ns, __ATOMIC_ACQUIRE) +
            __atomic_load_n(&page->stale_after_ns, __ATOMIC_ACQUIRE);
    if (stale < deadline)
        deadline = stale;
    return now_ns < deadline ? deadline - now_ns : 0;
}

/* May a step of work on the shard begin now? */
static inline int tenure_gate_open(const struct tenure_gate_page *page, uint32_t shard, uint64_t token)
{
    return tenure_gate_left_ns(page, shard, token) > 0;
}

#endif
