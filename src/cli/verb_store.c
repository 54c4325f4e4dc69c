/* tenure store info, new-history and prune. */
#include "cli/instant.h"
#include "cli/json.h"
#include "cli/verb.h"
#include "core/lease/token.h"

#include <inttypes.h>

/* ---- info ---- */

static enum tenure_status read_info(struct tn_cli *cli, struct tn_store_info *ret)
{
    const enum tenure_status status = tn_cli_open(cli, 0);
    if (status != TENURE_OK)
        return status;
    return cli->store->type->info(cli->store, &cli->arena, ret, tn_cli_limit_ms(cli), &cli->error);
}

static void print_json(const struct tn_store_info *info)
{
    json_t *const object = json_object();
    json_object_set_new(object, "backend", tn_json_text(info->backend));
    json_object_set_new(object, "location", tn_json_text(info->location));
    json_object_set_new(object, "identity", tn_json_text(info->identity));
    json_object_set_new(object, "schema", tn_json_number(info->schema));
    json_object_set_new(object, "history", tn_json_number(info->history));
    json_object_set_new(object, "store_time_ms", json_integer(info->unix_ms));
    json_object_set_new(object, "lease_clock_ms", json_integer(info->lease_clock_ms));
    json_object_set_new(object, "groups", tn_json_number(info->groups));
    json_object_set_new(object, "live_sessions", tn_json_number(info->live_sessions));
    json_object_set_new(object, "events", tn_json_number(info->events));
    json_object_set_new(object, "stale_rejected", tn_json_number(info->stale_rejected));
    tn_json_print(object);
}

static void print_words(struct tn_cli *cli, const struct tn_store_info *info)
{
    char time[TN_INSTANT_BYTES];
    printf("backend        %s\nlocation       %s\nidentity       %s\n", info->backend,
           tn_cli_shown(cli, info->location), tn_cli_shown(cli, info->identity));
    printf("schema         %" PRIu32 "\nhistory        %" PRIu32 "\ntime           %s\n", info->schema,
           info->history, tn_instant_print(info->unix_ms, time));
    printf("groups         %zu\nlive sessions  %zu\nevents         %zu\nstale rejected %" PRIu64 "\n",
           info->groups, info->live_sessions, info->events, info->stale_rejected);
}

static enum tenure_status info(struct tn_cli *cli)
{
    struct tn_store_info read;
    const enum tenure_status status = read_info(cli, &read);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json"))
        print_json(&read);
    else
        print_words(cli, &read);
    return TENURE_OK;
}

/* ---- new-history ---- */

static enum tenure_status new_history(struct tn_cli *cli)
{
    const uint32_t seen = (uint32_t)tn_options_number(&cli->options, "seen", 0);
    struct tn_store_info before;
    uint32_t history;
    /* A file that came from another machine gets its new history by being opened. */
    enum tenure_status status = tn_cli_open(cli, TN_STORE_ADOPT);
    if (status == TENURE_OK)
        status = cli->store->type->info(cli->store, &cli->arena, &before, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        status = cli->store->type->new_history(cli->store, seen, &history, tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "dry-run"))
        printf("would begin history %" PRIu32 ", end %zu live sessions, and raise every token above %" PRIu64
               "\n",
               history, before.live_sessions, tn_token_first(history) - 1);
    else
        printf("history %" PRIu32 " begins: every session has ended, tokens go on from %" PRIu64 "\n",
               history, tn_token_first(history));
    return TENURE_OK;
}

/* ---- prune ---- */

/* In steps, so that no node waits long for the lock. */
static enum tenure_status prune(struct tn_cli *cli)
{
    const size_t keep = (size_t)tn_options_number(&cli->options, "keep", 0);
    size_t removed = 0, all = 0;
    if (!tn_options_given(&cli->options, "keep"))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--keep N is needed: how many of the newest events stay");
    enum tenure_status status = tn_cli_open(cli, 0);
    if (status == TENURE_OK && tn_cli_flag(cli, "dry-run")) {
        struct tn_store_info info;
        status = cli->store->type->info(cli->store, &cli->arena, &info, tn_cli_limit_ms(cli), &cli->error);
        if (status == TENURE_OK)
            printf("would remove %zu of %zu events\n", info.events > keep ? info.events - keep : 0,
                   info.events);
        return status;
    }
    while (status == TENURE_OK) {
        status = cli->store->type->prune(cli->store, keep, &removed, tn_cli_limit_ms(cli), &cli->error);
        if (status != TENURE_OK || !removed)
            break;
        all += removed;
    }
    if (status == TENURE_OK)
        printf("%zu events removed\n", all);
    return status;
}

static const struct tn_option prune_options[] = {
    {"keep", 0, TN_OPTION_COUNT, "N", "how many of the newest events stay", 0, TN_PRUNE_KEEP_MAX},
    {0},
};

static const struct tn_option new_history_options[] = {
    {"seen", 0, TN_OPTION_COUNT, "H", "the highest history number that any node or log knows of", 0,
     TN_HISTORY_MAX - 1},
    {0},
};

const struct tn_verb tn_verb_store_info = {
    .name = "store info",
    .arguments = "",
    .summary = "describe the store",
    .wants = TN_WANTS_STORE | TN_WANTS_JSON,
    .run = info,
};

const struct tn_verb tn_verb_store_new_history = {
    .name = "store new-history",
    .arguments = "",
    .summary = "after restoring an old copy of the store: make sure that no token comes back",
    .details = "Ends every session and raises every token above all that were ever given out. Nodes join "
               "again by themselves.",
    .wants = TN_WANTS_STORE | TN_WANTS_DRY_RUN,
    .options = new_history_options,
    .run = new_history,
};

const struct tn_verb tn_verb_store_prune = {
    .name = "store prune",
    .arguments = "",
    .summary = "remove the oldest events of the timeline",
    .details =
        "It is bounded by itself (about 100,000 events); this makes it shorter, in small steps, while\n"
        "nodes work on. What `tenure history` shows is all that goes.",
    .wants = TN_WANTS_STORE | TN_WANTS_DRY_RUN,
    .options = prune_options,
    .run = prune,
};
