/* SPDX-License-Identifier: Apache-2.0 */
/* Typed views over the documents of Grove's kinds: see view.h. */
#include "model/view.h"

#include <grove/quantity.h>

#include "base/mem.h"
#include "model/labels.h"
#include "value/doc.h"
#include "value/scalar.h"

/* ---- small readers ---- */

gv_str gv_view_str(const grove_node *node) {
    if (grove_node_type(node) != GROVE_STRING) {
        return GV_STR("");
    }
    gv_str s = {NULL, 0};
    s.p = grove_node_textn(node, &s.n);
    return s;
}

gv_str gv_get_str(const grove_node *object, const char *key) {
    return gv_view_str(grove_node_get(object, key));
}

gv_opt_int gv_get_int(const grove_node *object, const char *key) {
    gv_opt_int out = {false, 0};
    const grove_node *node = grove_node_get(object, key);
    if (grove_node_type(node) == GROVE_NUMBER && grove_node_int64(node, &out.value) == GROVE_OK) {
        out.set = true;
    } else {
        out.value = 0;
    }
    return out;
}

/* A member if it has the type asked for; NULL otherwise. */
static const grove_node *typed(const grove_node *object, const char *key, grove_type type) {
    const grove_node *node = grove_node_get(object, key);
    return grove_node_type(node) == type ? node : NULL;
}

gv_meta_view gv_meta_view_of(const grove_node *object) {
    const grove_node *m = typed(object, "metadata", GROVE_OBJECT);
    return (gv_meta_view){
        .name = gv_get_str(m, "name"),
        .ns = gv_get_str(m, "namespace"),
        .uid = gv_get_str(m, "uid"),
        .generate_name = gv_get_str(m, "generateName"),
        .labels = typed(m, "labels", GROVE_OBJECT),
        .annotations = typed(m, "annotations", GROVE_OBJECT),
        .finalizers = typed(m, "finalizers", GROVE_ARRAY),
        .owners = typed(m, "ownerReferences", GROVE_ARRAY),
        .generation = gv_get_int(m, "generation").value,
        .deleting = typed(m, "deletionTimestamp", GROVE_STRING) != NULL,
    };
}

const grove_node *gv_meta_view_controller(const gv_meta_view *meta) {
    const grove_node *ref = grove_node_first(meta->owners);
    for (; ref; ref = grove_node_next(meta->owners, ref)) {
        if (grove_node_is_true(grove_node_get(ref, "controller"))) {
            return ref;
        }
    }
    return NULL;
}

const grove_node *gv_condition_find(const grove_node *conditions, const char *type) {
    if (grove_node_type(conditions) != GROVE_ARRAY) {
        return NULL;
    }
    const grove_node *c = grove_node_first(conditions);
    for (; c; c = grove_node_next(conditions, c)) {
        if (gv_str_is(gv_get_str(c, "type"), type)) {
            return c;
        }
    }
    return NULL;
}

/* ---- parts of a set's template ---- */

static gv_wish read_wish(gv_str word) {
    return gv_str_is(word, "Require")  ? GV_WISH_REQUIRE
           : gv_str_is(word, "Prefer") ? GV_WISH_PREFER
                                       : GV_WISH_NONE;
}

static gv_update read_update(gv_str word) {
    return gv_str_is(word, GV_UPDATE_ON_DELETE)  ? GV_UPDATE_MANUAL
           : gv_str_is(word, GV_UPDATE_COHERENT) ? GV_UPDATE_PAIRS
                                                 : GV_UPDATE_ROLLING;
}

gv_opt_int gv_number_or_percent(const grove_node *node, bool *out_percent) {
    int64_t value = 0;
    gv_str text = gv_node_str(node);
    *out_percent = false;
    if (grove_node_int64(node, &value) == GROVE_OK) {
        return (gv_opt_int){.set = true, .value = value};
    }
    if (text.n < 2 || text.p[text.n - 1] != '%' ||
        !gv_str_int64((gv_str){text.p, text.n - 1}, &value)) {
        return (gv_opt_int){.set = false};
    }
    *out_percent = true;
    return (gv_opt_int){.set = true, .value = value};
}

