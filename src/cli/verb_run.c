/* tenure run: a node whose application is a command (src/agent). */
#include "agent/agent.h"
#include "cli/json.h"
#include "cli/verb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_DRAIN_MS = 86400000, DEFAULT_DRAIN_MS = 30000, DEFAULT_STUCK_MS = 30000 };

#define WEIGHT_MOST_MILLI ((uint64_t)1000000000 * 1000)

static enum tenure_status read_weight(struct tn_cli *cli, uint64_t *ret_milli)
{
    const char *const text = tn_options_text(&cli->options, "weight");
    uint64_t milli = 0;
    int after = -1; /* digits after the point; -1: no point yet */
    bool good = text && *text;
    for (const char *c = text; good && *c; c++) {
        if (*c == '.' && after < 0 && c > text && c[1])
            after = 0;
        else if (*c >= '0' && *c <= '9' && after < 3 && milli <= WEIGHT_MOST_MILLI)
            milli = milli * 10 + (uint64_t)(*c - '0'), after += after >= 0;
        else
            good = false;
    }
    for (int i = after < 0 ? 0 : after; i < 3; i++)
        milli *= 10;
    if (good && milli <= WEIGHT_MOST_MILLI) {
        *ret_milli = milli;
        return TENURE_OK;
    }
    return tn_cli_fail(cli, TENURE_BAD_INPUT,
                       "--weight: '%s' is not a number from 0 to 10^9 with up to 3 digits after the point",
                       tn_cli_shown(cli, text));
}

static enum tenure_status read_labels(struct tn_cli *cli, const char **ret_json)
{
    const struct tn_option_value *const labels = tn_options_get(&cli->options, "label");
    json_t *const object = json_object();
    enum tenure_status status = TENURE_OK;
    for (size_t i = 0; status == TENURE_OK && i < labels->n_texts; i++) {
        const char *const text = labels->texts[i], *const equals = strchr(text, '=');
        char *const name = tn_arena_text(&cli->arena, text);
        if (equals)
            name[equals - text] = 0;
        if (!equals || equals == text)
            status = tn_cli_fail(cli, TENURE_BAD_INPUT, "--label: '%s' is not like KEY=VALUE",
                                 tn_cli_shown(cli, text));
        else if (json_object_get(object, name))
            status =
                tn_cli_fail(cli, TENURE_BAD_INPUT, "--label: '%s' is given twice", tn_cli_shown(cli, name));
        else if (json_object_set_new(object, name, json_string(equals + 1)) != 0)
            status =
                tn_cli_fail(cli, TENURE_BAD_INPUT, "--label: '%s' is not UTF-8", tn_cli_shown(cli, text));
    }
    char *const text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    *ret_json = tn_arena_text(&cli->arena, text);
    free(text);
    json_decref(object);
    return status;
}

static enum tenure_status read_store(struct tn_cli *cli, const char **ret_url)
{
    char *const room = tn_arena_get(&cli->arena, 4096);
    *ret_url = tn_options_text(&cli->options, "store");
    if (!*ret_url)
        *ret_url = getenv("TENURE_STORE");
    if (*ret_url)
        return TENURE_OK;
    *ret_url = room;
    return tn_store_default_url(room, 4096, &cli->error);
}

static char *const *command_of(struct tn_cli *cli)
{
    const size_t n = cli->options.n_arguments;
    char **const command = tn_arena_array(&cli->arena, n + 1, sizeof *command);
    for (size_t i = 0; i < n; i++)
        command[i] = tn_arena_text(&cli->arena, cli->options.arguments[i]);
    return command;
}

static enum tenure_status run(struct tn_cli *cli)
{
    struct tn_agent_options options = {
        .node_id = tn_options_text(&cli->options, "node"),
        .address = tn_options_text(&cli->options, "address"),
        .weight_milli = 1000,
        .replace = tn_cli_flag(cli, "replace"),
        .per_shard = tn_cli_flag(cli, "per-shard"),
        .log_json = tn_cli_flag(cli, "log-json"),
        .log_level = (enum tenure_log_level)tn_options_number(&cli->options, "log-level", TENURE_LOG_INFO),
        .drain_limit_ms = tn_options_number(&cli->options, "drain-limit", DEFAULT_DRAIN_MS),
        .stuck_after_ms = tn_options_number(&cli->options, "stuck-after", DEFAULT_STUCK_MS),
        .command = command_of(cli)};
    enum tenure_status status = tn_cli_group_name(cli, &options.group);
    if (status == TENURE_OK)
        status = read_store(cli, &options.store);
    if (status == TENURE_OK)
        status = read_labels(cli, &options.labels_json);
    if (status == TENURE_OK && tn_options_given(&cli->options, "weight"))
        status = read_weight(cli, &options.weight_milli);
    if (status == TENURE_OK && !options.node_id)
        options.node_id = getenv("TENURE_NODE");
    return status == TENURE_OK ? tn_agent_run(&options, &cli->error) : status;
}

static const struct tn_option options[] = {
    {"node", 0, TN_OPTION_TEXT, "ID", "stable name of this node (default $TENURE_NODE, else a fresh one)", 0,
     0},
    {"address", 0, TN_OPTION_TEXT, "A", "where others reach it, as `tenure route` shows it", 0, 0},
    {"weight", 0, TN_OPTION_TEXT, "W", "share of the shards relative to other nodes (default 1)", 0, 0},
    {"label", 0, TN_OPTION_MANY, "K=V", "zone, rack, anything; may be given more than once", 0, 0},
    {"per-shard", 0, TN_OPTION_FLAG, NULL, "one process a shard, instead of one for all", 0, 0},
    {"replace", 0, TN_OPTION_FLAG, NULL, "fence a live session of the same node id instead of exit 4", 0, 0},
    {"drain-limit", 0, TN_OPTION_DURATION, "D",
     "at a stop, give up what is not drained by then (default 30s)", 0, LONGEST_DRAIN_MS},
    {"stuck-after", 0, TN_OPTION_DURATION, "D",
     "kill a worker that takes no bytes for so long though lines wait (default 30s)", 100, LONGEST_DRAIN_MS},
    {"log-json", 0, TN_OPTION_FLAG, NULL, "log as JSON, an object a line", 0, 0},
    {"log-level", 0, TN_OPTION_CHOICE, "error|warning|info|debug", "how much to log (default info)", 0, 0},
    {0},
};

const struct tn_verb tn_verb_run = {
    .name = "run",
    .arguments = "COMMAND...",
    .summary = "join a group as a node and run a worker for its shards",
    .details = "The worker reads events and writes answers as JSON lines, on standard input and output\n"
               "(docs/WORKERS.md). It is started again when it ends; SIGTERM and SIGINT drain its shards\n"
               "and leave. Put -- before COMMAND when it has options of its own.\n"
               "Exit status: 0 after a clean leave, 5 when the drain limit forced shards away, 4 when\n"
               "another process took over the node id, or the id is in use.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP,
    .options = options,
    .least = 1,
    .most = TN_ANY,
    .run = run,
};
