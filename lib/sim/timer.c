/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of the virtual clock: a heap of timers that live in what they wake. */
#include "sim/state.h"

static bool earlier(const gv_sim_timer *a, const gv_sim_timer *b) {
    return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void place(grove_sim *sim, gv_sim_timer *t, size_t i) {
    sim->timers.v[i] = t;
    t->pos = i + 1;
}

static void sift_up(grove_sim *sim, size_t i) {
    gv_sim_timer *t = sim->timers.v[i];
    while (i > 0 && earlier(t, sim->timers.v[(i - 1) / 2])) {
        place(sim, sim->timers.v[(i - 1) / 2], i);
        i = (i - 1) / 2;
    }
    place(sim, t, i);
}

static void sift_down(grove_sim *sim, size_t i) {
    gv_sim_timer *t = sim->timers.v[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= sim->timers.n) {
            break;
        }
        if (child + 1 < sim->timers.n && earlier(sim->timers.v[child + 1], sim->timers.v[child])) {
            child++;
        }
        if (!earlier(sim->timers.v[child], t)) {
            break;
        }
        place(sim, sim->timers.v[child], i);
        i = child;
    }
    place(sim, t, i);
}

static void disarm(grove_sim *sim, gv_sim_timer *t) {
    size_t i = t->pos - 1;
    gv_sim_timer *last = sim->timers.v[--sim->timers.n];
    t->pos = 0;
    if (last != t) {
        place(sim, last, i);
        sift_up(sim, i);
        sift_down(sim, last->pos - 1);
    }
}

bool gv_sim_timer_init(grove_sim *sim, gv_sim_timer *t, int what, void *owner) {
    if (!gv_vec_reserve(sim->env, &sim->timers, sim->timer_count + 1)) {
        return false;
    }
    sim->timer_count++;
    *t = (gv_sim_timer){.what = what, .owner = owner};
    return true;
}

void gv_sim_timer_fini(grove_sim *sim, gv_sim_timer *t) {
    if (t->pos > 0) {
        disarm(sim, t);
    }
    if (sim->timer_stuck == t) {
        sim->timer_stuck = NULL;
    }
    sim->timer_count--;
}

void gv_sim_timer_arm(grove_sim *sim, gv_sim_timer *t, int64_t at) {
    if (t->pos > 0) {
        if (t->at == at) {
            return;
        }
        disarm(sim, t);
    }
    if (at == INT64_MAX) {
        return;
    }
    t->at = at;
    t->seq = ++sim->timer_seq;
    sim->timers.v[sim->timers.n++] = t; /* room was made by gv_sim_timer_init */
    t->pos = sim->timers.n;
    sift_up(sim, t->pos - 1);
}

gv_sim_timer *gv_sim_timer_first(const grove_sim *sim) {
    return sim->timers.n > 0 ? sim->timers.v[0] : NULL;
}
