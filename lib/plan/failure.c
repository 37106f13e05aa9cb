/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "failures": where a failure policy is written, the pods of a unit (a standalone clique, a replica of a
 * scaling group) stand and fall together. One that failed is noted first, as an annotation on the PodClique or
 * the scaling group: the unit's next incarnation. Pods carry theirs as a label, so that who belongs to a former
 * one is known without a clock, after whatever restart; they go, and the next ones come after the back-off.
 */
#include "base/hash.h"
#include "plan/status.h"
#include "value/scalar.h"

#define MOST_BACKOFF_NS (600 * GV_NS_PER_S)
/* Entries of replicas beyond this are not kept: an annotation is no place for thousands of them. */
#define MOST_ENTRIES 1024u

typedef struct entry {
    int64_t key; /* replica of the group; 0 of a clique */
    int64_t incarnation, restarts;
    gv_str revision; /* of the templates: a new one has its restarts before it */
    int64_t at;
    bool failed;
} entry;

typedef struct carrier {
    gv_kind kind;
    gv_object *obj;
    const gv_memo *memo;
    const gv_failure_policy *policy;
    entry *entries; /* those that stand, and room for one more for each unit */
    uint32_t n;
    int64_t n_failed; /* units that are not restarted any more */
    bool changed;
} carrier;

typedef struct unit {
    carrier *on;
    gv_work_clique **cliques;
    uint32_t n;
    int64_t key;
    entry now;
} unit;

/* ---- the annotation ---- */

static gv_str take(gv_str *rest, char mark) {
    const char *at = rest->n ? memchr(rest->p, mark, rest->n) : NULL;
    gv_str head = {rest->p, at ? (size_t)(at - rest->p) : rest->n};
    size_t gone = head.n + (at ? 1 : 0);
    *rest = (gv_str){rest->p + gone, rest->n - gone};
    return head;
}

static bool take_number(gv_str *rest, int64_t *out) {
    return gv_str_int64(take(rest, '/'), out) && *out >= 0 && *out <= INT32_MAX;
}

static bool read_entry(gv_str text, entry *out) {
    *out = (entry){0};
    bool ok = take_number(&text, &out->key) && take_number(&text, &out->incarnation) &&
              take_number(&text, &out->restarts);
    out->revision = take(&text, '/');
    gv_str at = take(&text, '/');
    out->failed = gv_str_is(text, "Failed");
    return ok && gv_time_parse(at, &out->at, NULL) == GROVE_OK;
}

static gv_str text_of(const carrier *c) {
    const grove_node *meta = grove_node_get(c->memo->node, "metadata");
    return gv_get_str(grove_node_get(meta, "annotations"), GV_ANNOTATION_RESTARTS);
}

/* What cannot be read is left out: somebody wrote it by hand. */
static bool read_entries(gv_work *w, carrier *c, uint32_t more) {
    gv_str rest = text_of(c);
    uint32_t n = more + 1;
    for (size_t i = 0; i < rest.n; i++) {
        n += rest.p[i] == ';' ? 1 : 0;
    }
    c->entries = gv_arena_array(&w->arena, entry, n + 1);
    while (c->entries != NULL && rest.n > 0) {
        if (read_entry(take(&rest, ';'), &c->entries[c->n])) {
            c->n++;
        }
    }
    return c->entries != NULL;
}

static entry *find_entry(carrier *c, int64_t key) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->entries[i].key == key) {
            return &c->entries[i];
        }
    }
    return NULL;
}

static bool print_entries(gv_work *w, const carrier *c, grove_buf *out) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->n && i < MOST_ENTRIES; i++) {
        const entry *e = &c->entries[i];
        gv_str at = gv_time_text(w, e->at);
        ok = gv_buf_fmt(out, "%s%lld/%lld/%lld/%.*s/%.*s/%s", i ? ";" : "", (long long)e->key,
                        (long long)e->incarnation, (long long)e->restarts, ARG_STR(e->revision),
                        ARG_STR(at), e->failed ? "Failed" : "Restarted") == GROVE_OK;
    }
    return ok;
}

