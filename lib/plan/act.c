/* SPDX-License-Identifier: Apache-2.0 */
/* Adding actions, waits and faults to the plan being made. */
#include "plan/work.h"

grove_status gv_work_nomem(gv_work *w) {
    return gv_error_nomem(w->err);
}

/* Formats into the arena; p NULL when out of memory. */
static gv_str format(gv_work *w, const char *fmt, va_list ap) {
    grove_buf_clear(&w->text);
    if (gv_buf_vfmt(&w->text, fmt, ap) < 0) {
        return (gv_str){NULL, 0};
    }
    gv_str view = gv_buf_view(&w->text);
    return (gv_str){gv_arena_dup(&w->arena, view), view.n};
}

gv_act *gv_act_add(gv_work *w, grove_verb verb, gv_kind kind, gv_str name, int32_t order,
                   const char *reason, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    gv_act act = {.verb = verb,
                  .kind = kind,
                  .order = order,
                  .name = name,
                  .reason = reason,
                  .clique = GV_NOT_WANTED,
                  .text = format(w, fmt, ap)};
    va_end(ap);
    if (act.text.p == NULL || !gv_vec_push(w->env, &w->acts, act)) {
        return NULL;
    }
    return &w->acts.v[w->acts.n - 1];
}

grove_status gv_act_finish_body(gv_work *w, gv_act *act) {
    return grove_builder_finish(w->b, &act->body, w->err);
}

grove_status gv_act_delete(gv_work *w, const gv_object *o, int32_t order, const char *reason,
                           const char *event, gv_str why) {
    const gv_head *h = &o->u.head;
    if (h->uid[0] == '\0' || gv_object_is_terminating(o)) {
        return GROVE_OK; /* not there yet, or on its way out already */
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_DELETE, h->kind, gv_str_c(h->name), order, reason,
                             "delete %s %s: %.*s", gv_kind_get(h->kind)->name, h->name,
                             ARG_STR(why));
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->uid = gv_str_c(h->uid);
    act->event = event;
    act->event_kind = GV_KIND_PODCLIQUESET;
    act->event_name = w->set;
    act->event_uid = w->pcs ? gv_str_c(w->pcs->u.head.uid) : (gv_str){"", 0};
    return GROVE_OK;
}

grove_status gv_pod_remove(gv_work *w, gv_work_clique *c, const gv_pod *p, const char *reason,
                           const char *why) {
    const gv_object *o = gv_store_get(w->store, GV_KIND_POD, w->ns, gv_str_c(p->head.name));
    uint32_t at = gv_pod_place(c, p);
    if (o == NULL || (at < c->n_pods && c->goes[at])) {
        return GROVE_OK;
    }
    size_t before = w->acts.n;
    grove_status status = gv_act_delete(w, o, GV_ORDER_POD_DELETE, reason, GV_EVENT_POD_DELETED,
                                        gv_str_c(why));
    if (status == GROVE_OK && w->acts.n > before) {
        gv_act *act = &w->acts.v[before];
        act->pod = p;
        act->clique = (uint32_t)(c - w->cliques);
        act->event_kind = GV_KIND_PODCLIQUE;
        act->event_name = c->want->name;
        act->event_uid = gv_str_c(c->obj->u.head.uid);
        c->unsettled = true;
        if (at < c->n_pods) {
            c->goes[at] = true;
        }
    }
    return status;
}

