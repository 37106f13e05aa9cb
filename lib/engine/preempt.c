/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for a gang that found no place: gangs that this engine bound make it, whole, or with pods that they can do
 * without. Those of lower priority do, where there are queues those of its own; and then those of queues which
 * have more than their fair share, for a gang whose queue has less. Who is on its way out already counts as gone, so that nobody goes for nothing.
 * The places are held from then on; they are bound when the pods are seen to have left.
 */
#include "engine/gangs.h"

#include "base/sort.h"
#include "engine/view_queues.h"
#include "model/labels.h"
#include "model/view.h"
#include "value/doc.h"
#include "value/scalar.h"

/* A gang with pods on nodes. */
typedef struct prey {
    gv_object *gang;
    int64_t priority;
    uint32_t formed; /* of the placement engine; GROVE_SCHED_NONE: it may not go, or goes already */
} prey;

typedef struct hunt {
    grove_engine *e;
    gv_arena mem;
    const grove_node *podgang;
    gv_str ns, name, set;
    int64_t priority;
    bool waits_only; /* nobody is told to go: the places are held as they are left */
    bool reclaims;   /* those to go are of other queues */
    uint32_t queue;
    prey *prey;
    uint32_t n_prey;
    uint32_t *pod_ids; /* of all gangs formed, and what they are; parallel */
    const gv_pod **pods;
    uint32_t n_pods;
    const gv_object *behind; /* the first gang that has to leave */
    uint32_t gangs_leaving, pods_leaving;
    grove_error *err;
} hunt;

static gv_str gang_name(const gv_object *o) {
    return gv_str_c(o->u.head.name);
}

static const gv_list *pods_of(const hunt *h, const gv_object *gang) {
    return gv_store_of_gang(h->e->store, gv_str_c(gang->u.head.ns), gang_name(gang));
}

static int32_t clamp(int64_t priority) {
    return priority > INT32_MAX ? INT32_MAX : priority < INT32_MIN ? INT32_MIN : (int32_t)priority;
}

/* A gang may refuse to push others aside by its class, and a scheduler for all of its gangs. */
static bool may_preempt(const grove_engine *e, const grove_node *podgang) {
    const gv_scheduler_profile *p = gv_gangs_profile(e, podgang);
    gv_str name = gv_node_get_str(gv_node_path(podgang, "spec"), "priorityClassName");
    const grove_node *class = gv_config_priority_class(e->config, name);
    return !gv_gangs_released(e, podgang) && (!p || p->preempts) &&
           !gv_str_is(gv_node_get_str(class, "preemptionPolicy"), "Never");
}

/* ---- who is there ---- */

static bool has_bound(const hunt *h, const gv_object *gang) {
    for (const gv_object *o = pods_of(h, gang)->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        if (gv_pod_is_bound(&o->u.pod) && !gv_pod_is_final(&o->u.pod)) {
            return true;
        }
    }
    return false;
}

static grove_status list_prey(hunt *h) {
    const gv_list *gangs = gv_store_of_kind(h->e->store, GV_KIND_PODGANG);
    h->prey = gv_arena_array(&h->mem, prey, gangs->n + 1);
    if (!h->prey) {
        return gv_error_nomem(h->err);
    }
    for (gv_object *o = gangs->first; o; o = gv_list_next(o, GV_LIST_KIND)) {
        const grove_node *node = gv_object_node(o);
        int64_t priority = gv_gangs_priority(h->e, node);
        bool foreign = h->e->view.queued && gv_gangs_queue(h->e, o) != h->queue;
        bool less = h->waits_only || foreign ? node != h->podgang : priority < h->priority;
        if (less && gv_gangs_ours(h->e, node) && !gv_gangs_released(h->e, node) &&
            has_bound(h, o)) {
            priority = h->waits_only ? INT32_MIN : priority;
            h->prey[h->n_prey++] = (prey){o, priority, GROVE_SCHED_NONE};
        }
    }
    return GROVE_OK;
}