static gv_rolling read_rolling(const grove_node *strategy) {
    const grove_node *node = typed(strategy, "rollingUpdate", GROVE_OBJECT);
    gv_rolling r = {.paused = grove_node_is_true(grove_node_get(node, "paused")),
                    .progress_deadline = gv_get_str(node, "progressDeadline")};
    r.max_unavailable = gv_number_or_percent(grove_node_get(node, "maxUnavailable"), &r.percent);
    return r;
}

static gv_role_bound read_role_bound(const grove_node *role) {
    const grove_node *node = typed(role, "rollingUpdate", GROVE_OBJECT);
    gv_role_bound b = {.percent = false};
    b.most = gv_number_or_percent(grove_node_get(node, "maxUnavailable"), &b.percent);
    return b;
}

#define DEFAULT_HISTORY 10

static int64_t read_history(const grove_node *strategy) {
    bool pairs = read_update(gv_get_str(strategy, "type")) == GV_UPDATE_PAIRS;
    int64_t limit = gv_opt_or(gv_get_int(strategy, "revisionHistoryLimit"),
                              pairs ? DEFAULT_HISTORY : 0);
    return limit > 0 ? limit : 0;
}

static gv_spread read_spread(const grove_node *constraint) {
    const grove_node *node = typed(constraint, "spread", GROVE_OBJECT);
    gv_str mode = gv_get_str(node, "mode");
    int64_t skew = gv_opt_or(gv_get_int(node, "maxSkew"), 1);
    return (gv_spread){
        .domain = gv_get_str(node, "domain"),
        .max_skew = skew < 1 ? 1 : skew,
        .mode = mode.n ? read_wish(mode) : GV_WISH_REQUIRE,
    };
}

static gv_topology read_topology(const grove_node *owner) {
    const grove_node *node = typed(owner, "topologyConstraint", GROVE_OBJECT);
    const grove_node *pack = grove_node_get(node, "pack");
    gv_topology t = {
        .set = node != NULL,
        .topology_name = gv_get_str(node, "topologyName"),
        .required = gv_get_str(pack, "required"),
        .preferred = gv_get_str(pack, "preferred"),
        .spread = read_spread(node),
    };
    if (t.required.n == 0) {
        t.required = gv_get_str(node, "packDomain");
    }
    return t;
}

static gv_scaling read_scaling(const grove_node *owner, const char *key) {
    const grove_node *node = typed(owner, key, GROVE_OBJECT);
    return (gv_scaling){
        .set = node != NULL,
        .min_replicas = gv_get_int(node, "minReplicas"),
        .max_replicas = gv_get_int(node, "maxReplicas"),
        .metrics = typed(node, "metrics", GROVE_ARRAY),
    };
}

static gv_failure_policy read_failure(const grove_node *owner) {
    const grove_node *node = typed(owner, "failurePolicy", GROVE_OBJECT);
    gv_failure_policy p = {.set = node != NULL,
                           .most = gv_opt_or(gv_get_int(node, "maxRestarts"), -1)};
    if (gv_duration_parse(gv_get_str(node, "backoff"), &p.backoff, NULL) < 0 || p.backoff < 0) {
        p.backoff = GV_FAILURE_BACKOFF;
    }
    return p;
}

static bool read_sharing(gv_arena *a, const grove_node *owner, const gv_sharing **out,
                         uint32_t *out_n) {
    const grove_node *list = typed(owner, "resourceSharing", GROVE_ARRAY);
    uint32_t n = grove_node_size(list);
    *out = NULL;
    *out_n = n;
    if (n == 0) {
        return true;
    }
    gv_sharing *entries = gv_arena_array(a, gv_sharing, n);
    if (!entries) {
        return false;
    }
    uint32_t i = 0;
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e), i++) {
        const grove_node *filter = typed(e, "filter", GROVE_OBJECT);
        entries[i] = (gv_sharing){
            .name = gv_get_str(e, "name"),
            .ns = gv_get_str(e, "namespace"),
            .each = gv_str_is(gv_get_str(e, "scope"), GV_SHARE_EACH),
            .filtered = filter != NULL,
            .filter_cliques = typed(filter, "childCliqueNames", GROVE_ARRAY),
            .filter_groups = typed(filter, "childScalingGroupNames", GROVE_ARRAY),
        };
    }
    *out = entries;
    return true;
}

