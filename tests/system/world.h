/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster with Grove in it for tests: what the tools run on, with a watch over what is stored. Every
 * promise that holds at every moment is checked as objects are written; a broken one fails the test.
 */
#ifndef TESTS_SYSTEM_WORLD_H
#define TESTS_SYSTEM_WORLD_H

#include <stdbool.h>

#include "cluster.h"

#define SECOND INT64_C(1000000000)

typedef struct world {
    grove_env *env;
    cluster *c;
    uint64_t broken;      /* promises found broken */
    char first[256];      /* the first of them */
    uint64_t pod_creates; /* pods stored as new */
    bool pods_changed;    /* since the promises were checked last */
    /* One promise more, of a test's own; NULL none. `pods` is the list of all of them. */
    void (*promise)(struct world *w, const grove_node *pods);
} world;

/* Fails the running test when anything goes wrong. options: engine_flags and nodes get defaults. */
void world_start(world *w, grove_env *env, cluster_options options);
void world_end(world *w);
/* Applies YAML or JSON text, one object or several. */
void world_apply(world *w, const char *text);
void world_scale(world *w, grove_kind kind, const char *name, int64_t replicas);
void world_patch(world *w, grove_kind kind, const char *name, const char *merge_patch);
void world_json_patch(world *w, grove_kind kind, const char *name, const char *json_patch);
void world_delete(world *w, grove_kind kind, const char *name);
/* Notes that a promise was found broken; fmt has two %s. */
void world_broken(world *w, const char *fmt, const char *a, const char *b);
/* Lets time run: for so long, or until nothing happens any more within an hour of virtual time. */
void world_run(world *w, int64_t ns);
void world_settle(world *w);
/* Checks what must hold between instants; the functions above do it themselves. */
void world_check_moment(world *w);
/* Pods that match, by label selector (NULL: all) and phase word: "Running", "Pending"; NULL: any. */
uint32_t world_pods(world *w, const char *selector, const char *phase);
uint32_t world_ready_pods(world *w, const char *selector);
/* The name of the i-th pod that matches, in order of name; copied to out. */
int world_pod_name(world *w, const char *selector, uint32_t i, char *out, size_t cap);
/* Text of a member of an object by JSON pointer; "" when absent. Copied to out. */
const char *world_text(world *w, grove_kind kind, const char *name, const char *pointer, char *out,
                       size_t cap);
int64_t world_number(world *w, grove_kind kind, const char *name, const char *pointer);
/*
 * The state without what may differ between equal outcomes: uids, versions, times, nodes, and the random
 * ends of pod names. One line an object, sorted. The caller frees.
 */
char *world_digest(world *w);
/* Fails unless every promise held and the engine, asked again from nothing, has nothing to do. */
void world_check_rest(world *w);

/* A set of a router, and a scaling group of prefill and decode. */
extern const char world_set[];
extern const char world_set_extended[];

#endif
