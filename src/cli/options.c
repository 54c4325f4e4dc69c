#include "cli/options.h"

#include "cli/escape.h"
#include "cli/nearest.h"
#include "cli/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    int argc;
    char **argv;
    int next;
};

static enum tenure_status parse_long(struct tn_options *options, struct input *input,
                                     struct tenure_error *error);
static enum tenure_status parse_letters(struct tn_options *options, struct input *input,
                                        struct tenure_error *error);
static enum tenure_status take(struct tn_options *options, struct tn_option_value *value, const char *text,
                               struct tenure_error *error);

static struct tn_option_value *find(const struct tn_options *options, const char *name, size_t length)
{
    for (size_t i = 0; i < options->n_values; i++) {
        const char *const there = options->values[i].option->name;
        if (strlen(there) == length && memcmp(there, name, length) == 0)
            return &options->values[i];
    }
    return NULL;
}

void tn_options_init(struct tn_options *options, struct tn_arena *arena)
{
    *options = (struct tn_options){.arena = arena};
}

void tn_options_add(struct tn_options *options, const struct tn_option *table)
{
    for (; table && table->name; table++) {
        if (find(options, table->name, strlen(table->name)))
            continue;
        if (options->n_values == options->room) {
            options->room = options->room ? options->room * 2 : 16;
            struct tn_option_value *const more =
                tn_arena_array(options->arena, options->room, sizeof *options->values);
            if (options->n_values)
                memcpy(more, options->values, options->n_values * sizeof *more);
            options->values = more;
        }
        options->values[options->n_values++] = (struct tn_option_value){.option = table};
    }
}

enum tenure_status tn_options_parse(struct tn_options *options, int argc, char **argv, int *ret_rest,
                                    struct tenure_error *error)
{
    struct input input = {.argc = argc, .argv = argv};
    options->arguments = tn_arena_array(options->arena, (size_t)argc + 1, sizeof *options->arguments);
    bool only_arguments = false;
    while (input.next < argc) {
        const char *const word = argv[input.next];
        enum tenure_status status = TENURE_OK;
        if (only_arguments || word[0] != '-' || !word[1]) {
            if (ret_rest)
                break;
            options->arguments[options->n_arguments++] = word;
            input.next++;
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
            input.next++;
        } else if (word[1] == '-') {
            status = parse_long(options, &input, error);
        } else {
            status = parse_letters(options, &input, error);
        }
        if (status != TENURE_OK)
            return status;
    }
    if (ret_rest)
        *ret_rest = input.next;
    return TENURE_OK;
}

static enum tenure_status unknown(const struct tn_options *options, const char *word,
                                  struct tenure_error *error)
{
    struct tn_nearest nearest;
    char *const name = tn_arena_text(options->arena, word + 2);
    name[strcspn(name, "=")] = 0;
    tn_nearest_init(&nearest, name);
    for (size_t i = 0; i < options->n_values; i++)
        tn_nearest_try(&nearest, options->values[i].option->name);
    const char *const shown = tn_escape_short(options->arena, name);
    if (nearest.best)
        return tn_error_set(error, TENURE_BAD_INPUT, "unknown option --%s; did you mean --%s?", shown,
                            nearest.best);
    return tn_error_set(error, TENURE_BAD_INPUT, "unknown option --%s", shown);
}

static enum tenure_status parse_long(struct tn_options *options, struct input *input,
                                     struct tenure_error *error)
{
    const char *const word = input->argv[input->next++];
    const char *const equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    struct tn_option_value *const value = find(options, word + 2, length);
    if (!value)
        return unknown(options, word, error);
    const char *const name = value->option->name;
    if (value->option->kind == TN_OPTION_FLAG) {
        if (equals)
            return tn_error_set(error, TENURE_BAD_INPUT, "--%s takes no value", name);
        value->given = true;
        return TENURE_OK;
    }
    if (!equals && input->next == input->argc)
        return tn_error_set(error, TENURE_BAD_INPUT, "--%s needs a value: --%s %s", name, name,
                            value->option->value);
    return take(options, value, equals ? equals + 1 : input->argv[input->next++], error);
}

static struct tn_option_value *find_letter(const struct tn_options *options, char letter)
{
    for (size_t i = 0; i < options->n_values; i++)
        if (options->values[i].option->letter == letter)
            return &options->values[i];
    return NULL;
}

static enum tenure_status parse_letters(struct tn_options *options, struct input *input,
                                        struct tenure_error *error)
{
    const char *const word = input->argv[input->next++];
    for (const char *at = word + 1; *at; at++) {
        struct tn_option_value *const value = find_letter(options, *at);
        if (!value)
            return tn_error_set(error, TENURE_BAD_INPUT,
                                "unknown option '%s' (an argument that begins with - goes after --)",
                                tn_escape_short(options->arena, word));
        if (value->option->kind == TN_OPTION_FLAG) {
            value->given = true;
            continue;
        }
        if (at[1])
            return take(options, value, at + 1, error);
        if (input->next == input->argc)
            return tn_error_set(error, TENURE_BAD_INPUT, "-%c needs a value: -%c %s", *at, *at,
                                value->option->value);
        return take(options, value, input->argv[input->next++], error);
    }
    return TENURE_OK;
}

