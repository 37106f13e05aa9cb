/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod affinity and anti-affinity, as far as they are among the pods of one gang and can be kept exactly.
 *
 * Affinity makes pods share a domain when all pods it selects are bound by it: then it is a pack constraint.
 * Where the selected pods may lie in several domains, any of which would do, it is more than one, and noted.
 * Anti-affinity on hosts is a token: the pods that keep away hold it alone. Everything else is noted: pods
 * outside the gang, other namespaces, anti-affinity on broader levels.
 */
#include "engine/view_peers.h"

#include "engine/view_class.h"
#include "model/labels.h"
#include "value/doc.h"
#include "value/scalar.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

typedef struct work {
    gv_view *v;
    gv_peers *peers;
    const grove_node *podgang;
    gv_str ns, gang;
    uint32_t topology;
    grove_status status;
    grove_error *err;
} work;

/* One term, with what it selects in the gang. */
typedef struct term {
    const grove_node *node;
    gv_str key;
    const char *selector; /* written out; equal ones select the same */
    bool *selects;        /* by peer */
    uint32_t n_selected;
} term;

static void *array(work *w, size_t elem, uint32_t n) {
    void *p = gv_arena_zalloc(&w->v->scratch, elem * (n ? n : 1));
    if (!p) {
        w->status = gv_error_nomem(w->err);
    }
    return p;
}

/* ---- what a term selects ---- */

typedef struct labels_of {
    const work *w;
    const gv_peer *peer;
} labels_of;

/* The labels that the pods of a clique will carry; those that differ from pod to pod select nobody. */
static gv_str label_of(const void *ctx, gv_str key) {
    const labels_of *l = ctx;
    if (gv_str_is(key, GV_LABEL_CLIQUE)) {
        return l->peer->name;
    }
    if (gv_str_is(key, GV_LABEL_GANG)) {
        return l->w->gang;
    }
    const grove_node *value = gv_node_get(gv_node_path(l->peer->clique, "metadata.labels"), key);
    return value ? gv_node_str(value) : (gv_str){NULL, 0};
}

/* Whether the term is about more than labels in the gang's own namespace. */
static bool is_foreign(const work *w, const grove_node *node) {
    const grove_node *names = grove_node_get(node, "namespaces");
    GV_EACH(name, names) {
        if (!gv_str_eq(gv_node_str(name), w->ns)) {
            return true;
        }
    }
    return grove_node_get(node, "namespaceSelector") != NULL ||
           grove_node_size(grove_node_get(node, "mismatchLabelKeys")) > 0 ||
           grove_node_size(grove_node_get(node, "matchLabelKeys")) > 0;
}

static bool read_term(work *w, const grove_node *node, term *out) {
    gv_selector *selector = NULL;
    grove_error why = GROVE_ERROR_INIT;
    *out = (term){.node = node, .key = gv_node_get_str(node, "topologyKey")};
    out->selects = array(w, sizeof *out->selects, w->peers->n);
    if (!out->selects || is_foreign(w, node)) {
        return false;
    }
    grove_status st = gv_selector_from_node(w->v->env, grove_node_get(node, "labelSelector"),
                                            &selector, &why);
    if (st < 0) {
        w->status = st == GROVE_E_NOMEM ? gv_error_nomem(w->err) : w->status;
        return false;
    }
    for (uint32_t i = 0; i < w->peers->n; i++) {
        labels_of labels = {w, &w->peers->v[i]};
        out->selects[i] = w->peers->v[i].clique &&
                          gv_selector_matches_by(selector, label_of, &labels);
        out->n_selected += out->selects[i];
    }
    grove_buf text;
    grove_buf_init(&text, w->v->env);
    st = gv_selector_format(selector, &text);
    if (st == GROVE_OK) {
        out->selector = gv_arena_dup(&w->v->scratch, gv_buf_view(&text));
    }
    if (st == GROVE_E_NOMEM || (st == GROVE_OK && !out->selector)) {
        w->status = gv_error_nomem(w->err);
    }
    grove_buf_fini(&text);
    gv_selector_free(selector);
    return out->selector != NULL;
}

