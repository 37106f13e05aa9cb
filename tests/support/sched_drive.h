/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a neutral case (sched_check.h) through the scheduler's public interface. */
#ifndef TESTS_SUPPORT_SCHED_DRIVE_H
#define TESTS_SUPPORT_SCHED_DRIVE_H

#include <grove/sched.h>

#include "base/prng.h"
#include "support/sched_check.h"

/* A case that owns its arrays. */
typedef struct sd_case {
    sc_case c;
    sc_node *nodes;
    sc_podgroup *podgroups;
    sc_group *groups;
    int32_t *members; /* of all groups */
    int32_t cap_members;
} sd_case;

/* Room for the given numbers of things; everything zero, no constraint. Abort when out of memory. */
sd_case *sd_new(int32_t nodes, int32_t podgroups, int32_t groups, int32_t members);
void sd_free(sd_case *c);

typedef struct sd_shape {
    int32_t blocks, racks, hosts;    /* at most; racks per block, hosts per rack */
    int32_t groups, podgroups, pods; /* at most; pods per podgroup */
    int32_t filled;                  /* percent of each node that is taken */
    int32_t unlabelled;              /* percent of nodes without a rack */
} sd_shape;
/* A random case: one zone, blocks, racks, hosts; groups of podgroups with constraints on any level. */
sd_case *sd_random(gv_prng *r, const sd_shape *shape);

typedef struct sd_run {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topology;
    uint32_t *node_ids; /* case node -> scheduler node */
} sd_run;

/* Loads the nodes; `order` (NULL: as given) is the order of adding. */
grove_status sd_start(grove_env *env, const sc_case *c, const int32_t *order, sd_run *out);
void sd_end(sd_run *run);
/* Describes the gang; podgroups in the given order (NULL: as they are). */
grove_status sd_describe(sd_run *run, const sc_case *c, const int32_t *order);
/* Places it. */
grove_status sd_place(sd_run *run, uint32_t flags, uint64_t steps);
/*
 * What is wrong with the answer in the eyes of the judge, or NULL. `order` as in sd_describe. *out_proof
 * becomes 1 when the judge could verify an INFEASIBLE by plain bounds, else 0.
 */
const char *sd_judge(const sd_run *run, const sc_case *c, const int32_t *order, int *out_proof);

/* Adds a number to a hash by its bytes from the lowest up, so that machines of either byte order agree. */
uint64_t sd_log_number(uint64_t h, uint64_t value, size_t bytes);
/* A log of decisions on random cases as one number: verdicts, nodes, costs and certificates in order. */
uint64_t sd_decision_log(grove_env *e, uint64_t seed);

#endif
