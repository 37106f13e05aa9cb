/* SPDX-License-Identifier: Apache-2.0 */
/* Failure and return of nodes, their taints, evictions, and pods left without a node. */
#include "sim/node.h"

#include "sim/call.h"
#include "sim/condition.h"
#include "sim/kubelet.h"
#include "sim/meta.h"

#define TAINT_UNREACHABLE "node.kubernetes.io/unreachable"
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"

static gv_str node_of(const gv_sim_object *pod) {
    return gv_node_get_str(grove_node_get(gv_sim_root(pod), "spec"), "nodeName");
}

/* ---- records ---- */

static grove_status record(grove_sim *sim, gv_sim_object *o) {
    if (o->node) {
        return GROVE_OK;
    }
    gv_sim_node *n = gv_zalloc(sim->env, sizeof *n);
    if (!n || !gv_sim_timer_init(sim, &n->timer, GV_TIMER_NODE, n)) {
        gv_free(sim->env, n, sizeof *n);
        return GROVE_E_NOMEM;
    }
    n->obj = o;
    o->node = n;
    return GROVE_OK;
}

void gv_sim_node_forget(grove_sim *sim, gv_sim_object *o) {
    if (o->node) {
        gv_sim_timer_fini(sim, &o->node->timer);
        gv_free(sim->env, o->node, sizeof *o->node);
        o->node = NULL;
    }
}

bool gv_sim_node_silent(const grove_sim *sim, const gv_sim_object *pod) {
    const gv_sim_object *o = gv_sim_find(sim, GV_KIND_NODE, (gv_str){"", 0}, node_of(pod));
    return o && o->node && o->node->silent;
}

/* ---- pods of a node ---- */

typedef grove_status (*pod_fn)(grove_sim *sim, gv_sim_object *pod);

/* Calls `fn` for every pod of the node; fn may delete it. */
static grove_status each_pod(grove_sim *sim, const gv_sim_object *node, pod_fn fn) {
    gv_map_entry *e;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0;
         st == GROVE_OK && (e = gv_map_next(&sim->tables[GV_KIND_POD].objects, &i));) {
        gv_sim_object *o = e->value;
        if (gv_str_eq(node_of(o), node->name)) {
            st = fn(sim, o);
        }
    }
    return st;
}

static grove_status silence_pod(grove_sim *sim, gv_sim_object *pod) {
    gv_sim_kubelet_silence(sim, pod, true);
    return GROVE_OK;
}

static grove_status unsilence_pod(grove_sim *sim, gv_sim_object *pod) {
    gv_sim_kubelet_silence(sim, pod, false);
    return pod->pod ? gv_sim_kubelet_write(sim, pod->pod) : GROVE_OK;
}

static grove_status unready_pod(grove_sim *sim, gv_sim_object *pod) {
    const gv_sim_new_condition set[] = {{"Ready", "False", NULL, NULL}};
    if (!gv_sim_condition_true(gv_sim_root(pod), "Ready")) {
        return GROVE_OK;
    }
    return gv_sim_set_conditions(sim, pod, set, 1);
}

/* Tolerates an unreachable node for ever. */
static bool stays(const gv_sim_object *pod) {
    const grove_node *list = grove_node_get(grove_node_get(gv_sim_root(pod), "spec"),
                                            "tolerations");
    GV_EACH(t, list) {
        gv_str key = gv_node_get_str(t, "key"), effect = gv_node_get_str(t, "effect");
        bool matches = (key.n == 0 || gv_str_is(key, TAINT_UNREACHABLE)) &&
                       (effect.n == 0 || gv_str_is(effect, "NoExecute"));
        if (matches && !grove_node_get(t, "tolerationSeconds")) {
            return true;
        }
    }
    return false;
}

static grove_status evict_pod(grove_sim *sim, gv_sim_object *pod) {
    const gv_sim_new_condition why[] = {{"DisruptionTarget", "True", "DeletionByTaintManager",
                                         "Taint manager: deleting due to NoExecute taint"}};
    if (stays(pod) || pod->dying) {
        return GROVE_OK;
    }
    grove_status st = gv_sim_set_conditions(sim, pod, why, 1);
    return st < 0 ? st : gv_sim_delete_quietly(sim, pod);
}

/* ---- taints ---- */

static void build_taint(grove_builder *b, const char *key, const char *effect) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "key", key);
    grove_builder_string(b, "effect", effect);
    grove_builder_close(b);
}

/* spec with our taints as they should be, everybody else's as they are. */
static grove_status put_taints(grove_sim *sim, gv_sim_object *o, bool unreachable,
                               bool unschedulable) {
    const grove_node *spec = grove_node_get(gv_sim_root(o), "spec");
    grove_builder *b = sim->builder;
    uint32_t n = 0;
    grove_builder_open_object(b, NULL);
    GV_EACH(m, spec) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "taints") != 0) {
            grove_builder_copy(b, key, m);
        }
    }
    GV_EACH(t, grove_node_get(spec, "taints")) {
        gv_str key = gv_node_get_str(t, "key");
        n += gv_str_is(key, TAINT_UNREACHABLE) || gv_str_is(key, TAINT_UNSCHEDULABLE) ? 0 : 1;
    }
    if (n > 0 || unreachable || unschedulable) {
        grove_builder_open_array(b, "taints");
        GV_EACH(t, grove_node_get(spec, "taints")) {
            gv_str key = gv_node_get_str(t, "key");
            if (!gv_str_is(key, TAINT_UNREACHABLE) && !gv_str_is(key, TAINT_UNSCHEDULABLE)) {
                grove_builder_copy(b, NULL, t);
            }
        }
        if (unreachable) {
            build_taint(b, TAINT_UNREACHABLE, "NoSchedule");
            build_taint(b, TAINT_UNREACHABLE, "NoExecute");
        }
        if (unschedulable) {
            build_taint(b, TAINT_UNSCHEDULABLE, "NoSchedule");
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        bool nothing = !gv_sim_section_doc(o, "spec") && grove_node_size(grove_doc_root(doc)) == 0;
        st = nothing ? GROVE_OK : gv_sim_put_section(sim, o, "spec", doc);
        grove_doc_unref(doc);
    }
    return st;
}

