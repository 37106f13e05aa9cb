/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and gangs of the workload files: CSV or JSON rows in, placements out. A world is a scheduler with
 * the topology zone > block > rack (or whatever label columns a CSV has) and the four resources.
 */
#ifndef GROVECTL_PLACE_IO_H
#define GROVECTL_PLACE_IO_H

#include <grove/doc.h>
#include <grove/sched.h>

#include "chart.h"

#define PLACE_COLUMNS 32

typedef struct place_world {
    grove_env *env;
    grove_sched *sched;
    grove_gang *gang;
    grove_decision *decision;
    uint32_t topology;
    char *labels[PLACE_COLUMNS]; /* level keys, broad to narrow */
    uint32_t n_labels;
    char **podgroups; /* names of the gang read last */
    uint32_t *podgroup_gpus;
    char **groups;
    uint32_t n_podgroups, n_groups;
    chart picture; /* nodes with their domains; what is placed is added by place_show */
} place_world;

/* All return an exit code and have printed why it is not EXIT_OK; `where` names the file. */
int place_world_new(grove_env *env, const char *const *labels, uint32_t n_labels, place_world *out);
void place_world_free(place_world *w);

/* A whole CSV file with a header; makes the world. */
int place_read_csv(grove_env *env, const char *path, place_world *out);
/* Rows [name, label..., gpu, cpu_m, mem_mib, pods]. */
int place_read_rows(place_world *w, const grove_node *rows, const char *where);
/* Fills w->gang and the names. */
int place_read_gang(place_world *w, const grove_node *gang, const char *where);

/* {podgroup:{node:count}} of the decision; nothing placed gives {}. */
void place_write_placement(const place_world *w, grove_builder *b, const char *key);
/* The same as words: " leader: n1; worker: n1 x2, n2 x2". */
void place_print_nodes(const place_world *w);
/* {"gang":level,"groups":{name:level},"podgroups":{...}}; null where no level is shared. */
void place_write_levels(const place_world *w, grove_builder *b, const char *key);
/* "verdict" to "reason" of the answer on a gang, into the open object. */
void place_write_answer(const place_world *w, grove_builder *b);
const char *place_verdict(const place_world *w);
/* One sentence: why the gang was not placed; "" when it was. */
void place_reason(const place_world *w, char *out, size_t cap);
/* Adds the gang just decided on to the picture; committed ones hold their place there. */
int place_show(place_world *w, const char *gang);
/* Distinct domains of the narrowest label level, and hosts, that the decision uses. */
void place_span(const place_world *w, int64_t *out_domains, int64_t *out_hosts);

#endif