/* `text` "": away. */
static grove_status write_annotation(gv_work *w, const carrier *c, gv_str text) {
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, c->kind, gv_str_c(c->obj->u.head.name),
                             GV_ORDER_PATCH, "FailurePolicy", "note the restarts of %s %s",
                             gv_kind_get(c->kind)->name, c->obj->u.head.name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(c->obj->u.head.uid);
    act->rv = gv_str_c(c->obj->u.head.rv);
    grove_builder_open_object(w->b, NULL);
    grove_builder_open_object(w->b, "metadata");
    grove_builder_open_object(w->b, "annotations");
    if (text.n > 0) {
        grove_builder_stringn(w->b, GV_ANNOTATION_RESTARTS, text.p, text.n);
    } else {
        grove_builder_null(w->b, GV_ANNOTATION_RESTARTS);
    }
    grove_builder_close(w->b);
    grove_builder_close(w->b);
    grove_builder_close(w->b);
    return gv_act_finish_body(w, act);
}

static grove_status write_entries(gv_work *w, const carrier *c) {
    grove_buf text;
    grove_buf_init(&text, w->env);
    grove_status status = print_entries(w, c, &text) ? write_annotation(w, c, gv_buf_view(&text))
                                                     : gv_work_nomem(w);
    grove_buf_fini(&text);
    return status;
}

/* ---- what failed ---- */

static bool has_failed(const gv_pod *p, int64_t incarnation) {
    const uint32_t leaving = p->head.flags & GV_HEAD_TERMINATING;
    return (int64_t)p->incarnation >= incarnation &&
           (p->phase == GV_POD_PHASE_FAILED || (p->flags & GV_POD_ERRONEOUS) != 0 ||
            (leaving != 0 && (p->flags & GV_POD_DISRUPTED) != 0));
}

static bool is_alive(const gv_work_clique *c) {
    return c->memo != NULL && !c->dying && !c->deletes;
}

static const gv_pod *first_failed(const unit *u) {
    for (uint32_t k = 0; k < u->n; k++) {
        const gv_work_clique *c = u->cliques[k];
        bool updated = c->progress.set && !c->progress.ended;
        for (uint32_t i = 0; i < c->n_pods + c->n_gone && is_alive(c) && !updated; i++) {
            const gv_pod *p = i < c->n_pods ? c->pods[i] : c->gone[i - c->n_pods];
            if (has_failed(p, u->now.incarnation)) {
                return p;
            }
        }
    }
    return NULL;
}

static int64_t latest_incarnation(const unit *u) {
    int64_t latest = u->now.incarnation;
    for (uint32_t k = 0; k < u->n; k++) {
        const gv_work_clique *c = u->cliques[k];
        for (uint32_t i = 0; i < c->n_pods + c->n_gone; i++) {
            const gv_pod *p = i < c->n_pods ? c->pods[i] : c->gone[i - c->n_pods];
            latest = (int64_t)p->incarnation > latest ? (int64_t)p->incarnation : latest;
        }
    }
    return latest;
}

/* Of the templates of all its cliques, as text that needs no quotes. */
static gv_str revision_of(gv_work *w, const unit *u) {
    uint64_t h = GV_FNV_START;
    for (uint32_t k = 0; k < u->n; k++) {
        gv_str hash = u->cliques[k]->want->expected_hash;
        h = gv_fnv1a(h, hash.p, hash.n);
    }
    return gv_text(w, "%08x%08x", (unsigned)(h >> 32), (unsigned)(h & UINT32_MAX));
}

/* ---- one unit ---- */

/* Notes it, and touches nothing else of the unit before that stands. */
static grove_status note_failure(gv_work *w, unit *u, const gv_pod *p) {
    carrier *c = u->on;
    int64_t most = c->policy->most;
    bool over = most >= 0 && u->now.restarts >= most;
    entry *e = find_entry(c, u->key);
    e = e != NULL ? e : &c->entries[c->n++];
    *e = (entry){.key = u->key,
                 .incarnation = latest_incarnation(u) + 1,
                 .restarts = u->now.restarts + (over ? 0 : 1),
                 .revision = u->now.revision,
                 .at = w->now,
                 .failed = over};
    c->changed = true;
    for (uint32_t k = 0; k < u->n; k++) {
        u->cliques[k]->noted = true;
    }
    gv_str text = over ? gv_text(w, "pod %s failed, and no restart is left of %lld", p->head.name,
                                 (long long)most)
                       : gv_text(w, "pod %s failed: all pods that go with it are made anew",
                                 p->head.name);
    return gv_act_event(w, c->obj, true, over ? "RestartsExhausted" : "UnitRestarted", text);
}

