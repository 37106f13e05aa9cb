/* SPDX-License-Identifier: Apache-2.0 */
/* Which verb goes where, and what every operation is checked for first. */
#include "sim/call.h"

typedef grove_status (*verb_fn)(gv_sim_call *c);

static grove_status get(gv_sim_call *c) {
    return c->op->subresource == GROVE_SUBRESOURCE_SCALE ? gv_sim_scale_get(c)
                                                         : gv_sim_answer_object(c, 200, c->obj);
}

static grove_status create(gv_sim_call *c) {
    return gv_sim_create(c, c->op->body_doc, c->body);
}

static grove_status replace(gv_sim_call *c) {
    return c->op->subresource == GROVE_SUBRESOURCE_SCALE ? gv_sim_scale_write(c)
                                                         : gv_sim_replace(c);
}

/* What a verb needs before it can start. */
typedef struct verb_info {
    verb_fn run;
    bool body;   /* a document */
    bool object; /* an object that exists, with the operation's preconditions */
    bool pod;    /* the kind is Pod whatever the operation says */
} verb_info;

static const verb_info verbs[GROVE_VERB_COUNT] = {
    [GROVE_VERB_GET] = {get, false, true, false},
    [GROVE_VERB_LIST] = {gv_sim_list, false, false, false},
    [GROVE_VERB_CREATE] = {create, true, false, false},
    [GROVE_VERB_PATCH] = {gv_sim_patch, true, true, false},
    [GROVE_VERB_APPLY] = {gv_sim_apply_op, true, false, false},
    [GROVE_VERB_DELETE] = {gv_sim_remove_op, false, true, false},
    [GROVE_VERB_BIND] = {gv_sim_bind_op, false, true, true},
    [GROVE_VERB_EVICT] = {gv_sim_evict, false, true, true},
    [GROVE_VERB_EVENT] = {gv_sim_event_op, true, false, false},
    [GROVE_VERB_SCALE] = {gv_sim_scale_set, false, true, false},
    [GROVE_VERB_REPLACE] = {replace, true, true, false},
};

static grove_status no_subresource(gv_sim_call *c) {
    return gv_sim_refuse(c, 404, "NotFound", NULL,
                         "the server could not find the requested resource");
}

static grove_status check_subresource(gv_sim_call *c) {
    grove_subresource sub = c->op->subresource;
    bool scale = sub == GROVE_SUBRESOURCE_SCALE || c->op->verb == GROVE_VERB_SCALE;
    if ((scale && !c->info->has_scale) ||
        (sub == GROVE_SUBRESOURCE_STATUS && !c->info->has_status)) {
        return no_subresource(c);
    }
    return GROVE_OK;
}

static grove_status find_object(gv_sim_call *c) {
    c->obj = gv_sim_find(c->sim, c->kind, c->ns, c->name);
    return c->obj ? gv_sim_preconditions(c) : gv_sim_not_found(c);
}

static grove_status run(gv_sim_call *c, const verb_info *v) {
    grove_status st = check_subresource(c);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    if (v->body && !c->body) {
        return gv_sim_bad_request(c, "the body is missing");
    }
    if (v->object) {
        st = find_object(c);
        if (st < 0 || gv_sim_refused(c)) {
            return st;
        }
    }
    return v->run(c);
}

grove_status gv_sim_run(grove_sim *sim, const grove_op *op, grove_sim_result *res) {
    if (op->verb <= GROVE_VERB_NONE || op->verb >= GROVE_VERB_COUNT) {
        return GROVE_E_UNSUPPORTED;
    }
    const verb_info *v = &verbs[op->verb];
    gv_kind kind = v->pod ? GV_KIND_POD : (gv_kind)op->kind;
    const gv_kind_info *info = gv_kind_get(kind);
    if (!info) {
        return GROVE_E_UNSUPPORTED;
    }
    gv_sim_call c = {.sim = sim, .op = op, .info = info, .kind = kind, .res = res};
    c.ns = info->namespaced ? gv_str_c(op->ns) : (gv_str){"", 0};
    c.name = gv_str_c(op->name);
    c.dry_run = (op->flags & GROVE_OP_DRY_RUN) != 0;
    c.body = op->body ? op->body : op->body_doc ? grove_doc_root(op->body_doc) : NULL;
    /* The body may be pinned by nobody else while the operation replaces what it was built from. */
    grove_doc *body_doc = op->body_doc ? grove_doc_ref(op->body_doc) : NULL;
    grove_status st = run(&c, v);
    grove_doc_unref(body_doc);
    if (st < 0) {
        grove_doc_unref(res->doc);
        res->doc = NULL;
    }
    return st;
}
