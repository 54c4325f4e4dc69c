/* Fencing tokens: a 24-bit history number above a 29-bit counter, below 2^53 so that JSON keeps them exact.
 * In ordinary life the history number is 0 and tokens read 18, 19, 20. They only grow. Pure. */
#ifndef TN_CORE_LEASE_TOKEN_H
#define TN_CORE_LEASE_TOKEN_H

#include <stdint.h>

enum { TN_TOKEN_COUNTER_BITS = 29, TN_HISTORY_MAX = (1 << 24) - 1 };

static inline uint32_t tn_token_history(uint64_t token)
{
    return (uint32_t)(token >> TN_TOKEN_COUNTER_BITS);
}

/* The first token of a history; larger than every token of an earlier one. */
static inline uint64_t tn_token_first(uint32_t history)
{
    return ((uint64_t)history << TN_TOKEN_COUNTER_BITS) + 1;
}

#endif
