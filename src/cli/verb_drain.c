/* tenure drain and tenure undrain: an operator's mark on a node, in all its groups or in one. */
#include "cli/snapshot.h"
#include "cli/verb.h"
#include "cli/wait.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 300000, LONGEST_TIMEOUT_MS = 86400000 };

struct holding { /* what the node has at the moment */
    uint32_t shards, groups;
};

/* In the group, or in all (NULL). Groups with broken settings have no running members; they are passed over.
 */
static enum tenure_status count_holding(struct tn_cli *cli, struct tn_arena *arena, const char *node_id,
                                        const struct tn_group_info *group, struct holding *ret)
{
    struct tn_group_info *groups;
    size_t n;
    enum tenure_status status =
        cli->store->type->group_list(cli->store, arena, &groups, &n, tn_cli_limit_ms(cli), &cli->error);
    struct holding holding = {0};
    for (size_t i = 0; status == TENURE_OK && i < n; i++) {
        struct tn_snapshot snapshot;
        if (tn_settings_check(&groups[i].settings, NULL) != TENURE_OK ||
            (group && groups[i].group != group->group))
            continue;
        status = tn_snapshot_read(cli, arena, &groups[i], &snapshot);
        if (status == TENURE_NOT_FOUND) { /* deleted since it was listed */
            status = TENURE_OK;
            continue;
        }
        for (size_t j = 0; status == TENURE_OK && j < snapshot.n_nodes; j++) {
            if (strcmp(snapshot.nodes[j].member->node_id, node_id) != 0)
                continue;
            holding.shards += snapshot.nodes[j].shards;
            holding.groups += snapshot.nodes[j].shards > 0;
        }
    }
    if (status == TENURE_OK)
        *ret = holding;
    return status;
}

static enum tenure_status look(struct tn_cli *cli, struct tn_arena *arena, void *context, bool *ret_done,
                               struct tn_text *progress)
{
    struct holding holding;
    const struct tn_group_info *const *const group = context;
    const enum tenure_status status = count_holding(cli, arena, tn_cli_argument(cli, 0), *group, &holding);
    if (status != TENURE_OK)
        return status;
    tn_text_print(progress, "%" PRIu32 " shards in %" PRIu32 " groups are still there", holding.shards,
                  holding.groups);
    *ret_done = holding.shards == 0;
    return TENURE_OK;
}

/* Opens the store. *ret NULL: all groups. */
static enum tenure_status find_group(struct tn_cli *cli, const struct tn_group_info **ret)
{
    *ret = NULL;
    const enum tenure_status status = tn_name_check("node", tn_cli_argument(cli, 0), &cli->error);
    if (status != TENURE_OK)
        return status;
    /* Not $TENURE_GROUP: a drain means all groups unless it is said otherwise. */
    return tn_options_given(&cli->options, "group")
               ? tn_cli_group(cli, tn_options_text(&cli->options, "group"), ret)
               : tn_cli_open(cli, 0);
}

static void say(struct tn_cli *cli, const struct tn_group_info *group, bool drain)
{
    const bool dry_run = tn_cli_flag(cli, "dry-run");
    printf("node '%s' %s %s", tn_cli_shown(cli, tn_cli_argument(cli, 0)), dry_run ? "would be" : "is",
           drain ? "marked: its shards move to others, and it gets no new ones" : "open for shards again");
    if (group)
        printf(" (group '%s')", tn_cli_shown(cli, group->name));
    putchar('\n');
    fflush(stdout);
}

static enum tenure_status run(struct tn_cli *cli, bool drain)
{
    const char *const node = tn_cli_argument(cli, 0);
    const struct tn_group_info *group;
    enum tenure_status status = find_group(cli, &group);
    if (status != TENURE_OK)
        return status;
    status = cli->store->type->node_drain(cli->store, node, group ? group->group : 0, drain,
                                          tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    say(cli, group, drain);
    if (!drain || tn_cli_flag(cli, "dry-run") || !tn_cli_flag(cli, "wait"))
        return TENURE_OK;
    status = tn_wait(cli, tn_options_number(&cli->options, "timeout", DEFAULT_TIMEOUT_MS), look, &group);
    if (status == TENURE_OK)
        printf("node '%s' has no shards left\n", tn_cli_shown(cli, node));
    return status;
}

static enum tenure_status drain(struct tn_cli *cli)
{
    return run(cli, true);
}

static enum tenure_status undrain(struct tn_cli *cli)
{
    return run(cli, false);
}

static const struct tn_option drain_options[] = {
    {"wait", 0, TN_OPTION_FLAG, NULL, "wait until it has no shards left; exit 1 if that takes too long", 0,
     0},
    {"timeout", 0, TN_OPTION_DURATION, "D", "how long --wait waits (default 5m)", 0, LONGEST_TIMEOUT_MS},
    {"group", 0, TN_OPTION_TEXT, "G", "in this group only (default: all groups)", 0, 0},
    {0},
};
static const struct tn_option undrain_options[] = {
    {"group", 0, TN_OPTION_TEXT, "G", "in this group only (default: all groups)", 0, 0},
    {0},
};

const struct tn_verb tn_verb_drain = {
    .name = "drain",
    .arguments = "NODE",
    .summary = "take all shards from a node, in all groups or in one",
    .details =
        "A few at a time, as the groups' max-moves allow. The mark stays over restarts, until undrain.",
    .wants = TN_WANTS_STORE | TN_WANTS_DRY_RUN,
    .options = drain_options,
    .least = 1,
    .most = 1,
    .run = drain,
};

const struct tn_verb tn_verb_undrain = {
    .name = "undrain",
    .arguments = "NODE",
    .summary = "let a drained node have shards again",
    .wants = TN_WANTS_STORE | TN_WANTS_DRY_RUN,
    .options = undrain_options,
    .least = 1,
    .most = 1,
    .run = undrain,
};
