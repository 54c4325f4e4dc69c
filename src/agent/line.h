/* Lines out of a stream of bytes, with a bound: what a worker prints is not trusted.
 *
 * Bytes go in as they come, lines come out whole, without their newline. A line longer than TN_LINE_MAX is
 * discarded up to its newline and reported once. Memory: as long as the longest line so far, at most
 * TN_LINE_MAX. Confined; pure. */
#ifndef TN_AGENT_LINE_H
#define TN_AGENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum { TN_LINE_MAX = 1 << 20 };

struct tn_line_reader {
    char *bytes; /* owned; the line under way */
    size_t length, room;
    bool discarding; /* of a line that is too long */
};

struct tn_line_clients {
    void *context;
    /* Terminated, valid during the call. It may contain NUL. */
    void (*line)(void *context, const char *line, size_t length);
    void (*too_long)(void *context);
};

void tn_line_init(struct tn_line_reader *reader);
void tn_line_done(struct tn_line_reader *reader);
/* Calls `clients` for each line that the bytes complete. */
void tn_line_feed(struct tn_line_reader *reader, const char *bytes, size_t n,
                  const struct tn_line_clients *clients);

#endif