static const grove_node *terms_of(const gv_peer *peer, const char *kind) {
    const grove_node *affinity = gv_node_path(peer->clique, "spec.podSpec.affinity");
    return grove_node_get(grove_node_get(affinity, kind), REQUIRED);
}

/* Whether a peer has the same term itself. */
static bool has_term(work *w, uint32_t peer, const char *kind, const term *like) {
    GV_EACH(node, terms_of(&w->peers->v[peer], kind)) {
        term t;
        if (read_term(w, node, &t) && gv_str_eq(t.key, like->key) &&
            strcmp(t.selector, like->selector) == 0) {
            return true;
        }
    }
    return false;
}

static void note(work *w, uint32_t peer, const char *kind, uint32_t at, const char *text) {
    const char *path = gv_arena_fmt(&w->v->scratch, "affinity.%s." REQUIRED "[%u]", kind, at);
    if (!gv_view_note_add(w->v, w->peers->v[peer].name, path, text)) {
        w->status = gv_error_nomem(w->err);
    }
}

/* ---- affinity: packs ---- */

static bool in_set(const uint32_t *set, uint32_t n, uint32_t x) {
    for (uint32_t i = 0; i < n; i++) {
        if (set[i] == x) {
            return true;
        }
    }
    return false;
}

/* Neither disjoint nor one inside the other. */
static bool crosses(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
    uint32_t both = 0;
    for (uint32_t i = 0; i < n_a; i++) {
        both += in_set(b, n_b, a[i]);
    }
    return both > 0 && both < n_a && both < n_b;
}

