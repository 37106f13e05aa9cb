/* SPDX-License-Identifier: Apache-2.0 */
/* PodCliqueScalingGroups. */
#include "model/labels.h"
#include "plan/body.h"

void gv_build_scalinggroup(gv_body *body) {
    const gv_want_group *g = &body->w->groups[body->o->at];
    const gv_template *t = body->t;
    const gv_group *view = &t->pcs.groups[g->config];
    grove_builder *b = body->b;
    gv_pairs_put_index(&body->labels, GV_LABEL_SET_REPLICA, body->o->replica);
    /* The set's MNNVL group goes down to its scaling groups, where they name none themselves. */
    const grove_node *inherited = grove_node_get(t->pcs.meta.annotations, GV_ANNOTATION_MNNVL);
    if (inherited) {
        gv_pairs_put(&body->annotations, GV_ANNOTATION_MNNVL, gv_view_str(inherited));
    }
    gv_pairs_put_all(&body->annotations, view->annotations);
    gv_body_open(body, GV_FINALIZER_GROUP);
    grove_builder_open_object(b, "spec");
    /* What lives belongs to scalers: the number is kept, also where it is below minAvailable. */
    grove_builder_int64(b, "replicas", g->live_replicas < 0 ? g->asked : g->live_replicas);
    grove_builder_int64(b, "minAvailable", g->min_available);
    grove_builder_link(b, "cliqueNames", t->doc, view->clique_names);
    grove_builder_close(b);
}