/* JSON patch: the finalizer at its place, tested before it is removed. */
grove_status gv_act_drop_finalizer(gv_work *w, const gv_object *o, const char *finalizer) {
    const gv_head *h = &o->u.head;
    const grove_node *list = grove_node_at_path(gv_object_node(o), "/metadata/finalizers");
    uint32_t at = 0;
    const grove_node *f = grove_node_first(list);
    for (; f && !gv_str_is(gv_view_str(f), finalizer); f = grove_node_next(list, f)) {
        at++;
    }
    if (f == NULL || h->uid[0] == '\0') {
        return GROVE_OK;
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, h->kind, gv_str_c(h->name), GV_ORDER_RELEASE,
                             "FinalizerReleased", "release finalizer of %s %s",
                             gv_kind_get(h->kind)->name, h->name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_JSON;
    act->uid = gv_str_c(h->uid);
    char path[64];
    gv_fmt(path, sizeof path, "/metadata/finalizers/%u", at);
    grove_builder_open_array(w->b, NULL);
    grove_builder_open_object(w->b, NULL);
    grove_builder_string(w->b, "op", "test");
    grove_builder_string(w->b, "path", path);
    grove_builder_string(w->b, "value", finalizer);
    grove_builder_close(w->b);
    grove_builder_open_object(w->b, NULL);
    grove_builder_string(w->b, "op", "remove");
    grove_builder_string(w->b, "path", path);
    grove_builder_close(w->b);
    grove_builder_close(w->b);
    return gv_act_finish_body(w, act);
}

grove_status gv_act_event(gv_work *w, const gv_object *about, bool warning, const char *reason,
                          gv_str note) {
    const gv_head *h = &about->u.head;
    gv_act *act = gv_act_add(w, GROVE_VERB_EVENT, h->kind, gv_str_c(h->name), GV_ORDER_EVENT,
                             reason, "%.*s", ARG_STR(note));
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->uid = gv_str_c(h->uid);
    grove_builder_open_object(w->b, NULL);
    grove_builder_string(w->b, "type", warning ? "Warning" : "Normal");
    grove_builder_string(w->b, "reason", reason);
    grove_builder_stringn(w->b, "note", note.p, note.n);
    grove_builder_close(w->b);
    return gv_act_finish_body(w, act);
}

bool gv_wait_say(gv_work *w, gv_kind kind, gv_str name, const char *reason, gv_kind for_kind,
                 gv_str for_name, int64_t since, int64_t deadline, gv_str text) {
    gv_wait_note note = {.kind = kind,
                         .name = name,
                         .reason = reason,
                         .for_kind = for_kind,
                         .for_name = for_name,
                         .since = since,
                         .deadline = deadline,
                         .text = text};
    gv_deadline(w, deadline);
    return text.p != NULL && gv_vec_push(w->env, &w->waits, note);
}

bool gv_wait_add(gv_work *w, gv_kind kind, gv_str name, const char *reason, gv_kind for_kind,
                 gv_str for_name, int64_t since, int64_t deadline, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    gv_str text = format(w, fmt, ap);
    va_end(ap);
    return gv_wait_say(w, kind, name, reason, for_kind, for_name, since, deadline, text);
}

bool gv_fault_add(gv_work *w, gv_kind kind, gv_str name, const char *code, int64_t at,
                  gv_str text) {
    gv_fault fault = {.code = code, .kind = kind, .name = name, .text = text, .at = at};
    return gv_vec_push(w->env, &w->faults, fault);
}

void gv_fault_event(gv_work *w, const char *event, const gv_object *about) {
    if (w->faults.n > 0) {
        w->faults.v[w->faults.n - 1].event = event;
        w->faults.v[w->faults.n - 1].about = about;
    }
}

/* ---- refusals ---- */

const grove_refusal *gv_refusal_of(const gv_work *w, grove_verb verb, gv_kind kind, gv_str name) {
    for (uint32_t i = 0; i < w->request->n_refusals; i++) {
        const grove_refusal *r = w->request->refusals[i];
        if (r->verb == verb && (gv_kind)r->kind == kind && gv_str_eq(gv_str_c(r->name), name)) {
            return r;
        }
    }
    return NULL;
}

bool gv_is_refused(gv_work *w, grove_verb verb, gv_kind kind, gv_str name) {
    const grove_refusal *r = w->request->n_refusals == 0 ? NULL
                                                         : gv_refusal_of(w, verb, kind, name);
    if (r == NULL || r->retry_ns <= w->now) {
        return false;
    }
    gv_deadline(w, r->retry_ns);
    return true;
}
