/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The semantic layer: what Grove's validating webhook says about an object that passed the schema.
 * Each group of rules is one file; webhook.c runs them in the order a cluster does.
 */
#ifndef GV_ADMISSION_RULES_H
#define GV_ADMISSION_RULES_H

#include <stdbool.h>

#include <grove/config.h>
#include <grove/doc.h>

#include "base/codes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/map.h"
#include "base/text.h"
#include "model/config.h"

/* A field path; only indices and fixed words go into it, so that its length is bounded. */
typedef struct gv_path {
    char s[192];
} gv_path;

/* One run of the rules over one object in its typed form (every required field present). */
typedef struct gv_rules {
    grove_env *env;
    const grove_config *config;
    grove_doc *doc; /* for positions */
    const grove_node *root, *tmpl;
    grove_diags *diags;
    bool create;
    bool failed; /* out of memory: the run is void */
    uint32_t errors;

    /* Of tmpl, by name; the first of equal names wins. Values are nodes. */
    gv_map cliques, groups, claims;
    gv_map member_of; /* clique name -> the first group that lists it */
    gv_str set_name;  /* metadata.name, or the name that generateName will give in length */
    char generated[64];
} gv_rules;

grove_status gv_rules_init(gv_rules *r, grove_env *env, const grove_config *config, grove_doc *doc,
                           const grove_node *root, bool create, grove_diags *diags);
void gv_rules_fini(gv_rules *r);

gv_path gv_path_fmt(const char *fmt, ...) GROVE_PRINTF(1, 2);
/* `at`: the node the finding is about, or its nearest ancestor; NULL: no position. */
void gv_rules_error(gv_rules *r, gv_code code, const char *type, const grove_node *at, gv_path path,
                    const char *fmt, ...) GROVE_PRINTF(6, 7);
void gv_rules_warning(gv_rules *r, gv_code code, const grove_node *at, gv_path path,
                      const char *fmt, ...) GROVE_PRINTF(5, 6);

/* Maps hold nodes as values; nobody writes through them. */
static inline void *gv_map_value(const grove_node *node) {
    return (void *)(uintptr_t)node;
}

#define GV_TMPL "spec.template"
gv_path gv_clique_path(uint32_t i, const char *below);
gv_path gv_group_path(uint32_t i, const char *below);

/* The scheduler a clique asks for, with the configured default for "". */
gv_str gv_rules_scheduler(const gv_rules *r, const grove_node *clique);
bool gv_rules_scheduler_enabled(const gv_rules *r, gv_str name);
/* Appends to `out` each text that occurs before in the list, once, separated by ", ". */
bool gv_repeated(gv_rules *r, const grove_node *list, const char *key_path, grove_buf *out);

/* ---- the groups of rules (numbers of the reference's sections stand in each file) ---- */
void gv_rules_claims(gv_rules *r);
void gv_rules_sharing(gv_rules *r, const grove_node *owner, gv_path path);
void gv_rules_sharing_filter(gv_rules *r, const grove_node *entry, gv_path path,
                             const gv_map *cliques, const gv_map *groups);
void gv_rules_cliques(gv_rules *r);
void gv_rules_groups(gv_rules *r);
void gv_rules_general(gv_rules *r);
void gv_rules_topology_create(gv_rules *r);
void gv_rules_topology_update(gv_rules *r, const grove_node *old);
void gv_rules_pack_domain_warnings(gv_rules *r);
void gv_rules_mnnvl_create(gv_rules *r);
void gv_rules_mnnvl_update(gv_rules *r, const grove_node *old);
void gv_rules_backend(gv_rules *r);
void gv_rules_extensions(gv_rules *r);
void gv_rules_update_bounds(gv_rules *r);
void gv_rules_immutable(gv_rules *r, const grove_node *old);
void gv_rules_binding(gv_rules *r);

#endif