static grove_status remove_former(gv_work *w, const unit *u) {
    for (uint32_t k = 0; k < u->n; k++) {
        gv_work_clique *c = u->cliques[k];
        for (uint32_t i = 0; i < c->n_pods && is_alive(c); i++) {
            const gv_pod *p = c->pods[i];
            bool former = (int64_t)p->incarnation < u->now.incarnation && p->head.uid[0] != '\0';
            grove_status status = former ? gv_pod_remove(w, c, p, "FailurePolicy",
                                                         "a pod that goes with it failed")
                                         : GROVE_OK;
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}

/* Doubled with each restart, up to ten minutes. */
static int64_t backoff_of(const gv_failure_policy *policy, int64_t restarts) {
    int64_t ns = policy->backoff;
    for (int64_t i = 1; i < restarts && ns < MOST_BACKOFF_NS; i++) {
        ns *= 2;
    }
    int64_t most = policy->backoff < MOST_BACKOFF_NS ? MOST_BACKOFF_NS : policy->backoff;
    return ns < most ? ns : most;
}

static grove_status await(gv_work *w, const unit *u, const char *reason, int64_t until,
                          gv_str text) {
    return gv_wait_say(w, u->on->kind, gv_str_c(u->on->obj->u.head.name), reason, GV_KIND_NONE,
                       GV_STR(""), u->now.at, until, text)
               ? GROVE_OK
               : gv_work_nomem(w);
}

/* What stands of it, under the templates of today. */
static bool recall(gv_work *w, unit *u) {
    const entry *live = find_entry(u->on, u->key);
    gv_str revision = revision_of(w, u);
    u->now = (entry){.key = u->key, .revision = revision};
    if (live != NULL) {
        bool same = gv_str_eq(live->revision, revision);
        u->now.incarnation = live->incarnation;
        u->now.restarts = same ? live->restarts : 0;
        u->now.failed = same && live->failed;
        u->now.at = live->at;
    }
    for (uint32_t k = 0; k < u->n; k++) {
        u->cliques[k]->incarnation = u->now.incarnation;
    }
    return revision.n > 0;
}

/* No pod of the unit is made in this plan: for a time, or for good. */
static grove_status hold(gv_work *w, const unit *u) {
    int64_t until = u->now.at + backoff_of(u->on->policy, u->now.restarts);
    bool waits = !u->now.failed && u->now.restarts > 0 && until > w->now;
    for (uint32_t k = 0; k < u->n; k++) {
        u->cliques[k]->paused = waits;
        u->cliques[k]->refused = u->cliques[k]->refused || u->now.failed;
    }
    if (u->now.failed) {
        u->on->n_failed++;
        return await(w, u, "UnitFailed", GROVE_NEVER,
                     gv_text(w, "the restarts of replica %lld are used up: it stays away",
                             (long long)u->key));
    }
    return !waits ? GROVE_OK
                  : await(w, u, "FailureBackOff", until,
                          gv_text(w, "the pods of replica %lld are made anew after restart %lld",
                                  (long long)u->key, (long long)u->now.restarts));
}

static grove_status sync_unit(gv_work *w, unit *u) {
    if (!recall(w, u)) {
        return gv_work_nomem(w);
    }
    const gv_pod *p = u->now.failed ? NULL : first_failed(u);
    if (p != NULL) {
        return note_failure(w, u, p);
    }
    grove_status status = remove_former(w, u);
    return status < 0 ? status : hold(w, u);
}

/* ---- all units ---- */

static grove_status end_carrier(gv_work *w, carrier *c, bool *out_writes) {
    if (!c->changed) {
        return GROVE_OK;
    }
    *out_writes = true;
    return write_entries(w, c);
}

/* Without a policy nothing is remembered: one that is written later begins anew. */
static grove_status forget(gv_work *w, carrier *c, bool *out_writes) {
    if (text_of(c).n == 0) {
        return GROVE_OK;
    }
    *out_writes = true;
    return write_annotation(w, c, GV_STR(""));
}

/* Its annotation is about to be written, or is not known to stand: nothing is made by what it says. */
static bool is_open(const gv_object *o, bool writes) {
    return writes || (o->u.head.flags & GV_HEAD_EXPECTED) != 0;
}

static grove_status sync_clique(gv_work *w, gv_work_clique *c) {
    const gv_template *t = w->want->replicas[c->want->replica].t;
    carrier on = {.kind = GV_KIND_PODCLIQUE,
                  .obj = c->obj,
                  .memo = c->memo,
                  .policy = &t->pcs.cliques[c->want->clique].failure};
    if (!is_alive(c)) {
        return GROVE_OK;
    }
    if (is_open(c->obj, c->writes)) {
        c->paused = on.policy->set;
        return GROVE_OK;
    }
    if (!on.policy->set) {
        return forget(w, &on, &c->writes);
    }
    if (!read_entries(w, &on, 1)) {
        return gv_work_nomem(w);
    }
    unit u = {.on = &on, .cliques = &c, .n = 1};
    grove_status status = sync_unit(w, &u);
    c->n_failed = on.n_failed;
    return status < 0 ? status : end_carrier(w, &on, &c->writes);
}

static grove_status sync_replica(gv_work *w, const gv_work_group *g, carrier *on, int64_t r,
                                 bool open) {
    unit u = {.on = on, .key = r, .n = g->want->n_members};
    u.cliques = gv_arena_array(&w->arena, gv_work_clique *, g->want->n_members + 1);
    if (u.cliques == NULL) {
        return gv_work_nomem(w);
    }
    for (uint32_t k = 0; k < u.n; k++) {
        u.cliques[k] = &w->cliques[gv_want_member(g->want, r, k)];
        u.cliques[k]->paused = open;
    }
    return open ? GROVE_OK : sync_unit(w, &u);
}

static grove_status sync_group(gv_work *w, gv_work_group *g) {
    const gv_template *t = w->want->replicas[g->want->replica].t;
    carrier on = {.kind = GV_KIND_PODCLIQUESCALINGGROUP,
                  .obj = g->obj,
                  .memo = g->memo,
                  .policy = &t->pcs.groups[g->want->config].failure};
    if (g->memo == NULL || g->dying || g->deletes) {
        return GROVE_OK;
    }
    bool open = is_open(g->obj, g->writes);
    if (!on.policy->set) {
        return open ? GROVE_OK : forget(w, &on, &g->writes);
    }
    if (!read_entries(w, &on, (uint32_t)g->want->replicas)) {
        return gv_work_nomem(w);
    }
    grove_status status = GROVE_OK;
    for (int64_t r = 0; r < g->want->replicas && status == GROVE_OK; r++) {
        status = sync_replica(w, g, &on, r, open);
    }
    g->n_failed = on.n_failed;
    return status < 0 ? status : end_carrier(w, &on, &g->writes);
}

grove_status gv_step_failures(gv_work *w) {
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < w->want->n_cliques && status == GROVE_OK && !w->suspended; i++) {
        gv_work_clique *c = &w->cliques[i];
        status = c->want->group == GV_STANDALONE ? sync_clique(w, c) : GROVE_OK;
    }
    for (uint32_t i = 0; i < w->want->n_groups && status == GROVE_OK && !w->suspended; i++) {
        status = sync_group(w, &w->groups[i]);
    }
    return status;
}

/* ---- told ---- */

gv_condition gv_failed_condition(gv_work *w, int64_t n_failed) {
    return (gv_condition){
        .type = GV_COND_FAILED,
        .status = GV_TRUE,
        .absent = n_failed == 0,
        .reason = "RestartsExhausted",
        .message = n_failed == 0
                       ? GV_STR("")
                       : gv_text(w,
                                 "restarts are used up (%lld failed for good); a new template, or "
                                 "taking the annotation " GV_ANNOTATION_RESTARTS
                                 " away, begins anew",
                                 (long long)n_failed)};
}