static bool crosses_any(work *w, const uint32_t *set, uint32_t n) {
    uint32_t *other = array(w, sizeof *other, w->peers->n);
    GV_EACH(config,
            grove_node_get(gv_node_path(w->podgang, "spec"), "topologyConstraintGroupConfigs")) {
        uint32_t n_other = 0;
        GV_EACH(name, grove_node_get(config, "podGroupNames")) {
            for (uint32_t i = 0; other && i < w->peers->n; i++) {
                if (gv_str_eq(w->peers->v[i].name, gv_node_str(name)) &&
                    !in_set(other, n_other, i)) {
                    other[n_other++] = i;
                }
            }
        }
        if (!other || crosses(set, n, other, n_other)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < w->peers->n_packs; i++) {
        if (crosses(set, n, w->peers->packs[i].peers, w->peers->packs[i].n)) {
            return true;
        }
    }
    return false;
}

/* Whether "in the domain of one of them" means "in one domain with all of them". */
static bool is_one_domain(work *w, uint32_t peer, const term *t) {
    uint32_t pods = 0;
    bool all_have_it = true;
    for (uint32_t i = 0; i < w->peers->n; i++) {
        if (t->selects[i]) {
            pods += w->peers->v[i].pods;
            all_have_it = all_have_it && (i == peer || has_term(w, i, "podAffinity", t));
        }
    }
    return all_have_it || (pods == 1 && !t->selects[peer]);
}

static void add_affinity(work *w, uint32_t peer, const term *t, uint32_t at) {
    gv_peer *p = &w->peers->v[peer];
    grove_level level = grove_sched_level(w->v->sched, w->topology, t->key.p);
    if (level == GROVE_LEVEL_UNKNOWN) {
        note(w, peer, "podAffinity", at, "its topologyKey is no level of the gang's topology");
        return;
    }
    if (t->n_selected == 0) {
        note(w, peer, "podAffinity", at, "it selects no pod of the gang; others are not looked at");
        return;
    }
    if (!is_one_domain(w, peer, t)) {
        note(w, peer, "podAffinity", at, "the pods it selects may lie in several domains");
        return;
    }
    uint32_t *set = array(w, sizeof *set, w->peers->n), n = 0;
    for (uint32_t i = 0; set && i < w->peers->n; i++) {
        if (t->selects[i] || i == peer) {
            set[n++] = i;
        }
    }
    if (n == 1) {
        p->pack = level > p->pack ? level : p->pack;
    } else if (set && !crosses_any(w, set, n)) {
        w->peers->packs[w->peers->n_packs++] = (gv_peer_pack){set, n, level};
    } else if (w->status == GROVE_OK) {
        note(w, peer, "podAffinity", at, "it goes across groups of the gang");
    }
}

/* ---- anti-affinity: tokens ---- */

static void add_token(work *w, uint32_t peer, const char *name, bool alone) {
    gv_peer *p = &w->peers->v[peer];
    for (uint32_t i = 0; i < p->n_tokens; i++) {
        if (strcmp(p->tokens[i].name, name) == 0) {
            p->tokens[i].alone = p->tokens[i].alone || alone;
            return;
        }
    }
    p->tokens[p->n_tokens++] = (grove_sched_token){.name = name, .alone = alone};
}

static void add_anti_affinity(work *w, uint32_t peer, const term *t, uint32_t at) {
    grove_level level = grove_sched_level(w->v->sched, w->topology, t->key.p);
    if (level != grove_sched_host_level(w->v->sched, w->topology)) {
        note(w, peer, "podAntiAffinity", at, "pods are kept apart on hosts only");
        return;
    }
    if (t->n_selected == 0) {
        note(w, peer, "podAntiAffinity", at,
             "it selects no pod of the gang; others are not looked at");
        return;
    }
    if (!t->selects[peer]) {
        note(w, peer, "podAntiAffinity", at,
             "it keeps its pods away from others but not from one another");
        return;
    }
    const char *name = gv_arena_fmt(&w->v->scratch, "%.*s/%s", (int)w->ns.n, w->ns.p, t->selector);
    if (!name) {
        w->status = gv_error_nomem(w->err);
        return;
    }
    for (uint32_t i = 0; i < w->peers->n; i++) {
        if (t->selects[i]) {
            add_token(w, i, name, i == peer);
        }
    }
}

/* ---- all ---- */

static void read_peer(work *w, uint32_t peer, const char *kind,
                      void (*add)(work *w, uint32_t peer, const term *t, uint32_t at)) {
    uint32_t at = 0;
    GV_EACH(node, terms_of(&w->peers->v[peer], kind)) {
        term t;
        if (w->status == GROVE_OK && read_term(w, node, &t)) {
            add(w, peer, &t, at);
        } else if (w->status == GROVE_OK) {
            note(w, peer, kind, at, "it is about pods outside the gang, which are not looked at");
        }
        at++;
    }
}

grove_status gv_view_peers(gv_view *v, uint32_t topology, gv_str ns, gv_str gang,
                           const grove_node *podgang, gv_peers *peers, grove_error *err) {
    work w = {.v = v,
              .peers = peers,
              .podgang = podgang,
              .ns = ns,
              .gang = gang,
              .topology = topology,
              .err = err};
    uint32_t apart = 0, together = 0;
    for (uint32_t i = 0; i < peers->n; i++) {
        apart += grove_node_size(terms_of(&peers->v[i], "podAntiAffinity"));
        together += grove_node_size(terms_of(&peers->v[i], "podAffinity"));
    }
    peers->packs = array(&w, sizeof *peers->packs, together);
    for (uint32_t i = 0; i < peers->n; i++) {
        peers->v[i].pack = GROVE_LEVEL_NONE;
        peers->v[i].tokens = apart ? array(&w, sizeof(grove_sched_token), apart) : NULL;
    }
    for (uint32_t i = 0; w.status == GROVE_OK && i < peers->n; i++) {
        read_peer(&w, i, "podAffinity", add_affinity);
        read_peer(&w, i, "podAntiAffinity", add_anti_affinity);
    }
    return w.status;
}
