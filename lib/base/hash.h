/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, 64 bit: for names and canonical forms. Not for untrusted keys at scale: maps mix it further. */
#ifndef GV_BASE_HASH_H
#define GV_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define GV_FNV_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t gv_fnv1a(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}
/* Finaliser that spreads all bits. */
static inline uint64_t gv_mix64(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
#endif
