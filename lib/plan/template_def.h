/* SPDX-License-Identifier: Apache-2.0 */
/* What a gv_template holds, for the files of this layer that expand it and build bodies from it. */
#ifndef GV_PLAN_TEMPLATE_DEF_H
#define GV_PLAN_TEMPLATE_DEF_H

#include "base/refcount.h"
#include "model/config.h"
#include "plan/template.h"

/* A clique whose name ends with "-" and another clique's name: only whole PodClique names can tell
 * which of the two templates a suffix look-up finds. */
typedef struct gv_longer {
    uint32_t clique, longer;
} gv_longer;

typedef struct gv_want_hpa {
    bool of_group;
    uint32_t index; /* of the clique or scaling group */
    bool refused;   /* its bounds are such that no API server takes it */
} gv_want_hpa;

struct gv_template {
    gv_refs refs;
    grove_env *env;
    gv_arena arena;
    grove_doc *doc;
    grove_config *config;
    const gv_layout *layout;
    gv_match match;
    gv_pcs pcs;
    gv_str ns;
    gv_clique_facts *facts; /* per clique */
    gv_str own_generation_hash, generation_hash;
    const gv_adapter *gang_adapter;
    gv_str gang_scheduler;
    const gv_topology_binding *binding; /* NULL: no constraint translates */
    uint32_t *place;      /* per clique: position among standalone ones or in its group */
    uint32_t *standalone; /* cliques of no group; those outside the core unit come first */
    uint32_t n_standalone, n_outside;
    uint32_t *first_suffix; /* per clique: first clique whose name ends its name */
    gv_longer *longer;
    uint32_t n_longer;
    gv_str *domains; /* groups that want a ComputeDomain in each set replica */
    uint32_t n_domains;
    gv_want_hpa *hpas; /* per set replica */
    uint32_t n_hpas;
};

/* The template that the PodClique `name`, made for `clique`, is built from. */
uint32_t gv_template_source(const gv_template *t, uint32_t clique, gv_str name);

/* The spec of the claim template an entry of resourceSharing names; NULL when there is none. *out_own:
 * it stands in the set itself. */
const grove_node *gv_template_claim_spec(const gv_template *t, const gv_sharing *entry,
                                         bool *out_own);

/* hash.c */
grove_status gv_hash_generation(const gv_template *t, char out[32], grove_error *err);

/* mnnvl.c */
/* The group that the first layer having the annotation enrols in; "" for none. Layers may be NULL. */
gv_str gv_mnnvl_group(const grove_node *const *layers, uint32_t n_layers);
bool gv_container_wants_gpu(const grove_node *container);
bool gv_pod_spec_wants_gpu(const grove_node *pod_spec);
/* Fills domains of a template whose cliques and facts are read. False: out of memory. */
bool gv_mnnvl_domains(gv_template *t);

#endif
