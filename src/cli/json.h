/* JSON on standard output, by jansson. Texts that are not UTF-8 (a damaged store) are escaped, never an
 * error. */
#ifndef TN_CLI_JSON_H
#define TN_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Makes jansson abort when memory is out, so that no field goes missing in silence. Once, at the start. */
void tn_json_init(void);

json_t *tn_json_text(const char *text);          /* NULL and "" as they are; NULL: null */
json_t *tn_json_text_or_null(const char *text);  /* "" is null as well */
json_t *tn_json_number(uint64_t number);         /* below 2^63 */
json_t *tn_json_number_or_null(uint64_t number); /* 0 is null */
json_t *tn_json_milli(uint64_t thousandths);     /* 1500: 1.5; 2000: 2 */
json_t *tn_json_wide(uint64_t number);           /* decimal string: exact everywhere */

/* Prints one document and a line end; takes the value over. */
void tn_json_print(json_t *value);

/* A list that may be too long to hold: elements go out one by one. */
struct tn_json_list {
    bool any;
};
void tn_json_list_begin(struct tn_json_list *list);
void tn_json_list_add(struct tn_json_list *list, json_t *value); /* takes it over */
void tn_json_list_end(struct tn_json_list *list);

#endif
