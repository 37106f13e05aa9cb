/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The patch that releases a pod. A scheduler without gangs is told the place with it: every required
 * domain of the pod is ANDed into each node-affinity term (terms are alternatives: all must carry it), and
 * the chosen node becomes a preference, so that the scheduler is free only where it does no harm.
 */
#include "plan/gates.h"

#define HOSTNAME_KEY "kubernetes.io/hostname"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define AFFINITY "/spec/affinity"

typedef struct domain {
    gv_str key;
    const char *value;
} domain;

typedef struct place {
    const char *node;
    domain domains[4]; /* of the gang, its set, its group, the clique */
    uint32_t n;
} place;

/* ---- pieces of the patch ---- */

static void begin_op(grove_builder *b, const char *op, const char *path) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "op", op);
    grove_builder_string(b, "path", path);
}

static void expression(grove_builder *b, gv_str key, const char *value) {
    grove_builder_open_object(b, NULL);
    grove_builder_stringn(b, "key", key.p, key.n);
    grove_builder_string(b, "operator", "In");
    grove_builder_open_array(b, "values");
    grove_builder_string(b, NULL, value);
    grove_builder_close(b);
    grove_builder_close(b);
}

static void required_value(grove_builder *b, const char *key, const place *at) {
    grove_builder_open_object(b, key);
    grove_builder_open_array(b, "nodeSelectorTerms");
    grove_builder_open_object(b, NULL);
    grove_builder_open_array(b, "matchExpressions");
    for (uint32_t i = 0; i < at->n; i++) {
        expression(b, at->domains[i].key, at->domains[i].value);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

static void preference(grove_builder *b, const char *key, const place *at) {
    grove_builder_open_object(b, key);
    grove_builder_int64(b, "weight", 100);
    grove_builder_open_object(b, "preference");
    grove_builder_open_array(b, "matchExpressions");
    expression(b, GV_STR(HOSTNAME_KEY), at->node);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

/* nodeAffinity of a pod that has none. */
static void node_affinity(grove_builder *b, const char *key, const place *at) {
    grove_builder_open_object(b, key);
    if (at->n > 0) {
        required_value(b, REQUIRED, at);
    }
    grove_builder_open_array(b, PREFERRED);
    preference(b, NULL, at);
    grove_builder_close(b);
    grove_builder_close(b);
}

/* Each domain into each term that stands; a term without expressions gets its list first. */
static void narrow_terms(grove_builder *b, const grove_node *terms, const place *at) {
    char path[256];
    uint32_t i = 0;
    for (const grove_node *t = grove_node_first(terms); t; t = grove_node_next(terms, t), i++) {
        const char *stem = AFFINITY "/nodeAffinity/" REQUIRED "/nodeSelectorTerms";
        if (grove_node_get(t, "matchExpressions") == NULL && at->n > 0) {
            gv_fmt(path, sizeof path, "%s/%u/matchExpressions", stem, i);
            begin_op(b, "add", path);
            grove_builder_open_array(b, "value");
            grove_builder_close(b);
            grove_builder_close(b);
        }
        gv_fmt(path, sizeof path, "%s/%u/matchExpressions/-", stem, i);
        for (uint32_t k = 0; k < at->n; k++) {
            begin_op(b, "add", path);
            grove_builder_open_object(b, "value");
            grove_builder_stringn(b, "key", at->domains[k].key.p, at->domains[k].key.n);
            grove_builder_string(b, "operator", "In");
            grove_builder_open_array(b, "values");
            grove_builder_string(b, NULL, at->domains[k].value);
            grove_builder_close(b);
            grove_builder_close(b);
            grove_builder_close(b);
        }
    }
}

/* `spec` is the podSpec that the pod was made from. */
static void tell_place(grove_builder *b, const grove_node *spec, const place *at) {
    const grove_node *affinity = grove_node_get(spec, "affinity");
    const grove_node *node = grove_node_get(affinity, "nodeAffinity");
    if (affinity == NULL) {
        begin_op(b, "add", AFFINITY);
        grove_builder_open_object(b, "value");
        node_affinity(b, "nodeAffinity", at);
        grove_builder_close(b);
        grove_builder_close(b);
        return;
    }
    if (node == NULL) {
        begin_op(b, "add", AFFINITY "/nodeAffinity");
        node_affinity(b, "value", at);
        grove_builder_close(b);
        return;
    }
    const grove_node *required = grove_node_get(node, REQUIRED);
    if (required != NULL) {
        narrow_terms(b, grove_node_get(required, "nodeSelectorTerms"), at);
    } else if (at->n > 0) {
        begin_op(b, "add", AFFINITY "/nodeAffinity/" REQUIRED);
        required_value(b, "value", at);
        grove_builder_close(b);
    }
    bool list = grove_node_get(node, PREFERRED) != NULL;
    begin_op(b, "add",
             list ? AFFINITY "/nodeAffinity/" PREFERRED "/-" : AFFINITY "/nodeAffinity/" PREFERRED);
    if (list) {
        preference(b, "value", at);
    } else {
        grove_builder_open_array(b, "value");
        preference(b, NULL, at);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

/* ---- where the pod is to go ---- */

static void add_domain(const gv_work *w, const gv_topology *t, const gv_node_record *node,
                       place *at) {
    gv_str key = t->required.n > 0 ? gv_template_level_key(w->t, t->required) : (gv_str){"", 0};
    const char *value = key.n > 0 ? gv_node_record_label(node, key) : NULL;
    for (uint32_t i = 0; i < at->n; i++) {
        if (gv_str_eq(at->domains[i].key, key)) {
            return;
        }
    }
    if (value != NULL) {
        at->domains[at->n++] = (domain){key, value};
    }
}

static bool find_place(const gv_work *w, const gv_work_gang *g, const gv_work_clique *c,
                       const gv_pod *p, place *at) {
    const grove_placed_pod *found = NULL;
    for (uint32_t i = 0; g->placement != NULL && i < g->placement->n_pods && !found; i++) {
        const grove_placed_pod *q = &g->placement->pods[i];
        found = strcmp(q->pod, p->head.name) == 0 ? q : NULL;
    }
    const gv_object *o =
        found ? gv_store_get(w->store, GV_KIND_NODE, GV_STR(""), gv_str_c(found->node)) : NULL;
    if (o == NULL) {
        return false;
    }
    *at = (place){.node = found->node};
    add_domain(w, g->want->topology, &o->u.node, at);
    if (w->view->cross_gang_pack == GV_WISH_REQUIRE && g->want->role == GV_NO_ROLE) {
        add_domain(w, &w->view->topology, &o->u.node, at);
    }
    if (c->want->group != GV_STANDALONE) {
        uint32_t config = w->groups[c->want->group].want->config;
        add_domain(w, &w->view->groups[config].topology, &o->u.node, at);
    }
    add_domain(w, &w->view->cliques[c->want->clique].topology, &o->u.node, at);
    return true;
}

grove_status gv_gate_open(gv_work *w, const gv_work_gang *g, const gv_work_clique *c,
                          const gv_pod *p) {
    const gv_adapter *adapter = gv_template_gang_adapter(w->t, NULL);
    bool releaser = adapter != NULL && (adapter->caps & GV_ADAPTER_RELEASER) != 0;
    place at = {0};
    bool placed = releaser && find_place(w, g, c, p, &at);
    if (releaser && !placed && !gv_gang_goes_unplaced(w, g)) {
        return GROVE_OK; /* a surplus pod without a place of its own waits for the next decision */
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, GV_KIND_POD, gv_str_c(p->head.name),
                             GV_ORDER_GATE, "GangComplete", "release pod %s%s%s", p->head.name,
                             placed ? " to node " : "", placed ? at.node : "");
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_JSON;
    act->uid = gv_str_c(p->head.uid);
    act->pod = p;
    act->clique = (uint32_t)(c - w->cliques);
    char path[64], name_path[80];
    gv_fmt(path, sizeof path, "/spec/schedulingGates/%u", (unsigned)p->gate_at);
    gv_fmt(name_path, sizeof name_path, "%s/name", path);
    grove_builder_open_array(w->b, NULL);
    begin_op(w->b, "test", name_path);
    grove_builder_string(w->b, "value", GV_GATE);
    grove_builder_close(w->b);
    if (placed) {
        tell_place(w->b, grove_node_at_path(c->obj->u.document.node, "/spec/podSpec"), &at);
    }
    begin_op(w->b, "remove", path);
    grove_builder_close(w->b);
    grove_builder_close(w->b);
    return gv_act_finish_body(w, act);
}
