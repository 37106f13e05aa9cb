/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set's template, read and judged once: everything about the set that does not depend on what lives in
 * the cluster (views, hashes, schedulers, node label keys of topology domains). Make one per version of
 * the PodCliqueSet and configuration, keep it, and expand it as often as you like.
 *
 * Immutable and reference-counted; pins its document and configuration.
 */
#ifndef GV_PLAN_TEMPLATE_H
#define GV_PLAN_TEMPLATE_H

#include <grove/config.h>

#include "model/names.h"
#include "model/view.h"
#include "plan/adapters/adapter.h"

/*
 * How the template of a PodClique is found. Go Grove takes the first clique whose name ends the
 * PodClique's name, so that `worker` also serves `pworker` (docs/differences.md). Rendering can show
 * that; planning never does it.
 */
typedef enum gv_match { GV_MATCH_EXACT, GV_MATCH_SUFFIX } gv_match;

typedef struct gv_template gv_template;

/* Hashes that this library makes begin with it; no hash of Go Grove can (its alphabet has no 1). */
#define GV_HASH_SCHEME "g1"

/* Another operator's hash that stands for one of ours: objects made for that template carry the former. */
typedef struct gv_alias {
    gv_str own, foreign;
} gv_alias;

typedef struct gv_template_options {
    gv_str ns; /* namespace where the set itself names none; "" is "default" */
    gv_match match;
    const gv_layout *layout; /* NULL: base */
    const gv_alias *aliases; /* of the cliques' hashes and of the generation hash */
    uint32_t n_aliases;
} gv_template_options;

/* What the template says of one clique beyond its view. */
typedef struct gv_clique_facts {
    gv_str own_hash;           /* pod-template hash of this library's scheme */
    gv_str hash;               /* for the label: the same, or its alias */
    const gv_adapter *adapter; /* of its pods; NULL: the scheduler it names is not configured */
    gv_str scheduler;          /* name written into its pods */
    bool gpu;                  /* some container asks for GV_RESOURCE_GPU */
    int64_t replicas, min_available; /* of the template, at least 0 and with defaults applied */
} gv_clique_facts;

/* The set must already be defaulted. Keeps references to doc and config. */
grove_status gv_template_new(grove_env *env, grove_doc *doc, const grove_node *pcs,
                             grove_config *config, const gv_template_options *options,
                             gv_template **out, grove_error *err);
gv_template *gv_template_ref(gv_template *t);
void gv_template_unref(gv_template *t);

const gv_pcs *gv_template_pcs(const gv_template *t);
grove_doc *gv_template_doc(const gv_template *t);
grove_config *gv_template_config(const gv_template *t);
gv_str gv_template_ns(const gv_template *t);
const gv_clique_facts *gv_template_clique(const gv_template *t, uint32_t clique);
/* Over all cliques in their order: PCS.status.currentGenerationHash. */
gv_str gv_template_generation_hash(const gv_template *t);
gv_str gv_template_own_generation_hash(const gv_template *t); /* before any alias */
/* Adapter of the set's PodGangs and the name that their scheduler label carries. */
const gv_adapter *gv_template_gang_adapter(const gv_template *t, gv_str *out_name);
/* Node label key of a domain; "" where topology is off, no binding is named or found, or no level has it. */
gv_str gv_template_level_key(const gv_template *t, gv_str domain);

/* hash.c: the same hash for a clique as stored elsewhere. `out` takes at least 32 bytes. */
grove_status gv_hash_clique(grove_env *env, const grove_node *labels, const grove_node *annotations,
                            const grove_node *pod_spec, gv_str priority_class, char out[32],
                            grove_error *err);

#endif
