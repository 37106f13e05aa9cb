/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From dirty sets to operations: one plan a set at a time, its actions in order, creates ramping up, and
 * a pause after failures. A set is planned again only when the last plan's operations have ended, so
 * that a burst of answers costs one plan and not one each. Statuses that may wait are left out of a plan
 * until the host's quiet time is over; the plan that is made then writes what is true by then.
 */
#include "engine/engine.h"

#define BACKOFF_MAX_NS (INT64_C(60) * 1000 * 1000 * 1000)
/* A plan whose operations hang does not hold up its set for longer. */
#define REPLAN_AFTER_NS (INT64_C(5) * 1000 * 1000 * 1000)
#define FIRST_BURST 1

static gv_str set_key(grove_buf *buf, const gv_set *set) {
    return gv_engine_key(buf, gv_str_c(set->ns), gv_str_c(set->name));
}

gv_str gv_engine_key(grove_buf *buf, gv_str ns, gv_str name) {
    grove_buf_clear(buf);
    if (gv_buf_str(buf, ns) < 0 || gv_buf_char(buf, '/') < 0 || gv_buf_str(buf, name) < 0) {
        return (gv_str){NULL, 0};
    }
    return gv_buf_view(buf);
}

static void free_set(grove_engine *e, gv_set *set) {
    gv_engine_refusals_fini(e, set);
    gv_laws_set_fini(e, set);
    gv_survey_fini(set);
    grove_buf_fini(&set->fault);
    grove_plan_unref(set->plan);
    gv_free(e->env, set, set->bytes);
}

gv_set *gv_engine_set(grove_engine *e, gv_str ns, gv_str name) {
    gv_str key = gv_engine_key(&e->op_text, ns, name);
    gv_set *set = key.p ? gv_map_get(&e->sets, key) : NULL;
    if (set || !key.p) {
        return set;
    }
    size_t bytes = sizeof *set + ns.n + name.n + 2;
    set = gv_zalloc(e->env, bytes);
    if (!set) {
        return NULL;
    }
    set->bytes = bytes;
    set->ns = (char *)(set + 1);
    set->name = set->ns + ns.n + 1;
    memcpy(set->ns, ns.p, ns.n);
    memcpy(set->name, name.p, name.n);
    set->deadline = set->counts_due = GROVE_NEVER;
    gv_survey_init(e, set);
    grove_buf_init(&set->fault, e->env);
    gv_map_init(&set->refused, e->env);
    if (!gv_map_put(&e->sets, key, set)) {
        free_set(e, set);
        return NULL;
    }
    return set;
}

void gv_engine_sets_fini(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->sets, &i));) {
        free_set(e, entry->value);
    }
    gv_map_fini(&e->sets);
    gv_vec_fini(e->env, &e->active);
    gv_vec_fini(e->env, &e->refusals);
}

grove_status gv_engine_take_dirty(grove_engine *e) {
    const char *ns, *name;
    while (grove_store_next_dirty(e->store, &ns, &name)) {
        gv_set *set = gv_engine_set(e, gv_str_c(ns), gv_str_c(name));
        if (!set) {
            grove_store_mark(e->store, ns, name); /* a mark that was there needs no memory */
            return GROVE_E_NOMEM;
        }
        set->dirty = true;
    }
    return GROVE_OK;
}

static uint32_t actions_left(const gv_set *set) {
    return set->plan && !set->dropped ? grove_plan_actions(set->plan) - set->next : 0;
}

static bool may_plan(const grove_engine *e, const gv_set *set, int64_t now) {
    if (now < set->not_before || actions_left(set) > 0) {
        return false;
    }
    if (set->in_flight > 0 && now < set->planned_at + REPLAN_AFTER_NS) {
        return false;
    }
    bool due = set->dirty || now >= set->deadline || now >= set->counts_due;
    return due && !gv_store_set_uncertain(e->store, gv_str_c(set->ns), gv_str_c(set->name), now);
}

