/* tenure history: who owned what, when, under which token, and why it changed. */
#include "cli/instant.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/value.h"
#include "cli/verb.h"

#include <inttypes.h>

enum { LONGEST_LIMIT_MS = 3600000, MOST_LINES = 1000000, DEFAULT_LINES = 1000 };

/* An instant, or a duration back from the store's present. */
static enum tenure_status read_since(struct tn_cli *cli, int64_t *ret_unix_ms)
{
    const char *const text = tn_options_text(&cli->options, "since");
    int64_t back_ms;
    if (!text || tn_instant_parse(text, ret_unix_ms))
        return TENURE_OK;
    if (!tn_value_duration(text, &back_ms))
        return tn_cli_fail(
            cli, TENURE_BAD_INPUT,
            "--since: '%s' is neither an instant like 2026-03-01T02:13:00Z nor a duration like 10m",
            tn_cli_shown(cli, text));
    struct tn_store_info info;
    const enum tenure_status status =
        cli->store->type->info(cli->store, &cli->arena, &info, tn_cli_limit_ms(cli), &cli->error);
    if (status == TENURE_OK)
        *ret_unix_ms = info.unix_ms - back_ms;
    return status;
}

static enum tenure_status read_query(struct tn_cli *cli, struct tn_event_query *query)
{
    const char *const shard = tn_options_text(&cli->options, "shard");
    *query = (struct tn_event_query){
        .shard = -1, .limit = (size_t)tn_options_number(&cli->options, "limit", DEFAULT_LINES)};
    enum tenure_status status;
    if (tn_cli_flag(cli, "all-groups")) {
        status = tn_cli_open(cli, 0);
        if (status == TENURE_OK && shard)
            status = tn_cli_fail(cli, TENURE_BAD_INPUT,
                                 "--shard belongs to one group: it does not go with --all-groups");
    } else {
        const struct tn_group_info *group = NULL;
        uint32_t number;
        status = tn_cli_group_given(cli, &group);
        if (status == TENURE_OK && shard)
            status = tn_cli_shard(cli, shard, group->settings.shards, &number);
        if (status == TENURE_OK && shard)
            query->shard = number;
        if (status == TENURE_OK)
            query->group = group->name;
    }
    return status == TENURE_OK ? read_since(cli, &query->since_unix_ms) : status;
}

static void print_json(const struct tn_event *events, size_t n)
{
    struct tn_json_list list;
    tn_json_list_begin(&list);
    for (size_t i = 0; i < n; i++) {
        json_t *const object = json_object();
        json_object_set_new(object, "id", tn_json_number(events[i].id));
        json_object_set_new(object, "time_ms", json_integer(events[i].unix_ms));
        json_object_set_new(object, "group", tn_json_text_or_null(events[i].group));
        json_object_set_new(object, "shard",
                            events[i].shard < 0 ? json_null() : json_integer(events[i].shard));
        json_object_set_new(object, "node", tn_json_text_or_null(events[i].node));
        json_object_set_new(object, "session", tn_json_number_or_null(events[i].session));
        json_object_set_new(object, "token", tn_json_number_or_null(events[i].token));
        json_object_set_new(object, "cause", tn_json_text(events[i].cause));
        tn_json_list_add(&list, object);
    }
    tn_json_list_end(&list);
}

static void add_number(struct tn_table *table, int64_t number, bool there)
{
    if (there)
        tn_table_add_number(table, (uint64_t)number);
    else
        tn_table_add(table, NULL);
}

static void print_words(const struct tn_event *events, size_t n)
{
    static const char *const headings[] = {"TIME",     "GROUP",  ">SHARD", "NODE",
                                           ">SESSION", ">TOKEN", "CAUSE",  NULL};
    struct tn_table table;
    tn_table_init(&table, headings);
    for (size_t i = 0; i < n; i++) {
        char time[TN_INSTANT_BYTES];
        tn_table_add(&table, tn_instant_print(events[i].unix_ms, time));
        tn_table_add(&table, events[i].group);
        add_number(&table, events[i].shard, events[i].shard >= 0);
        tn_table_add(&table, events[i].node);
        add_number(&table, (int64_t)events[i].session, events[i].session);
        add_number(&table, (int64_t)events[i].token, events[i].token);
        tn_table_add(&table, events[i].cause);
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
}

static enum tenure_status run(struct tn_cli *cli)
{
    struct tn_event_query query;
    struct tn_event *events;
    size_t n;
    enum tenure_status status = read_query(cli, &query);
    if (status == TENURE_OK)
        status = cli->store->type->events(cli->store, &query, &cli->arena, &events, &n, tn_cli_limit_ms(cli),
                                          &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json"))
        print_json(events, n);
    else
        print_words(events, n);
    return TENURE_OK;
}

static const struct tn_option options[] = {
    {"shard", 0, TN_OPTION_TEXT, "S", "of this shard only", 0, 0},
    {"since", 0, TN_OPTION_TEXT, "T", "from then on: RFC 3339, or a duration back, like 10m", 0, 0},
    {"limit", 0, TN_OPTION_COUNT, "N", "the newest so many (default 1000)", 1, MOST_LINES},
    {"all-groups", 0, TN_OPTION_FLAG, NULL, "of all groups, and of sessions", 0, 0},
    {"store-limit", 0, TN_OPTION_DURATION, "D", "how long the store may take (default 5s)", 0,
     LONGEST_LIMIT_MS},
    {0},
};

const struct tn_verb tn_verb_history = {
    .name = "history",
    .arguments = "",
    .summary = "show who owned what and why it changed",
    .details = "Oldest first. Here --limit counts lines; --store-limit bounds the store's time.",
    .wants = TN_WANTS_STORE | TN_WANTS_GROUP | TN_WANTS_JSON,
    .options = options,
    .run = run,
};
