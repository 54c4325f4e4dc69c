/* tenure quarantine: sets a shard aside, or takes it back. */
#include "cli/verb.h"

#include <inttypes.h>

static enum tenure_status run(struct tn_cli *cli)
{
    const struct tn_group_info *group;
    uint32_t shard;
    const bool lift = tn_cli_flag(cli, "lift");
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status == TENURE_OK)
        status = tn_cli_shard(cli, tn_cli_argument(cli, 0), group->settings.shards, &shard);
    if (status != TENURE_OK)
        return status;
    status = cli->store->type->quarantine(cli->store, group->group, shard, !lift, tn_cli_limit_ms(cli),
                                          &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "dry-run"))
        printf(lift ? "would take shard %" PRIu32 " back into service\n"
                    : "would set shard %" PRIu32 " aside: its owner would lose it\n",
               shard);
    else
        printf(lift ? "shard %" PRIu32 " is back in service\n"
                    : "shard %" PRIu32 " is set aside; take it back with: tenure quarantine %" PRIu32
                      " --lift\n",
               shard, shard);
    return TENURE_OK;
}

static const struct tn_option options[] = {
    {"lift", 0, TN_OPTION_FLAG, NULL, "take it back into service", 0, 0},
    {0},
};

const struct tn_verb tn_verb_quarantine = {
    .name = "quarantine",
    .arguments = "SHARD",
    .summary = "set a shard aside so that nobody works on it, or take it back",
    .details = "A shard whose owners die one after another (--quarantine-after within\n"
               "--quarantine-window of `group create`) is set aside by itself: the work on it is the likely\n"
               "cause, and the next node is not to die of it.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_DRY_RUN,
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
