#include "core/place/elastic_list.h"

#include "core/plan/order.h"
#include "core/plan/world.h"

/* UTF-8 bytes sort by code point. UTF-16 units do too, but for one thing: characters above U+FFFF (lead byte
 * 0xF0 and up) become surrogates, 0xD800-0xDFFF, and so sort before U+E000-U+FFFF (lead bytes 0xEE and 0xEF).
 */
static int utf16_rank(unsigned char byte)
{
    return byte == 0xee || byte == 0xef ? byte + 0x100 : byte;
}

int tn_elastic_list_compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return utf16_rank((unsigned char)*a) - utf16_rank((unsigned char)*b);
}

static bool listed_before(const void *context, uint32_t a, uint32_t b)
{
    const struct tn_plan_node *nodes = context;
    return tn_elastic_list_compare(nodes[a].id, nodes[b].id) > 0;
}

uint32_t *tn_elastic_list_build(const struct tn_plan_world *world, struct tn_arena *arena, size_t *ret_n)
{
    uint32_t *list = tn_arena_array(arena, world->n_nodes, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < world->n_nodes; i++)
        if (tn_world_takes(&world->nodes[i]))
            list[n++] = (uint32_t)i;
    tn_order_sort(list, n, listed_before, world->nodes, arena);
    *ret_n = n;
    return list;
}
