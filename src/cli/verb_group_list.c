/* tenure group list and tenure group show. */
#include "cli/difference.h"
#include "cli/escape.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/verb.h"

#include <inttypes.h>

/* NULL when the settings are valid. */
static const char *problem_of(struct tn_cli *cli, const struct tn_group_info *group)
{
    struct tenure_error problem;
    if (tn_settings_check(&group->settings, &problem) == TENURE_OK)
        return NULL;
    return tn_arena_text(&cli->arena, problem.text);
}

static const char *hash_of(const struct tn_group_info *group)
{
    const char *const name = tn_hash_name(group->settings.algo);
    return name ? name : "unknown";
}

static json_t *group_json(struct tn_cli *cli, const struct tn_group_info *group)
{
    const struct tn_settings *const settings = &group->settings;
    const char *const problem = problem_of(cli, group);
    char fingerprint[24];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, group->fingerprint);
    json_t *const object = json_object();
    json_object_set_new(object, "group", tn_json_text(group->name));
    json_object_set_new(object, "valid", json_boolean(!problem));
    json_object_set_new(object, "problem", tn_json_text(problem));
    json_object_set_new(object, "shards", tn_json_number(settings->shards));
    json_object_set_new(object, "hash", tn_json_text(tn_hash_name(settings->algo)));
    json_object_set_new(object, "seed", tn_json_wide(settings->seed));
    json_object_set_new(object, "strategy", tn_json_text(settings->strategy));
    size_t n;
    const struct tn_setting *const table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++)
        json_object_set_new(object, table[i].name,
                            table[i].kind == TN_SETTING_CHOICE
                                ? json_string(tn_difference_value(&cli->arena, settings, &table[i]))
                                : json_integer(tn_setting_get(settings, &table[i])));
    json_object_set_new(object, "fingerprint", json_string(fingerprint));
    json_object_set_new(object, "plan_epoch", tn_json_number(group->plan_epoch));
    return object;
}

static enum tenure_status list(struct tn_cli *cli)
{
    struct tn_group_info *groups;
    size_t n;
    enum tenure_status status = tn_cli_open(cli, 0);
    if (status == TENURE_OK)
        status = cli->store->type->group_list(cli->store, &cli->arena, &groups, &n, tn_cli_limit_ms(cli),
                                              &cli->error);
    if (status != TENURE_OK)
        return status;
    if (tn_cli_flag(cli, "json")) {
        json_t *const array = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(array, group_json(cli, &groups[i]));
        tn_json_print(array);
        return TENURE_OK;
    }
    static const char *const headings[] = {"GROUP", ">SHARDS", "HASH", "STRATEGY", "LEASE", "STATE", NULL};
    struct tn_table table;
    tn_table_init(&table, headings);
    for (size_t i = 0; i < n; i++) {
        const char *const problem = problem_of(cli, &groups[i]);
        tn_table_add(&table, groups[i].name);
        tn_table_add_number(&table, groups[i].settings.shards);
        tn_table_add(&table, hash_of(&groups[i]));
        tn_table_add(&table, groups[i].settings.strategy);
        tn_table_add(&table, tn_difference_value(&cli->arena, &groups[i].settings, tn_setting_find("lease")));
        tn_table_add(&table, problem ? "invalid" : "ok");
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
    for (size_t i = 0; i < n; i++)
        if (problem_of(cli, &groups[i]))
            printf("group '%s' is invalid: %s\n", tn_cli_shown(cli, groups[i].name),
                   tn_escape_text(&cli->arena, problem_of(cli, &groups[i])));
    return TENURE_OK;
}

static void print_group(struct tn_cli *cli, const struct tn_group_info *group)
{
    static const char *const headings[] = {"SETTING", "VALUE", NULL};
    const struct tn_settings *const settings = &group->settings;
    struct tn_table table;
    tn_table_init(&table, headings);
    tn_table_add(&table, "shards");
    tn_table_add_number(&table, settings->shards);
    tn_table_add(&table, "hash");
    tn_table_add(&table, hash_of(group));
    tn_table_add(&table, "seed");
    tn_table_add_number(&table, settings->seed);
    tn_table_add(&table, "strategy");
    tn_table_add(&table, settings->strategy);
    size_t n;
    const struct tn_setting *const rows = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++) {
        tn_table_add(&table, rows[i].option);
        tn_table_add(&table, tn_difference_value(&cli->arena, settings, &rows[i]));
    }
    tn_table_print(&table, stdout, tn_cli_colour(stdout));
    tn_table_done(&table);
}

static enum tenure_status show(struct tn_cli *cli)
{
    const char *const name = tn_cli_argument(cli, 0);
    const struct tn_group_info *group = NULL;
    enum tenure_status status = tn_name_check("group", name, &cli->error);
    if (status == TENURE_OK)
        status = tn_cli_open(cli, 0);
    if (status == TENURE_OK)
        status = tn_cli_group_find(cli, name, &group);
    if (status != TENURE_OK)
        return status;
    if (!group)
        return tn_cli_fail(cli, TENURE_NOT_FOUND, "there is no group '%s'", tn_cli_shown(cli, name));
    if (tn_cli_flag(cli, "json")) {
        tn_json_print(group_json(cli, group));
        return TENURE_OK;
    }
    print_group(cli, group);
    const char *const problem = problem_of(cli, group);
    if (problem)
        printf("invalid: %s\n", tn_escape_text(&cli->arena, problem));
    return TENURE_OK;
}

const struct tn_verb tn_verb_group_list = {
    .name = "group list",
    .arguments = "",
    .summary = "list the groups of the store",
    .wants = TN_WANTS_STORE | TN_WANTS_JSON,
    .run = list,
};

const struct tn_verb tn_verb_group_show = {
    .name = "group show",
    .arguments = "NAME",
    .summary = "show the settings of a group",
    .wants = TN_WANTS_STORE | TN_WANTS_JSON,
    .least = 1,
    .most = 1,
    .run = show,
};
