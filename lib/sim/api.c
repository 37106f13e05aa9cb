/* SPDX-License-Identifier: Apache-2.0 */
/* What a person with kubectl does, as calls. */
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/kubelet.h"
#include "sim/meta.h"

#define APPLY_MANAGER "kubectl-client-side-apply"

/* ---- results ---- */

/* A refusal becomes the call's error. */
static grove_status settle(grove_status st, grove_sim_result *res, grove_error *err) {
    if (st == GROVE_E_NOMEM) {
        return gv_error_nomem(err);
    }
    if (st < 0) {
        return gv_error(err, st, "%s", grove_status_name(st));
    }
    return res->status < 0 ? gv_error(err, res->status, "%s", res->message) : GROVE_OK;
}

static grove_status run(grove_sim *sim, const grove_op *op, grove_doc **out_doc, grove_error *err) {
    grove_sim_result res = {.size = sizeof res};
    grove_status st = settle(gv_sim_run(sim, op, &res), &res, err);
    if (st == GROVE_OK && out_doc) {
        *out_doc = res.doc;
        res.doc = NULL;
    }
    grove_doc_unref(res.doc);
    return st;
}

static grove_op operation(grove_verb verb, grove_kind kind, const char *ns, const char *name) {
    grove_op op = {.size = sizeof op, .verb = verb, .token = 1, .kind = kind};
    op.ns = ns;
    op.name = name;
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    return op;
}

/* ---- operations ---- */

grove_status grove_sim_execute(grove_sim *sim, const grove_op *op, grove_sim_result *out_result) {
    grove_op in = {0};
    grove_status st = gv_struct_in(&in, sizeof in, op, op->size, offsetof(grove_op, ns));
    if (st < 0 || out_result->size < sizeof(grove_sim_result)) {
        return st < 0 ? st : GROVE_E_INVALID;
    }
    grove_sim_result res = {.size = sizeof res};
    st = gv_sim_run(sim, &in, &res);
    if (st == GROVE_OK) {
        *out_result = res;
    }
    return st;
}

grove_status grove_sim_get(grove_sim *sim, grove_kind kind, const char *ns, const char *name,
                           grove_doc **out_doc, grove_error *err) {
    grove_op op = operation(GROVE_VERB_GET, kind, ns, name);
    return run(sim, &op, out_doc, err);
}

grove_status grove_sim_list(grove_sim *sim, grove_kind kind, const char *ns,
                            const char *label_selector, grove_doc **out_doc, grove_error *err) {
    grove_op op = operation(GROVE_VERB_LIST, kind, ns, NULL);
    op.label_selector = label_selector;
    return run(sim, &op, out_doc, err);
}

grove_status grove_sim_delete(grove_sim *sim, grove_kind kind, const char *ns, const char *name,
                              grove_error *err) {
    grove_op op = operation(GROVE_VERB_DELETE, kind, ns, name);
    return run(sim, &op, NULL, err);
}

grove_status grove_sim_scale(grove_sim *sim, grove_kind kind, const char *ns, const char *name,
                             int64_t replicas, grove_error *err) {
    grove_op op = operation(GROVE_VERB_SCALE, kind, ns, name);
    op.replicas = replicas;
    return run(sim, &op, NULL, err);
}

grove_status grove_sim_bind(grove_sim *sim, const char *ns, const char *pod, const char *node,
                            grove_error *err) {
    grove_op op = operation(GROVE_VERB_BIND, GROVE_KIND_POD, ns, pod);
    op.target = node;
    return run(sim, &op, NULL, err);
}

/* ---- apply ---- */

static grove_status apply_one(grove_sim *sim, grove_doc *doc, const grove_node *object,
                              grove_error *err) {
    gv_kind kind = gv_kind_of(object);
    if (kind == GV_KIND_NONE) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "no kind \"%s\" in version \"%s\"",
                        gv_node_get_str(object, "kind").p, gv_node_get_str(object, "apiVersion").p);
    }
    const grove_node *meta = grove_node_get(object, "metadata");
    gv_str ns = gv_node_get_str(meta, "namespace"), name = gv_node_get_str(meta, "name");
    bool namespaced = gv_kind_get(kind)->namespaced;
    if (namespaced && ns.n == 0) {
        ns = GV_STR("default");
    }
    if (namespaced && gv_sim_ensure_namespace(sim, ns) < 0) {
        return gv_error_nomem(err);
    }
    bool nameless = name.n == 0; /* generateName cannot be applied, only created */
    grove_op op = operation(nameless ? GROVE_VERB_CREATE : GROVE_VERB_APPLY, (grove_kind)kind,
                            namespaced ? ns.p : "", nameless ? NULL : name.p);
    op.body_doc = doc;
    op.body = object;
    op.manager = APPLY_MANAGER;
    op.flags = GROVE_OP_FORCE;
    return run(sim, &op, NULL, err);
}

