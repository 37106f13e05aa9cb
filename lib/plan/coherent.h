/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates that keep the service whole: how many of which role go next, and how many come.
 *
 * Roles that serve together are counted in pairs: a whole version is `pairs` of them, one pair is the share
 * of one in each role. Only what one version has of every role is usable, for versions do not talk to one
 * another: eight old prefill beside two old decode are two pairs. At every moment, and whichever of those
 * that go or come are first, usable(old) + usable(new) stays at the floor or above; where a failure took it
 * below, nothing that is done takes it lower.
 *
 * A function of what there is, with no memory: after a failure, a restart or a change of the numbers it
 * goes on from where things stand.
 */
#ifndef GV_PLAN_COHERENT_H
#define GV_PLAN_COHERENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum gv_version { GV_OLD = 0, GV_NEW, GV_VERSIONS } gv_version;

/* One role. Numbers stay below 2^31, so that no product overflows. */
typedef struct gv_roll_role {
    int64_t whole[GV_VERSIONS];  /* so many make the version whole; 0: it has no such role */
    int64_t exists[GV_VERSIONS]; /* whether or not they serve */
    int64_t serves[GV_VERSIONS];
    int64_t room;  /* so many may exist at once: the wanted ones and the surge */
    int64_t least; /* so many of both versions serve, whatever the pairs need; 0: no bound */
} gv_roll_role;

typedef struct gv_roll {
    const gv_roll_role *roles;
    uint32_t n_roles;
    int64_t pairs; /* of a whole version */
    int64_t floor; /* pairs that are usable at every moment */
    int64_t keep;  /* pairs of the old version that stay: a partition */
    bool paused;
} gv_roll;

/* What is done to one role in one step. */
typedef struct gv_roll_move {
    int64_t take;  /* old ones that serve go */
    int64_t clear; /* old ones that do not serve go */
    int64_t make;  /* new ones come */
    int64_t drop;  /* new ones beyond what is wanted go, first those that do not serve */
} gv_roll_move;

typedef enum gv_roll_answer {
    GV_ROLL_DONE,
    GV_ROLL_MOVE,   /* there is something to be done now */
    GV_ROLL_WAIT,   /* for new ones to serve, or for the pause to end */
    GV_ROLL_BLOCKED /* everything serves, and nothing may go: the bounds are too narrow */
} gv_roll_answer;

/* Fills `moves` (room for n_roles). */
gv_roll_answer gv_coherent_next(const gv_roll *roll, gv_roll_move *moves);

/* Pairs that are usable: of one version, and of both. */
int64_t gv_coherent_usable(const gv_roll *roll, gv_version version);
int64_t gv_coherent_usable_all(const gv_roll *roll);

/* How many of a role the given number of pairs needs. */
int64_t gv_coherent_need(const gv_roll *roll, uint32_t role, gv_version version, int64_t pairs);

/*
 * The number of steps from where things stand, each of which ends when all that was made serves; -1: the
 * bounds are too narrow. `roles` is work space: what `roll` points to is brought to the end.
 */
int64_t gv_coherent_steps(const gv_roll *roll, gv_roll_role *roles, gv_roll_move *moves);

/* The highest floor that still lets it come to its end from where things stand; work space as above. */
int64_t gv_coherent_highest_floor(const gv_roll *roll, gv_roll_role *roles, gv_roll_move *moves);

#endif
