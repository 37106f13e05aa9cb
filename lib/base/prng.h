/* SPDX-License-Identifier: Apache-2.0 */
/* Deterministic random numbers (splitmix64): the same seed gives the same sequence everywhere. */
#ifndef GV_BASE_PRNG_H
#define GV_BASE_PRNG_H

#include <stdint.h>

#include "base/hash.h"

typedef struct gv_prng {
    uint64_t state;
} gv_prng;

static inline void gv_prng_seed(gv_prng *r, uint64_t seed) {
    r->state = seed;
}
static inline uint64_t gv_prng_next(gv_prng *r) {
    r->state += UINT64_C(0x9e3779b97f4a7c15);
    return gv_mix64(r->state);
}
/* Uniform in [0, n); n > 0. */
uint64_t gv_prng_below(gv_prng *r, uint64_t n);

#endif
