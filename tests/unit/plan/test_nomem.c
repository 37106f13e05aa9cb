/* SPDX-License-Identifier: Apache-2.0 */
/* Planning under refused allocations: a clean GROVE_E_NOMEM, nothing leaked, nothing half-done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"
#include "support/oom.h"

typedef struct state {
    grove_doc **docs; /* what the store is to hold */
    uint32_t n;
    const char *ns, *name; /* what is planned */
} state;

static grove_status plan_once(grove_planner *p, const grove_store *s, const state *at,
                              grove_env *env) {
    grove_plan_request rq = {.size = sizeof rq, .ns = at->ns, .name = at->name};
    rq.now_ns = INT64_C(1900000000) * 1000000000;
    grove_plan *plan = NULL;
    grove_buf out;
    grove_buf_init(&out, env);
    grove_status st = grove_plan_make(p, s, &rq, &plan, NULL);
    st = st < 0 ? st : grove_plan_write_json(plan, 0, &out, NULL);
    st = st < 0 ? st : grove_plan_explain(plan, GROVE_KIND_NONE, NULL, rq.now_ns, &out, NULL);
    grove_plan_unref(plan);
    grove_buf_fini(&out);
    return st;
}

static grove_status run(grove_env *env, void *ctx) {
    const state *at = ctx;
    grove_store *store = NULL;
    grove_planner *planner = NULL;
    grove_status st = grove_store_new(env, &store);
    for (uint32_t i = 0; i < at->n && st == GROVE_OK; i++) {
        st = grove_store_put(store, at->docs[i], grove_doc_root(at->docs[i]), NULL);
    }
    st = st < 0 ? st : grove_planner_new(env, &planner);
    for (int i = 0; i < 2 && st == GROVE_OK; i++) {
        st = plan_once(planner, store, at, env);
    }
    grove_planner_free(planner);
    grove_store_free(store);
    return st;
}

/* The loop over what the cluster holds at this moment. */
static void loop(cluster *c, const char *name) {
    state at = {.docs = calloc(c->n, sizeof *at.docs), .ns = c->ns, .name = c->set};
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->objects[i].gone) {
            at.docs[at.n++] = c->objects[i].doc;
        }
    }
    oom_loop(name, run, &at);
    free(at.docs);
}

static void test_oom(void **unused) {
    (void)unused;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
    loop(&c, "plan of a new set");
    cluster_round(&c);
    cluster_round(&c);
    cluster_round(&c);
    loop(&c, "plan of membership and status");
    cluster_live(&c, 20);
    loop(&c, "plan of a settled set");
    cluster_ready(&c, cluster_pod(&c, "s-0-r", 0), false);
    cluster_ready(&c, cluster_pod(&c, "s-0-r", 1), false);
    cluster_settle(&c, 12);
    loop(&c, "plan of a recycling");
    cluster_close(&c);
}

static void test_oom_of_an_update(void **unused) {
    (void)unused;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 20);
    cluster_merge(
        &c, GV_KIND_PODCLIQUESET, "s",
        "{\"spec\":{\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":\"a\","
        "\"replicas\":3,\"minAvailable\":2,\"podSpec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"j\"}]}}}]}}}");
    for (int i = 0; i < 4; i++) {
        loop(&c, "plan of an update");
        cluster_round(&c);
    }
    /* As another operator would have left it: hashes of its own. */
    cluster_live(&c, 60);
    for (uint32_t i = 0; i < c.n; i++) {
        object *o = &c.objects[i];
        grove_buf b;
        grove_buf_init(&b, c.env);
        grove_node_write_json(grove_doc_root(o->doc), 0, &b, NULL);
        for (char *at = strstr(b.data, "\"g1"); at != NULL; at = strstr(at + 1, "\"g1")) {
            at[1] = 'z';
        }
        if (!o->gone) {
            cluster_merge(&c, o->kind, o->name, b.data);
        }
        grove_buf_fini(&b);
    }
    loop(&c, "plan of a take-over");
    cluster_close(&c);
}

static void test_oom_of_a_binding(void **unused) {
    (void)unused;
    cluster c;
    cluster_open(&c, "b");
    c.ns = "";
    cluster_add(
        &c, NAMED_BINDING("spec: {levels: [{domain: rack, key: r}], schedulerTopologyBindings: ["
                          "{schedulerName: volcano, topologyReference: v}]}"));
    loop(&c, "plan of a new binding");
    cluster_settle(&c, 4);
    cluster_merge(&c, GV_KIND_CLUSTERTOPOLOGYBINDING, "b",
                  "{\"spec\":{\"levels\":[{\"domain\":\"host\",\"key\":\"h\"}]}}");
    loop(&c, "plan of a binding with other levels");
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oom),
        cmocka_unit_test(test_oom_of_an_update),
        cmocka_unit_test(test_oom_of_a_binding),
    };
    return cmocka_run_group_tests_name("plan without memory", tests, NULL, NULL);
}
