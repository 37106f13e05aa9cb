/* SPDX-License-Identifier: Apache-2.0 */
/* Shared ResourceClaims: of the whole set, of a scaling group, of a clique. */
#include "model/labels.h"
#include "plan/body.h"

/* Labels say whose claim it is and, for one per replica, of which replica. */
static const gv_sharing *label_claim(gv_body *body) {
    const gv_want_object *o = body->o;
    const char *index_label = GV_LABEL_SET_REPLICA;
    const gv_sharing *list;
    if (o->owner == GV_OWNER_GROUP) {
        const gv_want_group *g = &body->w->groups[o->owner_index];
        gv_pairs_put(&body->labels, GV_LABEL_GROUP, g->name);
        index_label = GV_LABEL_GROUP_REPLICA;
        list = body->t->pcs.groups[g->config].sharing;
    } else if (o->owner == GV_OWNER_CLIQUE) {
        const gv_want_clique *c = &body->w->cliques[o->owner_index];
        gv_pairs_put(&body->labels, GV_LABEL_CLIQUE, c->name);
        index_label = GV_LABEL_POD_INDEX;
        list = body->t->pcs.cliques[c->clique].sharing;
    } else {
        list = body->w->current->pcs.sharing;
    }
    if (o->index >= 0) {
        gv_pairs_put_index(&body->labels, index_label, o->index);
    }
    return &list[o->at];
}

void gv_build_claim(gv_body *body) {
    const gv_template *t = body->o->owner == GV_OWNER_SET ? body->w->current : body->t;
    const gv_sharing *entry = label_claim(body);
    bool own;
    const grove_node *spec = gv_template_claim_spec(t, entry, &own);
    gv_body_open(body, NULL);
    if (own) {
        grove_builder_link(body->b, "spec", t->doc, spec);
    } else {
        grove_builder_copy(body->b, "spec", spec); /* stands in the configuration */
    }
}
