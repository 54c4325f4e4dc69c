/* tenure drain and tenure undrain: an operator's mark on a node, in all its groups. */
#include "cli/snapshot.h"
#include "cli/verb.h"
#include "cli/wait.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 300000, LONGEST_TIMEOUT_MS = 86400000 };

struct holding { /* what the node has at the moment */
    uint32_t shards, groups;
    bool live;
};

/* Groups with broken settings have no running members; they are passed over. */
static enum tenure_status count_holding(struct tn_cli *cli, struct tn_arena *arena, const char *node_id,
                                        struct holding *ret)
{
    struct tn_group_info *groups;
    size_t n;
    enum tenure_status status =
        cli->store->type->group_list(cli->store, arena, &groups, &n, tn_cli_limit_ms(cli), &cli->error);
    struct holding holding = {0};
    for (size_t i = 0; status == TENURE_OK && i < n; i++) {
        struct tn_snapshot snapshot;
        if (tn_settings_check(&groups[i].settings, NULL) != TENURE_OK)
            continue;
        status = tn_snapshot_read(cli, arena, &groups[i], &snapshot);
        if (status == TENURE_NOT_FOUND) { /* deleted since it was listed */
            status = TENURE_OK;
            continue;
        }
        for (size_t j = 0; status == TENURE_OK && j < snapshot.n_nodes; j++) {
            if (strcmp(snapshot.nodes[j].member->node_id, node_id) != 0)
                continue;
            holding.live |= !snapshot.nodes[j].dead;
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
    (void)context;
    const enum tenure_status status = count_holding(cli, arena, tn_cli_argument(cli, 0), &holding);
    if (status != TENURE_OK)
        return status;
    tn_text_print(progress, "%" PRIu32 " shards in %" PRIu32 " groups are still there", holding.shards,
                  holding.groups);
    *ret_done = holding.shards == 0;
    return TENURE_OK;
}

static enum tenure_status check(struct tn_cli *cli)
{
    if (tn_options_given(&cli->options, "group"))
        return tn_cli_fail(cli, TENURE_BAD_INPUT,
                           "--group: draining a node in one group only is not in this version; "
                           "without it the node is drained in all its groups");
    const enum tenure_status status = tn_name_check("node", tn_cli_argument(cli, 0), &cli->error);
    return status == TENURE_OK ? tn_cli_open(cli, false) : status;
}

static enum tenure_status say_dry(struct tn_cli *cli, bool drain)
{
    const char *const node = tn_cli_argument(cli, 0);
    struct holding holding;
    const enum tenure_status status = count_holding(cli, &cli->arena, node, &holding);
    if (status != TENURE_OK)
        return status;
    printf("would %s node '%s'", drain ? "drain" : "undrain", tn_cli_shown(cli, node));
    if (holding.live)
        printf(": it has %" PRIu32 " shards in %" PRIu32 " groups\n", holding.shards, holding.groups);
    else
        puts(", if the store has seen it: it is not live now");
    return TENURE_OK;
}

static enum tenure_status run(struct tn_cli *cli, bool drain)
{
    const char *const node = tn_cli_argument(cli, 0);
    enum tenure_status status = check(cli);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "dry-run"))
        return say_dry(cli, drain);
    status = cli->store->type->node_drain(cli->store, node, drain, tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    printf("node '%s' is %s\n", tn_cli_shown(cli, node),
           drain ? "marked: its shards move to others, and it gets no new ones" : "open for shards again");
    if (!drain || !tn_cli_flag(cli, "wait"))
        return TENURE_OK;
    fflush(stdout);
    status = tn_wait(cli, tn_options_number(&cli->options, "timeout", DEFAULT_TIMEOUT_MS), look, NULL);
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
    {"group", 0, TN_OPTION_TEXT, "G", "not in this version: a drain covers all groups", 0, 0},
    {0},
};
static const struct tn_option undrain_options[] = {
    {"group", 0, TN_OPTION_TEXT, "G", "not in this version: a drain covers all groups", 0, 0},
    {0},
};

const struct tn_verb tn_verb_drain = {
    .name = "drain",
    .arguments = "NODE",
    .summary = "take all shards from a node, in all groups",
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
