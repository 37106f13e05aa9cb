/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What should exist: one PodCliqueSet expanded into every child object.
 *
 * The answer comes in two layers. The *facts* (names, owners, places, counts) are computed whenever the
 * set is looked at: plain arrays in the expander's arena, no document is touched, nothing is allocated
 * once warm. The *bodies* are built one at a time, only for objects that are to be created or compared.
 *
 *     gv_expander *x;  gv_expander_new(env, &x);
 *     const gv_want *w;
 *     gv_expand(x, &(gv_expand_input){.current = t, .live_replicas = look_up, .live_ctx = store}, &w, &err);
 *     for (uint32_t i = 0; i < w->n_objects; i++) match(w->objects[i].kind, w->objects[i].name);
 *     gv_object_build(w, i, &args, builder, &err);
 *
 * Pods are not listed: a clique wants `replicas` of them, and which index and name each one has depends
 * on the pods that live. gv_pod_build makes the body of one.
 *
 * Order is part of the contract: replicas ascending; in each the cliques outside the core unit (a gang
 * each), then those of the base gang (standalone ones in template order, then for each scaling group its
 * replicas below minAvailable), then the members of scaled gangs. So the cliques of each gang are
 * neighbours, and so are the standalone ones.
 */
#ifndef GV_PLAN_EXPAND_H
#define GV_PLAN_EXPAND_H

#include "model/kinds.h"
#include "plan/template.h"

/* ---- facts ---- */

/* What a ratio makes of the replicas of a clique or group. */
typedef struct gv_want_scaled {
    int64_t asked, planned;
    const gv_ratio
        *ratio; /* that it is the numerator of, or was taken back by, and that is broken; NULL */
} gv_want_scaled;

typedef struct gv_want_replica {
    int64_t index;
    const gv_template *t; /* the revision this replica is expanded from */
    gv_str name;          /* of its headless Service and its base gang */
    uint32_t first_clique, n_cliques;
    uint32_t n_standalone; /* the first ones of these */
    uint32_t n_outside;    /* the first ones of those: outside the core unit */
    uint32_t first_group, n_groups;
    uint32_t first_gang, n_gangs; /* the base gang first, those of cliques outside it last */
    const gv_want_scaled *scaled; /* by clique, then by group of the template; NULL: no ratios */
} gv_want_replica;

typedef struct gv_want_group { /* PodCliqueScalingGroup */
    gv_str name;
    uint32_t replica;      /* index in gv_want.replicas */
    uint32_t config;       /* index in gv_pcs.groups of the replica's template */
    int64_t replicas;      /* to plan for: never below min_available */
    int64_t live_replicas; /* spec.replicas as it lives; -1: does not exist */
    int64_t asked;         /* the replicas but for a ratio */
    const gv_ratio *ratio; /* broken by what was asked for; NULL: none */
    int64_t min_available;
    uint32_t n_members;    /* cliques per group replica */
    uint32_t first_base;   /* clique 0 of group replica 0 */
    uint32_t first_scaled; /* clique 0 of group replica min_available */
    uint32_t first_gang;   /* gang of group replica min_available */
} gv_want_group;

#define GV_STANDALONE UINT32_MAX
#define GV_NO_ROLE UINT32_MAX
typedef struct gv_want_clique { /* PodClique */
    gv_str name;
    uint32_t replica;      /* index in gv_want.replicas */
    uint32_t group;        /* index in gv_want.groups; GV_STANDALONE */
    int64_t group_replica; /* -1 when standalone */
    uint32_t clique;       /* index in gv_pcs.cliques: its own name */
    uint32_t source; /* the template it is made from; differs from `clique` under GV_MATCH_SUFFIX */
    uint32_t gang;   /* index in gv_want.gangs */
    bool scaled;     /* its gang is not the base gang */
    int64_t replicas;      /* to plan for: never below min_available */
    int64_t live_replicas; /* spec.replicas as it lives; -1: does not exist */
    int64_t asked;         /* the replicas but for a ratio */
    const gv_ratio *ratio; /* broken by what was asked for; NULL: none */
    int64_t min_available; /* of the object */
    int64_t gang_minimum;  /* minReplicas of its PodGroup: of the template of its own name */
    /* Something its pods need cannot be made (gv_want.problems): make none. */
    bool pods_blocked;
    gv_str hash;          /* pod-template hash label it is made with */
    gv_str expected_hash; /* hash of the template of its own name */
} gv_want_clique;

typedef struct gv_want_gang { /* PodGang */
    gv_str name;
    uint32_t replica;
    uint32_t group;        /* GV_STANDALONE: the base gang, or that of a clique outside it */
    int64_t group_replica; /* -1: no scaled gang */
    uint32_t role; /* index in gv_pcs.cliques of the clique outside the core unit; GV_NO_ROLE */
    uint32_t base; /* index of the gang it needs to be of use: a scaled gang its base gang, others
                              themselves */
    uint32_t first_clique, n_cliques; /* one PodGroup each, in this order */
    const gv_topology *topology;      /* of the gang as a whole; never NULL */
    bool has_topology; /* some constraint of the gang translates to a node label key */
} gv_want_gang;

typedef enum gv_owner { GV_OWNER_SET, GV_OWNER_GROUP, GV_OWNER_CLIQUE, GV_OWNER_GANG } gv_owner;

