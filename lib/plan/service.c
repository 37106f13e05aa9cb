/* SPDX-License-Identifier: Apache-2.0 */
/* The headless Service of each set replica: the names by which its pods find each other. */
#include "model/labels.h"
#include "plan/body.h"

void gv_build_service(gv_body *body) {
    gv_pairs selector = {.a = body->a};
    gv_put_default_labels(&selector, body->w->set);
    gv_pairs_put_index(&selector, GV_LABEL_SET_REPLICA, body->o->replica);
    gv_pairs_put_index(&body->labels, GV_LABEL_SET_REPLICA, body->o->replica);
    gv_body_open(body, NULL);
    grove_builder_open_object(body->b, "spec");
    grove_builder_string(body->b, "clusterIP", "None");
    if (body->t->pcs.publish_not_ready) {
        grove_builder_bool(body->b, "publishNotReadyAddresses", 1);
    }
    gv_pairs_write(&selector, body->b, "selector");
    grove_builder_close(body->b);
    body->failed |= selector.failed;
}
