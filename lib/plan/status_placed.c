/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the wishes about several gangs, and of ratios: whether those of a set replica share a domain, and how
 * replicas are spread. What was preferred and is not so is told in numbers; what nobody enforces is told, too.
 */
#include "plan/status.h"
#include "plan/template_def.h"

/* ---- where pods are ---- */

static bool is_placed(const gv_pod *p) {
    return gv_pod_is_active(p) && gv_pod_is_bound(p);
}

static const char *domain_of(const gv_work *w, const gv_pod *p, gv_str key) {
    const gv_object *node = gv_store_get(w->store, GV_KIND_NODE, GV_STR(""), gv_str_c(p->node));
    const char *value = node ? gv_node_record_label(&node->u.node, key) : NULL;
    return value ? value : "";
}

/* One placed pod of some cliques; NULL: none is. */
static const gv_pod *first_placed(const gv_work *w, uint32_t first, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const gv_work_clique *c = &w->cliques[first + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            if (is_placed(c->pods[i])) {
                return c->pods[i];
            }
        }
    }
    return NULL;
}

static bool engine_places(const gv_work *w) {
    const gv_adapter *adapter = gv_template_gang_adapter(w->t, NULL);
    return adapter != NULL && (adapter->caps & GV_ADAPTER_PLACED) != 0;
}

/* ---- one domain for the gangs of a set replica ---- */

/* A set's constraint that holds gang by gang only: nobody has to find that out by looking at the nodes. */
static void tell_per_gang(const gv_work *w, const gv_work_gang *g, gv_condition *c) {
    const gv_template *t = w->want->replicas[g->want->replica].t;
    if (t->pcs.topology.required.n == 0 || g->want->group == GV_STANDALONE ||
        !g->want->has_topology) {
        return;
    }
    c->absent = false;
    c->status = GV_FALSE;
    c->reason = "GuaranteedPerGang";
    c->message = GV_STR("the set's constraint holds within each gang: this one need not lie in the "
                        "domain of its base gang; crossGangPack would ask for that");
}

gv_condition gv_gang_cross_condition(gv_work *w, const gv_work_gang *g) {
    gv_str key = gv_gang_anchor_key(w->want, (uint32_t)(g - w->gangs));
    const gv_want_gang *base = &w->want->gangs[g->want->base];
    const gv_pod *anchor = first_placed(w, base->first_clique, base->n_cliques);
    gv_condition c = {.type = GV_COND_CROSS_GANG, .status = GV_TRUE, .absent = true, .reason = ""};
    if (key.n == 0) {
        tell_per_gang(w, g, &c);
        return c;
    }
    if (!engine_places(w)) {
        c.absent = false;
        c.status = GV_FALSE;
        c.reason = "SchedulerPlacesPods";
        c.message = GV_STR("the scheduler of this gang chooses its nodes by itself");
        return c;
    }
    const char *home = anchor ? domain_of(w, anchor, key) : "";
    int64_t placed = 0, away = 0;
    for (uint32_t k = 0; anchor && k < g->want->n_cliques; k++) {
        const gv_work_clique *clique = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < clique->n_pods; i++) {
            const gv_pod *p = clique->pods[i];
            bool here = is_placed(p);
            placed += here ? 1 : 0;
            away += here && strcmp(domain_of(w, p, key), home) != 0 ? 1 : 0;
        }
    }
    c.absent = placed == 0;
    c.status = away == 0 ? GV_TRUE : GV_FALSE;
    c.reason = away == 0 ? "InAnchorDomain" : "OutsideAnchorDomain";
    c.message = c.absent ? GV_STR("")
                : away == 0
                    ? gv_text(w, "all pods lie in %.*s=%s", ARG_STR(key), home)
                    : gv_text(w, "%lld of %lld pods lie outside %.*s=%s, the domain of gang %.*s",
                              (long long)away, (long long)placed, ARG_STR(key), home,
                              ARG_STR(base->name));
    return c;
}

/* ---- spread ---- */

typedef struct share {
    const char *domain; /* interned, or "" */
    int64_t n;
} share;

typedef struct tally {
    gv_work *w;
    gv_str key;
    GV_VEC(share) domains; /* sorted */
    int64_t placed;
} tally;

static bool count_in(tally *t, const char *domain, int64_t n) {
    size_t at = 0;
    while (at < t->domains.n && strcmp(t->domains.v[at].domain, domain) < 0) {
        at++;
    }
    if (at < t->domains.n && strcmp(t->domains.v[at].domain, domain) == 0) {
        t->domains.v[at].n += n;
        return true;
    }
    share fresh = {domain, n};
    if (!gv_vec_push(t->w->env, &t->domains, fresh)) {
        return false;
    }
    for (size_t i = t->domains.n - 1; i > at; i--) {
        t->domains.v[i] = t->domains.v[i - 1];
    }
    t->domains.v[at] = fresh;
    return true;
}

static bool offers(const gv_node_record *node, const gv_request *r) {
    for (uint32_t i = 0; i < node->n_allocatable; i++) {
        if (strcmp(node->allocatable[i].name, r->name) == 0) {
            return node->allocatable[i].amount >= r->amount;
        }
    }
    return r->amount == 0;
}

/* A node that could hold a pod of the replicas if it were empty: its domain counts, also with none there. */
static bool could_hold(const gv_node_record *node, const gv_pod *p) {
    bool ok = (node->flags & GV_NODE_READY) != 0 && (node->flags & GV_NODE_UNSCHEDULABLE) == 0;
    for (uint32_t i = 0; ok && i < p->n_requests; i++) {
        ok = offers(node, &p->requests[i]);
    }
    return ok;
}

