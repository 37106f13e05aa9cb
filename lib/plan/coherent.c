/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step that a coherent update takes next: see coherent.h.
 *
 * It is the greatest that the floor allows. That is also the best: fewer old and more new ones never forbid
 * what was allowed before, since what is usable grows with each of the new ones, and an old one is only needed
 * as long as they do not make up for it. The tests compare it with an exhaustive search.
 */
#include "plan/coherent.h"

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t gv_coherent_need(const gv_roll *roll, uint32_t role, gv_version version, int64_t pairs) {
    int64_t whole = roll->roles[role].whole[version];
    return roll->pairs > 0 ? (pairs * whole + roll->pairs - 1) / roll->pairs : 0;
}

/* Whole pairs that a number of one role is good for. */
static int64_t pairs_of(const gv_roll *roll, uint32_t role, gv_version version, int64_t number) {
    int64_t whole = roll->roles[role].whole[version];
    return whole > 0 ? least_of(number * roll->pairs / whole, roll->pairs) : roll->pairs;
}

int64_t gv_coherent_usable(const gv_roll *roll, gv_version version) {
    int64_t usable = roll->pairs;
    bool any = false;
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        const gv_roll_role *r = &roll->roles[i];
        usable = least_of(usable, pairs_of(roll, i, version, r->serves[version]));
        any = any || r->whole[version] > 0;
    }
    return any ? usable : 0;
}

int64_t gv_coherent_usable_all(const gv_roll *roll) {
    return gv_coherent_usable(roll, GV_OLD) + gv_coherent_usable(roll, GV_NEW);
}

/* ---- what goes ---- */

/* The old ones of a role that stay for the sake of the role itself. */
static int64_t own_bound(const gv_roll_role *r) {
    return least_of(most_of(r->least - r->serves[GV_NEW], 0), r->serves[GV_OLD]);
}

/*
 * Pairs of the old version that have to stay. Where a role's own bound keeps more of it, the others are
 * ahead of it by a pair at most: what nobody serves with would only be away.
 */
static int64_t pairs_to_stay(const gv_roll *roll) {
    int64_t old = gv_coherent_usable(roll, GV_OLD), new = gv_coherent_usable(roll, GV_NEW);
    int64_t stay = most_of(roll->keep, least_of(roll->floor, old + new) - new);
    int64_t bound = 0;
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        const gv_roll_role *r = &roll->roles[i];
        if (r->whole[GV_OLD] > 0) {
            bound = most_of(bound, pairs_of(roll, i, GV_OLD, own_bound(r)) - 1);
        }
    }
    return most_of(most_of(stay, least_of(bound, old)), 0);
}

static int64_t kept(const gv_roll *roll, uint32_t role) {
    return gv_coherent_need(roll, role, GV_OLD, roll->keep);
}

static void take_old(const gv_roll *roll, gv_roll_move *moves) {
    int64_t stay = pairs_to_stay(roll);
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        const gv_roll_role *r = &roll->roles[i];
        int64_t need = most_of(gv_coherent_need(roll, i, GV_OLD, stay), own_bound(r));
        int64_t broken = r->exists[GV_OLD] - r->serves[GV_OLD];
        moves[i].take = most_of(r->serves[GV_OLD] - need, 0);
        moves[i].clear = least_of(broken,
                                  most_of(r->exists[GV_OLD] - moves[i].take - kept(roll, i), 0));
    }
}

/* ---- what comes ---- */

/* New ones in the end: what the old pairs that stay leave, rounded down as those are rounded up. */
static int64_t target(const gv_roll *roll, uint32_t role) {
    int64_t whole = roll->roles[role].whole[GV_NEW];
    return roll->pairs > 0 ? most_of(roll->pairs - roll->keep, 0) * whole / roll->pairs : whole;
}

static int64_t old_after(const gv_roll_role *r, const gv_roll_move *m) {
    return r->exists[GV_OLD] - m->take - m->clear;
}

