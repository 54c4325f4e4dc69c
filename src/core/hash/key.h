/* Composite keys and time buckets.
 *
 * A composite key is its parts, each preceded by its length, so that ("ab","c") and ("a","bc") differ. The
 * encoding is pinned (it decides shards): for each part, the length as an unsigned LEB128 number, then the
 * bytes. Pure; thread-safe; no allocation. */
#ifndef TN_CORE_HASH_KEY_H
#define TN_CORE_HASH_KEY_H

#include <stddef.h>
#include <stdint.h>

/* Writes the joined key into `into` (`room` bytes) and returns the length it has or would need; nothing past
 * room is written. parts[i] may be NULL when sizes[i] is 0. */
size_t tn_key_join(const void *const *parts, const size_t *sizes, size_t n, void *into, size_t room);
/* The start of the bucket of `width_ms` (> 0) that contains `instant_ms`: floor, also before 1970. */
int64_t tn_key_bucket(int64_t instant_ms, int64_t width_ms);

#endif
