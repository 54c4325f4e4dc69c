/* tenure move: makes another node the one that the plan names for a shard. */
#include "cli/snapshot.h"
#include "cli/verb.h"
#include "cli/wait.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 60000, LONGEST_TIMEOUT_MS = 86400000 };

struct task {
    const struct tn_group_info *group;
    uint32_t shard;
    const char *node_id;
};

static enum tenure_status look(struct tn_cli *cli, struct tn_arena *arena, void *context, bool *ret_done,
                               struct tn_text *progress)
{
    const struct task *const task = context;
    struct tn_snapshot snapshot;
    const enum tenure_status status = tn_snapshot_read(cli, arena, task->group, &snapshot);
    if (status != TENURE_OK)
        return status;
    const struct tn_snapshot_node *const owner = tn_snapshot_owner(&snapshot, task->shard);
    tn_text_print(progress, "shard %" PRIu32 " is %s", task->shard,
                  tn_snapshot_state(&snapshot, task->shard));
    *ret_done = owner && strcmp(owner->member->node_id, task->node_id) == 0 &&
                snapshot.rows[task->shard].state == TN_SHARD_OWNED;
    return TENURE_OK;
}

static enum tenure_status run(struct tn_cli *cli)
{
    struct task task = {.node_id = tn_cli_argument(cli, 1)};
    enum tenure_status status = tn_name_check("node", task.node_id, &cli->error);
    if (status == TENURE_OK)
        status = tn_cli_group_given(cli, &task.group);
    if (status == TENURE_OK)
        status = tn_cli_shard(cli, tn_cli_argument(cli, 0), task.group->settings.shards, &task.shard);
    if (status != TENURE_OK)
        return status;
    status = cli->store->type->move(cli->store, task.group->group, task.shard, task.node_id,
                                    tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    const bool dry_run = tn_cli_flag(cli, "dry-run");
    printf(dry_run ? "would move shard %" PRIu32 " to node '%s'\n" : "shard %" PRIu32 " goes to node '%s'\n",
           task.shard, tn_cli_shown(cli, task.node_id));
    if (dry_run || !tn_cli_flag(cli, "wait"))
        return TENURE_OK;
    fflush(stdout);
    status = tn_wait(cli, tn_options_number(&cli->options, "timeout", DEFAULT_TIMEOUT_MS), look, &task);
    if (status == TENURE_OK)
        printf("shard %" PRIu32 " is on node '%s'\n", task.shard, tn_cli_shown(cli, task.node_id));
    return status;
}

static const struct tn_option options[] = {
    {"wait", 0, TN_OPTION_FLAG, NULL, "wait until it is there and ready; exit 1 if that takes too long", 0,
     0},
    {"timeout", 0, TN_OPTION_DURATION, "D", "how long --wait waits (default 1m)", 0, LONGEST_TIMEOUT_MS},
    {0},
};

const struct tn_verb tn_verb_move = {
    .name = "move",
    .arguments = "SHARD NODE",
    .summary = "move a shard to another live node",
    .details = "By the usual handoff. A later plan may move it again.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_DRY_RUN,
    .options = options,
    .least = 2,
    .most = 2,
    .run = run,
};
