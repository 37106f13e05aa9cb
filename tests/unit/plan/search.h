/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exhaustive search for the fewest steps of a coherent update: the oracle of its planner, written apart from
 * it. A state is how many of each role and version serve; a step takes any number of the old and brings any
 * number of the new, and what is usable must hold at its worst moment, when all that go are gone and none that
 * come has come. Shared by the test and the bench; small sizes only.
 */
#ifndef TEST_PLAN_SEARCH_H
#define TEST_PLAN_SEARCH_H

#include <stdlib.h>
#include <string.h>

#include "plan/coherent.h"

#define SEARCH_ROLES 3

typedef struct search_space {
    const gv_roll *roll;
    int base[2 * SEARCH_ROLES]; /* numbers that each place of a state may have */
    int states;
    int *steps; /* by state; -1 unseen */
    int *queue;
} search_space;

static int search_share(int number, int whole, int pairs) {
    int share = number * pairs / whole;
    return share < pairs ? share : pairs;
}

static int search_usable(const search_space *s, const int *numbers, int version) {
    int usable = (int)s->roll->pairs, roles = 0;
    for (uint32_t r = 0; r < s->roll->n_roles; r++) {
        int whole = (int)s->roll->roles[r].whole[version];
        if (whole == 0) {
            continue;
        }
        roles++;
        int share = search_share(numbers[2 * r + (uint32_t)version], whole, (int)s->roll->pairs);
        usable = share < usable ? share : usable;
    }
    return roles > 0 ? usable : 0;
}

static int search_number(const search_space *s, const int *at) {
    int number = 0;
    for (uint32_t i = 0; i < 2 * s->roll->n_roles; i++) {
        number = number * s->base[i] + at[i];
    }
    return number;
}

static void search_state(const search_space *s, int number, int *out) {
    for (uint32_t i = 2 * s->roll->n_roles; i-- > 0;) {
        out[i] = number % s->base[i];
        number /= s->base[i];
    }
}

/* A partition keeps the old ones of that many pairs, rounded up. */
static int search_kept(const search_space *s, uint32_t r) {
    int whole = (int)s->roll->roles[r].whole[GV_OLD], pairs = (int)s->roll->pairs;
    return (whole * (int)s->roll->keep + pairs - 1) / pairs;
}

static int search_final(const search_space *s, uint32_t r) {
    int whole = (int)s->roll->roles[r].whole[GV_NEW], pairs = (int)s->roll->pairs;
    return whole * (pairs - (int)s->roll->keep) / pairs;
}

static bool search_allowed(const search_space *s, const int *from, const int *to) {
    int worst[2 * SEARCH_ROLES];
    for (uint32_t r = 0; r < s->roll->n_roles; r++) {
        const gv_roll_role *role = &s->roll->roles[r];
        worst[2 * r] = to[2 * r];
        worst[2 * r + 1] = from[2 * r + 1];
        if (to[2 * r] > from[2 * r] || to[2 * r + 1] < from[2 * r + 1] ||
            to[2 * r] < search_kept(s, r) || to[2 * r + 1] > search_final(s, r) ||
            to[2 * r] + to[2 * r + 1] > role->room ||
            (to[2 * r] < from[2 * r] && worst[2 * r] + worst[2 * r + 1] < role->least)) {
            return false;
        }
    }
    return search_usable(s, worst, GV_OLD) + search_usable(s, worst, GV_NEW) >= s->roll->floor;
}

/* Visits all states below the given one that a step leads to. */
static void search_expand(search_space *s, int number, int *tail) {
    int from[2 * SEARCH_ROLES] = {0}, to[2 * SEARCH_ROLES] = {0};
    search_state(s, number, from);
    for (int next = 0; next < s->states; next++) {
        if (s->steps[next] >= 0) {
            continue;
        }
        search_state(s, next, to);
        if (search_allowed(s, from, to)) {
            s->steps[next] = s->steps[number] + 1;
            s->queue[(*tail)++] = next;
        }
    }
}

/* The fewest steps from what serves now to the end; -1: there is no way. */
static int search_fewest(const gv_roll *roll) {
    search_space s = {.roll = roll, .states = 1};
    int start[2 * SEARCH_ROLES] = {0}, end[2 * SEARCH_ROLES] = {0};
    for (uint32_t r = 0; r < roll->n_roles; r++) {
        const gv_roll_role *role = &roll->roles[r];
        start[2 * r] = (int)role->serves[GV_OLD];
        start[2 * r + 1] = (int)role->serves[GV_NEW];
        end[2 * r] = search_kept(&s, r);
        end[2 * r + 1] = search_final(&s, r);
        s.base[2 * r] = start[2 * r] + 1;
        s.base[2 * r + 1] = end[2 * r + 1] + 1;
        s.states *= s.base[2 * r] * s.base[2 * r + 1];
    }
    s.steps = malloc((size_t)s.states * sizeof *s.steps);
    s.queue = malloc((size_t)s.states * sizeof *s.queue);
    if (s.steps == NULL || s.queue == NULL) {
        abort();
    }
    for (int i = 0; i < s.states; i++) {
        s.steps[i] = -1;
    }
    int goal = search_number(&s, end), tail = 0;
    s.queue[tail++] = search_number(&s, start);
    s.steps[s.queue[0]] = 0;
    for (int head = 0; head < tail && s.steps[goal] < 0; head++) {
        search_expand(&s, s.queue[head], &tail);
    }
    int fewest = s.steps[goal];
    free(s.steps);
    free(s.queue);
    return fewest;
}

#endif
