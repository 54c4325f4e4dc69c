/* One data file, open for the length of one call: the write lock by polling, and SQLite's outcomes as ours.
 *
 * Confined to its caller. Every function that fails fills the error that open was given. */
#ifndef TN_STORE_STAMP_FILE_H
#define TN_STORE_STAMP_FILE_H

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct tn_stamp_file {
    sqlite3 *db;                /* owned; NULL when opening failed */
    const char *path;           /* borrowed */
    int64_t give_up_ms;         /* boot clock */
    struct tenure_error *error; /* borrowed, may be NULL */
};

/* Flags are SQLite's. BAD_INPUT for names that SQLite would take for no file at all. Close it also after a
 * failure. */
enum tenure_status tn_stamp_file_open(struct tn_stamp_file *file, const char *path, int flags,
                                      int64_t limit_ms, struct tenure_error *error);
/* Takes the write lock; waits for it until the limit, then BUSY. */
enum tenure_status tn_stamp_file_begin(struct tn_stamp_file *file);
/* Waits for readers until the limit; BUSY: nothing happened. */
enum tenure_status tn_stamp_file_commit(struct tn_stamp_file *file);
/* Rolls back what is open. */
void tn_stamp_file_close(struct tn_stamp_file *file);
/* The last failure of `file->db` as a status with text. `readers`: those could be in the way. */
enum tenure_status tn_stamp_file_fail(struct tn_stamp_file *file, bool readers);
/* Sleeps for a moment; false, at once, when the limit has passed. */
bool tn_stamp_file_pause(const struct tn_stamp_file *file);

#endif
