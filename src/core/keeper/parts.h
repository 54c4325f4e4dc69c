/* Between the keeper's own files: one step's context, and what each part does for the others. */
#ifndef TN_CORE_KEEPER_PARTS_H
#define TN_CORE_KEEPER_PARTS_H

#include "core/keeper/keeper.h"

/* One step under way. */
struct tn_step {
    struct tn_keeper *keeper;
    int64_t now_ms;
    struct tn_update *update;
    struct tn_request *open[TN_OP_COUNT]; /* the batch being filled, a verb; for open_group */
    uint32_t open_group;
};

/* say.c: filling the update */
struct tn_notice *tn_say(struct tn_step *step, enum tn_notice_kind kind, uint32_t group, uint32_t shard);
__attribute__((format(printf, 2, 3))) void tn_say_log(struct tn_step *step, const char *format, ...);
void tn_say_gate(struct tn_step *step, uint32_t group, uint32_t shard, uint64_t token, bool want_idle);
struct tn_op *tn_say_op(struct tn_step *step, enum tn_op_kind kind);
/* An item of a batch of this verb; starts another op when the batch is full or of another group. */
struct tn_item *tn_say_item(struct tn_step *step, enum tn_op_kind verb, uint32_t group, uint32_t shard,
                            uint64_t token);

/* session.c: join, renewal, end */
void tn_session_wake(struct tn_step *step);
void tn_session_join_reply(struct tn_step *step, struct tn_op *op);
void tn_session_tick_reply(struct tn_step *step, struct tn_op *op);
void tn_session_leave_reply(struct tn_step *step, struct tn_op *op);
void tn_session_doubted(struct tn_step *step);
bool tn_session_working(const struct tn_keeper *keeper); /* live or leaving, not lapsed */

/* shards.c: rows against holdings */
void tn_shards_look(struct tn_step *step, uint32_t group, uint32_t shard);
void tn_shards_look_all(struct tn_step *step, uint32_t group);
void tn_shards_drop_all(struct tn_step *step, const char *reason);
void tn_shards_event(struct tn_step *step, uint32_t group, uint32_t shard, enum tn_holding_event event,
                     const char *reason);
/* requests.c: what is asked of the store about them */
void tn_shards_ask(struct tn_step *step, enum tn_op_kind verb, uint32_t group, uint32_t shard);
void tn_shards_reply(struct tn_step *step, struct tn_op *op);
void tn_shards_flush(struct tn_step *step, uint32_t group);
void tn_shards_new_session(struct tn_keeper_group *group);
/* word.c: the application's word, and its silence */
void tn_shards_app(struct tn_step *step, const struct tn_keeper_event *event);
void tn_shards_stalled(struct tn_step *step, uint32_t group);

/* conduct.c: plans and rounds */
void tn_conduct(struct tn_step *step, uint32_t group);
void tn_conduct_reply(struct tn_step *step, struct tn_op *op);
int64_t tn_conduct_stagger_ms(const struct tn_keeper_group *group, uint64_t session);

/* watch.c: who is dead */
void tn_watch_members(struct tn_step *step);
void tn_watch_suspects(struct tn_step *step, const struct tn_op_tick *tick);
void tn_watch_wake(struct tn_step *step);
void tn_watch_reply(struct tn_step *step, struct tn_op *op);

/* Lowers update->wake_ms. */
static inline void tn_wake_by(struct tn_step *step, int64_t at_ms)
{
    if (at_ms < step->update->wake_ms)
        step->update->wake_ms = at_ms;
}

static inline uint32_t tn_group_index(const struct tn_keeper *keeper, uint32_t group)
{
    for (uint32_t i = 0; i < keeper->n_groups; i++)
        if (keeper->groups[i]->joined && keeper->groups[i]->view.group == group)
            return i;
    return UINT32_MAX;
}

#endif
