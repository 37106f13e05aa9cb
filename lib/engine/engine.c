/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle, watches, events and completions. */
#include "engine/engine.h"
#include "engine/view_queues.h"

#include "model/labels.h"
#include "value/doc.h"

#define OUTDATED_FREE 2
#define DEFAULT_IN_FLIGHT 256
#define DEFAULT_GANGS 64
#define DEFAULT_BACKOFF_NS (INT64_C(100) * 1000 * 1000)
#define CANCELLED_WAIT_NS (INT64_C(1000) * 1000 * 1000)

/* Everything a plan reads; the order is that of the first lists. Owners come before what they own. */
static const gv_kind watched[] = {GV_KIND_CLUSTERTOPOLOGYBINDING,
                                  GV_KIND_PRIORITYCLASS,
                                  GV_KIND_RESOURCECLAIMTEMPLATE,
                                  GV_KIND_PODCLIQUESET,
                                  GV_KIND_CONTROLLERREVISION,
                                  GV_KIND_PODCLIQUESCALINGGROUP,
                                  GV_KIND_PODCLIQUE,
                                  GV_KIND_PODGANG,
                                  GV_KIND_NODE,
                                  GV_KIND_POD,
                                  GV_KIND_SERVICE,
                                  GV_KIND_SERVICEACCOUNT,
                                  GV_KIND_SECRET,
                                  GV_KIND_ROLE,
                                  GV_KIND_ROLEBINDING,
                                  GV_KIND_HPA,
                                  GV_KIND_RESOURCECLAIM,
                                  GV_KIND_COMPUTEDOMAIN,
                                  GV_KIND_KAI_PODGROUP,
                                  GV_KIND_KAI_TOPOLOGY,
                                  GV_KIND_VOLCANO_PODGROUP};

static bool dup_text(grove_env *env, const char *text, char **out) {
    if (!text) {
        return true;
    }
    size_t n = strlen(text) + 1;
    *out = gv_alloc(env, n);
    if (*out) {
        memcpy(*out, text, n);
    }
    return *out != NULL;
}

static void free_text(grove_env *env, char *text) {
    if (text) {
        gv_free(env, text, strlen(text) + 1);
    }
}

static grove_status set_options(grove_engine *e, const grove_engine_options *given,
                                grove_error *err) {
    grove_engine_options o = {0};
    if (given) {
        grove_status st = gv_struct_in(&o, sizeof o, given, given->size,
                                       offsetof(grove_engine_options, config));
        if (st < 0) {
            return gv_error(err, st, "engine options have a size this library does not know");
        }
    }
    e->flags = o.flags;
    e->seed = o.seed;
    e->max_in_flight = o.max_in_flight ? o.max_in_flight : DEFAULT_IN_FLIGHT;
    e->gangs_a_step = o.gangs_a_step ? o.gangs_a_step : DEFAULT_GANGS;
    e->resync_ns = o.resync_ns;
    e->backoff_ns = o.backoff_ns ? o.backoff_ns : DEFAULT_BACKOFF_NS;
    e->status_quiet_ns = o.status_quiet_ns;
    e->next_resync = INT64_MAX;
    if (!dup_text(e->env, o.ns, &e->ns) ||
        !dup_text(e->env, o.bind_schedulers, &e->bind_schedulers)) {
        return gv_error_nomem(err);
    }
    if (o.config) {
        e->base_config = grove_config_ref(o.config);
        return GROVE_OK;
    }
    return grove_config_new(e->env, &e->base_config) < 0 ? gv_error_nomem(err) : GROVE_OK;
}

