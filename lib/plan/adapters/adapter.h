/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler adapters: what a gang becomes for whoever binds its pods. One constant table per scheduler;
 * what a scheduler cannot do is a missing capability bit, never something dropped in silence.
 */
#ifndef GV_PLAN_ADAPTER_H
#define GV_PLAN_ADAPTER_H

#include <grove/doc.h>

#include "base/arena.h"
#include "model/config.h"
#include "model/kinds.h"

#define GV_ADAPTER_GANG 0x1u     /* binds all of a gang or nothing */
#define GV_ADAPTER_TOPOLOGY 0x2u /* honours pack constraints */
#define GV_ADAPTER_RELEASER \
    0x4u                       /* pods stay gated until the engine has found a place for the gang */
#define GV_ADAPTER_BINDER 0x8u /* the engine binds the pods itself */
/* A releaser that lets pods go for which there is no place, too: whoever adds nodes sees them then. */
#define GV_ADAPTER_UNPLACED 0x10u

/* The engine chooses the nodes, so that it can see several gangs at once. */
#define GV_ADAPTER_PLACED (GV_ADAPTER_RELEASER | GV_ADAPTER_BINDER)

typedef struct gv_want gv_want;
typedef struct gv_template gv_template;

/* A label or annotation. */
typedef struct gv_pair {
    gv_str key, value;
} gv_pair;

/* What an adapter puts on a new pod beside schedulerName. */
typedef struct gv_pod_marks {
    gv_pair labels[2], annotations[2];
    uint32_t n_labels, n_annotations;
} gv_pod_marks;

typedef struct gv_adapter {
    const char *profile;   /* schedulerName and profile name of the configuration */
    uint32_t caps;         /* GV_ADAPTER_* */
    gv_kind gang_kind;     /* kind of the object a PodGang becomes; GV_KIND_NONE: nothing */
    gv_kind topology_kind; /* kind of the object a ClusterTopologyBinding becomes */
    /* NULL: nothing beside schedulerName */
    void (*mark_pod)(gv_str gang, gv_str clique, gv_pod_marks *out);
    /*
     * Whether the gang can become an object (a KAI queue may be missing, a topology unnamed); the reason
     * goes to *out_problem, a text in the arena, "" when it can. NULL: always.
     */
    grove_status (*check)(const gv_want *want, uint32_t gang, gv_arena *a, gv_str *out_problem);
    /* Appends apiVersion, kind, metadata and spec of the gang's object to an open object of the builder. */
    grove_status (*build)(const gv_want *want, uint32_t gang, gv_str owner_uid, gv_arena *a,
                          grove_builder *b, grove_error *err);
    /* With a topology_kind, else NULL: appends the object that a ClusterTopologyBinding becomes, as one
     * value; and whether such an object has the binding's levels, in their order. */
    void (*build_topology)(const grove_node *binding, gv_str owner_uid, grove_builder *b);
    bool (*topology_fits)(const grove_node *binding, const grove_node *topology);
} gv_adapter;

/* By profile name and, for default-scheduler, whether its config says gangScheduling: true. NULL: unknown. */
const gv_adapter *gv_adapter_find(gv_str profile, bool gang_scheduling);
/* The adapter of a profile that the configuration switches on; NULL: it does not. */
const gv_adapter *gv_adapter_of(const grove_config *config, gv_str profile);

#endif
