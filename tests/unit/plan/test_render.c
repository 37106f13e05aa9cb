/* SPDX-License-Identifier: Apache-2.0 */
/* Rendering as a whole: gates, what is refused, flags, and running out of memory at every point. */
#include "sets.h"

#include <grove/render.h>

#include "support/oom.h"

#define HEAD "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s}\n"

static const char SET[] = HEAD
    "spec: {replicas: 2, template: {cliqueStartupType: CliqueStartupTypeInOrder, "
    "resourceClaimTemplates: [{name: nic, templateSpec: {spec: {devices: {requests: [{name: d, "
    "exactly: {deviceClassName: x}}]}}}}], resourceSharing: [{name: nic, scope: PerReplica}], "
    "cliques: [{name: a, labels: {kai.scheduler/queue: q}, spec: {replicas: 2, minAvailable: 1, "
    "autoScalingConfig: {minReplicas: 1, maxReplicas: 3}, podSpec: {schedulerName: kai-scheduler, "
    "containers: [{name: c, image: i, env: [{name: E, value: v}], ports: [{containerPort: "
    "80}]}]}}}, "
    "{name: b, spec: {replicas: 1, minAvailable: 1, podSpec: {containers: [{name: c, image: i, "
    "readinessProbe: {httpGet: {port: 1}}}]}}}], podCliqueScalingGroups: [{name: g, cliqueNames: "
    "[b], replicas: 2, minAvailable: 1}]}}";

static grove_config *config; /* of the next rendering; NULL: built-in */

static grove_status render(grove_env *env, const char *text, uint32_t flags, grove_doc **out) {
    grove_doc *doc = NULL;
    grove_status s = grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL);
    if (s == GROVE_OK) {
        s = grove_render(env, doc, grove_doc_root(doc), config, "team", flags, out, NULL);
    }
    grove_doc_unref(doc);
    return s;
}

/* JSON of the YAML above: reading YAML takes memory elsewhere, which the loop does not see. */
static char *as_json(const char *yaml) {
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    grove_buf out;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(grove_doc_parse_yaml(env, yaml, strlen(yaml), 0, &doc, NULL), 0);
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &out, NULL), 0);
    char *text = test_malloc((size_t)out.len + 1);
    memcpy(text, out.data, (size_t)out.len + 1);
    grove_buf_fini(&out);
    grove_doc_unref(doc);
    grove_env_unref(env);
    return text;
}

static const grove_node *find(const grove_doc *list, const char *kind, const char *prefix) {
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *n = grove_node_first(items); n; n = grove_node_next(items, n)) {
        gv_str name = gv_get_str(grove_node_get(n, "metadata"), "name");
        if (gv_str_is(gv_get_str(n, "kind"), kind) && gv_str_starts(name, gv_str_c(prefix))) {
            return n;
        }
    }
    return NULL;
}

typedef struct rendered {
    grove_env *env;
    grove_doc *list;
} rendered;

static rendered render_yaml(const char *yaml, uint32_t flags) {
    rendered r = {NULL, NULL};
    char *text = as_json(yaml);
    assert_int_equal(grove_env_new(NULL, &r.env), 0);
    assert_int_equal(render(r.env, text, flags, &r.list), 0);
    test_free(text);
    return r;
}

static void rendered_free(rendered *r) {
    grove_doc_unref(r->list);
    grove_env_unref(r->env);
}

static void gates(void **state) {
    (void)state;
    rendered r = render_yaml(SET, 0);
    assert_true(gv_str_is(gv_get_str(grove_doc_root(r.list), "kind"), "List"));
    assert_true(gv_str_is(gv_get_str(grove_doc_root(r.list), "apiVersion"), "v1"));
    assert_null(grove_node_at_path(find(r.list, "Pod", "s-0-a-"), "/spec/schedulingGates"));
    assert_null(grove_node_at_path(find(r.list, "Pod", "s-0-g-0-b-"), "/spec/schedulingGates"));
    assert_non_null(grove_node_at_path(find(r.list, "Pod", "s-1-g-1-b-"), "/spec/schedulingGates"));
    rendered_free(&r);
}

/* Where the engine looks for a place for the whole gang, all pods wait for it. */
static void gates_of_the_engine(void **state) {
    static const char text[] =
        "{apiVersion: operator.config.grove.io/v1alpha1, kind: OperatorConfiguration, scheduler: "
        "{profiles: [{name: default-scheduler, config: {gangScheduling: true}}, {name: "
        "kai-scheduler}]}}";
    grove_env *env = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(grove_config_new(env, &config), 0);
    assert_int_equal(grove_config_load(config, text, strlen(text), NULL), 0);
    rendered r = render_yaml(SET, 0);
    assert_non_null(grove_node_at_path(find(r.list, "Pod", "s-0-g-0-b-"), "/spec/schedulingGates"));
    assert_null(grove_node_at_path(find(r.list, "Pod", "s-0-a-"), "/spec/schedulingGates"));
    rendered_free(&r);
    grove_config_unref(config);
    config = NULL;
    grove_env_unref(env);
}

