#include "cli/table.h"

#include "cli/escape.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void tn_table_init(struct tn_table *table, const char *const *headings)
{
    *table = (struct tn_table){.headings = headings};
    tn_text_init(&table->text);
    for (; headings[table->columns]; table->columns++) {
        assert(table->columns < TN_TABLE_COLUMNS);
        const char *const heading = headings[table->columns];
        table->widths[table->columns] = strlen(heading) - (*heading == '>');
    }
}

void tn_table_done(struct tn_table *table)
{
    tn_text_done(&table->text);
}

void tn_table_add(struct tn_table *table, const char *cell)
{
    const size_t start = table->text.length, column = table->cells++ % table->columns;
    const char *const shown = cell && *cell ? cell : "-";
    tn_escape_add(&table->text, shown, strlen(shown));
    const size_t width = tn_escape_width(table->text.bytes + start);
    if (width > table->widths[column])
        table->widths[column] = width;
    tn_text_add(&table->text, "", 1);
}

void tn_table_add_number(struct tn_table *table, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    tn_table_add(table, digits);
}

static void print_cell(const struct tn_table *table, FILE *file, size_t column, const char *cell)
{
    const bool last = column + 1 == table->columns;
    const int padding = (int)(table->widths[column] - tn_escape_width(cell));
    if (*table->headings[column] == '>')
        fprintf(file, "%*s%s", padding, "", cell);
    else
        fprintf(file, "%s%*s", cell, last ? 0 : padding, "");
    fputs(last ? "\n" : "  ", file);
}

void tn_table_print(const struct tn_table *table, FILE *file, bool colour)
{
    if (colour)
        fputs("\033[1m", file);
    for (size_t column = 0; column < table->columns; column++)
        print_cell(table, file, column, table->headings[column] + (*table->headings[column] == '>'));
    if (colour)
        fputs("\033[0m", file);
    const char *cell = table->text.bytes;
    for (size_t i = 0; i < table->cells; i++, cell += strlen(cell) + 1)
        print_cell(table, file, i % table->columns, cell);
}
