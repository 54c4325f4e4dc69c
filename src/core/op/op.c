#include "core/op/op.h"

const char *tn_op_name(enum tn_op_kind kind)
{
    switch (kind) {
    case TN_OP_JOIN: return "join";
    case TN_OP_TICK: return "tick";
    case TN_OP_SYNC: return "sync";
    case TN_OP_PROBE: return "probe";
    case TN_OP_BURY: return "bury";
    case TN_OP_PLAN: return "plan";
    case TN_OP_CLAIM: return "claim";
    case TN_OP_PREPARE: return "prepare";
    case TN_OP_PREPARED: return "prepared";
    case TN_OP_TRANSFER: return "transfer";
    case TN_OP_FORCE: return "force";
    case TN_OP_ABORT: return "abort";
    case TN_OP_REVOKE: return "revoke";
    case TN_OP_READY: return "ready";
    case TN_OP_RELOAD: return "reload";
    case TN_OP_LOAD: return "load";
    case TN_OP_RELEASE: return "release";
    case TN_OP_SAVE: return "save";
    case TN_OP_LEAVE: return "leave";
    case TN_OP_COUNT: break;
    }
    return "?";
}

const char *tn_outcome_name(enum tn_outcome outcome)
{
    switch (outcome) {
    case TN_DONE: return "done";
    case TN_STALE: return "stale";
    case TN_NOT_FREE: return "not free";
    case TN_NOT_DESIRED: return "not desired";
    case TN_OVER_BUDGET: return "over budget";
    case TN_TARGET_GONE: return "target gone";
    case TN_WRONG_STATE: return "wrong state";
    case TN_NOT_YET: return "not yet";
    case TN_ROW_BUSY: return "row busy";
    case TN_SET_ASIDE: return "set aside";
    case TN_SEQ_REGRESSED: return "sequence regressed";
    }
    return "?";
}
