/* SPDX-License-Identifier: Apache-2.0 */
/* Why an object waits: the plan's reasons and the placement's. */
#include "engine/engine.h"
#include "engine/view_class.h"
#include "model/labels.h"
#include "value/doc.h"

/* Whose plan an object is part of: its own, or that of the set which its part-of label names. */
static bool has_own_plan(gv_kind kind) {
    return kind == GV_KIND_PODCLIQUESET || kind == GV_KIND_CLUSTERTOPOLOGYBINDING;
}

static gv_str set_of(const gv_object *object) {
    return has_own_plan(object->u.head.kind) ? gv_str_c(object->u.head.name)
                                             : gv_str_c(object->u.head.part_of);
}

static gv_str gang_of(const gv_object *object) {
    if (object->u.head.kind == GV_KIND_PODGANG) {
        return gv_str_c(object->u.head.name);
    }
    if (gv_object_is_pod(object)) {
        return gv_str_c(object->u.pod.gang);
    }
    return gv_node_get_str(gv_node_path(gv_object_node(object), "metadata.labels"), GV_LABEL_GANG);
}

static const char *verdict_word(grove_gang_verdict verdict) {
    return verdict == GROVE_VERDICT_PLACED       ? "placed"
           : verdict == GROVE_VERDICT_NOMINATED  ? "nominated"
           : verdict == GROVE_VERDICT_INFEASIBLE ? "infeasible"
                                                 : "unknown";
}

/* ---- which waits are about an object ---- */

typedef struct subject {
    bool all;            /* a set or a binding: everything of its plan */
    gv_str kind, name;   /* the object */
    gv_str clique, gang; /* what it is part of; "" none */
} subject;

static subject subject_of(const gv_object *object) {
    gv_kind kind = object->u.head.kind;
    return (subject){.all = has_own_plan(kind),
                     .kind = gv_str_c(gv_kind_get(kind)->name),
                     .name = gv_str_c(object->u.head.name),
                     .clique = gv_object_is_pod(object) ? gv_str_c(object->u.pod.clique)
                                                        : (gv_str){"", 0},
                     .gang = gang_of(object)};
}

static bool is_named(const grove_node *n, gv_str kind, gv_str name) {
    return name.n > 0 && gv_str_eq(gv_node_get_str(n, "kind"), kind) &&
           gv_str_eq(gv_node_get_str(n, "name"), name);
}

/* A wait of its own, of what it is part of, or for it. */
static bool is_about(const subject *s, const grove_node *wait) {
    return s->all || is_named(wait, s->kind, s->name) ||
           is_named(wait, GV_STR("PodGang"), s->gang) ||
           is_named(wait, GV_STR("PodClique"), s->clique) ||
           is_named(grove_node_get(wait, "waitsFor"), s->kind, s->name);
}

static grove_status explain_text(const gv_set *set, const subject *s, grove_kind kind,
                                 const char *name, int64_t now, grove_buf *buf, grove_error *err) {
    grove_status st = grove_plan_explain(set->plan, s->all ? GROVE_KIND_NONE : kind,
                                         s->all ? NULL : name, now, buf, err);
    if (st == GROVE_OK && !s->all && s->clique.n > 0) {
        st = grove_plan_explain(set->plan, GROVE_KIND_PODCLIQUE, s->clique.p, now, buf, err);
    }
    if (st == GROVE_OK && !s->all && s->gang.n > 0 && kind != GROVE_KIND_PODGANG) {
        st = grove_plan_explain(set->plan, GROVE_KIND_PODGANG, s->gang.p, now, buf, err);
    }
    return st;
}

/* What holds the set up holds up each object of it. */
static grove_status put_waits(grove_engine *e, const gv_set *set, grove_builder *b,
                              const grove_node *waits, const subject *s) {
    grove_wait holds[GV_HOLDS];
    uint32_t n = gv_engine_holds(e, set, holds);
    grove_status st = GROVE_OK;
    grove_buf times;
    grove_buf_init(&times, e->env);
    grove_builder_open_array(b, "waits");
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = gv_wait_put(b, &holds[i], &times);
    }
    GV_EACH(wait, waits) {
        if (is_about(s, wait)) {
            grove_builder_copy(b, NULL, wait);
        }
    }
    grove_builder_close(b);
    grove_buf_fini(&times);
    return st;
}

static grove_status write_holds(const grove_engine *e, const gv_set *set, int64_t now,
                                grove_buf *buf) {
    grove_wait holds[GV_HOLDS];
    uint32_t n = gv_engine_holds(e, set, holds);
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = gv_wait_write(&holds[i], now, buf);
    }
    return st;
}

/* ---- what the pods ask for and placement does not take into account ---- */

/* The first claim that the clique's pods share with others: of its own, of its group, or of the set. */
static const gv_object *shared_claim(const grove_engine *e, const gv_object *clique) {
    gv_str ns = gv_str_c(clique->u.head.ns), part_of = gv_str_c(clique->u.head.part_of);
    const gv_object *set = gv_store_get(e->store, GV_KIND_PODCLIQUESET, ns, part_of);
    const gv_list *list = gv_store_of_set(e->store, ns, part_of);
    const gv_object *first = NULL;
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        const char *owner = o->u.head.owner_uid;
        bool shares = o->u.head.kind == GV_KIND_RESOURCECLAIM &&
                      (strcmp(owner, clique->u.head.uid) == 0 ||
                       strcmp(owner, clique->u.head.owner_uid) == 0 ||
                       (set && strcmp(owner, set->u.head.uid) == 0));
        if (shares && (!first || strcmp(o->u.head.name, first->u.head.name) < 0)) {
            first = o;
        }
    }
    return first;
}

