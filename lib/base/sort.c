/* SPDX-License-Identifier: Apache-2.0 */
/* Heap sort: the input is untrusted, so no quadratic case and no hidden allocation may exist. */
#include "base/sort.h"

typedef int (*compare_fn)(const void *a, const void *b, void *ctx);

static void sift_down(const void **v, size_t at, size_t n, compare_fn cmp, void *ctx) {
    const void *moving = v[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n && cmp(v[child], v[child + 1], ctx) < 0) {
            child++;
        }
        if (cmp(moving, v[child], ctx) >= 0) {
            break;
        }
        v[at] = v[child];
        at = child;
    }
    v[at] = moving;
}

void gv_sort(const void **v, size_t n, compare_fn cmp, void *ctx) {
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(v, i, n, cmp, ctx);
    }
    for (size_t i = n; i-- > 1;) {
        const void *largest = v[0];
        v[0] = v[i];
        v[i] = largest;
        sift_down(v, 0, i, cmp, ctx);
    }
}
