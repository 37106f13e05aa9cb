/* SPDX-License-Identifier: Apache-2.0 */
/* Every word of a decision and the state of the cluster as text, for comparison with golden files. */
#ifndef TESTS_SCHED_TELL_H
#define TESTS_SCHED_TELL_H

#include <stdbool.h>

#include <grove/sched.h>

typedef struct telling {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topology, n_podgroups, n_groups; /* of the gang described last */
    grove_buf *out;
} telling;

/* One line: verdict, score, cost, nodes by podgroup. */
void tell_short(const telling *t);
/* Levels, cost, certificate, victims, and the explanation as text and as JSON. */
void tell_long(const telling *t);
/* Free room of every node; fails the test when the books do not agree with a recount. */
void tell_room(const telling *t);

#endif
