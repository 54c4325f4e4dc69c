/* tenure help. */
#include "cli/help.h"

static enum tenure_status run(struct tn_cli *cli)
{
    const int n = (int)cli->options.n_arguments;
    if (n == 0) {
        tn_help_verbs(stdout, NULL);
        return TENURE_OK;
    }
    int words;
    const struct tn_verb *const verb = tn_verb_find(cli->options.arguments, n, &words);
    if (verb && words == n)
        tn_help_verb(stdout, verb);
    else if (n == 1 && tn_verb_is_family(tn_cli_argument(cli, 0)))
        tn_help_verbs(stdout, tn_cli_argument(cli, 0));
    else
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "there is no verb '%s'; `tenure help` lists them",
                           tn_cli_shown(cli, tn_cli_argument(cli, n > 1 && verb ? 1 : 0)));
    return TENURE_OK;
}

const struct tn_verb tn_verb_help = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "list the verbs, or explain one",
    .most = 2,
    .run = run,
};
