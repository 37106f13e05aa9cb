/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent judge of placements and proofs, written apart from the scheduler: it shares no code and
 * no data structure with lib/sched, computes everything naively from the description of a case, and has
 * a brute-force search of its own for small cases.
 */
#ifndef TESTS_SUPPORT_SCHED_CHECK_H
#define TESTS_SUPPORT_SCHED_CHECK_H

#include <stdint.h>

#define SC_LEVELS 3    /* label levels; the host is level SC_LEVELS */
#define SC_RESOURCES 4 /* pods first */
#define SC_NONE (-1)

typedef struct sc_node {
    int32_t domain[SC_LEVELS]; /* number of the path down to the level; SC_NONE: no label */
    int64_t free[SC_RESOURCES];
    int32_t closed; /* takes no pod at all */
} sc_node;

typedef struct sc_podgroup {
    int32_t count;
    int64_t req[SC_RESOURCES];
    int32_t required; /* level or SC_NONE */
} sc_podgroup;

typedef struct sc_group {
    const int32_t *podgroups;
    int32_t n, required;
} sc_group;

typedef struct sc_case {
    const sc_node *nodes;
    const sc_podgroup *podgroups;
    const sc_group *groups;
    int32_t n_nodes, n_podgroups, n_groups, required;
} sc_case;

/* nodes[p][k]: node of pod k of podgroup p. NULL when every rule is kept, else what is broken. */
const char *sc_check_placement(const sc_case *c, const uint32_t *const *nodes);

/*
 * Whether, in every domain of `level` (SC_NONE: the cluster), one of the plain bounds fails for the whole
 * gang: a resource's sum, the number of copies of a podgroup, a part that no domain of its own level
 * could hold alone, or two parts that only one domain could hold and not both. 1 proved, 0 not.
 */
int sc_prove_by_bounds(const sc_case *c, int32_t level);
/* 1 when no node is large enough for a pod of some podgroup. */
int sc_prove_no_node(const sc_case *c);

/* Brute force: 1 a placement exists, 0 none does, -1 more than `limit` steps. */
int sc_feasible(const sc_case *c, uint64_t limit);

#endif
