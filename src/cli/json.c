#include "cli/json.h"

#include "base/text.h"
#include "cli/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 6 }; /* of a ratio */

static void *get_memory(size_t size)
{
    void *const memory = malloc(size ? size : 1);
    if (!memory) {
        fprintf(stderr, "tenure: out of memory (asked for %zu bytes)\n", size);
        abort();
    }
    return memory;
}

void tn_json_init(void)
{
    json_set_alloc_funcs(get_memory, free);
}

json_t *tn_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *const plain = json_string(text);
    if (plain)
        return plain;
    struct tn_text escaped;
    tn_text_init(&escaped);
    tn_escape_add(&escaped, text, strlen(text));
    json_t *const value = json_string(escaped.bytes);
    tn_text_done(&escaped);
    return value;
}

json_t *tn_json_text_or_null(const char *text)
{
    return tn_json_text(text && *text ? text : NULL);
}

json_t *tn_json_number(uint64_t number)
{
    return json_integer((json_int_t)number);
}

json_t *tn_json_number_or_null(uint64_t number)
{
    return number ? tn_json_number(number) : json_null();
}

json_t *tn_json_milli(uint64_t thousandths)
{
    return thousandths % 1000 == 0 ? tn_json_number(thousandths / 1000)
                                   : json_real((double)thousandths / 1000);
}

json_t *tn_json_wide(uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return json_string(digits);
}

static void dump(json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));
    json_decref(value);
}

void tn_json_print(json_t *value)
{
    dump(value);
    putchar('\n');
}

void tn_json_list_begin(struct tn_json_list *list)
{
    list->any = false;
    putchar('[');
}

void tn_json_list_add(struct tn_json_list *list, json_t *value)
{
    if (list->any)
        fputs(",\n", stdout);
    list->any = true;
    dump(value);
}

void tn_json_list_end(struct tn_json_list *list)
{
    list->any = false;
    puts("]");
}
