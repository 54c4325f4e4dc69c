/* tenure status: nodes and figures of a group. */
#include "cli/json.h"
#include "cli/snapshot.h"
#include "cli/table.h"
#include "cli/value.h"
#include "cli/verb.h"
#include "cli/wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 60000, LONGEST_TIMEOUT_MS = 86400000 };

static enum tenure_status wait_ready(struct tn_cli *cli, const struct tn_group_info *group);
static void print_json(const struct tn_snapshot *snapshot);
static void print_words(struct tn_cli *cli, const struct tn_snapshot *snapshot);

static int compare_ids(const void *a, const void *b)
{
    const struct tn_snapshot_node *const left = a, *const right = b;
    const int order = strcmp(left->member->node_id, right->member->node_id);
    return order ? order
                 : (left->member->session > right->member->session) -
                       (left->member->session < right->member->session);
}

static enum tenure_status run(struct tn_cli *cli)
{
    const struct tn_group_info *group;
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status != TENURE_OK)
        return status;
    enum tenure_status waited = TENURE_OK;
    if (tn_cli_flag(cli, "wait-ready"))
        waited = wait_ready(cli, group);
    if (waited != TENURE_OK && waited != TENURE_TIMEOUT)
        return waited;
    const struct tenure_error wait_error = cli->error;
    struct tn_snapshot snapshot;
    status = tn_snapshot_read(cli, &cli->arena, group, &snapshot);
    if (status != TENURE_OK)
        return status;
    if (snapshot.n_nodes) /* by id: the snapshot is not searched any more */
        qsort(snapshot.nodes, snapshot.n_nodes, sizeof *snapshot.nodes, compare_ids);
    if (tn_cli_flag(cli, "json"))
        print_json(&snapshot);
    else
        print_words(cli, &snapshot);
    cli->error = wait_error;
    return waited;
}

static enum tenure_status look(struct tn_cli *cli, struct tn_arena *arena, void *context, bool *ret_done,
                               struct tn_text *progress)
{
    struct tn_snapshot snapshot;
    const enum tenure_status status = tn_snapshot_read(cli, arena, context, &snapshot);
    if (status != TENURE_OK)
        return status;
    const uint32_t shards = snapshot.group->settings.shards;
    tn_text_print(progress, "%" PRIu32 " of %" PRIu32 " shards are ready", shards - snapshot.not_ready,
                  shards);
    *ret_done = snapshot.not_ready == 0;
    return TENURE_OK;
}

static enum tenure_status wait_ready(struct tn_cli *cli, const struct tn_group_info *group)
{
    struct tn_group_info copy = *group;
    return tn_wait(cli, tn_options_number(&cli->options, "timeout", DEFAULT_TIMEOUT_MS), look, &copy);
}

static json_t *labels_json(const char *text)
{
    json_t *const labels = json_loads(text ? text : "{}", 0, NULL);
    if (json_is_object(labels))
        return labels;
    json_decref(labels);
    return json_object();
}

/* What the store knows; what a node alone knows is in its own log. */
static json_t *counters_json(const struct tn_snapshot_node *node)
{
    json_t *const counters = json_object();
    json_object_set_new(counters, "shards_owned", tn_json_number(node->shards));
    json_object_set_new(counters, "shards_desired", tn_json_number(node->desired));
    return counters;
}

static json_t *node_json(const struct tn_snapshot *snapshot, const struct tn_snapshot_node *node)
{
    const struct tn_member *const member = node->member;
    json_t *const object = json_object();
    json_object_set_new(object, "id", tn_json_text(member->node_id));
    json_object_set_new(object, "session", tn_json_number(member->session));
    json_object_set_new(object, "state", json_string(tn_snapshot_node_state(node)));
    json_object_set_new(object, "away", json_boolean(tn_snapshot_node_away(node)));
    json_object_set_new(object, "address", tn_json_text(member->address));
    json_object_set_new(object, "weight", tn_json_milli(member->weight_milli));
    json_object_set_new(object, "labels", labels_json(member->labels));
    json_object_set_new(object, "shards", tn_json_number(node->shards));
    json_object_set_new(object, "desired", tn_json_number(node->desired));
    json_object_set_new(object, "lease_until_ms",
                        json_integer(tn_snapshot_unix_ms(snapshot, member->lease_until_ms)));
    json_object_set_new(object, "joined_ms", json_integer(tn_snapshot_unix_ms(snapshot, member->joined_ms)));
    json_object_set_new(object, "counters", counters_json(node));
    return object;
}

