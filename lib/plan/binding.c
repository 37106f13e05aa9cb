/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a ClusterTopologyBinding: each scheduler that has topology objects of its own gets one with the
 * binding's levels, unless the binding refers to one that somebody else manages; that one is only looked
 * at. Levels of such an object can never be changed in place: it is deleted, and made anew once it is gone.
 */
#include "plan/binding.h"

#include "base/hash.h"
#include "plan/status.h"
#include "value/doc.h"
#include "value/scalar.h"

/* How long an object of ours may take to disappear before the status says that it is missing. */
#define VANISH_NS (30 * GV_NS_PER_S)

/* An entry of status.schedulerTopologyStatuses. */
typedef struct entry {
    gv_str scheduler, reference, message;
    int64_t generation; /* of the object referred to; 0: none was seen, or it is ours */
    bool in_sync;
} entry;

typedef struct look {
    gv_work *w;
    const gv_object *binding;
    const grove_node *spec;
    entry *entries;
    uint32_t n;
    bool unserved; /* some scheduler referred to has no topology objects here */
    bool failed;   /* what we keep ourselves could not be brought in order */
    bool changing; /* an object of ours is being replaced: the status of before still tells most */
} look;

static gv_str name_of(const look *k) {
    return gv_str_c(k->binding->u.head.name);
}

static entry *add_entry(look *k, gv_str scheduler, gv_str reference) {
    entry *e = &k->entries[k->n++];
    *e = (entry){.scheduler = scheduler, .reference = reference, .message = {"", 0}};
    return e;
}

/* ---- an object of somebody else ---- */

static const grove_node *reference_to(const look *k, gv_str scheduler) {
    const grove_node *list = grove_node_get(k->spec, "schedulerTopologyBindings");
    for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
        if (gv_str_eq(gv_get_str(r, "schedulerName"), scheduler)) {
            return r;
        }
    }
    return NULL;
}

static bool look_at_theirs(look *k, const gv_adapter *a, gv_str name) {
    gv_work *w = k->w;
    const gv_object *o = gv_store_get(w->store, a->topology_kind, GV_STR(""), name);
    const char *kind = gv_kind_get(a->topology_kind)->name;
    entry *e = add_entry(k, gv_str_c(a->profile), name);
    const char *reason = "TopologyMissing";
    if (o == NULL) {
        e->message = gv_text(w, "%s %.*s does not exist", kind, ARG_STR(name));
    } else {
        e->generation = o->u.head.generation;
        e->in_sync = a->topology_fits(gv_object_node(k->binding), gv_object_node(o));
        reason = "TopologyDiffers";
        e->message = e->in_sync ? (gv_str){"", 0}
                                : gv_text(w, "%s %.*s has other levels than this binding", kind,
                                          ARG_STR(name));
    }
    return e->in_sync ||
           gv_wait_add(w, GV_KIND_CLUSTERTOPOLOGYBINDING, name_of(k), reason, a->topology_kind,
                       name, GV_TIME_NONE, GROVE_NEVER, "%.*s", ARG_STR(e->message));
}

/* ---- one of ours ---- */

static grove_status create(look *k, const gv_adapter *a, entry *e) {
    gv_work *w = k->w;
    const char *kind = gv_kind_get(a->topology_kind)->name;
    const grove_refusal *r = gv_refusal_of(w, GROVE_VERB_CREATE, a->topology_kind, name_of(k));
    if (r != NULL) {
        k->failed = true;
        e->in_sync = false;
        e->message = gv_text(w, "%s %.*s was refused: %s", kind, ARG_STR(name_of(k)),
                             r->message ? r->message : "");
        if (gv_is_refused(w, GROVE_VERB_CREATE, a->topology_kind, name_of(k))) {
            return gv_wait_add(w, GV_KIND_CLUSTERTOPOLOGYBINDING, name_of(k), "CreateRefused",
                               a->topology_kind, name_of(k), r->at_ns, r->retry_ns, "%.*s",
                               ARG_STR(e->message))
                       ? GROVE_OK
                       : gv_work_nomem(w);
        }
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_CREATE, a->topology_kind, name_of(k), GV_ORDER_CREATE,
                             "Missing", "create %s %.*s", kind, ARG_STR(name_of(k)));
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    a->build_topology(gv_object_node(k->binding), gv_str_c(k->binding->u.head.uid), w->b);
    return gv_act_finish_body(w, act);
}

static int64_t deleted_at(const gv_work *w, const gv_object *o) {
    gv_str text = gv_get_str(grove_node_get(gv_object_node(o), "metadata"), "deletionTimestamp");
    int64_t at = w->now;
    return text.n > 0 && gv_time_parse(text, &at, NULL) == GROVE_OK ? at : w->now;
}

