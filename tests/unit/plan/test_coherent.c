/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner of coherent updates, explored: all sizes up to a bound, against an exhaustive search for the
 * fewest steps; and every state that failures and readiness in any order lead to, in each of which what it
 * does keeps the floor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search.h"

static int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static gv_roll_role role_of(int64_t old, int64_t new, int64_t surge, int64_t least) {
    return (gv_roll_role){.whole = {old, new},
                          .exists = {old, 0},
                          .serves = {old, 0},
                          .room = (old > new ? old : new) + surge,
                          .least = least};
}

static int64_t smallest(const gv_roll_role *roles, uint32_t n) {
    int64_t pairs = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        for (int v = 0; v < GV_VERSIONS; v++) {
            pairs = roles[i].whole[v] > 0 ? least_of(pairs, roles[i].whole[v]) : pairs;
        }
    }
    return pairs;
}

/* ---- beside the exhaustive search ---- */

static uint64_t compared, possible;

static void compare(const gv_roll *roll) {
    gv_roll_role roles[SEARCH_ROLES];
    gv_roll_move moves[SEARCH_ROLES];
    int64_t ours = gv_coherent_steps(roll, roles, moves);
    int fewest = search_fewest(roll);
    if (fewest < 0) {
        assert_int_equal(ours, -1);
    } else {
        assert_true(ours >= fewest);
        assert_true(ours * 10 <= (int64_t)fewest * 11);
        possible++;
    }
    compared++;
}

/* Between steps no role of a version is further than the next pair. */
static void check_in_step(const gv_roll *roll) {
    gv_roll_role roles[SEARCH_ROLES];
    gv_roll_move moves[SEARCH_ROLES];
    gv_roll at = *roll;
    at.roles = roles;
    memcpy(roles, roll->roles, roll->n_roles * sizeof *roles);
    while (gv_coherent_next(&at, moves) == GV_ROLL_MOVE) {
        for (uint32_t i = 0; i < roll->n_roles; i++) {
            roles[i].serves[GV_OLD] = roles[i].exists[GV_OLD] -= moves[i].take;
            roles[i].serves[GV_NEW] = roles[i].exists[GV_NEW] += moves[i].make;
        }
        for (gv_version v = GV_OLD; v < GV_VERSIONS; v++) {
            int64_t next = least_of(gv_coherent_usable(&at, v) + 1, at.pairs);
            for (uint32_t i = 0; i < roll->n_roles; i++) {
                assert_true(roles[i].serves[v] <= gv_coherent_need(&at, i, v, next));
            }
        }
    }
}

/* Every floor, with and without surge, without and with a partition. */
static void compare_bounds(gv_roll_role *roles, uint32_t n) {
    gv_roll roll = {.roles = roles, .n_roles = n, .pairs = smallest(roles, n)};
    bool bounded = false;
    for (uint32_t i = 0; i < n; i++) {
        bounded = bounded || roles[i].least > 0;
    }
    for (roll.floor = 0; roll.floor <= roll.pairs; roll.floor++) {
        for (roll.keep = 0; roll.keep <= 1; roll.keep++) {
            compare(&roll);
            if (!bounded) {
                check_in_step(&roll);
            }
        }
    }
}

static void test_two_roles(void **state) {
    (void)state;
    compared = possible = 0;
    for (int sizes = 0; sizes < 256; sizes++) {
        int old_a = 1 + sizes % 4, old_b = 1 + sizes / 4 % 4;
        int new_a = 1 + sizes / 16 % 4, new_b = 1 + sizes / 64;
        for (int surge = 0; surge < 4; surge++) {
            gv_roll_role roles[2] = {role_of(old_a, new_a, surge % 2, 0),
                                     role_of(old_b, new_b, surge / 2, 0)};
            compare_bounds(roles, 2);
        }
    }
    assert_true(compared > 3000 && possible > 1000 && possible < compared);
}

