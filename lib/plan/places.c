/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement memory: where the pods of a gang are is written on its PodGang, as annotations, so that a pod's
 * successor can go back to the node of its index whoever decides about it, after whatever restart. One write
 * for the whole gang, when every pod that was given a place is there; an index that lost its pod keeps its
 * entry. Only where the set asks for it (template.placement.sticky), and for gangs whose places we find
 * ourselves: nobody else reads it.
 */
#include "base/hash.h"
#include "model/places.h"
#include "plan/delta.h"
#include "plan/gates.h"

/* Annotations of an object may take 256 KiB in all. */
#define PLACES_MAX (128u * 1024)

static bool in_gang(const gv_pod *p, const gv_work_gang *g) {
    return gv_str_eq(gv_str_c(p->gang), g->want->name);
}

static const gv_work_clique *clique_of(const gv_work *w, const gv_work_gang *g, uint32_t k) {
    return &w->cliques[g->want->first_clique + k];
}

static bool is_decided(const gv_work_gang *g, const gv_pod *p) {
    const grove_placement *place = g->placement;
    for (uint32_t i = 0; place && i < place->n_pods; i++) {
        if (strcmp(place->pods[i].pod, p->head.name) == 0) {
            return place->verdict == GROVE_VERDICT_PLACED;
        }
    }
    return false;
}

/* More of its pods are about to be bound: one write for all of them. */
static bool is_on_its_way(const gv_work_gang *g, const gv_pod *p, uint32_t caps) {
    bool let_go = (caps & GV_ADAPTER_RELEASER) != 0 && p->n_gates == 0;
    return !gv_pod_is_bound(p) && (let_go || is_decided(g, p));
}

/* Signature of what is bound; 0: not the time to write it down. */
static uint64_t signature(const gv_work *w, const gv_work_gang *g, uint32_t caps) {
    uint64_t sig = GV_FNV_START;
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = clique_of(w, g, k);
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if (!in_gang(p, g)) {
                continue;
            }
            if (is_on_its_way(g, p, caps)) {
                return 0;
            }
            sig = gv_fnv1a(sig, &p->index, sizeof p->index);
            sig = gv_fnv1a(sig, p->node, strlen(p->node) + 1);
        }
        sig = gv_fnv1a(sig, &k, sizeof k);
    }
    return sig | 1u;
}

/* ---- the nodes ---- */

/* One clique: what is remembered, and over it what is. */
static bool add_clique(gv_work *w, const gv_work_gang *g, const gv_work_clique *c, gv_str stands,
                       grove_buf *out) {
    int64_t most = c->want->replicas;
    gv_str *nodes = gv_arena_array(&w->arena, gv_str, (size_t)most + 1);
    gv_str rest = gv_places_of(stands, c->want->name), node;
    int64_t index = 0;
    bool first = true, ok = nodes != NULL;
    while (ok && gv_places_next(&rest, &index, &node)) {
        if (index < most) {
            nodes[index] = node;
        }
    }
    for (uint32_t i = 0; ok && i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        if (in_gang(p, g) && gv_pod_is_bound(p) && p->index >= 0 && p->index < most) {
            nodes[p->index] = gv_str_c(p->node);
        }
    }
    for (index = 0; ok && index < most; index++) {
        if (nodes[index].n > 0) {
            ok = (!first || gv_buf_fmt(out, "%s%.*s:", out->len ? ";" : "",
                                       ARG_STR(c->want->name)) == GROVE_OK) &&
                 gv_buf_fmt(out, "%s%lld=%.*s", first ? "" : ",", (long long)index,
                            ARG_STR(nodes[index])) == GROVE_OK;
            first = false;
        }
    }
    return ok;
}

/* p NULL: out of memory. */
static gv_str places_text(gv_work *w, const gv_work_gang *g, gv_str stands) {
    grove_buf b;
    gv_str text = {NULL, 0};
    bool ok = true;
    grove_buf_init(&b, w->env);
    for (uint32_t k = 0; ok && k < g->want->n_cliques; k++) {
        ok = add_clique(w, g, clique_of(w, g, k), stands, &b);
    }
    gv_str view = gv_buf_view(&b);
    if (ok && view.n <= PLACES_MAX) {
        text.p = gv_arena_dup(&w->arena, view);
        text.n = text.p ? view.n : 0;
    } else if (ok) {
        text = GV_STR(""); /* too large a gang to be remembered by name */
    }
    grove_buf_fini(&b);
    return text;
}

/* ---- the domain ---- */

