/* Values as people type them: whole numbers and durations. Pure; any thread. */
#ifndef TN_CLI_VALUE_H
#define TN_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TN_VALUE_DURATION_BYTES = 32 };

/* Decimal digits with an optional minus sign. A number beyond 64 bits becomes the nearest one, so that a
 * range check names it as out of range, which it is. False: not a whole number; *ret untouched. */
bool tn_value_count(const char *text, int64_t *ret);
/* Decimal digits only; false also when it does not fit. */
bool tn_value_unsigned(const char *text, uint64_t *ret);
/* "500ms", "15s", "1.5s", "2m", "1h", "7d", and "0"; a whole number of milliseconds. False: not one, or above
 * a hundred years. */
bool tn_value_duration(const char *text, int64_t *ret_ms);
/* Into `into` (TN_VALUE_DURATION_BYTES), with the largest unit that divides it: "15s", "1500ms". Returns
 * `into`. */
const char *tn_value_print_duration(int64_t ms, char *into);
/* "22:00-06:00" or "off", as the value of a setting of kind HOURS (core/lease/settings.h); and back. The two
 * times differ. */
bool tn_value_hours(const char *text, int64_t *ret);
const char *tn_value_print_hours(int64_t hours, char *into);

#endif
