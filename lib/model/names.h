/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated names. They only ever go one way: from a set's name, indices and template names to the name
 * of a child. Nothing takes a name apart again; who needs to know an object's place reads its labels.
 *
 * The rules are a layout, looked up by its name, so that another layout can stand beside this one and a
 * cluster can hold objects of both.
 *
 * All functions return text in the arena, NUL-terminated; p is NULL when out of memory.
 */
#ifndef GV_MODEL_NAMES_H
#define GV_MODEL_NAMES_H

#include "base/arena.h"

typedef struct gv_layout {
    const char *name; /* "base" */
    /* Headless Service and base PodGang of a set replica: <pcs>-<i> */
    gv_str (*set_replica)(gv_arena *a, gv_str set, int64_t i);
    /* PodClique or PodCliqueScalingGroup directly below a set replica: <pcs>-<i>-<name> */
    gv_str (*in_replica)(gv_arena *a, gv_str set, int64_t i, gv_str name);
    /* Member PodClique of a scaling group replica: <pcsg>-<r>-<clique> */
    gv_str (*member)(gv_arena *a, gv_str group, int64_t r, gv_str clique);
    /* PodGang of scaling group replica r >= min_available: <pcsg>-<r - min_available> */
    gv_str (*scaled_gang)(gv_arena *a, gv_str group, int64_t r, int64_t min_available);
} gv_layout;

/* NULL when there is no layout of this name. */
const gv_layout *gv_layout_find(gv_str name);
const gv_layout *gv_layout_base(void);

/* Names that no layout changes. */
gv_str gv_name_group_config(gv_arena *a, gv_str group,
                            int64_t r); /* a gang's group config: <pcsg>-<r> */
gv_str gv_name_service_address(gv_arena *a, gv_str service, gv_str ns);
gv_str gv_name_role(gv_arena *a, gv_str set);         /* Role and RoleBinding */
gv_str gv_name_token_secret(gv_arena *a, gv_str set); /* <pcs>-ic-sat */
gv_str gv_name_legacy_token_secret(gv_arena *a, gv_str set);
/* ControllerRevision: <pcs>-<hash of the template> */
gv_str gv_name_revision(gv_arena *a, gv_str set, gv_str hash);
gv_str gv_name_hostname(gv_arena *a, gv_str clique, int64_t pod_index);
/* ResourceClaim; index < 0: the one for all replicas. */
gv_str gv_name_claim(gv_arena *a, gv_str owner, int64_t index, gv_str claim_template);
/* ComputeDomain and its ResourceClaimTemplate: <pcs>-<i>-<mnnvl group> */
gv_str gv_name_computedomain(gv_arena *a, gv_str set, int64_t i, gv_str mnnvl_group);

/*
 * <pclq>-<5 letters>, the same for everyone who decides the same creation: `replaces` is the uid of the
 * pod whose index this one takes over ("" for the first), `salt` starts at 0 and grows by one each time
 * a foreign object holds the name.
 */
gv_str gv_name_pod(gv_arena *a, gv_str clique, gv_str clique_uid, int64_t pod_index,
                   gv_str replaces, uint32_t salt);
/* The five letters alone, into at least 6 bytes. */
void gv_name_pod_suffix(char out[6], gv_str clique_uid, int64_t pod_index, gv_str replaces,
                        uint32_t salt);

#endif
