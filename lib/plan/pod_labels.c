/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels by which a living pod is found, taken off or written over by somebody: a patch puts them back, and
 * the pod stays. The record of a pod keeps what decisions read; of these labels that are its set, its clique,
 * its gang and its index, which the host name tells as well. A patch writes the others of its place along.
 * A pod without the managed-by label is left alone: nobody who watches by that label sees it any more.
 */
#include "model/labels.h"
#include "plan/work.h"
#include "base/text.h"
#include "value/doc.h"

bool gv_pod_index_is_bent(const gv_pod *p) {
    return p->hostname_index >= 0 && p->index != p->hostname_index;
}

bool gv_pod_labels_drifted(const gv_work *w, const gv_work_clique *c, const gv_pod *p) {
    const uint32_t flags = p->head.flags & (GV_HEAD_MANAGED | GV_HEAD_EXPECTED);
    if (flags != GV_HEAD_MANAGED || p->head.uid[0] == '\0') {
        return false;
    }
    return !gv_str_eq(gv_str_c(p->head.part_of), w->set) ||
           !gv_str_eq(gv_str_c(p->clique), c->want->name) || p->gang[0] == '\0' ||
           gv_pod_index_is_bent(p);
}

/* A label that the pod has from its PodClique. */
static void put_from_clique(grove_builder *b, const grove_node *labels, const char *key) {
    gv_str value = gv_node_get_str(labels, key);
    if (value.n > 0) {
        grove_builder_stringn(b, key, value.p, value.n);
    }
}

static grove_status restore(gv_work *w, const gv_work_clique *c, const gv_pod *p) {
    static const char *const inherited[] = {GV_LABEL_SET_REPLICA, GV_LABEL_GROUP,
                                            GV_LABEL_GROUP_REPLICA};
    const grove_node *labels = grove_node_at_path(c->obj->u.document.node, "/metadata/labels");
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, GV_KIND_POD, gv_str_c(p->head.name),
                             GV_ORDER_PATCH, "LabelsRestored", "put labels of pod %s back",
                             p->head.name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(p->head.uid);
    grove_builder *b = w->b;
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "metadata");
    grove_builder_open_object(b, "labels");
    grove_builder_stringn(b, GV_LABEL_PART_OF, w->set.p, w->set.n);
    grove_builder_stringn(b, GV_LABEL_CLIQUE, c->want->name.p, c->want->name.n);
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++) {
        put_from_clique(b, labels, inherited[i]);
    }
    if (p->gang[0] ==
        '\0') { /* another one than the clique's may be right: gangs change, pods stay */
        put_from_clique(b, labels, GV_LABEL_GANG);
        put_from_clique(b, labels, GV_LABEL_BASE_GANG);
    }
    if (p->hostname_index >= 0) {
        char index[16];
        gv_fmt(index, sizeof index, "%d", (int)p->hostname_index);
        grove_builder_string(b, GV_LABEL_POD_INDEX, index);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    return gv_act_finish_body(w, act);
}

static bool is_written(const gv_work *w, const gv_pod *p) {
    for (size_t i = 0; i < w->acts.n; i++) {
        const gv_act *act = &w->acts.v[i];
        if (act->kind == GV_KIND_POD && act->verb != GROVE_VERB_EVENT &&
            gv_str_is(act->name, p->head.name)) {
            return true;
        }
    }
    return false;
}

/* The last step that writes pods: one write to an object in a plan, and any other goes first. */
grove_status gv_step_pod_labels(gv_work *w) {
    for (uint32_t k = 0; k < w->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[k];
        for (uint32_t i = 0; c->memo != NULL && !c->dying && !c->deletes && i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            grove_status status = gv_pod_labels_drifted(w, c, p) && !is_written(w, p)
                                      ? restore(w, c, p)
                                      : GROVE_OK;
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}
