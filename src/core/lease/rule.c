#include "core/lease/rule.h"

#include "core/handoff/handoff.h"
#include "core/lease/token.h"
#include "core/lease/trouble.h"

#include <string.h>

bool tn_rule_in_handoff(const struct tn_shard_row *row)
{
    return row->state == TN_SHARD_PREPARING || row->state == TN_SHARD_DRAINING ||
           (row->state == TN_SHARD_RESTORING && row->handed);
}

bool tn_rule_starting(const struct tn_shard_row *row)
{
    return row->state == TN_SHARD_RESTORING && !row->handed;
}

static bool mine(const struct tn_rule_world *world, const struct tn_item *item,
                 const struct tn_shard_row *row)
{
    return row->session == world->me && row->token == item->token;
}

/* Did this very request succeed before? Then the row is mine one token later, and nobody but me can have
 * raised it. */
static bool mine_one_later(const struct tn_rule_world *world, const struct tn_item *item,
                           const struct tn_shard_row *row)
{
    return row->session == world->me && row->token == item->token + 1 && row->state == TN_SHARD_RESTORING;
}

/* Moves by the table to a state without a deadline or a target. */
static enum tn_outcome settle(struct tn_shard_row *row, enum tn_op_kind verb)
{
    if (!tn_handoff_move(row, verb))
        return TN_WRONG_STATE;
    row->target = 0;
    row->until_ms = 0;
    row->handed = 0;
    return TN_DONE;
}

/* Moves by the table to a phase that must end in time. */
static enum tn_outcome begin(struct tn_shard_row *row, enum tn_op_kind verb, int64_t until_ms)
{
    if (!tn_handoff_move(row, verb))
        return TN_WRONG_STATE;
    row->until_ms = until_ms;
    return TN_DONE;
}

/* The one place where an owner or token changes. */
static enum tn_outcome give(const struct tn_rule_world *world, struct tn_shard_row *row, enum tn_op_kind verb,
                            uint64_t session)
{
    const enum tn_outcome outcome = begin(row, verb, world->now_ms + world->settings->restore_timeout_ms);
    if (outcome != TN_DONE)
        return outcome;
    row->session = session;
    row->token += 1;
    row->target = 0;
    row->since_ms = world->now_ms;
    if (verb == TN_OP_CLAIM)
        row->handed = false;
    if (verb == TN_OP_TRANSFER || verb == TN_OP_FORCE) {
        row->handed = true;
        row->moved_ms = world->now_ms;
    }
    return TN_DONE;
}

bool tn_rule_set_aside(struct tn_shard_row *row, int64_t now_ms)
{
    if (row->state == TN_SHARD_QUARANTINED)
        return false;
    row->state = TN_SHARD_QUARANTINED;
    row->session = row->target = 0;
    row->token += 1;
    row->handed = 0;
    row->since_ms = now_ms;
    row->until_ms = 0;
    return true;
}

bool tn_rule_take_back(struct tn_shard_row *row, int64_t now_ms)
{
    if (row->state != TN_SHARD_QUARANTINED)
        return false;
    row->state = TN_SHARD_UNOWNED;
    row->since_ms = now_ms;
    tn_trouble_forget(row);
    return true;
}

static enum tn_outcome claim(const struct tn_rule_world *world, const struct tn_item *item,
                             struct tn_shard_row *row)
{
    if (mine_one_later(world, item, row))
        return TN_DONE;
    if (row->state == TN_SHARD_QUARANTINED)
        return TN_SET_ASIDE;
    if (row->session && world->owner.live)
        return TN_NOT_FREE;
    if (row->token != item->token)
        return TN_STALE;
    if (row->desired != world->requester.node || !world->requester.takes)
        return TN_NOT_DESIRED;
    if (world->starting >= world->most_starting)
        return TN_OVER_BUDGET;
    if (row->session && world->owner.died &&
        tn_trouble_died(row, world->settings, world->owner.died_node, world->now_ms))
        return tn_rule_set_aside(row, world->now_ms) ? TN_SET_ASIDE : TN_WRONG_STATE;
    return give(world, row, TN_OP_CLAIM, world->me);
}

