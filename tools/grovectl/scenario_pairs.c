/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What objects of several roles and versions are good for together: only those of one version serve with one
 * another, so that a version has as many pairs as the role that it has fewest of.
 */
#include "scenario_pairs.h"

#include <string.h>

#define MOST 16 /* roles, and versions */

typedef struct tally {
    const grove_node *roles[MOST], *versions[MOST];
    size_t n_roles, n_versions;
    int64_t n[MOST][MOST]; /* by version, then role */
} tally;

/* The place of a value in a list, at whose end it is put when it is not there; MOST: there is no room. */
static size_t place(const grove_node **list, size_t *n, const grove_node *value) {
    for (size_t i = 0; i < *n; i++) {
        if (grove_node_equal(list[i], value)) {
            return i;
        }
    }
    if (*n < MOST) {
        list[(*n)++] = value;
        return *n - 1;
    }
    return MOST;
}

scenario_pairs scenario_count_pairs(const grove_node *const *roles,
                                    const grove_node *const *versions, size_t n) {
    tally t;
    scenario_pairs out = {0, 0};
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < n; i++) {
        size_t role = roles[i] ? place(t.roles, &t.n_roles, roles[i]) : MOST;
        size_t version = versions[i] ? place(t.versions, &t.n_versions, versions[i]) : MOST;
        if (role < MOST && version < MOST) {
            t.n[version][role]++;
        }
    }
    for (size_t v = 0; v < t.n_versions; v++) {
        int64_t fewest = INT64_MAX, most = 0;
        for (size_t r = 0; r < t.n_roles; r++) {
            fewest = t.n[v][r] < fewest ? t.n[v][r] : fewest;
            most = t.n[v][r] > most ? t.n[v][r] : most;
        }
        fewest = fewest == INT64_MAX ? 0 : fewest;
        out.whole += fewest;
        out.apart = most - fewest > out.apart ? most - fewest : out.apart;
    }
    return out;
}
