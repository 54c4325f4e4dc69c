/* The command line: global options, the verb, its options; then errors as sentences and the exit status. */
#include "cli/escape.h"
#include "cli/help.h"
#include "cli/json.h"
#include "cli/nearest.h"
#include "cli/verb.h"
#include "tenure/tenure.h"

#include <errno.h>
#include <string.h>

static const struct tn_option global_options[] = {
    {"help", 'h', TN_OPTION_FLAG, NULL, "list the verbs", 0, 0},
    {"version", 'V', TN_OPTION_FLAG, NULL, "print the version", 0, 0},
    {"store", 0, TN_OPTION_TEXT, "URL", "the store", 0, 0},
    {0},
};

static enum tenure_status run(struct tn_cli *cli, int argc, char **argv);
static enum tenure_status run_verb(struct tn_cli *cli, const char *store, int argc, char **argv);
static enum tenure_status unknown_verb(struct tn_cli *cli, const char *const *words, int n);
static enum tenure_status finish(struct tn_cli *cli, enum tenure_status status);

int main(int argc, char **argv)
{
    struct tn_cli cli;
    tn_json_init();
    tn_cli_init(&cli);
    const enum tenure_status status = finish(&cli, run(&cli, argc - 1, argv + 1));
    tn_cli_done(&cli);
    return tenure_status_exit(status);
}

static enum tenure_status run(struct tn_cli *cli, int argc, char **argv)
{
    struct tn_options global;
    int rest;
    tn_options_init(&global, &cli->arena);
    tn_options_add(&global, global_options);
    enum tenure_status status = tn_options_parse(&global, argc > 0 ? argc : 0, argv, &rest, &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_options_given(&global, "version")) {
        printf("tenure %s\n", tenure_version());
        return TENURE_OK;
    }
    if (tn_options_given(&global, "help")) {
        tn_help_verbs(stdout, NULL);
        return TENURE_OK;
    }
    if (rest >= argc) {
        tn_help_verbs(stderr, NULL);
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "a verb is needed");
    }
    return run_verb(cli, tn_options_text(&global, "store"), argc - rest, argv + rest);
}

static enum tenure_status check_arguments(struct tn_cli *cli)
{
    const struct tn_verb *const verb = cli->verb;
    const int n = (int)cli->options.n_arguments;
    if (n < verb->least)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "too few arguments: %s is needed", verb->arguments);
    if (verb->most != TN_ANY && n > verb->most)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "unexpected argument '%s'",
                           tn_cli_shown(cli, cli->options.arguments[verb->most]));
    return TENURE_OK;
}

/* `tenure --store X VERB` is `tenure VERB --store X`. */
static enum tenure_status take_store(struct tn_cli *cli, const char *store)
{
    if (!store)
        return TENURE_OK;
    if (!(cli->verb->wants & TN_WANTS_STORE))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--store: this verb uses no store");
    for (size_t i = 0; i < cli->options.n_values; i++) {
        struct tn_option_value *const value = &cli->options.values[i];
        if (strcmp(value->option->name, "store") != 0)
            continue;
        if (value->given)
            return tn_cli_fail(cli, TENURE_BAD_INPUT, "--store is given twice");
        value->given = true;
        value->text = store;
    }
    return TENURE_OK;
}

static enum tenure_status run_verb(struct tn_cli *cli, const char *store, int argc, char **argv)
{
    const char *const words[] = {argv[0], argc > 1 ? argv[1] : ""};
    int used;
    cli->verb = tn_verb_find(words, argc > 1 ? 2 : 1, &used);
    if (!cli->verb && argc == 2 && tn_verb_is_family(words[0]) &&
        (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)) {
        tn_help_verbs(stdout, words[0]);
        return TENURE_OK;
    }
    if (!cli->verb)
        return unknown_verb(cli, words, argc > 1 ? 2 : 1);
    tn_verb_options(cli->verb, &cli->options);
    enum tenure_status status = tn_options_parse(&cli->options, argc - used, argv + used, NULL, &cli->error);
    if (tn_cli_flag(cli, "help")) {
        tn_help_verb(stdout, cli->verb);
        return TENURE_OK;
    }
    if (status == TENURE_OK)
        status = check_arguments(cli);
    if (status == TENURE_OK)
        status = take_store(cli, store);
    return status == TENURE_OK ? cli->verb->run(cli) : status;
}

static enum tenure_status unknown_verb(struct tn_cli *cli, const char *const *words, int n)
{
    struct tn_nearest nearest;
    const struct tn_verb *verb;
    const bool family = tn_verb_is_family(words[0]);
    if (family) {
        const char *const second = n > 1 && words[1][0] != '-' ? words[1] : "";
        tn_nearest_init(&nearest, second);
        for (size_t i = 0; (verb = tn_verb_get(i)); i++)
            if (strncmp(verb->name, words[0], strlen(words[0])) == 0 && verb->name[strlen(words[0])] == ' ')
                tn_nearest_try(&nearest, verb->name + strlen(words[0]) + 1);
        cli->hint = tn_arena_text(&cli->arena, "`tenure help` lists the verbs");
        return *second ? tn_cli_fail(cli, TENURE_BAD_INPUT, "%s: unknown verb '%s'%s%s%s", words[0],
                                     tn_cli_shown(cli, second), nearest.best ? "; did you mean '" : "",
                                     nearest.best ? nearest.best : "", nearest.best ? "'?" : "")
                       : tn_cli_fail(cli, TENURE_BAD_INPUT, "%s needs a second word", words[0]);
    }
    tn_nearest_init(&nearest, words[0]);
    for (size_t i = 0; (verb = tn_verb_get(i)); i++) {
        char *const first = tn_arena_text(&cli->arena, verb->name);
        first[strcspn(first, " ")] = 0;
        tn_nearest_try(&nearest, first);
    }
    cli->hint = "`tenure help` lists the verbs";
    return tn_cli_fail(cli, TENURE_BAD_INPUT, "unknown verb '%s'%s%s%s", tn_cli_shown(cli, words[0]),
                       nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                       nearest.best ? "'?" : "");
}

/* Output that did not get out is a failure too. */
static enum tenure_status finish(struct tn_cli *cli, enum tenure_status status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && tenure_status_exit(status) <= 1)
        status = tn_cli_fail(cli, TENURE_IO, "standard output cannot be written: %s", strerror(errno));
    if (status == TENURE_OK || (status == TENURE_NO && !cli->error.text[0]))
        return status;
    const bool colour = tn_cli_colour(stderr);
    const char *const text = cli->error.text[0] ? cli->error.text : tenure_status_sentence(status);
    fprintf(stderr, "%stenure%s%s:%s %s\n", colour ? "\033[1;31m" : "", cli->verb ? " " : "",
            cli->verb ? cli->verb->name : "", colour ? "\033[0m" : "", tn_escape_text(&cli->arena, text));
    if (cli->hint)
        fprintf(stderr, "  %s\n", tn_escape_text(&cli->arena, cli->hint));
    else if (status == TENURE_BAD_INPUT && cli->verb)
        fprintf(stderr, "  `tenure help %s` lists what it takes\n", cli->verb->name);
    return status;
}