/* The most that may exist of the new version once the old ones went. */
static int64_t most_new(const gv_roll *roll, uint32_t role, const gv_roll_move *m) {
    const gv_roll_role *r = &roll->roles[role];
    int64_t most = least_of(target(roll, role), r->room - old_after(r, m));
    return most_of(most, least_of(r->exists[GV_NEW], target(roll, role)));
}

/* What went is made up for; beyond that only the pair that is next: the surge of one role serves nobody. */
static void make_new(const gv_roll *roll, gv_roll_move *moves) {
    int64_t pairs = roll->pairs;
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        pairs = least_of(pairs, pairs_of(roll, i, GV_NEW, most_new(roll, i, &moves[i])));
    }
    int64_t next = roll->paused ? 0 : least_of(pairs + 1, roll->pairs);
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        const gv_roll_role *r = &roll->roles[i];
        int64_t most = most_new(roll, i, &moves[i]);
        int64_t both = least_of(r->whole[GV_OLD], r->whole[GV_NEW]);
        int64_t missing = both - old_after(r, &moves[i]);
        int64_t wanted = most_of(missing, gv_coherent_need(roll, i, GV_NEW, next));
        moves[i].make = most_of(least_of(wanted, most) - r->exists[GV_NEW], 0);
        moves[i].drop = most_of(r->exists[GV_NEW] - target(roll, i), 0);
    }
}

/* ---- the step ---- */

typedef struct outlook {
    bool moves, finished, all_serve;
} outlook;

static outlook look(const gv_roll *roll, const gv_roll_move *moves) {
    outlook out = {.finished = true, .all_serve = true};
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        const gv_roll_role *r = &roll->roles[i];
        const gv_roll_move *m = &moves[i];
        out.moves = out.moves || m->take + m->clear + m->make + m->drop > 0;
        out.all_serve = out.all_serve && r->serves[GV_NEW] == r->exists[GV_NEW];
        out.finished = out.finished && r->exists[GV_NEW] == target(roll, i) &&
                       r->exists[GV_OLD] <= kept(roll, i);
    }
    return out;
}

gv_roll_answer gv_coherent_next(const gv_roll *roll, gv_roll_move *moves) {
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        moves[i] = (gv_roll_move){0};
    }
    if (!roll->paused) {
        take_old(roll, moves);
    }
    make_new(roll, moves);
    outlook out = look(roll, moves);
    if (out.moves) {
        return GV_ROLL_MOVE;
    }
    if (out.finished && out.all_serve) {
        return GV_ROLL_DONE;
    }
    return out.all_serve && !roll->paused ? GV_ROLL_BLOCKED : GV_ROLL_WAIT;
}

int64_t gv_coherent_steps(const gv_roll *roll, gv_roll_role *roles, gv_roll_move *moves) {
    gv_roll at = *roll;
    at.roles = roles;
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        roles[i] = roll->roles[i];
        roles[i].serves[GV_NEW] = roles[i].exists[GV_NEW];
    }
    for (int64_t steps = 0;; steps++) {
        gv_roll_answer answer = gv_coherent_next(&at, moves);
        if (answer != GV_ROLL_MOVE) {
            return answer == GV_ROLL_DONE ? steps : -1;
        }
        for (uint32_t i = 0; i < roll->n_roles; i++) {
            roles[i].exists[GV_OLD] -= moves[i].take + moves[i].clear;
            roles[i].serves[GV_OLD] -= moves[i].take;
            roles[i].exists[GV_NEW] += moves[i].make - moves[i].drop;
            roles[i].serves[GV_NEW] = roles[i].exists[GV_NEW];
        }
    }
}

int64_t gv_coherent_highest_floor(const gv_roll *roll, gv_roll_role *roles, gv_roll_move *moves) {
    gv_roll at = *roll;
    for (at.floor = roll->pairs; at.floor > 0; at.floor--) {
        if (gv_coherent_steps(&at, roles, moves) >= 0) {
            return at.floor;
        }
    }
    return 0;
}
