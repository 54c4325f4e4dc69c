#include "core/handoff/handoff.h"

#define ROW(from, verb, next, sentence)                                                                      \
    {                                                                                                        \
        TN_SHARD_##from, TN_OP_##verb, TN_SHARD_##next, sentence                                             \
    }

static const struct tn_handoff_row table[] = {
    ROW(UNOWNED, CLAIM, RESTORING, "the node that the plan names takes it, token + 1"),
    ROW(OWNED, CLAIM, RESTORING, "its owner is dead: taken over, token + 1"),
    ROW(PREPARING, CLAIM, RESTORING, "its owner is dead: taken over, token + 1"),
    ROW(DRAINING, CLAIM, RESTORING, "its owner is dead: taken over, token + 1"),
    ROW(RESTORING, CLAIM, RESTORING, "its owner died before it was ready: taken over, token + 1"),

    ROW(OWNED, PREPARE, PREPARING, "the target is told to warm up; the owner works on"),
    ROW(PREPARING, PREPARED, DRAINING, "the target is warm; the owner finishes its work"),
    ROW(DRAINING, TRANSFER, RESTORING, "the owner gives it to the target, token + 1"),
    ROW(DRAINING, FORCE, RESTORING, "the drain took too long: given to the target, token + 1"),
    ROW(PREPARING, ABORT, OWNED, "the target is gone, unwanted or too slow: the owner keeps it"),
    ROW(DRAINING, ABORT, OWNED,
        "the target is gone or unwanted, or the drain was given up: the owner keeps it"),

    ROW(RESTORING, READY, OWNED, "the worker is at work"),
    ROW(RESTORING, REVOKE, UNOWNED, "the worker was not ready in time: taken away, token + 1"),

    ROW(OWNED, RELOAD, RESTORING, "the owner raises its own token, token + 1"),
    ROW(PREPARING, RELOAD, RESTORING, "the owner raises its own token; the move is off"),
    ROW(DRAINING, RELOAD, RESTORING, "the owner raises its own token; the move is off"),
    ROW(RESTORING, RELOAD, RESTORING, "the owner raises its own token, token + 1"),

    ROW(OWNED, RELEASE, UNOWNED, "the owner leaves and nobody can take over"),
    ROW(PREPARING, RELEASE, UNOWNED, "the owner leaves before its target is warm"),
    ROW(DRAINING, RELEASE, UNOWNED, "the owner leaves before the transfer"),
    ROW(RESTORING, RELEASE, UNOWNED, "the owner leaves before its worker was ready"),
};

const struct tn_handoff_row *tn_handoff_table(size_t *ret_n)
{
    *ret_n = sizeof table / sizeof table[0];
    return table;
}

const char *tn_shard_state_name(enum tn_shard_state state)
{
    switch (state) {
    case TN_SHARD_UNOWNED: return "unowned";
    case TN_SHARD_OWNED: return "owned";
    case TN_SHARD_PREPARING: return "preparing";
    case TN_SHARD_DRAINING: return "draining";
    case TN_SHARD_RESTORING: return "restoring";
    case TN_SHARD_QUARANTINED: return "quarantined";
    }
    return "?";
}

bool tn_handoff_move(struct tn_shard_row *row, enum tn_op_kind verb)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].from != row->state || table[i].verb != verb)
            continue;
        row->state = (uint8_t)table[i].next;
        return true;
    }
    return false;
}
