/* SPDX-License-Identifier: Apache-2.0 */
/* Naive on purpose: every rule is checked from its definition. */
#include "support/sched_check.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

static int32_t place_of(const sc_case *c, uint32_t node, int32_t level) {
    return level == SC_LEVELS ? (int32_t)node : c->nodes[node].domain[level];
}

static int member(const sc_group *g, int32_t podgroup) {
    for (int32_t i = 0; i < g->n; i++) {
        if (g->podgroups[i] == podgroup) {
            return 1;
        }
    }
    return 0;
}

/* All pods of the podgroups for which in(…) holds share a domain of the level. */
static int together(const sc_case *c, const uint32_t *const *nodes, const sc_group *only,
                    int32_t single, int32_t level) {
    int32_t at = SC_NONE;
    int seen = 0;
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        if ((only && !member(only, p)) || (single != SC_NONE && single != p)) {
            continue;
        }
        for (int32_t k = 0; k < c->podgroups[p].count; k++) {
            int32_t here = place_of(c, nodes[p][k], level);
            if (here == SC_NONE || (seen && here != at)) {
                return 0;
            }
            at = here;
            seen = 1;
        }
    }
    return 1;
}

const char *sc_check_placement(const sc_case *c, const uint32_t *const *nodes) {
    for (int32_t n = 0; n < c->n_nodes; n++) {
        for (int r = 0; r < SC_RESOURCES; r++) {
            int64_t used = 0;
            for (int32_t p = 0; p < c->n_podgroups; p++) {
                for (int32_t k = 0; k < c->podgroups[p].count; k++) {
                    if (nodes[p][k] >= (uint32_t)c->n_nodes) {
                        return "a pod has no node";
                    }
                    used += nodes[p][k] == (uint32_t)n ? c->podgroups[p].req[r] : 0;
                }
            }
            if (used > c->nodes[n].free[r] || (used > 0 && c->nodes[n].closed)) {
                return "a node holds more than it has";
            }
        }
    }
    if (c->required != SC_NONE && !together(c, nodes, NULL, SC_NONE, c->required)) {
        return "the gang is apart";
    }
    for (int32_t g = 0; g < c->n_groups; g++) {
        if (c->groups[g].required != SC_NONE &&
            !together(c, nodes, &c->groups[g], SC_NONE, c->groups[g].required)) {
            return "a group is apart";
        }
    }
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        if (c->podgroups[p].required != SC_NONE &&
            !together(c, nodes, NULL, p, c->podgroups[p].required)) {
            return "a podgroup is apart";
        }
    }
    return NULL;
}

/* ---- proofs ---- */

static int64_t copies(const sc_node *n, const int64_t *req) {
    int64_t best = INT64_MAX;
    for (int r = 0; r < SC_RESOURCES; r++) {
        if (req[r] > 0) {
            int64_t fits = n->free[r] > 0 ? n->free[r] / req[r] : 0;
            best = fits < best ? fits : best;
        }
    }
    return n->closed ? 0 : best;
}

int sc_prove_no_node(const sc_case *c) {
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        int found = c->podgroups[p].count == 0;
        for (int32_t n = 0; n < c->n_nodes; n++) {
            found = found || copies(&c->nodes[n], c->podgroups[p].req) > 0;
        }
        if (!found) {
            return 1;
        }
    }
    return 0;
}

static int same_request(const sc_podgroup *a, const sc_podgroup *b) {
    return memcmp(a->req, b->req, sizeof a->req) == 0;
}

/*
 * Some plain sum fails for the podgroups of `only` (NULL: all) inside the domain. `alone` looks at one
 * podgroup instead.
 */
static int sums_fail(const sc_case *c, const sc_group *only, int32_t alone, int32_t level,
                     int32_t domain) {
    int64_t want[SC_RESOURCES] = {0}, have[SC_RESOURCES] = {0};
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        if ((only && !member(only, p)) || (alone != SC_NONE && alone != p)) {
            continue;
        }
        /* copies of this request, for all podgroups that ask for the same */
        int64_t need = 0, fit = 0;
        for (int32_t q = 0; q < c->n_podgroups; q++) {
            int counts = (!only || member(only, q)) && (alone == SC_NONE || alone == q);
            need += counts && same_request(&c->podgroups[p], &c->podgroups[q])
                        ? c->podgroups[q].count
                        : 0;
        }
        for (int32_t n = 0; n < c->n_nodes; n++) {
            if (level == SC_NONE || place_of(c, (uint32_t)n, level) == domain) {
                fit += copies(&c->nodes[n], c->podgroups[p].req);
            }
        }
        if (fit < need) {
            return 1;
        }
        for (int r = 0; r < SC_RESOURCES; r++) {
            want[r] += c->podgroups[p].req[r] * c->podgroups[p].count;
        }
    }
    for (int32_t n = 0; n < c->n_nodes; n++) {
        if (level == SC_NONE || place_of(c, (uint32_t)n, level) == domain) {
            for (int r = 0; r < SC_RESOURCES; r++) {
                have[r] += c->nodes[n].closed || c->nodes[n].free[r] < 0 ? 0 : c->nodes[n].free[r];
            }
        }
    }
    for (int r = 0; r < SC_RESOURCES; r++) {
        if (want[r] > have[r]) {
            return 1;
        }
    }
    return 0;
}

