/* The one table of outcomes.
 *
 * Holds: every status a Tenure function can return, its number (ABI: never renumbered), its class, the exit
 * status of the command line, the HTTP status, and one sentence for people. The class says what a caller may
 * do:
 *
 *   NONE    nothing to do, it worked
 *   CALLER  the call is wrong; fix it, repeating it cannot help
 *   LOST    stop serving the shard (or everything, if the session ended) now
 *   RETRY   nothing happened; try again
 *   WORLD   the surroundings are broken (disk, permission, corruption); report, hold on until the margin runs
 * out MAYBE   it may have happened; read before repeating it BUG     fence yourself, then stop
 *
 * Thread-safe and pure: everything here is constant. */
#ifndef TENURE_STATUS_H
#define TENURE_STATUS_H

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, class, exit status, HTTP status, sentence) */
#define TENURE_STATUSES(X)                                                                                   \
    X(OK, 0, NONE, 0, 200, "done")                                                                           \
    X(NO, 1, NONE, 1, 200, "the answer is no")                                                               \
    X(BAD_INPUT, 2, CALLER, 2, 400, "the input is not valid")                                                \
    X(TOO_BIG, 3, CALLER, 2, 413, "the value is larger than allowed")                                        \
    X(NOT_FOUND, 4, CALLER, 4, 404, "there is no such thing")                                                \
    X(EXISTS, 5, CALLER, 4, 409, "it exists with other settings")                                            \
    X(ID_IN_USE, 6, CALLER, 4, 409, "a live session has this node id")                                       \
    X(FINGERPRINT, 7, CALLER, 4, 409, "this program hashes keys differently from the group")                 \
    X(STALE, 8, LOST, 5, 409, "the fencing token is no longer current")                                      \
    X(REGRESSED, 9, CALLER, 5, 409, "the checkpoint would go backwards")                                     \
    X(SESSION_ENDED, 10, LOST, 5, 410, "the session was ended")                                              \
    X(REPLACED, 11, LOST, 4, 410, "another process took over this node id")                                  \
    X(NOT_OWNER, 12, LOST, 1, 421, "this node does not hold the shard")                                      \
    X(MOVING, 13, RETRY, 1, 503, "the shard is being handed over; ask again shortly")                        \
    X(IN_FLIGHT, 14, RETRY, 1, 503, "work on the shard is still in flight")                                  \
    X(CONFLICT, 15, RETRY, 1, 409, "somebody else changed it first")                                         \
    X(BUSY, 16, RETRY, 3, 503, "the store is locked by another process")                                     \
    X(UNREACHABLE, 17, RETRY, 3, 503, "the store cannot be reached")                                         \
    X(MAYBE, 18, MAYBE, 3, 504, "the outcome is not known")                                                  \
    X(CORRUPT, 19, WORLD, 3, 500, "the store is damaged or not a Tenure store")                              \
    X(STORE_FULL, 20, WORLD, 3, 507, "the store has no room left")                                           \
    X(IO, 21, WORLD, 3, 500, "the store could not be read or written")                                       \
    X(NEWER_SCHEMA, 22, WORLD, 5, 500, "the store was written by a newer version")                           \
    X(REFUSED, 23, WORLD, 5, 403, "refused")                                                                 \
    X(TIMEOUT, 24, NONE, 1, 504, "nothing came within the time given")                                       \
    X(CLOSED, 25, NONE, 0, 410, "the handle is closed")                                                      \
    X(NO_MEMORY, 26, WORLD, 70, 500, "out of memory")                                                        \
    X(BUG, 27, BUG, 70, 500, "internal fault")

enum tenure_status {
#define X(name, number, klass, exit_status, http, sentence) TENURE_##name = number,
    TENURE_STATUSES(X)
#undef X
};

enum tenure_class {
    TENURE_CLASS_NONE,
    TENURE_CLASS_CALLER,
    TENURE_CLASS_LOST,
    TENURE_CLASS_RETRY,
    TENURE_CLASS_WORLD,
    TENURE_CLASS_MAYBE,
    TENURE_CLASS_BUG
};

/* Each takes any int; a number that is not in the table is treated as BUG. Strings are static. */
const char *tenure_status_name(enum tenure_status status);     /* "ID_IN_USE" */
const char *tenure_status_sentence(enum tenure_status status); /* without a full stop */
enum tenure_class tenure_status_class(enum tenure_status status);
int tenure_status_exit(enum tenure_status status);
int tenure_status_http(enum tenure_status status);

/* What went wrong, for people. `text` names the value and the remedy; it is always terminated, maybe cut. */
struct tenure_error {
    enum tenure_status status;
    char text[512];
};

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
