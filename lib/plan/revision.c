/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ControllerRevision: what a set's pods are made of at one time, and nothing of how many there are or
 * where they go. `hashes` are what the pods of each clique are labelled with.
 */
#include "model/labels.h"
#include "plan/body.h"

static void put_clique(gv_body *body, const gv_clique *c) {
    grove_builder *b = body->b;
    grove_builder_open_object(b, NULL);
    gv_write_str(b, "name", c->name);
    if (c->labels) {
        grove_builder_link(b, "labels", body->t->doc, c->labels);
    }
    if (c->annotations) {
        grove_builder_link(b, "annotations", body->t->doc, c->annotations);
    }
    grove_builder_open_object(b, "spec");
    if (c->pod_spec) {
        grove_builder_link(b, "podSpec", body->t->doc, c->pod_spec);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

void gv_build_revision(gv_body *body) {
    grove_builder *b = body->b;
    const gv_template *t = body->t;
    gv_pairs_put(&body->labels, GV_LABEL_REVISION_HASH, t->own_generation_hash);
    gv_body_open(body, NULL);
    grove_builder_open_object(b, "data");
    grove_builder_open_object(b, "hashes");
    for (uint32_t i = 0; i < t->pcs.n_cliques; i++) {
        grove_builder_stringn(b, t->pcs.cliques[i].name.p, t->facts[i].hash.p, t->facts[i].hash.n);
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "spec");
    grove_builder_open_object(b, "template");
    if (t->pcs.priority_class.n) {
        gv_write_str(b, "priorityClassName", t->pcs.priority_class);
    }
    grove_builder_open_array(b, "cliques");
    for (uint32_t i = 0; i < t->pcs.n_cliques; i++) {
        put_clique(body, &t->pcs.cliques[i]);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_int64(b, "revision", body->args->revision > 0 ? body->args->revision : 1);
}