/* A group, or one podgroup alone. */
typedef struct sc_part {
    const sc_group *group; /* NULL: the podgroup */
    int32_t podgroup;
} sc_part;

static sc_part part_at(const sc_case *c, int32_t i) {
    return i < c->n_groups ? (sc_part){&c->groups[i], SC_NONE} : (sc_part){NULL, i - c->n_groups};
}

static int32_t part_level(const sc_case *c, sc_part part) {
    return part.group ? part.group->required : c->podgroups[part.podgroup].required;
}

static int has_pods(const sc_case *c, sc_part part) {
    return part.group ? part.group->n > 0 : c->podgroups[part.podgroup].count > 0;
}

/* Whether `part` lies in `group` (NULL: the gang, where all do) and is less than it. */
static int inside(const sc_group *group, sc_part part) {
    if (!group || !part.group) {
        return !group || member(group, part.podgroup);
    }
    int in = part.group != group && part.group->n < group->n;
    for (int32_t i = 0; in && i < part.group->n; i++) {
        in = member(group, part.group->podgroups[i]);
    }
    return in;
}

static int share_podgroups(const sc_case *c, sc_part a, sc_part b) {
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        if ((a.group ? member(a.group, p) : a.podgroup == p) &&
            (b.group ? member(b.group, p) : b.podgroup == p)) {
            return 1;
        }
    }
    return 0;
}

static int parts_fail(const sc_case *c, const sc_group *group, int32_t level, int32_t domain);

/* How many domains of its own level inside the given one could hold the part alone; *out is the last of them. */
static int seats_of(const sc_case *c, sc_part part, int32_t level, int32_t domain, int32_t *out) {
    int32_t own = part_level(c, part), n_seen = 0, n = 0;
    int32_t *seen = calloc((size_t)c->n_nodes + 1, sizeof *seen);
    for (int32_t i = 0; seen && i < c->n_nodes; i++) {
        int32_t here = place_of(c, (uint32_t)i, own), known = here == SC_NONE;
        for (int32_t k = 0; !known && k < n_seen; k++) {
            known = seen[k] == here;
        }
        if (known || (level != SC_NONE && place_of(c, (uint32_t)i, level) != domain)) {
            continue;
        }
        seen[n_seen++] = here;
        /* parts inside the group have to find a place of their own as well */
        if (!sums_fail(c, part.group, part.podgroup, own, here) &&
            (!part.group || !parts_fail(c, part.group, own, here))) {
            *out = here;
            n++;
        }
    }
    free(seen);
    return n;
}

static int both_fail(const sc_case *c, sc_part a, sc_part b, int32_t own, int32_t domain) {
    int32_t n = 0, *all = calloc((size_t)c->n_podgroups + 1, sizeof *all);
    for (int32_t p = 0; all && p < c->n_podgroups; p++) {
        if ((a.group ? member(a.group, p) : a.podgroup == p) ||
            (b.group ? member(b.group, p) : b.podgroup == p)) {
            all[n++] = p;
        }
    }
    sc_group both = {all, n, own};
    int fails = all && sums_fail(c, &both, SC_NONE, own, domain);
    free(all);
    return fails;
}

/* Whether the nodes of a domain lie in some domain of a broader level. */
static int lies_in(const sc_case *c, int32_t level, int32_t domain, int32_t broader) {
    for (int32_t n = 0; n < c->n_nodes; n++) {
        if (place_of(c, (uint32_t)n, level) == domain) {
            return place_of(c, (uint32_t)n, broader) != SC_NONE;
        }
    }
    return 1;
}

/*
 * Some part of the group (NULL: the gang) that no domain of its own level, inside the given one, could hold
 * alone; or two that only one and the same domain could hold, and not both of them.
 */
static int parts_fail(const sc_case *c, const sc_group *group, int32_t level, int32_t domain) {
    int32_t n = c->n_groups + c->n_podgroups, at = SC_NONE, other = SC_NONE;
    for (int32_t i = 0; i < n; i++) {
        sc_part part = part_at(c, i);
        int32_t own = part_level(c, part);
        if (own == SC_NONE || own == level || !has_pods(c, part) || !inside(group, part)) {
            continue;
        }
        if (own < level) { /* held together by the domain, which must lie in one of that level */
            if (!lies_in(c, level, domain, own)) {
                return 1;
            }
            continue;
        }
        int seats = seats_of(c, part, level, domain, &at);
        for (int32_t k = 0; seats == 1 && k < i; k++) {
            sc_part second = part_at(c, k);
            if (part_level(c, second) == own && has_pods(c, second) && inside(group, second) &&
                !share_podgroups(c, part, second) &&
                seats_of(c, second, level, domain, &other) == 1 && other == at &&
                both_fail(c, part, second, own, at)) {
                return 1;
            }
        }
        if (seats == 0) {
            return 1;
        }
    }
    return 0;
}

