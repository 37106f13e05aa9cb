/* SPDX-License-Identifier: Apache-2.0 */
/* The token Secret that the waiting init container mounts; the cluster fills it. */
#include "model/labels.h"
#include "plan/body.h"

void gv_build_secret(gv_body *body) {
    gv_pairs_put(&body->annotations, GV_ANNOTATION_SERVICEACCOUNT, body->w->set);
    gv_body_open(body, NULL);
    grove_builder_string(body->b, "type", "kubernetes.io/service-account-token");
}
