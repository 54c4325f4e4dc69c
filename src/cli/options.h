/* The option parser: tables of options in, values and arguments out.
 *
 * Understands `--name value`, `--name=value`, `-x value`, `-x`, and `--` (arguments only from here on). No
 * abbreviations: a script that used one would break when an option is added. An unknown option is named
 * together with the nearest one there is. A value is checked when it is parsed, so that a verb only ever sees
 * good ones. Memory: the arena's. */
#ifndef TN_CLI_OPTIONS_H
#define TN_CLI_OPTIONS_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tn_option_kind {
    TN_OPTION_FLAG,     /* no value */
    TN_OPTION_TEXT,     /* any */
    TN_OPTION_MANY,     /* any, as often as wanted; the values are in `texts` */
    TN_OPTION_COUNT,    /* a whole number from smallest to largest */
    TN_OPTION_UNSIGNED, /* 0 to 2^64 - 1 */
    TN_OPTION_DURATION, /* ms, from smallest to largest */
    TN_OPTION_HOURS,    /* "22:00-06:00" or "off"; the number is a setting of kind HOURS */
    TN_OPTION_CHOICE    /* one of the words of `value`, separated by '|'; the number is its position */
};

struct tn_option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* 0: none */
    enum tn_option_kind kind;
    const char *value;    /* what help calls the value; NULL for flags */
    const char *sentence; /* for help */
    int64_t smallest, largest;
};

struct tn_option_value {
    const struct tn_option *option;
    bool given;
    const char *text; /* as typed */
    int64_t number;
    uint64_t wide;      /* UNSIGNED */
    const char **texts; /* MANY */
    size_t n_texts;
};

struct tn_options {
    struct tn_arena *arena; /* borrowed */
    struct tn_option_value *values;
    size_t n_values, room;
    const char **arguments;
    size_t n_arguments;
};

void tn_options_init(struct tn_options *options, struct tn_arena *arena);
/* Adds a table (which must stay). An option that is there already is left as it is: the earlier table wins.
 */
void tn_options_add(struct tn_options *options, const struct tn_option *table);
/* Parses argv[0 .. argc-1]. With `ret_rest` not NULL it stops at the first argument and sets *ret_rest to its
 * index. BAD_INPUT with a sentence. */
enum tenure_status tn_options_parse(struct tn_options *options, int argc, char **argv, int *ret_rest,
                                    struct tenure_error *error);

/* The option must be in a table that was added: anything else is a fault of this program, and aborts. */
const struct tn_option_value *tn_options_get(const struct tn_options *options, const char *name);
bool tn_options_given(const struct tn_options *options, const char *name);
/* NULL / `otherwise` when it was not given. */
const char *tn_options_text(const struct tn_options *options, const char *name);
int64_t tn_options_number(const struct tn_options *options, const char *name, int64_t otherwise);

#endif
