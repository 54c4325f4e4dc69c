#include "core/lease/holding.h"

#define ROW(from, event, next, sentence)                                                                     \
    {                                                                                                        \
        TN_HOLDING_##from, TN_HOLD_##event, TN_HOLDING_##next, sentence                                      \
    }
#define IGNORE(from, event)                                                                                  \
    {                                                                                                        \
        TN_HOLDING_##from, TN_HOLD_##event, TN_HOLDING_STATES_N, "ignored"                                   \
    }

static const struct tn_holding_row table[] = {
    ROW(NONE, WARM_UP, WARMING, "tell the worker to warm up"),
    ROW(NONE, CLAIM, CLAIMING, "claim it with the next token"),
    ROW(NONE, FOUND, RELOADING, "adopt it under a raised token"),
    IGNORE(NONE, LOST),
    IGNORE(NONE, IDLE),

    ROW(WARMING, WARMED, WARM, "say so to the store"),
    ROW(WARMING, COOLED, NONE, "tell the worker that the move is off"),
    ROW(WARMING, FOUND, RELOADING, "adopt it under a raised token"),
    ROW(WARMING, CLAIM, CLAIMING, "its owner died: claim it"),
    ROW(WARMING, LOST, NONE, "forget the move"),
    IGNORE(WARMING, WARM_UP),

    ROW(WARM, ARRIVED, LOADING, "load the checkpoint"),
    ROW(WARM, COOLED, NONE, "tell the worker that the move is off"),
    ROW(WARM, FOUND, RELOADING, "adopt it under a raised token"),
    ROW(WARM, CLAIM, CLAIMING, "its owner died: claim it"),
    ROW(WARM, LOST, NONE, "forget the move"),
    IGNORE(WARM, WARM_UP),
    IGNORE(WARM, WARMED),

    ROW(CLAIMING, GRANTED, RESTORING, "assign it to the worker"),
    ROW(CLAIMING, REFUSED, NONE, "look again when the view changes"),
    ROW(CLAIMING, LOST, NONE, "forget the claim; if it succeeded it will be found"),

    ROW(LOADING, GRANTED, RESTORING, "assign it to the worker"),
    ROW(LOADING, LOST, NONE, "forget it"),

    ROW(RELOADING, GRANTED, RESTORING, "assign it to the worker under the new token"),
    ROW(RELOADING, LOST, NONE, "forget it"),

    ROW(RESTORING, READY, SERVING, "open the gate and say so to the store"),
    ROW(RESTORING, DRAIN, TRANSFERRING,
        "this node is leaving: take it back from the worker and release it unserved"),
    ROW(RESTORING, RELOAD, QUIESCING, "raise the token first"),
    ROW(RESTORING, LOST, ENDING, "tell the worker to stop"),

    ROW(SERVING, DRAIN, DRAINING, "close the gate and tell the worker to finish"),
    ROW(SERVING, RELOAD, QUIESCING, "close the gate and wait out work in flight"),
    ROW(SERVING, LOST, ENDING, "close the gate and tell the worker to stop"),
    IGNORE(SERVING, READY),
    IGNORE(SERVING, KEPT),

    ROW(DRAINING, DRAINED, TRANSFERRING, "give it to the target"),
    ROW(DRAINING, KEPT, RELOADING, "drained for nothing: take it up again under a raised token"),
    ROW(DRAINING, RELOAD, QUIESCING, "raise the token; the move starts again later"),
    ROW(DRAINING, LOST, ENDING, "tell the worker to stop"),
    IGNORE(DRAINING, DRAIN),
    IGNORE(DRAINING, READY),

    ROW(TRANSFERRING, GIVEN, NONE, "gone, as planned"),
    ROW(TRANSFERRING, KEPT, RELOADING, "the store kept it here: take it up again under a raised token"),
    ROW(TRANSFERRING, LOST, NONE, "gone, one way or another"),
    IGNORE(TRANSFERRING, IDLE),
    IGNORE(TRANSFERRING, DRAIN),

    ROW(QUIESCING, IDLE, RELOADING, "raise the token"),
    ROW(QUIESCING, LOST, ENDING, "tell the worker to stop"),
    IGNORE(QUIESCING, DRAIN),
    IGNORE(QUIESCING, RELOAD),
    IGNORE(QUIESCING, READY),

    ROW(ENDING, IDLE, NONE, "free to be claimed again"),
    IGNORE(ENDING, LOST),
    IGNORE(ENDING, CLAIM),
    IGNORE(ENDING, FOUND),
    IGNORE(ENDING, WARM_UP),
};

static const char *const state_names[] = {
#define X(name, words) #name,
    TN_HOLDING_STATES(X)
#undef X
};
static const char *const state_words[] = {
#define X(name, words) words,
    TN_HOLDING_STATES(X)
#undef X
};
static const char *const event_names[] = {
#define X(name, words) #name,
    TN_HOLDING_EVENTS(X)
#undef X
};

const struct tn_holding_row *tn_holding_table(size_t *ret_n)
{
    *ret_n = sizeof table / sizeof table[0];
    return table;
}

const char *tn_holding_state_name(enum tn_holding_state state)
{
    return state < TN_HOLDING_STATES_N ? state_names[state] : "?";
}

const char *tn_holding_state_words(enum tn_holding_state state)
{
    return state < TN_HOLDING_STATES_N ? state_words[state] : "?";
}

const char *tn_holding_event_name(enum tn_holding_event event)
{
    return event < TN_HOLDING_EVENTS_N ? event_names[event] : "?";
}

bool tn_holding_next(struct tn_holding *holding, enum tn_holding_event event, bool *ret_bug)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].from != holding->state || table[i].event != event)
            continue;
        if (table[i].next == TN_HOLDING_STATES_N)
            return false;
        holding->state = (uint8_t)table[i].next;
        holding->asked = holding->released = holding->idle = holding->kept = false;
        return true;
    }
    *ret_bug = true;
    return false;
}

bool tn_holding_active(const struct tn_holding *holding)
{
    switch ((enum tn_holding_state)holding->state) {
    case TN_HOLDING_RESTORING:
    case TN_HOLDING_SERVING:
    case TN_HOLDING_DRAINING:
    case TN_HOLDING_QUIESCING: return true;
    default: return false;
    }
}
