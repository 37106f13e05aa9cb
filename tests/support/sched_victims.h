/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An oracle for preemption and reclaim, written apart from the scheduler: it tries every set of victims
 * there is, with the brute force of sched_check.h as the judge of whether the gang fits then.
 */
#ifndef TESTS_SUPPORT_SCHED_VICTIMS_H
#define TESTS_SUPPORT_SCHED_VICTIMS_H

#include "support/sched_check.h"

#define SV_GANGS 8
#define SV_PODS 24
#define SV_QUEUES 6
#define SV_UNITS 16 /* at most so many are tried: 2^16 sets */

/* A running gang; its pods are those that name it. */
typedef struct sv_gang {
    int32_t priority, queue; /* queue 0: none */
    int32_t base;            /* gang that it goes with, or -1 */
    int32_t held;            /* never a victim */
} sv_gang;

typedef struct sv_pod {
    int32_t node, gang; /* gang -1: a pod alone, with priority and queue of its own */
    int32_t surplus, priority, queue;
    int64_t req[SC_RESOURCES];
} sv_pod;

typedef struct sv_queue {
    int32_t parent; /* 0: the top */
    int64_t share;  /* of the resource that counts */
} sv_queue;

typedef struct sv_case {
    sc_case *c; /* nodes with what is free beside the pods; podgroups of the gang that asks */
    sc_node *nodes;
    sv_gang gangs[SV_GANGS];
    sv_pod pods[SV_PODS];
    sv_queue queues[SV_QUEUES]; /* from 1 on */
    int32_t n_gangs, n_pods, n_queues;
    int32_t priority, queue; /* of the gang that asks */
    int32_t within;          /* reclaim: victims lie below this queue; 0: anywhere */
    int32_t scarce;          /* reclaim: the resource that counts; -1: preemption */
} sv_case;

/* The best toll there is. */
typedef struct sv_toll {
    int32_t priority, gangs, pods;
} sv_toll;

/* 1 and the toll, 0 when no set helps, -1 when there are too many units or the brute force gave up. */
int sv_best(sv_case *v, sv_toll *out);
/* The toll of given victims: gang_gone by gang, pod_gone by pod; -1 when one of them may not go. */
int sv_judge(const sv_case *v, const int *gang_gone, const int *pod_gone, sv_toll *out);

#endif