grove_status grove_sim_apply(grove_sim *sim, grove_doc *doc, const grove_node *object,
                             grove_error *err) {
    const grove_node *o = object ? object : grove_doc_root(doc);
    const grove_node *items = grove_node_get(o, "items");
    if (grove_node_type(o) != GROVE_ARRAY && grove_node_type(items) != GROVE_ARRAY) {
        return apply_one(sim, doc, o, err);
    }
    const grove_node *list = items ? items : o;
    GV_EACH(item, list) {
        grove_status st = grove_sim_apply(sim, doc, item, err);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

/* ---- everything ---- */

static grove_status dump_kind(grove_sim *sim, grove_builder *b, gv_kind kind) {
    grove_sim_result res = {.size = sizeof res};
    grove_op op = operation(GROVE_VERB_LIST, (grove_kind)kind, NULL, NULL);
    grove_status st = gv_sim_run(sim, &op, &res);
    if (st == GROVE_OK) {
        GV_EACH(item, grove_node_get(grove_doc_root(res.doc), "items")) {
            grove_builder_link(b, NULL, res.doc, item);
        }
        grove_doc_unref(res.doc);
    }
    return st;
}

grove_status grove_sim_dump(grove_sim *sim, grove_doc **out_doc, grove_error *err) {
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(sim->env, &b);
    if (st < 0) {
        return gv_error_nomem(err);
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_string(b, "kind", "List");
    grove_builder_open_array(b, "items");
    for (int k = GV_KIND_NONE + 1; k < GV_KIND_COUNT && st == GROVE_OK; k++) {
        st = dump_kind(sim, b, (gv_kind)k);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    if (st == GROVE_OK) {
        st = grove_builder_finish(b, out_doc, err);
    }
    grove_builder_free(b);
    return st;
}

/* ---- what containers are made to do ---- */

/* NULL with *err filled: no such pod (GROVE_E_NOT_FOUND), or nothing runs it (GROVE_E_CONFLICT). */
static gv_sim_pod *running_pod(grove_sim *sim, const char *ns, const char *name, grove_status *st,
                               grove_error *err) {
    gv_sim_object *o = gv_sim_find(sim, GV_KIND_POD, gv_str_c(ns), gv_str_c(name));
    if (!o) {
        *st = gv_error(err, GROVE_E_NOT_FOUND, "pods \"%s\" not found", name);
        return NULL;
    }
    if (!o->pod) {
        *st = gv_error(err, GROVE_E_CONFLICT, "pod %s does not run on any node", name);
    }
    return o->pod;
}

grove_status grove_sim_set_ready(grove_sim *sim, const char *ns, const char *pod, int32_t ready,
                                 grove_error *err) {
    grove_status st = GROVE_OK;
    gv_sim_pod *run = running_pod(sim, ns, pod, &st, err);
    if (!run) {
        return st;
    }
    run->probe = ready ? 1 : 0;
    for (size_t i = 0; i < run->containers.n; i++) {
        gv_sim_container *c = &run->containers.v[i];
        if (c->role != GV_ROLE_INIT && c->state == GV_STATE_RUNNING) {
            c->ready = ready && run->stage == GV_STAGE_RUN;
            c->due_ready = INT64_MAX;
        }
    }
    run->dirty = true;
    gv_sim_timer_arm(sim, &run->timer, sim->now);
    return GROVE_OK;
}

grove_status grove_sim_crash(grove_sim *sim, const char *ns, const char *pod, const char *container,
                             int32_t exit_code, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_sim_pod *run = running_pod(sim, ns, pod, &st, err);
    bool found = false;
    if (!run) {
        return st;
    }
    for (size_t i = 0; i < run->containers.n; i++) {
        gv_sim_container *c = &run->containers.v[i];
        bool meant = !container || gv_str_is(gv_node_get_str(c->spec, "name"), container);
        if (meant && c->state == GV_STATE_RUNNING) {
            c->exit_code = exit_code;
            c->due_exit = sim->now;
            found = true;
        }
    }
    if (!found) {
        return gv_error(err, GROVE_E_CONFLICT, "no such container runs in pod %s", pod);
    }
    gv_sim_kubelet_arm(sim, run);
    return GROVE_OK;
}
