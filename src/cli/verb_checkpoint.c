/* tenure checkpoint get and tenure checkpoint set: a shard's progress, read and repaired by hand. */
#include "cli/base64.h"
#include "cli/escape.h"
#include "cli/json.h"
#include "cli/verb.h"
#include "core/lease/token.h"
#include "tenure/tenure.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct place {
    const struct tn_group_info *group;
    uint32_t shard;
};

static enum tenure_status find(struct tn_cli *cli, struct place *ret)
{
    const enum tenure_status status = tn_cli_group_given(cli, &ret->group);
    if (status != TENURE_OK)
        return status;
    return tn_cli_shard(cli, tn_cli_argument(cli, 0), ret->group->settings.shards, &ret->shard);
}

static enum tenure_status load(struct tn_cli *cli, const struct place *place, struct tn_checkpoint *ret)
{
    return cli->store->type->checkpoint_get(cli->store, place->group->group, place->shard, &cli->arena, ret,
                                            tn_cli_limit_ms(cli), &cli->error);
}

/* ---- get ---- */

static void print_json(const struct place *place, const struct tn_checkpoint *checkpoint)
{
    json_t *const object = json_object();
    json_object_set_new(object, "group", tn_json_text(place->group->name));
    json_object_set_new(object, "shard", tn_json_number(place->shard));
    const bool text = checkpoint->data && tn_escape_is_utf8(checkpoint->data, checkpoint->size);
    json_object_set_new(object, "data",
                        text ? json_stringn(checkpoint->data, checkpoint->size) : json_null());
    if (checkpoint->data && !text) {
        struct tn_text base64;
        tn_text_init(&base64);
        tn_base64_add(&base64, checkpoint->data, checkpoint->size);
        json_object_set_new(object, "data_base64", json_string(base64.bytes));
        tn_text_done(&base64);
    }
    json_object_set_new(object, "seq", tn_json_number(checkpoint->seq));
    json_object_set_new(object, "token", tn_json_number_or_null(checkpoint->token));
    json_object_set_new(object, "saved_ms",
                        checkpoint->saved_ms ? json_integer(checkpoint->saved_ms) : json_null());
    tn_json_print(object);
}

static enum tenure_status get(struct tn_cli *cli)
{
    struct place place;
    struct tn_checkpoint checkpoint = {0};
    enum tenure_status status = find(cli, &place);
    if (status == TENURE_OK)
        status = load(cli, &place, &checkpoint);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json"))
        print_json(&place, &checkpoint);
    else if (checkpoint.data)
        fwrite(checkpoint.data, 1, checkpoint.size, stdout);
    return checkpoint.data
               ? TENURE_OK
               : tn_cli_fail(cli, TENURE_NO, "shard %" PRIu32 " has no checkpoint yet", place.shard);
}

/* ---- set ---- */

/* One byte more than allowed is read, so that the store sees it is too big. */
static enum tenure_status read_data(struct tn_cli *cli, struct tn_checkpoint *checkpoint)
{
    const char *const data = tn_cli_argument(cli, 1);
    if (data) {
        checkpoint->data = data;
        checkpoint->size = strlen(data);
        return TENURE_OK;
    }
    char *const bytes = tn_arena_get(&cli->arena, TN_CHECKPOINT_MAX + 1);
    size_t size = 0;
    while (size < TN_CHECKPOINT_MAX + 1) {
        const ssize_t got = read(STDIN_FILENO, bytes + size, TN_CHECKPOINT_MAX + 1 - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tn_cli_fail(cli, TENURE_IO, "standard input cannot be read: %s", strerror(errno));
        if (got == 0)
            break;
        size += (size_t)got;
    }
    checkpoint->data = bytes;
    checkpoint->size = size;
    return TENURE_OK;
}

static enum tenure_status check_set(struct tn_cli *cli, struct tn_item *item)
{
    const bool force = tn_cli_flag(cli, "force");
    item->token = (uint64_t)tn_options_number(&cli->options, "token", 0);
    item->rewind = tn_cli_flag(cli, "rewind");
    item->checkpoint.seq = (uint64_t)tn_options_number(&cli->options, "seq", 0);
    if (force == (item->token != 0))
        return tn_cli_fail(
            cli, TENURE_BAD_INPUT,
            "either --token T (the shard's token, as `tenure shards` lists it) or --force is needed");
    const enum tenure_status status = read_data(cli, &item->checkpoint);
    if (status == TENURE_OK && item->checkpoint.size > TN_CHECKPOINT_MAX)
        return tn_cli_fail(cli, TENURE_TOO_BIG, "a checkpoint may have up to %d bytes", TN_CHECKPOINT_MAX);
    return status;
}

static enum tenure_status set(struct tn_cli *cli)
{
    struct place place;
    struct tn_item item = {0};
    enum tenure_status status = find(cli, &place);
    if (status == TENURE_OK)
        status = check_set(cli, &item);
    if (status != TENURE_OK)
        return status;
    item.shard = place.shard;
    uint64_t seq = 0;
    status =
        cli->store->type->checkpoint_set(cli->store, place.group->group, &item, tn_cli_flag(cli, "force"),
                                         &seq, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        printf("%s %zu bytes to shard %" PRIu32 ", sequence %" PRIu64 "\n",
               tn_cli_flag(cli, "dry-run") ? "would write" : "wrote", item.checkpoint.size, place.shard, seq);
    return status;
}

static const struct tn_option options[] = {
    {"token", 0, TN_OPTION_COUNT, "T", "only while this is the shard's token", 1, (int64_t)TENURE_SEQ_MAX},
    {"force", 0, TN_OPTION_FLAG, NULL, "whatever the token is; the owner goes on from what it has in memory",
     0, 0},
    {"seq", 0, TN_OPTION_COUNT, "N", "its sequence number (default: one more than stored)", 1,
     (int64_t)TENURE_SEQ_MAX},
    {"rewind", 0, TN_OPTION_FLAG, NULL, "allow a sequence that is not above the stored one", 0, 0},
    {0},
};

const struct tn_verb tn_verb_checkpoint_get = {
    .name = "checkpoint get",
    .arguments = "SHARD",
    .summary = "print a shard's checkpoint",
    .details = "The bytes as they were saved, nothing added. Exit status 1 when there is none yet.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_JSON,
    .least = 1,
    .most = 1,
    .run = get,
};

const struct tn_verb tn_verb_checkpoint_set = {
    .name = "checkpoint set",
    .arguments = "SHARD [DATA]",
    .summary = "write a shard's checkpoint",
    .details = "DATA, or standard input, up to 65536 bytes. Exit status 5 when the token is stale or the "
               "sequence would go back.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_DRY_RUN,
    .options = options,
    .least = 1,
    .most = 2,
    .run = set,
};
