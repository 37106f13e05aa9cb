/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner by byte programs: a set, and then steps that plan and apply, spoil, delete, add foreign
 * objects, let time pass. Whatever stands in the cluster, a plan comes out, twice the same, and the same
 * from a store that was filled anew; no write changes nothing (the table cluster holds these); no index
 * has two live pods; and once nobody disturbs any more, the writing ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "unit/plan/cluster.h"
#include "unit/plan/manifests.h"

#define SECOND INT64_C(1000000000)
#define STEPS 40
#define ROUNDS_TO_REST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct program {
    const uint8_t *p;
    size_t n;
} program;

static uint32_t take(program *b, uint32_t limit) {
    if (b->n == 0) {
        return 0;
    }
    b->n--;
    return *b->p++ % limit;
}

static void stop(const char *what) {
    fprintf(stderr, "fuzz plan: %s\n", what);
    abort();
}

static const char *const sets[] = {
    SET_ONE,
    SET_GROUPED("1", "RollingRecreate"),
    SET_GROUPED("2", "OnDelete"),
    SET_TIGHT("1"),
    SET_LOOSE("2"),
    SET_GROUPED("2", "Coherent"),
};

/* Members that the planner reads, and some that it does not. */
static const char *const members[] = {
    "{\"spec\":%s}",
    "{\"status\":%s}",
    "{\"spec\":{\"replicas\":%s}}",
    "{\"spec\":{\"minAvailable\":%s}}",
    "{\"spec\":{\"podSpec\":%s}}",
    "{\"spec\":{\"podgroups\":%s}}",
    "{\"spec\":{\"schedulingGates\":%s}}",
    "{\"spec\":{\"nodeName\":%s}}",
    "{\"spec\":{\"template\":{\"cliques\":%s}}}",
    "{\"spec\":{\"template\":{\"podCliqueScalingGroups\":%s}}}",
    "{\"spec\":{\"template\":{\"terminationDelay\":%s}}}",
    "{\"spec\":{\"updateStrategy\":%s}}",
    "{\"metadata\":{\"labels\":%s}}",
    "{\"metadata\":{\"annotations\":%s}}",
    "{\"metadata\":{\"ownerReferences\":%s}}",
    "{\"metadata\":{\"finalizers\":%s}}",
    "{\"metadata\":{\"generation\":%s}}",
    "{\"metadata\":{\"creationTimestamp\":%s}}",
    "{\"metadata\":{\"deletionTimestamp\":%s}}",
    "{\"metadata\":{\"labels\":{\"grove.io/podclique-pod-index\":%s}}}",
    "{\"metadata\":{\"labels\":{\"grove.io/podclique\":%s}}}",
    "{\"metadata\":{\"labels\":{\"grove.io/podgang\":%s}}}",
    "{\"metadata\":{\"labels\":{\"grove.io/pod-template-hash\":%s}}}",
    "{\"metadata\":{\"labels\":{\"app.kubernetes.io/part-of\":%s}}}",
    "{\"status\":{\"phase\":%s}}",
    "{\"status\":{\"conditions\":%s}}",
    "{\"status\":{\"containerStatuses\":%s}}",
    "{\"status\":{\"replicas\":%s}}",
    "{\"status\":{\"readyReplicas\":%s}}",
    "{\"status\":{\"observedGeneration\":%s}}",
    "{\"status\":{\"updateProgress\":%s}}",
    "{\"status\":{\"currentGenerationHash\":%s}}",
    "{\"status\":{\"lastErrors\":%s}}",
};

static const char *const values[] = {
    "null",
    "0",
    "1",
    "2",
    "7",
    "-1",
    "true",
    "\"\"",
    "\"0\"",
    "\"01\"",
    "\"x\"",
    "\"s-0\"",
    "\"4294967296\"",
    "9223372036854775807",
    "1.5",
    "{}",
    "[]",
    "[null]",
    "[{}]",
    "{\"x\":\"y\"}",
    "[\"x/held\"]",
    "\"2027-01-15T08:00:00Z\"",
    "\"-5s\"",
    "\"Failed\"",
    "\"Succeeded\"",
    "\"Running\"",
    "[{\"type\":\"Ready\",\"status\":\"False\"}]",
    "[{\"type\":\"PodGangScheduled\",\"status\":\"True\"},{\"type\":\"PodGangScheduled\"}]",
    "[{\"type\":\"MinAvailableBreached\",\"status\":\"True\",\"lastTransitionTime\":\"x\"}]",
    "[{\"name\":\"a\"}]",
};

#define COUNT(table) ((uint32_t)(sizeof(table) / sizeof(table)[0]))

static object *any_object(cluster *c, program *b) {
    uint32_t alive = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        alive += c->objects[i].gone ? 0 : 1;
    }
    uint32_t at = alive > 0 ? take(b, alive) : 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->objects[i].gone && at-- == 0) {
            return &c->objects[i];
        }
    }
    return NULL;
}

/* An API server takes generation and times for itself, and what is spoiled stays an object. */
static void spoil(cluster *c, program *b) {
    char text[512];
    object *o = any_object(c, b);
    uint32_t member = take(b, COUNT(members));
    /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the formats stand above, each with one %s */
    snprintf(text, sizeof text, members[member], values[take(b, COUNT(values))]);
    if (o != NULL) {
        cluster_merge(c, o->kind, o->name, text);
    }
}

