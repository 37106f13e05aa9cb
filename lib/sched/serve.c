/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serving gangs that wait: each in its turn gets a place, alone, together with others, or by victims. Every
 * minimum is served before the first surplus pod.
 */
#include "sched/serve.h"

#include <string.h>

/* ---- taking places ---- */

grove_status gv_serve_commit(gv_serve *v, uint32_t at) {
    gv_guest *guest = &v->guests[at];
    grove_status st = grove_sched_commit(v->s, guest->g, guest->d, &guest->gang, NULL);
    guest->serial = st == GROVE_OK ? v->s->gangs.v[guest->gang].serial : 0;
    return st;
}

static grove_status evict_victims(gv_serve *v, const grove_decision *d) {
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < d->victims.n && st == GROVE_OK; i++) {
        const grove_victim *one = &d->victims.v[i];
        st = one->pod == GV_NONE ? grove_sched_release(v->s, one->gang)
                                 : grove_sched_pod_remove(v->s, one->pod);
    }
    return st;
}

/* Who was served before in this round, above its queue's share, may be among the victims. */
static void note_losses(gv_serve *v) {
    for (uint32_t i = 0; i < v->n_served; i++) {
        gv_guest *one = &v->guests[v->order[i]];
        bool there = one->gang != GV_NONE && gv_gang_live(v->s, one->gang) &&
                     v->s->gangs.v[one->gang].serial == one->serial;
        if (one->gang != GV_NONE && !there) {
            one->gang = GV_NONE;
            gv_decision_clear(one->d);
            one->d->verdict = GROVE_INFEASIBLE;
            gv_certificate_queue(one->d, GROVE_REASON_QUEUE_SHARE, one->g->queue, GV_NONE, 0, 0);
        }
    }
}

/* ---- one gang ---- */

static bool is_firm(const gv_guest *guest) {
    return (guest->g->flags & GROVE_GANG_NEVER_EVICT) != 0;
}

static grove_status try_victims(gv_serve *v, gv_guest *guest) {
    grove_status st = GROVE_OK;
    uint32_t flag = 0;
    bool bounded = gv_certificate_of_queue(guest->d);
    if (v->o.flags & GROVE_SERVE_PREEMPT) {
        st = grove_sched_preempt(v->s, guest->g, &v->place, guest->d, NULL);
        flag = GROVE_SERVED_PREEMPTED;
    }
    if (st == GROVE_OK && guest->d->verdict != GROVE_PLACED && (v->o.flags & GROVE_SERVE_RECLAIM)) {
        st = grove_sched_reclaim(v->s, guest->g, v->waiting, grove_sched_queue_count(v->s),
                                 &v->place, guest->d, NULL);
        flag = GROVE_SERVED_RECLAIMED;
    }
    if (st == GROVE_OK && guest->d->verdict == GROVE_PLACED) {
        guest->flags |= guest->d->victims.n > 0 ? flag : 0;
        st = evict_victims(v, guest->d);
        note_losses(v);
    } else if (st == GROVE_OK && bounded) {
        (void)gv_allow_gang(v->s, guest->g, guest->d); /* that is what stands in the way */
    }
    return st;
}

/* There would be room, were it not kept for another one. */
static grove_status say_kept(gv_serve *v, gv_guest *guest) {
    if (!v->kept_now) {
        return GROVE_OK;
    }
    gv_keep_close(v, false);
    grove_status st = grove_sched_place(v->s, guest->g, &v->place, guest->d, NULL);
    gv_keep_close(v, true);
    if (st == GROVE_OK && guest->d->verdict == GROVE_PLACED) {
        gv_decision_clear(guest->d);
        guest->d->verdict = GROVE_INFEASIBLE;
        gv_certificate_queue(guest->d, GROVE_REASON_KEPT, GROVE_QUEUE_NONE, GV_NONE, 0, 0);
    }
    return st;
}

