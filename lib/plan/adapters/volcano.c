/* SPDX-License-Identifier: Apache-2.0 */
/* Volcano: a gang becomes a Volcano PodGroup with one sub-group policy per PodClique; no topology. */
#include "plan/adapters/adapters.h"

#include "base/mem.h"
#include "model/labels.h"

static void mark_pod(gv_str gang, gv_str clique, gv_pod_marks *out) {
    (void)clique;
    gv_mark(out->annotations, &out->n_annotations, GV_STR(GV_ANNOTATION_VOLCANO_GROUP), gang);
    gv_mark(out->annotations, &out->n_annotations, GV_STR(GV_ANNOTATION_VOLCANO_GROUP_K8S), gang);
}

/* The set's queue, else the one its cliques agree on (admission has checked that they do). */
static gv_str queue_of(const gv_pcs *pcs) {
    gv_str queue = gv_str_trim(gv_get_str(pcs->meta.annotations, GV_ANNOTATION_VOLCANO_QUEUE));
    for (uint32_t i = 0; queue.n == 0 && i < pcs->n_cliques; i++) {
        queue = gv_str_trim(gv_get_str(pcs->cliques[i].annotations, GV_ANNOTATION_VOLCANO_QUEUE));
    }
    return queue.n ? queue : GV_STR("default");
}

static int64_t at_least_one(int64_t n) {
    return n > 0 ? n : 1;
}

static void write_policy(grove_builder *b, const gv_want_clique *c) {
    grove_builder_open_object(b, NULL);
    gv_write_str(b, "name", c->name);
    grove_builder_open_object(b, "labelSelector");
    grove_builder_open_object(b, "matchLabels");
    gv_write_str(b, GV_LABEL_CLIQUE, c->name);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_open_array(b, "matchLabelKeys");
    grove_builder_string(b, NULL, GV_LABEL_CLIQUE);
    grove_builder_close(b);
    grove_builder_int64(b, "subGroupSize", at_least_one(c->gang_minimum));
    grove_builder_int64(b, "minSubGroups", 1);
    grove_builder_close(b);
}

static grove_status build(const gv_want *w, uint32_t gang, gv_str owner_uid, gv_arena *a,
                          grove_builder *b, grove_error *err) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_template *t = w->replicas[g->replica].t;
    gv_pairs labels = {.a = a}, annotations = {.a = a};
    gv_gang_labels(w, gang, &labels);
    gv_open_gang_object(w, gang, GV_KIND_VOLCANO_PODGROUP, owner_uid, &labels, &annotations, b);
    grove_builder_open_object(b, "spec");
    grove_builder_int64(b, "minMember", at_least_one(gv_gang_minimum(w, gang)));
    gv_write_str(b, "queue", queue_of(&t->pcs));
    if (t->pcs.priority_class.n) {
        gv_write_str(b, "priorityClassName", t->pcs.priority_class);
    }
    grove_builder_open_array(b, "subGroupPolicy");
    for (uint32_t i = 0; i < g->n_cliques; i++) {
        write_policy(b, &w->cliques[g->first_clique + i]);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    return labels.failed ? gv_error_nomem(err) : GROVE_OK;
}

const gv_adapter *gv_adapter_volcano(void) {
    static const gv_adapter adapter = {
        .profile = GV_SCHEDULER_VOLCANO,
        .caps = GV_ADAPTER_GANG,
        .gang_kind = GV_KIND_VOLCANO_PODGROUP,
        .mark_pod = mark_pod,
        .build = build,
    };
    return &adapter;
}
