/* SPDX-License-Identifier: Apache-2.0 */
/* The front without sockets: how requests are taken apart, what memory failures do, what a watch tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "front/parts.h"
#include "support/oom.h"

/* ---- requests taken apart ---- */

static void test_query(void **state) {
    (void)state;
    grove_env *env = NULL;
    gv_front_query q = {0};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(gv_front_query_parse(&q, env, "a=1&b=x%3Dy%2Cz&&watch&c=p+q&a=2"), GROVE_OK);
    assert_string_equal(gv_front_query_get(&q, "a"), "1");
    assert_string_equal(gv_front_query_get(&q, "b"), "x=y,z");
    assert_string_equal(gv_front_query_get(&q, "c"), "p q");
    assert_string_equal(gv_front_query_get(&q, "watch"), "");
    assert_null(gv_front_query_get(&q, "d"));
    assert_true(gv_front_query_true(&q, "a"));
    assert_false(gv_front_query_true(&q, "watch"));
    gv_front_query_fini(&q);
    static const char *const bad[] = {"a=%", "a=%4", "a=%zz", "a=%00", "%ff=1", "a=%ed%a0%80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gv_front_query_parse(&q, env, bad[i]), GROVE_E_INVALID);
        gv_front_query_fini(&q);
    }
    grove_env_unref(env);
}

static bool route(const char *path, gv_front_route *out) {
    static gv_front_path parsed; /* large; routes point into it */
    return gv_front_path_parse(&parsed, path, strlen(path)) && gv_front_route_find(&parsed, out);
}

