#include "cli/help.h"

#include "cli/options.h"

#include <string.h>

enum { VERB_COLUMN = 30, OPTION_COLUMN = 34 };

/* Spaces from the end of `text`, which is `length` long, to the column; at least one. */
static int gap(size_t length, int column)
{
    return (int)length < column ? column - (int)length : 1;
}

static void print_bold(FILE *file, const char *text)
{
    fprintf(file, tn_cli_colour(file) ? "\033[1m%s\033[0m\n" : "%s\n", text);
}

void tn_help_verbs(FILE *file, const char *family)
{
    if (!family) {
        fputs("tenure: who owns which shard right now\n\n", file);
        fputs("usage: tenure [--store URL] VERB [OPTION...] [ARGUMENT...]\n\n", file);
    }
    print_bold(file, "verbs");
    const size_t length = family ? strlen(family) : 0;
    const struct tn_verb *verb;
    for (size_t i = 0; (verb = tn_verb_get(i)); i++)
        if (!family || (strncmp(verb->name, family, length) == 0 && verb->name[length] == ' '))
            fprintf(file, "  %s %s%*s%s\n", verb->name, verb->arguments,
                    gap(strlen(verb->name) + 1 + strlen(verb->arguments), VERB_COLUMN), "", verb->summary);
    if (family)
        return;
    fputs("\n`tenure help VERB` tells more. `tenure --version` prints the version.\n\n", file);
    print_bold(file, "exit status");
    fputs("  0 ok   1 the answer is no   2 bad input   3 store unreachable, unreadable or corrupt\n"
          "  4 not found, in use, or in conflict with what is there   5 refused, stale   70 internal fault\n",
          file);
}

static void print_option(FILE *file, const struct tn_option *option)
{
    char left[96];
    snprintf(left, sizeof left, "--%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    if (option->letter)
        fprintf(file, "  -%c, ", option->letter);
    else
        fputs("      ", file);
    fprintf(file, "%s%*s%s\n", left, gap(strlen(left), OPTION_COLUMN), "", option->sentence);
}

void tn_help_verb(FILE *file, const struct tn_verb *verb)
{
    struct tn_arena arena;
    struct tn_options options;
    tn_arena_init(&arena);
    tn_options_init(&options, &arena);
    tn_verb_options(verb, &options);
    fprintf(file, "usage: tenure %s [OPTION...]%s%s\n\n%s\n", verb->name, *verb->arguments ? " " : "",
            verb->arguments, verb->summary);
    if (verb->details)
        fprintf(file, "\n%s\n", verb->details);
    fputc('\n', file);
    print_bold(file, "options");
    for (size_t i = 0; i < options.n_values; i++)
        print_option(file, options.values[i].option);
    tn_arena_done(&arena);
}
