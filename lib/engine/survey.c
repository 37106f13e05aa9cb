/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the store knows all pods of a set. A replacement is named after the pod it replaces, so that a
 * second creation of it is refused. Who takes over with an old view may know neither that pod's successor
 * nor its end: the name is free again, and the index would get two pods. So before an engine creates the
 * first pod of a set that was there before it, it lists the set's pods and waits until its watches have shown
 * all of them. Once is enough: from then on it is the one that creates them. The list comes in pages, so
 * that a set of thousands of pods costs the server no more at a time than a watch does.
 */
#include "engine/engine.h"
#include "model/labels.h"
#include "value/doc.h"

#define PAGE 500
/* A page that is not answered for so long is asked for again, from the beginning of the list. */
#define PATIENCE_NS (INT64_C(30) * 1000 * 1000 * 1000)

void gv_survey_init(grove_engine *e, gv_set *set) {
    const gv_list *list = gv_store_of_set(e->store, gv_str_c(set->ns), gv_str_c(set->name));
    set->survey.since = INT64_MIN;
    grove_buf_init(&set->survey.page, e->env);
    grove_buf_init(&set->survey.lack, e->env);
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        set->survey.due = set->survey.due || o->u.head.kind == GV_KIND_PODCLIQUE;
    }
}

void gv_survey_fini(gv_set *set) {
    grove_buf_fini(&set->survey.page);
    grove_buf_fini(&set->survey.lack);
}

bool gv_engine_awaits_survey(const gv_set *set, const grove_action *a) {
    return set->survey.due && a->verb == GROVE_VERB_CREATE && (gv_kind)a->kind == GV_KIND_POD;
}

int64_t gv_survey_deadline(const gv_set *set) {
    return set->survey.asked ? set->survey.asked_at + PATIENCE_NS : INT64_MAX;
}

/* An answer that comes after all is of nobody's question. */
static void give_up_page(grove_engine *e, gv_set *set) {
    for (size_t i = 0; i < e->in_flight.n; i++) {
        const gv_in_flight *f = &e->in_flight.v[i];
        if (f->set == set && f->action == NULL) {
            e->in_flight.v[i] = e->in_flight.v[--e->in_flight.n];
            set->in_flight--;
            break;
        }
    }
    set->survey.asked = false;
    grove_buf_clear(&set->survey.page);
}

grove_status gv_engine_survey(grove_engine *e, gv_set *set, bool *out, grove_error *err) {
    gv_survey *s = &set->survey;
    if (s->asked && e->now < gv_survey_deadline(set)) {
        return GROVE_OK;
    }
    grove_buf_clear(&e->op_text);
    if (gv_buf_fmt(&e->op_text, GV_LABEL_MANAGED_BY "=" GV_MANAGER "," GV_LABEL_PART_OF "=%s",
                   set->name) < 0 ||
        !gv_vec_reserve(e->env, &e->in_flight, e->in_flight.n + 1)) {
        return gv_error_nomem(err);
    }
    if (s->asked) {
        give_up_page(e, set);
    }
    uint64_t token = ++e->next_token;
    e->in_flight.v[e->in_flight.n++] = (gv_in_flight){
        .token = token, .set = set, .kind = GV_KIND_POD};
    set->in_flight++;
    s->asked = true;
    s->asked_at = e->now;
    s->since = s->since == INT64_MIN ? e->now : s->since;
    e->op = (grove_op){.size = (uint32_t)sizeof e->op,
                       .verb = GROVE_VERB_LIST,
                       .token = token,
                       .kind = GROVE_KIND_POD,
                       .limit = PAGE,
                       .ns = set->ns,
                       .label_selector = gv_buf_view(&e->op_text).p,
                       .position = s->page.len ? s->page.data : NULL,
                       .reason = "Survey",
                       .grace_seconds = GROVE_GRACE_DEFAULT};
    gv_engine_count(e, GROVE_VERB_LIST);
    *out = true;
    return GROVE_OK;
}

/* Pods of somebody else's owner are not the set's, whatever their labels say. */
static bool is_known(const grove_engine *e, const grove_node *pod) {
    const grove_node *meta = grove_node_get(pod, "metadata");
    GV_EACH(owner, grove_node_get(meta, "ownerReferences")) {
        if (grove_node_is_true(grove_node_get(owner, "controller")) &&
            gv_store_by_uid(e->store, gv_node_get_str(owner, "uid"))) {
            return gv_store_by_uid(e->store, gv_node_get_str(meta, "uid")) != NULL;
        }
    }
    return true;
}

static gv_str first_unknown(const grove_engine *e, const grove_node *list) {
    GV_EACH(pod, grove_node_get(list, "items")) {
        if (!is_known(e, pod)) {
            return gv_node_get_str(grove_node_get(pod, "metadata"), "name");
        }
    }
    return (gv_str){"", 0};
}

static bool keep(grove_buf *buf, gv_str text) {
    grove_buf_clear(buf);
    return gv_buf_str(buf, text) == GROVE_OK;
}

/* Begins again after a while: the watches are to show that pod, or the cluster is to answer. */
static void put_off(grove_engine *e, gv_set *set) {
    grove_buf_clear(&set->survey.page);
    set->dropped = set->dirty = true;
    set->not_before = e->now + gv_engine_backoff(e, ++set->outdated);
}

grove_status gv_engine_surveyed(grove_engine *e, gv_set *set, const grove_completion *c) {
    gv_survey *s = &set->survey;
    /* Where nothing may be listed there is nobody to ask. */
    bool cannot = c->status == GROVE_E_UNSUPPORTED || c->status == GROVE_E_FORBIDDEN;
    bool shown = c->status == GROVE_OK && c->object;
    gv_str unknown = shown ? first_unknown(e, c->object) : (gv_str){"", 0};
    gv_str next = gv_node_get_str(grove_node_get(c->object, "metadata"), "continue");
    if (!keep(&s->lack, unknown) || (shown && unknown.n == 0 && !keep(&s->page, next))) {
        return GROVE_E_NOMEM; /* the answer is told again */
    }
    s->asked = false;
    s->failed = shown || cannot ? GROVE_OK : c->status < 0 ? c->status : GROVE_E_INTERNAL;
    set->in_flight--;
    if (s->failed < 0 || unknown.n > 0) {
        put_off(e, set);
    } else if (cannot || next.n == 0) {
        s->due = false;
        s->since = INT64_MIN;
        set->outdated = 0;
    }
    return GROVE_OK;
}
