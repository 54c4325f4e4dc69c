/* tenure completion: the shell's completion, generated from the verb list and the option tables. */
#include "cli/verb.h"

#include <string.h>

static const char head[] =
    "# bash completion for tenure; load it with: eval \"$(tenure completion bash)\"\n"
    "_tenure() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
    "    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[2]} != -* ]] && verb+=\" ${COMP_WORDS[2]}\"\n"
    "    if [[ $COMP_CWORD -eq 1 ]]; then\n";
static const char tail[] =
    "        esac\n"
    "    fi\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
    "    [[ ${#COMPREPLY[@]} -eq 0 && $word != -* ]] && mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "}\n"
    "complete -o filenames -F _tenure tenure\n";

/* Is this the first verb that begins with its first word? */
static bool is_first(size_t i)
{
    const char *const name = tn_verb_get(i)->name;
    const size_t length = strcspn(name, " ");
    for (size_t j = 0; j < i; j++) {
        const char *const other = tn_verb_get(j)->name;
        if (strcspn(other, " ") == length && memcmp(other, name, length) == 0)
            return false;
    }
    return true;
}

static void print_first_words(void)
{
    fputs("        words=\"--help --version --store", stdout);
    for (size_t i = 0; tn_verb_get(i); i++)
        if (is_first(i))
            printf(" %.*s", (int)strcspn(tn_verb_get(i)->name, " "), tn_verb_get(i)->name);
    puts("\"");
}

static void print_second_words(void)
{
    fputs("    elif [[ $COMP_CWORD -eq 2 && $word != -* ]]; then\n        case $verb in\n", stdout);
    for (size_t i = 0; tn_verb_get(i); i++) {
        const char *const name = tn_verb_get(i)->name;
        const size_t length = strcspn(name, " ");
        if (!name[length] || !is_first(i))
            continue;
        printf("        \"%.*s\"*) words=\"", (int)length, name);
        for (size_t j = i; tn_verb_get(j); j++)
            if (strncmp(tn_verb_get(j)->name, name, length + 1) == 0)
                printf("%s%s", j == i ? "" : " ", tn_verb_get(j)->name + length + 1);
        puts("\" ;;");
    }
    puts("        esac");
}

static void print_options(struct tn_cli *cli, const struct tn_verb *verb)
{
    struct tn_options options;
    tn_options_init(&options, &cli->arena);
    tn_verb_options(verb, &options);
    printf("        \"%s\"*) words=\"", verb->name);
    for (size_t i = 0; i < options.n_values; i++)
        printf("%s--%s", i ? " " : "", options.values[i].option->name);
    puts("\" ;;");
}

static enum tenure_status run(struct tn_cli *cli)
{
    const char *const shell = tn_cli_argument(cli, 0);
    if (strcmp(shell, "bash") != 0)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "'%s': completion is there for bash only",
                           tn_cli_shown(cli, shell));
    fputs(head, stdout);
    print_first_words();
    print_second_words();
    fputs("    else\n        case $verb in\n", stdout);
    for (size_t i = 0; tn_verb_get(i); i++)
        print_options(cli, tn_verb_get(i));
    fputs(tail, stdout);
    return TENURE_OK;
}

const struct tn_verb tn_verb_completion = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "print a completion script for the shell",
    .details = "SHELL is bash: eval \"$(tenure completion bash)\"",
    .least = 1,
    .most = 1,
    .run = run,
};
