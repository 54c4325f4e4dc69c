/* What differs between a group's stored settings and those asked for. */
#ifndef TN_CLI_DIFFERENCE_H
#define TN_CLI_DIFFERENCE_H

#include "base/arena.h"
#include "core/lease/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tn_difference {
    const char *option;         /* "shards", "lease" */
    const char *stored, *asked; /* as a person would type them */
    bool may_change;
};

/* All of them, in the table's order, in `arena`; *ret_n may be 0. */
const struct tn_difference *tn_difference_list(struct tn_arena *arena, const struct tn_settings *stored,
                                               const struct tn_settings *asked, size_t *ret_n);
/* The first that may not change, NULL when all may. */
const struct tn_difference *tn_difference_fixed(const struct tn_difference *differences, size_t n);
/* Headings "stored" and "asked", or "before" and "after" when `done`. */
void tn_difference_print(const struct tn_difference *differences, size_t n, bool done, FILE *file);
/* One setting's value as text, in `arena`. */
const char *tn_difference_value(struct tn_arena *arena, const struct tn_settings *settings,
                                const struct tn_setting *setting);

#endif
