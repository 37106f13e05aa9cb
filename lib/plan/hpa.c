/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers: one per set replica and scaled clique or scaling group. */
#include "plan/body.h"

void gv_build_hpa(gv_body *body) {
    const gv_template *t = body->t;
    const gv_want_hpa *hpa = &t->hpas[body->o->at];
    const gv_scaling *s = hpa->of_group ? &t->pcs.groups[hpa->index].scaling
                                        : &t->pcs.cliques[hpa->index].scaling;
    grove_builder *b = body->b;
    gv_body_open(body, NULL);
    grove_builder_open_object(b, "spec");
    grove_builder_open_object(b, "scaleTargetRef");
    gv_write_kind(b, hpa->of_group ? GV_KIND_PODCLIQUESCALINGGROUP : GV_KIND_PODCLIQUE);
    gv_write_str(b, "name", body->o->name);
    grove_builder_close(b);
    if (s->min_replicas.set) {
        grove_builder_int64(b, "minReplicas", s->min_replicas.value);
    }
    grove_builder_int64(b, "maxReplicas", s->max_replicas.value);
    if (grove_node_size(s->metrics)) {
        grove_builder_link(b, "metrics", t->doc, s->metrics);
    }
    grove_builder_close(b);
}