/* The set (or binding: no namespace) is gone and nothing of it is left to do. */
static bool is_finished(const grove_engine *e, const gv_set *set) {
    gv_kind kind = set->ns[0] ? GV_KIND_PODCLIQUESET : GV_KIND_CLUSTERTOPOLOGYBINDING;
    return !gv_store_get(e->store, kind, gv_str_c(set->ns), gv_str_c(set->name)) &&
           gv_store_of_set(e->store, gv_str_c(set->ns), gv_str_c(set->name))->n == 0 &&
           set->in_flight == 0;
}

static void drop_set(grove_engine *e, gv_set *set) {
    for (size_t i = 0; i < e->active.n; i++) {
        if (e->active.v[i] == set) {
            e->active.v[i] = e->active.v[--e->active.n];
            break;
        }
    }
    gv_map_remove(&e->sets, set_key(&e->op_text, set));
    free_set(e, set);
}

static grove_status activate(grove_engine *e, gv_set *set) {
    if (!set->active) {
        if (!gv_vec_push(e->env, &e->active, set)) {
            return GROVE_E_NOMEM;
        }
        set->active = true;
    }
    return GROVE_OK;
}

/* Law (a): an unchanged store gives the same plan, byte for byte. */
static grove_status check_repeatable(grove_engine *e, const grove_plan_request *rq,
                                     const grove_plan *plan, grove_error *err) {
    grove_plan *again = NULL;
    grove_buf a, b;
    grove_buf_init(&a, e->env);
    grove_buf_init(&b, e->env);
    grove_status st = grove_plan_make(e->planner, e->store, rq, &again, err);
    if (st == GROVE_OK) {
        st = grove_plan_write_json(plan, 0, &a, err);
    }
    if (st == GROVE_OK) {
        st = grove_plan_write_json(again, 0, &b, err);
    }
    if (st == GROVE_OK && !gv_str_eq(gv_buf_view(&a), gv_buf_view(&b))) {
        st = gv_error(err, GROVE_E_INTERNAL, "two plans for %s/%s from one state differ", rq->ns,
                      rq->name);
    }
    grove_plan_unref(again);
    grove_buf_fini(&a);
    grove_buf_fini(&b);
    return st;
}

static grove_status plan_with_refusals(grove_engine *e, gv_set *set, grove_plan_request *rq,
                                       grove_plan **out, grove_error *err) {
    grove_status st = gv_engine_refusals_of(e, set, &rq->refusals, &rq->n_refusals);
    return st == GROVE_OK ? grove_plan_make(e->planner, e->store, rq, out, err) : st;
}

static grove_status make_plan(grove_engine *e, gv_set *set, int64_t now, grove_error *err) {
    grove_plan_request rq = {.size = (uint32_t)sizeof rq,
                             .ns = set->ns,
                             .name = set->name,
                             .config = e->config,
                             .now_ns = now,
                             .seed = e->seed,
                             .bind_schedulers = e->bind_schedulers};
    grove_plan *plan = NULL;
    grove_status st = gv_engine_decide_stale_anew(e, set, now, err);
    if (st == GROVE_OK) {
        st = gv_engine_decisions_of(e, gv_str_c(set->ns), gv_str_c(set->name), &rq.placements,
                                    &rq.n_placements);
    }
    if (st == GROVE_OK) {
        st = gv_engine_disruptions_of(e, gv_str_c(set->ns), gv_str_c(set->name), &rq.disruptions,
                                      &rq.n_disruptions);
    }
    if (st == GROVE_OK) {
        st = plan_with_refusals(e, set, &rq, &plan, err);
    }
    if (st == GROVE_OK && gv_engine_drop_moot(e, set, plan, now)) {
        /* What was refused is not wanted any more: an error told of it now would be taken back at once. */
        grove_plan_unref(plan);
        plan = NULL;
        st = plan_with_refusals(e, set, &rq, &plan, err);
    }
    if (st == GROVE_OK && e->flags & GROVE_ENGINE_CHECK) {
        st = check_repeatable(e, &rq, plan, err);
    }
    if (st == GROVE_OK && grove_plan_actions(plan) > 0) {
        st = activate(e, set);
    }
    if (st == GROVE_OK) {
        st = gv_laws_plan(e, set, plan, now, err);
    }
    if (st < 0) {
        grove_plan_unref(plan);
        return st;
    }
    grove_plan_unref(set->plan);
    set->plan = plan;
    set->next = 0;
    set->burst = FIRST_BURST;
    set->burst_used = 0;
    set->dirty = gv_engine_drop_moot(e, set, plan, now);
    set->dropped = false;
    set->planned_at = now;
    set->counts_go = e->status_quiet_ns <= 0 || now >= set->counts_due;
    set->counts_due = set->counts_go ? GROVE_NEVER : set->counts_due;
    set->deadline = grove_plan_deadline(plan);
    e->stats.plans++;
    e->stats.empty_plans += grove_plan_actions(plan) == 0;
    return GROVE_OK;
}

