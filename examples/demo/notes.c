#include "notes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Node ids have no control characters: only these two need care. */
static void escape(const char *text, char *into, size_t room)
{
    size_t n = 0;
    for (; *text && n + 2 < room; text++) {
        if (*text == '"' || *text == '\\')
            into[n++] = '\\';
        into[n++] = *text;
    }
    into[n] = 0;
}

bool notes_open(struct notes *notes, const char *path, const char *node)
{
    escape(node, notes->node, sizeof notes->node);
    notes->fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    return !path || notes->fd >= 0;
}

void notes_close(struct notes *notes)
{
    if (notes->fd >= 0)
        close(notes->fd);
    notes->fd = -1;
}

void notes_put(const struct notes *notes, const char *what, uint32_t shard, uint64_t token, int done)
{
    const int64_t us = notes_boot_us();
    if (notes->fd < 0)
        return;
    /* A full disk must not stop the work: what is missing here, the audit of the results does not need. */
    dprintf(notes->fd,
            "{\"t_ms\":%" PRId64 ".%03d,\"pid\":%d,\"node\":\"%s\",\"shard\":%" PRIu32 ",\"token\":%" PRIu64
            ",\"what\":\"%s\",\"done\":%d}\n",
            us / 1000, (int)(us % 1000), (int)getpid(), notes->node, shard, token, what, done);
}

int64_t notes_boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t notes_boot_ms(void)
{
    return notes_boot_us() / 1000;
}
