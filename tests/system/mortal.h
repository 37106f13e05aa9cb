/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world whose engine may die at any write. Who follows is a new engine that lists everything, or a
 * stand-by whose caches are one minute old and stay so for a while after it has taken over.
 */
#ifndef TESTS_SYSTEM_MORTAL_H
#define TESTS_SYSTEM_MORTAL_H

#include "interrupt.h"
#include "world.h"

#define MORTAL_LAG (60 * SECOND)

typedef struct mortal {
    world w;
    interrupt active, lagging;
    interrupt *in_charge;  /* the plan of the engine that acts */
    cluster_options inner; /* wrap: what lies between the engines and the cluster */
    grove_engine *standby; /* NULL: none, or it has taken over */
    grove_backend standby_backend;
    int64_t fresh_again; /* when the stand-by's caches have caught up; 0: not in charge */
    uint64_t deaths, takeovers;
} mortal;

/* options.wrap is put below what makes the engine mortal. */
void mortal_start(mortal *m, grove_env *env, cluster_options options, bool with_standby);
void mortal_end(mortal *m);
/* The engine dies at its n-th write from now, before or after the cluster takes it. */
void mortal_arm(mortal *m, uint64_t writes, bool after);
/* A new engine, as after a death. */
void mortal_restart(mortal *m);
/* As world_run and world_settle; caches that lag are fresh from here on in the second. */
void mortal_run(mortal *m, int64_t ns);
void mortal_settle(mortal *m);

#endif
