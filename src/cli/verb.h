/* The verbs: one list, from which come dispatch, help, completion and suggestions.
 *
 * To add a verb: a file that defines `const struct tn_verb tn_verb_NAME`, and a line in TN_VERBS. Its options
 * are a table; what most verbs share (--store, --group, --json, ...) it asks for by a bit of `wants`. */
#ifndef TN_CLI_VERB_H
#define TN_CLI_VERB_H

#include "cli/cli.h"

/* In the order in which help lists them; a line a subject. */
/* clang-format off */
#define TN_VERBS(V) \
    V(group_create) V(group_list) V(group_show) V(group_set) V(group_delete) \
    V(status) V(shards) V(route) V(history) \
    V(run) V(drain) V(undrain) V(move) V(pause) V(resume) V(quarantine) \
    V(checkpoint_get) V(checkpoint_set) \
    V(stamp_install) V(stamp_raise) \
    V(store_info) V(store_new_history) V(store_prune) \
    V(hash) V(completion) V(help)
/* clang-format on */

enum tn_verb_wants {
    TN_WANTS_STORE = 1,    /* --store, --limit */
    TN_WANTS_GROUP = 2,    /* --group */
    TN_WANTS_JSON = 4,     /* --json */
    TN_WANTS_DRY_RUN = 8,  /* --dry-run */
    TN_WANTS_SETTINGS = 16 /* one option a group setting */
};

enum { TN_ANY = -1 };

struct tn_verb {
    const char *name;                /* one or two words: "group create" */
    const char *arguments;           /* "NAME", "" */
    const char *summary;             /* one line */
    const char *details;             /* paragraphs, lines broken; NULL none */
    unsigned wants;                  /* enum tn_verb_wants, or-ed */
    const struct tn_option *options; /* NULL: none but the shared ones */
    int least, most;                 /* how many arguments; most TN_ANY: no bound */
    enum tenure_status (*run)(struct tn_cli *cli);
};

#define V(name) extern const struct tn_verb tn_verb_##name;
TN_VERBS(V)
#undef V

/* The i-th verb, NULL past the end. */
const struct tn_verb *tn_verb_get(size_t i);
/* The verb that words[0] (and words[1]) name; *ret_words: how many. NULL: none. */
const struct tn_verb *tn_verb_find(const char *const *words, int n, int *ret_words);
/* Is it the first word of two-word verbs ("group")? */
bool tn_verb_is_family(const char *word);
/* The tables of options that a verb takes, its own first. */
void tn_verb_options(const struct tn_verb *verb, struct tn_options *options);

#endif
