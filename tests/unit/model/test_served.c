/* SPDX-License-Identifier: Apache-2.0 */
/* What an API server fills in, and which pods it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/served.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}
static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

static grove_doc *parse(const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), 0);
    return doc;
}

static void assert_served(gv_kind kind, const char *sent, const char *served) {
    grove_doc *doc = parse(sent), *want = parse(served), *got = NULL;
    grove_builder *b = NULL;
    assert_int_equal(grove_builder_new(env, &b), 0);
    gv_served_write(b, NULL, doc, grove_doc_root(doc), kind);
    assert_int_equal(grove_builder_finish(b, &got, NULL), 0);
    grove_builder_free(b);
    if (!grove_node_equal(grove_doc_root(got), grove_doc_root(want))) {
        grove_buf text;
        grove_buf_init(&text, env);
        grove_node_write_json(grove_doc_root(got), 0, &text, NULL);
        fail_msg("%s became %s", sent, text.data);
    }
    grove_doc_unref(doc);
    grove_doc_unref(want);
    grove_doc_unref(got);
}

static void pods(void **state) {
    (void)state;
    assert_served(GV_KIND_POD,
                  "{\"spec\":{\"serviceAccountName\":\"a\",\"containers\":[{\"name\":\"c\","
                  "\"livenessProbe\":{\"httpGet\":{\"port\":1},\"periodSeconds\":5},"
                  "\"ports\":[{\"containerPort\":80}],\"env\":[{\"name\":\"e\",\"valueFrom\":{"
                  "\"fieldRef\":{\"fieldPath\":\"x\"}}}]}]}}",
                  "{\"spec\":{\"serviceAccountName\":\"a\",\"serviceAccount\":\"a\","
                  "\"containers\":[{\"name\":\"c\",\"livenessProbe\":{\"httpGet\":{\"port\":1,"
                  "\"scheme\":\"HTTP\",\"path\":\"/\"},\"periodSeconds\":5,\"timeoutSeconds\":1,"
                  "\"successThreshold\":1,\"failureThreshold\":3},\"ports\":[{\"containerPort\":80,"
                  "\"protocol\":\"TCP\"}],\"env\":[{\"name\":\"e\",\"valueFrom\":{\"fieldRef\":{"
                  "\"fieldPath\":\"x\",\"apiVersion\":\"v1\"}}}]}]}}");
}

static void host_network(void **state) {
    (void)state;
    assert_served(GV_KIND_POD,
                  "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"protocol\":"
                  "\"UDP\",\"containerPort\":80},{\"protocol\":\"TCP\",\"containerPort\":81,"
                  "\"hostPort\":9}]}]}}",
                  "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"protocol\":"
                  "\"UDP\",\"containerPort\":80,\"hostPort\":80},{\"protocol\":\"TCP\","
                  "\"containerPort\":81,\"hostPort\":9}]}]}}");
}

static void volumes(void **state) {
    (void)state;
    assert_served(
        GV_KIND_POD,
        "{\"spec\":{\"volumes\":[{\"secret\":{}},{\"configMap\":{\"defaultMode\":1}},{"
        "\"downwardAPI\":{\"items\":[{\"fieldRef\":{}}]}},{\"projected\":{\"sources\":[{"
        "\"downwardAPI\":{\"items\":[{\"fieldRef\":{}}]}},{\"serviceAccountToken\":{}}]}},{"
        "\"hostPath\":{}},{\"emptyDir\":{}}]}}",
        "{\"spec\":{\"volumes\":[{\"secret\":{\"defaultMode\":420}},{\"configMap\":{"
        "\"defaultMode\":1}},{\"downwardAPI\":{\"defaultMode\":420,\"items\":[{\"fieldRef\":{"
        "\"apiVersion\":\"v1\"}}]}},{\"projected\":{\"defaultMode\":420,\"sources\":[{"
        "\"downwardAPI\":{\"items\":[{\"fieldRef\":{\"apiVersion\":\"v1\"}}]}},{"
        "\"serviceAccountToken\":{\"expirationSeconds\":3600}}]}},{\"hostPath\":{\"type\":\"\"}},{"
        "\"emptyDir\":{}}]}}");
}

static void other_kinds(void **state) {
    (void)state;
    assert_served(GV_KIND_RESOURCECLAIM,
                  "{\"spec\":{\"devices\":{\"requests\":[{\"exactly\":{}},{\"exactly\":{"
                  "\"allocationMode\":\"All\"}},{\"firstAvailable\":[{\"count\":2}]}]}}}",
                  "{\"spec\":{\"devices\":{\"requests\":[{\"exactly\":{\"allocationMode\":"
                  "\"ExactCount\",\"count\":1}},{\"exactly\":{\"allocationMode\":\"All\"}},{"
                  "\"firstAvailable\":[{\"count\":2,\"allocationMode\":\"ExactCount\"}]}]}}}");
    assert_served(GV_KIND_HPA, "{\"spec\":{\"metrics\":[{\"type\":\"x\"}]}}",
                  "{\"spec\":{\"metrics\":[{\"type\":\"x\"}]}}");
    assert_served(GV_KIND_HPA, "{\"spec\":{}}",
                  "{\"spec\":{\"metrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\","
                  "\"target\":{\"type\":\"Utilization\",\"averageUtilization\":80}}}]}}");
    assert_served(GV_KIND_PODCLIQUE, "{\"spec\":{\"containers\":[{\"ports\":[{}]}]}}",
                  "{\"spec\":{\"containers\":[{\"ports\":[{}]}]}}");
}

static void refusals(void **state) {
    static const struct {
        const char *spec;
        bool refused;
    } cases[] = {
        {"{\"containers\":[{\"image\":\"i\"}]}", false},
        {"{}", true},
        {"{\"containers\":[]}", true},
        {"{\"containers\":[{}]}", true},
        {"{\"containers\":[{\"image\":\"i\",\"volumeMounts\":[{\"name\":\"v\"}]}]}", true},
        {"{\"volumes\":[{\"name\":\"v\"}],\"containers\":[{\"image\":\"i\",\"volumeMounts\":[{"
         "\"name\":\"v\"}]}]}",
         false},
        {"{\"containers\":[{\"image\":\"i\",\"readinessProbe\":{}}]}", false},
        {"{\"containers\":[{\"image\":\"i\"}],\"initContainers\":[{\"image\":\"i\","
         "\"readinessProbe\":{}}]}",
         true},
        {"{\"containers\":[{\"image\":\"i\"}],\"initContainers\":[{\"image\":\"i\","
         "\"restartPolicy\":\"Always\",\"readinessProbe\":{}}]}",
         false},
        {"{\"containers\":[{\"image\":\"i\"}],\"initContainers\":[{\"image\":\"i\","
         "\"lifecycle\":null}]}",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grove_doc *doc = parse(cases[i].spec);
        if (gv_served_refuses_pod(grove_doc_root(doc)) != cases[i].refused) {
            fail_msg("%s", cases[i].spec);
        }
        grove_doc_unref(doc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods),        cmocka_unit_test(host_network), cmocka_unit_test(volumes),
        cmocka_unit_test(other_kinds), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