/* Pods that share a claim can only be where its devices are, and nobody here knows where that is. */
static bool note_shared_claims(grove_engine *e, gv_str ns, const grove_node *podgang) {
    GV_EACH(group, gv_node_path(podgang, "spec.podgroups")) {
        gv_str name = gv_node_get_str(group, "name");
        const gv_object *clique = gv_store_get(e->store, GV_KIND_PODCLIQUE, ns, name);
        const gv_object *claim = clique ? shared_claim(e, clique) : NULL;
        if (claim &&
            !gv_view_note_add(&e->view, name, "resourceSharing",
                              gv_arena_fmt(&e->view.scratch,
                                           "its pods share claims (%s): which nodes reach their "
                                           "devices is not judged before they are bound",
                                           claim->u.head.name))) {
            return false;
        }
    }
    return true;
}

/* Fills e->view.notes for a gang; none when there is no such PodGang. */
static grove_status find_notes(grove_engine *e, gv_str ns, gv_str gang, grove_error *err) {
    const gv_object *object = gang.n ? gv_store_get(e->store, GV_KIND_PODGANG, ns, gang) : NULL;
    gv_view_gang described;
    e->view.notes.n = 0;
    if (!object) {
        return GROVE_OK;
    }
    grove_status st = gv_view_describe(&e->view, e->store, e->config, gv_object_node(object),
                                       GV_DESCRIBE_GATED, &described, err);
    if (st == GROVE_OK && !note_shared_claims(e, ns, gv_object_node(object))) {
        st = gv_error_nomem(err);
    }
    return st;
}

static void put_notes(grove_builder *b, const gv_view *v) {
    grove_builder_open_array(b, "notSupported");
    for (size_t i = 0; i < v->notes.n; i++) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "podClique", v->notes.v[i].clique);
        grove_builder_string(b, "path", v->notes.v[i].path);
        grove_builder_string(b, "text", v->notes.v[i].text);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static grove_status write_notes(const gv_view *v, grove_buf *buf) {
    grove_status st = GROVE_OK;
    for (size_t i = 0; st == GROVE_OK && i < v->notes.n; i++) {
        const gv_view_note *n = &v->notes.v[i];
        st = gv_buf_fmt(buf, "Not supported: PodClique %s, %s: %s\n", n->clique, n->path, n->text);
    }
    return st;
}

static grove_status explain_json(grove_engine *e, const gv_set *set, const subject *about,
                                 const gv_decided *decided, grove_buf *buf, grove_error *err) {
    grove_buf plan;
    grove_doc *plan_doc = NULL, *doc = NULL;
    grove_builder *b = NULL;
    grove_buf_init(&plan, e->env);
    grove_status st = set->plan ? grove_plan_write_json(set->plan, 0, &plan, err) : GROVE_OK;
    if (st == GROVE_OK && set->plan) {
        st = grove_doc_parse_json(e->env, plan.data, (size_t)plan.len, 0, &plan_doc, err);
    }
    if (st == GROVE_OK) {
        st = grove_builder_new(e->env, &b);
    }
    if (st == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "libgrove.io/v1alpha1");
        grove_builder_string(b, "kind", "Explanation");
        st = put_waits(e, set, b,
                       grove_node_get(plan_doc ? grove_doc_root(plan_doc) : NULL, "waits"), about);
        if (decided) {
            grove_builder_open_object(b, "placement");
            grove_builder_string(b, "gang", decided->placement.gang);
            grove_builder_string(b, "verdict", verdict_word(decided->placement.verdict));
            grove_builder_string(b, "reason", decided->placement.reason);
            grove_builder_string(b, "text", decided->placement.text);
            grove_builder_close(b);
        }
        put_notes(b, &e->view);
        grove_builder_close(b);
    }
    if (st == GROVE_OK) {
        st = grove_builder_finish(b, &doc, err);
    }
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_PRETTY, buf, err);
    }
    grove_builder_free(b);
    grove_doc_unref(doc);
    grove_doc_unref(plan_doc);
    grove_buf_fini(&plan);
    return st;
}

grove_status grove_engine_explain(grove_engine *e, grove_kind kind, const char *ns,
                                  const char *name, int64_t now_ns, int32_t json, grove_buf *buf,
                                  grove_error *err) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    ns = info && !info->namespaced ? "" : ns;
    const gv_object *object = gv_store_get(e->store, (gv_kind)kind, gv_str_c(ns), gv_str_c(name));
    if (!object) {
        return gv_error(err, GROVE_E_NOT_FOUND, "there is no object %s/%s of this kind", ns, name);
    }
    gv_str key = gv_engine_key(&e->op_text, gv_str_c(ns), set_of(object));
    const gv_set *set = key.p ? gv_map_get(&e->sets, key) : NULL;
    gv_str gang = gang_of(object);
    const gv_decided *decided = gang.n ? gv_engine_decision(e, gv_str_c(ns), gang) : NULL;
    if (!set || (!set->plan && set->fault.len == 0)) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no plan was made for %s/%s", ns, name);
    }
    subject about = subject_of(object);
    grove_status st = find_notes(e, gv_str_c(ns), gang, err);
    if (st < 0) {
        return st;
    }
    if (json) {
        return explain_json(e, set, &about, decided, buf, err);
    }
    st = write_holds(e, set, now_ns, buf);
    if (st == GROVE_OK && set->plan) {
        st = explain_text(set, &about, kind, name, now_ns, buf, err);
    }
    if (st == GROVE_OK && decided && decided->placement.text[0]) {
        st = gv_buf_fmt(buf, "Placement of gang %s: %s\n%s\n", decided->placement.gang,
                        verdict_word(decided->placement.verdict), decided->placement.text);
    }
    return st == GROVE_OK ? write_notes(&e->view, buf) : st;
}
