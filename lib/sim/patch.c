/* SPDX-License-Identifier: Apache-2.0 */
/* PATCH: merge, JSON and strategic patches of an object or its status. */
#include "sim/call.h"
#include "sim/strategic.h"

/* An error of the patch functions as the server words it. */
static grove_status refuse_patch(gv_sim_call *c, grove_status st, const grove_error *err) {
    if (st == GROVE_E_NOMEM || st == GROVE_E_INTERNAL || st == GROVE_E_LIMIT) {
        return st;
    }
    if (c->op->patch_type == GROVE_PATCH_JSON && st != GROVE_E_TYPE && st != GROVE_E_INVALID) {
        return gv_sim_refuse_bare(c, 422, "Invalid",
                                  "the server rejected our request due to an error in our request");
    }
    return gv_sim_bad_request(c, "error decoding patch: %s", err->message);
}

grove_status gv_sim_patched(gv_sim_call *c, grove_doc *target_doc, const grove_node *target,
                            bool builtin, grove_doc **out_doc) {
    const grove_op *op = c->op;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = GROVE_OK;
    switch (op->patch_type) {
    case GROVE_PATCH_MERGE:
        if (grove_node_type(c->body) != GROVE_OBJECT) {
            return gv_sim_bad_request(c, "error decoding patch: not an object");
        }
        st = grove_merge_patch_apply(target_doc, target, op->body_doc, c->body, out_doc, &err);
        break;
    case GROVE_PATCH_JSON:
        if (grove_node_type(c->body) != GROVE_ARRAY) {
            return gv_sim_bad_request(c, "error decoding patch: not an array");
        }
        st = grove_json_patch_apply(target_doc, target, op->body_doc, c->body, out_doc, &err);
        break;
    case GROVE_PATCH_STRATEGIC:
        if (!builtin) {
            return gv_sim_refuse(c, 415, "UnsupportedMediaType", NULL,
                                 "the body of the request was in an unknown format - accepted "
                                 "media types include: application/json-patch+json, "
                                 "application/merge-patch+json, application/apply-patch+yaml");
        }
        st = gv_strategic_patch_apply(c->sim->env, target_doc, target, op->body_doc, c->body,
                                      c->kind, out_doc, &err);
        break;
    default:
        return gv_sim_bad_request(c, "no patch type");
    }
    return st < 0 ? refuse_patch(c, st, &err) : GROVE_OK;
}

grove_status gv_sim_patch(gv_sim_call *c) {
    if (c->op->subresource == GROVE_SUBRESOURCE_SCALE) {
        return gv_sim_scale_write(c);
    }
    grove_doc *next = NULL;
    grove_status st = gv_sim_patched(c, c->obj->doc, gv_sim_root(c->obj), !c->info->custom, &next);
    if (st == GROVE_OK && next) {
        st = gv_sim_write(c, next, grove_doc_root(next));
        grove_doc_unref(next);
    }
    return st;
}
