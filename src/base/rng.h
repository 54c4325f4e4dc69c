/* A seeded generator, passed in wherever chance is wanted, so that a run can be repeated.
 * Source: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). Not
 * for secrets. */
#ifndef TN_BASE_RNG_H
#define TN_BASE_RNG_H

#include <stdint.h>

struct tn_rng {
    uint64_t state; /* the seed, before the first draw */
};

uint64_t tn_rng_next(struct tn_rng *rng);
/* 0 .. below-1, unbiased enough for jitter and tests (multiply-shift); below 0 gives 0. */
uint64_t tn_rng_below(struct tn_rng *rng, uint64_t below);

#endif
