/* tenure route: key -> shard -> owner. */
#include "cli/json.h"
#include "cli/snapshot.h"
#include "cli/verb.h"

#include <inttypes.h>
#include <string.h>

/* A shard number is only worth something when this program hashes as the group's members do. */
static enum tenure_status hash_key(struct tn_cli *cli, const struct tn_group_info *group, const char *key,
                                   uint32_t *ret_shard)
{
    struct tn_hasher hasher;
    const struct tn_settings *const settings = &group->settings;
    const enum tenure_status status =
        tn_hasher_init(&hasher, settings->algo, settings->seed, settings->shards, &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_hash_fingerprint(&hasher) != group->fingerprint)
        return tn_cli_fail(cli, TENURE_FINGERPRINT,
                           "group '%s' has fingerprint %016" PRIx64 ", this program computes %016" PRIx64
                           " for the same settings",
                           tn_cli_shown(cli, group->name), group->fingerprint, tn_hash_fingerprint(&hasher));
    *ret_shard = tn_hash_shard(&hasher, key, strlen(key));
    return TENURE_OK;
}

static void print_json(uint32_t shard, const struct tn_snapshot_node *owner, uint64_t token)
{
    json_t *const object = json_object();
    json_object_set_new(object, "shard", tn_json_number(shard));
    json_object_set_new(object, "owner", tn_json_text(owner ? owner->member->node_id : NULL));
    json_object_set_new(object, "address", tn_json_text(owner ? owner->member->address : NULL));
    json_object_set_new(object, "token", owner ? tn_json_number(token) : json_null());
    tn_json_print(object);
}

static void print_words(struct tn_cli *cli, uint32_t shard, const struct tn_snapshot_node *owner,
                        uint64_t token)
{
    if (!owner) {
        printf("shard %" PRIu32 ": unowned\n", shard);
        return;
    }
    printf("shard %" PRIu32 ": owner %s, address %s, token %" PRIu64 "\n", shard,
           tn_cli_shown(cli, owner->member->node_id),
           owner->member->address[0] ? tn_cli_shown(cli, owner->member->address) : "-", token);
}

static enum tenure_status run(struct tn_cli *cli)
{
    const char *const key = tn_cli_argument(cli, 0);
    if (!*key)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "the empty key has no shard");
    const struct tn_group_info *group;
    struct tn_snapshot snapshot;
    uint32_t shard = 0;
    enum tenure_status status = tn_cli_group_given(cli, &group);
    if (status == TENURE_OK)
        status = hash_key(cli, group, key, &shard);
    if (status == TENURE_OK)
        status = tn_snapshot_read(cli, &cli->arena, group, &snapshot);
    if (status != TENURE_OK)
        return status;
    const struct tn_snapshot_node *const owner = tn_snapshot_owner(&snapshot, shard);
    if (tn_cli_flag(cli, "json"))
        print_json(shard, owner, snapshot.rows[shard].token);
    else
        print_words(cli, shard, owner, snapshot.rows[shard].token);
    return owner ? TENURE_OK : TENURE_NO;
}

const struct tn_verb tn_verb_route = {
    .name = "route",
    .arguments = "KEY",
    .summary = "tell which shard a key is in and which node has it",
    .details = "Exit status 1 when the shard is unowned.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_JSON,
    .least = 1,
    .most = 1,
    .run = run,
};
