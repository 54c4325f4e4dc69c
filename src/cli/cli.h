/* One run of the command line: what a verb gets, and what verbs have in common.
 *
 * A verb returns a status; with a failure the error text is in `error` (and perhaps a remedy in `hint`), and
 * main prints it on standard error and makes the exit status of it. Verbs print results on standard output
 * only. Confined to the main thread. */
#ifndef TN_CLI_CLI_H
#define TN_CLI_CLI_H

#include "base/arena.h"
#include "base/text.h"
#include "cli/options.h"
#include "core/hash/hash.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tn_cli {
    const struct tn_verb *verb;
    struct tn_options options;
    struct tn_arena arena;  /* lives as long as the run */
    const char *url;        /* set by tn_cli_open */
    struct tn_store *store; /* open, or NULL */
    bool store_missing;     /* tn_cli_open failed because there is no such file */
    const char *hint;       /* NULL, or a line that says what to do about the error */
    struct tenure_error error;
};

void tn_cli_init(struct tn_cli *cli);
void tn_cli_done(struct tn_cli *cli); /* closes the store */

/* Sets the error and returns `status`. */
__attribute__((format(printf, 3, 4))) enum tenure_status
tn_cli_fail(struct tn_cli *cli, enum tenure_status status, const char *format, ...);
/* For messages: escaped and cut; in the run's arena. */
const char *tn_cli_shown(struct tn_cli *cli, const char *text);
bool tn_cli_flag(const struct tn_cli *cli, const char *option);
/* The i-th argument, NULL when there is none. */
const char *tn_cli_argument(const struct tn_cli *cli, size_t i);
/* --store-limit where the verb has it, else --limit, else 5 s. */
int64_t tn_cli_limit_ms(const struct tn_cli *cli);
/* Colours on this file? Only a terminal that can, and without NO_COLOR (https://no-color.org). */
bool tn_cli_colour(FILE *file);

/* Opens the store of --store, $TENURE_STORE, or the default, in this order; `how` as tn_store_open's. With
 * --dry-run it is a rehearsal: what the verb asks of it is checked and not done. */
enum tenure_status tn_cli_open(struct tn_cli *cli, unsigned how);
/* The name from --group or $TENURE_GROUP; BAD_INPUT when there is none, or it is no name. */
enum tenure_status tn_cli_group_name(struct tn_cli *cli, const char **ret_name);
/* The group of that name; *ret is NULL, status OK, when there is none. */
enum tenure_status tn_cli_group_find(struct tn_cli *cli, const char *name, const struct tn_group_info **ret);
/* Opens the store and gets the named group. NOT_FOUND with the nearest name; CORRUPT when its stored settings
 * are not valid. */
enum tenure_status tn_cli_group(struct tn_cli *cli, const char *name, const struct tn_group_info **ret);
/* The same for --group. */
enum tenure_status tn_cli_group_given(struct tn_cli *cli, const struct tn_group_info **ret);
/* A shard number below `shards`; BAD_INPUT. */
enum tenure_status tn_cli_shard(struct tn_cli *cli, const char *text, uint32_t shards, uint32_t *ret_shard);

#endif
