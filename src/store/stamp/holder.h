/* Which process holds the lock of an SQLite file that somebody else waits for.
 *
 * Reads /proc/locks. The plain way, fcntl(F_GETLK), needs a descriptor of the file, and closing any
 * descriptor of a file drops every POSIX lock that this process has on it, those of the user's own SQLite
 * connections included. Knows SQLite's lock bytes (https://www.sqlite.org/fileformat.html#the_lock_byte_page
 * and os.h; wal.c for the -shm file). A guess for people, not a ground for decisions: it may be out of date,
 * and another pid namespace cannot be seen. Any thread. */
#ifndef TN_STORE_STAMP_HOLDER_H
#define TN_STORE_STAMP_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct tn_holder {
    int64_t pid;
    char command[32]; /* its name, "" when it cannot be read */
};

/* Finds a process that holds the write lock of the database `path`, or, when `readers` and nobody writes, one
 * that reads (a reader keeps a writer from committing, except in WAL mode). The calling process counts only
 * where it is the writer and not `readers`. False: none found; *ret untouched. */
bool tn_holder_find(const char *path, bool readers, struct tn_holder *ret);

#endif
