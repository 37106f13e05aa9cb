/* SPDX-License-Identifier: Apache-2.0 */
/* What the scheduler backend of the set asks for: queues, and no topology where it knows none. */
#include "admission/topology.h"
#include "model/queues.h"
#include "model/syntax.h"
#include "value/doc.h"

#define KAI_QUEUE "kai.scheduler/queue"
#define VOLCANO_QUEUE "scheduling.grove.io/volcano-queue"

/* A backend's refusal always names the whole spec, as Grove's does. */
#define refuse(r, code, at, ...) \
    gv_rules_error((r), (code), "Invalid", (at), gv_path_fmt("spec"), __VA_ARGS__)
#define TEXT(s) (int)(s).n, (s).p

/* Label before annotation; an empty value counts as none. */
static gv_str kai_queue_of(const grove_node *owner) {
    return gv_queue_key_of(grove_node_get(owner, "labels"), grove_node_get(owner, "annotations"));
}

static void check_kai(gv_rules *r) {
    gv_str own = kai_queue_of(grove_node_get(r->root, "metadata"));
    gv_str queue = own;
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        gv_str name = kai_queue_of(clique);
        if (name.n && queue.n && !gv_str_eq(name, queue)) {
            refuse(r, GV_CODE_QUEUE, clique,
                   "a set has one " KAI_QUEUE ": \"%.*s\" differs from \"%.*s\"", TEXT(name),
                   TEXT(queue));
            return;
        }
        queue = queue.n ? queue : name;
    }
    if (queue.n == 0) {
        refuse(r, GV_CODE_QUEUE, r->tmpl,
               "kai-scheduler needs the label or annotation " KAI_QUEUE " on the set");
    }
}

static gv_str volcano_queue_of(const grove_node *owner) {
    return gv_str_trim(gv_node_get_str(grove_node_get(owner, "annotations"), VOLCANO_QUEUE));
}

/* The Queue object is looked up only among the cluster objects that the caller gave. */
static void check_volcano_queue_open(gv_rules *r, gv_str queue) {
    if (gv_map_size(&r->config->queues) == 0) {
        return;
    }
    const grove_node *object = gv_config_queue(r->config, queue);
    gv_str state = gv_node_str(gv_node_path(object, "status.state"));
    if (!object || !gv_str_is(state, "Open")) {
        refuse(r, GV_CODE_QUEUE, r->tmpl, "the Volcano queue \"%.*s\" %s", TEXT(queue),
               object ? "is not open" : "does not exist");
    }
}

static void check_volcano(gv_rules *r) {
    gv_str own = volcano_queue_of(grove_node_get(r->root, "metadata"));
    gv_str effective = {NULL, 0};
    if (own.n && !gv_syntax_subdomain(own)) {
        refuse(r, GV_CODE_QUEUE, r->root, "\"%.*s\" is not the name of a queue", TEXT(own));
        return;
    }
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        gv_str name = volcano_queue_of(clique);
        if (name.n && !gv_syntax_subdomain(name)) {
            refuse(r, GV_CODE_QUEUE, clique, "\"%.*s\" is not the name of a queue", TEXT(name));
            return;
        }
        gv_str queue = name.n ? name : own.n ? own : GV_STR("default");
        gv_str other = own.n ? own : effective;
        if (other.p && !gv_str_eq(queue, other)) {
            refuse(r, GV_CODE_QUEUE, clique,
                   "a set has one " VOLCANO_QUEUE ": \"%.*s\" differs from \"%.*s\"", TEXT(queue),
                   TEXT(other));
            return;
        }
        effective = queue;
    }
    if (effective.p) {
        check_volcano_queue_open(r, effective);
    }
}

static bool refuse_topology(gv_rules *r, const char *scheduler) {
    gv_constraints all = {0};
    gv_constraints_of(r, r->tmpl, &all);
    bool found = all.n > 0;
    if (found) {
        refuse(r, GV_CODE_BACKEND_TOPOLOGY, all.v[0].node,
               "%s knows no topology: remove the constraint at %s", scheduler, all.v[0].path.s);
    }
    gv_vec_fini(r->env, &all);
    return found;
}

void gv_rules_backend(gv_rules *r) {
    const grove_node *first = grove_node_first(grove_node_get(r->tmpl, "cliques"));
    if (!first) {
        return;
    }
    gv_str name = gv_rules_scheduler(r, first);
    if (!gv_rules_scheduler_enabled(r, name)) {
        refuse(r, GV_CODE_SCHEDULER_DISABLED, first, "scheduler \"%.*s\" is not enabled",
               TEXT(name));
    } else if (gv_str_is(name, "kai-scheduler")) {
        check_kai(r);
    } else if (gv_str_is(name, "lpx-scheduler")) {
        refuse_topology(r, "lpx-scheduler");
    } else if (gv_str_is(name, "volcano") && !refuse_topology(r, "volcano")) {
        check_volcano(r);
    }
}
