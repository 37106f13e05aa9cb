/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE of an object or of a collection, with its options from the query or the body. */
#include "front/parts.h"

#include <stdlib.h>
#include <string.h>

static grove_propagation propagation_of(const char *word) {
    return !word                             ? GROVE_PROPAGATION_DEFAULT
           : strcmp(word, "Background") == 0 ? GROVE_PROPAGATION_BACKGROUND
           : strcmp(word, "Foreground") == 0 ? GROVE_PROPAGATION_FOREGROUND
           : strcmp(word, "Orphan") == 0     ? GROVE_PROPAGATION_ORPHAN
                                             : GROVE_PROPAGATION_DEFAULT;
}

/* The texts are those of `body` and live as long as it does. */
static void read_options(const gv_front_call *c, const grove_node *body, grove_op *op) {
    const char *query = gv_front_query_get(&c->query, "gracePeriodSeconds");
    const char *policy = grove_node_text(grove_node_get(body, "propagationPolicy"));
    const grove_node *conditions = grove_node_get(body, "preconditions");
    int64_t grace = GROVE_GRACE_DEFAULT;
    if (grove_node_int64(grove_node_get(body, "gracePeriodSeconds"), &grace) < 0 && query) {
        grace = strtoll(query, NULL, 10);
    }
    op->grace_seconds = grace < 0 ? GROVE_GRACE_DEFAULT : grace;
    op->propagation = propagation_of(policy ? policy
                                            : gv_front_query_get(&c->query, "propagationPolicy"));
    op->uid = grove_node_text(grove_node_get(conditions, "uid"));
    op->resource_version = grove_node_text(grove_node_get(conditions, "resourceVersion"));
    const grove_node *dry = grove_node_get(body, "dryRun");
    op->flags |= grove_node_size(dry) > 0 ? GROVE_OP_DRY_RUN : 0;
}

/* ---- collections ---- */

static grove_status delete_item(gv_front_call *c, const grove_op *all, const grove_node *item) {
    grove_sim_result res = {.size = (uint32_t)sizeof res};
    grove_op op = *all;
    op.ns = grove_node_text(grove_node_at_path(item, "/metadata/namespace"));
    op.ns = op.ns ? op.ns : "";
    op.name = grove_node_text(grove_node_at_path(item, "/metadata/name"));
    grove_status st = grove_sim_execute(c->sim, &op, &res);
    if (st == GROVE_OK) {
        grove_doc_unref(res.doc);
    }
    return st;
}

/* Answers with the list of what was marked or deleted. */
static grove_status delete_collection(gv_front_call *c, const grove_op *op) {
    grove_sim_result res = {.size = (uint32_t)sizeof res};
    grove_op list = gv_front_op(c, GROVE_VERB_LIST);
    list.name = NULL;
    list.label_selector = gv_front_query_get(&c->query, "labelSelector");
    list.field_selector = gv_front_query_get(&c->query, "fieldSelector");
    grove_status st = grove_sim_execute(c->sim, &list, &res);
    if (st < 0) {
        return st;
    }
    const grove_node *items = grove_node_get(grove_doc_root(res.doc), "items");
    for (const grove_node *item = grove_node_first(items); item && st == GROVE_OK;
         item = grove_node_next(items, item)) {
        st = delete_item(c, op, item);
    }
    if (st < 0) {
        grove_doc_unref(res.doc);
        return st;
    }
    return gv_front_result(c, &res);
}

grove_status gv_front_delete(gv_front_call *c) {
    grove_doc *body = NULL;
    grove_op op = gv_front_op(c, GROVE_VERB_DELETE);
    bool ok = true;
    if (c->route.sub[0]) {
        return gv_front_no_method(c);
    }
    grove_status st = gv_front_dry_run(c, &op, &ok);
    if (st == GROVE_OK && ok && c->req->body_len) {
        st = gv_front_body(c, false, false, &body);
        ok = body != NULL;
    }
    if (st == GROVE_OK && ok) {
        read_options(c, body ? grove_doc_root(body) : NULL, &op);
        st = c->route.name[0] ? gv_front_execute(c, &op) : delete_collection(c, &op);
    }
    grove_doc_unref(body);
    return st;
}