/* NULL when out of memory. The caller still has to enter the groups. */
static gv_clique *read_cliques(gv_arena *a, gv_pcs *pcs) {
    const grove_node *list = typed(pcs->template_node, "cliques", GROVE_ARRAY);
    pcs->n_cliques = grove_node_size(list);
    gv_clique *cliques = gv_arena_array(a, gv_clique, pcs->n_cliques + 1);
    if (!cliques) {
        return NULL;
    }
    pcs->cliques = cliques;
    gv_clique *c = cliques;
    for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n)) {
        const grove_node *spec = typed(n, "spec", GROVE_OBJECT);
        *c = (gv_clique){
            .name = gv_get_str(n, "name"),
            .node = n,
            .labels = typed(n, "labels", GROVE_OBJECT),
            .annotations = typed(n, "annotations", GROVE_OBJECT),
            .spec = spec,
            .pod_spec = typed(spec, "podSpec", GROVE_OBJECT),
            .role_name = gv_get_str(spec, "roleName"),
            .replicas = gv_get_int(spec, "replicas"),
            .min_available = gv_get_int(spec, "minAvailable"),
            .starts_after = typed(spec, "startsAfter", GROVE_ARRAY),
            .scaling = read_scaling(spec, "autoScalingConfig"),
            .topology = read_topology(n),
            .failure = read_failure(n),
            .rolling = read_role_bound(n),
            .group = -1,
        };
        if (!read_sharing(a, n, &c->sharing, &c->n_sharing)) {
            return NULL;
        }
        c++;
    }
    return cliques;
}

/* Resolves the names of one group; the first group that lists a clique has it. */
static bool read_members(gv_arena *a, gv_pcs *pcs, gv_clique *cliques, gv_group *g, int32_t index) {
    g->n_cliques = grove_node_size(g->clique_names);
    uint32_t *members = gv_arena_array(a, uint32_t, g->n_cliques + 1);
    if (!members) {
        return false;
    }
    g->cliques = members;
    const grove_node *n = grove_node_first(g->clique_names);
    for (; n; n = grove_node_next(g->clique_names, n)) {
        uint32_t at = gv_pcs_find_clique(pcs, gv_view_str(n));
        *members++ = at;
        if (at != GV_NO_CLIQUE && cliques[at].group < 0) {
            cliques[at].group = index;
        }
    }
    return true;
}

static bool read_groups(gv_arena *a, gv_pcs *pcs, gv_clique *cliques) {
    const grove_node *list = typed(pcs->template_node, "podCliqueScalingGroups", GROVE_ARRAY);
    pcs->n_groups = grove_node_size(list);
    gv_group *groups = gv_arena_array(a, gv_group, pcs->n_groups + 1);
    if (!groups) {
        return false;
    }
    pcs->groups = groups;
    int32_t index = 0;
    for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n), index++) {
        gv_group *g = &groups[index];
        *g = (gv_group){
            .name = gv_get_str(n, "name"),
            .node = n,
            .annotations = typed(n, "annotations", GROVE_OBJECT),
            .clique_names = typed(n, "cliqueNames", GROVE_ARRAY),
            .replicas = gv_get_int(n, "replicas"),
            .min_available = gv_get_int(n, "minAvailable"),
            .scaling = read_scaling(n, "scaleConfig"),
            .topology = read_topology(n),
            .failure = read_failure(n),
            .rolling = read_role_bound(n),
        };
        if (!read_sharing(a, n, &g->sharing, &g->n_sharing) ||
            !read_members(a, pcs, cliques, g, index)) {
            return false;
        }
    }
    return true;
}

static bool read_claim_templates(gv_arena *a, gv_pcs *pcs) {
    const grove_node *list = typed(pcs->template_node, "resourceClaimTemplates", GROVE_ARRAY);
    pcs->n_claim_templates = grove_node_size(list);
    gv_claim_template *out = gv_arena_array(a, gv_claim_template, pcs->n_claim_templates + 1);
    if (!out) {
        return false;
    }
    pcs->claim_templates = out;
    for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n)) {
        *out++ = (gv_claim_template){
            .name = gv_get_str(n, "name"),
            .spec = typed(grove_node_get(n, "templateSpec"), "spec", GROVE_OBJECT),
        };
    }
    return true;
}

