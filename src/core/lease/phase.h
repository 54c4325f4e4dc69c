/* The life of a node's session, seen from the node, as a table.
 *
 * Beside it stands `lapsed` (keeper.h): a session that is LIVE or LEAVING but could not be renewed in time;
 * nothing is served until a renewal succeeds. Pure. */
#ifndef TN_CORE_LEASE_PHASE_H
#define TN_CORE_LEASE_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#define TN_PHASES(X)                                                                                         \
    X(OUT, "has no session")                                                                                 \
    X(JOINING, "asked for one")                                                                              \
    X(LIVE, "renews, works, plans, buries")                                                                  \
    X(LEAVING, "renews and hands over, takes nothing")                                                       \
    X(STOPPED, "will do nothing more")

#define TN_PHASE_EVENTS(X)                                                                                   \
    X(ASK, "a join was sent under a fresh nonce")                                                            \
    X(JOINED, "the store made the session")                                                                  \
    X(OVER, "the session was ended by others, or was over before the join was answered")                     \
    X(REPLACED, "another process took over the node id")                                                     \
    X(STOP, "the application asked to stop")                                                                 \
    X(LEFT, "the store confirmed the end, or the time to leave is over")

enum tn_phase {
#define X(name, words) TN_PHASE_##name,
    TN_PHASES(X)
#undef X
        TN_PHASES_N
};

enum tn_phase_event {
#define X(name, words) TN_PHASE_ON_##name,
    TN_PHASE_EVENTS(X)
#undef X
        TN_PHASE_EVENTS_N
};

struct tn_phase_row {
    enum tn_phase from;
    enum tn_phase_event event;
    enum tn_phase next; /* TN_PHASES_N: ignored on purpose */
    const char *sentence;
};

const struct tn_phase_row *tn_phase_table(size_t *ret_n);
const char *tn_phase_name(enum tn_phase phase);
/* True when the phase changed. Every pair is a row; most are ignored. */
bool tn_phase_next(enum tn_phase *phase, enum tn_phase_event event);

#endif
