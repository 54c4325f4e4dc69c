/* "Did you mean": the candidate that differs least from a mistyped word.
 * Distance: insertions, deletions, replacements and swaps of neighbours (optimal string alignment; Damerau
 * 1964). Pure. */
#ifndef TN_CLI_NEAREST_H
#define TN_CLI_NEAREST_H

#include <stddef.h>

struct tn_nearest {
    const char *word; /* borrowed */
    const char *best; /* NULL: nothing near enough */
    size_t distance;
};

/* Only words of at most 32 bytes get suggestions; a third of the length may differ. */
void tn_nearest_init(struct tn_nearest *nearest, const char *word);
void tn_nearest_try(struct tn_nearest *nearest, const char *candidate);

#endif
