/* Between this folder's own files: each kind of operation, inside a transaction. A status other than OK means
 * refused: nothing was written. */
#ifndef TN_STORE_ROWS_PARTS_H
#define TN_STORE_ROWS_PARTS_H

#include "store/rows/rows.h"

/* join.c */
enum tenure_status tn_rows_join(struct tn_rows *rows, struct tn_op *op);
/* session.c */
enum tenure_status tn_rows_tick(struct tn_rows *rows, struct tn_op *op);
enum tenure_status tn_rows_sync(struct tn_rows *rows, struct tn_op *op);
enum tenure_status tn_rows_probe(struct tn_rows *rows, struct tn_op *op);
enum tenure_status tn_rows_bury(struct tn_rows *rows, struct tn_op *op);
enum tenure_status tn_rows_leave(struct tn_rows *rows, struct tn_op *op);
/* Its groups learn that their members changed. */
void tn_rows_touch_groups(struct tn_rows *rows, uint64_t session);
/* This group does; the row is written. */
void tn_rows_members_changed(struct tn_rows *rows, struct tn_group_row *row);
/* view.c: what a TICK or SYNC looks at, read once; in scratch */
struct tn_rows_view {
    struct tn_live_session *live; /* ascending */
    size_t n_live;
    struct tn_group_row *groups; /* one a cursor; id 0: not there */
};
void tn_rows_look(struct tn_rows *rows, const struct tn_op *op, struct tn_rows_view *ret);
/* NULL when it is not live. */
struct tn_live_session *tn_rows_find_live(const struct tn_rows_view *view, uint64_t session);
/* Do the request's numbers show that the store has forgotten something it once knew? */
bool tn_rows_lost_history(struct tn_rows *rows, const struct tn_op *op, const struct tn_rows_view *view);
void tn_rows_deltas(struct tn_rows *rows, struct tn_op *op, const struct tn_rows_view *view);
void tn_rows_suspects(struct tn_rows *rows, struct tn_op *op, const struct tn_rows_view *view);
/* shard.c */
enum tenure_status tn_rows_verb(struct tn_rows *rows, struct tn_op *op);
enum tenure_status tn_rows_save(struct tn_rows *rows, struct tn_op *op);
/* Writes the item's checkpoint over the stored one if tn_rule_save lets it; the item then has it as stored.
 */
enum tn_outcome tn_rows_write_checkpoint(struct tn_rows *rows, uint32_t group, struct tn_item *item,
                                         struct tn_arena *arena);
/* plan.c */
enum tenure_status tn_rows_plan(struct tn_rows *rows, struct tn_op *op);

/* A group that is there for everybody: NOT_FOUND otherwise. */
enum tenure_status tn_rows_group_visible(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret);
bool tn_rows_group_is_visible(const struct tn_group_row *row);
void tn_rows_event(struct tn_rows *rows, const struct tn_event_row *event);

#endif