/* ---- who leaves already ---- */

/* Takes the pods out of the question that are going away, terminating or told to. */
static grove_status without_leaving(hunt *h) {
    grove_engine *e = h->e;
    for (uint32_t i = 0; i < h->n_prey; i++) {
        const gv_object *gang = h->prey[i].gang;
        bool going = gv_victims_going(e, gang), first = true;
        for (const gv_object *o = pods_of(h, gang)->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
            const gv_pod *pod = &o->u.pod;
            uint32_t id = gv_view_pod_id(&e->view, gv_str_c(pod->head.uid));
            if (id == GROVE_SCHED_NONE || !gv_pod_is_bound(pod) ||
                (!going && gv_pod_is_active(pod) && !gv_victims_pod_going(e, pod))) {
                continue;
            }
            if (grove_sched_pod_remove(e->view.sched, id) < 0) {
                return gv_error_nomem(h->err);
            }
            h->behind = h->behind ? h->behind : gang;
            h->gangs_leaving += first ? 1 : 0;
            h->pods_leaving++;
            first = false;
        }
    }
    return GROVE_OK;
}

/* ---- who could leave ---- */

static int by_index(const void *a, const void *b, void *ctx) {
    const gv_pod *x = a, *y = b;
    (void)ctx;
    if (x->index != y->index) {
        return x->index < y->index ? -1 : 1;
    }
    return strcmp(x->head.name, y->head.name);
}

/* The pods of one clique that hold room, by index, from h->pods[at] on. */
static uint32_t list_clique(hunt *h, const gv_object *gang, gv_str clique, uint32_t at) {
    uint32_t n = 0;
    for (const gv_object *o = pods_of(h, gang)->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        const gv_pod *pod = &o->u.pod;
        if (gv_str_is(clique, pod->clique) && gv_pod_is_bound(pod) && gv_pod_is_active(pod) &&
            !gv_victims_pod_going(h->e, pod) &&
            gv_view_pod_id(&h->e->view, gv_str_c(pod->head.uid)) != GROVE_SCHED_NONE) {
            h->pods[at + n++] = pod;
        }
    }
    gv_sort((const void **)(void *)(h->pods + at), n, by_index, NULL);
    return n;
}

/* Whoever waits for places to be left may wait for anybody's. */
static uint32_t queue_of(const hunt *h, const gv_object *gang) {
    return h->waits_only ? GROVE_QUEUE_NONE : gv_gangs_queue(h->e, gang);
}

/* The minimum of every clique first, then what the gang can do without. */
static grove_status form_gang(hunt *h, prey *p) {
    grove_engine *e = h->e;
    uint32_t most = pods_of(h, p->gang)->n, first = h->n_pods, n = 0, n_surplus = 0;
    const gv_pod **surplus = gv_arena_array(&h->mem, const gv_pod *, most + 1);
    if (!surplus) {
        return gv_error_nomem(h->err);
    }
    GV_EACH(group, gv_node_path(gv_object_node(p->gang), "spec.podgroups")) {
        gv_str clique = gv_node_get_str(group, "name");
        int64_t least = gv_node_get_int(group, "minReplicas", 0);
        uint32_t here = list_clique(h, p->gang, clique, first + n);
        uint32_t core = least < 0 ? 0 : (int64_t)here < least ? here : (uint32_t)least;
        for (uint32_t i = core; i < here; i++) {
            surplus[n_surplus++] = h->pods[first + n + i];
        }
        n += core;
    }
    for (uint32_t i = 0; i < n_surplus; i++) {
        h->pods[first + n++] = surplus[i];
    }
    for (uint32_t i = first; i < first + n; i++) {
        h->pod_ids[i] = gv_view_pod_id(&e->view, gv_str_c(h->pods[i]->head.uid));
    }
    h->n_pods += n;
    grove_sched_members members = {.size = (uint32_t)sizeof members,
                                   .priority = clamp(p->priority),
                                   .queue = queue_of(h, p->gang),
                                   .n_pods = n,
                                   .n_surplus = n_surplus,
                                   .pods = h->pod_ids + first};
    return n == 0 ? GROVE_OK : grove_sched_gang_form(e->view.sched, &members, &p->formed, h->err);
}

