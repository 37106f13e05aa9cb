/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and building status.conditions. */
#include "sim/condition.h"

#include "sim/call.h"
#include "sim/meta.h"

const grove_node *gv_sim_condition(const grove_node *object, const char *type) {
    const grove_node *list = grove_node_get(grove_node_get(object, "status"), "conditions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        if (gv_str_is(gv_node_get_str(c, "type"), type)) {
            return c;
        }
    }
    return NULL;
}

bool gv_sim_condition_true(const grove_node *object, const char *type) {
    return gv_str_is(gv_node_get_str(gv_sim_condition(object, type), "status"), "True");
}

void gv_sim_build_condition(grove_sim *sim, grove_builder *b, const gv_sim_new_condition *c,
                            const grove_node *old) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "type", c->type);
    grove_builder_string(b, "status", c->status);
    gv_str since = gv_node_get_str(old, "lastTransitionTime");
    if (since.n > 0 && gv_str_is(gv_node_get_str(old, "status"), c->status)) {
        grove_builder_stringn(b, "lastTransitionTime", since.p, since.n);
    } else {
        gv_sim_build_time(sim, b, "lastTransitionTime", sim->now);
    }
    if (c->reason && c->reason[0]) {
        grove_builder_string(b, "reason", c->reason);
    }
    if (c->message && c->message[0]) {
        grove_builder_string(b, "message", c->message);
    }
    grove_builder_close(b);
}

static bool among(gv_str type, const gv_sim_new_condition *set, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (gv_str_is(type, set[i].type)) {
            return true;
        }
    }
    return false;
}

void gv_sim_build_conditions(grove_sim *sim, grove_builder *b, const grove_node *object,
                             const gv_sim_new_condition *set, size_t n) {
    grove_builder_open_array(b, "conditions");
    for (size_t i = 0; i < n; i++) {
        if (set[i].status) {
            gv_sim_build_condition(sim, b, &set[i], gv_sim_condition(object, set[i].type));
        }
    }
    const grove_node *list = grove_node_get(grove_node_get(object, "status"), "conditions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        if (!among(gv_node_get_str(c, "type"), set, n)) {
            grove_builder_copy(b, NULL, c);
        }
    }
    grove_builder_close(b);
}

grove_status gv_sim_set_conditions(grove_sim *sim, gv_sim_object *o,
                                   const gv_sim_new_condition *set, size_t n) {
    grove_builder *b = sim->builder;
    const grove_node *root = gv_sim_root(o);
    const grove_node *status = grove_node_get(root, "status");
    grove_builder_open_object(b, NULL);
    for (const grove_node *m = grove_node_first(status); m; m = grove_node_next(status, m)) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "conditions") != 0) {
            grove_builder_copy(b, key, m);
        }
    }
    gv_sim_build_conditions(sim, b, root, set, n);
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_put_section(sim, o, "status", doc);
        grove_doc_unref(doc);
    }
    return st;
}