static grove_status find_place(gv_serve *v, uint32_t at) {
    gv_guest *guest = &v->guests[at];
    bool placed = false;
    if (is_firm(guest) && (!gv_allow_gang(v->s, guest->g, guest->d) ||
                           !gv_allow_firm_gang(v->s, guest->g, guest->d))) {
        return GROVE_OK;
    }
    gv_keep_close(v, v->n_kept > 0 && (guest->g->flags & GROVE_GANG_YIELDS) == 0);
    grove_status st = grove_sched_place(v->s, guest->g, &v->place, guest->d, NULL);
    if (st < 0) {
        return st;
    }
    if (guest->d->verdict != GROVE_PLACED) {
        st = gv_certificate_of_queue(guest->d) ? GROVE_OK : gv_joint_place(v, at, &placed);
        if (st < 0 || placed) {
            return st; /* pods and all */
        }
        st = try_victims(v, guest);
    }
    if (st == GROVE_OK && guest->d->verdict == GROVE_PLACED) {
        return gv_serve_commit(v, at);
    }
    return st < 0 ? st : say_kept(v, guest);
}

static grove_status serve_one(gv_serve *v, uint32_t at) {
    gv_guest *guest = &v->guests[at];
    grove_status st = find_place(v, at);
    v->order[v->n_served++] = at;
    if (st < 0 || guest->gang != GV_NONE) {
        return st;
    }
    gv_line *line = &v->lines[guest->g->queue];
    uint32_t n_res = (uint32_t)v->s->resource_names.n;
    for (uint32_t r = 0; r < n_res; r++) { /* its queue still wants it */
        v->waiting[(size_t)guest->g->queue * n_res + r] += guest->need[r];
    }
    bool starves = !line->passed_over && v->o.starving_after > 0 &&
                   guest->g->blocked >= v->o.starving_after &&
                   guest->d->certificate.reason != GROVE_REASON_QUEUE_LIMIT;
    line->passed_over = true;
    return starves ? gv_keep_domain(v, at) : GROVE_OK;
}

/* ---- surplus ---- */

static void show_counts(gv_guest *guest, bool all) {
    for (size_t i = 0; i < guest->g->podgroups.n; i++) {
        gv_podgroup *p = &guest->g->podgroups.v[i];
        uint32_t least = p->min > p->members ? p->min : p->members;
        p->count = all || guest->counts[i] < least ? guest->counts[i] : least;
    }
}

/* Makes pods of the surplus that has a place; of a gang that is never evicted, what its queues deserve. */
static grove_status add_surplus(gv_serve *v, gv_guest *guest, const grove_decision *grown,
                                uint32_t **nodes, const uint32_t *had) {
    grove_sched *s = v->s;
    for (uint32_t i = 0; i < guest->g->podgroups.n; i++) {
        const gv_class *c = &s->classes.v[guest->g->podgroups.v[i].class_id];
        const int64_t *row = gv_sched_row(s, c->vector);
        uint32_t n, r, at = had[i];
        const uint32_t *more = grove_decision_nodes(grown, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            if (more[k] == GV_NONE ||
                (is_firm(guest) &&
                 gv_queue_over_deserved(s, guest->g->queue, row, &r) != GV_NONE)) {
                continue;
            }
            gv_pod pod = {.node = more[k],
                          .vector = c->vector,
                          .gang = guest->gang,
                          .podgroup = i,
                          .priority = guest->g->priority,
                          .flags = GV_POD_SURPLUS | guest->g->queue << GV_POD_QUEUE_SHIFT};
            uint32_t id;
            if (gv_pod_insert(s, &pod, &id) < 0) {
                return GROVE_E_NOMEM;
            }
            nodes[i][at++] = more[k];
        }
    }
    return GROVE_OK;
}

