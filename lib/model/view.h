/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-only typed views over the documents of Grove's kinds. A view borrows every text and node from
 * its document. Whether a field was there is kept apart from its value (`set`); what is of a wrong type
 * reads as not there: admission has judged the document before.
 */
#ifndef GV_MODEL_VIEW_H
#define GV_MODEL_VIEW_H

#include <grove/doc.h>

#include "base/arena.h"

typedef struct gv_opt_int {
    bool set;
    int64_t value; /* 0 when not set */
} gv_opt_int;

static inline int64_t gv_opt_or(gv_opt_int o, int64_t otherwise) {
    return o.set ? o.value : otherwise;
}

/* ---- small readers, usable on any document ---- */
gv_str gv_view_str(const grove_node *node); /* text of a string; "" otherwise */
gv_str gv_get_str(const grove_node *object, const char *key);
gv_opt_int gv_get_int(const grove_node *object, const char *key);

/* metadata of any object */
typedef struct gv_meta_view {
    gv_str name, ns, uid, generate_name;
    const grove_node *labels, *annotations, *finalizers, *owners;
    int64_t generation; /* 0: none */
    bool deleting;      /* deletionTimestamp is set */
} gv_meta_view;
gv_meta_view gv_meta_view_of(const grove_node *object);
/* The owner reference with controller: true; NULL when there is none. */
const grove_node *gv_meta_view_controller(const gv_meta_view *meta);

/* ---- parts of a set's template ---- */

/* How binding an extension's wish is: Require, Prefer, or none. */
typedef enum gv_wish { GV_WISH_NONE, GV_WISH_PREFER, GV_WISH_REQUIRE } gv_wish;

typedef struct gv_spread {
    gv_str domain; /* "": not asked for */
    int64_t max_skew;
    gv_wish mode;
} gv_spread;

typedef struct gv_topology {
    bool set; /* the constraint object is there */
    gv_str topology_name;
    gv_str required;  /* domain: pack.required, else the deprecated packDomain; "" none */
    gv_str preferred; /* domain: pack.preferred; "" none */
    gv_spread spread; /* of the owner's replicas; an extension */
} gv_topology;

typedef struct gv_scaling {
    bool set;
    gv_opt_int min_replicas, max_replicas;
    const grove_node *metrics; /* NULL or array */
} gv_scaling;

typedef struct gv_sharing {
    gv_str name, ns; /* of the claim template; ns "" when not given */
    bool each;       /* PerReplica; else AllReplicas */
    bool filtered;   /* a filter object is there */
    const grove_node *filter_cliques, *filter_groups;
} gv_sharing;

typedef struct gv_claim_template {
    gv_str name;
    const grove_node *spec; /* the ResourceClaim's spec */
} gv_claim_template;

/* An extension: pods that stand and fall together, and how often they are made anew. */
#define GV_FAILURE_BACKOFF INT64_C(10000000000)
typedef struct gv_failure_policy {
    bool set;
    int64_t most;    /* restarts; -1: as often as needed */
    int64_t backoff; /* nanoseconds before the first one's pods are made */
} gv_failure_policy;

/* An extension: how much of one role may be away in a Coherent update. */
typedef struct gv_role_bound {
    gv_opt_int most; /* pods or replicas, or a share of them in percent; unset: no bound */
    bool percent;
} gv_role_bound;

typedef struct gv_clique {
    gv_str name;
    const grove_node *node, *labels, *annotations, *spec, *pod_spec;
    gv_str role_name;
    gv_opt_int replicas, min_available;
    const grove_node *starts_after; /* NULL or array of template names */
    gv_scaling scaling;
    gv_topology topology;
    gv_failure_policy failure;
    gv_role_bound rolling;
    const gv_sharing *sharing;
    uint32_t n_sharing;
    int32_t group; /* index of the scaling group it belongs to; -1: standalone */
    bool outside;  /* coreMember: false on a standalone clique: it has a gang of its own */
} gv_clique;

typedef enum gv_ratio_mode { GV_RATIO_WARN, GV_RATIO_CLAMP, GV_RATIO_FOLLOW } gv_ratio_mode;

/* An extension: replicas of one clique or group in a ratio to those of another, in thousandths. */
typedef struct gv_ratio {
    gv_str numerator, denominator; /* names in the template */
    int64_t min, max;              /* 0: no bound */
    gv_ratio_mode mode;
} gv_ratio;

/* An extension: how long a gang waits for its minimum. */
typedef struct gv_gang_wait_spec {
    gv_str timeout; /* Go duration text; "": for ever */
    bool recreate;  /* and then its pods are made anew */
} gv_gang_wait_spec;