static enum tn_outcome prepare(const struct tn_rule_world *world, const struct tn_item *item,
                               struct tn_shard_row *row)
{
    if (row->token != item->token)
        return TN_STALE;
    if (row->state == TN_SHARD_PREPARING || row->state == TN_SHARD_DRAINING)
        return row->target == item->peer ? TN_DONE : TN_WRONG_STATE;
    if (row->state != TN_SHARD_OWNED || !world->owner.live || item->peer == row->session)
        return TN_WRONG_STATE;
    if (!world->target.takes)
        return TN_TARGET_GONE;
    if (row->desired != world->target.node)
        return TN_NOT_DESIRED;
    if (world->in_handoff >= world->settings->max_moves)
        return TN_OVER_BUDGET;
    if (world->owner.takes && tn_trouble_holds(row, world->now_ms))
        return TN_NOT_YET;
    row->target = item->peer;
    return begin(row, TN_OP_PREPARE, world->now_ms + world->settings->prepare_timeout_ms);
}

static enum tn_outcome prepared(const struct tn_rule_world *world, const struct tn_item *item,
                                struct tn_shard_row *row)
{
    if (row->token != item->token)
        return TN_STALE;
    if (row->target != world->me)
        return TN_WRONG_STATE;
    if (row->state == TN_SHARD_DRAINING)
        return TN_DONE;
    return begin(row, TN_OP_PREPARED, world->now_ms + world->settings->drain_timeout_ms);
}

static enum tn_outcome transfer(const struct tn_rule_world *world, const struct tn_item *item,
                                struct tn_shard_row *row, bool forced)
{
    if (row->token != item->token)
        return row->token == item->token + 1 && row->session == item->peer && row->handed ? TN_DONE
                                                                                          : TN_STALE;
    if (row->state != TN_SHARD_DRAINING)
        return TN_WRONG_STATE;
    if (forced ? world->now_ms < row->until_ms : row->session != world->me)
        return forced ? TN_NOT_YET : TN_STALE;
    if (world->target.takes)
        return give(world, row, forced ? TN_OP_FORCE : TN_OP_TRANSFER, row->target);
    settle(row, TN_OP_ABORT);
    return TN_TARGET_GONE;
}

static enum tn_outcome abort_move(const struct tn_rule_world *world, const struct tn_item *item,
                                  struct tn_shard_row *row)
{
    if (row->token != item->token)
        return TN_STALE;
    if (row->state != TN_SHARD_PREPARING && row->state != TN_SHARD_DRAINING)
        return TN_DONE;
    const bool pointless = !world->target.takes || row->desired != world->target.node;
    if (!pointless && world->now_ms < row->until_ms)
        return TN_NOT_YET;
    if (!pointless)
        tn_trouble_failed(row, world->settings, 0, world->now_ms);
    return settle(row, TN_OP_ABORT);
}

/* Back to the planner: nobody's, and not for this node for a while. */
static void let_go(const struct tn_rule_world *world, struct tn_shard_row *row, uint32_t node)
{
    tn_trouble_failed(row, world->settings, node, world->now_ms);
    row->session = 0;
    row->desired = 0;
    row->since_ms = world->now_ms;
}

static enum tn_outcome revoke(const struct tn_rule_world *world, const struct tn_item *item,
                              struct tn_shard_row *row)
{
    if (row->token != item->token)
        return row->token == item->token + 1 && !row->session ? TN_DONE : TN_STALE;
    if (row->state != TN_SHARD_RESTORING || !world->owner.live)
        return TN_WRONG_STATE;
    if (world->now_ms < row->until_ms)
        return TN_NOT_YET;
    settle(row, TN_OP_REVOKE);
    row->token += 1;
    let_go(world, row, world->owner.node);
    return TN_DONE;
}

static enum tn_outcome ready(const struct tn_rule_world *world, const struct tn_item *item,
                             struct tn_shard_row *row)
{
    if (!mine(world, item, row))
        return TN_STALE;
    if (row->state != TN_SHARD_RESTORING)
        return TN_DONE;
    if (row->handed) /* a move that succeeded */
        row->fails = 0;
    return settle(row, TN_OP_READY);
}

