/* Java's String.hashCode: h = 31 h + unit over UTF-16 units (java.lang.String documentation), of UTF-8 input
 * decoded as new String(bytes, UTF_8) does: one U+FFFD for each maximal bad part, and one for a surrogate
 * coded in three bytes. */
#include "core/hash/family.h"

#include <stdbool.h>

enum { replacement = 0xfffd };

static bool continues(const uint8_t *at, const uint8_t *end, uint8_t low, uint8_t high)
{
    return at < end && *at >= low && *at <= high;
}

/* Decodes one character or bad part; returns the bytes it takes. */
static size_t decode(const uint8_t *at, const uint8_t *end, uint32_t *ret_point)
{
    const uint8_t first = *at;
    *ret_point = replacement;
    if (first < 0x80) {
        *ret_point = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4)
        return 1;
    if (first < 0xe0) {
        if (!continues(at + 1, end, 0x80, 0xbf))
            return 1;
        *ret_point = (first & 0x1fu) << 6 | (at[1] & 0x3fu);
        return 2;
    }
    const bool four = first >= 0xf0;
    const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
    if (!continues(at + 1, end, low, high))
        return 1;
    if (!continues(at + 2, end, 0x80, 0xbf))
        return 2;
    const uint32_t top =
        (four ? first & 0x07u : first & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    if (!four) {
        *ret_point = top >= 0xd800 && top <= 0xdfff ? replacement : top;
        return 3;
    }
    if (!continues(at + 3, end, 0x80, 0xbf))
        return 3;
    *ret_point = top << 6 | (at[3] & 0x3fu);
    return 4;
}

int32_t tn_java_string(const uint8_t *utf8, size_t size)
{
    uint32_t hash = 0;
    for (const uint8_t *at = utf8, *end = utf8 + size; at < end;) {
        uint32_t point;
        at += decode(at, end, &point);
        if (point > 0xffff) {
            hash = hash * 31 + (0xd800 + ((point - 0x10000) >> 10));
            hash = hash * 31 + (0xdc00 + ((point - 0x10000) & 0x3ff));
        } else {
            hash = hash * 31 + point;
        }
    }
    return (int32_t)hash;
}