static void print_json(const struct tn_snapshot *snapshot)
{
    json_t *const object = json_object(), *const skew = json_object(), *const nodes = json_array();
    json_object_set_new(skew, "count", json_real(snapshot->skew));
    json_object_set_new(skew, "load", json_real(snapshot->skew));
    for (size_t i = 0; i < snapshot->n_nodes; i++)
        json_array_append_new(nodes, node_json(snapshot, &snapshot->nodes[i]));
    json_object_set_new(object, "group", tn_json_text(snapshot->group->name));
    json_object_set_new(object, "shards", tn_json_number(snapshot->group->settings.shards));
    json_object_set_new(object, "plan_epoch", tn_json_number(snapshot->plan_epoch));
    json_object_set_new(object, "store_time_ms", json_integer(snapshot->unix_ms));
    json_object_set_new(object, "unowned", tn_json_number(snapshot->unowned));
    json_object_set_new(object, "quarantined", tn_json_number(snapshot->quarantined));
    json_object_set_new(object, "moves_in_flight", tn_json_number(snapshot->moves_in_flight));
    json_object_set_new(object, "paused", json_boolean(snapshot->paused));
    json_object_set_new(object, "frozen_until_ms",
                        snapshot->frozen_until_ms
                            ? json_integer(tn_snapshot_unix_ms(snapshot, snapshot->frozen_until_ms))
                            : json_null());
    json_object_set_new(object, "skew", skew);
    json_object_set_new(object, "nodes", nodes);
    tn_json_print(object);
}

static void print_nodes(const struct tn_snapshot *snapshot)
{
    static const char *const headings[] = {"NODE",        "STATE",   ">SHARDS", ">DESIRED", ">WEIGHT",
                                           ">LEASE LEFT", "ADDRESS", "LABELS",  NULL};
    struct tn_table table;
    tn_table_init(&table, headings);
    for (size_t i = 0; i < snapshot->n_nodes; i++) {
        const struct tn_snapshot_node *const node = &snapshot->nodes[i];
        char weight[32], left[32];
        snprintf(weight, sizeof weight, "%g", (double)node->member->weight_milli / 1000);
        snprintf(left, sizeof left, "%.1fs",
                 (double)(node->member->lease_until_ms - snapshot->store_ms) / 1000);
        tn_table_add(&table, node->member->node_id);
        tn_table_add(&table, tn_snapshot_node_away(node) ? "away" : tn_snapshot_node_state(node));
        tn_table_add_number(&table, node->shards);
        tn_table_add_number(&table, node->desired);
        tn_table_add(&table, weight);
        tn_table_add(&table, left);
        tn_table_add(&table, node->member->address);
        tn_table_add(&table, strcmp(node->member->labels, "{}") == 0 ? "" : node->member->labels);
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
}

static void print_words(struct tn_cli *cli, const struct tn_snapshot *snapshot)
{
    const bool alarm = snapshot->unowned > 0 && tn_cli_colour(stdout);
    printf("group %s: %" PRIu32 " shards, plan epoch %" PRIu64 "\n", tn_cli_shown(cli, snapshot->group->name),
           snapshot->group->settings.shards, snapshot->plan_epoch);
    printf("%s%" PRIu32 " unowned%s, %" PRIu32 " moves in flight, skew %.2f\n", alarm ? "\033[31m" : "",
           snapshot->unowned, alarm ? "\033[0m" : "", snapshot->moves_in_flight, snapshot->skew);
    if (snapshot->quarantined)
        printf(
            "%" PRIu32
            " in quarantine: `tenure shards` lists them, `tenure quarantine SHARD --lift` takes one back\n",
            snapshot->quarantined);
    if (snapshot->paused)
        puts("balance moves are paused: `tenure pause` lists the reasons");
    if (snapshot->frozen_until_ms)
        printf("balance moves rest for %.1f s more: many nodes were lost at once; `tenure resume "
               "--mass-loss` ends "
               "that\n",
               (double)(snapshot->frozen_until_ms - snapshot->store_ms) / 1000);
    if (snapshot->n_nodes)
        print_nodes(snapshot);
    else
        puts("no nodes");
}

static const struct tn_option options[] = {
    {"wait-ready", 0, TN_OPTION_FLAG, NULL,
     "first wait until every shard is owned and ready; exit 1 if that takes too long", 0, 0},
    {"timeout", 0, TN_OPTION_DURATION, "D", "how long --wait-ready waits (default 1m)", 0,
     LONGEST_TIMEOUT_MS},
    {0},
};

const struct tn_verb tn_verb_status = {
    .name = "status",
    .arguments = "",
    .summary = "show the nodes of a group and how its shards are doing",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_JSON,
    .options = options,
    .run = run,
};
