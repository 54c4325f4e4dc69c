/* A group's settings: one list, from which come the struct, the defaults, the bounds, the CLI options, the
 * stored form and the difference report. Durations are milliseconds. Pure.
 *
 * S(field, option, kind, default, smallest, largest, may change, sentence)
 *   kind DURATION: ms; COUNT: a number; CHOICE: 0 force, 1 give_up; HOURS: times of day, see
 * tn_settings_hours default -1: derived from the lease (renew lease/3, request lease/10, margin lease/15) */
#ifndef TN_CORE_LEASE_SETTINGS_H
#define TN_CORE_LEASE_SETTINGS_H

#include "base/status.h"
#include "core/hash/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_SETTINGS(S)                                                                                       \
    S(lease_ms, "lease", DURATION, 15000, 500, 3600000, true, "how long a session lasts without renewal")    \
    S(renew_ms, "renew", DURATION, -1, 50, 3600000, true, "how often it is renewed (default lease/3)")       \
    S(request_ms, "request-timeout", DURATION, -1, 20, 3600000, true,                                        \
      "limit of one store call (default lease/10)")                                                          \
    S(margin_ms, "margin", DURATION, -1, 10, 3600000, true,                                                  \
      "an owner stops this long before expiry (default lease/15)")                                           \
    S(crash_grace_ms, "crash-grace", DURATION, 1000, 100, 3600000, true,                                     \
      "takeover starts this long after a process is gone")                                                   \
    S(settle_ms, "settle", DURATION, 5000, 0, 3600000, true,                                                 \
      "balance moves wait this long after a membership change")                                              \
    S(cool_down_ms, "cool-down", DURATION, 60000, 0, 86400000, true,                                         \
      "a shard that moved stays at least this long")                                                         \
    S(prepare_timeout_ms, "prepare-timeout", DURATION, 10000, 100, 3600000, true,                            \
      "limit of a target's warm-up")                                                                         \
    S(drain_timeout_ms, "drain-timeout", DURATION, 30000, 100, 86400000, true,                               \
      "limit of an owner's last work")                                                                       \
    S(restore_timeout_ms, "restore-timeout", DURATION, 30000, 100, 86400000, true,                           \
      "limit until a new owner is ready")                                                                    \
    S(return_within_ms, "return-within", DURATION, 0, 0, 86400000, true,                                     \
      "a node that leaves keeps its place this long")                                                        \
    S(stall_after_ms, "stall-after", DURATION, 0, 0, 86400000, true,                                         \
      "a shard without progress for so long is given up (0: never)")                                         \
    S(quarantine_window_ms, "quarantine-window", DURATION, 600000, 1000, 86400000, true,                     \
      "owners that die within this time count together")                                                     \
    S(quarantine_after, "quarantine-after", COUNT, 3, 0, 100, true,                                          \
      "set a shard aside after so many dead owners (0: never)")                                              \
    S(max_takeovers, "max-takeovers", COUNT, 0, 0, 1048576, true,                                            \
      "shards that start after a loss at a time (0: no limit)")                                              \
    S(max_moves, "max-moves", COUNT, 5, 1, 1048576, true, "shards in handoff at a time")                     \
    S(max_moves_per_node, "max-moves-per-node", COUNT, 2, 1, 1048576, true,                                  \
      "of these, at most so many for one node")                                                              \
    S(on_drain_timeout, "on-drain-timeout", CHOICE, 0, 0, 1, true, "force the move, or give_up")             \
    S(quiet_hours, "quiet-hours", HOURS, 0, 0, 1440 * 1440, true, "no balance moves then, UTC")

enum { TN_NAME_MAX = 128, TN_STRATEGY_MAX = 64 };

struct tn_settings {
    enum tn_hash_algo algo;
    uint64_t seed;
    uint32_t shards;
    char strategy[TN_STRATEGY_MAX];
#define S(field, option, kind, initial, smallest, largest, may_change, sentence) int64_t field;
    TN_SETTINGS(S)
#undef S
};

enum tn_setting_kind { TN_SETTING_DURATION, TN_SETTING_COUNT, TN_SETTING_CHOICE, TN_SETTING_HOURS };

struct tn_setting {
    const char *name;   /* field name, as in JSON and in the store: "lease_ms" */
    const char *option; /* as on the command line, without dashes: "lease" */
    enum tn_setting_kind kind;
    int64_t initial, smallest, largest;
    bool may_change;
    const char *sentence;
    size_t offset; /* of the int64_t in struct tn_settings */
};

/* The table, `*ret_n` rows. */
const struct tn_setting *tn_settings_table(size_t *ret_n);
/* By field name or by option; NULL when there is none. */
const struct tn_setting *tn_setting_find(const char *name);
int64_t tn_setting_get(const struct tn_settings *settings, const struct tn_setting *setting);
void tn_setting_put(struct tn_settings *settings, const struct tn_setting *setting, int64_t value);

/* xxh3, 256 shards, "balanced", defaults; derived ones are -1 until tn_settings_derive. */
void tn_settings_init(struct tn_settings *settings);
/* Fills what is still -1 from the lease. */
void tn_settings_derive(struct tn_settings *settings);
/* HOURS: minutes of the day, from 0 to 1439 each, as one value above 0; 0 is off. May run over midnight. */
static inline int64_t tn_settings_hours(int64_t from_minute, int64_t to_minute)
{
    return from_minute * 1440 + to_minute + 1;
}
/* How long the quiet hours of this instant (Unix ms) still last; 0: it is in none. */
int64_t tn_settings_quiet_left_ms(const struct tn_settings *settings, int64_t unix_ms);
/* BAD_INPUT naming the value and what was expected: bounds, strategy, hash, and
 * renew + request timeout + margin <= lease / 2. Call after derive. */
enum tenure_status tn_settings_check(const struct tn_settings *settings, struct tenure_error *error);
/* Group, node and job names: 1-128 bytes of UTF-8 without control characters or '/'. `what` is "group" or the
 * like. */
enum tenure_status tn_name_check(const char *what, const char *name, struct tenure_error *error);

#endif
