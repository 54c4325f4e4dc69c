/* Columns for people. Cells are escaped when they are added. Confined to its caller. */
#ifndef TN_CLI_TABLE_H
#define TN_CLI_TABLE_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TN_TABLE_COLUMNS = 12 };

struct tn_table {
    const char *const *headings; /* borrowed; one that begins with '>' has its column flush right */
    size_t columns, widths[TN_TABLE_COLUMNS];
    size_t cells;
    struct tn_text text; /* cells, row by row, each with its end byte */
};

/* `headings` ends with NULL. */
void tn_table_init(struct tn_table *table, const char *const *headings);
void tn_table_done(struct tn_table *table);
/* The next cell; the row is full when every heading has one. NULL: "-". */
void tn_table_add(struct tn_table *table, const char *cell);
void tn_table_add_number(struct tn_table *table, uint64_t number);
/* Headings (bold with `colour`), then the rows. */
void tn_table_print(const struct tn_table *table, FILE *file, bool colour);

#endif