/* It was deleted, by us or somebody else: what takes its place is made when it is gone. */
static grove_status await_end(look *k, const gv_adapter *a, const gv_object *o, entry *e) {
    gv_work *w = k->w;
    int64_t since = deleted_at(w, o), until = since + VANISH_NS;
    const char *kind = gv_kind_get(a->topology_kind)->name;
    k->changing = k->changing || w->now < until;
    k->failed = k->failed || w->now >= until;
    e->in_sync = false;
    e->message = gv_text(w, "%s %.*s is still being deleted", kind, ARG_STR(name_of(k)));
    return gv_wait_add(w, GV_KIND_CLUSTERTOPOLOGYBINDING, name_of(k), "NameInDeletion",
                       a->topology_kind, name_of(k), since, w->now < until ? until : GROVE_NEVER,
                       "%.*s", ARG_STR(e->message))
               ? GROVE_OK
               : gv_work_nomem(w);
}

static grove_status keep_ours(look *k, const gv_adapter *a) {
    gv_work *w = k->w;
    const gv_object *o = gv_store_get(w->store, a->topology_kind, GV_STR(""), name_of(k));
    const char *kind = gv_kind_get(a->topology_kind)->name;
    entry *e = add_entry(k, gv_str_c(a->profile), name_of(k));
    e->in_sync = true;
    if (o == NULL) {
        return create(k, a, e);
    }
    if (gv_object_is_terminating(o)) {
        return await_end(k, a, o, e);
    }
    if (strcmp(o->u.head.owner_uid, k->binding->u.head.uid) != 0) {
        k->failed = true;
        e->in_sync = false;
        e->message = gv_text(w, "%s %.*s exists and is not controlled by this binding", kind,
                             ARG_STR(name_of(k)));
        return gv_wait_add(w, GV_KIND_CLUSTERTOPOLOGYBINDING, name_of(k), "NameTaken",
                           a->topology_kind, name_of(k), GV_TIME_NONE, GROVE_NEVER, "%.*s",
                           ARG_STR(e->message))
                   ? GROVE_OK
                   : gv_work_nomem(w);
    }
    if (a->topology_fits(gv_object_node(k->binding), gv_object_node(o))) {
        return GROVE_OK;
    }
    k->changing = true;
    return gv_act_delete(w, o, GV_ORDER_DELETE, "Differs", NULL,
                         GV_STR("its levels cannot be changed in place"));
}

/* ---- every scheduler ---- */

/* The adapter with topology objects whose profile name comes next; NULL: that was the last. */
static const gv_adapter *next_adapter(const grove_config *config, gv_str after) {
    const gv_adapter *best = NULL;
    for (size_t i = 0; i < config->schedulers.n; i++) {
        const gv_adapter *a = gv_adapter_of(config, gv_str_c(config->schedulers.v[i].name));
        bool later = a != NULL && a->topology_kind != GV_KIND_NONE &&
                     gv_str_cmp(gv_str_c(a->profile), after) > 0;
        if (later && (best == NULL || strcmp(a->profile, best->profile) < 0)) {
            best = a;
        }
    }
    return best;
}

static grove_status look_at_all(look *k) {
    const grove_config *config = k->w->request->config;
    const grove_node *list = grove_node_get(k->spec, "schedulerTopologyBindings");
    gv_str after = {"", 0};
    for (const gv_adapter *a; (a = next_adapter(config, after)) != NULL;) {
        after = gv_str_c(a->profile);
        const grove_node *r = reference_to(k, after);
        grove_status status = GROVE_OK;
        if (r == NULL) {
            status = keep_ours(k, a);
        } else if (!look_at_theirs(k, a, gv_get_str(r, "topologyReference"))) {
            status = gv_work_nomem(k->w);
        }
        if (status < 0) {
            return status;
        }
    }
    for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
        gv_str scheduler = gv_get_str(r, "schedulerName");
        const gv_adapter *a = gv_adapter_of(config, scheduler);
        if (a != NULL && a->topology_kind != GV_KIND_NONE) {
            continue;
        }
        k->unserved = true;
        entry *e = add_entry(k, scheduler, gv_get_str(r, "topologyReference"));
        e->message = a != NULL
                         ? gv_text(k->w, "scheduler %.*s has no topology objects",
                                   ARG_STR(scheduler))
                         : gv_text(k->w, "scheduler %.*s is not configured", ARG_STR(scheduler));
    }
    return GROVE_OK;
}

/* ---- status ---- */

static gv_condition drift(const look *k) {
    gv_condition c = {.type = GV_COND_TOPOLOGY_DRIFT, .generation = true, .absent = k->n == 0};
    const entry *bad = NULL;
    for (uint32_t i = 0; i < k->n && bad == NULL; i++) {
        bad = k->entries[i].in_sync ? NULL : &k->entries[i];
    }
    c.reason = GV_REASON_IN_SYNC;
    c.message = GV_STR("the topology of every scheduler has the levels of this binding");
    if (bad != NULL) {
        c.status = k->unserved ? GV_UNSURE : GV_TRUE;
        c.reason = k->unserved ? GV_REASON_BACKEND_TOPOLOGY_NOT_FOUND : GV_REASON_DRIFT;
        c.message = bad->message;
    }
    return c;
}