/* References are sorted and name the pods of the List. */
static void references(void **state) {
    (void)state;
    rendered r = render_yaml(SET, 0);
    const grove_node *gang = find(r.list, "PodGang", "s-0");
    const grove_node *refs = grove_node_at_path(gang, "/spec/podgroups/0/podReferences");
    assert_int_equal(grove_node_size(refs), 2);
    gv_str first = gv_get_str(grove_node_at(refs, 0), "name");
    gv_str second = gv_get_str(grove_node_at(refs, 1), "name");
    assert_true(gv_str_cmp(first, second) < 0);
    assert_non_null(find(r.list, "Pod", first.p));
    assert_true(gv_str_is(gv_get_str(grove_node_at(refs, 0), "namespace"), "team"));
    rendered_free(&r);
}

static void served_fields(void **state) {
    (void)state;
    rendered r = render_yaml(SET, 0);
    const grove_node *pod = find(r.list, "Pod", "s-0-g-0-b-");
    int64_t period = 0;
    assert_int_equal(
        grove_node_int64(grove_node_at_path(pod, "/spec/containers/0/readinessProbe/periodSeconds"),
                         &period),
        0);
    assert_int_equal(period, 10);
    const grove_node *claim = find(r.list, "ResourceClaim", "s-1-nic");
    assert_non_null(grove_node_at_path(claim, "/spec/devices/requests/0/exactly/count"));
    assert_non_null(
        grove_node_at_path(find(r.list, "HorizontalPodAutoscaler", "s-0-a"), "/spec/metrics/0"));
    rendered_free(&r);
    r = render_yaml(SET, GROVE_RENDER_AS_SENT);
    pod = find(r.list, "Pod", "s-0-g-0-b-");
    assert_null(grove_node_at_path(pod, "/spec/containers/0/readinessProbe/periodSeconds"));
    rendered_free(&r);
}

/* A pod that an API server refuses: its PodClique stands without pods, and standalone pods of the same
 * gang, which can never be complete, stay gated. */
static void refused_pods(void **state) {
    (void)state;
    rendered r = render_yaml(
        HEAD
        "spec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 1, podSpec: "
        "{containers: [{name: c, image: i}]}}}, {name: b, spec: {replicas: 1, podSpec: "
        "{containers: [{name: c, image: i, volumeMounts: [{name: gone, mountPath: /x}]}]}}}]}}",
        0);
    assert_non_null(find(r.list, "PodClique", "s-0-b"));
    assert_null(find(r.list, "Pod", "s-0-b-"));
    assert_non_null(grove_node_at_path(find(r.list, "Pod", "s-0-a-"), "/spec/schedulingGates"));
    rendered_free(&r);
}

static void problems_are_told(void **state) {
    (void)state;
    rendered r = render_yaml(
        HEAD "spec: {replicas: 1, template: {resourceSharing: [{name: gone, scope: AllReplicas}], "
             "cliques: [{name: a, spec: {replicas: 1, podSpec: {containers: []}}}]}}",
        0);
    assert_null(find(r.list, "PodClique", "s-0-a"));
    assert_non_null(
        grove_node_at_path(grove_doc_root(r.list), "/metadata/annotations/libgrove.io~1problem-0"));
    rendered_free(&r);
}

/* Cliques whose names end in one another: as Grove makes them, with a word on it, or each its own. */
static void misled_templates(void **state) {
    static const char text[] = HEAD
        "spec: {replicas: 2, template: {cliques: [{name: worker, spec: {replicas: 1, podSpec: "
        "{containers: [{name: c, image: one}]}}}, {name: pworker, spec: {replicas: 1, podSpec: "
        "{containers: [{name: c, image: two}]}}}]}}";
    (void)state;
    rendered r = render_yaml(text, 0);
    const char *image = "/spec/containers/0/image";
    const grove_node *notes = grove_node_at_path(grove_doc_root(r.list), "/metadata/annotations");
    assert_string_equal(
        grove_node_text(grove_node_at_path(find(r.list, "Pod", "s-1-pworker-"), image)), "one");
    assert_int_equal(grove_node_size(notes), 1);
    rendered_free(&r);
    r = render_yaml(text, GROVE_RENDER_EXACT_TEMPLATES);
    assert_string_equal(
        grove_node_text(grove_node_at_path(find(r.list, "Pod", "s-1-pworker-"), image)), "two");
    assert_null(grove_node_at_path(grove_doc_root(r.list), "/metadata"));
    rendered_free(&r);
}

static void no_set(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_doc *list = NULL;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(render(env, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", 0, &list),
                     GROVE_E_TYPE);
    assert_null(list);
    assert_int_equal(
        render(env, "{\"kind\":\"PodCliqueSet\",\"apiVersion\":\"grove.io/v1alpha1\"}", 0, &list),
        GROVE_E_TYPE);
    grove_env_unref(env);
}

static grove_status render_once(grove_env *env, void *ctx) {
    grove_doc *list = NULL;
    grove_status s = render(env, ctx, 0, &list);
    grove_doc_unref(list);
    return s;
}

static void out_of_memory(void **state) {
    (void)state;
    char *text = as_json(SET);
    oom_loop("render", render_once, text);
    test_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates),
        cmocka_unit_test(gates_of_the_engine),
        cmocka_unit_test(references),
        cmocka_unit_test(served_fields),
        cmocka_unit_test(refused_pods),
        cmocka_unit_test(problems_are_told),
        cmocka_unit_test(misled_templates),
        cmocka_unit_test(no_set),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