/* Larger, of one size in both versions: the numbers do not divide one another. */
static void test_uneven(void **state) {
    (void)state;
    compared = possible = 0;
    for (int a = 1; a <= 7; a++) {
        for (int b = a; b <= 7; b++) {
            gv_roll_role roles[2] = {role_of(a, a, 0, 0), role_of(b, b, 0, 0)};
            compare_bounds(roles, 2);
        }
    }
    assert_true(possible > 100 && possible < compared);
}

static void test_three_roles(void **state) {
    (void)state;
    compared = possible = 0;
    for (int sizes = 0; sizes < 27; sizes++) {
        int a = 1 + sizes % 3, b = 1 + sizes / 3 % 3, c = 1 + sizes / 9;
        for (int surge = 0; surge < 2; surge++) {
            gv_roll_role roles[3] = {role_of(a, a, surge, 0), role_of(b, b, surge, 0),
                                     role_of(c, c, surge, 0)};
            compare_bounds(roles, 3);
        }
    }
    assert_true(possible > 50 && possible < compared);
}

/* Bounds of each role beside the floor of the service. */
static void test_bounds_of_roles(void **state) {
    (void)state;
    compared = possible = 0;
    for (int sizes = 0; sizes < 16; sizes++) {
        int a = 1 + sizes % 4, b = 1 + sizes / 4;
        for (int least_a = 0; least_a <= a; least_a++) {
            for (int least_b = 0; least_b <= b; least_b++) {
                for (int surge = 0; surge < 2; surge++) {
                    gv_roll_role roles[2] = {role_of(a, a, surge, least_a),
                                             role_of(b, b, surge, least_b)};
                    compare_bounds(roles, 2);
                }
            }
        }
    }
    assert_true(possible > 100 && possible < compared);
}

/* A role that only one of the versions has. */
static void test_roles_come_and_go(void **state) {
    (void)state;
    compared = possible = 0;
    for (int a = 1; a <= 4; a++) {
        for (int b = 1; b <= 3; b++) {
            gv_roll_role gone[2] = {role_of(a, a, 0, 0), role_of(b, 0, 0, 0)};
            gv_roll_role come[2] = {role_of(a, a, 0, 0), role_of(0, b, 0, 0)};
            compare_bounds(gone, 2);
            compare_bounds(come, 2);
        }
    }
    assert_true(possible > 20 && possible < compared);
}

/* ---- every state that can be reached ---- */

#define WALK_BASE 8

/* Of each of two roles: old that serve, new that serve, new that do not; and failures still to come. */
typedef struct walk {
    gv_roll roll;
    int64_t whole[2];
    bool seen[WALK_BASE * WALK_BASE * WALK_BASE * WALK_BASE * WALK_BASE * WALK_BASE * 4];
    int stack[1 << 16];
    int depth;
    uint64_t states;
} walk;

static void unpack(const walk *w, int state, gv_roll_role *roles, int *failures) {
    for (int i = 0; i < 2; i++) {
        int old = state % WALK_BASE, serves = state / WALK_BASE % WALK_BASE;
        int starts = state / (WALK_BASE * WALK_BASE) % WALK_BASE;
        state /= WALK_BASE * WALK_BASE * WALK_BASE;
        roles[i] = w->roll.roles[i];
        roles[i].exists[GV_OLD] = roles[i].serves[GV_OLD] = old;
        roles[i].serves[GV_NEW] = serves;
        roles[i].exists[GV_NEW] = serves + starts;
    }
    *failures = state;
}

static void reach(walk *w, const gv_roll_role *roles, int failures) {
    int state = failures;
    for (int i = 1; i >= 0; i--) {
        int64_t starts = roles[i].exists[GV_NEW] - roles[i].serves[GV_NEW];
        state = state * WALK_BASE + (int)starts;
        state = state * WALK_BASE + (int)roles[i].serves[GV_NEW];
        state = state * WALK_BASE + (int)roles[i].serves[GV_OLD];
    }
    if (!w->seen[state]) {
        w->seen[state] = true;
        w->states++;
        assert_true(w->depth < (int)(sizeof w->stack / sizeof *w->stack));
        w->stack[w->depth++] = state;
    }
}

