#include "agent/line.h"

#include <stdlib.h>
#include <string.h>

enum { first_room = 4096 };

void tn_line_init(struct tn_line_reader *reader)
{
    *reader = (struct tn_line_reader){0};
}

void tn_line_done(struct tn_line_reader *reader)
{
    free(reader->bytes);
    tn_line_init(reader);
}

static void keep(struct tn_line_reader *reader, const char *bytes, size_t n)
{
    size_t room = reader->room ? reader->room : first_room;
    while (room < reader->length + n + 1)
        room *= 2;
    if (room != reader->room) {
        reader->bytes = realloc(reader->bytes, room);
        if (!reader->bytes)
            abort();
        reader->room = room;
    }
    memcpy(reader->bytes + reader->length, bytes, n);
    reader->length += n;
}

static void take(struct tn_line_reader *reader, const char *bytes, size_t n,
                 const struct tn_line_clients *clients)
{
    if (reader->discarding)
        return;
    if (reader->length + n <= TN_LINE_MAX) {
        keep(reader, bytes, n);
        return;
    }
    reader->discarding = true;
    reader->length = 0;
    clients->too_long(clients->context);
}

void tn_line_feed(struct tn_line_reader *reader, const char *bytes, size_t n,
                  const struct tn_line_clients *clients)
{
    while (n) {
        const char *const end = memchr(bytes, '\n', n);
        const size_t part = end ? (size_t)(end - bytes) : n;
        take(reader, bytes, part, clients);
        if (!end)
            return;
        if (!reader->discarding) {
            keep(reader, "", 0);
            reader->bytes[reader->length] = 0;
            clients->line(clients->context, reader->bytes, reader->length);
        }
        reader->length = 0;
        reader->discarding = false;
        bytes += part + 1;
        n -= part + 1;
    }
}
