/* Stamps: fencing in an SQLite file that belongs to the user.
 *
 * Holds: the internal side of tenure_stamp_install and tenure_stamp_raise (include/tenure/tenure.h). In the
 * data file:
 *
 *   table tenure_stamp(group_name, shard, token, node, fenced_ms), key (group_name, shard): the token that
 * may write. Only a new owner raises it, before it reads; it never goes down. view tenure_fence(group_name,
 * shard, node, token) with a trigger. `insert into tenure_fence values ('orders', 37, 'A', 19)` inside the
 * user's transaction aborts, message beginning with TN001, unless the stamp *equals* the token: a writer that
 * is ahead of the stamp has not raised it, so its predecessor would not be stopped. The insert also writes
 * node and time into the stamp, and with that takes the file's write lock: until the transaction ends nobody
 * can raise, and what was checked stays true up to the commit. (In autocommit a fence protects nothing: it
 * ends before the write begins.)
 *
 *   table tenure_effect(group_name, shard, key, token, done_ms), key (group_name, shard, key): outside
 * effects that were done, or are about to be; effect.c fills it, or the user's own `insert ... on conflict do
 * nothing`.
 *
 * The user's journal mode is left as it is. Nothing is kept open between calls. Any thread; every call blocks
 * for file access and polls for the write lock by itself until the limit (SQLite's busy_timeout sleeps ever
 * longer and starves under load). Source: https://www.sqlite.org/lang_createtrigger.html (INSTEAD OF, RAISE),
 * https://www.sqlite.org/lockingv3.html. */
#ifndef TN_STORE_STAMP_STAMP_H
#define TN_STORE_STAMP_STAMP_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { TN_STAMP_LIMIT_MS = 10000 }; /* of calls that name none */

#define TN_STAMP_TOKEN_MAX (((uint64_t)1 << 53) - 1)

/* As tenure_stamp_install, with a limit for a locked file. OK; BAD_INPUT; EXISTS: something else has one of
 * the names; BUSY; REFUSED: no permission to write; UNREACHABLE, CORRUPT, IO, STORE_FULL as the file is. */
enum tenure_status tn_stamp_install(const char *path, int64_t limit_ms, struct tenure_error *error);

/* Reads the stamp of (group, shard) into *ret_token, 0 when it was never raised. Changes nothing and makes no
 * file. NOT_FOUND: no stamps are installed in the file; else as above. */
enum tenure_status tn_stamp_get(const char *path, const char *group, uint32_t shard, int64_t limit_ms,
                                uint64_t *ret_token, struct tenure_error *error);

#endif
