/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of Grove's mutating webhook. Defaults are computed from the values as submitted: minAvailable
 * of a clique without replicas becomes 0 and is refused later, as on a cluster.
 */
#include "admission/defaulting.h"

#include "base/mem.h"
#include "model/gen/schema_ids.h"
#include "model/syntax.h"
#include "value/doc.h"

#define DEFAULT_DELAY "4h0m0s"
#define DEFAULT_GRACE 30

/* ---- does any rule change anything? ---- */

static bool changes_scaling(const grove_node *owner, const char *key) {
    const grove_node *scale = gv_schema_given(owner, key);
    return scale && !gv_schema_given(scale, "minReplicas");
}

static bool changes_clique(const grove_node *clique) {
    const grove_node *spec = gv_schema_given(clique, "spec");
    const grove_node *pod = gv_schema_given(spec, "podSpec");
    return gv_syntax_blank(gv_node_str(gv_schema_given(pod, "restartPolicy"))) ||
           !gv_schema_given(pod, "terminationGracePeriodSeconds") ||
           gv_node_get_int(spec, "replicas", 0) == 0 || !gv_schema_given(spec, "minAvailable") ||
           changes_scaling(spec, "autoScalingConfig");
}

static bool changes_anything(const grove_node *tmpl) {
    const grove_node *cliques = gv_schema_given(tmpl, "cliques");
    const grove_node *groups = gv_schema_given(tmpl, "podCliqueScalingGroups");
    if (!cliques || !groups || !gv_schema_given(tmpl, "terminationDelay") ||
        !gv_schema_given(tmpl, "headlessServiceConfig")) {
        return true;
    }
    GV_EACH(clique, cliques) {
        if (changes_clique(clique)) {
            return true;
        }
    }
    GV_EACH(group, groups) {
        if (changes_scaling(group, "scaleConfig")) {
            return true;
        }
    }
    return false;
}

/* ---- what the rules change, asked for structure by structure ---- */

static uint32_t edit_pod(const grove_node *pod, gv_schema_edit *out) {
    uint32_t n = 0;
    if (gv_syntax_blank(gv_node_str(gv_schema_given(pod, "restartPolicy")))) {
        out[n++] = (gv_schema_edit){.member = "restartPolicy", .text = "Always"};
    }
    if (!gv_schema_given(pod, "terminationGracePeriodSeconds")) {
        out[n++] = (gv_schema_edit){.member = "terminationGracePeriodSeconds",
                                    .number = DEFAULT_GRACE};
    }
    return n;
}

static uint32_t edit_clique(const grove_node *spec, gv_schema_edit *out) {
    uint32_t n = 0;
    int64_t submitted = gv_node_get_int(spec, "replicas", 0);
    if (submitted == 0) {
        out[n++] = (gv_schema_edit){.member = "replicas", .number = 1};
    }
    if (!gv_schema_given(spec, "minAvailable")) {
        out[n++] = (gv_schema_edit){.member = "minAvailable", .number = submitted};
    }
    return n;
}

static uint32_t edit_scaling(const grove_node *owner, const grove_node *scale,
                             gv_schema_edit *out) {
    if (gv_schema_given(scale, "minReplicas")) {
        return 0;
    }
    /* A group's replicas have a default of the schema, a clique's have none. */
    bool is_group = gv_schema_given(owner, "scaleConfig") != NULL;
    int64_t replicas = gv_schema_given(owner, "replicas") ? gv_node_get_int(owner, "replicas", 0)
                                                          : is_group;
    out[0] = (gv_schema_edit){.member = "minReplicas", .number = replicas};
    return 1;
}

static uint32_t edit_template(const grove_node *tmpl, gv_schema_edit *out) {
    uint32_t n = 0;
    if (!gv_schema_given(tmpl, "terminationDelay")) {
        out[n++] = (gv_schema_edit){.member = "terminationDelay", .text = DEFAULT_DELAY};
    }
    if (!gv_schema_given(tmpl, "headlessServiceConfig")) {
        out[n++] = (gv_schema_edit){.member = "headlessServiceConfig",
                                    .true_member = "publishNotReadyAddresses"};
    }
    return n;
}

static uint32_t edit(void *ctx, gv_schema_type_id type, const grove_node *parent,
                     const grove_node *object, gv_schema_edit *out, uint32_t cap) {
    (void)ctx;
    if (cap < 2) {
        return 0;
    }
    switch ((uint32_t)type) {
    case GV_TYPE_PODSPEC:
        return edit_pod(object, out);
    case GV_TYPE_PODCLIQUESPEC:
        return edit_clique(object, out);
    case GV_TYPE_AUTOSCALINGCONFIG:
        return edit_scaling(parent, object, out);
    case GV_TYPE_PODCLIQUESETTEMPLATESPEC:
        return edit_template(object, out);
    default:
        return 0;
    }
}

grove_status gv_admission_stored(gv_kind kind, grove_doc *doc, const grove_node *object,
                                 uint32_t schema_flags, const char *namespace_name,
                                 grove_doc **out_doc, grove_error *err) {
    const grove_node *tmpl = gv_schema_given(gv_schema_given(object, "spec"), "template");
    gv_str ns = gv_str_c(namespace_name ? namespace_name : "default");
    if (kind == GV_KIND_PODCLIQUESET && changes_anything(tmpl)) {
        gv_schema_edits edits = {NULL, edit};
        return gv_schema_roundtrip(kind, doc, object, schema_flags, ns, &edits, out_doc, err);
    }
    return gv_schema_default(kind, doc, object, schema_flags, ns, out_doc, err);
}