/* Scaled gangs go with their base gang. */
static grove_status tie(hunt *h, const prey *p) {
    gv_str base = gv_victims_base(h->e, p->gang);
    if (p->formed == GROVE_SCHED_NONE || gv_str_eq(base, gang_name(p->gang))) {
        return GROVE_OK;
    }
    for (uint32_t i = 0; i < h->n_prey; i++) {
        const prey *other = &h->prey[i];
        if (other->formed != GROVE_SCHED_NONE && gv_str_eq(base, gang_name(other->gang)) &&
            strcmp(other->gang->u.head.ns, p->gang->u.head.ns) == 0) {
            return grove_sched_gang_base(h->e->view.sched, p->formed, other->formed);
        }
    }
    return GROVE_OK;
}

static grove_status form_prey(hunt *h) {
    uint32_t most = gv_store_of_kind(h->e->store, GV_KIND_POD)->n;
    h->pod_ids = gv_arena_array(&h->mem, uint32_t, most + 1);
    h->pods = gv_arena_array(&h->mem, const gv_pod *, most + 1);
    grove_status st = h->pod_ids && h->pods ? GROVE_OK : gv_error_nomem(h->err);
    for (uint32_t i = 0; st == GROVE_OK && i < h->n_prey; i++) {
        const gv_object *gang = h->prey[i].gang;
        bool stays = !h->waits_only && gv_victims_spared(h->e, gang);
        if (!stays && !gv_victims_going(h->e, gang)) {
            st = form_gang(h, &h->prey[i]);
        }
    }
    for (uint32_t i = 0; st == GROVE_OK && i < h->n_prey; i++) {
        st = tie(h, &h->prey[i]);
    }
    return st;
}

/* ---- the answer ---- */

static const prey *prey_of(const hunt *h, uint32_t gang) {
    for (uint32_t i = 0; i < h->n_prey; i++) {
        if (h->prey[i].formed == gang) {
            return &h->prey[i];
        }
    }
    return NULL;
}

static const gv_pod *pod_of(const hunt *h, uint32_t id) {
    for (uint32_t i = 0; i < h->n_pods; i++) {
        if (h->pod_ids[i] == id) {
            return h->pods[i];
        }
    }
    return NULL;
}

static grove_status condemn(hunt *h) {
    uint32_t n = 0;
    const grove_victim *victims = grove_decision_victims(h->e->view.decision, &n);
    const char *text =
        h->reclaims
            ? gv_arena_fmt(&h->mem,
                           "makes room for gang %.*s/%.*s: its queue %s has less than its "
                           "share",
                           (int)h->ns.n, h->ns.p, (int)h->name.n, h->name.p,
                           grove_sched_queue_name(h->e->view.sched, h->queue))
            : gv_arena_fmt(&h->mem, "makes room for gang %.*s/%.*s of priority %lld", (int)h->ns.n,
                           h->ns.p, (int)h->name.n, h->name.p, (long long)h->priority);
    for (uint32_t i = 0; text && i < n; i++) {
        const prey *p = prey_of(h, victims[i].gang);
        const gv_pod *pod = victims[i].pod != GROVE_SCHED_NONE ? pod_of(h, victims[i].pod) : NULL;
        if (!p || (victims[i].pod != GROVE_SCHED_NONE && !pod)) {
            return gv_error(h->err, GROVE_E_INTERNAL, "a victim is nobody that could go");
        }
        if (!h->waits_only && gv_victims_condemn(h->e, p->gang, pod, text) < 0) {
            return gv_error_nomem(h->err);
        }
        h->behind = h->behind ? h->behind : p->gang;
        h->gangs_leaving++;
    }
    return text ? GROVE_OK : gv_error_nomem(h->err);
}

