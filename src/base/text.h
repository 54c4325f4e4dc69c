/* A growing piece of text, for messages, JSON that is not worth a library call, and SQL lists.
 * Owned by one caller; init/done; `bytes` is always terminated. Aborts when memory is out (see arena.h). */
#ifndef TN_BASE_TEXT_H
#define TN_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct tn_text {
    char *bytes; /* owned; "" before the first addition */
    size_t length;
    size_t room;
};

void tn_text_init(struct tn_text *text);
void tn_text_done(struct tn_text *text);
void tn_text_clear(struct tn_text *text);
void tn_text_add(struct tn_text *text, const void *bytes, size_t length);
void tn_text_puts(struct tn_text *text, const char *string);
__attribute__((format(printf, 2, 3))) void tn_text_print(struct tn_text *text, const char *format, ...);

#endif
