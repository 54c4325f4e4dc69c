/* tenure shards: one row a shard. */
#include "cli/instant.h"
#include "cli/json.h"
#include "cli/snapshot.h"
#include "cli/table.h"
#include "cli/verb.h"

static const char *id_of(const struct tn_snapshot_node *node)
{
    return node ? node->member->node_id : NULL;
}

static void print_json(const struct tn_snapshot *snapshot)
{
    struct tn_json_list list;
    tn_json_list_begin(&list);
    for (uint32_t shard = 0; shard < snapshot->group->settings.shards; shard++) {
        const struct tn_shard_row *const row = &snapshot->rows[shard];
        const struct tn_snapshot_node *const owner = tn_snapshot_owner(snapshot, shard);
        json_t *const object = json_object();
        json_object_set_new(object, "shard", tn_json_number(shard));
        json_object_set_new(object, "owner", tn_json_text(id_of(owner)));
        json_object_set_new(object, "session", tn_json_number_or_null(owner ? row->session : 0));
        json_object_set_new(object, "token", tn_json_number(row->token));
        json_object_set_new(object, "desired", tn_json_text(id_of(tn_snapshot_desired(snapshot, shard))));
        json_object_set_new(object, "state", json_string(tn_snapshot_state(snapshot, shard)));
        json_object_set_new(object, "since_ms",
                            row->since_ms ? json_integer(tn_snapshot_unix_ms(snapshot, row->since_ms))
                                          : json_null());
        tn_json_list_add(&list, object);
    }
    tn_json_list_end(&list);
}

static void print_words(const struct tn_snapshot *snapshot)
{
    static const char *const headings[] = {">SHARD", "STATE", "OWNER", ">TOKEN", "DESIRED", "SINCE", NULL};
    struct tn_table table;
    tn_table_init(&table, headings);
    for (uint32_t shard = 0; shard < snapshot->group->settings.shards; shard++) {
        const struct tn_shard_row *const row = &snapshot->rows[shard];
        char since[TN_INSTANT_BYTES];
        tn_table_add_number(&table, shard);
        tn_table_add(&table, tn_snapshot_state(snapshot, shard));
        tn_table_add(&table, id_of(tn_snapshot_owner(snapshot, shard)));
        tn_table_add_number(&table, row->token);
        tn_table_add(&table, id_of(tn_snapshot_desired(snapshot, shard)));
        tn_table_add(&table, row->since_ms
                                 ? tn_instant_print(tn_snapshot_unix_ms(snapshot, row->since_ms), since)
                                 : NULL);
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
}

static enum tenure_status run(struct tn_cli *cli)
{
    const struct tn_group_info *group;
    struct tn_snapshot snapshot;
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status == TENURE_OK)
        status = tn_snapshot_read(cli, &cli->arena, group, &snapshot);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json"))
        print_json(&snapshot);
    else
        print_words(&snapshot);
    return TENURE_OK;
}

const struct tn_verb tn_verb_shards = {
    .name = "shards",
    .arguments = "",
    .summary = "list the shards of a group with owner and token",
    .details = "An unowned shard shows the token of its last owner.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_JSON,
    .run = run,
};