static bool cordoned(const gv_sim_object *o) {
    return gv_node_get_bool(grove_node_get(gv_sim_root(o), "spec"), "unschedulable");
}

/* ---- life ---- */

static grove_status drop_pod(grove_sim *sim, gv_sim_object *pod) {
    return gv_sim_finish_delete(sim, pod);
}

static grove_status come_back(grove_sim *sim, gv_sim_node *n) {
    const gv_sim_new_condition ready[] = {
        {"Ready", "True", "KubeletReady", "kubelet is posting ready status"}};
    grove_status st = gv_sim_set_conditions(sim, n->obj, ready, 1);
    if (st == GROVE_OK) {
        st = put_taints(sim, n->obj, false, cordoned(n->obj));
    }
    if (st == GROVE_OK) {
        st = each_pod(sim, n->obj, unsilence_pod);
    }
    if (st == GROVE_OK) {
        n->recovered = n->not_ready = n->noticed = false;
    }
    return st;
}

grove_status gv_sim_node_look(grove_sim *sim, gv_sim_object *o) {
    sim->schedule = true;
    if (!o->exists) {
        return each_pod(sim, o, drop_pod);
    }
    grove_status st = record(sim, o);
    if (st == GROVE_OK && o->node->recovered) {
        st = come_back(sim, o->node);
    }
    return st < 0 ? st : put_taints(sim, o, o->node->not_ready, cordoned(o));
}

static grove_status notice(grove_sim *sim, gv_sim_node *n) {
    const gv_sim_new_condition unknown[] = {
        {"Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."}};
    n->not_ready = true; /* from here on whoever looks at the node keeps its taints */
    grove_status st = gv_sim_set_conditions(sim, n->obj, unknown, 1);
    if (st == GROVE_OK) {
        st = put_taints(sim, n->obj, true, cordoned(n->obj));
    }
    if (st == GROVE_OK) {
        st = each_pod(sim, n->obj, unready_pod);
    }
    if (st == GROVE_OK) {
        n->noticed = true;
        gv_sim_timer_arm(sim, &n->timer, sim->now + sim->options.evict_ns);
    }
    return st;
}

grove_status gv_sim_node_tick(grove_sim *sim, gv_sim_node *n) {
    return n->noticed ? each_pod(sim, n->obj, evict_pod) : notice(sim, n);
}

/* ---- what a person does to a node ---- */

/* NULL with *st and *err filled. */
static gv_sim_object *find_node(grove_sim *sim, const char *name, grove_status *st,
                                grove_error *err) {
    gv_sim_object *o = gv_sim_find(sim, GV_KIND_NODE, (gv_str){"", 0}, gv_str_c(name));
    if (!o) {
        *st = gv_error(err, GROVE_E_NOT_FOUND, "nodes \"%s\" not found", name);
        return NULL;
    }
    if (record(sim, o) < 0) {
        *st = gv_error_nomem(err);
        return NULL;
    }
    return o;
}

grove_status grove_sim_fail_node(grove_sim *sim, const char *node, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_sim_object *o = find_node(sim, node, &st, err);
    if (!o || o->node->silent) {
        return st;
    }
    o->node->silent = true;
    o->node->recovered = false;
    gv_sim_timer_arm(sim, &o->node->timer, sim->now + sim->options.node_grace_ns);
    return each_pod(sim, o, silence_pod);
}

grove_status grove_sim_recover_node(grove_sim *sim, const char *node, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_sim_object *o = find_node(sim, node, &st, err);
    if (!o || !o->node->silent) {
        return st;
    }
    if (gv_sim_touch(sim, o) < 0) {
        return gv_error_nomem(err);
    }
    o->node->silent = false;
    o->node->recovered = true;
    gv_sim_timer_arm(sim, &o->node->timer, INT64_MAX);
    return GROVE_OK;
}

grove_status grove_sim_cordon(grove_sim *sim, const char *node, int32_t on, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_sim_object *o = find_node(sim, node, &st, err);
    if (!o) {
        return st;
    }
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    GV_EACH(m, grove_node_get(gv_sim_root(o), "spec")) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "unschedulable") != 0) {
            grove_builder_copy(b, key, m);
        }
    }
    if (on) {
        grove_builder_bool(b, "unschedulable", 1);
    }
    grove_builder_close(b);
    grove_doc *doc = NULL;
    st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_put_section(sim, o, "spec", doc);
        grove_doc_unref(doc);
    }
    return st < 0 ? gv_error(err, st, "cordon failed") : GROVE_OK;
}
