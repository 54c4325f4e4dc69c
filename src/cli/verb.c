#include "cli/verb.h"

#include "cli/setting_options.h"

#include <string.h>

static const struct tn_verb *const verbs[] = {
#define V(name) &tn_verb_##name,
    TN_VERBS(V)
#undef V
};

enum { VERBS = sizeof verbs / sizeof verbs[0], DEFAULT_LIMIT_MS = 5000, LONGEST_LIMIT_MS = 3600000 };

static const struct tn_option store_options[] = {
    {"store", 0, TN_OPTION_TEXT, "URL",
     "the store, as sqlite:PATH (default $TENURE_STORE, else a file in your state directory)", 0, 0},
    {"limit", 0, TN_OPTION_DURATION, "D", "how long the store may take (default 5s)", 0, LONGEST_LIMIT_MS},
    {0},
};
static const struct tn_option group_options[] = {
    {"group", 'g', TN_OPTION_TEXT, "G", "the group (default $TENURE_GROUP)", 0, 0},
    {0},
};
static const struct tn_option json_options[] = {
    {"json", 0, TN_OPTION_FLAG, NULL, "one JSON document instead of words", 0, 0},
    {0},
};
static const struct tn_option dry_run_options[] = {
    {"dry-run", 'n', TN_OPTION_FLAG, NULL, "say what would be done, change nothing", 0, 0},
    {0},
};
static const struct tn_option help_options[] = {
    {"help", 'h', TN_OPTION_FLAG, NULL, "this text", 0, 0},
    {0},
};

const struct tn_verb *tn_verb_get(size_t i)
{
    return i < VERBS ? verbs[i] : NULL;
}

const struct tn_verb *tn_verb_find(const char *const *words, int n, int *ret_words)
{
    for (size_t i = 0; i < VERBS; i++) {
        const char *const name = verbs[i]->name;
        const size_t first = strcspn(name, " ");
        const bool two = name[first] == ' ';
        if (n < 1 + two || strlen(words[0]) != first || memcmp(words[0], name, first) != 0)
            continue;
        if (two && strcmp(words[1], name + first + 1) != 0)
            continue;
        *ret_words = 1 + two;
        return verbs[i];
    }
    return NULL;
}

bool tn_verb_is_family(const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i < VERBS; i++)
        if (strncmp(verbs[i]->name, word, length) == 0 && verbs[i]->name[length] == ' ')
            return length > 0;
    return false;
}

void tn_verb_options(const struct tn_verb *verb, struct tn_options *options)
{
    tn_options_add(options, verb->options);
    if (verb->wants & TN_WANTS_SETTINGS)
        tn_options_add(options, tn_setting_options(options->arena));
    if (verb->wants & TN_WANTS_GROUP)
        tn_options_add(options, group_options);
    if (verb->wants & TN_WANTS_JSON)
        tn_options_add(options, json_options);
    if (verb->wants & TN_WANTS_DRY_RUN)
        tn_options_add(options, dry_run_options);
    if (verb->wants & TN_WANTS_STORE)
        tn_options_add(options, store_options);
    tn_options_add(options, help_options);
}
