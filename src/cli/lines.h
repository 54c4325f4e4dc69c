/* Records from a descriptor: lines, or pieces ended by another byte. Binary-safe.
 *
 * Before it waits for more input it flushes standard output, so that a program that feeds requests one by one
 * sees each answer, while a file of a million lines is answered in large writes. Confined to its caller. */
#ifndef TN_CLI_LINES_H
#define TN_CLI_LINES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TN_LINES_MAX = 1 << 20 }; /* bytes of a record */

struct tn_lines {
    int fd;
    char end;
    char *bytes; /* owned; TN_LINES_MAX + 1 */
    size_t start, length;
    bool eof;
};

struct tn_line {
    const char *bytes; /* valid until the next call; one byte after them is writable and is 0 */
    size_t size;
    bool too_long; /* more than TN_LINES_MAX: the record was skipped, bytes is empty */
};

void tn_lines_init(struct tn_lines *lines, int fd, char end);
void tn_lines_done(struct tn_lines *lines);
/* OK, CLOSED at the end, IO. The last record needs no end byte. */
enum tenure_status tn_lines_next(struct tn_lines *lines, struct tn_line *ret_line,
                                 struct tenure_error *error);

#endif
