/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator and the cluster are set to, as the layers above read it; made by grove/config.h. */
#ifndef GV_MODEL_CONFIG_H
#define GV_MODEL_CONFIG_H

#include <stdbool.h>

#include <grove/config.h>
#include <grove/diag.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/refcount.h"
#include "base/vec.h"

/* A scheduler profile that is switched on. */
typedef struct gv_scheduler_profile {
    char *name; /* "kai-scheduler" */
    const grove_node
        *config;          /* its raw object, NULL when absent; borrowed from a pinned document */
    bool gang_scheduling; /* default-scheduler's config.gangScheduling */
    bool unplaced_too;    /* its config.onNoFit is ReleaseForAutoscaler */
    const grove_node *queues; /* config.queues, of which there is one at least; NULL: none */
    bool preempts;            /* config.preemptionPolicy is not Never */
    int64_t
        starving_ns; /* config.starvationGuard: so long a gang is overtaken at most; 0: for ever */
} gv_scheduler_profile;

typedef struct gv_topology_level {
    gv_str domain; /* "rack" */
    gv_str key;    /* node label key */
} gv_topology_level;

/* A ClusterTopologyBinding: levels broadest first. */
typedef struct gv_topology_binding {
    gv_str name;
    const grove_node *object;
    uint32_t n_levels;
    gv_topology_level *levels;
} gv_topology_binding;

/* Read the fields, never write them: grove_config_add owns the change. */
struct grove_config {
    gv_refs refs;
    grove_env *env;
    grove_config *below; /* looked up where this one has nothing; NULL: none. Pins borrowed texts */
    bool topology_enabled;
    bool auto_mnnvl;
    bool guard_scale;                        /* a scale below minAvailable is refused */
    GV_VEC(gv_scheduler_profile) schedulers; /* default-scheduler is always among them */
    char *default_scheduler;                 /* name of the default profile */
    char *initc_image;                       /* image of the start-order init container */
    gv_map bindings;                         /* name -> gv_topology_binding * */
    gv_map priority_classes;                 /* name -> grove_node */
    gv_map claim_templates;                  /* namespace/name -> grove_node */
    gv_map queues;                           /* Volcano queue name -> grove_node */
    gv_map volumes;                          /* PersistentVolume name -> grove_node */
    gv_map volume_claims; /* namespace/name of a PersistentVolumeClaim -> grove_node */
    GV_VEC(grove_doc *) pinned;
    gv_arena arena; /* texts and bindings */
};

/* A configuration with the same settings that further cluster objects can be laid over. */
grove_status gv_config_layer(grove_config *below, grove_config **out_config);

/* Look-ups: NULL when it is not there; borrowed from the config. */
const gv_scheduler_profile *gv_config_scheduler(const grove_config *config, gv_str name);
const gv_topology_binding *gv_config_binding(const grove_config *config, gv_str name);
/* Position of a domain in the binding, -1 when it has no such level. */
int32_t gv_binding_level(const gv_topology_binding *binding, gv_str domain);
const grove_node *gv_config_priority_class(const grove_config *config, gv_str name);
const grove_node *gv_config_claim_template(const grove_config *config, gv_str ns, gv_str name);
const grove_node *gv_config_queue(const grove_config *config, gv_str name);
const grove_node *gv_config_volume(const grove_config *config, gv_str name);
const grove_node *gv_config_volume_claim(const grove_config *config, gv_str ns, gv_str name);

/*
 * config_check.c: what the operator refuses in its configuration (grove-api section 6), in its order and
 * with its paths. `object` may leave everything out; defaults count as given.
 */
grove_status gv_config_check(const grove_doc *doc, const grove_node *object, grove_diags *diags,
                             uint32_t *out_errors);
/* True for the names of scheduler profiles that exist. */
bool gv_config_knows_scheduler(gv_str name);

#endif