/* Asks for the surplus, with the pods of the minimum as members that have their places. */
static grove_status ask_surplus(gv_serve *v, gv_guest *guest, uint32_t **nodes, const uint32_t *had,
                                grove_decision *grown) {
    grove_gang *g = guest->g;
    size_t members = g->members.n, sticky = g->sticky.n;
    grove_status st = GROVE_OK;
    g->sticky.n = 0; /* they are counted from the first pod to be placed */
    for (uint32_t i = 0; i < g->podgroups.n && st == GROVE_OK; i++) {
        for (uint32_t k = 0; k < had[i] && st == GROVE_OK; k++) {
            st = grove_gang_member(g, i, nodes[i][k]);
        }
    }
    st = st < 0 ? st : grove_sched_place(v->s, g, &v->place, grown, NULL);
    while (g->members.n > members) {
        g->members.n--;
        g->podgroups.v[g->members.v[g->members.n].podgroup].members--;
    }
    g->sticky.n = sticky;
    return st;
}

/* The pods beyond the minimum, and the decision as a whole. */
static grove_status grow(gv_serve *v, gv_guest *guest) {
    const grove_gang *g = guest->g;
    uint32_t n_pg = (uint32_t)g->podgroups.n;
    uint32_t **nodes = gv_arena_array(&v->mem, uint32_t *, n_pg + 1);
    uint32_t *had = gv_arena_array(&v->mem, uint32_t, n_pg + 1);
    uint32_t *room = gv_arena_array(&v->mem, uint32_t, n_pg + 1);
    bool more = false;
    for (uint32_t i = 0; nodes && had && room && i < n_pg; i++) {
        const uint32_t *min = grove_decision_nodes(guest->d, i, &had[i]);
        const gv_podgroup *p = &g->podgroups.v[i];
        room[i] = p->count > p->members ? p->count - p->members : 0;
        more = more || room[i] > had[i];
        nodes[i] = gv_arena_alloc(&v->mem, ((size_t)room[i] + 1) * sizeof **nodes);
        if (!nodes[i]) {
            return GROVE_E_NOMEM;
        }
        memset(nodes[i], 0xff, ((size_t)room[i] + 1) * sizeof **nodes);
        if (had[i] > 0) {
            memcpy(nodes[i], min, had[i] * sizeof **nodes);
        }
    }
    if (!nodes || !had || !room) {
        return GROVE_E_NOMEM;
    }
    if (!more) {
        return GROVE_OK;
    }
    grove_status st = v->grown ? GROVE_OK : grove_decision_new(v->s, &v->grown);
    gv_keep_close(v, v->n_kept > 0 && (g->flags & GROVE_GANG_YIELDS) == 0);
    st = st < 0 ? st : ask_surplus(v, guest, nodes, had, v->grown);
    if (st == GROVE_OK && v->grown->verdict == GROVE_PLACED) {
        st = add_surplus(v, guest, v->grown, nodes, had);
    }
    uint32_t victims = (uint32_t)guest->d->victims.n;
    bool proven = guest->d->victims_proven;
    st = st < 0 ? st : gv_decision_refill(v->s, g, (const uint32_t *const *)nodes, room, guest->d);
    guest->d->victims.n = victims; /* the list itself was not touched */
    guest->d->victims_proven = proven;
    return st;
}

/* ---- a round ---- */

static grove_status seat_guests(gv_serve *v, const grove_gang *const *gangs,
                                grove_decision *const *decisions, uint32_t n, grove_error *err) {
    v->guests = gv_arena_array(&v->mem, gv_guest, n + 1);
    v->order = gv_arena_array(&v->mem, uint32_t, n + 1);
    if (!v->guests || !v->order) {
        return gv_error_nomem(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!gangs[i] || !decisions[i] || gangs[i]->sched != v->s || decisions[i]->sched != v->s ||
            gangs[i]->topology == GV_NONE) {
            return gv_error(err, GROVE_E_INVALID, "gang and decision %u are not of this scheduler",
                            i);
        }
        grove_status st = gv_gang_link((grove_gang *)(uintptr_t)gangs[i], err);
        if (st < 0) {
            return st;
        }
        gv_guest *guest = &v->guests[i];
        *guest = (gv_guest){.g = (grove_gang *)(uintptr_t)gangs[i],
                            .d = decisions[i],
                            .gang = GV_NONE,
                            .node = GV_NONE};
        guest->counts = gv_arena_array(&v->mem, uint32_t, gangs[i]->podgroups.n + 1);
        if (!guest->counts) {
            return gv_error_nomem(err);
        }
        for (size_t k = 0; k < gangs[i]->podgroups.n; k++) {
            guest->counts[k] = gangs[i]->podgroups.v[k].count;
        }
        gv_decision_clear(guest->d);
    }
    v->n = n;
    return GROVE_OK;
}

