/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting 64-bit keys in place, without memory: insertion for few, heap sort for many. */
#ifndef GV_SCHED_KEYS_H
#define GV_SCHED_KEYS_H

#include <stddef.h>
#include <stdint.h>

static inline void gv_keys_sift(uint64_t *v, size_t at, size_t n) {
    uint64_t x = v[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && v[child + 1] > v[child]) {
            child++;
        }
        if (v[child] <= x) {
            break;
        }
        v[at] = v[child];
        at = child;
    }
    v[at] = x;
}

static inline void gv_keys_sort(uint64_t *v, size_t n) {
    if (n <= 24) {
        for (size_t i = 1; i < n; i++) {
            uint64_t x = v[i];
            size_t at = i;
            for (; at > 0 && v[at - 1] > x; at--) {
                v[at] = v[at - 1];
            }
            v[at] = x;
        }
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        gv_keys_sift(v, i, n);
    }
    for (size_t i = n; i-- > 1;) {
        uint64_t x = v[0];
        v[0] = v[i];
        v[i] = x;
        gv_keys_sift(v, 0, i);
    }
}

#endif