int sc_prove_by_bounds(const sc_case *c, int32_t level) {
    for (int32_t n = 0; n < (level == SC_NONE ? 1 : c->n_nodes); n++) {
        int32_t domain = level == SC_NONE ? 0 : place_of(c, (uint32_t)n, level);
        if (domain != SC_NONE && !sums_fail(c, NULL, SC_NONE, level, domain) &&
            !parts_fail(c, NULL, level, domain)) {
            return 0;
        }
    }
    return 1;
}

/* ---- brute force ---- */

typedef struct brute {
    const sc_case *c;
    int64_t *free;     /* node * SC_RESOURCES */
    int32_t *group_at; /* group -> domain chosen, SC_NONE - 1: none yet */
    int32_t *podgroup_at;
    int32_t gang_at;
    uint64_t left;
} brute;

#define UNSET (-2)

/* Fixes a domain or compares with it; returns what has to be restored, UNSET - 1 when it clashes. */
static int32_t claim(int32_t *at, int32_t domain) {
    int32_t before = *at;
    if (domain == SC_NONE || (before != UNSET && before != domain)) {
        return UNSET - 1;
    }
    *at = domain;
    return before;
}

static int next_pod(brute *b, int32_t p, int32_t k, int32_t from);

static int try_groups(brute *b, int32_t g, int32_t p, int32_t k, int32_t node) {
    const sc_case *c = b->c;
    while (g < c->n_groups && (c->groups[g].required == SC_NONE || !member(&c->groups[g], p))) {
        g++;
    }
    if (g == c->n_groups) {
        return next_pod(b, p, k + 1, node);
    }
    int32_t before = claim(&b->group_at[g], place_of(c, (uint32_t)node, c->groups[g].required));
    if (before == UNSET - 1) {
        return 0;
    }
    int found = try_groups(b, g + 1, p, k, node);
    b->group_at[g] = before;
    return found;
}

static int try_node(brute *b, int32_t p, int32_t k, int32_t node) {
    const sc_case *c = b->c;
    int64_t *free = b->free + (size_t)node * SC_RESOURCES;
    int32_t gang_before = b->gang_at, mine_before = b->podgroup_at[p];
    int found = 0;
    for (int r = 0; r < SC_RESOURCES; r++) {
        if (c->podgroups[p].req[r] > free[r]) {
            return 0;
        }
    }
    if (c->required != SC_NONE &&
        claim(&b->gang_at, place_of(c, (uint32_t)node, c->required)) == UNSET - 1) {
        return 0;
    }
    if (c->podgroups[p].required == SC_NONE ||
        claim(&b->podgroup_at[p], place_of(c, (uint32_t)node, c->podgroups[p].required)) !=
            UNSET - 1) {
        for (int r = 0; r < SC_RESOURCES; r++) {
            free[r] -= c->podgroups[p].req[r];
        }
        found = try_groups(b, 0, p, k, node);
        for (int r = 0; r < SC_RESOURCES; r++) {
            free[r] += c->podgroups[p].req[r];
        }
    }
    b->gang_at = gang_before;
    b->podgroup_at[p] = mine_before;
    return found;
}

/* Pods of a podgroup take nodes in ascending order: they are all alike. */
static int next_pod(brute *b, int32_t p, int32_t k, int32_t from) {
    const sc_case *c = b->c;
    while (p < c->n_podgroups && k == c->podgroups[p].count) {
        p++;
        k = from = 0;
    }
    if (p == c->n_podgroups) {
        return 1;
    }
    for (int32_t n = from; n < c->n_nodes; n++) {
        if (b->left == 0) {
            return -1;
        }
        b->left--;
        if (c->nodes[n].closed) {
            continue;
        }
        int found = try_node(b, p, k, n);
        if (found != 0) {
            return found;
        }
    }
    return 0;
}

int sc_feasible(const sc_case *c, uint64_t limit) {
    brute b = {.c = c, .gang_at = UNSET, .left = limit};
    b.free = malloc(((size_t)c->n_nodes + 1) * SC_RESOURCES * sizeof *b.free);
    b.group_at = malloc(((size_t)c->n_groups + 1) * sizeof *b.group_at);
    b.podgroup_at = calloc((size_t)c->n_podgroups + 1, sizeof *b.podgroup_at);
    int found = -1;
    if (b.free && b.group_at && b.podgroup_at) {
        for (int32_t n = 0; n < c->n_nodes; n++) {
            memcpy(b.free + (size_t)n * SC_RESOURCES, c->nodes[n].free, sizeof c->nodes[n].free);
        }
        for (int32_t g = 0; g < c->n_groups; g++) {
            b.group_at[g] = UNSET;
        }
        for (int32_t p = 0; p < c->n_podgroups; p++) {
            b.podgroup_at[p] = UNSET;
        }
        found = next_pod(&b, 0, 0, 0);
    }
    free(b.free);
    free(b.group_at);
    free(b.podgroup_at);
    return found;
}
