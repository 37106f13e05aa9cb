/* SPDX-License-Identifier: Apache-2.0 */
/* Lints: what is admitted and still most likely not meant. Each file below holds the rules of one matter. */
#ifndef GV_ADMISSION_LINT_H
#define GV_ADMISSION_LINT_H

#include "model/config.h"
#include "model/schema_walk.h"
#include "value/doc.h"

/* One run over a stored PodCliqueSet. */
typedef struct gv_lint {
    gv_check c;
    const grove_config *config;
    const grove_lint_options *options; /* whole */
    const grove_node *set, *tmpl, *cliques, *groups;
    const grove_node *old_tmpl; /* of the stored object, for an update; NULL */
    gv_path spec_path, tmpl_path, cliques_path, groups_path;
} gv_lint;

/* False for a code that was switched off. */
bool gv_lint_on(const gv_lint *l, gv_code code);
/* gv_check_warning for a code that is on. */
#define GV_LINT(l, code, path, at, ...)                                   \
    do {                                                                  \
        if (gv_lint_on((l), (code))) {                                    \
            gv_check_warning(&(l)->c, (code), (path), (at), __VA_ARGS__); \
        }                                                                 \
    } while (0)

/* The group that lists a clique; NULL. */
const grove_node *gv_lint_group_of(const gv_lint *l, gv_str clique);
/* The nodes that were given; NULL: none. */
const grove_node *gv_lint_nodes(const gv_lint *l);
/* The number of replicas that an autoscaler may reach; `scaling` names its configuration. */
int64_t gv_lint_most(const grove_node *owner, const char *scaling);

void gv_lint_names(gv_lint *l);     /* lint_names.c: lengths, hostnames, collisions */
void gv_lint_scaling(gv_lint *l);   /* lint_scaling.c: autoscalers, replicas, start order */
void gv_lint_pods(gv_lint *l);      /* lint_pods.c: environment, images, fields Grove overwrites */
void gv_lint_binding(gv_lint *l);   /* lint_cluster.c: of a ClusterTopologyBinding (set is it) */
void gv_lint_cluster(gv_lint *l);   /* lint_cluster.c: levels, schedulers, priority classes */
void gv_lint_ambiguous(gv_lint *l); /* lint_ambiguous.c: names that end with one another */
void gv_lint_devices(gv_lint *l);   /* lint_devices.c: images that want a device, times to end in */
void gv_lint_room(gv_lint *l);      /* lint_room.c: more than the nodes can hold */

#endif