static enum tn_outcome reload(const struct tn_rule_world *world, const struct tn_item *item,
                              struct tn_shard_row *row)
{
    if (mine_one_later(world, item, row))
        return TN_DONE;
    if (!mine(world, item, row))
        return TN_STALE;
    return give(world, row, TN_OP_RELOAD, world->me);
}

static enum tn_outcome release(const struct tn_rule_world *world, const struct tn_item *item,
                               struct tn_shard_row *row)
{
    if (row->session == 0 && row->token == item->token)
        return TN_DONE;
    if (!mine(world, item, row))
        return TN_STALE;
    if (settle(row, TN_OP_RELEASE) != TN_DONE)
        return TN_WRONG_STATE;
    row->session = 0;
    row->since_ms = world->now_ms;
    if (item->unable)
        let_go(world, row, world->requester.node);
    return TN_DONE;
}

enum tn_outcome tn_rule_shard(enum tn_op_kind verb, const struct tn_rule_world *world,
                              const struct tn_item *item, struct tn_shard_row *row)
{
    switch (verb) {
    case TN_OP_CLAIM: return claim(world, item, row);
    case TN_OP_PREPARE: return prepare(world, item, row);
    case TN_OP_PREPARED: return prepared(world, item, row);
    case TN_OP_TRANSFER: return transfer(world, item, row, false);
    case TN_OP_FORCE: return transfer(world, item, row, true);
    case TN_OP_ABORT: return abort_move(world, item, row);
    case TN_OP_REVOKE: return revoke(world, item, row);
    case TN_OP_READY: return ready(world, item, row);
    case TN_OP_RELOAD: return reload(world, item, row);
    case TN_OP_RELEASE: return release(world, item, row);
    case TN_OP_LOAD:
    case TN_OP_SAVE: return mine(world, item, row) ? TN_DONE : TN_STALE;
    default: return TN_WRONG_STATE;
    }
}

bool tn_rule_same(const struct tn_shard_row *a, const struct tn_shard_row *b)
{
    return a->session == b->session && a->token == b->token && a->target == b->target &&
           a->desired == b->desired && a->state == b->state && a->handed == b->handed &&
           a->since_ms == b->since_ms && a->until_ms == b->until_ms && a->moved_ms == b->moved_ms &&
           a->avoid == b->avoid && a->fails == b->fails && a->deaths == b->deaths &&
           a->death_node == b->death_node && a->hold_until_ms == b->hold_until_ms &&
           a->death_ms == b->death_ms;
}

enum tn_outcome tn_rule_save(const struct tn_item *item, const struct tn_checkpoint *stored,
                             uint64_t *ret_seq, bool *ret_write)
{
    const struct tn_checkpoint *want = &item->checkpoint;
    *ret_write = true;
    *ret_seq = want->seq ? want->seq : stored->seq + 1;
    const bool again = want->seq && stored->token == item->token && stored->seq == want->seq &&
                       stored->size == want->size &&
                       (!want->size || !memcmp(stored->data, want->data, want->size));
    if (again) {
        *ret_write = false;
        return TN_DONE;
    }
    return *ret_seq > stored->seq || item->rewind ? TN_DONE : TN_SEQ_REGRESSED;
}

const char *tn_rule_cause(enum tn_op_kind verb, const struct tn_shard_row *before,
                          const struct tn_shard_row *after)
{
    if (before->session == after->session && before->token == after->token)
        return NULL;
    if (after->state == TN_SHARD_QUARANTINED)
        return "quarantined";
    switch (verb) {
    case TN_OP_CLAIM: return before->session ? "taken over" : before->token ? "claimed" : "first claim";
    case TN_OP_TRANSFER: return "handed over";
    case TN_OP_FORCE: return "forced";
    case TN_OP_RELOAD: return "reloaded";
    case TN_OP_RELEASE: return after->fails > before->fails ? "given up" : "released";
    case TN_OP_REVOKE: return "revoked";
    default: return "changed";
    }
}

