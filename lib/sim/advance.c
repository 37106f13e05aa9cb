/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual clock: what happens next, in one order that depends on nothing but the calls made. */
#include "sim/apply.h"
#include "sim/kubelet.h"
#include "sim/meta.h"
#include "sim/node.h"
#include "sim/owner.h"
#include "sim/scheduler.h"
#include "sim/token.h"

/* ---- reactions to one change ---- */

static grove_status pod_changed(grove_sim *sim, gv_sim_object *o) {
    bool ready = o->exists && o->pod_ready;
    if (ready != o->ready_seen) {
        o->ready_seen = ready;
        gv_sim_wake_gang(sim, o);
    }
    const grove_node *spec = grove_node_get(gv_sim_root(o), "spec");
    if (!o->exists || gv_node_get_str(spec, "nodeName").n == 0) {
        sim->schedule = true;
    }
    return gv_sim_kubelet_look(sim, o);
}

static grove_status by_kind(grove_sim *sim, gv_sim_object *o) {
    switch (o->kind) {
    case GV_KIND_POD:
        return pod_changed(sim, o);
    case GV_KIND_NODE:
        return gv_sim_node_look(sim, o);
    case GV_KIND_PODGANG:
        sim->schedule = true;
        return GROVE_OK;
    case GV_KIND_SECRET:
    case GV_KIND_SERVICEACCOUNT:
        return gv_sim_token_look(sim, o);
    case GV_KIND_NAMESPACE:
        return o->exists && o->dying ? gv_sim_collect_namespace(sim, o) : GROVE_OK;
    default:
        return GROVE_OK;
    }
}

/* A namespace that is being deleted counts what is left when something in it goes. */
static grove_status wake_namespace(grove_sim *sim, const gv_sim_object *gone) {
    gv_sim_object *ns = gv_sim_find(sim, GV_KIND_NAMESPACE, (gv_str){"", 0}, gone->ns);
    return ns && ns->dying ? gv_sim_touch(sim, ns) : GROVE_OK;
}

static grove_status react(grove_sim *sim, gv_sim_object *o) {
    grove_status st = GROVE_OK;
    if (!o->exists) {
        gv_sim_applied_forget(sim, o);
        st = o->ns.n > 0 ? wake_namespace(sim, o) : GROVE_OK;
    }
    if (st == GROVE_OK) {
        st = by_kind(sim, o);
    }
    if (st == GROVE_OK && !(sim->options.flags & GROVE_SIM_NO_GC)) {
        st = gv_sim_collect(sim, o);
    }
    return st;
}

/* ---- the queue ---- */

static void queue_shrink(grove_sim *sim) {
    if (sim->queue_head == sim->queue.n) {
        sim->queue_head = sim->queue.n = 0;
    } else if (sim->queue_head >= 1024 && sim->queue_head * 2 >= sim->queue.n) {
        memmove(sim->queue.v, sim->queue.v + sim->queue_head,
                (sim->queue.n - sim->queue_head) * sizeof *sim->queue.v);
        sim->queue.n -= sim->queue_head;
        sim->queue_head = 0;
    }
}

static grove_status drain(grove_sim *sim) {
    while (sim->queue_head < sim->queue.n) {
        gv_sim_object *o = sim->queue.v[sim->queue_head];
        o->queued = false; /* what it does to itself brings it back */
        grove_status st = react(sim, o);
        if (st < 0) {
            o->queued = true; /* stays at the head: looked at again by the next advance */
            return st;
        }
        sim->queue_head++;
        gv_sim_object_unref(sim, o);
        queue_shrink(sim);
    }
    return GROVE_OK;
}

/* ---- timers ---- */

static grove_status fire(grove_sim *sim, gv_sim_timer *t) {
    void *owner = t->owner;
    int what = t->what;
    sim->timer_stuck = NULL;
    gv_sim_timer_arm(sim, t, INT64_MAX);
    grove_status st = what == GV_TIMER_POD ? gv_sim_kubelet_tick(sim, owner)
                                           : gv_sim_node_tick(sim, owner);
    if (st < 0) {
        /* A failure leaves its owner in place: it is due again at once. */
        gv_sim_timer_arm(sim, t, sim->now);
        sim->timer_stuck = t;
    }
    return st;
}

static grove_status schedule(grove_sim *sim) {
    sim->schedule = false;
    grove_status st = gv_sim_schedule(sim);
    sim->schedule_stuck = st < 0;
    sim->schedule = sim->schedule || st < 0;
    return st;
}

/*
 * One piece of work that is due by `to`; *more tells whether there was one. Schedulers come last in an instant:
 * they run once for all that happened in it.
 */
static grove_status work(grove_sim *sim, int64_t to, bool *more) {
    gv_sim_timer *t = gv_sim_timer_first(sim);
    *more = true;
    if (sim->timer_stuck) {
        return fire(sim, sim->timer_stuck);
    }
    if (sim->schedule_stuck) {
        return schedule(sim);
    }
    if (sim->queue_head < sim->queue.n) {
        return drain(sim);
    }
    if (sim->schedule && (!t || t->at > sim->now)) {
        return schedule(sim);
    }
    if (!t || t->at > to) {
        *more = false;
        return GROVE_OK;
    }
    sim->now = t->at > sim->now ? t->at : sim->now;
    return fire(sim, t);
}

grove_status grove_sim_advance(grove_sim *sim, int64_t to_ns, grove_error *err) {
    int64_t to = to_ns > sim->now ? to_ns : sim->now;
    bool more = true;
    while (more) {
        grove_status st = work(sim, to, &more);
        if (st == GROVE_E_NOMEM) {
            return gv_error_nomem(err);
        }
        if (st < 0) {
            return gv_error(err, st, "the embedded cluster failed");
        }
    }
    sim->now = to;
    return GROVE_OK;
}

int64_t grove_sim_now(const grove_sim *sim) {
    return sim->now;
}

int64_t grove_sim_deadline(const grove_sim *sim) {
    if (sim->queue_head < sim->queue.n || sim->schedule) {
        return sim->now;
    }
    const gv_sim_timer *t = gv_sim_timer_first(sim);
    return t ? t->at : INT64_MAX;
}
