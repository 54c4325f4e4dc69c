#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

struct status_row {
    enum tenure_status status;
    enum tenure_class class;
    int exit_status;
    int http;
    const char *name;
    const char *sentence;
};

static const struct status_row rows[] = {
#define X(name, number, class, exit_status, http, sentence)                                                  \
    {TENURE_##name, TENURE_CLASS_##class, exit_status, http, #name, sentence},
    TENURE_STATUSES(X)
#undef X
};

static const struct status_row *find(enum tenure_status status)
{
    const size_t n = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < n; i++)
        if (rows[i].status == status)
            return &rows[i];
    return &rows[n - 1];
}

const char *tenure_status_name(enum tenure_status status)
{
    return find(status)->name;
}

const char *tenure_status_sentence(enum tenure_status status)
{
    return find(status)->sentence;
}

enum tenure_class tenure_status_class(enum tenure_status status)
{
    return find(status)->class;
}

int tenure_status_exit(enum tenure_status status)
{
    return find(status)->exit_status;
}

int tenure_status_http(enum tenure_status status)
{
    return find(status)->http;
}

enum tenure_status tn_error_set(struct tenure_error *error, enum tenure_status status, const char *format,
                                ...)
{
    if (!error)
        return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}
