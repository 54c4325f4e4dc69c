#include "cli/instant.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Reads exactly `digits` digits, then `after` (0: nothing in particular). */
static bool read_digits(const char **at, int digits, char after, int *ret)
{
    int value = 0;
    for (int i = 0; i < digits; i++, ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        value = value * 10 + (**at - '0');
    }
    if (after && *(*at)++ != after)
        return false;
    *ret = value;
    return true;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant, "chrono-Compatible Low-Level Date
 * Algorithms"). */
static int64_t days_of(int year, int month, int day)
{
    const int64_t y = year - (month <= 2) + 400; /* year 0 stays above zero */
    const int64_t era = y / 400, of_era = y % 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return (era - 1) * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool read_fraction(const char **at, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (**at != '.')
        return true;
    ++*at;
    const size_t digits = strspn(*at, "0123456789");
    if (digits == 0)
        return false;
    for (size_t i = 0; i < 3; i++)
        *ret_ms = *ret_ms * 10 + (i < digits ? (*at)[i] - '0' : 0);
    *at += digits;
    return true;
}

static bool read_offset(const char **at, int64_t *ret_ms)
{
    const char sign = *(*at)++;
    *ret_ms = 0;
    if (sign == 'Z' || sign == 'z')
        return true;
    int hours, minutes;
    if ((sign != '+' && sign != '-') || !read_digits(at, 2, ':', &hours) ||
        !read_digits(at, 2, 0, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_ms = (hours * 60 + minutes) * (sign == '-' ? -60000 : 60000);
    return true;
}

bool tn_instant_parse(const char *text, int64_t *ret_unix_ms)
{
    int year, month, day, hour, minute, second;
    int64_t fraction_ms, offset_ms;
    if (!read_digits(&text, 4, '-', &year) || !read_digits(&text, 2, '-', &month) ||
        !read_digits(&text, 2, 0, &day))
        return false;
    if (*text != 'T' && *text != 't' && *text != ' ')
        return false;
    text++;
    if (!read_digits(&text, 2, ':', &hour) || !read_digits(&text, 2, ':', &minute) ||
        !read_digits(&text, 2, 0, &second) || !read_fraction(&text, &fraction_ms) ||
        !read_offset(&text, &offset_ms) || *text)
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    const int64_t seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ret_unix_ms = seconds * 1000 + fraction_ms - offset_ms;
    return true;
}

const char *tn_instant_print(int64_t unix_ms, char *into)
{
    const int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    const time_t seconds = (unix_ms - ms) / 1000;
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || parts.tm_year > 9999 - 1900 || parts.tm_year < -1900)
        snprintf(into, TN_INSTANT_BYTES, "%lld ms", (long long)unix_ms);
    else
        snprintf(into, TN_INSTANT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (int)ms);
    return into;
}