/* Thousandths of a bound; what is none, or beyond 2^31 of them, bounds nothing. */
static int64_t read_bound(const grove_node *node) {
    grove_quantity q;
    gv_str text = {"", 0};
    int64_t milli = 0;
    text.p = grove_node_textn(node, &text.n);
    bool ok = text.p && grove_quantity_parse(text.p, text.n, &q, NULL) == GROVE_OK &&
              grove_quantity_milli(&q, &milli) == GROVE_OK;
    return ok && milli > 0 && milli <= INT32_MAX ? milli : 0;
}

static bool read_ratios(gv_arena *a, gv_pcs *pcs) {
    const grove_node *list = typed(pcs->template_node, "ratios", GROVE_ARRAY);
    gv_ratio *out = gv_arena_array(a, gv_ratio, grove_node_size(list) + 1);
    pcs->ratios = out;
    if (!out) {
        return false;
    }
    for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n)) {
        gv_str mode = gv_get_str(n, "mode");
        *out++ = (gv_ratio){
            .numerator = gv_get_str(n, "numerator"),
            .denominator = gv_get_str(n, "denominator"),
            .min = read_bound(grove_node_get(n, "min")),
            .max = read_bound(grove_node_get(n, "max")),
            .mode = gv_str_is(mode, "Follow")  ? GV_RATIO_FOLLOW
                    : gv_str_is(mode, "Clamp") ? GV_RATIO_CLAMP
                                               : GV_RATIO_WARN,
        };
        pcs->n_ratios++;
    }
    return true;
}

static gv_startup read_startup(gv_str text) {
    if (gv_str_is(text, GV_STARTUP_IN_ORDER)) {
        return GV_STARTUP_ORDERED;
    }
    return gv_str_is(text, GV_STARTUP_EXPLICIT) ? GV_STARTUP_LISTED : GV_STARTUP_ANY;
}

static bool is_false(const grove_node *node) {
    return grove_node_type(node) == GROVE_BOOL && !grove_node_is_true(node);
}

static gv_gang_wait_spec read_gang_wait(const grove_node *node) {
    return (gv_gang_wait_spec){.timeout = gv_get_str(node, "timeout"),
                               .recreate = gv_str_is(gv_get_str(node, "action"), "Recreate")};
}

bool gv_set_is_suspended(const grove_node *pcs) {
    return grove_node_is_true(grove_node_get(typed(pcs, "spec", GROVE_OBJECT), "suspend"));
}

grove_status gv_pcs_read(gv_arena *a, const grove_node *pcs, gv_pcs *out, grove_error *err) {
    const grove_node *spec = typed(pcs, "spec", GROVE_OBJECT);
    const grove_node *t = typed(spec, "template", GROVE_OBJECT);
    if (!t) {
        return gv_error_at(err, GROVE_E_TYPE, 0, 0, "spec.template",
                           "the object is no PodCliqueSet: it has no template");
    }
    const grove_node *service = typed(t, "headlessServiceConfig", GROVE_OBJECT);
    const grove_node *publish = grove_node_get(service, "publishNotReadyAddresses");
    const grove_node *strategy = typed(spec, "updateStrategy", GROVE_OBJECT);
    gv_pcs view = {
        .node = pcs,
        .spec = spec,
        .template_node = t,
        .status = typed(pcs, "status", GROVE_OBJECT),
        .meta = gv_meta_view_of(pcs),
        .replicas = gv_get_int(spec, "replicas"),
        .update = read_update(gv_get_str(strategy, "type")),
        .rolling = read_rolling(strategy),
        .history = read_history(strategy),
        .startup = read_startup(gv_get_str(t, "cliqueStartupType")),
        .priority_class = gv_get_str(t, "priorityClassName"),
        .service_set = service != NULL,
        .publish_not_ready = !publish || grove_node_is_true(publish), /* the webhook's default */
        .topology = read_topology(t),
        .cross_gang_pack = read_wish(gv_get_str(t, "crossGangPack")),
        .sticky = read_wish(gv_get_str(typed(t, "placement", GROVE_OBJECT), "sticky")),
        .free_domains = gv_str_is(gv_get_str(typed(t, "placement", GROVE_OBJECT), "scaleIn"),
                                  "FreeDomains"),
        .gang_wait = read_gang_wait(typed(t, "gangWait", GROVE_OBJECT)),
        .termination_delay = gv_get_str(t, "terminationDelay"),
    };
    gv_clique *cliques = read_cliques(a, &view);
    bool ok = cliques && read_groups(a, &view, cliques);
    for (uint32_t i = 0; ok && i < view.n_cliques; i++) {
        gv_clique *c = &cliques[i];
        c->outside = c->group < 0 && is_false(grove_node_get(c->spec, "coreMember"));
    }
    if (!ok || !read_ratios(a, &view) || !read_claim_templates(a, &view) ||
        !read_sharing(a, t, &view.sharing, &view.n_sharing)) {
        return gv_error_nomem(err);
    }
    *out = view;
    return GROVE_OK;
}

