/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start-order container: `--podcliques=NAME:COUNT` for each clique it waits for. A pod counts for a
 * clique when it carries the clique's label in the same gang, is ready, is not being deleted, and is owned
 * by the clique that exists now (not by an earlier one of the same name).
 */
#include "model/labels.h"
#include "sim/index.h"
#include "sim/kubelet.h"
#include "sim/meta.h"

typedef struct parent {
    gv_str name;
    int64_t count;
} parent;

/* "name:count" */
static bool read_parent(gv_str text, parent *out) {
    text = gv_str_trim(text);
    const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    if (!colon) {
        return false;
    }
    out->name = gv_str_trim((gv_str){text.p, (size_t)(colon - text.p)});
    gv_str count = gv_str_trim((gv_str){colon + 1, text.n - (size_t)(colon - text.p) - 1});
    return out->name.n > 0 && gv_str_int64(count, &out->count) && out->count > 0;
}

static const grove_node *labels_of(const gv_sim_object *o) {
    return grove_node_get(grove_node_get(gv_sim_root(o), "metadata"), "labels");
}

static gv_str controller_uid(const gv_sim_object *o) {
    const grove_node *owners = grove_node_get(grove_node_get(gv_sim_root(o), "metadata"),
                                              "ownerReferences");
    GV_EACH(r, owners) {
        if (gv_node_get_bool(r, "controller")) {
            return gv_node_get_str(r, "uid");
        }
    }
    return (gv_str){"", 0};
}

static bool counts_for(const gv_sim_object *pod, gv_str clique, const gv_sim_object *owner) {
    return pod->pod_ready && gv_str_eq(gv_node_get_str(labels_of(pod), GV_LABEL_CLIQUE), clique) &&
           (!owner || gv_str_eq(controller_uid(pod), owner->uid));
}

static bool parent_ready(const grove_sim *sim, const gv_sim_objects *gang, gv_str ns,
                         const parent *p) {
    const gv_sim_object *owner = gv_sim_find(sim, GV_KIND_PODCLIQUE, ns, p->name);
    int64_t n = 0;
    for (size_t i = 0; gang && i < gang->n; i++) {
        n += counts_for(gang->v[i], p->name, owner) ? 1 : 0;
    }
    return n >= p->count;
}

/* The value of one argument; false: it is a flag whose value comes next, or no value at all. */
static bool argument_value(gv_str arg, bool after_flag, gv_str *out, bool *flag) {
    static const char *const prefixes[] = {"--podcliques=", "-podcliques=", "-p="};
    *flag = gv_str_is(arg, "--podcliques") || gv_str_is(arg, "-p") || gv_str_is(arg, "-podcliques");
    if (*flag) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        gv_str prefix = gv_str_c(prefixes[i]);
        if (gv_str_starts(arg, prefix)) {
            *out = (gv_str){arg.p + prefix.n, arg.n - prefix.n};
            return true;
        }
    }
    *out = arg;
    return after_flag;
}

/* A value may hold several, separated by commas. */
static bool values_ready(const grove_sim *sim, const gv_sim_objects *gang, gv_str ns,
                         gv_str values) {
    while (values.n > 0) {
        const char *comma = memchr(values.p, ',', values.n);
        size_t n = comma ? (size_t)(comma - values.p) : values.n;
        parent p;
        gv_str one = gv_str_trim((gv_str){values.p, n});
        values = comma ? (gv_str){comma + 1, values.n - n - 1} : (gv_str){"", 0};
        if (one.n > 0 && (!read_parent(one, &p) || !parent_ready(sim, gang, ns, &p))) {
            return false;
        }
    }
    return true;
}

bool gv_sim_parents_ready(const grove_sim *sim, const gv_sim_pod *run,
                          const grove_node *container) {
    gv_sim_meta meta;
    char buf[GV_SIM_KEY_MAX];
    gv_sim_meta_read(gv_sim_root(run->obj), &meta);
    const gv_sim_objects *gang = gv_sim_index_get(&sim->gangs, gv_sim_gang_key(buf, &meta));
    bool after_flag = false;
    GV_EACH(a, grove_node_get(container, "args")) {
        gv_str values;
        bool has = argument_value(gv_node_str(a), after_flag, &values, &after_flag);
        if (has && !values_ready(sim, gang, meta.ns, values)) {
            return false;
        }
    }
    return true;
}

void gv_sim_wake_gang(grove_sim *sim, const gv_sim_object *o) {
    gv_sim_meta meta;
    char buf[GV_SIM_KEY_MAX];
    gv_sim_meta_read(gv_sim_root(o), &meta);
    const gv_sim_objects *gang = gv_sim_index_get(&sim->gangs, gv_sim_gang_key(buf, &meta));
    for (size_t i = 0; gang && i < gang->n; i++) {
        gv_sim_pod *run = gang->v[i]->pod;
        if (run && run->waiting && !run->silent) {
            run->due_stage = sim->now;
            gv_sim_kubelet_arm(sim, run);
        }
    }
}
