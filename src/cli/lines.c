#include "cli/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tn_lines_init(struct tn_lines *lines, int fd, char end)
{
    *lines = (struct tn_lines){.fd = fd, .end = end, .bytes = malloc(TN_LINES_MAX + 2)};
    if (!lines->bytes) {
        fprintf(stderr, "tenure: out of memory (asked for %d bytes)\n", TN_LINES_MAX + 2);
        abort();
    }
}

void tn_lines_done(struct tn_lines *lines)
{
    free(lines->bytes);
    lines->bytes = NULL;
}

/* Reads once, behind what is there. */
static enum tenure_status fill(struct tn_lines *lines, struct tenure_error *error)
{
    memmove(lines->bytes, lines->bytes + lines->start, lines->length);
    lines->start = 0;
    fflush(stdout);
    ssize_t got;
    do
        got = read(lines->fd, lines->bytes + lines->length, TN_LINES_MAX + 1 - lines->length);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return tn_error_set(error, TENURE_IO, "standard input cannot be read: %s", strerror(errno));
    lines->eof = got == 0;
    lines->length += (size_t)got;
    return TENURE_OK;
}

/* Hands out `size` bytes; the end byte, where there is one, becomes the terminating 0. */
static void hand_out(struct tn_lines *lines, size_t size, bool ended, struct tn_line *ret_line)
{
    char *const bytes = lines->bytes + lines->start;
    bytes[size] = 0;
    lines->start += size + ended;
    lines->length -= size + ended;
    *ret_line = (struct tn_line){.bytes = bytes, .size = size};
}

/* The record is longer than the buffer: drops it up to and with its end. */
static enum tenure_status skip(struct tn_lines *lines, struct tn_line *ret_line, struct tenure_error *error)
{
    for (;;) {
        const char *const end = memchr(lines->bytes + lines->start, lines->end, lines->length);
        const size_t size = end ? (size_t)(end - (lines->bytes + lines->start)) + 1 : lines->length;
        lines->start += size;
        lines->length -= size;
        if (end || lines->eof)
            break;
        const enum tenure_status status = fill(lines, error);
        if (status != TENURE_OK)
            return status;
    }
    *ret_line = (struct tn_line){.bytes = "", .too_long = true};
    return TENURE_OK;
}

enum tenure_status tn_lines_next(struct tn_lines *lines, struct tn_line *ret_line, struct tenure_error *error)
{
    for (;;) {
        const char *const at = lines->bytes + lines->start;
        const char *const end = memchr(at, lines->end, lines->length);
        if (end) {
            hand_out(lines, (size_t)(end - at), true, ret_line);
            return TENURE_OK;
        }
        if (lines->length > TN_LINES_MAX)
            return skip(lines, ret_line, error);
        if (lines->eof && lines->length == 0)
            return TENURE_CLOSED;
        if (lines->eof) {
            hand_out(lines, lines->length, false, ret_line);
            return TENURE_OK;
        }
        const enum tenure_status status = fill(lines, error);
        if (status != TENURE_OK)
            return status;
    }
}