#define GV_NO_CLIQUE UINT32_MAX
typedef struct gv_group {
    gv_str name;
    const grove_node *node, *annotations, *clique_names;
    const uint32_t *cliques; /* index in gv_pcs.cliques per name; GV_NO_CLIQUE: no such template */
    uint32_t n_cliques;
    gv_opt_int replicas, min_available;
    gv_scaling scaling;
    gv_topology topology;
    gv_failure_policy failure;
    gv_role_bound rolling;
    const gv_sharing *sharing;
    uint32_t n_sharing;
} gv_group;

typedef enum gv_startup { GV_STARTUP_ANY, GV_STARTUP_ORDERED, GV_STARTUP_LISTED } gv_startup;
typedef enum gv_update {
    GV_UPDATE_ROLLING,
    GV_UPDATE_MANUAL, /* OnDelete */
    GV_UPDATE_PAIRS   /* Coherent; an extension */
} gv_update;

/* updateStrategy.rollingUpdate; an extension. */
typedef struct gv_rolling {
    gv_opt_int max_unavailable; /* pairs, or a share of all in percent */
    bool percent;
    bool paused;
    gv_str progress_deadline; /* Go duration text; "" none */
} gv_rolling;

typedef struct gv_pcs {
    const grove_node *node, *spec, *template_node, *status;
    gv_meta_view meta;
    gv_opt_int replicas;
    gv_update update;
    gv_rolling rolling;
    int64_t history; /* old templates that are kept; 0: none, and no history. An extension */
    gv_startup startup;
    gv_str priority_class;
    bool service_set;       /* headlessServiceConfig is there */
    bool publish_not_ready; /* its publishNotReadyAddresses */
    gv_topology topology;
    gv_wish cross_gang_pack; /* scaled gangs in the domain of their base gang; an extension */
    gv_wish sticky;          /* pods return to where their index was; an extension */
    bool free_domains; /* placement.scaleIn: who is given up leaves whole domains; an extension */
    gv_gang_wait_spec gang_wait;
    gv_str termination_delay; /* Go duration text; "" none */
    const gv_clique *cliques;
    uint32_t n_cliques;
    const gv_group *groups;
    uint32_t n_groups;
    const gv_sharing *sharing;
    uint32_t n_sharing;
    const gv_claim_template *claim_templates;
    uint32_t n_claim_templates;
    const gv_ratio *ratios;
    uint32_t n_ratios;
} gv_pcs;

/* A whole number, or a text like "25%"; unset: neither. */
gv_opt_int gv_number_or_percent(const grove_node *node, bool *out_percent);

/* The view's arrays live in the arena. GROVE_E_TYPE when the object is no set with a template. */
grove_status gv_pcs_read(gv_arena *a, const grove_node *pcs, gv_pcs *out, grove_error *err);
/* spec.suspend of a set: read from the object, as the templates stay the same; an extension. */
bool gv_set_is_suspended(const grove_node *pcs);
/* Index of the clique template of exactly this name; GV_NO_CLIQUE when there is none. */
uint32_t gv_pcs_find_clique(const gv_pcs *pcs, gv_str name);
/* The first explicit topologyName: set, then scaling groups, then cliques; "" when there is none. */
gv_str gv_pcs_topology_name(const gv_pcs *pcs);

/* ---- child objects ---- */

typedef struct gv_pclq {
    const grove_node *node, *spec, *pod_spec, *status, *conditions;
    gv_meta_view meta;
    gv_opt_int replicas, min_available;
    const grove_node *starts_after; /* full names */
} gv_pclq;
void gv_pclq_read(const grove_node *object, gv_pclq *out);

typedef struct gv_pcsg {
    const grove_node *node, *spec, *status, *conditions;
    gv_meta_view meta;
    gv_opt_int replicas, min_available;
    const grove_node *clique_names;
} gv_pcsg;
void gv_pcsg_read(const grove_node *object, gv_pcsg *out);

typedef struct gv_podgang {
    const grove_node *node, *spec, *status, *conditions;
    gv_meta_view meta;
    const grove_node *groups;        /* spec.podgroups */
    const grove_node *group_configs; /* spec.topologyConstraintGroupConfigs */
    const grove_node *topology;      /* spec.topologyConstraint */
    gv_str priority_class, phase;
} gv_podgang;
void gv_podgang_read(const grove_node *object, gv_podgang *out);

/* The condition of a type in a list of conditions; NULL when absent. */
const grove_node *gv_condition_find(const grove_node *conditions, const char *type);

#endif
