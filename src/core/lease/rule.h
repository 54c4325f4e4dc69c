/* The protocol's rules: what a store decides about one row, as pure functions.
 *
 * A backend's transaction is: lock, read the rows, ask these functions, write the rows back, commit. So the
 * memory store (which the simulator runs on) and SQLite decide by the same code; a database that decides in
 * SQL is held to it by the conformance suite. Every verb is idempotent: a request repeated after a lost reply
 * finds DONE. Time is the store's lease clock, read once the locks are held. */
#ifndef TN_CORE_LEASE_RULE_H
#define TN_CORE_LEASE_RULE_H

#include "core/op/op.h"

struct tn_session_facts {
    bool live;     /* LIVE or LEAVING and a member of the group */
    bool takes;    /* LIVE, not leaving: may be given shards */
    uint32_t node; /* its node number; 0 when there is no such session, or it is dead */
    bool died;     /* CLAIM, of the owner: ended by burial, it crashed or fell silent */
    uint32_t died_node;
};

struct tn_rule_world {
    int64_t now_ms;
    const struct tn_settings *settings;
    uint64_t me; /* the requester's session */
    struct tn_session_facts requester, owner,
        target;          /* of me, row->session, and row->target or (PREPARE) item->peer */
    uint32_t in_handoff; /* rows of the group that tn_rule_in_handoff says yes to */
    uint32_t starting;   /* rows of the group that tn_rule_starting says yes to; CLAIM only */
    uint32_t most_starting;
};

/* Preparing, draining, or restoring after a handoff: what max_moves bounds. */
bool tn_rule_in_handoff(const struct tn_shard_row *row);
/* Claimed or reloaded, and not yet ready: what max_takeovers bounds. */
bool tn_rule_starting(const struct tn_shard_row *row);

/* Decides a CLAIM .. RELEASE or LOAD item against `row`, which may be changed whatever the outcome (compare
 * with tn_rule_same): a TRANSFER whose target is gone leaves the shard with its owner. LOAD and SAVE change
 * no row: they check that the requester holds the shard under the token. */
enum tn_outcome tn_rule_shard(enum tn_op_kind verb, const struct tn_rule_world *world,
                              const struct tn_item *item, struct tn_shard_row *row);
bool tn_rule_same(const struct tn_shard_row *a, const struct tn_shard_row *b);

/* An operator sets the shard aside, whoever has it. False: it is already. */
bool tn_rule_set_aside(struct tn_shard_row *row, int64_t now_ms);
/* ... and takes it back: nobody's, its troubles forgotten. False: it is not set aside. */
bool tn_rule_take_back(struct tn_shard_row *row, int64_t now_ms);

/* SAVE: may `item` replace the stored checkpoint (seq 0 and size 0 when there is none)? Sets *ret_seq to the
 * sequence to store. DONE with *ret_write false: the very same write again (same token, seq and bytes). */
enum tn_outcome tn_rule_save(const struct tn_item *item, const struct tn_checkpoint *stored,
                             uint64_t *ret_seq, bool *ret_write);

/* What the owner change from `before` to `after` is called in the history: "claimed", "taken over", "handed
 * over", "forced", "reloaded", "released", "revoked", "quarantined"; NULL when neither owner nor token
 * changed. */
const char *tn_rule_cause(enum tn_op_kind verb, const struct tn_shard_row *before,
                          const struct tn_shard_row *after);

struct tn_session_row {
    uint8_t state; /* enum tn_session_state */
    int64_t lease_ms, lease_until_ms;
    uint32_t lates;
    uint64_t version;
};

/* TICK: renews `row` (live: later time; past its time but not buried: LATE, lates + 1, later time all the
 * same). */
enum tn_renewal tn_rule_renew(struct tn_session_row *row, const struct tn_op_tick *tick, int64_t now_ms);
/* BURY: may the session be ended on this evidence? `gone` is the store's own word on presence, for
 * TN_CRASHED. */
bool tn_rule_bury(const struct tn_session_row *row, const struct tn_op_bury *bury, enum tn_presence presence,
                  int64_t now_ms);
/* Worth telling everybody about: close to its end or impossibly far from it. */
bool tn_rule_suspect(const struct tn_session_row *row, int64_t now_ms);

/* The mass-loss guard, in a group's account of losses. When at least two sessions and more than
 * TN_MASS_PERCENT of those that there were are buried within one lease, and no others came in their stead,
 * balance moves are frozen until membership has been steady for TN_STEADY_LEASES. */
enum { TN_STEADY_LEASES = 4, TN_MASS_PERCENT = 30 };
struct tn_losses {
    uint32_t lost, of;
    int64_t from_ms, frozen_until_ms;
};
/* How many shards of a group may start (tn_rule_starting) at a time; UINT32_MAX: no limit. While frozen there
 * is always one: the survivors of a mass loss are not to be thrown after the others. */
uint32_t tn_rule_most_starting(const struct tn_settings *settings, const struct tn_losses *losses,
                               int64_t now_ms);
void tn_rule_lost(struct tn_losses *losses, uint32_t members, int64_t lease_ms, int64_t now_ms);
/* A session joined. */
void tn_rule_joined(struct tn_losses *losses);
/* Membership changed: a freeze lasts four leases from now. */
void tn_rule_members_changed(struct tn_losses *losses, int64_t lease_ms, int64_t now_ms);

/* History number after a loss: max(recorded + 1, highest seen + 1, minutes since 2025-01-01). */
uint32_t tn_rule_next_history(uint32_t recorded, uint32_t seen, int64_t unix_ms);
/* What becomes of a row in a new history: nobody's, under the first token of it. */
void tn_rule_new_history(struct tn_shard_row *row, uint32_t history, int64_t now_ms);

#endif
