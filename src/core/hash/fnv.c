/* FNV-1a (Fowler, Noll, Vo; IETF draft-eastlake-fnv), 32 and 64 bits. */
#include "core/hash/family.h"

uint32_t tn_fnv1a32(const uint8_t *key, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ key[i]) * 16777619u;
    return hash;
}

uint64_t tn_fnv1a64(const uint8_t *key, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ key[i]) * 1099511628211u;
    return hash;
}
