/* The worker's side of the line protocol of `tenure run` (docs/WORKERS.md), in C and without a JSON library.
 *
 * The agent sends one JSON object a line. Numbers and short words are all that a worker must read of it: a
 * field is found by its name at the top level, and what stands between is skipped as JSON has it, strings
 * with their escapes and nested values whole. Confined to one thread. */
#ifndef DEMO_LINES_H
#define DEMO_LINES_H

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_ROOM = 1 << 20 }; /* the agent sends no longer line */

struct lines {
    int fd;
    bool ended;        /* end of input: the agent is gone */
    size_t at, filled; /* bytes[at..filled) is not used up */
    char bytes[LINES_ROOM + 1];
};

/* Waits until something came, at most so long, and reads what is there. */
static inline void lines_read(struct lines *lines, int timeout_ms)
{
    struct pollfd ready = {.fd = lines->fd, .events = POLLIN};
    if (lines->ended || poll(&ready, 1, timeout_ms) <= 0)
        return;
    memmove(lines->bytes, lines->bytes + lines->at, lines->filled - lines->at);
    lines->filled -= lines->at;
    lines->at = 0;
    const ssize_t n = read(lines->fd, lines->bytes + lines->filled, LINES_ROOM - lines->filled);
    if (n > 0)
        lines->filled += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        lines->ended = true; /* also a line without an end: no room was left */
}

/* The next whole line, terminated, valid until the next lines_read; NULL: none has come. */
static inline char *lines_next(struct lines *lines)
{
    char *const line = lines->bytes + lines->at;
    char *const end = memchr(line, '\n', lines->filled - lines->at);
    if (!end)
        return NULL;
    *end = 0;
    lines->at = (size_t)(end + 1 - lines->bytes);
    return line;
}

/* Behind the string that begins at `c`, a quotation mark. */
static inline const char *line_skip_string(const char *c)
{
    for (c++; *c && *c != '"'; c++)
        if (*c == '\\' && c[1])
            c++;
    return *c ? c + 1 : c;
}

/* Behind the value that begins at `c`: at the comma or the bracket that follows it. */
static inline const char *line_skip_value(const char *c)
{
    for (int depth = 0; *c;) {
        if (*c == '"') {
            c = line_skip_string(c);
            continue;
        }
        if (depth == 0 && (*c == ',' || *c == '}'))
            return c;
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
        c++;
    }
    return c;
}

static inline const char *line_skip_space(const char *c)
{
    while (isspace((unsigned char)*c))
        c++;
    return c;
}

/* The first byte of the field's value; NULL: there is no such field. */
static inline const char *line_field(const char *line, const char *name)
{
    const size_t length = strlen(name);
    const char *c = line_skip_space(line);
    while (*c == '{' || *c == ',') {
        const char *const key = line_skip_space(c + 1);
        if (*key != '"')
            return NULL;
        c = line_skip_space(line_skip_string(key));
        if (*c != ':')
            return NULL;
        c = line_skip_space(c + 1);
        if (!strncmp(key + 1, name, length) && key[1 + length] == '"')
            return c;
        c = line_skip_value(c);
    }
    return NULL;
}

/* Is the field this word? */
static inline bool line_says(const char *line, const char *name, const char *word)
{
    const char *const value = line_field(line, name);
    const size_t length = strlen(word);
    return value && *value == '"' && !strncmp(value + 1, word, length) && value[1 + length] == '"';
}

/* The field's value, 0 when there is none or it is not a number from 0 on. */
static inline uint64_t line_number(const char *line, const char *name)
{
    const char *const value = line_field(line, name);
    return value && isdigit((unsigned char)*value) ? strtoull(value, NULL, 10) : 0;
}

#endif