typedef struct gv_want_object { /* any object but a pod, in the order of creation */
    gv_kind kind;
    gv_owner owner;
    uint32_t owner_index; /* in groups, cliques or gangs; 0 for the set */
    uint32_t at; /* PodClique, PodCliqueScalingGroup, PodGang and the gang's PodGroup: index in
                             their array; otherwise private to the builder */
    gv_str name;
    int64_t replica; /* set replica index it goes with; -1: the whole set */
    int64_t index;   /* ResourceClaim: replica index, -1 for all replicas; otherwise private */
    const char *component; /* value of GV_LABEL_COMPONENT; NULL: none */
    bool create_only;      /* never updated once it exists: Role, RoleBinding, Secret */
    /* Something that comes before it cannot be made (gv_want.problems): do not create it. What exists
     * stays. */
    bool blocked;
} gv_want_object;

/*
 * Something that keeps part of the set from existing; what it holds up carries `blocked`. Components are
 * made in stages: accounts, Services, HPAs, ComputeDomains and the set's claims first, then standalone
 * cliques, then scaling groups and gangs; a fault in one stage holds up the next ones.
 */
typedef struct gv_want_problem {
    const char *code; /* Grove's code for lastErrors, "ERR_SYNC_PCS_RESOURCE_CLAIM" */
    gv_kind kind;     /* of what is missing */
    gv_str name;
    gv_str text;
} gv_want_problem;

struct gv_want {
    const gv_template *current;
    gv_str set, ns;
    const gv_want_replica *replicas;
    uint32_t n_replicas;
    const gv_want_group *groups;
    uint32_t n_groups;
    const gv_want_clique *cliques;
    uint32_t n_cliques;
    const gv_want_gang *gangs;
    uint32_t n_gangs;
    const gv_want_object *objects;
    uint32_t n_objects;
    const gv_want_problem *problems;
    uint32_t n_problems;
    const uint32_t *clique_slots; /* private: hash table over the cliques' names */
    uint32_t n_clique_slots;
    const uint32_t *object_slots; /* private: the same over kind and name of the objects */
    uint32_t n_object_slots;
};

/* Index of clique k of a group's replica r. */
static inline uint32_t gv_want_member(const gv_want_group *g, int64_t r, uint32_t k) {
    return r < g->min_available
               ? g->first_base + (uint32_t)r * g->n_members + k
               : g->first_scaled + (uint32_t)(r - g->min_available) * g->n_members + k;
}
#define GV_NOT_WANTED UINT32_MAX
uint32_t gv_want_find_clique(const gv_want *w, gv_str name);
uint32_t gv_want_find_object(const gv_want *w, gv_kind kind, gv_str name);

/* Start order: the PodCliques a clique waits for, in order, and how many ready pods it wants of each. */
typedef struct gv_want_parent {
    gv_str name;
    uint32_t clique; /* index in gv_want.cliques; GV_NOT_WANTED when no such clique is wanted */
    int64_t ready;
} gv_want_parent;
grove_status gv_want_parents(const gv_want *w, uint32_t clique, gv_arena *a,
                             const gv_want_parent **out, uint32_t *out_n);

/* ---- expanding ---- */

typedef struct gv_expander gv_expander; /* work memory, reusable; one thread */
grove_status gv_expander_new(grove_env *env, gv_expander **out);
void gv_expander_free(gv_expander *x);

typedef struct gv_expand_input {
    const gv_template *current;
    /* Per set replica the template to expand it from; beyond the end or NULL: current. */
    const gv_template *const *revisions;
    uint32_t n_revisions;
    /* spec.replicas of a live PodCliqueScalingGroup or PodClique, -1 when there is none. Scalers own the
     * number: the template's counts for objects still to be made. NULL: nothing lives. */
    int64_t (*live_replicas)(const void *ctx, gv_kind kind, gv_str name);
    const void *live_ctx;
} gv_expand_input;

/* *out is the expander's and holds until its next use; it borrows from the templates. */
grove_status gv_expand(gv_expander *x, const gv_expand_input *in, const gv_want **out,
                       grove_error *err);

/* ---- bodies ---- */

/* Names of live pods of one PodGroup, sorted. */
typedef struct gv_gang_refs {
    const gv_str *names;
    uint32_t n;
} gv_gang_refs;

typedef struct gv_body_args {
    gv_str owner_uid;         /* "": left out of the owner reference */
    const gv_gang_refs *refs; /* PodGang: one entry per PodGroup; NULL: all empty */
    int64_t revision;         /* ControllerRevision: its number; 0: the first */
} gv_body_args;

/* Appends the object as one value (key NULL) to the builder. */
grove_status gv_object_build(const gv_want *w, uint32_t object, const gv_body_args *args,
                             grove_builder *b, grove_error *err);

typedef struct gv_pod_args {
    uint32_t clique; /* index in gv_want.cliques: the place of the pod */
    int64_t index;
    gv_str name;
    gv_str owner_uid; /* of the PodClique; "": left out */
    bool gated;
    int64_t incarnation; /* of its unit, where it failed before; 0: no label */
    /* The PodClique object the pod is made from (labels, annotations, podSpec, startsAfter): the live one,
     * or the one gv_object_build makes. */
    grove_doc *pclq_doc;
    const grove_node *pclq;
} gv_pod_args;

/* The template plus the edits listed in lib/plan/README.md and nothing else. GROVE_E_UNSUPPORTED when the
 * pod names a scheduler that is not configured. */
grove_status gv_pod_build(const gv_want *w, const gv_pod_args *args, grove_builder *b,
                          grove_error *err);

#endif
