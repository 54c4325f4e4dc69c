/* Outside effects: claimed under the fence, so that each is done at most once (tenure.h). */
#include "base/text.h"
#include "store/stamp/stamp.h"
#include "tenure/tenure.h"

#include <ctype.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static void add_name(struct tn_text *text, const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (*c < 128 && (isalnum(*c) || strchr("._-", *c)))
            tn_text_add(text, c, 1);
        else
            tn_text_print(text, "%%%02X", *c);
    }
}

size_t tenure_effect_key(const char *group, uint32_t shard, uint64_t token, uint64_t sequence, char *into,
                         size_t room)
{
    struct tn_text key;
    tn_text_init(&key);
    add_name(&key, group);
    tn_text_print(&key, "/%" PRIu32 "/%" PRIu64 "/%" PRIu64, shard, token, sequence);
    const size_t length = key.length;
    if (room)
        snprintf(into, room, "%s", key.bytes);
    tn_text_done(&key);
    return length;
}

struct claim {
    const char *group, *node, *key;
    uint32_t shard;
    uint64_t token;
};

static enum tenure_status failed(sqlite3 *db, struct tenure_error *error)
{
    const char *const words = sqlite3_errmsg(db);
    if (!strncmp(words, "TN001", 5))
        return tn_error_set(error, TENURE_STALE, "%.300s", words);
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return tn_error_set(error, TENURE_BUSY, "%.300s", words);
    case SQLITE_FULL: return tn_error_set(error, TENURE_STORE_FULL, "%.300s", words);
    case SQLITE_IOERR: return tn_error_set(error, TENURE_IO, "%.300s", words);
    case SQLITE_NOMEM: return tn_error_set(error, TENURE_NO_MEMORY, "out of memory");
    default:
        return tn_error_set(error, TENURE_BAD_INPUT, "is the file prepared by tenure_stamp_install? %.300s",
                            words);
    }
}

static enum tenure_status run(sqlite3 *db, const char *sql, const struct claim *claim,
                              struct tenure_error *error)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return failed(db, error);
    sqlite3_bind_text(statement, 1, claim->group, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, claim->shard);
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)claim->token);
    sqlite3_bind_text(statement, 4, claim->key ? claim->key : claim->node, -1, SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    const enum tenure_status status = code == SQLITE_DONE ? TENURE_OK : failed(db, error);
    sqlite3_finalize(statement);
    return status;
}

enum tenure_status tenure_effect_claim(struct sqlite3 *db, const char *group, uint32_t shard,
                                       const char *node, uint64_t token, const char *key,
                                       struct tenure_error *error)
{
    if (!key || !*key)
        return tn_error_set(error, TENURE_BAD_INPUT, "the key of an effect is empty");
    if (token < 1 || token > TN_STAMP_TOKEN_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "token %" PRIu64 " is not from 1 to 2^53 - 1", token);
    if (sqlite3_get_autocommit(db))
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "no transaction is open: outside of one a fence protects nothing");
    const struct claim fence = {.group = group, .shard = shard, .node = node, .token = token};
    const struct claim effect = {.group = group, .shard = shard, .key = key, .token = token};
    enum tenure_status status =
        run(db, "insert into tenure_fence(group_name, shard, token, node) values (?1, ?2, ?3, ?4)", &fence,
            error);
    if (status == TENURE_OK)
        status = run(db,
                     "insert into tenure_effect(group_name, shard, token, key) values (?1, ?2, ?3, ?4)"
                     " on conflict(group_name, shard, key) do nothing",
                     &effect, error);
    if (status != TENURE_OK)
        return status;
    return sqlite3_changes(db) > 0 ? TENURE_OK : TENURE_NO;
}