/* Old ones go one by one in any order: the floor is looked at after each prefix of each order. */
static void check_orders(const gv_roll *at, gv_roll_role *roles, const gv_roll_move *moves,
                         int64_t floor) {
    int64_t start[2] = {roles[0].serves[GV_OLD], roles[1].serves[GV_OLD]};
    for (int64_t a = 0; a <= moves[0].take; a++) {
        for (int64_t b = 0; b <= moves[1].take; b++) {
            roles[0].serves[GV_OLD] = start[0] - a;
            roles[1].serves[GV_OLD] = start[1] - b;
            assert_true(gv_coherent_usable_all(at) >= floor);
        }
    }
}

static void act(walk *w, const gv_roll *at, gv_roll_role *roles, int failures) {
    gv_roll_move moves[2];
    int64_t before = gv_coherent_usable_all(at);
    if (gv_coherent_next(at, moves) != GV_ROLL_MOVE) {
        return;
    }
    check_orders(at, roles, moves, least_of(at->floor, before));
    for (int i = 0; i < 2; i++) {
        roles[i].exists[GV_OLD] = roles[i].serves[GV_OLD];
        roles[i].exists[GV_NEW] += moves[i].make - moves[i].drop;
        roles[i].serves[GV_NEW] = least_of(roles[i].serves[GV_NEW], roles[i].exists[GV_NEW]);
        assert_true(roles[i].exists[GV_OLD] + roles[i].exists[GV_NEW] <= roles[i].room);
    }
    reach(w, roles, failures);
}

/* From here on all goes well: where the bounds allow a way at all, it comes to its end. */
static void check_end(const gv_roll *at, bool can_end) {
    gv_roll_role roles[2];
    gv_roll_move moves[2];
    if (can_end) {
        assert_true(gv_coherent_steps(at, roles, moves) >= 0);
    }
}

/* One of a role becomes ready, or fails and comes back in the version of the template, which is the new. */
static void suffer(walk *w, const gv_roll_role *roles, int failures) {
    for (int i = 0; i < 2; i++) {
        gv_roll_role next[2] = {roles[0], roles[1]};
        if (roles[i].serves[GV_NEW] < roles[i].exists[GV_NEW]) {
            next[i].serves[GV_NEW]++;
            reach(w, next, failures);
        }
        if (failures > 0 && roles[i].serves[GV_OLD] > 0) {
            next[i] = roles[i];
            next[i].serves[GV_OLD]--;
            next[i].exists[GV_NEW]++;
            reach(w, next, failures - 1);
        }
        if (failures > 0 && roles[i].serves[GV_NEW] > 0) {
            next[i] = roles[i];
            next[i].serves[GV_NEW]--;
            reach(w, next, failures - 1);
        }
    }
}

static uint64_t walk_all(walk *w, gv_roll_role *roles) {
    memset(w->seen, 0, sizeof w->seen);
    w->depth = 0;
    w->states = 0;
    bool can_end = search_fewest(&w->roll) >= 0;
    reach(w, roles, 3);
    while (w->depth > 0) {
        gv_roll_role at[2];
        int failures = 0;
        unpack(w, w->stack[--w->depth], at, &failures);
        gv_roll roll = w->roll;
        roll.roles = at;
        check_end(&roll, can_end);
        suffer(w, at, failures);
        act(w, &roll, at, failures);
    }
    return w->states;
}

