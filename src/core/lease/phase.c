#include "core/lease/phase.h"

#define ROW(from, event, next, sentence)                                                                     \
    {                                                                                                        \
        TN_PHASE_##from, TN_PHASE_ON_##event, TN_PHASE_##next, sentence                                      \
    }
#define IGNORE(from, event)                                                                                  \
    {                                                                                                        \
        TN_PHASE_##from, TN_PHASE_ON_##event, TN_PHASES_N, "ignored"                                         \
    }

static const struct tn_phase_row table[] = {
    ROW(OUT, ASK, JOINING, "ask for a session"),
    ROW(OUT, STOP, STOPPED, "nothing to leave"),
    IGNORE(OUT, JOINED),
    IGNORE(OUT, OVER),
    IGNORE(OUT, REPLACED),
    IGNORE(OUT, LEFT),

    ROW(JOINING, JOINED, LIVE, "begin to renew; take what the plan names"),
    ROW(JOINING, OVER, OUT, "ask again under another nonce"),
    ROW(JOINING, STOP, STOPPED, "a session that may have been made ends by itself"),
    IGNORE(JOINING, ASK),
    IGNORE(JOINING, REPLACED),
    IGNORE(JOINING, LEFT),

    ROW(LIVE, OVER, OUT, "drop everything; join again"),
    ROW(LIVE, REPLACED, STOPPED, "drop everything; the other one has it"),
    ROW(LIVE, STOP, LEAVING, "tell the store, hand everything over"),
    IGNORE(LIVE, ASK),
    IGNORE(LIVE, JOINED),
    IGNORE(LIVE, LEFT),

    ROW(LEAVING, OVER, STOPPED, "drop everything; it is over anyway"),
    ROW(LEAVING, REPLACED, STOPPED, "drop everything; the other one has it"),
    ROW(LEAVING, LEFT, STOPPED, "gone"),
    IGNORE(LEAVING, ASK),
    IGNORE(LEAVING, JOINED),
    IGNORE(LEAVING, STOP),

    IGNORE(STOPPED, ASK),
    IGNORE(STOPPED, JOINED),
    IGNORE(STOPPED, OVER),
    IGNORE(STOPPED, REPLACED),
    IGNORE(STOPPED, STOP),
    IGNORE(STOPPED, LEFT),
};

static const char *const names[] = {
#define X(name, words) #name,
    TN_PHASES(X)
#undef X
};

const struct tn_phase_row *tn_phase_table(size_t *ret_n)
{
    *ret_n = sizeof table / sizeof table[0];
    return table;
}

const char *tn_phase_name(enum tn_phase phase)
{
    return phase < TN_PHASES_N ? names[phase] : "?";
}

bool tn_phase_next(enum tn_phase *phase, enum tn_phase_event event)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].from != *phase || table[i].event != event || table[i].next == TN_PHASES_N)
            continue;
        *phase = table[i].next;
        return true;
    }
    return false;
}
