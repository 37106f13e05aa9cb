/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a podSpec with the few edits that Grove makes to it. Everything an edit does not touch is
 * linked from the template, not copied. What a null or unset field of the edit stands for stays as the
 * template has it.
 */
#ifndef GV_PLAN_PODSPEC_H
#define GV_PLAN_PODSPEC_H

#include "plan/expand.h"

typedef struct gv_env_var {
    const char *name;
    gv_str value;
    const char *field; /* if set: the value is this field of the pod (GV_FIELD_OF_LABEL) */
} gv_env_var;

/* The init container that waits for other cliques, and the volumes it reads. */
typedef struct gv_waiter {
    gv_str image;
    gv_str token_secret;
    const gv_want_parent *parents;
    uint32_t n_parents;
} gv_waiter;

typedef struct gv_podspec_edit {
    const gv_env_var *env; /* in front of every container's list; same names are dropped there */
    uint32_t n_env;
    const gv_str *claims; /* shared ResourceClaims, for the pod and every container */
    uint32_t n_claims;
    gv_str mnnvl_template; /* claim template for the GPU containers; "" none */
    bool pod;              /* the fields below count: gates are replaced, names are written */
    bool gated;
    gv_str scheduler, hostname, subdomain;
    const gv_waiter *waiter; /* NULL: nobody to wait for */
} gv_podspec_edit;

void gv_write_podspec(grove_builder *b, const char *key, grove_doc *doc, const grove_node *pod_spec,
                      const gv_podspec_edit *edit, gv_arena *scratch);

#endif
