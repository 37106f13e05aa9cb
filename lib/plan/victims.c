/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes first when a clique is scaled in. */
#include "plan/victims.h"

static int phase_rank(const gv_pod *p) {
    return p->phase == GV_POD_PHASE_RUNNING ? 2 : p->phase == GV_POD_PHASE_UNKNOWN ? 1 : 0;
}

/* The revision that pods should have: that of a rolling update for this version of the set, else the
 * clique's own. */
static gv_str target_hash(const gv_work *w, const gv_work_clique *c) {
    bool current = c->progress.set && gv_str_eq(c->progress.set_hash, w->set_hash);
    return current ? c->progress.clique_hash : c->memo->hash_label;
}

typedef struct choice {
    const gv_work_clique *c;
    gv_str target;
    const uint32_t *ranks; /* NULL: none */
} choice;

/* Whose domain is to be freed first. */
static int compare_ranks(const gv_pod *a, const gv_pod *b, const choice *by) {
    if (by->ranks == NULL) {
        return 0;
    }
    uint32_t x = by->ranks[gv_pod_place(by->c, a)], y = by->ranks[gv_pod_place(by->c, b)];
    return (x > y) - (x < y);
}

/* < 0: a goes before b. Where all else is equal the higher index goes, so that the order is total. */
static int compare(const gv_pod *a, const gv_pod *b, const choice *by) {
    gv_str target = by->target;
    bool bound_a = gv_pod_is_bound(a), bound_b = gv_pod_is_bound(b);
    if (bound_a != bound_b) {
        return bound_a ? 1 : -1;
    }
    if (phase_rank(a) != phase_rank(b)) {
        return phase_rank(a) - phase_rank(b);
    }
    bool ready_a = (a->flags & GV_POD_READY) != 0, ready_b = (b->flags & GV_POD_READY) != 0;
    if (ready_a != ready_b) {
        return ready_a ? 1 : -1;
    }
    bool old_a = !gv_str_eq(gv_str_c(a->hash), target);
    bool old_b = !gv_str_eq(gv_str_c(b->hash), target);
    if (old_a != old_b) {
        return old_a ? -1 : 1;
    }
    int rank = compare_ranks(a, b, by);
    if (rank != 0) {
        return rank;
    }
    bool timed_a = a->head.created != GV_TIME_NONE, timed_b = b->head.created != GV_TIME_NONE;
    if (timed_a != timed_b) {
        return timed_a ? 1 : -1;
    }
    if (a->head.created != b->head.created) {
        return a->head.created > b->head.created ? -1 : 1;
    }
    if (a->index != b->index) {
        return a->index > b->index ? -1 : 1;
    }
    return strcmp(b->head.name, a->head.name);
}

/* Sifts down in a heap whose top is the one to stay longest. */
static void sift(const gv_pod **v, uint32_t n, uint32_t at, const choice *by) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= n) {
            return;
        }
        if (child + 1 < n && compare(v[child], v[child + 1], by) < 0) {
            child++;
        }
        if (compare(v[at], v[child], by) >= 0) {
            return;
        }
        const gv_pod *swap = v[at];
        v[at] = v[child];
        v[child] = swap;
        at = child;
    }
}

bool gv_pod_victims(gv_work *w, const gv_work_clique *c, const gv_pod **out) {
    choice by = {.c = c, .target = target_hash(w, c)};
    uint32_t n = c->n_pods;
    if (c->want->group != GV_STANDALONE) {
        /* Ranks of a group's clique stay without a gap: the highest indices go, whatever their state. The
         * pods are sorted by index, those without one last. */
        for (uint32_t i = 0; i < n; i++) {
            out[i] = c->pods[n - 1 - i];
        }
        return true;
    }
    if (!gv_freeing_ranks(w, c, &by.ranks)) {
        return false;
    }
    memcpy((void *)out, (const void *)c->pods, n * sizeof *out);
    for (uint32_t i = n / 2; i > 0; i--) {
        sift(out, n, i - 1, &by);
    }
    for (uint32_t i = n; i > 1; i--) {
        const gv_pod *swap = out[0];
        out[0] = out[i - 1];
        out[i - 1] = swap;
        sift(out, i - 1, 0, &by);
    }
    return true;
}
