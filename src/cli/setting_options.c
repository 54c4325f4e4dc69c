#include "cli/setting_options.h"

#include "base/text.h"
#include "cli/difference.h"
#include "cli/escape.h"

#include <string.h>

enum { OWN = 4 };

static const struct tn_option own[OWN] = {
    {"shards", 0, TN_OPTION_COUNT, "N", "how many shards, for good (default 256)", 1, TN_SHARDS_MAX},
    {"hash", 0, TN_OPTION_TEXT, "A", "how keys are hashed, for good (default xxh3)", 0, 0},
    {"seed", 0, TN_OPTION_UNSIGNED, "S", "of xxh3, xxh64 and murmur3_32, for good (default 0)", 0, 0},
    {"strategy", 0, TN_OPTION_TEXT, "S", "how shards are spread over nodes (default balanced)", 0, 0},
};

static enum tn_option_kind kind_of(const struct tn_setting *setting)
{
    switch (setting->kind) {
    case TN_SETTING_DURATION: return TN_OPTION_DURATION;
    case TN_SETTING_COUNT: return TN_OPTION_COUNT;
    case TN_SETTING_HOURS: return TN_OPTION_HOURS;
    case TN_SETTING_CHOICE: break;
    }
    return TN_OPTION_CHOICE;
}

/* Derived ones say in their sentence what they derive from. */
static const char *sentence_of(struct tn_arena *arena, const struct tn_setting *setting)
{
    if (setting->initial < 0)
        return setting->sentence;
    struct tn_settings defaults;
    struct tn_text text;
    tn_settings_init(&defaults);
    tn_text_init(&text);
    tn_text_print(&text, "%s (default %s)", setting->sentence,
                  tn_difference_value(arena, &defaults, setting));
    const char *const sentence = tn_arena_text(arena, text.bytes);
    tn_text_done(&text);
    return sentence;
}

const struct tn_option *tn_setting_options(struct tn_arena *arena)
{
    static const char *const values[] = {[TN_OPTION_DURATION] = "D",
                                         [TN_OPTION_COUNT] = "N",
                                         [TN_OPTION_CHOICE] = "force|give_up",
                                         [TN_OPTION_HOURS] = "HH:MM-HH:MM"};
    size_t n;
    const struct tn_setting *const settings = tn_settings_table(&n);
    struct tn_option *const options = tn_arena_array(arena, OWN + n + 1, sizeof *options);
    memcpy(options, own, sizeof own);
    for (size_t i = 0; i < n; i++)
        options[OWN + i] = (struct tn_option){.name = settings[i].option,
                                              .kind = kind_of(&settings[i]),
                                              .value = values[kind_of(&settings[i])],
                                              .sentence = sentence_of(arena, &settings[i]),
                                              .smallest = settings[i].smallest,
                                              .largest = settings[i].largest};
    return options;
}

enum tenure_status tn_setting_options_hash(struct tn_arena *arena, const char *what, const char *text,
                                           enum tn_hash_algo *ret, struct tenure_error *error)
{
    if (tn_hash_parse(text, ret))
        return TENURE_OK;
    struct tn_text known;
    tn_text_init(&known);
    for (int i = 0; i < TN_HASH_COUNT; i++)
        tn_text_print(&known, "%s%s", i ? " " : "", tn_hash_name((enum tn_hash_algo)i));
    tn_error_set(error, TENURE_BAD_INPUT, "%s: '%s' is not one of %s", what, tn_escape_short(arena, text),
                 known.bytes);
    tn_text_done(&known);
    return TENURE_BAD_INPUT;
}

static enum tenure_status apply_hash(struct tn_cli *cli, struct tn_settings *settings)
{
    const struct tn_option_value *const hash = tn_options_get(&cli->options, "hash");
    const struct tn_option_value *const seed = tn_options_get(&cli->options, "seed");
    if (hash->given) {
        const enum tenure_status status =
            tn_setting_options_hash(&cli->arena, "--hash", hash->text, &settings->algo, &cli->error);
        if (status != TENURE_OK)
            return status;
    }
    if (seed->given && !tn_hash_seedable(settings->algo))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--seed: %s takes none; xxh3, xxh64 and murmur3_32 do",
                           tn_hash_name(settings->algo));
    if (seed->given)
        settings->seed = seed->wide;
    return TENURE_OK;
}

enum tenure_status tn_setting_options_apply(struct tn_cli *cli, struct tn_settings *settings)
{
    const char *const strategy = tn_options_text(&cli->options, "strategy");
    if (strategy && strlen(strategy) >= sizeof settings->strategy)
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--strategy: '%s' is not a strategy",
                           tn_cli_shown(cli, strategy));
    if (strategy)
        strcpy(settings->strategy, strategy);
    settings->shards = (uint32_t)tn_options_number(&cli->options, "shards", settings->shards);
    size_t n;
    const struct tn_setting *const table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++)
        tn_setting_put(
            settings, &table[i],
            tn_options_number(&cli->options, table[i].option, tn_setting_get(settings, &table[i])));
    return apply_hash(cli, settings);
}

enum tenure_status tn_setting_options_new(struct tn_cli *cli, struct tn_settings *ret,
                                          uint64_t *ret_fingerprint)
{
    tn_settings_init(ret);
    enum tenure_status status = tn_setting_options_apply(cli, ret);
    if (status != TENURE_OK)
        return status;
    tn_settings_derive(ret);
    struct tn_hasher hasher;
    status = tn_settings_check(ret, &cli->error);
    if (status == TENURE_OK)
        status = tn_hasher_init(&hasher, ret->algo, ret->seed, ret->shards, &cli->error);
    if (status == TENURE_OK)
        *ret_fingerprint = tn_hash_fingerprint(&hasher);
    return status;
}

enum tenure_status tn_setting_options_change(struct tn_cli *cli, const struct tn_settings *stored,
                                             struct tn_settings *ret)
{
    struct tn_settings derived = *stored;
    size_t n;
    const struct tn_setting *const table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++)
        if (table[i].initial == -1)
            tn_setting_put(&derived, &table[i], -1);
    struct tn_settings next = derived;
    tn_settings_derive(&derived);
    for (size_t i = 0; i < n; i++) {
        const int64_t value = tn_setting_get(stored, &table[i]);
        if (value != tn_setting_get(&derived, &table[i])) /* was set by hand: it stays */
            tn_setting_put(&next, &table[i], value);
    }
    const enum tenure_status status = tn_setting_options_apply(cli, &next);
    if (status != TENURE_OK)
        return status;
    tn_settings_derive(&next);
    *ret = next;
    return tn_settings_check(ret, &cli->error);
}