/* A planner's refusal of one set (a broken object, an invariant) must not stop the others. */
static grove_status plan_or_postpone(grove_engine *e, gv_set *set, int64_t now, grove_error *err) {
    grove_status st = make_plan(e, set, now, err);
    grove_buf_clear(&set->fault);
    if (st == GROVE_OK || st == GROVE_E_NOMEM || e->flags & GROVE_ENGINE_CHECK) {
        return st;
    }
    if (gv_buf_c(&set->fault, err && err->message[0] ? err->message : grove_status_name(st)) < 0) {
        return gv_error_nomem(err);
    }
    const char *fields[] = {"namespace",           set->ns, "name", set->name, "status",
                            grove_status_name(st), NULL};
    gv_log(e->env, GROVE_LOG_ERROR, "engine", "GRV5001",
           err ? err->message : "a set cannot be planned", fields);
    set->failures++;
    set->not_before = now + gv_engine_backoff(e, set->failures);
    return GROVE_OK;
}

int64_t gv_engine_backoff(const grove_engine *e, uint32_t failures) {
    int64_t wait = e->backoff_ns;
    for (uint32_t i = 1; i < failures && wait < BACKOFF_MAX_NS; i++) {
        wait *= 2;
    }
    return wait < BACKOFF_MAX_NS ? wait : BACKOFF_MAX_NS;
}

