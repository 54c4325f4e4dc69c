/* tenure stamp install and tenure stamp raise: fencing in an SQLite file of the user's. */
#include "cli/value.h"
#include "cli/verb.h"
#include "store/stamp/stamp.h"
#include "tenure/tenure.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* FILE, or sqlite:FILE; other schemes are other databases. */
static enum tenure_status path_of(struct tn_cli *cli, const char **ret_path)
{
    const char *const text = tn_cli_argument(cli, 0);
    static const char scheme[] = "sqlite:";
    if (strncmp(text, scheme, sizeof scheme - 1) == 0) {
        *ret_path = text + sizeof scheme - 1;
        return TENURE_OK;
    }
    if (strstr(text, "://"))
        return tn_cli_fail(
            cli, TENURE_BAD_INPUT,
            "'%s': stamps in other databases are not in this version; name an SQLite file, or sqlite:FILE",
            tn_cli_shown(cli, text));
    *ret_path = text;
    return TENURE_OK;
}

static enum tenure_status install(struct tn_cli *cli)
{
    const char *path;
    enum tenure_status status = path_of(cli, &path);
    if (status != TENURE_OK)
        return status;
    const bool dry_run = tn_cli_flag(cli, "dry-run");
    if (dry_run) {
        struct stat file;
        printf("would make tables tenure_stamp and tenure_effect and view tenure_fence, where they are "
               "missing, in %s %s\n",
               stat(path, &file) == 0 ? "the file" : "the new file", tn_cli_shown(cli, path));
        return TENURE_OK;
    }
    status = tn_stamp_install(path, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("%s has tenure_stamp, tenure_effect and tenure_fence\n", tn_cli_shown(cli, path));
    return status;
}

static enum tenure_status say_dry(struct tn_cli *cli, const char *path, const char *group, uint32_t shard,
                                  uint64_t token)
{
    uint64_t stamp;
    const enum tenure_status status =
        tn_stamp_get(path, group, shard, tn_cli_limit_ms(cli), &stamp, &cli->error);
    if (status != TENURE_OK)
        return status;
    if (stamp > token)
        return tn_cli_fail(cli, TENURE_STALE, "the stamp is %" PRIu64 ", above token %" PRIu64, stamp, token);
    if (stamp == token)
        printf("the stamp is %" PRIu64 " already\n", stamp);
    else
        printf("would raise the stamp from %" PRIu64 " to %" PRIu64 "\n", stamp, token);
    return TENURE_OK;
}

static enum tenure_status raise_stamp(struct tn_cli *cli)
{
    const char *path, *group;
    enum tenure_status status = path_of(cli, &path);
    if (status == TENURE_OK)
        status = tn_cli_group_name(cli, &group);
    if (status != TENURE_OK)
        return status;
    if (!tn_options_given(&cli->options, "shard") || !tn_options_given(&cli->options, "token"))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--shard S and --token T are needed");
    const uint32_t shard = (uint32_t)tn_options_number(&cli->options, "shard", 0);
    const uint64_t token = (uint64_t)tn_options_number(&cli->options, "token", 0);
    if (tn_cli_flag(cli, "dry-run"))
        return say_dry(cli, path, group, shard, token);
    status = tenure_stamp_raise(path, group, shard, token, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("stamp of shard %" PRIu32 " is %" PRIu64 "\n", shard, token);
    return status;
}

#define LIMIT                                                                                                \
    {                                                                                                        \
        "limit", 0, TN_OPTION_DURATION, "D", "how long to wait for a locked file (default 5s)", 0, 3600000   \
    }

static const struct tn_option install_options[] = {LIMIT, {0}};
static const struct tn_option raise_options[] = {
    {"shard", 0, TN_OPTION_COUNT, "S", "the shard", 0, TN_SHARDS_MAX - 1},
    {"token", 0, TN_OPTION_COUNT, "T", "the owner's fencing token", 1, (int64_t)TN_STAMP_TOKEN_MAX},
    LIMIT,
    {0},
};

const struct tn_verb tn_verb_stamp_install = {
    .name = "stamp install",
    .arguments = "FILE",
    .summary = "prepare an SQLite data file for fenced writes",
    .details = "Makes tables tenure_stamp and tenure_effect and view tenure_fence in the file, which is made "
               "when missing. "
               "Then, in a transaction,\n"
               "  insert into tenure_fence(group_name, shard, node, token) values ('orders', 37, 'A', 19);\n"
               "aborts with a message that begins with TN001 unless 19 is the stamp of that shard.",
    .wants = TN_WANTS_DRY_RUN,
    .options = install_options,
    .least = 1,
    .most = 1,
    .run = install,
};

const struct tn_verb tn_verb_stamp_raise = {
    .name = "stamp raise",
    .arguments = "FILE",
    .summary = "raise a shard's stamp in a data file to a new owner's token",
    .details = "Before the new owner reads. Never lowers: exit status 5 when the stamp is higher. Waits for "
               "transactions in flight.",
    .wants = TN_WANTS_GROUP | TN_WANTS_DRY_RUN,
    .options = raise_options,
    .least = 1,
    .most = 1,
    .run = raise_stamp,
};
