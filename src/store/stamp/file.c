#include "store/stamp/file.h"

#include "store/stamp/holder.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum tenure_status run_until_free(struct tn_stamp_file *file, const char *sql, bool readers);
static enum tenure_status fail_busy(struct tn_stamp_file *file, bool readers);
static enum tenure_status fail_open(struct tn_stamp_file *file);

enum tenure_status tn_stamp_file_open(struct tn_stamp_file *file, const char *path, int flags,
                                      int64_t limit_ms, struct tenure_error *error)
{
    *file = (struct tn_stamp_file){
        .path = path, .give_up_ms = tn_clock_boot_ms() + (limit_ms > 0 ? limit_ms : 0), .error = error};
    if (!path || !*path || *path == ':')
        return tn_error_set(error, TENURE_BAD_INPUT, "'%.40s' is not the path of a data file",
                            path ? path : "");
    if (sqlite3_open_v2(path, &file->db, flags, NULL) != SQLITE_OK)
        return tn_stamp_file_fail(file, false);
    sqlite3_extended_result_codes(file->db, 0);
    /* Ours alone, and not stored: a raised stamp must outlive a power cut also where the library was built
     * for less. */
    sqlite3_exec(file->db, "pragma synchronous = full", NULL, NULL, NULL);
    return TENURE_OK;
}

enum tenure_status tn_stamp_file_begin(struct tn_stamp_file *file)
{
    return run_until_free(file, "begin immediate", false);
}

enum tenure_status tn_stamp_file_commit(struct tn_stamp_file *file)
{
    return run_until_free(file, "commit", true);
}

void tn_stamp_file_close(struct tn_stamp_file *file)
{
    sqlite3_close(file->db); /* rolls back */
    file->db = NULL;
}

bool tn_stamp_file_pause(const struct tn_stamp_file *file)
{
    if (tn_clock_boot_ms() >= file->give_up_ms)
        return false;
    tn_clock_sleep_ms(1);
    return true;
}

/* Every attempt at the lock takes a shared lock for a moment, and a holder that commits in that moment
 * without a busy timeout gets SQLITE_BUSY for it. So while a holder is seen from outside, no attempt is made.
 */
static bool pause_while_held(const struct tn_stamp_file *file)
{
    struct tn_holder holder;
    do
        if (!tn_stamp_file_pause(file))
            return false;
    while (tn_holder_find(file->path, false, &holder));
    return true;
}

static enum tenure_status run_until_free(struct tn_stamp_file *file, const char *sql, bool readers)
{
    for (;;) {
        const int code = sqlite3_exec(file->db, sql, NULL, NULL, NULL);
        if (code == SQLITE_OK)
            return TENURE_OK;
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
            return tn_stamp_file_fail(file, readers);
        /* With the lock held, the holder that would be seen is this very connection. */
        if (!(readers ? tn_stamp_file_pause(file) : pause_while_held(file)))
            return tn_stamp_file_fail(file, readers);
    }
}

enum tenure_status tn_stamp_file_fail(struct tn_stamp_file *file, bool readers)
{
    const char *const words = file->db ? sqlite3_errmsg(file->db) : "out of memory";
    switch (file->db ? sqlite3_errcode(file->db) & 0xff : SQLITE_NOMEM) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return fail_busy(file, readers);
    case SQLITE_CANTOPEN: return fail_open(file);
    case SQLITE_NOTADB:
        return tn_error_set(file->error, TENURE_CORRUPT, "'%.200s' is not an SQLite database", file->path);
    case SQLITE_CORRUPT:
        return tn_error_set(file->error, TENURE_CORRUPT, "'%.200s' is damaged: %.200s", file->path, words);
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
        return tn_error_set(file->error, TENURE_REFUSED, "'%.200s' may not be written: %.200s", file->path,
                            words);
    case SQLITE_FULL:
        return tn_error_set(file->error, TENURE_STORE_FULL, "no room left to write '%.200s'", file->path);
    case SQLITE_IOERR:
        return tn_error_set(file->error, TENURE_IO, "'%.200s' could not be read or written: %.200s",
                            file->path, words);
    case SQLITE_NOMEM: return tn_error_set(file->error, TENURE_NO_MEMORY, "out of memory");
    default: return tn_error_set(file->error, TENURE_BUG, "'%.200s': %.200s", file->path, words);
    }
}

static enum tenure_status fail_busy(struct tn_stamp_file *file, bool readers)
{
    struct tn_holder holder;
    if (!tn_holder_find(file->path, readers, &holder))
        return tn_error_set(file->error, TENURE_BUSY, "'%.200s' is locked; who holds it cannot be told",
                            file->path);
    if (holder.pid == getpid())
        return tn_error_set(file->error, TENURE_BUSY,
                            "'%.200s' is locked by another connection of this same process (%lld)",
                            file->path, (long long)holder.pid);
    return tn_error_set(file->error, TENURE_BUSY, "'%.200s' is locked by process %lld (%s)", file->path,
                        (long long)holder.pid, holder.command[0] ? holder.command : "name unknown");
}

static enum tenure_status fail_open(struct tn_stamp_file *file)
{
    const int system_error = sqlite3_system_errno(file->db);
    if (system_error == EACCES || system_error == EPERM || system_error == EROFS)
        return tn_error_set(file->error, TENURE_REFUSED,
                            "'%.200s': %s (SQLite writes the file and a journal in its directory)",
                            file->path, strerror(system_error));
    const char *const why = system_error ? strerror(system_error) : NULL;
    return tn_error_set(file->error, TENURE_UNREACHABLE, "'%.200s' cannot be opened: %s", file->path,
                        why ? why : "not a plain file, or its directory is missing");
}
