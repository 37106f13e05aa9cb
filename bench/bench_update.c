/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coherent updates from one template to another: 200 pairs of templates with random sizes, floors and surges,
 * each planned and beside that searched exhaustively. Counts, not times: for how many of those that the
 * search finds possible there is a plan, and how many steps it has for each of the fewest.
 */
#include <stdio.h>

#include "../tests/unit/plan/search.h"

#define PAIRS 200
#define BIGGEST_OF_TWO 6
#define BIGGEST_OF_THREE 3

static uint64_t seed = 1;

static int64_t draw(int64_t least, int64_t most) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (int64_t)((seed >> 33) % (uint64_t)(most - least + 1));
}

static void figure(const char *name, double value, const char *unit) {
    printf("{\"bench\":\"update\",\"figure\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"setting\":"
           "\"%d pairs of templates, 2 roles to %d or 3 to %d\"}\n",
           name, value, unit, PAIRS, BIGGEST_OF_TWO, BIGGEST_OF_THREE);
}

/* Half of the pairs keep their sizes, as when only an image changes. */
static void draw_templates(gv_roll *roll, gv_roll_role *roles) {
    roll->roles = roles;
    roll->n_roles = (uint32_t)draw(2, 3);
    int64_t biggest = roll->n_roles == 2 ? BIGGEST_OF_TWO : BIGGEST_OF_THREE;
    bool same = draw(0, 1) == 0;
    int64_t surge = draw(0, 2) / 2;
    roll->pairs = biggest;
    for (uint32_t i = 0; i < roll->n_roles; i++) {
        int64_t old = draw(1, biggest), new = same ? old : draw(1, biggest);
        roles[i] = (gv_roll_role){.whole = {old, new},
                                  .exists = {old, 0},
                                  .serves = {old, 0},
                                  .room = (old > new ? old : new) + surge};
        roll->pairs = old < roll->pairs ? old : roll->pairs;
        roll->pairs = new < roll->pairs ? new : roll->pairs;
    }
    roll->floor = draw(0, roll->pairs);
}

static void describe(const gv_roll *roll, int fewest, int64_t planned) {
    char sizes[2][32];
    for (int v = 0; v < GV_VERSIONS; v++) {
        int at = 0;
        for (uint32_t i = 0; i < roll->n_roles; i++) {
            at += snprintf(sizes[v] + at, sizeof sizes[v] - (size_t)at, "%s%d", i ? ":" : "",
                           (int)roll->roles[i].whole[v]);
        }
    }
    printf("%-8s to %-8s floor %d of %d, surge %d: ", sizes[GV_OLD], sizes[GV_NEW],
           (int)roll->floor, (int)roll->pairs,
           (int)(roll->roles[0].room - (roll->roles[0].whole[GV_OLD] > roll->roles[0].whole[GV_NEW]
                                            ? roll->roles[0].whole[GV_OLD]
                                            : roll->roles[0].whole[GV_NEW])));
    if (fewest < 0) {
        puts(planned < 0 ? "impossible" : "impossible, and PLANNED");
    } else {
        printf("%d steps planned, %d the fewest\n", (int)planned, fewest);
    }
}

int main(void) {
    gv_roll_role roles[SEARCH_ROLES], work[SEARCH_ROLES];
    gv_roll_move moves[SEARCH_ROLES];
    int possible = 0, planned = 0, wrong = 0;
    int64_t ours_all = 0, fewest_all = 0;
    double worst = 1.0;
    for (int i = 0; i < PAIRS; i++) {
        gv_roll roll = {0};
        draw_templates(&roll, roles);
        int64_t ours = gv_coherent_steps(&roll, work, moves);
        int fewest = search_fewest(&roll);
        if (i < 10) {
            describe(&roll, fewest, ours);
        }
        wrong += fewest < 0 && ours >= 0 ? 1 : 0;
        if (fewest < 0) {
            continue;
        }
        possible++;
        if (ours >= 0) {
            planned++;
            ours_all += ours;
            fewest_all += fewest;
            double ratio = fewest > 0 ? (double)ours / fewest : 1.0;
            worst = ratio > worst ? ratio : worst;
        }
    }
    printf("... %d in all: %d possible, %d of them planned, %d planned that are not possible\n",
           PAIRS, possible, planned, wrong);
    figure("possible", possible, "pairs");
    figure("planned_of_possible", 100.0 * planned / possible, "%");
    figure("steps_to_fewest", (double)ours_all / (double)fewest_all, "ratio");
    figure("steps_to_fewest_worst", worst, "ratio");
    return planned == possible && wrong == 0 && worst <= 1.1 ? 0 : 1;
}
