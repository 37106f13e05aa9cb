/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs that objects of several roles and versions make: the expectation `pairs` of scenario files. */
#ifndef GROVECTL_SCENARIO_PAIRS_H
#define GROVECTL_SCENARIO_PAIRS_H

#include <grove/grove.h>

#include <stddef.h>
#include <stdint.h>

typedef struct scenario_pairs {
    int64_t whole; /* the sum over the versions of the fewest of a role */
    int64_t apart; /* the most by which roles of one version differ */
} scenario_pairs;

/* Per object its role and its version; NULL: it has none and does not count. */
scenario_pairs scenario_count_pairs(const grove_node *const *roles,
                                    const grove_node *const *versions, size_t n);

#endif
