#include "store/sqlite/sql.h"

#include <errno.h>

_Static_assert((int)TN_SQL_COUNT <= (int)TN_STATEMENTS_ROOM, "room for every statement");

static const char *const texts[] = {
#define X(name, text) text,
    TN_STATEMENTS(X)
#undef X
};

sqlite3_stmt *tn_sql(struct tn_sqlite *sqlite, enum tn_statement which, const int64_t *values, int n)
{
    if (sqlite->rows.failed != TENURE_OK)
        return NULL;
    sqlite3_stmt **statement = &sqlite->statements[which];
    if (!*statement) {
        errno = 0;
        const int code =
            sqlite3_prepare_v3(sqlite->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        if (code != SQLITE_OK) {
            tn_sqlite_fail(sqlite, code);
            return NULL;
        }
    }
    sqlite3_reset(*statement); /* its last failure was reported then */
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(*statement, i + 1, values[i]);
    return *statement;
}

void tn_sql_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    if (statement)
        sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

bool tn_sql_row(struct tn_sqlite *sqlite, sqlite3_stmt *statement)
{
    if (!statement || sqlite->rows.failed != TENURE_OK)
        return false;
    errno = 0;
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        tn_sqlite_fail(sqlite, code);
    sqlite3_reset(statement);
    return false;
}

void tn_sql_run(struct tn_sqlite *sqlite, sqlite3_stmt *statement)
{
    while (tn_sql_row(sqlite, statement))
        continue;
    if (!statement)
        return;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int64_t tn_sql_number(struct tn_sqlite *sqlite, sqlite3_stmt *statement)
{
    const int64_t number = tn_sql_row(sqlite, statement) ? sqlite3_column_int64(statement, 0) : 0;
    if (statement)
        sqlite3_reset(statement);
    return number;
}

const char *tn_sql_column(sqlite3_stmt *statement, int column, struct tn_arena *arena)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return tn_arena_text(arena, text ? (const char *)text : "");
}

void tn_sql_done(struct tn_sqlite *sqlite)
{
    for (int i = 0; i < TN_SQL_COUNT; i++)
        sqlite3_finalize(sqlite->statements[i]);
}