/* Somebody else's object with the name of one that is gone, or of one that is not there yet. */
static void foreign(cluster *c, program *b) {
    static const char *const kinds[] = {"grove.io/v1alpha1\nkind: PodClique",
                                        "scheduler.grove.io/v1alpha1\nkind: PodGang",
                                        "v1\nkind: Service", "v1\nkind: Pod"};
    static const gv_kind kind_of[] = {GV_KIND_PODCLIQUE, GV_KIND_PODGANG, GV_KIND_SERVICE,
                                      GV_KIND_POD};
    static const char *const names[] = {"s-0-a", "s-0-r", "s-0", "s-0-g-1-p", "s-1-r", "s-0-a-0"};
    uint32_t kind = take(b, COUNT(kinds));
    const char *name = names[take(b, COUNT(names))];
    char text[256];
    if (cluster_get(c, kind_of[kind], name) == NULL) {
        snprintf(text, sizeof text, "apiVersion: %s\nmetadata: {name: %s, namespace: t}\n",
                 kinds[kind], name);
        cluster_add(c, text);
    }
}

static void remove_one(cluster *c, program *b) {
    object *o = any_object(c, b);
    if (o != NULL) {
        cluster_delete(c, o->kind, o->name);
    }
}

/* Pods whose finalizer or whose kubelet let them go. */
static void let_go(cluster *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        if (!o->gone && grove_node_at_path(grove_doc_root(o->doc), "/metadata/deletionTimestamp")) {
            cluster_merge(c, o->kind, o->name, "{\"metadata\":{\"finalizers\":null}}");
        }
    }
}

/* A set that no admission let in may have no plan; then it is said why, and where. */
static bool plannable(cluster *c) {
    grove_plan_request rq = cluster_request(c);
    grove_plan *plan = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status status = grove_plan_make(c->planner, c->store, &rq, &plan, &err);
    if (status == GROVE_E_INTERNAL || (status < 0 && (!err.path[0] || !err.message[0]))) {
        fprintf(stderr, "%s: %s: %s\n", grove_status_name(status), err.path, err.message);
        stop("no plan");
    }
    grove_plan_unref(plan);
    return status >= 0;
}

static void write_plan(cluster *c, grove_planner *planner, const grove_store *store,
                       grove_buf *out) {
    grove_plan_request rq = cluster_request(c);
    grove_plan *plan = NULL;
    if (grove_plan_make(planner, store, &rq, &plan, NULL) < 0 ||
        grove_plan_write_json(plan, 0, out, NULL) < 0) {
        stop("no plan");
    }
    grove_plan_unref(plan);
}

static void put(grove_store *store, const object *o) {
    if (grove_store_put(store, o->doc, grove_doc_root(o->doc), NULL) < 0) {
        stop("what one store took is refused by another");
    }
}

/*
 * What another process sees is planned alike, in whatever order it hears of it. It has heard of those that
 * are gone, too: a pod's name is made from its predecessor's uid.
 */
static void check_from_nothing(cluster *c) {
    grove_store *store = NULL;
    grove_planner *planner = NULL;
    grove_buf now, anew;
    grove_buf_init(&now, c->env);
    grove_buf_init(&anew, c->env);
    if (grove_store_new(c->env, &store) < 0 || grove_planner_new(c->env, &planner) < 0) {
        stop("out of memory");
    }
    for (uint32_t i = c->n; i-- > 0;) {
        if (!c->objects[i].gone) {
            put(store, &c->objects[i]);
        }
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const object *o = &c->objects[i];
        if (o->gone && o->kind == GV_KIND_POD && cluster_get(c, o->kind, o->name) == NULL) {
            put(store, o);
            (void)grove_store_remove(store, grove_doc_root(o->doc), NULL);
        }
    }
    write_plan(c, c->planner, c->store, &now);
    write_plan(c, planner, store, &anew);
    if (strcmp(now.data, anew.data) != 0) {
        fprintf(stderr, "%s\n%s\n", now.data, anew.data);
        stop("a store that was filled anew gives another plan");
    }
    grove_buf_fini(&now);
    grove_buf_fini(&anew);
    grove_planner_free(planner);
    grove_store_free(store);
}

static void step(cluster *c, program *b) {
    switch (take(b, 10)) {
    case 0:
    case 1:
    case 2:
        spoil(c, b);
        break;
    case 3:
        remove_one(c, b);
        break;
    case 4:
        foreign(c, b);
        break;
    case 5:
        c->now += take(b, 64) * SECOND;
        break;
    case 6:
        let_go(c);
        break;
    case 7:
        cluster_run_pods(c);
        break;
    default: /* 8 and 9 */
        if (plannable(c)) {
            cluster_round(c);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    program b = {data, size};
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, sets[take(&b, COUNT(sets))]);
    for (int i = 0; i < STEPS && b.n > 0; i++) {
        step(&c, &b);
    }
    if (!plannable(&c)) {
        cluster_delete(&c, GV_KIND_PODCLIQUESET, "s"); /* that must always be possible */
    }
    check_from_nothing(&c);
    cluster_settle(&c, ROUNDS_TO_REST);
    cluster_close(&c);
    return 0;
}