/* The answer that its places are held: to a preemptor as such, to one that only waits as a no. */
static grove_status say_held(hunt *h, gv_decided *d) {
    const gv_head *first = &h->behind->u.head;
    const char *others = h->gangs_leaving > 1 ? " and others" : "";
    gv_str behind = strcmp(first->ns, d->ns.p) == 0 ? gv_str_c(first->name) : (gv_str){"", 0};
    d->reserved = true;
    d->priority = h->priority;
    d->placement.verdict = h->waits_only ? GROVE_VERDICT_INFEASIBLE : GROVE_VERDICT_NOMINATED;
    d->placement.reason = h->waits_only ? "Starving" : h->reclaims ? "Reclaiming" : "Preempting";
    d->placement.behind = gv_arena_dup(&d->arena, behind);
    d->placement.text = h->waits_only
                            ? gv_arena_fmt(&d->arena,
                                           "it has waited too long: what gang %s/%s%s leaves is "
                                           "kept for it",
                                           first->ns, first->name, others)
                            : gv_arena_fmt(&d->arena,
                                           "its places are held and pods still have to leave "
                                           "them: of gang %s/%s%s",
                                           first->ns, first->name, others);
    return d->placement.behind && d->placement.text ? GROVE_OK : gv_error_nomem(h->err);
}

static grove_status nominate(hunt *h, const gv_view_gang *gang) {
    grove_status st = condemn(h);
    gv_decided *d = st == GROVE_OK ? gv_gangs_answer(h->e, h->ns, h->name, h->set) : NULL;
    if (!d) {
        return st < 0 ? st : gv_error_nomem(h->err);
    }
    st = say_held(h, d);
    st = st < 0 ? st : gv_gangs_keep_places(h->e, d, gang, h->err);
    return st < 0 ? st : grove_store_mark(h->e->store, d->ns.p, d->set.p);
}

/* Says in the answer that stands what was asked in vain. */
static grove_status tell(hunt *h, gv_str key, grove_verdict verdict) {
    gv_decided *d = gv_map_get(&h->e->decided, key);
    const char *in_vain =
        h->reclaims ? verdict == GROVE_INFEASIBLE
                          ? "no less important gang of its queue that may go would make room, nor "
                            "may it take that much from other queues"
                          : "no set of less important gangs of its queue, or of gangs of other "
                            "queues, was found that would make room"
        : verdict == GROVE_INFEASIBLE
            ? "no less important gang that may go would make room"
            : "no set of less important gangs was found that would make room";
    const char *text = gv_arena_fmt(&d->arena, "%s; %s", d->placement.text, in_vain);
    if (!text) {
        return gv_error_nomem(h->err);
    }
    d->placement.text = text;
    int64_t again = gv_victims_spared_until(h->e);
    d->placement.retry_ns = again < d->placement.retry_ns ? again : d->placement.retry_ns;
    return GROVE_OK;
}

/* What its queue is entitled to may be with others. */
static grove_status ask_others(hunt *h) {
    gv_view *v = &h->e->view;
    if (h->waits_only || h->queue == GROVE_QUEUE_NONE) {
        return GROVE_OK;
    }
    h->reclaims = true;
    return grove_sched_reclaim(v->sched, v->gang, h->e->wanted,
                               h->e->wanted ? grove_sched_queue_count(v->sched) : 0, NULL,
                               v->decision, h->err);
}

/* With those gone that leave, and then with whoever else has to. */
static grove_status ask(hunt *h) {
    gv_view *v = &h->e->view;
    grove_status st = without_leaving(h);
    if (st == GROVE_OK && h->pods_leaving > 0) {
        st = grove_sched_place(v->sched, v->gang, NULL, v->decision, h->err);
        if (st < 0 || grove_decision_verdict(v->decision) == GROVE_PLACED) {
            return st;
        }
    }
    st = st < 0 ? st : form_prey(h);
    st = st < 0 ? st : grove_sched_preempt(v->sched, v->gang, NULL, v->decision, h->err);
    bool placed = st == GROVE_OK && grove_decision_verdict(v->decision) == GROVE_PLACED;
    return st < 0 || placed ? st : ask_others(h);
}

