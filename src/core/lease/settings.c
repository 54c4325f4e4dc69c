#include "core/lease/settings.h"

#include "core/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct tn_setting rows[] = {
#define S(field, option, kind, initial, smallest, largest, may_change, sentence)                             \
    {#field,     option,   TN_SETTING_##kind,                                                                \
     initial,    smallest, largest,                                                                          \
     may_change, sentence, offsetof(struct tn_settings, field)},
    TN_SETTINGS(S)
#undef S
};
enum { n_rows = sizeof rows / sizeof rows[0] };

const struct tn_setting *tn_settings_table(size_t *ret_n)
{
    *ret_n = n_rows;
    return rows;
}

const struct tn_setting *tn_setting_find(const char *name)
{
    for (size_t i = 0; i < n_rows; i++)
        if (!strcmp(rows[i].name, name) || !strcmp(rows[i].option, name))
            return &rows[i];
    return NULL;
}

int64_t tn_setting_get(const struct tn_settings *settings, const struct tn_setting *setting)
{
    int64_t value;
    memcpy(&value, (const char *)settings + setting->offset, sizeof value);
    return value;
}

void tn_setting_put(struct tn_settings *settings, const struct tn_setting *setting, int64_t value)
{
    memcpy((char *)settings + setting->offset, &value, sizeof value);
}

void tn_settings_init(struct tn_settings *settings)
{
    *settings = (struct tn_settings){.algo = TN_HASH_XXH3, .shards = 256, .strategy = "balanced"};
    for (size_t i = 0; i < n_rows; i++)
        tn_setting_put(settings, &rows[i], rows[i].initial);
}

void tn_settings_derive(struct tn_settings *settings)
{
    if (settings->renew_ms == -1)
        settings->renew_ms = settings->lease_ms / 3;
    if (settings->request_ms == -1)
        settings->request_ms = settings->lease_ms / 10;
    if (settings->margin_ms == -1)
        settings->margin_ms = settings->lease_ms / 15;
}

int64_t tn_settings_quiet_left_ms(const struct tn_settings *settings, int64_t unix_ms)
{
    enum { minute_ms = 60000, day = 1440 };
    if (!settings->quiet_hours)
        return 0;
    const int64_t from = (settings->quiet_hours - 1) / day, to = (settings->quiet_hours - 1) % day;
    const int64_t length = (to - from + day) % day;
    const int64_t now_ms = unix_ms % (day * (int64_t)minute_ms);
    const int64_t into_ms =
        (now_ms - from * minute_ms + day * (int64_t)minute_ms) % (day * (int64_t)minute_ms);
    return into_ms < length * minute_ms ? length * minute_ms - into_ms : 0;
}

static enum tenure_status check_hash(const struct tn_settings *settings, struct tenure_error *error)
{
    if (!tn_hash_name(settings->algo))
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "--hash: unknown algorithm; expected xxh3, java, murmur2, ...");
    struct tn_hasher hasher;
    return tn_hasher_init(&hasher, settings->algo, settings->seed, settings->shards, error);
}

static enum tenure_status check_strategy(const struct tn_settings *settings, struct tenure_error *error)
{
    if (tn_plan_find(settings->strategy))
        return TENURE_OK;
    char known[256] = "";
    size_t length = 0;
    for (size_t i = 0; tn_plan_name(i) && length < sizeof known; i++)
        length +=
            (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", tn_plan_name(i));
    return tn_error_set(error, TENURE_BAD_INPUT, "--strategy %.64s: unknown; expected one of %s",
                        settings->strategy, known);
}

static enum tenure_status check_bounds(const struct tn_settings *settings, struct tenure_error *error)
{
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t value = tn_setting_get(settings, &rows[i]);
        if (value >= rows[i].smallest && value <= rows[i].largest)
            continue;
        const char *unit = rows[i].kind == TN_SETTING_DURATION ? " ms" : "";
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "--%s %" PRId64 "%s: expected %" PRId64 " to %" PRId64 "%s", rows[i].option,
                            value, unit, rows[i].smallest, rows[i].largest, unit);
    }
    return TENURE_OK;
}

enum tenure_status tn_settings_check(const struct tn_settings *settings, struct tenure_error *error)
{
    enum tenure_status status = check_hash(settings, error);
    if (status == TENURE_OK)
        status = check_strategy(settings, error);
    if (status == TENURE_OK)
        status = check_bounds(settings, error);
    if (status != TENURE_OK)
        return status;
    /* An owner must be able to miss one whole renewal, with its request timing out, and still stop in time.
     */
    if (settings->renew_ms + settings->request_ms + settings->margin_ms > settings->lease_ms / 2)
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "renew + request timeout + margin must be at most lease / 2: %" PRId64
                            " + %" PRId64 " + %" PRId64 " ms is more than half of %" PRId64 " ms",
                            settings->renew_ms, settings->request_ms, settings->margin_ms,
                            settings->lease_ms);
    return TENURE_OK;
}

/* Length of the UTF-8 sequence at `at` and its code point; 0 when there is none (cut, overlong, surrogate,
 * too large). */
static size_t decode(const unsigned char *at, uint32_t *ret_point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80         ? 1
                          : at[0] >> 5 == 0x6  ? 2
                          : at[0] >> 4 == 0xe  ? 3
                          : at[0] >> 3 == 0x1e ? 4
                                               : 0;
    if (!length)
        return 0;
    uint32_t point = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 0x2)
            return 0;
        point = point << 6 | (at[i] & 0x3f);
    }
    if (point < smallest[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    *ret_point = point;
    return length;
}

enum tenure_status tn_name_check(const char *what, const char *name, struct tenure_error *error)
{
    const size_t length = name ? strlen(name) : 0;
    if (length < 1 || length > TN_NAME_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "%s name of %zu bytes: expected 1 to %d bytes", what,
                            length, TN_NAME_MAX);
    for (size_t i = 0; i < length;) {
        uint32_t point = 0;
        const size_t step = decode((const unsigned char *)name + i, &point);
        const char *fault = NULL;
        if (!step)
            fault = "is not UTF-8";
        else if (point < 0x20 || (point >= 0x7f && point <= 0x9f))
            fault = "has a control character";
        else if (point == '/')
            fault = "has a '/'";
        if (fault)
            return tn_error_set(error, TENURE_BAD_INPUT,
                                "%s name %s at byte %zu: expected UTF-8 without control characters or '/'",
                                what, fault, i + 1);
        i += step;
    }
    return TENURE_OK;
}
