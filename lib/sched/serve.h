/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One round of service: order.c says who is next, serve.c finds and takes a place, joint.c decides anew
 * together with others, keep.c keeps a domain free for a gang that starves.
 */
#ifndef GV_SCHED_SERVE_H
#define GV_SCHED_SERVE_H

#include "sched/decision.h"
#include "sched/queue.h"

/* One gang that waits. */
typedef struct gv_guest {
    grove_gang *g; /* its counts are borrowed and given back */
    grove_decision *d;
    uint32_t *counts; /* as described: while the minimum is served, the surplus stands back */
    uint32_t next;    /* in its queue, in order of service */
    uint32_t gang;    /* committed, or GV_NONE */
    uint32_t serial;  /* of that gang: its slot may be given to another one */
    uint32_t flags;   /* GROVE_SERVED_* */
    uint32_t node;    /* of the domain kept for it */
    int64_t need[GV_RESOURCES_MAX];
} gv_guest;

typedef struct gv_line {
    uint32_t head;    /* next guest of this queue alone */
    uint32_t waiting; /* guests of this queue and those below it */
    bool passed_over; /* the first of this queue found no place in this round */
} gv_line;

struct gv_serve {
    grove_sched *s;
    grove_serve_options o;
    grove_place_options place;
    gv_arena mem; /* of one round */
    gv_guest *guests;
    uint32_t n;
    uint32_t *order; /* guests in the order of service so far */
    uint32_t n_served;
    gv_line *lines;   /* by queue */
    int64_t *waiting; /* rows by queue: what is not served yet */
    uint32_t *kept;   /* nodes whose room is kept */
    uint32_t n_kept;
    bool kept_now;     /* they are closed at present */
    grove_gang *joint; /* made when first needed */
    grove_decision *joint_decision;
    grove_decision *grown;       /* surplus of one gang; made when first needed */
    GV_VEC(grove_served) served; /* the caller's */
};
typedef struct gv_serve gv_serve;

/* order.c */
grove_status gv_order_begin(gv_serve *v); /* lines, needs, shares */
uint32_t gv_order_next(
    gv_serve *v); /* takes the next guest out of its line; GV_NONE: nobody waits */

/* joint.c: decides guest `at` anew together with some that have their place. */
grove_status gv_joint_place(gv_serve *v, uint32_t at, bool *out_placed);

/* keep.c */
grove_status gv_keep_domain(gv_serve *v, uint32_t at); /* chooses and closes it */
void gv_keep_close(gv_serve *v, bool closed);          /* closes or opens what is kept */

/* serve.c: turns a decision into pods. */
grove_status gv_serve_commit(gv_serve *v, uint32_t at);

#endif
