#include "cli/escape.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at the start; 0 when there is none. */
static size_t decode(const char *text, size_t length, uint32_t *ret_point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *const bytes = (const unsigned char *)text;
    const size_t size = bytes[0] < 0x80             ? 1
                        : (bytes[0] & 0xe0) == 0xc0 ? 2
                        : (bytes[0] & 0xf0) == 0xe0 ? 3
                        : (bytes[0] & 0xf8) == 0xf0 ? 4
                                                    : 0;
    if (size == 0 || size > length)
        return 0;
    uint32_t point = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3f);
    }
    if (point < smallest[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    *ret_point = point;
    return size;
}

static bool is_hidden(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0xad || point == 0x61c ||
           (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff || (point >= 0xfff9 && point <= 0xfffb) ||
           (point >= 0xe0000 && point <= 0xe007f);
}

/* Adds one character; returns the bytes it took. */
static size_t add_one(struct tn_text *into, const char *bytes, size_t length)
{
    uint32_t point = 0;
    const size_t size = decode(bytes, length, &point);
    if (size == 0 || (size == 1 && is_hidden(point)))
        tn_text_print(into, "\\x%02x", (unsigned char)bytes[0]);
    else if (is_hidden(point))
        tn_text_print(into, "\\u{%x}", point);
    else
        tn_text_add(into, bytes, size);
    return size ? size : 1;
}

void tn_escape_add(struct tn_text *into, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;)
        at += add_one(into, bytes + at, length - at);
}

const char *tn_escape_text(struct tn_arena *arena, const char *text)
{
    struct tn_text shown;
    tn_text_init(&shown);
    tn_escape_add(&shown, text, strlen(text));
    const char *const copy = tn_arena_text(arena, shown.bytes);
    tn_text_done(&shown);
    return copy;
}

const char *tn_escape_short(struct tn_arena *arena, const char *text)
{
    const size_t length = strlen(text);
    struct tn_text shown;
    tn_text_init(&shown);
    size_t at = 0;
    for (size_t characters = 0; at < length && characters < TN_ESCAPE_SHOWN; characters++)
        at += add_one(&shown, text + at, length - at);
    if (at < length)
        tn_text_puts(&shown, "...");
    const char *const copy = tn_arena_text(arena, shown.bytes);
    tn_text_done(&shown);
    return copy;
}

bool tn_escape_is_utf8(const char *bytes, size_t length)
{
    uint32_t point;
    for (size_t at = 0, size; at < length; at += size)
        if ((size = decode(bytes + at, length - at, &point)) == 0)
            return false;
    return true;
}

size_t tn_escape_width(const char *text)
{
    const size_t length = strlen(text);
    size_t width = 0;
    for (size_t at = 0; at < length; width++) {
        uint32_t point;
        const size_t size = decode(text + at, length - at, &point);
        at += size ? size : 1;
    }
    return width;
}
