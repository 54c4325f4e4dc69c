/* tenure group create: makes a group, and the store with it; or says how the one that is there differs. */
#include "cli/difference.h"
#include "cli/setting_options.h"
#include "cli/verb.h"

struct task {
    const char *name;
    struct tn_settings asked;
    uint64_t fingerprint;
    bool update, dry_run;
};

static enum tenure_status create(struct tn_cli *cli, const struct task *task);
static enum tenure_status meet(struct tn_cli *cli, const struct task *task,
                               const struct tn_group_info *there);

static enum tenure_status run(struct tn_cli *cli)
{
    struct task task = {.name = tn_cli_argument(cli, 0),
                        .update = tn_cli_flag(cli, "update"),
                        .dry_run = tn_cli_flag(cli, "dry-run")};
    /* All of the input is checked before a store is made or touched. */
    enum tenure_status status = tn_name_check("group", task.name, &cli->error);
    if (status == TENURE_OK)
        status = tn_setting_options_new(cli, &task.asked, &task.fingerprint);
    if (status != TENURE_OK)
        return status;
    status = tn_cli_open(cli, task.dry_run ? 0 : TN_STORE_CREATE);
    if (task.dry_run && cli->store_missing) {
        cli->hint = NULL;
        printf("would make the store %s\n", tn_cli_shown(cli, cli->url));
        return create(cli, &task);
    }
    const struct tn_group_info *there = NULL;
    if (status == TENURE_OK)
        status = tn_cli_group_find(cli, task.name, &there);
    if (status != TENURE_OK)
        return status;
    cli->hint = NULL;
    if (there)
        return meet(cli, &task, there);
    status = create(cli, &task);
    if (status != TENURE_EXISTS)
        return status;
    /* Somebody made it between the look and the attempt. */
    status = tn_cli_group_find(cli, task.name, &there);
    return status == TENURE_OK && there ? meet(cli, &task, there) : status;
}

static enum tenure_status create(struct tn_cli *cli, const struct task *task)
{
    const bool dry_run = task->dry_run;
    enum tenure_status status = TENURE_OK;
    if (!dry_run)
        status = cli->store->type->group_create(cli->store, task->name, &task->asked, task->fingerprint,
                                                tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("%s group '%s': %u shards, %s, %s\n", dry_run ? "would create" : "created",
               tn_cli_shown(cli, task->name), task->asked.shards, tn_hash_name(task->asked.algo),
               task->asked.strategy);
    return status;
}

static enum tenure_status conflict(struct tn_cli *cli, const struct task *task,
                                   const struct tn_difference *differences, size_t n)
{
    const struct tn_difference *const fixed = tn_difference_fixed(differences, n);
    tn_difference_print(differences, n, false, stderr);
    if (fixed)
        return tn_cli_fail(cli, TENURE_EXISTS,
                           "group '%s' exists with %s %s, which stays: changing it is the work of "
                           "`tenure group reshard`, which is not in this version",
                           tn_cli_shown(cli, task->name), fixed->option, tn_cli_shown(cli, fixed->stored));
    cli->hint = "--update writes the settings asked for";
    return tn_cli_fail(cli, TENURE_EXISTS, "group '%s' exists with other settings",
                       tn_cli_shown(cli, task->name));
}

static enum tenure_status meet(struct tn_cli *cli, const struct task *task, const struct tn_group_info *there)
{
    size_t n;
    const struct tn_difference *const differences =
        tn_difference_list(&cli->arena, &there->settings, &task->asked, &n);
    if (n == 0) {
        printf("group '%s' exists with these settings\n", tn_cli_shown(cli, task->name));
        return TENURE_OK;
    }
    /* What never changes binds only where it is a valid value: a broken record is there to be overwritten. */
    const bool broken = tn_settings_check(&there->settings, NULL) != TENURE_OK;
    if (!task->update || (!broken && tn_difference_fixed(differences, n)))
        return conflict(cli, task, differences, n);
    enum tenure_status status = TENURE_OK;
    if (!task->dry_run)
        status = cli->store->type->group_set(cli->store, task->name, &task->asked, tn_cli_limit_ms(cli),
                                             &cli->error);
    if (status != TENURE_OK)
        return status;
    printf("%s group '%s':\n", task->dry_run ? "would change" : "changed", tn_cli_shown(cli, task->name));
    tn_difference_print(differences, n, true, stdout);
    return TENURE_OK;
}

static const struct tn_option options[] = {
    {"update", 0, TN_OPTION_FLAG, NULL, "when it exists with other settings: change those that may change", 0,
     0},
    {0},
};

const struct tn_verb tn_verb_group_create = {
    .name = "group create",
    .arguments = "NAME",
    .summary = "make a group of shards",
    .details =
        "Makes the store file too when there is none. A group that exists with equal settings is left as it "
        "is;\n"
        "with other settings the differences are listed and nothing is changed, unless --update says so.\n"
        "Shards, hash and seed decide where every key goes: they never change.",
    .wants = TN_WANTS_STORE | TN_WANTS_SETTINGS | TN_WANTS_DRY_RUN,
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
