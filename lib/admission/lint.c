/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the lints. */
#include "admission/lint.h"

#include "admission/defaulting.h"
#include "admission/lint_run.h"
#include "base/mem.h"

bool gv_lint_on(const gv_lint *l, gv_code code) {
    for (uint32_t i = 0; i < l->options->n_disabled; i++) {
        if (l->options->disabled[i] == (uint32_t)code) {
            return false;
        }
    }
    return true;
}

const grove_node *gv_lint_group_of(const gv_lint *l, gv_str clique) {
    GV_EACH(group, l->groups) {
        GV_EACH(name, grove_node_get(group, "cliqueNames")) {
            if (gv_str_eq(gv_node_str(name), clique)) {
                return group;
            }
        }
    }
    return NULL;
}

const grove_node *gv_lint_nodes(const gv_lint *l) {
    const grove_node *nodes = l->options->nodes;
    return gv_node_is(nodes, GROVE_OBJECT) ? grove_node_get(nodes, "items") : nodes;
}

int64_t gv_lint_most(const grove_node *owner, const char *scaling) {
    int64_t replicas = gv_node_get_int(owner, "replicas", 1);
    int64_t most = gv_node_get_int(grove_node_get(owner, scaling), "maxReplicas", 0);
    return most > replicas ? most : replicas;
}

grove_status gv_lint_run(gv_kind kind, grove_doc *doc, const grove_node *object,
                         const grove_node *old, const grove_config *config,
                         const grove_lint_options *given, grove_diags *diags) {
    grove_lint_options options = {.size = sizeof options};
    grove_status known = given ? gv_struct_in(&options, sizeof options, given, given->size,
                                              sizeof options.size)
                               : GROVE_OK;
    if (known < 0) {
        return known;
    }
    gv_lint l = {.config = config, .options = &options, .set = object};
    bool binding = kind == GV_KIND_CLUSTERTOPOLOGYBINDING;
    l.tmpl = gv_node_path(object, "spec.template");
    if (!binding && (kind != GV_KIND_PODCLIQUESET || !l.tmpl)) {
        return GROVE_OK;
    }
    l.old_tmpl = gv_node_path(old, "spec.template");
    l.cliques = grove_node_get(l.tmpl, "cliques");
    l.groups = grove_node_get(l.tmpl, "podCliqueScalingGroups");
    l.spec_path = gv_path_key(NULL, "spec", 4);
    l.tmpl_path = gv_path_key(&l.spec_path, "template", 8);
    l.cliques_path = gv_path_key(&l.tmpl_path, "cliques", 7);
    l.groups_path = gv_path_key(&l.tmpl_path, "podCliqueScalingGroups", 22);
    gv_check_init(&l.c, grove_doc_env(doc), doc, diags);
    if (binding) {
        gv_lint_binding(&l);
    } else {
        gv_lint_names(&l);
        gv_lint_scaling(&l);
        gv_lint_pods(&l);
        gv_lint_cluster(&l);
        gv_lint_ambiguous(&l);
        gv_lint_devices(&l);
        gv_lint_room(&l);
    }
    grove_status status = l.c.status;
    gv_check_fini(&l.c);
    return status;
}

/* The object is read as a cluster would store it, so that defaults count as given. */
grove_status grove_lint(grove_env *env, grove_doc *doc, const grove_node *object,
                        grove_config *config, const grove_lint_options *options, grove_diags *diags,
                        grove_error *err) {
    grove_doc *stored = NULL;
    grove_config *made = NULL;
    if (!env || !doc || !object || !diags) {
        return gv_error(err, GROVE_E_INVALID, "grove_lint: an argument is missing");
    }
    gv_kind kind = gv_kind_of(object);
    if (!gv_schema_has(kind)) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "the object is of none of Grove's kinds");
    }
    if (!config && grove_config_new(env, &made) < 0) {
        return gv_error_nomem(err);
    }
    grove_status status = gv_admission_stored(kind, doc, object, 0, NULL, &stored, err);
    if (status == GROVE_OK) {
        status = gv_lint_run(kind, stored, grove_doc_root(stored), NULL, config ? config : made,
                             options, diags);
        if (status < 0) {
            gv_error(err, status, "the object could not be linted");
        }
    }
    grove_doc_unref(stored);
    grove_config_unref(made);
    return status;
}