static grove_status set_watches(grove_engine *e) {
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        gv_engine_watch w = {.kind = watched[i], .token = ++e->next_token, .wanted = true};
        if (!gv_vec_push(e->env, &e->watches, w)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

grove_status grove_engine_new(grove_env *env, const grove_engine_options *options,
                              grove_engine **out_engine, grove_error *err) {
    if (!env || !out_engine) {
        return gv_error(err, GROVE_E_INVALID, "grove_engine_new: an argument is missing");
    }
    grove_engine *e = gv_zalloc(env, sizeof *e);
    if (!e) {
        return gv_error_nomem(err);
    }
    e->env = grove_env_ref(env);
    gv_map_init(&e->sets, env);
    gv_map_init(&e->gangs_to_check, env);
    gv_map_init(&e->held, env);
    e->held_until = e->look_at = GROVE_NEVER;
    gv_map_init(&e->decided, env);
    gv_map_init(&e->condemned, env);
    gv_map_init(&e->spared, env);
    gv_map_init(&e->favoured, env);
    grove_buf_init(&e->op_text, env);
    grove_status st = set_options(e, options, err);
    if (st == GROVE_OK) {
        st = grove_store_new(env, &e->store);
    }
    if (st == GROVE_OK) {
        st = grove_planner_new(env, &e->planner);
    }
    if (st == GROVE_OK) {
        st = gv_view_init(&e->view, env, err);
    }
    if (st == GROVE_OK) {
        st = set_watches(e);
    }
    if (st == GROVE_OK) {
        st = gv_engine_refresh_config(e, err);
    }
    if (st == GROVE_OK) {
        st = gv_view_declare_queues(&e->view, e->base_config, err);
    }
    if (st < 0) {
        grove_engine_free(e);
        return err && err->status == st ? st : gv_error(err, st, "the engine could not be made");
    }
    *out_engine = e;
    return GROVE_OK;
}

static void free_in_flight(grove_engine *e, size_t i) {
    gv_in_flight *f = &e->in_flight.v[i];
    grove_plan_unref(f->plan);
    gv_free(e->env, f->ns, f->bytes);
    e->in_flight.v[i] = e->in_flight.v[--e->in_flight.n];
}

void grove_engine_free(grove_engine *e) {
    if (!e) {
        return;
    }
    grove_env *env = e->env;
    while (e->in_flight.n) {
        free_in_flight(e, e->in_flight.n - 1);
    }
    gv_vec_fini(env, &e->in_flight);
    gv_vec_fini(env, &e->watches);
    gv_engine_notices_fini(e);
    gv_engine_victims_fini(e);
    gv_engine_gangs_fini(e);
    gv_engine_sets_fini(e);
    gv_laws_fini(e);
    grove_plan_unref(e->op_plan);
    grove_buf_fini(&e->op_text);
    if (e->view.env) {
        gv_view_fini(&e->view);
    }
    grove_planner_free(e->planner);
    grove_store_free(e->store);
    grove_config_unref(e->config);
    grove_config_unref(e->base_config);
    free_text(env, e->ns);
    free_text(env, e->bind_schedulers);
    gv_free(env, e, sizeof *e);
    grove_env_unref(env);
}

/* ---- watches ---- */

/* Foreign pods take room: who places must know them. Everybody else keeps only what is managed. */
static const char *watched_labels(const grove_engine *e, gv_kind kind) {
    bool places = e->bind_schedulers != NULL && e->bind_schedulers[0] != '\0';
    return kind == GV_KIND_POD && !places ? GV_LABEL_MANAGED_BY "=" GV_MANAGER : NULL;
}

grove_status grove_engine_next_watch(grove_engine *e, const grove_watch **out_watch,
                                     grove_error *err) {
    (void)err;
    *out_watch = NULL;
    for (size_t i = 0; i < e->watches.n; i++) {
        gv_engine_watch *w = &e->watches.v[i];
        if (w->wanted) {
            bool namespaced = gv_kind_get(w->kind)->namespaced;
            bool records = grove_extract_takes((grove_kind)w->kind) != 0;
            w->wanted = false;
            e->watch = (grove_watch){.size = (uint32_t)sizeof e->watch,
                                     .kind = (grove_kind)w->kind,
                                     .token = w->token,
                                     .flags = records ? GROVE_WATCH_RECORDS : 0,
                                     .ns = namespaced ? e->ns : NULL,
                                     .label_selector = watched_labels(e, w->kind)};
            *out_watch = &e->watch;
            return GROVE_OK;
        }
    }
    return GROVE_OK;
}

static gv_engine_watch *find_watch(grove_engine *e, uint64_t token) {
    for (size_t i = 0; i < e->watches.n; i++) {
        if (e->watches.v[i].token == token) {
            return &e->watches.v[i];
        }
    }
    return NULL;
}

static bool is_synced(const grove_engine *e) {
    for (size_t i = 0; i < e->watches.n; i++) {
        if (!e->watches.v[i].synced) {
            return false;
        }
    }
    return true;
}

/* ---- events ---- */

static bool is_setting(gv_kind kind) {
    return kind == GV_KIND_CLUSTERTOPOLOGYBINDING || kind == GV_KIND_PRIORITYCLASS ||
           kind == GV_KIND_RESOURCECLAIMTEMPLATE || kind == GV_KIND_VOLCANO_QUEUE;
}

static void tell_refused(const grove_engine *e, const gv_pod *pod) {
    const char *fields[] = {"namespace", pod->head.ns, "name", pod->head.name,
                            "node",      pod->node,    NULL};
    gv_log(e->env, GROVE_LOG_WARN, "engine", "GRV5003",
           "the kubelet refused the pod: what it asked for counts as taken there for a while",
           fields);
}

static grove_status follow_room(grove_engine *e, const gv_pod *pod, gv_str uid, grove_error *err) {
    uint32_t node = 0;
    bool refused = pod && gv_pod_is_refused(pod) && pod->gang[0] &&
                   gv_view_place(&e->view, uid, &node);
    grove_status st = gv_view_sync_pod(&e->view, e->store, pod, uid, err);
    if (st == GROVE_OK && refused) {
        tell_refused(e, pod);
        st = gv_view_refuse(&e->view, pod, node, e->now, err);
    }
    return st;
}

/* A pod's room and its gang, before and after: `gang` names the one to look at. */
static grove_status follow_pod(grove_engine *e, gv_str ns, gv_str name, gv_str uid,
                               grove_error *err) {
    const gv_object *object = gv_store_get(e->store, GV_KIND_POD, ns, name);
    const gv_pod *pod = object ? &object->u.pod : NULL;
    if (pod && !gv_str_is(uid, pod->head.uid)) {
        grove_status st = gv_view_sync_pod(&e->view, e->store, NULL, uid, err);
        if (st < 0) {
            return st;
        }
        uid = gv_str_c(pod->head.uid);
    }
    grove_status st = follow_room(e, pod, uid, err);
    if (st == GROVE_OK && pod && pod->gang[0]) {
        st = gv_engine_check_gang(e, ns, gv_str_c(pod->gang));
        st = st < 0 ? st : gv_engine_check_followers(e, pod);
    }
    return st;
}

/* The part of the engine's own state that stands beside the store. */
static grove_status follow(grove_engine *e, gv_kind kind, gv_str ns, gv_str name, gv_str uid,
                           grove_error *err) {
    if (is_setting(kind)) {
        e->config_stale = true;
        return GROVE_OK;
    }
    switch (kind) {
    case GV_KIND_NODE:
        return gv_view_sync_node(&e->view, e->store, name, err);
    case GV_KIND_POD:
        return follow_pod(e, ns, name, uid, err);
    case GV_KIND_PODGANG:
        return gv_engine_check_gang(e, ns, name);
    case GV_KIND_PODCLIQUESET:
        return gv_queues_follow_set(e, ns, name, err);
    default:
        return GROVE_OK;
    }
}

static grove_status follow_object(grove_engine *e, gv_kind kind, const grove_node *object,
                                  grove_error *err) {
    const grove_node *meta = grove_node_get(object, "metadata");
    return follow(e, kind, gv_node_get_str(meta, "namespace"), gv_node_get_str(meta, "name"),
                  gv_node_get_str(meta, "uid"), err);
}

static const grove_extract *record_of(const grove_event *event) {
    bool known = event->size >= offsetof(grove_event, record) + sizeof event->record;
    return known ? event->record : NULL;
}

static grove_status on_record(grove_engine *e, const grove_event *event,
                              const grove_extract *record, grove_error *err) {
    const gv_head_facts *h = gv_extract_head(record);
    if (h == NULL) {
        return gv_error(err, GROVE_E_INVALID, "an event with a record that holds nothing");
    }
    gv_laws_event(e, h->uid, h->rv);
    grove_status st = event->type == GROVE_EVENT_DELETED
                          ? grove_store_remove_record(e->store, record, err)
                          : grove_store_put_record(e->store, record, err);
    return st < 0 ? st : follow(e, h->kind, h->ns, h->name, h->uid, err);
}

static grove_status on_object(grove_engine *e, const grove_event *event, grove_error *err) {
    gv_kind kind = (gv_kind)event->kind;
    const grove_extract *record = record_of(event);
    grove_status st;
    if (record) {
        return on_record(e, event, record, err);
    }
    const grove_node *meta = grove_node_get(event->object, "metadata");
    gv_laws_event(e, gv_node_get_str(meta, "uid"), gv_node_get_str(meta, "resourceVersion"));
    if (event->type == GROVE_EVENT_DELETED) {
        st = grove_store_remove(e->store, event->object, err);
    } else {
        st = grove_store_put(e->store, event->object_doc, event->object, err);
    }
    return st < 0 ? st : follow_object(e, kind, event->object, err);
}

/* What a relist did not show is gone, and with it its room. */
static grove_status on_synced(grove_engine *e, gv_engine_watch *w, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_laws_outside(e);
    if (w->relisting) {
        st = gv_store_relist_end(e->store, w->kind);
        if (st == GROVE_OK && (w->kind == GV_KIND_NODE || w->kind == GV_KIND_POD)) {
            st = gv_view_resync(&e->view, e->store, err);
        }
        if (st == GROVE_OK && w->kind == GV_KIND_PODCLIQUESET) {
            st = gv_queues_follow_all(e, err);
        }
        e->config_stale = e->config_stale || is_setting(w->kind);
    }
    if (st == GROVE_OK) {
        w->synced = true;
        w->relisting = false;
    }
    return st;
}

grove_status grove_engine_feed(grove_engine *e, const grove_event *event, int64_t now_ns,
                               grove_error *err) {
    gv_engine_watch *w = find_watch(e, event->token);
    e->now = now_ns;
    if (!w) {
        return GROVE_OK; /* of a watch that has ended */
    }
    e->stats.events++;
    switch (event->type) {
    case GROVE_EVENT_ADDED:
    case GROVE_EVENT_MODIFIED:
    case GROVE_EVENT_DELETED:
        return on_object(e, event, err);
    case GROVE_EVENT_BOOKMARK:
        gv_store_bookmark(e->store, w->kind, gv_str_c(event->resource_version));
        return GROVE_OK;
    case GROVE_EVENT_SYNCED:
        return on_synced(e, w, err);
    case GROVE_EVENT_GONE:
        gv_laws_outside(e);
        gv_store_relist_begin(e->store, w->kind);
        w->relisting = w->wanted = true;
        w->token = ++e->next_token;
        return GROVE_OK;
    default:
        return GROVE_OK; /* of a newer backend */
    }
}

/* ---- completions ---- */

static bool is_success(const grove_action *a, const grove_completion *c) {
    bool removes = a->verb == GROVE_VERB_DELETE || a->verb == GROVE_VERB_EVICT;
    return c->status == GROVE_OK || (removes && c->status == GROVE_E_NOT_FOUND);
}

/* An answer may lift what covered a pod: the room that it really takes was not followed meanwhile. */
static grove_status follow_uncovered(grove_engine *e, gv_kind kind, gv_str ns, gv_str name,
                                     grove_error *err) {
    if (kind == GV_KIND_PODCLIQUESET) {
        return gv_queues_follow_set(e, ns, name, err);
    }
    const gv_object *o = kind == GV_KIND_POD ? gv_store_get(e->store, kind, ns, name) : NULL;
    if (!o || (o->u.head.flags & GV_HEAD_EXPECTED) != 0) {
        return GROVE_OK;
    }
    return follow_room(e, &o->u.pod, gv_str_c(o->u.head.uid), err);
}

static grove_status on_read_back(grove_engine *e, const gv_in_flight *f, const grove_completion *c,
                                 grove_error *err) {
    gv_str ns = gv_str_c(f->ns), name = gv_str_c(f->name);
    bool answered = c->status == GROVE_OK || c->status == GROVE_E_NOT_FOUND;
    e->read_back_fails = answered ? 0 : e->read_back_fails + 1;
    e->read_back_at = answered ? e->now : e->now + gv_engine_backoff(e, e->read_back_fails);
    if (c->status == GROVE_OK && c->object) {
        gv_store_settle(e->store, f->kind, ns, name);
        grove_status st = grove_store_put(e->store, c->object_doc, c->object, err);
        return st < 0 ? st : follow_object(e, f->kind, c->object, err);
    }
    if (c->status == GROVE_E_NOT_FOUND) {
        gv_store_settle(e->store, f->kind, ns, name);
        return follow_uncovered(e, f->kind, ns, name, err);
    }
    return GROVE_OK; /* any other answer: asked again after a while */
}

/* The first failure drops the rest of the plan: the next one knows what was refused. */
static grove_status on_failure(grove_engine *e, const gv_in_flight *f, const grove_completion *c) {
    bool outdated = gv_engine_is_outdated(f->action, c);
    bool unsent = c->status == GROVE_E_CANCELLED; /* by a process that may not write now */
    gv_set *set = f->set;
    e->stats.failures++;
    set->dropped = set->dirty = true;
    /* Once or twice the next plan starts from newer state at once; then the state is slow to come. */
    set->outdated = outdated ? set->outdated + 1 : 0;
    if (set->outdated > OUTDATED_FREE) {
        set->not_before = e->now + gv_engine_backoff(e, set->outdated - OUTDATED_FREE);
    }
    if (c->status == GROVE_E_BUSY || c->status == GROVE_E_UNAVAILABLE) {
        int64_t wait = gv_engine_backoff(e, ++set->failures);
        int64_t wish = (int64_t)c->retry_after_ms * 1000 * 1000;
        set->not_before = e->now + (wish > wait ? wish : wait);
    }
    if (unsent) {
        set->not_before = e->now + CANCELLED_WAIT_NS;
    }
    const char *message = c->message && c->message[0] ? c->message : "a write failed";
    const char *fields[] = {"kind",      f->action->kind_name,
                            "namespace", f->action->ns,
                            "name",      f->action->name,
                            "status",    grove_status_name(c->status),
                            "reason",    c->reason ? c->reason : "",
                            NULL};
    bool usual = outdated || unsent;
    gv_log(e->env, usual ? GROVE_LOG_DEBUG : GROVE_LOG_WARN, "engine", "GRV5002", message, fields);
    return usual ? GROVE_OK : gv_engine_notice(e, f->plan, f->action, message);
}

static grove_status end_overlay(grove_engine *e, const grove_action *a, const grove_completion *c,
                                bool ok, grove_error *err) {
    gv_str rv = gv_node_str(gv_node_path(c->object, "metadata.resourceVersion"));
    bool whole = ok && c->object && gv_kind_of(c->object) == (gv_kind)a->kind;
    return gv_store_write_end(e->store, (gv_kind)a->kind, gv_str_c(a->ns), gv_str_c(a->name), ok,
                              whole ? c->object_doc : NULL, whole ? c->object : NULL,
                              whole ? rv : GV_STR(""), e->now, err);
}

/* Of an eviction: a budget (429), missing rights or a webhook stand against it, no outage and no old view. */
static bool is_judged(const grove_completion *c) {
    return c->status == GROVE_E_BUSY || c->status == GROVE_E_FORBIDDEN ||
           c->status == GROVE_E_REFUSED || c->status == GROVE_E_INVALID ||
           c->status == GROVE_E_UNSUPPORTED;
}

static grove_status on_write(grove_engine *e, const gv_in_flight *f, const grove_completion *c,
                             grove_error *err) {
    const grove_action *a = f->action;
    gv_set *set = f->set;
    bool ok = is_success(a, c);
    uint64_t expected = gv_laws_expected(e, a);
    grove_status st = gv_laws_answer(e, a, c);
    if (st == GROVE_OK) {
        st = gv_engine_note_answer(e, set, a, c);
    }
    if (st == GROVE_OK) {
        st = ok ? gv_engine_notice(e, f->plan, a, NULL) : on_failure(e, f, c);
    }
    if (st == GROVE_OK) {
        st = end_overlay(e, a, c, ok, err);
        gv_laws_returned(e, a, expected);
    }
    if (st == GROVE_OK) {
        st = follow_uncovered(e, (gv_kind)a->kind, gv_str_c(a->ns), gv_str_c(a->name), err);
    }
    if (st == GROVE_OK && !ok && a->verb == GROVE_VERB_BIND) {
        st = gv_engine_binding_failed(e, gv_str_c(a->ns), gv_str_c(a->name));
    }
    if (st == GROVE_OK && !ok && a->verb == GROVE_VERB_EVICT && is_judged(c)) {
        st = gv_engine_eviction_refused(e, gv_str_c(a->ns), gv_str_c(a->name));
    }
    if (st < 0) {
        return st;
    }
    bool create = a->verb == GROVE_VERB_CREATE;
    /* A clique that we thought missing: the view is older than it. */
    set->survey.due |= c->status == GROVE_E_EXISTS && (gv_kind)a->kind == GV_KIND_PODCLIQUE;
    set->failures = ok ? 0 : set->failures;
    set->outdated = ok ? 0 : set->outdated;
    set->burst += create && ok;
    set->burst_used -= create && set->burst_used > 0;
    set->in_flight--;
    return GROVE_OK;
}

static grove_status on_answer(grove_engine *e, const gv_in_flight *f, const grove_completion *c,
                              grove_error *err) {
    if (f->set && f->action) {
        return on_write(e, f, c, err);
    }
    gv_laws_outside(e);
    if (!f->set) {
        return on_read_back(e, f, c, err);
    }
    return gv_engine_surveyed(e, f->set, c);
}

grove_status grove_engine_complete(grove_engine *e, const grove_completion *completion,
                                   int64_t now_ns, grove_error *err) {
    e->now = now_ns;
    for (size_t i = 0; i < e->in_flight.n; i++) {
        gv_in_flight *f = &e->in_flight.v[i];
        if (f->token == completion->token) {
            grove_status st = on_answer(e, f, completion, err);
            if (st == GROVE_OK) {
                free_in_flight(e, i);
            }
            return st;
        }
    }
    return GROVE_OK;
}

/* ---- operations ---- */

static grove_status resync_when_due(grove_engine *e, int64_t now) {
    if (e->resync_ns <= 0) {
        return GROVE_OK;
    }
    if (e->next_resync == INT64_MAX) {
        e->next_resync = now + e->resync_ns;
    }
    if (now < e->next_resync) {
        return GROVE_OK;
    }
    e->next_resync = now + e->resync_ns;
    return grove_store_mark_all(e->store);
}

grove_status grove_engine_next_op(grove_engine *e, int64_t now_ns, const grove_op **out_op,
                                  grove_error *err) {
    bool found = false;
    e->now = now_ns;
    *out_op = NULL;
    if (!is_synced(e)) {
        return GROVE_OK; /* a plan from half a cluster would delete the other half */
    }
    grove_status st = resync_when_due(e, now_ns);
    if (st == GROVE_OK && e->config_stale) {
        st = gv_engine_refresh_config(e, err);
        st = st == GROVE_OK ? grove_store_mark_all(e->store) : st;
    }
    if (st == GROVE_OK) {
        st = gv_engine_place_gangs(e, now_ns, err);
    }
    if (st == GROVE_OK) {
        st = gv_engine_take_dirty(e);
    }
    if (st == GROVE_OK) {
        st = gv_engine_next_action(e, now_ns, &found, err);
    }
    if (st == GROVE_OK && found) {
        *out_op = &e->op;
    }
    return st;
}

int64_t grove_engine_deadline(const grove_engine *e) {
    if (!is_synced(e)) {
        return INT64_MAX;
    }
    /* More than one step's gangs, and nothing else that would ask for the next step. */
    if (gv_map_size(&e->gangs_to_check) > 0) {
        return e->now;
    }
    int64_t at = gv_engine_sets_deadline(e), gangs = gv_engine_gangs_deadline(e);
    at = gangs < at ? gangs : at;
    at = e->held_until < at ? e->held_until : at;
    return e->next_resync < at ? e->next_resync : at;
}

int32_t grove_engine_is_idle(const grove_engine *e) {
    gv_map_entry *entry;
    if (!is_synced(e) || e->in_flight.n > 0 || e->active.n > 0 || e->config_stale ||
        gv_map_size(&e->gangs_to_check) > 0) {
        return 0;
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->sets, &i));) {
        const gv_set *set = entry->value;
        if (set->dirty || set->counts_due != GROVE_NEVER) {
            return 0;
        }
    }
    return 1;
}

