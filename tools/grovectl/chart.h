/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of a cluster with the gangs in it, as SVG or HTML that needs nothing else: domains as nested
 * boxes, a row of squares for the devices of each node, a colour for each gang, what is free left white.
 * Texts are copied.
 */
#ifndef GROVECTL_CHART_H
#define GROVECTL_CHART_H

#include <grove/buf.h>
#include <grove/doc.h>
#include <stddef.h>
#include <stdint.h>

#define CHART_LEVELS 8u
#define CHART_NO_GANG UINT32_MAX /* a pod of somebody else */

typedef struct chart_node {
    const char *name;
    const char *path[CHART_LEVELS]; /* its domain on each level, broad to narrow; NULL: none */
    uint32_t devices;
    int down;
} chart_node;

/* Pods of one kind on one node. */
typedef struct chart_pods {
    uint32_t node, gang;
    const char *what; /* clique or podgroup; of others, the pod */
    uint32_t count;
    uint32_t devices; /* of all of them */
} chart_pods;

typedef struct chart_gang {
    const char *name;
    const char *why; /* not placed: the reason; NULL: placed */
    uint32_t pods, devices, hosts, domains;
} chart_gang;

typedef struct chart {
    const char *title;
    const char *device; /* what a square stands for: "GPU" */
    const char *level_names[CHART_LEVELS];
    uint32_t n_levels;
    chart_node *nodes;
    chart_pods *pods;
    chart_gang *gangs;
    uint32_t n_nodes, n_pods, n_gangs;
    size_t cap_nodes, cap_pods, cap_gangs;
    char **texts; /* owned */
    size_t n_texts, cap_texts;
} chart;

/* Append; the index, or UINT32_MAX when out of memory. */
uint32_t chart_add_node(chart *c, const chart_node *node);
uint32_t chart_add_gang(chart *c, const char *name, const char *why);
/* Joins pods of the same kind, gang and node. */
uint32_t chart_add_pods(chart *c, const chart_pods *pods);
void chart_free(chart *c);
/* Names the next level inwards. */
void chart_add_level(chart *c, const char *name);

/*
 * Nodes, pods and gangs of Kubernetes objects, as `kubectl get nodes,pods,pg -A -o json` lists them. The
 * levels are those of the first ClusterTopologyBinding among them, else what common labels tell.
 */
grove_status chart_add_objects(chart *c, const grove_node *const *objects, size_t n);

/* Counts what each gang has; called by chart_write. */
void chart_count(chart *c);
/* The picture; html: a page that marks the gang under the pointer. */
grove_status chart_write(chart *c, int html, grove_buf *out);
/* Into a file whose name ends in .svg or .html; EXIT_OK, or EXIT_USAGE after a message. */
int chart_save(grove_env *env, chart *c, const char *path);

#endif
