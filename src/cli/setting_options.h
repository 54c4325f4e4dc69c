/* Group settings on the command line: one option a row of core/lease/settings.h, plus shards, hash, seed and
 * strategy. */
#ifndef TN_CLI_SETTING_OPTIONS_H
#define TN_CLI_SETTING_OPTIONS_H

#include "cli/cli.h"
#include "core/lease/settings.h"

/* The table, in `arena`. */
const struct tn_option *tn_setting_options(struct tn_arena *arena);

/* A hash by its name; BAD_INPUT naming `what` ("--hash") and all there are. */
enum tenure_status tn_setting_options_hash(struct tn_arena *arena, const char *what, const char *text,
                                           enum tn_hash_algo *ret, struct tenure_error *error);

/* Puts what was given on top of `settings`. BAD_INPUT: unknown hash, a strategy of too many bytes, a seed for
 * a hash that takes none. */
enum tenure_status tn_setting_options_apply(struct tn_cli *cli, struct tn_settings *settings);
/* New settings from the options alone: defaults, then what was given, derived and checked. */
enum tenure_status tn_setting_options_new(struct tn_cli *cli, struct tn_settings *ret,
                                          uint64_t *ret_fingerprint);
/* Changed settings: `stored`, then what was given, checked. A value that was derived from the stored lease
 * follows the new one. */
enum tenure_status tn_setting_options_change(struct tn_cli *cli, const struct tn_settings *stored,
                                             struct tn_settings *ret);

#endif
