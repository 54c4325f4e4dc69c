#include "cli/value.h"

#include "core/lease/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ms;
};

static const struct unit units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

enum { UNITS = sizeof units / sizeof units[0] };

static const int64_t longest_ms = (int64_t)36525 * 86400000;

bool tn_value_count(const char *text, int64_t *ret)
{
    const bool negative = *text == '-';
    const char *const digits = text + negative;
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return false;
    uint64_t value;
    if (!tn_value_unsigned(digits, &value) || value > INT64_MAX)
        *ret = negative ? INT64_MIN : INT64_MAX;
    else
        *ret = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

bool tn_value_unsigned(const char *text, uint64_t *ret)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (const char *at = text; *at; at++) {
        uint64_t next;
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(value, (uint64_t)10, &next) ||
            __builtin_add_overflow(next, (uint64_t)(*at - '0'), &value))
            return false;
    }
    *ret = value;
    return true;
}

/* Thousandths of the number at the start of `text`: at most ten digits, then at most three after a point. */
static const char *read_thousandths(const char *text, int64_t *ret)
{
    const size_t whole = strspn(text, "0123456789");
    if (whole < 1 || whole > 10)
        return NULL;
    int64_t value = 0;
    for (size_t i = 0; i < whole; i++)
        value = value * 10 + (text[i] - '0');
    text += whole;
    const size_t digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
    if (*text == '.' && (digits < 1 || digits > 3))
        return NULL;
    for (size_t i = 1; i <= 3; i++)
        value = value * 10 + (i <= digits ? text[i] - '0' : 0);
    *ret = value;
    return digits ? text + 1 + digits : text;
}

bool tn_value_duration(const char *text, int64_t *ret_ms)
{
    int64_t thousandths;
    const char *const name = read_thousandths(text, &thousandths);
    if (!name)
        return false;
    if (!*name && thousandths == 0) {
        *ret_ms = 0;
        return true;
    }
    for (size_t i = 0; i < UNITS; i++) {
        if (strcmp(name, units[i].name) != 0)
            continue;
        int64_t product;
        if (__builtin_mul_overflow(thousandths, units[i].ms, &product) || product % 1000 != 0 ||
            product / 1000 > longest_ms)
            return false;
        *ret_ms = product / 1000;
        return true;
    }
    return false;
}

const char *tn_value_print_duration(int64_t ms, char *into)
{
    size_t i = 0;
    while (i < UNITS - 1 && (ms == 0 || ms % units[i].ms != 0))
        i++;
    snprintf(into, TN_VALUE_DURATION_BYTES, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
    return into;
}

/* "HH:MM", five characters. */
static bool read_minute(const char *text, int64_t *ret)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits != 2 || text[2] != ':' || strspn(text + 3, "0123456789") < 2)
        return false;
    const int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
    *ret = hour * 60 + minute;
    return hour < 24 && minute < 60;
}

bool tn_value_hours(const char *text, int64_t *ret)
{
    int64_t from, to;
    if (!strcmp(text, "off")) {
        *ret = 0;
        return true;
    }
    if (strlen(text) != 11 || text[5] != '-' || !read_minute(text, &from) || !read_minute(text + 6, &to) ||
        from == to)
        return false;
    *ret = tn_settings_hours(from, to);
    return true;
}

const char *tn_value_print_hours(int64_t hours, char *into)
{
    const unsigned from = (unsigned)((hours - 1) / 1440), to = (unsigned)((hours - 1) % 1440);
    if (hours <= 0)
        return strcpy(into, "off");
    snprintf(into, TN_VALUE_DURATION_BYTES, "%02u:%02u-%02u:%02u", from / 60, from % 60, to / 60, to % 60);
    return into;
}
