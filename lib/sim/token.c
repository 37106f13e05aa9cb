/* SPDX-License-Identifier: Apache-2.0 */
/* Filling token Secrets. */
#include "sim/token.h"

#include "model/labels.h"
#include "sim/call.h"
#include "sim/meta.h"

#define TOKEN_TYPE "kubernetes.io/service-account-token"

static gv_str account_of(const gv_sim_object *secret) {
    const grove_node *root = gv_sim_root(secret);
    if (!gv_str_is(gv_node_get_str(root, "type"), TOKEN_TYPE)) {
        return (gv_str){"", 0};
    }
    const grove_node *annotations = grove_node_get(grove_node_get(root, "metadata"), "annotations");
    return gv_node_get_str(annotations, GV_ANNOTATION_SERVICEACCOUNT);
}

/* data.token: text that is plainly no credential, in base64 ("simulated"). */
static grove_status fill(grove_sim *sim, gv_sim_object *secret) {
    const grove_node *data = grove_node_get(gv_sim_root(secret), "data");
    if (grove_node_get(data, "token")) {
        return GROVE_OK;
    }
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    GV_EACH(m, data) {
        grove_builder_copy(b, grove_node_key(m, NULL), m);
    }
    grove_builder_string(b, "ca.crt", "c2ltdWxhdGVk");
    grove_builder_string(b, "namespace", "c2ltdWxhdGVk");
    grove_builder_string(b, "token", "c2ltdWxhdGVk");
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_put_section(sim, secret, "data", doc);
        grove_doc_unref(doc);
    }
    return st;
}

static grove_status secret_look(grove_sim *sim, gv_sim_object *secret) {
    gv_str account = account_of(secret);
    bool known = account.n > 0 && gv_sim_find(sim, GV_KIND_SERVICEACCOUNT, secret->ns, account);
    return known && !secret->dying ? fill(sim, secret) : GROVE_OK;
}

grove_status gv_sim_token_look(grove_sim *sim, gv_sim_object *o) {
    if (!o->exists) {
        return GROVE_OK;
    }
    if (o->kind == GV_KIND_SECRET) {
        return secret_look(sim, o);
    }
    gv_map_entry *e;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0;
         st == GROVE_OK && (e = gv_map_next(&sim->tables[GV_KIND_SECRET].objects, &i));) {
        gv_sim_object *secret = e->value;
        if (gv_str_eq(secret->ns, o->ns) && gv_str_eq(account_of(secret), o->name)) {
            st = secret_look(sim, secret);
        }
    }
    return st;
}