static void test_every_state(void **state) {
    (void)state;
    walk *w = calloc(1, sizeof *w);
    assert_non_null(w);
    uint64_t states = 0;
    for (int a = 1; a <= 5; a++) {
        for (int b = a; b <= 5; b++) {
            for (int surge = 0; surge < 2; surge++) {
                gv_roll_role roles[2] = {role_of(a, a, surge, 0), role_of(b, b, surge, 0)};
                w->roll = (gv_roll){.roles = roles, .n_roles = 2, .pairs = a};
                for (w->roll.floor = 0; w->roll.floor <= a; w->roll.floor++) {
                    states += walk_all(w, roles);
                }
            }
        }
    }
    assert_true(states > 20000);
    free(w);
}

/* ---- what the words say ---- */

/* Roles that are as many roll in step: at no moment one of them is far behind in either version. */
static void test_eight_and_eight(void **state) {
    (void)state;
    gv_roll_role roles[2] = {role_of(8, 8, 0, 0), role_of(8, 8, 0, 0)};
    gv_roll_move moves[2];
    gv_roll roll = {.roles = roles, .n_roles = 2, .pairs = 8, .floor = 7};
    for (int step = 0; step < 8; step++) {
        assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_MOVE);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(moves[i].take, 1);
            assert_int_equal(moves[i].make, 1);
            roles[i].exists[GV_OLD] = --roles[i].serves[GV_OLD];
            roles[i].exists[GV_NEW]++;
        }
        assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_WAIT);
        roles[0].serves[GV_NEW]++;
        assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_WAIT); /* half a pair */
        roles[1].serves[GV_NEW]++;
    }
    assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_DONE);
}

/* Six old decodes were lost: their six prefills serve nobody and go as well, the two pairs stay. */
static void test_after_a_loss(void **state) {
    (void)state;
    gv_roll_role roles[2] = {role_of(8, 8, 0, 0), role_of(8, 8, 0, 0)};
    gv_roll_move moves[2];
    gv_roll roll = {.roles = roles, .n_roles = 2, .pairs = 8, .floor = 7};
    roles[1].exists[GV_OLD] = roles[1].serves[GV_OLD] = 2;
    roles[1].exists[GV_NEW] = 6;
    assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_MOVE);
    assert_int_equal(moves[0].take, 6);
    assert_int_equal(moves[1].take, 0);
    assert_int_equal(moves[0].make, 6);
}

static void test_paused(void **state) {
    (void)state;
    gv_roll_role roles[2] = {role_of(4, 4, 1, 0), role_of(4, 4, 1, 0)};
    gv_roll_move moves[2];
    gv_roll roll = {.roles = roles, .n_roles = 2, .pairs = 4, .floor = 3, .paused = true};
    assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_WAIT);
    roles[0].exists[GV_OLD] = roles[0].serves[GV_OLD] = 3; /* what is lost comes back */
    assert_int_equal(gv_coherent_next(&roll, moves), GV_ROLL_MOVE);
    assert_int_equal(moves[0].make, 1);
    assert_int_equal(moves[1].make + moves[0].take + moves[1].take, 0);
}

static void test_highest_floor(void **state) {
    (void)state;
    static const struct {
        int64_t a, b, surge, floor;
    } cases[] = {{8, 8, 0, 7}, {8, 8, 1, 8}, {10, 7, 0, 5},
                 {8, 2, 0, 1}, {1, 1, 0, 0}, {1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gv_roll_role roles[2] = {role_of(cases[i].a, cases[i].a, cases[i].surge, 0),
                                 role_of(cases[i].b, cases[i].b, cases[i].surge, 0)};
        gv_roll_role space[2];
        gv_roll_move moves[2];
        gv_roll roll = {.roles = roles, .n_roles = 2, .pairs = smallest(roles, 2)};
        assert_int_equal(gv_coherent_highest_floor(&roll, space, moves), cases[i].floor);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_roles),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_three_roles),
        cmocka_unit_test(test_bounds_of_roles),
        cmocka_unit_test(test_roles_come_and_go),
        cmocka_unit_test(test_every_state),
        cmocka_unit_test(test_eight_and_eight),
        cmocka_unit_test(test_after_a_loss),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_highest_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