static gv_str label_of(const gv_work *w, const char *node, gv_str key) {
    const gv_object *o = gv_store_get(w->store, GV_KIND_NODE, GV_STR(""), gv_str_c(node));
    return gv_str_c(o ? gv_node_record_label(&o->u.node, key) : NULL);
}

/* The one domain that all bound pods are in, of the level that the gang is packed on; "" when they are in
 * several, or when it is not packed. */
static gv_str anchor_text(gv_work *w, const gv_work_gang *g) {
    const grove_node *pack = grove_node_at_path(g->memo->node,
                                                "/spec/topologyConstraint/packConstraint");
    gv_str key = gv_get_str(pack, "required"), domain = {NULL, 0};
    key = key.n ? key : gv_get_str(pack, "preferred");
    for (uint32_t k = 0; key.n > 0 && k < g->want->n_cliques; k++) {
        const gv_work_clique *c = clique_of(w, g, k);
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if (!in_gang(p, g) || !gv_pod_is_bound(p)) {
                continue;
            }
            gv_str here = label_of(w, p->node, key);
            if (here.n == 0 || (domain.p && !gv_str_eq(here, domain))) {
                return GV_STR("");
            }
            domain = here;
        }
    }
    return domain.n ? gv_text(w, "%.*s=%.*s", ARG_STR(key), ARG_STR(domain)) : GV_STR("");
}

/* ---- the write ---- */

static grove_status finish_write(gv_work *w, gv_work_gang *g, const char *what) {
    gv_act *act = gv_gang_patch(w, g, "Places", what);
    return act ? gv_act_finish_body(w, act) : gv_work_nomem(w);
}

static const grove_node *annotations_of(const gv_work_gang *g) {
    return grove_node_get(grove_node_get(g->memo->node, "metadata"), "annotations");
}

static void begin_write(gv_work *w, gv_delta *d) {
    gv_delta_begin(d, w->b);
    gv_delta_enter(d, "metadata");
    gv_delta_enter(d, "annotations");
}

static grove_status write_places(gv_work *w, gv_work_gang *g, uint64_t sig) {
    const grove_node *live = annotations_of(g);
    gv_str places = places_text(w, g, gv_get_str(live, GV_ANNOTATION_PLACES));
    gv_str anchor = anchor_text(w, g);
    gv_delta d;
    if (!places.p || w->starved) {
        return gv_work_nomem(w);
    }
    begin_write(w, &d);
    gv_delta_text(&d, live, GV_ANNOTATION_PLACES, places);
    gv_delta_text(&d, live, GV_ANNOTATION_ANCHOR, anchor);
    if (!gv_delta_end(&d)) {
        g->memo->places_sig = sig;
        return GROVE_OK;
    }
    return finish_write(w, g, "remember the places");
}

/* The set no longer asks for it: what stands would bring pods back to where nobody wants them to be. */
static grove_status forget_places(gv_work *w, gv_work_gang *g) {
    static const char *const keys[] = {GV_ANNOTATION_PLACES, GV_ANNOTATION_ANCHOR};
    const grove_node *live = annotations_of(g);
    gv_delta d;
    if (!grove_node_get(live, keys[0]) && !grove_node_get(live, keys[1])) {
        return GROVE_OK;
    }
    begin_write(w, &d);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (grove_node_get(live, keys[i])) {
            gv_delta_away(&d, live, keys[i]);
        }
    }
    (void)gv_delta_end(&d);
    return finish_write(w, g, "forget the places");
}

/* By the scheduler's nature, or because the host says so. */
static bool is_placed_by_us(const gv_work *w, gv_str scheduler, uint32_t caps) {
    const char *more = w->request->bind_schedulers;
    return (caps & (GV_ADAPTER_BINDER | GV_ADAPTER_RELEASER)) != 0 ||
           (more != NULL && gv_str_in_list(more, scheduler));
}

grove_status gv_gang_remember(gv_work *w, gv_work_gang *g) {
    gv_str scheduler = {NULL, 0};
    if (g->writes || !g->obj || (g->obj->u.head.flags & GV_HEAD_EXPECTED) != 0) {
        return GROVE_OK;
    }
    const gv_adapter *adapter = gv_template_gang_adapter(w->t, &scheduler);
    uint32_t caps = adapter ? adapter->caps : 0;
    if (gv_template_pcs(w->t)->sticky == GV_WISH_NONE || !is_placed_by_us(w, scheduler, caps)) {
        return forget_places(w, g);
    }
    uint64_t sig = g->scheduled ? signature(w, g, caps) : 0;
    return sig == 0 || sig == g->memo->places_sig ? GROVE_OK : write_places(w, g, sig);
}