static grove_status plan_due_sets(grove_engine *e, int64_t now, grove_error *err) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->sets, &i));) {
        gv_set *set = entry->value;
        if (set->dirty && is_finished(e, set)) {
            drop_set(e, set);
            continue;
        }
        if (may_plan(e, set, now)) {
            grove_status st = plan_or_postpone(e, set, now, err);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

/* Actions of one order run side by side, but for those that name another one's object; the next order waits for
 * all of the one before. */
static bool may_hand_out(const grove_engine *e, const gv_set *set, const grove_action *a) {
    if (set->in_flight > 0 && set->next > 0 &&
        grove_plan_action(set->plan, set->next - 1)->order != a->order) {
        return false;
    }
    if (set->in_flight > 0 && (a->flags & GROVE_ACTION_NAMES_ANOTHER)) {
        return false;
    }
    if (a->verb == GROVE_VERB_CREATE && set->burst_used >= set->burst) {
        return false;
    }
    if (a->verb == GROVE_VERB_EVENT || a->verb == GROVE_VERB_CREATE) {
        return true;
    }
    return !gv_store_in_flight(e->store, (gv_kind)a->kind, gv_str_c(a->ns), gv_str_c(a->name));
}

static void fill_op(grove_engine *e, gv_set *set, const grove_action *a, uint64_t token) {
    grove_plan *pinned = grove_plan_ref(set->plan);
    grove_plan_unref(e->op_plan);
    e->op_plan = pinned;
    e->op = (grove_op){.size = (uint32_t)sizeof e->op,
                       .verb = a->verb,
                       .token = token,
                       .kind = a->kind,
                       .subresource = a->subresource,
                       .patch_type = a->patch_type,
                       .flags = a->verb == GROVE_VERB_EVENT ? GROVE_OP_NO_REPLY : 0,
                       .ns = a->ns,
                       .name = a->name,
                       .body_doc = a->body,
                       .body = a->body ? grove_doc_root(a->body) : NULL,
                       .uid = a->uid[0] ? a->uid : NULL,
                       .resource_version = a->resource_version[0] ? a->resource_version : NULL,
                       .target = a->node,
                       .reason = a->reason,
                       .grace_seconds = GROVE_GRACE_DEFAULT};
}

/* Lays the effect over the store and remembers who waits for the answer. */
static grove_status launch(grove_engine *e, gv_set *set, const grove_action *a, uint64_t token,
                           int64_t now, grove_error *err) {
    if (!gv_vec_reserve(e->env, &e->in_flight, e->in_flight.n + 1)) {
        return gv_error_nomem(err);
    }
    gv_write write = gv_action_write(a, now);
    grove_status st = gv_laws_before_write(e, set, a, err);
    if (st < 0) {
        return st;
    }
    st = gv_store_write_begin(e->store, &write, err);
    if (st < 0) {
        gv_laws_not_written(e, set);
        return st;
    }
    e->in_flight.v[e->in_flight.n++] = (gv_in_flight){.token = token,
                                                      .set = set,
                                                      .plan = grove_plan_ref(set->plan),
                                                      .action = a,
                                                      .kind = (gv_kind)a->kind};
    set->in_flight++;
    set->burst_used += a->verb == GROVE_VERB_CREATE;
    return gv_laws_after_write(e, set, a, err);
}

void gv_engine_count(grove_engine *e, grove_verb verb) {
    e->stats.operations++;
    e->stats.creates += verb == GROVE_VERB_CREATE;
    e->stats.patches += verb == GROVE_VERB_PATCH;
    e->stats.deletes += verb == GROVE_VERB_DELETE;
    e->stats.binds += verb == GROVE_VERB_BIND;
}

/* The next action that may go now, past those that are held back; NULL: none may. */
static const grove_action *next_action(const grove_engine *e, gv_set *set, int64_t now) {
    while (actions_left(set) > 0 && now >= set->not_before) {
        const grove_action *a = grove_plan_action(set->plan, set->next);
        if (!may_hand_out(e, set, a)) {
            return NULL;
        }
        if (set->counts_go || !(a->flags & GROVE_ACTION_CAN_WAIT)) {
            return a;
        }
        if (set->counts_due == GROVE_NEVER) {
            set->counts_due = now + e->status_quiet_ns;
        }
        set->next++;
    }
    return NULL;
}

/* One action of one set; *out false when the set has none that may go now. */
static grove_status hand_out(grove_engine *e, gv_set *set, int64_t now, bool *out,
                             grove_error *err) {
    *out = false;
    const grove_action *a = next_action(e, set, now);
    if (!a) {
        return GROVE_OK;
    }
    if (gv_engine_awaits_survey(set, a)) {
        return gv_engine_survey(e, set, out, err);
    }
    bool stale = false;
    if (gv_engine_follows_stale(e, a, &stale) < 0) {
        return gv_error_nomem(err);
    }
    if (stale) {
        set->dropped = set->dirty = true;
        return GROVE_OK;
    }
    uint64_t token = e->next_token + 1;
    if (a->verb != GROVE_VERB_EVENT) {
        grove_status st = launch(e, set, a, token, now, err);
        if (st == GROVE_E_CONFLICT) {
            return GROVE_OK; /* a write to this object has not been observed yet */
        }
        if (st == GROVE_E_NOT_FOUND || st == GROVE_E_EXISTS) {
            set->dropped = set->dirty = true; /* the state moved on since the plan was made */
            return GROVE_OK;
        }
        if (st < 0) {
            return st;
        }
    }
    e->next_token = token;
    fill_op(e, set, a, token);
    set->next++;
    gv_engine_count(e, a->verb);
    *out = true;
    return GROVE_OK;
}

static bool is_reading_back(const grove_engine *e) {
    for (size_t i = 0; i < e->in_flight.n; i++) {
        if (!e->in_flight.v[i].set) {
            return true;
        }
    }
    return false;
}

/* The object whose overlay is too old is read back before its set is planned again. */
static grove_status read_back(grove_engine *e, int64_t now, bool *out, grove_error *err) {
    gv_kind kind;
    const char *ns, *name;
    *out = false;
    if (now < e->read_back_at) {
        return GROVE_OK;
    }
    if (is_reading_back(e)) {
        return GROVE_OK; /* one at a time */
    }
    if (!gv_store_uncertain(e->store, now, &kind, &ns, &name)) {
        return GROVE_OK;
    }
    size_t ns_len = strlen(ns), name_len = strlen(name);
    gv_in_flight f = {.token = e->next_token + 1, .kind = kind, .bytes = ns_len + name_len + 2};
    if (!gv_vec_reserve(e->env, &e->in_flight, e->in_flight.n + 1) ||
        !(f.ns = gv_alloc(e->env, f.bytes))) {
        return gv_error_nomem(err);
    }
    memcpy(f.ns, ns, ns_len + 1);
    f.name = f.ns + ns_len + 1;
    memcpy(f.name, name, name_len + 1);
    e->next_token = f.token;
    e->in_flight.v[e->in_flight.n++] = f;
    e->op = (grove_op){.size = (uint32_t)sizeof e->op,
                       .verb = GROVE_VERB_GET,
                       .token = f.token,
                       .kind = (grove_kind)kind,
                       .ns = f.ns,
                       .name = f.name,
                       .reason = "ReadBack",
                       .grace_seconds = GROVE_GRACE_DEFAULT};
    gv_engine_count(e, GROVE_VERB_GET);
    *out = true;
    return GROVE_OK;
}

/* Sets take turns, so that one with thousands of pods does not hold up the others. */
static grove_status serve_active(grove_engine *e, int64_t now, bool *out, grove_error *err) {
    *out = false;
    for (size_t tried = 0, n = e->active.n; tried < n && e->active.n > 0; tried++) {
        if (e->turn >= e->active.n) {
            e->turn = 0;
        }
        gv_set *set = e->active.v[e->turn];
        if (actions_left(set) == 0) {
            set->active = false;
            e->active.v[e->turn] = e->active.v[--e->active.n];
            continue;
        }
        grove_status st = hand_out(e, set, now, out, err);
        if (st < 0) {
            return st;
        }
        e->turn++;
        if (*out) {
            return GROVE_OK;
        }
    }
    return GROVE_OK;
}

grove_status gv_engine_next_action(grove_engine *e, int64_t now, bool *out, grove_error *err) {
    grove_status st = gv_engine_next_notice(e, out, err);
    if (st < 0 || *out || e->in_flight.n >= e->max_in_flight) {
        return st;
    }
    st = read_back(e, now, out, err);
    if (st < 0 || *out) {
        return st;
    }
    st = serve_active(e, now, out, err);
    if (st < 0 || *out) {
        return st;
    }
    st = plan_due_sets(e, now, err);
    return st < 0 ? st : serve_active(e, now, out, err);
}

/* Work that waits for an answer or an event has no time of its own: the host calls again after those. */
int64_t gv_engine_sets_deadline(const grove_engine *e) {
    int64_t first = is_reading_back(e) ? INT64_MAX : gv_store_deadline(e->store);
    first = first < e->read_back_at ? e->read_back_at : first;
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->sets, &i));) {
        const gv_set *set = entry->value;
        int64_t at = set->deadline < set->counts_due ? set->deadline : set->counts_due;
        if (set->not_before > e->now) {
            at = set->dirty || actions_left(set) > 0 || at < set->not_before ? set->not_before : at;
        } else if (actions_left(set) > 0 || gv_store_set_uncertain(e->store, gv_str_c(set->ns),
                                                                   gv_str_c(set->name), e->now)) {
            at = gv_survey_deadline(set); /* else an answer or an event comes first */
        } else if ((set->dirty || at <= e->now) && set->in_flight > 0) {
            at = set->planned_at + REPLAN_AFTER_NS;
        }
        first = at < first ? at : first;
    }
    return first;
}
