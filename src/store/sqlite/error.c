#include "store/sqlite/parts.h"

#include <errno.h>
#include <string.h>

static bool no_room(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

enum tenure_status tn_sqlite_status(int code, int number)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT: return TENURE_BUSY;
    case SQLITE_FULL: return TENURE_STORE_FULL;
    case SQLITE_IOERR: return no_room(number) ? TENURE_STORE_FULL : TENURE_IO;
    case SQLITE_CANTOPEN: return no_room(number) ? TENURE_STORE_FULL : TENURE_UNREACHABLE;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return TENURE_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return TENURE_CORRUPT;
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return TENURE_CORRUPT; /* our statements fit our schema: the tables are not as we made them */
    case SQLITE_NOMEM: return TENURE_NO_MEMORY;
    default: return TENURE_BUG;
    }
}

static enum tenure_status describe(const struct tn_sqlite *sqlite, int code, struct tenure_error *error)
{
    const int number = errno; /* SQLite's own record of it misses what happens in a COMMIT */
    const enum tenure_status status = tn_sqlite_status(code, number);
    const bool os = ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) && number;
    return tn_error_set(error, status, "%.300s: %s%s%s", sqlite->path,
                        sqlite->db ? sqlite3_errmsg(sqlite->db) : sqlite3_errstr(code), os ? ": " : "",
                        os ? strerror(number) : "");
}

void tn_sqlite_fail(struct tn_sqlite *sqlite, int code)
{
    struct tenure_error error;
    const enum tenure_status status = describe(sqlite, code, &error);
    tn_rows_fail(&sqlite->rows, status, "%s", error.text);
}

enum tenure_status tn_sqlite_error(const struct tn_sqlite *sqlite, int code, struct tenure_error *error)
{
    return describe(sqlite, code, error);
}
