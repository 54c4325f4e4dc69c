#include "cli/base64.h"

#include <stdint.h>

void tn_base64_add(struct tn_text *into, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = bytes;
    for (; size > 0; size -= size < 3 ? size : 3, at += 3) {
        const uint32_t group =
            (uint32_t)at[0] << 16 | (size > 1 ? (uint32_t)at[1] << 8 : 0) | (size > 2 ? (uint32_t)at[2] : 0);
        const char four[] = {digits[group >> 18], digits[group >> 12 & 63],
                             size > 1 ? digits[group >> 6 & 63] : '=', size > 2 ? digits[group & 63] : '='};
        tn_text_add(into, four, sizeof four);
    }
}
