#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { first_block_bytes = 2048, largest_regular_block_bytes = 1 << 20 };

struct tn_arena_block {
    struct tn_arena_block *next;
    size_t room;
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

void tn_arena_init(struct tn_arena *arena)
{
    arena->first = NULL;
    arena->current = NULL;
}

static void free_chain(struct tn_arena_block *block)
{
    while (block) {
        struct tn_arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void tn_arena_done(struct tn_arena *arena)
{
    free_chain(arena->first);
    tn_arena_init(arena);
}

void tn_arena_reset(struct tn_arena *arena)
{
    if (!arena->first)
        return;
    free_chain(arena->first->next);
    arena->first->next = NULL;
    arena->first->used = 0;
    arena->current = arena->first;
}

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "tenure: out of memory (asked for %zu bytes)\n", size);
    abort();
}

static struct tn_arena_block *add_block(struct tn_arena *arena, size_t at_least)
{
    size_t room = arena->current ? arena->current->room * 2 : first_block_bytes;
    if (room > largest_regular_block_bytes)
        room = largest_regular_block_bytes;
    if (room < at_least)
        room = at_least;
    struct tn_arena_block *block = malloc(sizeof *block + room);
    if (!block)
        out_of_memory(room);
    block->next = NULL;
    block->room = room;
    block->used = 0;
    if (arena->current)
        arena->current->next = block;
    else
        arena->first = block;
    arena->current = block;
    return block;
}

void *tn_arena_get(struct tn_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        out_of_memory(size);
    const size_t padded = size ? (size + align - 1) / align * align : align;
    struct tn_arena_block *block = arena->current;
    if (!block || block->room - block->used < padded)
        block = add_block(arena, padded);
    void *at = block->bytes + block->used;
    block->used += padded;
    return memset(at, 0, padded);
}

void *tn_arena_array(struct tn_arena *arena, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 2 / size)
        out_of_memory(SIZE_MAX);
    return tn_arena_get(arena, n * size);
}

void *tn_arena_copy(struct tn_arena *arena, const void *data, size_t size)
{
    void *copy = tn_arena_get(arena, size);
    return size ? memcpy(copy, data, size) : copy;
}

char *tn_arena_text(struct tn_arena *arena, const char *text)
{
    return tn_arena_copy(arena, text, strlen(text) + 1);
}

size_t tn_arena_bytes(const struct tn_arena *arena)
{
    size_t sum = 0;
    for (const struct tn_arena_block *block = arena->first; block; block = block->next)
        sum += block->room;
    return sum;
}
