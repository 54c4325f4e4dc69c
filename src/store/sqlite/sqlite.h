/* A store in one SQLite file on a local disk, for all processes of one machine.
 *
 * Holds: the protocol of store/rows over tables (schema.c). The file is written only by Tenure, in WAL mode
 * with full synchronisation, in short transactions that take the write lock first. The wait for that lock is
 * our own polling with a deadline: SQLite's busy handler is not asked when a read lock is upgraded, and
 * starves under load.
 *
 * Lease clock: the boot clock, so the file belongs to one boot of one machine at a time: another boot ends
 * all sessions, another machine is refused. Beside the file lies PATH-presence (presence.c).
 *
 * Cost of an unchanged TICK: half a dozen prepared statements on three pages, one page written, one sync.
 * Sources: sqlite.org/wal.html, sqlite.org/lockingv3.html, sqlite.org/howtocorrupt.html. */
#ifndef TN_STORE_SQLITE_SQLITE_H
#define TN_STORE_SQLITE_SQLITE_H

#include "store/store.h"

/* Zero is the ordinary choice everywhere; what says "tests" replaces what the machine would answer. */
struct tn_sqlite_options {
    bool any_fs;          /* accept file systems that are not known to work */
    bool make_directory;  /* make the directory of PATH */
    bool adopt_machine;   /* a file from another machine or boot namespace: take it over, in a new history */
    bool rehearse;        /* as struct tn_store's, from the first transaction on */
    uint32_t events_kept; /* 0: TN_EVENTS_KEPT */
    int64_t (*lease_ms)(void *context); /* tests */
    int64_t (*unix_ms)(void *context);  /* tests */
    void *context;
    const char *boot_id, *machine_id; /* tests; borrowed during the call */
    uint64_t fs_type, time_namespace; /* tests */
};

/* `create`: make the file if it is not there. `options` may be NULL. UNREACHABLE (no such file or directory),
 * IO (not readable or writable), CORRUPT (damaged, or not a Tenure store), NEWER_SCHEMA, REFUSED (file
 * system, machine, namespace), BUSY. */
enum tenure_status tn_sqlite_open(const char *path, bool create, const struct tn_sqlite_options *options,
                                  struct tn_store **ret_store, struct tenure_error *error);

/* The descriptor whose lock is the presence of this handle's sessions (close-on-exec), for processes that are
 * to inherit it; -1 before the first join, or without presence. Borrowed. */
int tn_sqlite_presence_fd(const struct tn_store *store);

#endif
