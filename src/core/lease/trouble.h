/* What a shard's row remembers of moves and starts that failed, and of owners that died with it. Pure.
 *
 * Back-off: after the n-th failure in a row no balance move of the shard begins for 2^(n-1) leases, at most
 * 16, and the node that did not get it to work does not get it again. Ours; the usual binary back-off.
 *
 * Quarantine: a shard whose owners die one after another (quarantine_after of them within quarantine_window)
 * is set aside, so that it does not take the next node with it. One node that dies again and again counts
 * once: that may be the node. A node that dies takes its other shards into the count as well; suspects are
 * therefore scattered over the survivors (core/plan/evade.h), so few of them meet the next death, and none
 * the third but by chance. */
#ifndef TN_CORE_LEASE_TROUBLE_H
#define TN_CORE_LEASE_TROUBLE_H

#include "core/op/op.h"

/* A move or a start came to nothing. `node`: who did not get it to work; 0: nobody's fault. */
void tn_trouble_failed(struct tn_shard_row *row, const struct tn_settings *settings, uint32_t node,
                       int64_t now_ms);
/* Its owner, this node, died. True: one too many. */
bool tn_trouble_died(struct tn_shard_row *row, const struct tn_settings *settings, uint32_t node,
                     int64_t now_ms);
/* Did it see a death that still counts? */
bool tn_trouble_suspect(const struct tn_shard_row *row, const struct tn_settings *settings, int64_t now_ms);
/* An operator said so, or a new history began. */
void tn_trouble_forget(struct tn_shard_row *row);
/* Is the shard held back, and `avoid` in force? */
static inline bool tn_trouble_holds(const struct tn_shard_row *row, int64_t now_ms)
{
    return row->hold_until_ms > now_ms;
}

#endif
