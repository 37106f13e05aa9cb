/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing from a range without bias. */
#include "base/prng.h"

uint64_t gv_prng_below(gv_prng *r, uint64_t n) {
    if (n <= 1) {
        return 0;
    }
    /* The top of the 64-bit range that is no whole multiple of n would favour small results. */
    const uint64_t biased = (0 - n) % n;
    uint64_t x;
    do {
        x = gv_prng_next(r);
    } while (x < biased);
    return x % n;
}
