/* What is called for every key and every write: key -> shard, mine or not, the gates.
 *
 * Everything is inlined, and nothing here has an array on the stack, so this file goes without stack
 * protector: a call of XXH3 costs a handful of nanoseconds, and so does a guard. */
#include "core/hash/fast.h"
#include "node/node.h"

/* Keys that are not the common case, the empty key among them. */
static __attribute__((noinline)) uint32_t shard_of_any(const struct tenure_group *group, const void *key,
                                                       size_t size)
{
    return size ? tn_hash_slow(&group->hasher, key, size) : UINT32_MAX;
}

__attribute__((flatten)) uint32_t tenure_shard_of(const struct tenure_group *group, const void *key,
                                                  size_t size)
{
    if (__builtin_expect(tn_hash_is_fast(&group->hasher, size), 1))
        return tn_hash_fast(&group->hasher, key, size);
    return shard_of_any(group, key, size);
}

static __attribute__((noinline)) uint64_t owns_any(const struct tenure_group *group, const void *key,
                                                   size_t size, uint32_t *ret_shard)
{
    const uint32_t shard = shard_of_any(group, key, size);
    if (shard == UINT32_MAX)
        return 0;
    if (ret_shard)
        *ret_shard = shard;
    return atomic_load_explicit(&group->slots[shard].token, memory_order_acquire);
}

__attribute__((flatten)) uint64_t tenure_owns(const struct tenure_group *group, const void *key, size_t size,
                                              uint32_t *ret_shard)
{
    if (__builtin_expect(!tn_hash_is_fast(&group->hasher, size), 0))
        return owns_any(group, key, size, ret_shard);
    const uint32_t shard = tn_hash_fast(&group->hasher, key, size);
    if (ret_shard)
        *ret_shard = shard;
    return atomic_load_explicit(&group->slots[shard].token, memory_order_acquire);
}

bool tenure_gate_exact(const struct tenure_group *group, uint32_t shard, uint64_t token)
{
    return shard < group->hasher.shards && tn_gate_exact(group->deadline, &group->slots[shard], token);
}

bool tenure_gate_quick(const struct tenure_group *group, uint32_t shard, uint64_t token)
{
    return shard < group->hasher.shards && tn_gate_quick(group->deadline, &group->slots[shard], token);
}
