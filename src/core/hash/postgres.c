/* PostgreSQL's number for hash partitioning of one text column: the extended hash of the bytes with the
 * partition seed, then combined as for one column (addition of a constant). The hash is Bob Jenkins' lookup3
 * (2006) with PostgreSQL's start value. */
#include "core/hash/family.h"

static const uint64_t partition_seed = 0x7A5B22367996DCFDu;
static const uint64_t combine_one = 0x49a0f4dd15e5a8e3u;

struct state {
    uint32_t a, b, c;
};

static void mix(struct state *s)
{
    s->a -= s->c, s->a ^= tn_hash_rotate(s->c, 4), s->c += s->b;
    s->b -= s->a, s->b ^= tn_hash_rotate(s->a, 6), s->a += s->c;
    s->c -= s->b, s->c ^= tn_hash_rotate(s->b, 8), s->b += s->a;
    s->a -= s->c, s->a ^= tn_hash_rotate(s->c, 16), s->c += s->b;
    s->b -= s->a, s->b ^= tn_hash_rotate(s->a, 19), s->a += s->c;
    s->c -= s->b, s->c ^= tn_hash_rotate(s->b, 4), s->b += s->a;
}

static void finish(struct state *s)
{
    s->c ^= s->b, s->c -= tn_hash_rotate(s->b, 14);
    s->a ^= s->c, s->a -= tn_hash_rotate(s->c, 11);
    s->b ^= s->a, s->b -= tn_hash_rotate(s->a, 25);
    s->c ^= s->b, s->c -= tn_hash_rotate(s->b, 16);
    s->a ^= s->c, s->a -= tn_hash_rotate(s->c, 4);
    s->b ^= s->a, s->b -= tn_hash_rotate(s->a, 14);
    s->c ^= s->b, s->c -= tn_hash_rotate(s->b, 24);
}

/* Up to four bytes as a little-endian word. */
static uint32_t part(const uint8_t *key, size_t size, size_t from)
{
    uint32_t word = 0;
    for (size_t i = from; i < size && i < from + 4; i++)
        word |= (uint32_t)key[i] << (8 * (i - from));
    return word;
}

uint64_t tn_postgres_text(const uint8_t *key, size_t size)
{
    struct state s;
    s.a = s.b = s.c = 0x9e3779b9u + (uint32_t)size + 3923095u;
    s.a += (uint32_t)(partition_seed >> 32);
    s.b += (uint32_t)partition_seed;
    mix(&s);
    for (; size >= 12; key += 12, size -= 12) {
        s.a += tn_hash_word(key), s.b += tn_hash_word(key + 4), s.c += tn_hash_word(key + 8);
        mix(&s);
    }
    s.a += part(key, size, 0);
    s.b += part(key, size, 4);
    s.c += part(key, size, 8) << 8; /* the lowest byte of c is left to the length */
    finish(&s);
    return ((uint64_t)s.b << 32 | s.c) + combine_one;
}
