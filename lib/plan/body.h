/* SPDX-License-Identifier: Apache-2.0 */
/* Building the bodies of children: what all of them share. */
#ifndef GV_PLAN_BODY_H
#define GV_PLAN_BODY_H

#include "plan/expand.h"
#include "plan/template_def.h"

/* Labels or annotations being put together: a later value of a key replaces the former one. Keys are
 * NUL-terminated (literals, or keys of a document). */
typedef struct gv_pairs {
    gv_arena *a;
    gv_pair *v;
    uint32_t n, cap;
    bool failed; /* out of memory */
} gv_pairs;

void gv_pairs_put(gv_pairs *p, const char *key, gv_str value);
void gv_pairs_put_index(gv_pairs *p, const char *key, int64_t value);
void gv_pairs_put_all(gv_pairs *p, const grove_node *map);
/* All but the keys below GV_OWN_PREFIX. */
void gv_pairs_put_foreign(gv_pairs *p, const grove_node *map);
void gv_pairs_drop(gv_pairs *p, const char *key);
/* Sorted by key; nothing when empty. */
void gv_pairs_write(gv_pairs *p, grove_builder *b, const char *key);

/* One body on its way. */
typedef struct gv_body {
    const gv_want *w;
    const gv_want_object *o;
    const gv_body_args *args;
    const gv_template *t; /* the revision the object is made from */
    gv_arena *a;          /* scratch */
    grove_builder *b;
    gv_pairs labels, annotations;
    bool failed; /* out of memory outside of pairs and builder */
} gv_body;

/* Opens the object and writes apiVersion, kind, metadata with the labels every child has, those put into
 * body->labels and body->annotations before, and the owner. finalizer may be NULL. */
void gv_body_open(gv_body *body, const char *finalizer);
static inline bool gv_member_is(const grove_node *member, const char *key) {
    return strcmp(grove_node_key(member, NULL), key) == 0;
}

/* managed-by, part-of */
void gv_put_default_labels(gv_pairs *labels, gv_str set);

void gv_write_kind(grove_builder *b, gv_kind kind);
void gv_write_owner(grove_builder *b, gv_kind kind, gv_str name, gv_str uid);
void gv_write_str(grove_builder *b, const char *key, gv_str s);
/* A text that was made for this: NULL, out of memory, sticks as the builder's failure. */
void gv_write_made(grove_builder *b, const char *key, const char *text);

/* One function per kind: the rest of the object after gv_body_open, or the whole with it. */
void gv_build_service(gv_body *body);
void gv_build_serviceaccount(gv_body *body);
void gv_build_role(gv_body *body);
void gv_build_rolebinding(gv_body *body);
void gv_build_secret(gv_body *body);
void gv_build_hpa(gv_body *body);
void gv_build_claim(gv_body *body);
void gv_build_computedomain(gv_body *body);
void gv_build_scalinggroup(gv_body *body);
void gv_build_podclique(gv_body *body);
void gv_build_podgang(gv_body *body);
void gv_build_revision(gv_body *body);

/* topology.c: the constraint with node label keys for domains, or nothing when none of them is known. */
void gv_write_topology(grove_builder *b, const gv_template *t, const gv_topology *constraint);

/* podgang.c: labels and annotations of a gang, as its scheduler's object copies them. */
void gv_gang_labels(const gv_want *w, uint32_t gang, gv_pairs *labels);
void gv_gang_annotations(const gv_want *w, uint32_t gang, gv_pairs *annotations);
/* Node label key of the domain that the gang shares with the others of its set replica; "" none. */
gv_str gv_gang_anchor_key(const gv_want *w, uint32_t gang);
/* Calls `each` for every group config of a base gang: a scaling group with a constraint of its own, one
 * per replica below minAvailable. */
typedef struct gv_group_config {
    gv_str name;
    const gv_topology *topology;
    uint32_t first_clique, n_cliques;
} gv_group_config;
/* NULL when out of memory; *out_n may be 0. */
const gv_group_config *gv_gang_group_configs(const gv_want *w, uint32_t gang, gv_arena *a,
                                             uint32_t *out_n);

#endif