enum tn_renewal tn_rule_renew(struct tn_session_row *row, const struct tn_op_tick *tick, int64_t now_ms)
{
    if (row->state == TN_SESSION_DEAD || row->state == TN_SESSION_AWAY)
        return TN_ENDED;
    if (row->lease_until_ms <= now_ms)
        row->lates++;
    row->lease_ms = tick->lease_ms;
    row->lease_until_ms = now_ms + tick->lease_ms;
    if (tick->leaving)
        row->state = TN_SESSION_LEAVING;
    return row->lates == tick->lates_seen ? TN_RENEWED : TN_LATE;
}

bool tn_rule_bury(const struct tn_session_row *row, const struct tn_op_bury *bury, enum tn_presence presence,
                  int64_t now_ms)
{
    if (row->state == TN_SESSION_DEAD || (row->state == TN_SESSION_AWAY && bury->evidence != TN_EXPIRED))
        return false;
    switch (bury->evidence) {
    case TN_EXPIRED: return row->lease_until_ms <= now_ms;
    case TN_CRASHED: return presence == TN_PRESENCE_GONE;
    case TN_TOO_FAR:
        return row->lease_until_ms == bury->seen_until_ms && row->lease_until_ms > now_ms + row->lease_ms;
    }
    return false;
}

bool tn_rule_suspect(const struct tn_session_row *row, int64_t now_ms)
{
    /* A healthy session renews every third of its lease or so: less than 5/8 left means that it missed one.
     */
    return row->lease_until_ms < now_ms + row->lease_ms / 8 * 5 ||
           row->lease_until_ms > now_ms + row->lease_ms;
}

uint32_t tn_rule_most_starting(const struct tn_settings *settings, const struct tn_losses *losses,
                               int64_t now_ms)
{
    enum { frozen_factor = 8 };
    if (settings->max_takeovers)
        return (uint32_t)settings->max_takeovers;
    if (losses->frozen_until_ms > now_ms)
        return settings->max_moves > UINT32_MAX / frozen_factor
                   ? UINT32_MAX
                   : (uint32_t)settings->max_moves * frozen_factor;
    return UINT32_MAX;
}

void tn_rule_lost(struct tn_losses *losses, uint32_t members, int64_t lease_ms, int64_t now_ms)
{
    if (!losses->lost || now_ms - losses->from_ms > lease_ms)
        *losses = (struct tn_losses){0, members, now_ms, losses->frozen_until_ms};
    losses->lost++;
    if (losses->lost >= 2 && losses->lost * 100 > losses->of * TN_MASS_PERCENT)
        losses->frozen_until_ms = now_ms + TN_STEADY_LEASES * lease_ms;
}

void tn_rule_joined(struct tn_losses *losses)
{
    if (losses->lost)
        losses->lost--;
}

void tn_rule_members_changed(struct tn_losses *losses, int64_t lease_ms, int64_t now_ms)
{
    if (losses->frozen_until_ms > now_ms)
        losses->frozen_until_ms = now_ms + TN_STEADY_LEASES * lease_ms;
}

uint32_t tn_rule_next_history(uint32_t recorded, uint32_t seen, int64_t unix_ms)
{
    const int64_t start_of_2025_ms = 1735689600000;
    const int64_t minutes = (unix_ms - start_of_2025_ms) / 60000;
    uint32_t next = (recorded > seen ? recorded : seen) + 1;
    if (minutes > (int64_t)next)
        next = minutes > TN_HISTORY_MAX ? TN_HISTORY_MAX : (uint32_t)minutes;
    return next < TN_HISTORY_MAX ? next : TN_HISTORY_MAX;
}

void tn_rule_new_history(struct tn_shard_row *row, uint32_t history, int64_t now_ms)
{
    row->token = tn_token_first(history);
    row->session = 0;
    row->target = 0;
    row->handed = 0;
    row->since_ms = now_ms;
    row->until_ms = 0;
    row->moved_ms = 0;
    tn_trouble_forget(row);
    if (row->state != TN_SHARD_QUARANTINED)
        row->state = TN_SHARD_UNOWNED;
}
