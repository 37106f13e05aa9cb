/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the podSpecs of an object and has each checked. */
#include "admission/pods.h"

#include "model/field_path.h"
#include "model/pod_check.h"
#include "value/doc.h"

static grove_status check_spec(const grove_doc *doc, const grove_node *spec, const gv_path *path,
                               grove_diags *diags) {
    gv_path here = gv_path_key(path, "podSpec", 7);
    const grove_node *pod = grove_node_get(spec, "podSpec");
    return pod ? gv_pod_check(doc, pod, &here, diags) : GROVE_OK;
}

grove_status gv_admission_pod_warnings(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                       grove_diags *diags) {
    const grove_node *spec = grove_node_get(object, "spec");
    gv_path root = gv_path_key(NULL, "spec", 4);
    if (kind == GV_KIND_PODCLIQUE) {
        return check_spec(doc, spec, &root, diags);
    }
    if (kind != GV_KIND_PODCLIQUESET) {
        return GROVE_OK;
    }
    gv_path tmpl = gv_path_key(&root, "template", 8), list = gv_path_key(&tmpl, "cliques", 7);
    grove_status status = GROVE_OK;
    uint32_t i = 0;
    GV_EACH(clique, gv_node_path(spec, "template.cliques")) {
        gv_path entry = gv_path_index(&list, i++), here = gv_path_key(&entry, "spec", 4);
        if (status == GROVE_OK) {
            status = check_spec(doc, grove_node_get(clique, "spec"), &here, diags);
        }
    }
    return status;
}
