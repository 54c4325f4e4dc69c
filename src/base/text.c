#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1]; /* never written: room 0 means "not ours" */

void tn_text_init(struct tn_text *text)
{
    *text = (struct tn_text){.bytes = empty};
}

void tn_text_done(struct tn_text *text)
{
    if (text->room)
        free(text->bytes);
    tn_text_init(text);
}

void tn_text_clear(struct tn_text *text)
{
    text->length = 0;
    if (text->room)
        text->bytes[0] = 0;
}

static void reserve(struct tn_text *text, size_t more)
{
    const size_t need = text->length + more + 1;
    if (need <= text->room)
        return;
    size_t room = text->room ? text->room * 2 : 256;
    if (room < need)
        room = need;
    char *bytes = realloc(text->room ? text->bytes : NULL, room);
    if (!bytes) {
        fprintf(stderr, "tenure: out of memory (asked for %zu bytes)\n", room);
        abort();
    }
    if (!text->room)
        bytes[0] = 0;
    text->bytes = bytes;
    text->room = room;
}

void tn_text_add(struct tn_text *text, const void *bytes, size_t length)
{
    if (!length)
        return;
    reserve(text, length);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void tn_text_puts(struct tn_text *text, const char *string)
{
    tn_text_add(text, string, strlen(string));
}

void tn_text_print(struct tn_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}
