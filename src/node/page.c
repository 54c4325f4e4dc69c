#include "node/page.h"

#include "sys/clock.h"
#include "tenure/gate_page.h"

#include <assert.h>
#include <stdio.h>

#define SAME_PLACE(field)                                                                                    \
    static_assert(offsetof(struct tn_page_head, field) == offsetof(struct tenure_gate_page, field), #field)
SAME_PLACE(byte_order);
SAME_PLACE(header_bytes);
SAME_PLACE(shards);
SAME_PLACE(stale_after_ns);
SAME_PLACE(heartbeat_ns);
static_assert(offsetof(struct tn_page_head, deadline.exact_ns) ==
                  offsetof(struct tenure_gate_page, deadline_ns),
              "deadline_ns");
static_assert(sizeof(struct tn_page_head) == sizeof(struct tenure_gate_page), "size of the head");
static_assert(offsetof(struct tn_slot, token) == 0 && sizeof(struct tn_slot) % 8 == 0, "the slot");

bool tn_page_open(struct tn_page *page, uint32_t shards, int64_t stale_after_ns)
{
    void *memory;
    *page = (struct tn_page){.fd = memfd_create("tenure-gate", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    page->bytes = sizeof *page->head + shards * sizeof *page->slots;
    /* allocated now: a page that could not be backed later would be a SIGBUS in the keeper */
    if (page->fd < 0 || posix_fallocate(page->fd, 0, (off_t)page->bytes) != 0)
        goto failed;
    memory = mmap(NULL, page->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, page->fd, 0);
    if (memory == MAP_FAILED)
        goto failed;
    /* an old kernel knows no F_SEAL_FUTURE_WRITE; the page works without it */
    if (fcntl(page->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
        fcntl(page->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    page->head = memory;
    page->slots = (struct tn_slot *)(page->head + 1);
    page->head->byte_order = TENURE_GATE_BYTE_ORDER;
    page->head->version = TENURE_GATE_VERSION;
    page->head->header_bytes = sizeof *page->head;
    page->head->slot_bytes = sizeof *page->slots;
    page->head->shards = shards;
    tn_page_beat(page, tn_clock_boot_ns(), stale_after_ns);
    memcpy(page->head->magic, TENURE_GATE_MAGIC, sizeof page->head->magic);
    return true;
failed:
    if (page->fd >= 0)
        close(page->fd);
    return false;
}

void tn_page_close(struct tn_page *page)
{
    if (!page->head)
        return;
    munmap(page->head, page->bytes);
    close(page->fd);
    page->head = NULL;
}

void tn_page_beat(struct tn_page *page, int64_t now_ns, int64_t stale_after_ns)
{
    atomic_store_explicit(&page->head->stale_after_ns, stale_after_ns, memory_order_relaxed);
    atomic_store_explicit(&page->head->heartbeat_ns, now_ns, memory_order_release);
}

void tn_page_path(const struct tn_page *page, char *into, size_t room)
{
    snprintf(into, room, "/proc/%ld/fd/%d", (long)getpid(), page->fd);
}
