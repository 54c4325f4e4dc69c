/* The life of a shard's row in the store, as a table: which verb leads from which state to which.
 *
 * rule.c asks its questions (whose token, who lives, is there budget) and then moves by this table alone, so
 * the picture in the documentation and what every store does are one thing. A pair that is not a row is
 * WRONG_STATE for whoever asked. Quarantine stands outside: a CLAIM that finds one owner too many dead sets
 * the shard aside, an operator takes it back. Pure. */
#ifndef TN_CORE_HANDOFF_HANDOFF_H
#define TN_CORE_HANDOFF_HANDOFF_H

#include "core/op/op.h"

struct tn_handoff_row {
    enum tn_shard_state from;
    enum tn_op_kind verb;
    enum tn_shard_state next;
    const char *sentence;
};

const struct tn_handoff_row *tn_handoff_table(size_t *ret_n);
const char *tn_shard_state_name(enum tn_shard_state state); /* "owned", as in JSON */
/* False, and nothing changed, when the table has no such row. */
bool tn_handoff_move(struct tn_shard_row *row, enum tn_op_kind verb);

#endif
