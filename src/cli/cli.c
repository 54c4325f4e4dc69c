#include "cli/cli.h"

#include "cli/escape.h"
#include "cli/nearest.h"
#include "cli/value.h"
#include "cli/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_LIMIT_MS = 5000, URL_BYTES = 4096 };

static const char missing_hint[] =
    "`tenure group create NAME` makes it; --store URL or TENURE_STORE names another";

void tn_cli_init(struct tn_cli *cli)
{
    *cli = (struct tn_cli){0};
    tn_arena_init(&cli->arena);
    tn_options_init(&cli->options, &cli->arena);
}

void tn_cli_done(struct tn_cli *cli)
{
    if (cli->store)
        cli->store->type->close(cli->store);
    cli->store = NULL;
    tn_arena_done(&cli->arena);
}

enum tenure_status tn_cli_fail(struct tn_cli *cli, enum tenure_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cli->error.status = status;
    vsnprintf(cli->error.text, sizeof cli->error.text, format, args);
    va_end(args);
    return status;
}

const char *tn_cli_shown(struct tn_cli *cli, const char *text)
{
    return tn_escape_short(&cli->arena, text);
}

bool tn_cli_flag(const struct tn_cli *cli, const char *option)
{
    return tn_options_given(&cli->options, option);
}

const char *tn_cli_argument(const struct tn_cli *cli, size_t i)
{
    return i < cli->options.n_arguments ? cli->options.arguments[i] : NULL;
}

int64_t tn_cli_limit_ms(const struct tn_cli *cli)
{
    const struct tn_options *const options = &cli->options;
    for (size_t i = 0; i < options->n_values; i++)
        if (strcmp(options->values[i].option->name, "store-limit") == 0)
            return tn_options_number(options, "store-limit", DEFAULT_LIMIT_MS);
    return tn_options_number(options, "limit", DEFAULT_LIMIT_MS);
}

bool tn_cli_colour(FILE *file)
{
    const char *const no_color = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    return isatty(fileno(file)) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

/* ---- the store ---- */

static enum tenure_status choose_url(struct tn_cli *cli)
{
    const char *const given = tn_options_text(&cli->options, "store");
    const char *const environment = getenv("TENURE_STORE");
    if (given || (environment && *environment)) {
        cli->url = given ? given : environment;
        return TENURE_OK;
    }
    char *const url = tn_arena_get(&cli->arena, URL_BYTES);
    cli->url = url;
    return tn_store_default_url(url, URL_BYTES, &cli->error);
}

/* Is this the URL of a file that is not there? */
static bool is_missing(struct tn_cli *cli)
{
    static const char scheme[] = "sqlite:";
    if (strncmp(cli->url, scheme, sizeof scheme - 1) != 0)
        return false;
    char *const path = tn_arena_text(&cli->arena, cli->url + sizeof scheme - 1);
    path[strcspn(path, "?")] = 0;
    struct stat file;
    return stat(path, &file) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

enum tenure_status tn_cli_open(struct tn_cli *cli, unsigned how)
{
    enum tenure_status status = choose_url(cli);
    if (status != TENURE_OK)
        return status;
    cli->store_missing = is_missing(cli);
    if ((cli->verb->wants & TN_WANTS_DRY_RUN) && tn_cli_flag(cli, "dry-run"))
        how |= TN_STORE_REHEARSE;
    status = tn_store_open(cli->url, how, &cli->store, &cli->error);
    if (status != TENURE_OK && !(how & TN_STORE_CREATE) && cli->store_missing)
        cli->hint = missing_hint;
    return status;
}

/* ---- groups and shards ---- */

enum tenure_status tn_cli_group_name(struct tn_cli *cli, const char **ret_name)
{
    const char *const given = tn_options_text(&cli->options, "group");
    const char *const environment = getenv("TENURE_GROUP");
    const char *const name = given ? given : environment && *environment ? environment : NULL;
    if (!name)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "which group? --group G or TENURE_GROUP names it");
    const enum tenure_status status = tn_name_check("group", name, &cli->error);
    if (status == TENURE_OK)
        *ret_name = name;
    return status;
}

enum tenure_status tn_cli_group_find(struct tn_cli *cli, const char *name, const struct tn_group_info **ret)
{
    struct tn_group_info *groups;
    size_t n;
    const enum tenure_status status =
        cli->store->type->group_list(cli->store, &cli->arena, &groups, &n, tn_cli_limit_ms(cli), &cli->error);
    if (status != TENURE_OK)
        return status;
    struct tn_nearest nearest;
    tn_nearest_init(&nearest, name);
    *ret = NULL;
    for (size_t i = 0; i < n && !*ret; i++) {
        tn_nearest_try(&nearest, groups[i].name);
        if (strcmp(groups[i].name, name) == 0)
            *ret = &groups[i];
    }
    if (!*ret && nearest.best) {
        struct tn_text hint;
        tn_text_init(&hint);
        tn_text_print(&hint, "did you mean '%s'?", tn_cli_shown(cli, nearest.best));
        cli->hint = tn_arena_text(&cli->arena, hint.bytes);
        tn_text_done(&hint);
    }
    return TENURE_OK;
}

enum tenure_status tn_cli_group(struct tn_cli *cli, const char *name, const struct tn_group_info **ret)
{
    enum tenure_status status = tn_name_check("group", name, &cli->error);
    if (status == TENURE_OK)
        status = tn_cli_open(cli, 0);
    if (status == TENURE_OK)
        status = tn_cli_group_find(cli, name, ret);
    if (status != TENURE_OK)
        return status;
    if (!*ret)
        return tn_cli_fail(cli, TENURE_NOT_FOUND, "there is no group '%s'", tn_cli_shown(cli, name));
    struct tenure_error problem;
    if (tn_settings_check(&(*ret)->settings, &problem) == TENURE_OK)
        return TENURE_OK;
    cli->hint = "`tenure group create NAME ... --update` writes valid ones";
    return tn_cli_fail(cli, TENURE_CORRUPT, "the stored settings of group '%s' are not valid: %.300s",
                       tn_cli_shown(cli, name), problem.text);
}

enum tenure_status tn_cli_group_given(struct tn_cli *cli, const struct tn_group_info **ret)
{
    const char *name;
    const enum tenure_status status = tn_cli_group_name(cli, &name);
    return status == TENURE_OK ? tn_cli_group(cli, name, ret) : status;
}

enum tenure_status tn_cli_shard(struct tn_cli *cli, const char *text, uint32_t shards, uint32_t *ret_shard)
{
    int64_t shard;
    if (!tn_value_count(text, &shard) || shard < 0 || shard >= shards)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "shard '%s' is not a whole number from 0 to %" PRIu32,
                           tn_cli_shown(cli, text), shards - 1);
    *ret_shard = (uint32_t)shard;
    return TENURE_OK;
}