static bool count_replica(tally *t, uint32_t first, uint32_t n, const gv_pod **out_some) {
    const gv_pod *p = first_placed(t->w, first, n);
    if (p == NULL) {
        return true;
    }
    *out_some = p;
    t->placed++;
    return count_in(t, domain_of(t->w, p, t->key), 1);
}

static bool count_empty(tally *t, const gv_pod *some) {
    const gv_list *nodes = gv_store_of_kind(t->w->store, GV_KIND_NODE);
    bool ok = true;
    for (const gv_object *o = some ? nodes->first : NULL; o && ok;
         o = gv_list_next(o, GV_LIST_KIND)) {
        const char *value = gv_node_record_label(&o->u.node, t->key);
        ok = value == NULL || !could_hold(&o->u.node, some) || count_in(t, value, 0);
    }
    return ok;
}

#define MOST_TOLD 16 /* domains in a message */

static gv_str distribution(const tally *t) {
    gv_str text = GV_STR("");
    for (size_t i = 0; i < t->domains.n && i < MOST_TOLD; i++) {
        text = gv_text(t->w, "%.*s%s%lld in %s", ARG_STR(text), text.n ? ", " : "",
                       (long long)t->domains.v[i].n,
                       t->domains.v[i].domain[0] ? t->domains.v[i].domain : "none");
    }
    return t->domains.n <= MOST_TOLD ? text
                                     : gv_text(t->w, "%.*s and %u domains more", ARG_STR(text),
                                               (unsigned)(t->domains.n - MOST_TOLD));
}

static gv_condition judge(const tally *t, const gv_spread *spread) {
    int64_t most = 0, fewest = INT64_MAX;
    for (size_t i = 0; i < t->domains.n; i++) {
        most = t->domains.v[i].n > most ? t->domains.v[i].n : most;
        fewest = t->domains.v[i].n < fewest ? t->domains.v[i].n : fewest;
    }
    bool even = t->placed == 0 || most - fewest <= spread->max_skew;
    return (gv_condition){.type = GV_COND_SPREAD,
                          .status = even ? GV_TRUE : GV_FALSE,
                          .absent = t->placed == 0,
                          .reason = even ? "WithinMaxSkew" : "SkewExceeded",
                          .message = distribution(t)};
}

static gv_condition spread_condition(gv_work *w, const gv_spread *spread, const gv_work_group *g) {
    gv_condition c = {.type = GV_COND_SPREAD, .absent = true, .reason = "", .message = {"", 0}};
    gv_str key = spread->mode != GV_WISH_NONE && spread->domain.n > 0
                     ? gv_template_level_key(w->t, spread->domain)
                     : GV_STR("");
    if (key.n == 0) {
        return c;
    }
    if (!engine_places(w)) {
        c.absent = false;
        c.reason = "SchedulerPlacesPods";
        c.message = GV_STR("the scheduler chooses the nodes of each gang by itself");
        return c;
    }
    tally t = {.w = w, .key = key};
    const gv_pod *some = NULL;
    bool ok = true;
    for (int64_t r = 0; g && ok && r < g->want->replicas; r++) {
        ok = g->want->n_members == 0 ||
             count_replica(&t, gv_want_member(g->want, r, 0), g->want->n_members, &some);
    }
    for (uint32_t r = 0; !g && ok && r < w->want->n_replicas; r++) {
        const gv_want_gang *base = &w->want->gangs[w->want->replicas[r].first_gang];
        ok = count_replica(&t, base->first_clique, base->n_cliques, &some);
    }
    ok = ok && count_empty(&t, some);
    w->starved = w->starved || !ok;
    c = judge(&t, spread);
    gv_vec_fini(w->env, &t.domains);
    return c;
}

gv_condition gv_set_spread_condition(gv_work *w) {
    return spread_condition(w, &w->view->topology.spread, NULL);
}

gv_condition gv_group_spread_condition(gv_work *w, const gv_work_group *g) {
    return spread_condition(w, &w->view->groups[g->want->config].topology.spread, g);
}

/* ---- ratios ---- */

static gv_str bound_text(gv_work *w, int64_t milli) {
    return milli == 0
               ? GV_STR("any")
               : gv_text(w, "%lld.%03lld", (long long)(milli / 1000), (long long)(milli % 1000));
}

gv_condition gv_ratio_condition(gv_work *w, const gv_ratio *ratio, int64_t asked, int64_t planned) {
    gv_condition c = {.type = GV_COND_OUT_OF_RATIO,
                      .status = GV_TRUE,
                      .absent = ratio == NULL,
                      .reason = "",
                      .message = {"", 0}};
    if (ratio != NULL) {
        gv_str min = bound_text(w, ratio->min), max = bound_text(w, ratio->max);
        c.reason = ratio->mode == GV_RATIO_FOLLOW  ? "Follows"
                   : ratio->mode == GV_RATIO_CLAMP ? "Clamped"
                                                   : "Warned";
        c.message = gv_text(w, "%lld asked for, %lld planned: %.*s to %.*s is to be %.*s to %.*s",
                            (long long)asked, (long long)planned, ARG_STR(ratio->numerator),
                            ARG_STR(ratio->denominator), ARG_STR(min), ARG_STR(max));
    }
    return c;
}

uint64_t gv_sig_condition(uint64_t sig, const gv_condition *c) {
    if (c->absent) {
        return sig; /* as if there were no such wish */
    }
    return gv_sig_text(gv_sig_int(gv_sig_text(sig, gv_str_c(c->reason)), c->status), c->message);
}
