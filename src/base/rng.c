#include "base/rng.h"

uint64_t tn_rng_next(struct tn_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t tn_rng_below(struct tn_rng *rng, uint64_t below)
{
    return (uint64_t)(((unsigned __int128)tn_rng_next(rng) * below) >> 64);
}