static grove_status run(hunt *h, gv_str key) {
    gv_view *v = &h->e->view;
    gv_view_gang gang;
    uint64_t mark = 0;
    grove_status st = gv_gangs_describe_least(h->e, h->podgang, &gang, h->err);
    if (st < 0 || !gang.complete) {
        return st;
    }
    st = grove_gang_priority(v->gang, h->waits_only ? INT32_MAX : clamp(h->priority));
    st = st < 0 ? st : grove_sched_mark(v->sched, &mark);
    if (st < 0) {
        return gv_error_nomem(h->err);
    }
    st = ask(h);
    grove_sched_rollback(v->sched, mark);
    if (st < 0) {
        return h->err && h->err->status == st ? st : gv_error(h->err, st, "victims were not found");
    }
    grove_verdict verdict = grove_decision_verdict(v->decision);
    if (verdict == GROVE_PLACED) {
        return nominate(h, &gang);
    }
    return h->waits_only ? GROVE_OK : tell(h, key, verdict);
}

static grove_status hunt_for(grove_engine *e, gv_str key, const grove_node *podgang,
                             bool waits_only, grove_error *err) {
    const grove_node *meta = grove_node_get(podgang, "metadata");
    hunt h = {.e = e,
              .podgang = podgang,
              .ns = gv_node_get_str(meta, "namespace"),
              .name = gv_node_get_str(meta, "name"),
              .set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF),
              .priority = gv_gangs_priority(e, podgang),
              .waits_only = waits_only,
              .err = err};
    h.queue = gv_view_queue_of(&e->view, e->store, h.ns, h.set).id;
    gv_arena_init(&h.mem, e->env);
    grove_status st = list_prey(&h);
    if (st == GROVE_OK && h.n_prey > 0) {
        st = run(&h, key);
    }
    gv_arena_fini(&h.mem);
    return st;
}

grove_status gv_engine_preempt(grove_engine *e, gv_str key, const grove_node *podgang,
                               grove_error *err) {
    return may_preempt(e, podgang) ? hunt_for(e, key, podgang, false, err) : GROVE_OK;
}

/* ---- who has waited too long ---- */

/* Since when it has found no place, as its status tells: a new engine knows it, too. */
static int64_t waiting_since(const grove_engine *e, const grove_node *podgang) {
    const grove_node *c = gv_condition_find(gv_node_path(podgang, "status.conditions"),
                                            GV_COND_GANG_UNPLACED);
    int64_t since = 0;
    bool stands = gv_time_parse(gv_node_get_str(c, "lastTransitionTime"), &since, NULL) == GROVE_OK;
    return stands ? since : e->now;
}

grove_status gv_engine_keep_room(grove_engine *e, gv_str key, const grove_node *podgang,
                                 grove_error *err) {
    const gv_scheduler_profile *p = gv_gangs_profile(e, podgang);
    gv_decided *d = gv_map_get(&e->decided, key);
    if (!p || p->starving_ns <= 0 || gv_gangs_released(e, podgang) || d->bounded) {
        return GROVE_OK;
    }
    int64_t since = waiting_since(e, podgang);
    int64_t at = since > GROVE_NEVER - p->starving_ns ? GROVE_NEVER : since + p->starving_ns;
    if (at <= e->now) {
        return hunt_for(e, key, podgang, true, err);
    }
    d->look_again = at;
    e->look_at = at < e->look_at ? at : e->look_at;
    d->placement.retry_ns = at < d->placement.retry_ns ? at : d->placement.retry_ns;
    return GROVE_OK;
}
