/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in an embedded cluster, instant by instant: pods through their phases, gangs, events. */
#ifndef GROVECTL_TIMELINE_H
#define GROVECTL_TIMELINE_H

#include <grove/sys/sim.h>

typedef struct timeline timeline;

/* One thing that happened. */
typedef struct timeline_entry {
    int64_t at_ns;
    grove_kind kind;
    char *ns, *name;
    char *phase; /* of a pod: gated, pending, bound, ready, notready, deleting, gone */
    char *text;  /* details: node, reason; may be "" */
    char *clique, *index, *image; /* of a pod; else "" */
} timeline_entry;

grove_status timeline_new(grove_env *env, grove_sim *sim, timeline **out_timeline);
void timeline_free(timeline *t);
size_t timeline_count(const timeline *t);
const timeline_entry *timeline_at(const timeline *t, size_t i);
/* Prints every entry as it comes, with the time since start_ns. */
void timeline_print_live(timeline *t, int64_t start_ns);
/* The entries as a JSON array, and Kubernetes Events apart. */
void timeline_put(const timeline *t, grove_builder *b, const char *key, int64_t start_ns);

#endif
