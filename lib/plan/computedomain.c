/* SPDX-License-Identifier: Apache-2.0 */
/* ComputeDomains: one per set replica and MNNVL group; the driver makes the claim template they name. */
#include "model/labels.h"
#include "plan/body.h"

void gv_build_computedomain(gv_body *body) {
    grove_builder *b = body->b;
    gv_pairs_put_index(&body->labels, GV_LABEL_SET_REPLICA, body->o->replica);
    gv_pairs_put(&body->labels, GV_ANNOTATION_MNNVL, body->t->domains[body->o->at]);
    gv_body_open(body, GV_FINALIZER_COMPUTEDOMAIN);
    grove_builder_open_object(b, "spec");
    grove_builder_int64(b, "numNodes", 0); /* as many as there are */
    grove_builder_open_object(b, "channel");
    grove_builder_open_object(b, "resourceClaimTemplate");
    gv_write_str(b, "name", body->o->name);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}
