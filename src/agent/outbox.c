#include "agent/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tn_outbox_line {
    struct tn_outbox_line *next;
    size_t length;
    char bytes[];
};

void tn_outbox_init(struct tn_outbox *outbox)
{
    *outbox = (struct tn_outbox){.last = &outbox->first};
}

void tn_outbox_clear(struct tn_outbox *outbox)
{
    for (struct tn_outbox_line *line = outbox->first, *next; line; line = next) {
        next = line->next;
        free(line);
    }
    tn_outbox_init(outbox);
}

static struct tn_outbox_line *new_line(const char *text, size_t length)
{
    struct tn_outbox_line *line = malloc(sizeof *line + length + 1);
    if (!line)
        abort();
    memcpy(line->bytes, text, length);
    line->bytes[length] = '\n';
    line->length = length + 1;
    line->next = NULL;
    return line;
}

void tn_outbox_put(struct tn_outbox *outbox, const char *text, size_t length)
{
    struct tn_outbox_line *line = new_line(text, length);
    *outbox->last = line;
    outbox->last = &line->next;
    outbox->bytes += line->length;
}

void tn_outbox_put_first(struct tn_outbox *outbox, const char *text, size_t length)
{
    struct tn_outbox_line *line = new_line(text, length);
    line->next = outbox->first;
    if (!outbox->first)
        outbox->last = &line->next;
    outbox->first = line;
    outbox->bytes += line->length;
}

static void took(struct tn_outbox *outbox, size_t n)
{
    struct tn_outbox_line *line = outbox->first;
    outbox->sent += n;
    outbox->bytes -= n;
    if (outbox->sent < line->length)
        return;
    outbox->first = line->next;
    if (!outbox->first)
        outbox->last = &outbox->first;
    outbox->sent = 0;
    free(line);
}

enum tn_outbox_result tn_outbox_send(struct tn_outbox *outbox, int fd, int64_t now_ms)
{
    while (outbox->first) {
        const struct tn_outbox_line *line = outbox->first;
        const ssize_t n = write(fd, line->bytes + outbox->sent, line->length - outbox->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return TN_OUTBOX_BROKEN;
        if (n < 0) {
            if (!outbox->waits_since_ms)
                outbox->waits_since_ms = now_ms;
            return TN_OUTBOX_FULL_PIPE;
        }
        outbox->waits_since_ms = 0;
        took(outbox, (size_t)n);
    }
    outbox->waits_since_ms = 0;
    return TN_OUTBOX_EMPTY;
}