grove_status grove_engine_recompute(grove_engine *e) {
    e->config_stale = true;
    return grove_store_mark_all(e->store);
}

grove_status grove_engine_object(const grove_engine *e, grove_kind kind, const char *ns,
                                 const char *name, grove_doc **out_doc,
                                 const grove_node **out_object) {
    if (!e || !ns || !name || !out_doc || !out_object) {
        return GROVE_E_INVALID;
    }
    const gv_object *o = gv_store_get(e->store, (gv_kind)kind, gv_str_c(ns), gv_str_c(name));
    const grove_node *node = o ? gv_object_node(o) : NULL;
    if (!node) {
        return GROVE_E_NOT_FOUND;
    }
    *out_doc = grove_doc_ref(o->u.document.doc);
    *out_object = node;
    return GROVE_OK;
}

grove_status grove_engine_stats_get(const grove_engine *e, grove_engine_stats *out_stats) {
    if (!out_stats || out_stats->size < offsetof(grove_engine_stats, events)) {
        return GROVE_E_INVALID;
    }
    grove_engine_stats s = e->stats;
    uint32_t size = out_stats->size < sizeof s ? out_stats->size : (uint32_t)sizeof s;
    s.size = out_stats->size;
    s.sets = gv_map_size(&e->sets);
    s.in_flight = (uint32_t)e->in_flight.n;
    s.gangs_waiting = gv_engine_gangs_waiting(e);
    memcpy(out_stats, &s, size);
    return GROVE_OK;
}