static bool entry_stands(const grove_node *live, const entry *e) {
    return gv_str_eq(gv_get_str(live, "schedulerName"), e->scheduler) &&
           gv_str_eq(gv_get_str(live, "topologyReference"), e->reference) &&
           gv_str_eq(gv_get_str(live, "message"), e->message) &&
           gv_node_get_bool(live, "inSync") == e->in_sync &&
           gv_opt_or(gv_get_int(live, "schedulerBackendTopologyObservedGeneration"), 0) ==
               e->generation;
}

static void write_entries(const look *k, gv_delta *d, const grove_node *live) {
    const grove_node *list = grove_node_get(live, "schedulerTopologyStatuses");
    bool same = grove_node_size(list) == k->n;
    const grove_node *at = grove_node_first(list);
    for (uint32_t i = 0; i < k->n && same; i++) {
        same = entry_stands(at, &k->entries[i]);
        at = grove_node_next(list, at);
    }
    if (same) {
        return;
    }
    if (k->n == 0) {
        gv_delta_away(d, live, "schedulerTopologyStatuses");
        return;
    }
    gv_delta_touch(d);
    grove_builder_open_array(d->b, "schedulerTopologyStatuses");
    for (uint32_t i = 0; i < k->n; i++) {
        const entry *e = &k->entries[i];
        grove_builder_open_object(d->b, NULL);
        grove_builder_stringn(d->b, "schedulerName", e->scheduler.p, e->scheduler.n);
        grove_builder_stringn(d->b, "topologyReference", e->reference.p, e->reference.n);
        grove_builder_bool(d->b, "inSync", e->in_sync);
        if (e->generation > 0) {
            grove_builder_int64(d->b, "schedulerBackendTopologyObservedGeneration", e->generation);
        }
        if (e->message.n > 0) {
            grove_builder_stringn(d->b, "message", e->message.p, e->message.n);
        }
        grove_builder_close(d->b);
    }
    grove_builder_close(d->b);
}

/* Told when the answer becomes yes or no, never when it becomes unknown. */
static grove_status tell(const look *k, const gv_memo *memo, const gv_condition *c) {
    const grove_node *stood = gv_condition_find(memo->conditions, c->type);
    gv_str before = gv_get_str(stood, "status");
    if (c->absent || c->status == GV_UNSURE ||
        gv_str_is(before, c->status == GV_TRUE ? "True" : "False")) {
        return GROVE_OK;
    }
    bool drifts = c->status == GV_TRUE;
    return gv_act_event(k->w, k->binding, drifts,
                        drifts ? GV_EVENT_TOPOLOGY_DRIFT : GV_EVENT_TOPOLOGY_IN_SYNC, c->message);
}

static grove_status write_status(look *k, gv_memo *memo) {
    gv_work *w = k->w;
    int64_t generation = k->binding->u.head.generation;
    gv_condition c = drift(k);
    uint64_t sig = gv_sig_int(k->n + 1, (k->failed ? 1 : 0) | (k->unserved ? 2 : 0));
    sig = gv_sig_int(sig, generation);
    for (uint32_t i = 0; i < k->n; i++) {
        const entry *e = &k->entries[i];
        sig = gv_sig_text(gv_sig_text(sig, e->scheduler), e->reference);
        sig = gv_sig_text(sig, e->message);
        sig = gv_sig_int(sig, e->generation * 2 + (e->in_sync ? 1 : 0));
    }
    /* Shortcut: nothing that the status is made of has changed. */
    if (memo->status_sig == (sig | 1u)) {
        return GROVE_OK;
    }
    gv_delta d;
    gv_status_begin(w, &d);
    if (!k->failed) {
        gv_delta_int(&d, memo->status, "observedGeneration", generation);
    }
    write_entries(k, &d, memo->status);
    if (!gv_delta_conditions(w, &d, memo, generation, &c, 1)) {
        return gv_work_nomem(w);
    }
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, k->binding, memo, sig | 1u);
    return status == GROVE_OK && w->acts.n > before ? tell(k, memo, &c) : status;
}

grove_status gv_step_binding(gv_work *w, const gv_object *binding) {
    const grove_node *spec = grove_node_get(gv_object_node(binding), "spec");
    size_t most = w->request->config->schedulers.n +
                  grove_node_size(grove_node_get(spec, "schedulerTopologyBindings"));
    look k = {.w = w, .binding = binding, .spec = spec};
    k.entries = gv_arena_array(&w->arena, entry, most + 1);
    gv_memo *memo = gv_memory_of(w, binding);
    if (k.entries == NULL || memo == NULL) {
        return gv_work_nomem(w);
    }
    grove_status status = look_at_all(&k);
    return status == GROVE_OK && !k.changing ? write_status(&k, memo) : status;
}
