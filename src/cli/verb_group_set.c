/* tenure group set and tenure group delete: what changes a group that exists. */
#include "cli/difference.h"
#include "cli/setting_options.h"
#include "cli/verb.h"

#include <string.h>

static enum tenure_status set(struct tn_cli *cli)
{
    const char *const name = tn_cli_argument(cli, 0);
    const struct tn_group_info *group;
    struct tn_settings next;
    enum tenure_status status = tn_cli_group(cli, name, &group);
    if (status == TENURE_OK)
        status = tn_setting_options_change(cli, &group->settings, &next);
    if (status != TENURE_OK)
        return status;
    size_t n;
    const struct tn_difference *const differences =
        tn_difference_list(&cli->arena, &group->settings, &next, &n);
    const struct tn_difference *const fixed = tn_difference_fixed(differences, n);
    if (fixed)
        return tn_cli_fail(cli, TENURE_EXISTS,
                           "%s of group '%s' stays %s: changing it is the work of `tenure group reshard`, "
                           "which is not in this version",
                           fixed->option, tn_cli_shown(cli, name), fixed->stored);
    if (n == 0) {
        printf("group '%s' has these settings already\n", tn_cli_shown(cli, name));
        return TENURE_OK;
    }
    const bool dry_run = tn_cli_flag(cli, "dry-run");
    status = cli->store->type->group_set(cli->store, name, &next, tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    printf("%s group '%s':\n", dry_run ? "would change" : "changed", tn_cli_shown(cli, name));
    tn_difference_print(differences, n, true, stdout);
    return TENURE_OK;
}

/* A group whose settings are not valid can be deleted too: so no tn_cli_group here. */
static enum tenure_status remove_group(struct tn_cli *cli)
{
    const char *const name = tn_cli_argument(cli, 0);
    const struct tn_group_info *group = NULL;
    enum tenure_status status = tn_name_check("group", name, &cli->error);
    if (status == TENURE_OK)
        status = tn_cli_open(cli, 0);
    if (status == TENURE_OK)
        status = tn_cli_group_find(cli, name, &group);
    if (status != TENURE_OK)
        return status;
    if (!group)
        return tn_cli_fail(cli, TENURE_NOT_FOUND, "there is no group '%s'", tn_cli_shown(cli, name));
    status = cli->store->type->group_delete(cli->store, name, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("%s group '%s' with its plan, leases and checkpoints\n",
               tn_cli_flag(cli, "dry-run") ? "would delete" : "deleted", tn_cli_shown(cli, name));
    return status;
}

const struct tn_verb tn_verb_group_set = {
    .name = "group set",
    .arguments = "NAME",
    .summary = "change settings of a group",
    .details = "Changes only what is named. Renew, request timeout and margin follow a new lease unless they "
               "were set by hand.\n"
               "Running nodes take the new settings over with their next renewal.",
    .wants = TN_WANTS_STORE | TN_WANTS_SETTINGS | TN_WANTS_DRY_RUN,
    .least = 1,
    .most = 1,
    .run = set,
};

const struct tn_verb tn_verb_group_delete = {
    .name = "group delete",
    .arguments = "NAME",
    .summary = "delete a group that no live node is in",
    .details = "Its checkpoints go with it.",
    .wants = TN_WANTS_STORE | TN_WANTS_DRY_RUN,
    .least = 1,
    .most = 1,
    .run = remove_group,
};
