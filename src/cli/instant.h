/* Instants for people: RFC 3339 in (any offset), RFC 3339 UTC with milliseconds out. Unix ms inside. Pure. */
#ifndef TN_CLI_INSTANT_H
#define TN_CLI_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

enum { TN_INSTANT_BYTES = 40 };

/* "2026-03-01T02:13:05.250Z", "...T02:13:05+08:00"; the offset is required; digits past the millisecond are
 * dropped. False: not an RFC 3339 instant (years 0000 to 9999; second 60 counts as the next minute's first).
 */
bool tn_instant_parse(const char *text, int64_t *ret_unix_ms);
/* Into `into` (TN_INSTANT_BYTES). Returns `into`. */
const char *tn_instant_print(int64_t unix_ms, char *into);

#endif
