#include "node/parcel.h"

#include <stdlib.h>

struct tn_batch *tn_batch_new(void)
{
    struct tn_batch *batch = malloc(sizeof *batch);
    if (!batch)
        abort();
    tn_arena_init(&batch->arena);
    batch->users = 1;
    return batch;
}

void tn_batch_drop(struct tn_batch *batch)
{
    if (--batch->users)
        return;
    tn_arena_done(&batch->arena);
    free(batch);
}

struct tn_parcel *tn_parcel_new(const struct tn_op *op)
{
    struct tn_parcel *parcel = calloc(1, sizeof *parcel);
    if (!parcel)
        abort();
    parcel->op = *op;
    tn_arena_init(&parcel->reply);
    parcel->urgent = op->kind == TN_OP_TICK;
    return parcel;
}

void tn_parcel_free(struct tn_parcel *parcel)
{
    if (parcel->batch)
        tn_batch_drop(parcel->batch);
    tn_arena_done(&parcel->reply);
    free(parcel);
}
