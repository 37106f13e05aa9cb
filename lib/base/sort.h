/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting without memory and without recursion; O(n log n) whatever the input. */
#ifndef GV_BASE_SORT_H
#define GV_BASE_SORT_H

#include <stddef.h>

/* Sorts an array of pointers. Not stable: let `cmp` break ties. */
void gv_sort(const void **v, size_t n, int (*cmp)(const void *a, const void *b, void *ctx),
             void *ctx);

#endif
