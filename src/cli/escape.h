/* Text from elsewhere (names, addresses, arguments) made safe to show on a terminal.
 *
 * Control characters, bytes that are not UTF-8, and the invisible characters that reorder or hide text
 * (bidirectional overrides, zero-width ones) are shown as \xNN or \u{NNNN}. Pure. */
#ifndef TN_CLI_ESCAPE_H
#define TN_CLI_ESCAPE_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { TN_ESCAPE_SHOWN = 60 }; /* characters of a value that a message shows */

void tn_escape_add(struct tn_text *into, const char *bytes, size_t length);
/* The same, in `arena`. */
const char *tn_escape_text(struct tn_arena *arena, const char *text);
/* The same, cut after TN_ESCAPE_SHOWN characters with "..." in place of the rest. */
const char *tn_escape_short(struct tn_arena *arena, const char *text);
/* Strict: no surrogates, no overlong forms. */
bool tn_escape_is_utf8(const char *bytes, size_t length);
/* Characters in valid text; bytes where it is not valid. For column widths. */
size_t tn_escape_width(const char *text);

#endif
