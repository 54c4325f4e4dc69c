/* tenure pause, resume: reasons for which a group's balance moves rest. */
#include "cli/instant.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/verb.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* Who does it, when --author does not say: the login name and the machine. */
static const char *author_of(struct tn_cli *cli)
{
    const char *const given = tn_options_text(&cli->options, "author");
    if (given)
        return given;
    const struct passwd *const user = getpwuid(getuid());
    struct tn_text text;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    tn_text_init(&text);
    if (user)
        tn_text_print(&text, "%s@%s", user->pw_name, host);
    else
        tn_text_print(&text, "uid %u@%s", (unsigned)getuid(), host);
    const char *const author = tn_arena_text(&cli->arena, text.bytes);
    tn_text_done(&text);
    return author;
}

static void print_json(const struct tn_pause *list, size_t n)
{
    struct tn_json_list out;
    tn_json_list_begin(&out);
    for (size_t i = 0; i < n; i++) {
        json_t *const pause = json_object();
        json_object_set_new(pause, "reason", tn_json_text(list[i].reason));
        json_object_set_new(pause, "author", tn_json_text(list[i].author));
        json_object_set_new(pause, "since_ms", json_integer((json_int_t)list[i].unix_ms));
        tn_json_list_add(&out, pause);
    }
    tn_json_list_end(&out);
}

static enum tenure_status list_pauses(struct tn_cli *cli, const struct tn_group_info *group)
{
    struct tn_pause *list;
    size_t n;
    const enum tenure_status status = cli->store->type->pauses(cli->store, group->group, &cli->arena, &list,
                                                               &n, tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json")) {
        print_json(list, n);
        return TENURE_OK;
    }
    if (!n) {
        printf("group '%s' is not paused\n", tn_cli_shown(cli, group->name));
        return TENURE_OK;
    }
    static const char *const titles[] = {"SINCE", "AUTHOR", "REASON", NULL};
    struct tn_table table;
    tn_table_init(&table, titles);
    for (size_t i = 0; i < n; i++) {
        char since[TN_INSTANT_BYTES];
        tn_table_add(&table, tn_instant_print(list[i].unix_ms, since));
        tn_table_add(&table, list[i].author);
        tn_table_add(&table, list[i].reason);
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
    return TENURE_OK;
}

static enum tenure_status run_pause(struct tn_cli *cli)
{
    const struct tn_group_info *group;
    const char *const reason = tn_options_text(&cli->options, "reason");
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status != TENURE_OK)
        return status;
    if (!reason)
        return list_pauses(cli, group);
    status = cli->store->type->pause(cli->store, group->group, reason, author_of(cli), tn_cli_limit_ms(cli),
                                     &cli->error);
    if (status == TENURE_OK)
        printf("group '%s' %s: %s\n", tn_cli_shown(cli, group->name),
               tn_cli_flag(cli, "dry-run") ? "would be paused" : "is paused", tn_cli_shown(cli, reason));
    return status;
}

static enum tenure_status run_resume(struct tn_cli *cli)
{
    const struct tn_group_info *group;
    const char *const reason = tn_options_text(&cli->options, "reason");
    const bool all = tn_cli_flag(cli, "all"), thaw = tn_cli_flag(cli, "mass-loss");
    uint32_t dropped = 0;
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status != TENURE_OK)
        return status;
    if (!reason && !all && !thaw)
        return tn_cli_fail(
            cli, TENURE_BAD_INPUT,
            "say which: --reason TEXT, --all, or --mass-loss; `tenure pause` lists the reasons");
    status = cli->store->type->resume(cli->store, group->group, all || !reason ? NULL : reason, thaw,
                                      &dropped, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("group '%s': %" PRIu32 " reason%s %s\n", tn_cli_shown(cli, group->name), dropped,
               dropped == 1 ? "" : "s", tn_cli_flag(cli, "dry-run") ? "would be taken back" : "taken back");
    return status;
}

static const struct tn_option pause_options[] = {
    {"reason", 0, TN_OPTION_TEXT, "TEXT", "why; without it, the reasons there are", 0, 0},
    {"author", 0, TN_OPTION_TEXT, "NAME", "who (default: login@host)", 0, 0},
    {0},
};

static const struct tn_option resume_options[] = {
    {"reason", 0, TN_OPTION_TEXT, "TEXT", "take back this reason", 0, 0},
    {"all", 0, TN_OPTION_FLAG, NULL, "take back every reason", 0, 0},
    {"mass-loss", 0, TN_OPTION_FLAG, NULL, "the loss of many nodes at once is understood: move again", 0, 0},
    {0},
};

const struct tn_verb tn_verb_pause = {
    .name = "pause",
    .arguments = "",
    .summary = "stop balance moves, for a reason; or list the reasons",
    .details = "Reasons stack: moves go on when the last is taken back. Takeovers of dead nodes' shards,\n"
               "drains and clean leaves are not stopped.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_DRY_RUN | TN_WANTS_JSON,
    .options = pause_options,
    .run = run_pause,
};

const struct tn_verb tn_verb_resume = {
    .name = "resume",
    .arguments = "",
    .summary = "take back a reason of `pause`, or end the freeze after a mass loss",
    .details = "When at least two nodes and more than 30 % of them vanish within one lease, balance moves\n"
               "rest until membership has been steady for four leases. --mass-loss ends that at once.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_DRY_RUN,
    .options = resume_options,
    .run = run_resume,
};
