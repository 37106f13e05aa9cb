/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the admission hook. */
#include "sim/admit.h"

static const char *reason_of(int32_t http) {
    return http == 400 ? "BadRequest" : http == 422 ? "Invalid" : "Forbidden";
}

grove_status gv_sim_admit(gv_sim_call *c, grove_verb verb, grove_doc **doc) {
    grove_sim *sim = c->sim;
    if (!sim->options.admit) {
        return GROVE_OK;
    }
    grove_sim_review r = {(uint32_t)sizeof r, verb};
    r.kind = (grove_kind)c->kind;
    r.subresource = c->op->verb == GROVE_VERB_SCALE ? GROVE_SUBRESOURCE_SCALE : c->op->subresource;
    r.ns = c->ns.p;
    r.name = c->name.p;
    r.object_doc = *doc;
    r.object = *doc ? grove_doc_root(*doc) : NULL;
    r.old_doc = c->obj ? c->obj->doc : NULL;
    r.old = c->obj ? gv_sim_root(c->obj) : NULL;
    grove_status st = sim->options.admit(sim->options.admit_ctx, &r);
    if (st < 0) {
        grove_doc_unref(r.out_doc);
        return st;
    }
    if (r.out_doc && *doc) {
        grove_doc_unref(*doc);
        *doc = r.out_doc;
    } else {
        grove_doc_unref(r.out_doc);
    }
    return r.http == 0 ? GROVE_OK
                       : gv_sim_refuse_causes(c, r.http, reason_of(r.http), r.causes, r.message);
}
