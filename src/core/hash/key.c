#include "core/hash/key.h"

static void put(uint8_t byte, uint8_t *into, size_t room, size_t *length)
{
    if (*length < room)
        into[*length] = byte;
    (*length)++;
}

size_t tn_key_join(const void *const *parts, const size_t *sizes, size_t n, void *into, size_t room)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        size_t left = sizes[i];
        do {
            put((uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0)), into, room, &length);
            left >>= 7;
        } while (left);
        const uint8_t *bytes = parts[i];
        for (size_t j = 0; j < sizes[i]; j++)
            put(bytes[j], into, room, &length);
    }
    return length;
}

int64_t tn_key_bucket(int64_t instant_ms, int64_t width_ms)
{
    const int64_t rest = instant_ms % width_ms;
    const int64_t toward_zero = instant_ms - rest;
    if (rest >= 0)
        return toward_zero;
    /* The first bucket of all may begin before the first number: it is cut there. */
    return toward_zero < INT64_MIN + width_ms ? INT64_MIN : toward_zero - width_ms;
}
