/* Memory that is given back all at once.
 *
 * Holds: a chain of blocks; allocation moves a pointer, tn_arena_reset gives all of it back but keeps the
 * first block. Cost: a few instructions an allocation, one malloc a block. Confined to one thread at a time;
 * it may be handed from thread to thread. Failing malloc: the process aborts with a message (the bounded
 * inputs of this program make this a matter of a machine without memory; nothing is half-written because
 * stores are transactional). */
#ifndef TN_BASE_ARENA_H
#define TN_BASE_ARENA_H

#include <stddef.h>

struct tn_arena_block;

struct tn_arena {
    struct tn_arena_block *first;   /* owned; NULL when empty */
    struct tn_arena_block *current; /* where the next allocation goes */
};

void tn_arena_init(struct tn_arena *arena); /* allocates nothing */
void tn_arena_done(struct tn_arena *arena); /* frees everything */
void tn_arena_reset(struct tn_arena *arena);

/* Zeroed, aligned for any type; never NULL. size 0 gives a valid unique pointer. */
void *tn_arena_get(struct tn_arena *arena, size_t size);
/* n elements of `size`; aborts on overflow of the product. */
void *tn_arena_array(struct tn_arena *arena, size_t n, size_t size);
/* Copies; the text copy is terminated. */
void *tn_arena_copy(struct tn_arena *arena, const void *data, size_t size);
char *tn_arena_text(struct tn_arena *arena, const char *text);
/* Bytes in blocks, used or not. */
size_t tn_arena_bytes(const struct tn_arena *arena);

#endif