/* ---- values ---- */

static enum tenure_status check_count(const struct tn_options *options, struct tn_option_value *value,
                                      struct tenure_error *error)
{
    const struct tn_option *const option = value->option;
    if (tn_value_count(value->text, &value->number) && value->number >= option->smallest &&
        value->number <= option->largest)
        return TENURE_OK;
    return tn_error_set(error, TENURE_BAD_INPUT,
                        "--%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, option->name,
                        tn_escape_short(options->arena, value->text), option->smallest, option->largest);
}

static enum tenure_status check_duration(const struct tn_options *options, struct tn_option_value *value,
                                         struct tenure_error *error)
{
    const struct tn_option *const option = value->option;
    char smallest[TN_VALUE_DURATION_BYTES], largest[TN_VALUE_DURATION_BYTES];
    const char *const shown = tn_escape_short(options->arena, value->text);
    if (!tn_value_duration(value->text, &value->number))
        return tn_error_set(error, TENURE_BAD_INPUT, "--%s: '%s' is not a duration like 500ms, 15s, 2m or 1h",
                            option->name, shown);
    if (value->number >= option->smallest && value->number <= option->largest)
        return TENURE_OK;
    return tn_error_set(error, TENURE_BAD_INPUT, "--%s: %s is not from %s to %s", option->name, shown,
                        tn_value_print_duration(option->smallest, smallest),
                        tn_value_print_duration(option->largest, largest));
}

static enum tenure_status check_choice(const struct tn_options *options, struct tn_option_value *value,
                                       struct tenure_error *error)
{
    const size_t length = strlen(value->text);
    int64_t position = 0;
    for (const char *word = value->option->value; *word; position++) {
        const size_t size = strcspn(word, "|");
        if (size == length && memcmp(word, value->text, size) == 0) {
            value->number = position;
            return TENURE_OK;
        }
        word += size + (word[size] == '|');
    }
    return tn_error_set(error, TENURE_BAD_INPUT, "--%s: '%s' is not one of %s", value->option->name,
                        tn_escape_short(options->arena, value->text), value->option->value);
}

static void add_text(const struct tn_options *options, struct tn_option_value *value, const char *text)
{
    const char **const more = tn_arena_array(options->arena, value->n_texts + 1, sizeof *more);
    for (size_t i = 0; i < value->n_texts; i++)
        more[i] = value->texts[i];
    more[value->n_texts++] = text;
    value->texts = more;
}

static enum tenure_status take(struct tn_options *options, struct tn_option_value *value, const char *text,
                               struct tenure_error *error)
{
    const struct tn_option *const option = value->option;
    if (option->kind == TN_OPTION_MANY)
        add_text(options, value, text);
    else if (value->given) /* which of the two was meant is a guess */
        return tn_error_set(error, TENURE_BAD_INPUT, "--%s is given twice", option->name);
    value->given = true;
    value->text = text;
    switch (option->kind) {
    case TN_OPTION_COUNT: return check_count(options, value, error);
    case TN_OPTION_DURATION: return check_duration(options, value, error);
    case TN_OPTION_HOURS:
        if (tn_value_hours(text, &value->number))
            return TENURE_OK;
        return tn_error_set(error, TENURE_BAD_INPUT, "--%s: '%s' is not like 22:00-06:00 (UTC), or off",
                            option->name, tn_escape_short(options->arena, text));
    case TN_OPTION_CHOICE: return check_choice(options, value, error);
    case TN_OPTION_UNSIGNED:
        if (tn_value_unsigned(text, &value->wide))
            return TENURE_OK;
        return tn_error_set(error, TENURE_BAD_INPUT, "--%s: '%s' is not a whole number from 0 to 2^64 - 1",
                            option->name, tn_escape_short(options->arena, text));
    case TN_OPTION_FLAG:
    case TN_OPTION_MANY:
    case TN_OPTION_TEXT: break;
    }
    return TENURE_OK;
}

/* ---- what verbs ask ---- */

const struct tn_option_value *tn_options_get(const struct tn_options *options, const char *name)
{
    const struct tn_option_value *const value = find(options, name, strlen(name));
    if (!value) {
        fprintf(stderr, "tenure: no table has the option --%s\n", name);
        abort();
    }
    return value;
}

bool tn_options_given(const struct tn_options *options, const char *name)
{
    return tn_options_get(options, name)->given;
}

const char *tn_options_text(const struct tn_options *options, const char *name)
{
    return tn_options_get(options, name)->text;
}

int64_t tn_options_number(const struct tn_options *options, const char *name, int64_t otherwise)
{
    const struct tn_option_value *const value = tn_options_get(options, name);
    return value->given ? value->number : otherwise;
}