uint32_t gv_pcs_find_clique(const gv_pcs *pcs, gv_str name) {
    for (uint32_t i = 0; i < pcs->n_cliques; i++) {
        if (gv_str_eq(pcs->cliques[i].name, name)) {
            return i;
        }
    }
    return GV_NO_CLIQUE;
}

gv_str gv_pcs_topology_name(const gv_pcs *pcs) {
    if (pcs->topology.topology_name.n) {
        return pcs->topology.topology_name;
    }
    for (uint32_t i = 0; i < pcs->n_groups; i++) {
        if (pcs->groups[i].topology.topology_name.n) {
            return pcs->groups[i].topology.topology_name;
        }
    }
    for (uint32_t i = 0; i < pcs->n_cliques; i++) {
        if (pcs->cliques[i].topology.topology_name.n) {
            return pcs->cliques[i].topology.topology_name;
        }
    }
    return GV_STR("");
}

/* ---- child objects ---- */

void gv_pclq_read(const grove_node *object, gv_pclq *out) {
    const grove_node *spec = typed(object, "spec", GROVE_OBJECT);
    const grove_node *status = typed(object, "status", GROVE_OBJECT);
    *out = (gv_pclq){
        .node = object,
        .spec = spec,
        .pod_spec = typed(spec, "podSpec", GROVE_OBJECT),
        .status = status,
        .conditions = typed(status, "conditions", GROVE_ARRAY),
        .meta = gv_meta_view_of(object),
        .replicas = gv_get_int(spec, "replicas"),
        .min_available = gv_get_int(spec, "minAvailable"),
        .starts_after = typed(spec, "startsAfter", GROVE_ARRAY),
    };
}

void gv_pcsg_read(const grove_node *object, gv_pcsg *out) {
    const grove_node *spec = typed(object, "spec", GROVE_OBJECT);
    const grove_node *status = typed(object, "status", GROVE_OBJECT);
    *out = (gv_pcsg){
        .node = object,
        .spec = spec,
        .status = status,
        .conditions = typed(status, "conditions", GROVE_ARRAY),
        .meta = gv_meta_view_of(object),
        .replicas = gv_get_int(spec, "replicas"),
        .min_available = gv_get_int(spec, "minAvailable"),
        .clique_names = typed(spec, "cliqueNames", GROVE_ARRAY),
    };
}

void gv_podgang_read(const grove_node *object, gv_podgang *out) {
    const grove_node *spec = typed(object, "spec", GROVE_OBJECT);
    const grove_node *status = typed(object, "status", GROVE_OBJECT);
    *out = (gv_podgang){
        .node = object,
        .spec = spec,
        .status = status,
        .conditions = typed(status, "conditions", GROVE_ARRAY),
        .meta = gv_meta_view_of(object),
        .groups = typed(spec, "podgroups", GROVE_ARRAY),
        .group_configs = typed(spec, "topologyConstraintGroupConfigs", GROVE_ARRAY),
        .topology = typed(spec, "topologyConstraint", GROVE_OBJECT),
        .priority_class = gv_get_str(spec, "priorityClassName"),
        .phase = gv_get_str(status, "phase"),
    };
}