static grove_status run(gv_serve *v) {
    grove_status st = gv_order_begin(v);
    for (uint32_t i = 0; i < v->n; i++) {
        show_counts(&v->guests[i], false);
    }
    for (uint32_t at; st == GROVE_OK && (at = gv_order_next(v)) != GV_NONE;) {
        st = serve_one(v, at);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        show_counts(&v->guests[i], true);
    }
    for (uint32_t i = 0; i < v->n_served && st == GROVE_OK; i++) {
        gv_guest *guest = &v->guests[v->order[i]];
        st = guest->gang != GV_NONE ? grow(v, guest) : GROVE_OK;
    }
    gv_keep_close(v, false);
    if (st == GROVE_OK && !gv_vec_reserve(v->s->env, &v->served, v->n)) {
        st = GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < v->n && st == GROVE_OK; i++) {
        const gv_guest *guest = &v->guests[v->order[i]];
        v->served.v[i] = (grove_served){v->order[i], guest->gang, guest->flags, guest->node};
    }
    return st;
}

static grove_status take_options(const grove_serve_options *options, gv_serve *v,
                                 grove_error *err) {
    memset(&v->o, 0, sizeof v->o);
    if (options) {
        grove_status st = gv_struct_in(&v->o, sizeof v->o, options, options->size,
                                       sizeof(uint32_t) * 2);
        if (st < 0) {
            return gv_error(err, st, "grove_serve_options has a wrong size");
        }
    }
    v->place = (grove_place_options){
        .size = (uint32_t)sizeof v->place, .steps = v->o.steps, .frontier = v->o.frontier};
    return GROVE_OK;
}

void gv_serve_free(grove_sched *s) {
    gv_serve *v = s->serve;
    if (!v) {
        return;
    }
    grove_gang_free(v->joint);
    grove_decision_free(v->joint_decision);
    grove_decision_free(v->grown);
    gv_vec_fini(s->env, &v->served);
    gv_arena_fini(&v->mem);
    gv_free(s->env, v, sizeof *v);
    s->serve = NULL;
}

grove_status grove_sched_serve(grove_sched *sched, const grove_gang *const *gangs,
                               grove_decision *const *decisions, uint32_t n,
                               const grove_serve_options *options, const grove_served **out_served,
                               grove_error *err) {
    if (!sched || !out_served || (n && (!gangs || !decisions))) {
        return gv_error(err, GROVE_E_INVALID, "serve needs a scheduler, gangs and decisions");
    }
    if (!sched->serve) {
        sched->serve = gv_zalloc(sched->env, sizeof *sched->serve);
        if (!sched->serve) {
            return gv_error_nomem(err);
        }
        sched->serve->s = sched;
        gv_arena_init(&sched->serve->mem, sched->env);
    }
    gv_serve *v = sched->serve;
    uint64_t mark;
    gv_arena_reset(&v->mem);
    v->kept = NULL;
    v->n_kept = v->n_served = v->n = 0;
    grove_status st = take_options(options, v, err);
    st = st < 0 ? st : seat_guests(v, gangs, decisions, n, err);
    if (st < 0) {
        return st;
    }
    st = grove_sched_mark(sched, &mark);
    if (st < 0) {
        return gv_error_nomem(err);
    }
    st = run(v);
    if (st < 0 || (v->o.flags & GROVE_SERVE_PLAN)) {
        grove_sched_rollback(sched, mark);
    } else {
        grove_sched_keep(sched, mark);
    }
    if (st < 0) {
        return gv_error(err, st, "service ended early");
    }
    v->served.n = n;
    *out_served = v->served.v;
    return GROVE_OK;
}