static void test_routes(void **state) {
    (void)state;
    static const struct {
        const char *path;
        grove_kind kind; /* NONE: leads nowhere */
        const char *ns, *name, *sub;
    } cases[] = {
        {"/api/v1/pods", GROVE_KIND_POD, "", "", ""},
        {"/api/v1/namespaces/n/pods", GROVE_KIND_POD, "n", "", ""},
        {"/api/v1/namespaces/n/pods/p%2E1/eviction", GROVE_KIND_POD, "n", "p.1", "eviction"},
        {"/api/v1/namespaces", GROVE_KIND_NAMESPACE, "", "", ""},
        {"/api/v1/namespaces/n", GROVE_KIND_NAMESPACE, "", "n", ""},
        {"/api/v1/namespaces/n/status", GROVE_KIND_NAMESPACE, "", "n", "status"},
        {"/api/v1/nodes/x", GROVE_KIND_NODE, "", "x", ""},
        {"/apis/grove.io/v1alpha1/namespaces/n/podcliquesets/s/scale", GROVE_KIND_PODCLIQUESET, "n",
         "s", "scale"},
        {"/apis/scheduling.volcano.sh/v1beta1/podgroups", GROVE_KIND_VOLCANO_PODGROUP, "", "", ""},
        {"/apis/grove.io/v9/podcliquesets", GROVE_KIND_NONE, "", "", ""},
        {"/api/v1/namespaces/n/nodes", GROVE_KIND_NONE, "", "", ""},
        {"/api/v1/pods/p", GROVE_KIND_NONE, "", "", ""},
        {"/api/v1/nodes/x/status/y", GROVE_KIND_NONE, "", "", ""},
        {"/a/b/c/d/e/f/g/h/i", GROVE_KIND_NONE, "", "", ""},
        {"/", GROVE_KIND_NONE, "", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gv_front_route r = {0};
        bool found = route(cases[i].path, &r);
        assert_int_equal(found, cases[i].kind != GROVE_KIND_NONE);
        if (found) {
            assert_int_equal(r.kind, cases[i].kind);
            assert_string_equal(r.ns, cases[i].ns);
            assert_string_equal(r.name, cases[i].name);
            assert_string_equal(r.sub, cases[i].sub);
        }
    }
}

static void test_accept(void **state) {
    (void)state;
    static const struct {
        const char *accept;
        gv_front_form form;
    } cases[] = {
        {NULL, GV_FORM_JSON},
        {"application/json", GV_FORM_JSON},
        {"*/*", GV_FORM_JSON},
        {"application/vnd.kubernetes.protobuf,application/json", GV_FORM_JSON},
        {"application/yaml", GV_FORM_YAML},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", GV_FORM_TABLE},
        {"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", GV_FORM_PARTIAL},
        {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", GV_FORM_DISCOVERY},
        {"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", GV_FORM_NONE},
        {"text/foo", GV_FORM_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gv_front_accept(cases[i].accept), cases[i].form);
    }
}

/* ---- memory ---- */

#define CORE "/api/v1/namespaces/default"
#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

static void take_line(void *ctx, uint64_t watch, const char *bytes, size_t len) {
    (void)watch;
    assert_true(len > 1 && bytes[len - 1] == '\n');
    ++*(unsigned *)ctx;
}

static void take_end(void *ctx, uint64_t watch) {
    (void)ctx;
    (void)watch;
}

static grove_status ask(gv_front *front, grove_env *env, const gv_front_request *request,
                        int32_t want) {
    gv_front_response r;
    gv_front_response_init(&r, env);
    grove_status st = gv_front_handle(front, request, &r);
    if (st == GROVE_OK) {
        assert_int_equal(r.http, want);
    }
    gv_front_response_fini(&r);
    return st;
}

static grove_status ask_all(gv_front *front, grove_env *env) {
    static const char map[] = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}";
    static const char again[] = "{\"data\":{\"k\":\"x\"}}";
    static const char patch[] = "{\"data\":{\"k\":\"w\"}}";
    static const struct {
        gv_front_request request;
        int32_t http;
    } steps[] = {
        {{"GET", CORE "/configmaps?watch=1", TABLE, NULL, "", 0}, 200},
        {{"POST", CORE "/configmaps", NULL, NULL, map, sizeof map - 1}, 201},
        {{"PATCH", CORE "/configmaps/a", NULL, "application/merge-patch+json", patch,
          sizeof patch - 1},
         200},
        {{"PATCH", CORE "/configmaps/a?fieldManager=m", NULL, "application/apply-patch+yaml", patch,
          sizeof patch - 1},
         200},
        {{"PATCH", CORE "/configmaps/a?fieldManager=n", NULL, "application/apply-patch+yaml", again,
          sizeof again - 1},
         409},
        {{"GET", CORE "/configmaps?limit=1", TABLE, NULL, "", 0}, 200},
        {{"GET", "/apis/policy/v1", NULL, NULL, "", 0}, 200},
        {{"GET", CORE "/configmaps/b", NULL, NULL, "", 0}, 404},
        {{"DELETE", CORE "/configmaps/a", NULL, NULL, "", 0}, 200},
    };
    grove_status st = GROVE_OK;
    for (size_t i = 0; st == GROVE_OK && i < sizeof steps / sizeof *steps; i++) {
        st = ask(front, env, &steps[i].request, steps[i].http);
    }
    return st;
}

static grove_status run(grove_env *env, void *ctx) {
    unsigned lines = 0;
    grove_sim *sim = NULL;
    gv_front *front = NULL;
    gv_front_sink sink = {&lines, take_line, take_end};
    (void)ctx;
    grove_sim_options options = {.size = (uint32_t)sizeof options,
                                 .flags = GROVE_SIM_MANAGED_FIELDS};
    grove_status st = grove_sim_new(env, &options, &sim, NULL);
    st = st < 0 ? st : gv_front_new(env, sim, &front, NULL);
    st = st < 0 ? st : ask_all(front, env);
    st = st < 0 ? st : gv_front_pump(front, &sink, NULL);
    if (st == GROVE_OK) {
        assert_int_equal(lines, 4); /* ADDED, MODIFIED twice, DELETED */
    }
    gv_front_free(front);
    grove_sim_free(sim);
    return st;
}

static void test_memory(void **state) {
    (void)state;
    oom_loop("front", run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_query), cmocka_unit_test(test_routes),
                                       cmocka_unit_test(test_accept),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
