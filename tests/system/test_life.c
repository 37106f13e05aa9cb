/* SPDX-License-Identifier: Apache-2.0 */
/* A set's life on the embedded cluster: created, scaled, updated, hurt, deleted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <grove/admission.h>
#include <grove/runner.h>

#include "world.h"

#define PODS "grove.io/podclique"

static world w;
static grove_env *env;

static int setup(void **state) {
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    world_start(&w, env, (cluster_options){0});
    world_apply(&w, world_set);
    world_settle(&w);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    world_end(&w);
    grove_env_unref(env);
    return 0;
}

static void test_everything_runs(void **state) {
    char text[64];
    (void)state;
    assert_int_equal(world_ready_pods(&w, NULL), 8);
    assert_int_equal(grove_sim_count(w.c->sim, GROVE_KIND_PODGANG), 2);
    assert_string_equal(
        world_text(&w, GROVE_KIND_PODGANG, "s-0", "/status/phase", text, sizeof text), "Running");
    assert_int_equal(world_number(&w, GROVE_KIND_PODCLIQUESET, "s", "/status/availableReplicas"),
                     1);
    world_check_rest(&w);
}

static void test_group_scales_out_and_in(void **state) {
    (void)state;
    world_scale(&w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 4);
    world_settle(&w);
    assert_int_equal(world_ready_pods(&w, NULL), 14);
    assert_int_equal(grove_sim_count(w.c->sim, GROVE_KIND_PODGANG), 4);
    world_scale(&w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 1);
    world_settle(&w);
    assert_int_equal(world_pods(&w, NULL, NULL), 5);
    assert_int_equal(grove_sim_count(w.c->sim, GROVE_KIND_PODGANG), 1);
    world_check_rest(&w);
}

static void test_set_scales_to_zero_and_back(void **state) {
    (void)state;
    world_scale(&w, GROVE_KIND_PODCLIQUESET, "s", 0);
    world_settle(&w);
    assert_int_equal(world_pods(&w, NULL, NULL), 0);
    assert_int_equal(grove_sim_count(w.c->sim, GROVE_KIND_SERVICE), 0);
    world_scale(&w, GROVE_KIND_PODCLIQUESET, "s", 2);
    world_settle(&w);
    assert_int_equal(world_ready_pods(&w, NULL), 16);
    world_check_rest(&w);
}

static void test_deleted_pod_comes_back_with_its_index(void **state) {
    char name[128], again[128];
    (void)state;
    assert_true(world_pod_name(&w, PODS "=s-0-router,grove.io/podclique-pod-index=1", 0, name,
                               sizeof name));
    world_delete(&w, GROVE_KIND_POD, name);
    world_settle(&w);
    assert_true(world_pod_name(&w, PODS "=s-0-router,grove.io/podclique-pod-index=1", 0, again,
                               sizeof again));
    assert_string_not_equal(name, again);
    assert_int_equal(world_ready_pods(&w, NULL), 8);
    world_check_rest(&w);
}

static void test_new_image_rolls_one_clique(void **state) {
    char text[64];
    uint64_t before = w.pod_creates;
    (void)state;
    world_patch(&w, GROVE_KIND_PODCLIQUESET, "s",
                "{\"metadata\":{\"annotations\":{\"note\":\"no change of the template\"}}}");
    world_settle(&w);
    assert_int_equal(w.pod_creates, before);
    world_json_patch(&w, GROVE_KIND_PODCLIQUESET, "s",
                     "[{\"op\":\"replace\",\"path\":"
                     "\"/spec/template/cliques/0/spec/podSpec/containers/0/image\","
                     "\"value\":\"r:2\"}]");
    world_settle(&w);
    assert_int_equal(w.pod_creates, before + 2); /* the two routers and nobody else */
    assert_int_equal(world_number(&w, GROVE_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 1);
    assert_true(world_text(&w, GROVE_KIND_PODCLIQUESET, "s", "/status/updateProgress/updateEndedAt",
                           text, sizeof text)[0]);
    world_check_rest(&w);
}

static void test_node_loss_heals(void **state) {
    char name[128], node[128];
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    assert_true(world_pod_name(&w, PODS "=s-0-router", 0, name, sizeof name));
    world_text(&w, GROVE_KIND_POD, name, "/spec/nodeName", node, sizeof node);
    assert_int_equal(grove_sim_fail_node(w.c->sim, node, &err), GROVE_OK);
    world_settle(&w);
    assert_int_equal(world_ready_pods(&w, NULL), 8);
    world_check_rest(&w);
}

static void test_restart_changes_nothing(void **state) {
    grove_error err = GROVE_ERROR_INIT;
    char *before = world_digest(&w);
    uint64_t creates = w.pod_creates;
    (void)state;
    assert_int_equal(cluster_restart_engine(w.c, &err), GROVE_OK);
    world_settle(&w);
    char *after = world_digest(&w);
    assert_string_equal(before, after);
    assert_int_equal(w.pod_creates, creates);
    free(before);
    free(after);
    world_check_rest(&w);
}

static const char *node_of(world *at, const char *selector, char *out, size_t cap) {
    char name[128];
    assert_true(world_pod_name(at, selector, 0, name, sizeof name));
    return world_text(at, GROVE_KIND_POD, name, "/spec/nodeName", out, cap);
}

/* Workers that take a node each, with a group of them beside. */
#define WIDE_SET                                                                                 \
    "{\"apiVersion\":\"grove.io/"                                                                \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"                        \
    "\"spec\":{\"replicas\":1,\"template\":{%s\"cliques\":[{\"name\":\"w\",\"spec\":{"           \
    "\"roleName\":"                                                                              \
    "\"w\",\"replicas\":%d,\"podSpec\":" WIDE_POD                                                \
    "}},{\"name\":\"g\",\"spec\":{\"roleName\":\"g\","                                           \
    "\"replicas\":1,\"podSpec\":" WIDE_POD "}}],\"podCliqueScalingGroups\":[{\"name\":\"cell\"," \
    "\"cliqueNames\":[\"g\"],\"replicas\":1,\"minAvailable\":1}]}}}"
#define OWN_SCHEDULER                                                              \
    "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n" \
    "scheduler: {defaultProfileName: grove-scheduler, profiles: [{name: grove-scheduler}]}\n"
#define STICKY "\"placement\":{\"sticky\":\"Prefer\"},"
#define WIDE_POD                                                                    \
    "{\"containers\":[{\"name\":\"c\",\"image\":\"w:1\",\"resources\":{\"limits\":" \
    "{\"nvidia.com/gpu\":\"4\"}}}]}"

/* A worker is lost while nobody watches, and a node has come that would be the next in order. Who takes over
 * has only what is written to bring the successor back. */
static void test_places_outlive_the_engine(void **state) {
    static const char worker[] = PODS "=s-0-w,grove.io/podclique-pod-index=1";
    char name[128], before[128], after[128], text[1024];
    world wide;
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    cluster_options options = {.nodes = "1x1x3x4"};
    assert_int_equal(grove_config_new(env, &options.config), GROVE_OK);
    assert_int_equal(grove_config_load(options.config, OWN_SCHEDULER, strlen(OWN_SCHEDULER), &err),
                     GROVE_OK);
    world_start(&wide, env, options);
    snprintf(text, sizeof text, WIDE_SET, STICKY, 2);
    world_apply(&wide, text);
    world_settle(&wide);
    node_of(&wide, worker, before, sizeof before);
    assert_int_equal(grove_sim_add_nodes(wide.c->sim, "nodes=1,gpu=4,prefix=a", &err), GROVE_OK);
    assert_true(world_pod_name(&wide, worker, 0, name, sizeof name));
    world_delete(&wide, GROVE_KIND_POD, name);
    grove_engine_free(wide.c->engine);
    wide.c->engine = NULL;
    world_run(&wide, 60 * SECOND);
    assert_int_equal(cluster_restart_engine(wide.c, &err), GROVE_OK);
    world_settle(&wide);
    assert_string_equal(node_of(&wide, worker, after, sizeof after), before);
    snprintf(text, sizeof text, "s-0-w:0=node-b0-r0-n0,1=%s;s-0-cell-0-g:0=node-b0-r0-n2", before);
    char places[512];
    assert_string_equal(world_text(&wide, GROVE_KIND_PODGANG, "s-0",
                                   "/metadata/annotations/libgrove.io~1places", places,
                                   sizeof places),
                        text);
    world_check_rest(&wide);
    world_end(&wide);
    grove_config_unref(options.config);
}

/* Where the base gang is packed is written, too: a gang scaled out later goes there, although another rack
 * would be as good. */
static void test_scaled_gangs_follow_the_base(void **state) {
    static const char settings[] = OWN_SCHEDULER
        "topologyAwareScheduling: {enabled: true}\n---\n"
        "apiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: b}\n"
        "spec: {levels: [{domain: rack, key: example.com/rack}]}\n";
    static const char pack[] = STICKY
        "\"topologyConstraint\":{\"topologyName\":\"b\",\"pack\":{\"required\":\"rack\"}},";
    char text[1200], node[128];
    world racks;
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    cluster_options options = {.nodes = "blocks=1,racks=2,nodes=4,gpu=4,rack-key=example.com/rack"};
    assert_int_equal(grove_config_new(env, &options.config), GROVE_OK);
    assert_int_equal(grove_config_load(options.config, settings, strlen(settings), &err), GROVE_OK);
    world_start(&racks, env, options);
    for (int i = 0; i < 4; i++) { /* the first rack is taken */
        snprintf(text, sizeof text,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"f%d\","
                 "\"namespace\":\"default\",\"labels\":{\"grove.io/podclique-pod-index\":\"%d\"}},"
                 "\"spec\":{\"nodeName\":\"node-b0-r0-n%d\",%s}",
                 i, i, i, &WIDE_POD[1]);
        world_apply(&racks, text);
    }
    snprintf(text, sizeof text, WIDE_SET, pack, 1);
    world_apply(&racks, text);
    world_settle(&racks);
    assert_non_null(strstr(node_of(&racks, PODS "=s-0-w", node, sizeof node), "-r1-"));
    for (int i = 0; i < 2; i++) { /* both racks: two nodes taken, two free */
        snprintf(text, sizeof text, "f%d", i);
        world_delete(&racks, GROVE_KIND_POD, text);
    }
    world_settle(&racks);
    assert_int_equal(cluster_restart_engine(racks.c, &err), GROVE_OK);
    world_scale(&racks, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 2);
    world_settle(&racks);
    assert_non_null(strstr(node_of(&racks, PODS "=s-0-cell-1-g", node, sizeof node), "-r1-"));
    world_check_rest(&racks);
    world_end(&racks);
    grove_config_unref(options.config);
}

/* A stock scheduler with config.gangScheduling: pods are let go together, towards places that hold them
 * all, and it binds them one by one. A gang that does not fit stays gated whole. */
static void test_stock_scheduler_gets_whole_gangs(void **state) {
    static const char all_room[] =
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":"
        "\"o\"},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"w\",\"spec\":{"
        "\"roleName\":\"w\",\"replicas\":3,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":"
        "\"x:1\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":4}}}]}}}]}}}";
    static const char settings[] =
        "{\"apiVersion\":\"operator.config.grove.io/v1alpha1\",\"kind\":\"OperatorConfiguration\","
        "\"scheduler\":{\"profiles\":[{\"name\":\"default-scheduler\","
        "\"config\":{\"gangScheduling\":true}}]}}";
    world gang;
    cluster_options options = {.stock_scheduler = 1, .nodes = "1x1x1x4"};
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    assert_int_equal(grove_config_new(env, &options.config), GROVE_OK);
    assert_int_equal(grove_config_load(options.config, settings, strlen(settings), &err), GROVE_OK);
    world_start(&gang, env, options);
    world_apply(&gang, world_set); /* base gang: 4 GPUs; the scaled one finds none */
    world_settle(&gang);
    assert_int_equal(world_ready_pods(&gang, "grove.io/podgang=s-0"), 5);
    assert_int_equal(world_pods(&gang, "grove.io/podgang=s-0-cell-0", NULL), 3);
    assert_int_equal(world_ready_pods(&gang, "grove.io/podgang=s-0-cell-0"), 0);
    assert_int_equal(grove_sim_add_nodes(gang.c->sim, "nodes=1,gpu=8,prefix=new", &err), GROVE_OK);
    world_settle(&gang);
    assert_int_equal(world_ready_pods(&gang, "grove.io/podgang=s-0-cell-0"), 3);
    /* Suspended it gives all of it back, and no place is held for it; resumed it is let go again. */
    world_patch(&gang, GROVE_KIND_PODCLIQUESET, "s", "{\"spec\":{\"suspend\":true}}");
    world_settle(&gang);
    assert_int_equal(world_ready_pods(&gang, NULL), 0);
    assert_int_equal(world_pods(&gang, NULL, "Running"), 0);
    world_apply(&gang, all_room);
    world_settle(&gang);
    assert_int_equal(world_ready_pods(&gang, NULL), 3);
    world_delete(&gang, GROVE_KIND_PODCLIQUESET, "o");
    world_settle(&gang);
    world_patch(&gang, GROVE_KIND_PODCLIQUESET, "s", "{\"spec\":{\"suspend\":false}}");
    world_settle(&gang);
    assert_int_equal(world_ready_pods(&gang, NULL), 8);
    world_check_rest(&gang);
    world_end(&gang);
    grove_config_unref(options.config);
}

static void explain(world *at, grove_kind kind, const char *name, int json, grove_buf *out) {
    grove_buf_clear(out);
    assert_int_equal(grove_engine_explain(at->c->engine, kind, "default", name, cluster_now(at->c),
                                          json, out, NULL),
                     GROVE_OK);
}

/* An explanation is of the object asked for, and of what it is part of. */
static void test_explanations_are_to_the_point(void **state) {
    static const char binding[] =
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"ClusterTopologyBinding\",\"metadata\":"
        "{\"name\":\"b\"},\"spec\":{\"levels\":[{\"domain\":\"rack\",\"key\":\"r\"}],"
        "\"schedulerTopologyBindings\":[{\"schedulerName\":\"kai-scheduler\","
        "\"topologyReference\":\"absent\"}]}}";
    world small;
    char pod[128];
    grove_buf out;
    (void)state;
    world_start(&small, env, (cluster_options){.nodes = "1x1x1x5"});
    world_apply(&small, world_set); /* the base gang has its 4 GPUs, the scaled one finds 1 of 4 */
    world_apply(&small, binding);
    world_settle(&small);
    grove_buf_init(&out, env);
    assert_true(world_pod_name(&small, "grove.io/podgang=s-0-cell-0", 0, pod, sizeof pod));
    explain(&small, GROVE_KIND_POD, pod, 0, &out);
    assert_non_null(strstr(out.data, "PodGang s-0-cell-0 waits"));
    explain(&small, GROVE_KIND_POD, pod, 1, &out);
    assert_non_null(strstr(out.data, "\"name\": \"s-0-cell-0\""));
    assert_true(world_pod_name(&small, "grove.io/podgang=s-0", 0, pod, sizeof pod));
    explain(&small, GROVE_KIND_POD, pod, 1, &out);
    assert_null(strstr(out.data, "s-0-cell-0\"")); /* that other gang is none of its business */
    explain(&small, GROVE_KIND_PODCLIQUESET, "s", 1, &out);
    assert_non_null(strstr(out.data, "\"name\": \"s-0-cell-0\""));
    explain(&small, GROVE_KIND_CLUSTERTOPOLOGYBINDING, "b", 0, &out);
    assert_non_null(strstr(out.data, "TopologyMissing"));
    grove_buf_fini(&out);
    world_end(&small);
}

/* A gang whose pods share devices is bound whole, and whoever asks is told that nobody judged the devices. */
static void test_shared_claims_are_told(void **state) {
    static const char sharing[] =
        "[{\"op\":\"add\",\"path\":\"/spec/template/resourceSharing\",\"value\":[{\"name\":"
        "\"nic\",\"scope\":\"AllReplicas\"}]},{\"op\":\"add\",\"path\":"
        "\"/spec/template/resourceClaimTemplates\",\"value\":[{\"name\":\"nic\","
        "\"templateSpec\":{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"dev\",\"exactly\":{"
        "\"deviceClassName\":\"rdma\"}}]}}}}]}]";
    static const char told[] = "its pods share claims (s-all-nic)";
    grove_doc *plain = NULL, *patch = NULL, *shared = NULL;
    world shares;
    grove_buf out;
    (void)state;
    assert_int_equal(grove_doc_parse_json(env, world_set, strlen(world_set), 0, &plain, NULL),
                     GROVE_OK);
    assert_int_equal(grove_doc_parse_json(env, sharing, strlen(sharing), 0, &patch, NULL),
                     GROVE_OK);
    assert_int_equal(grove_json_patch_apply(plain, grove_doc_root(plain), patch,
                                            grove_doc_root(patch), &shared, NULL),
                     GROVE_OK);
    grove_buf_init(&out, env);
    for (int with = 0; with < 2; with++) {
        grove_buf text;
        grove_buf_init(&text, env);
        assert_int_equal(
            grove_node_write_json(grove_doc_root(with ? shared : plain), 0, &text, NULL), GROVE_OK);
        world_start(&shares, env, (cluster_options){.nodes = "1x1x1x5"});
        world_apply(&shares, text.data);
        world_settle(&shares);
        explain(&shares, GROVE_KIND_PODGANG, "s-0", 0, &out);
        assert_int_equal(strstr(out.data ? out.data : "", told) != NULL, with);
        explain(&shares, GROVE_KIND_PODGANG, "s-0", 1, &out);
        assert_int_equal(strstr(out.data, told) != NULL, with);
        assert_int_equal(world_ready_pods(&shares, "grove.io/podgang=s-0"), 5);
        assert_int_equal(world_ready_pods(&shares, "grove.io/podgang=s-0-cell-0"), 0);
        grove_buf_fini(&text);
        world_end(&shares);
    }
    grove_buf_fini(&out);
    grove_doc_unref(shared);
    grove_doc_unref(patch);
    grove_doc_unref(plain);
}

/* guardScale: Deny: a scale below minAvailable is refused, any other is not. */
static void test_guarded_scale(void **state) {
    world guarded;
    cluster_options options = {0};
    grove_error err = GROVE_ERROR_INIT;
    static const char settings[] = "guardScale: Deny";
    (void)state;
    assert_int_equal(grove_config_new(env, &options.config), GROVE_OK);
    assert_int_equal(grove_config_load(options.config, settings, strlen(settings), &err), GROVE_OK);
    world_start(&guarded, env, options);
    world_apply(&guarded, world_set);
    world_settle(&guarded);
    static const struct {
        grove_kind kind;
        const char *name;
        int64_t replicas;
        int refused;
    } rows[] = {{GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 0, 1},
                {GROVE_KIND_PODCLIQUE, "s-0-router", 0, 1},
                {GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 1, 0},
                {GROVE_KIND_PODCLIQUE, "s-0-router", 3, 0},
                {GROVE_KIND_PODCLIQUESET, "s", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grove_status st = grove_sim_scale(guarded.c->sim, rows[i].kind, "default", rows[i].name,
                                          rows[i].replicas, &err);
        assert_int_equal(st < 0, rows[i].refused);
        if (rows[i].refused) {
            assert_non_null(strstr(err.message, "minAvailable"));
        }
    }
    world_end(&guarded);
    grove_config_unref(options.config);
}

/* Custom resources are told as the watches told them; what is not kept whole, or not there, is not. */
static void test_known_objects(void **state) {
    grove_engine *e = w.c->engine;
    grove_doc *doc = NULL;
    const grove_node *object = NULL;
    (void)state;
    assert_int_equal(grove_engine_object(e, GROVE_KIND_PODCLIQUESCALINGGROUP, "default", "s-0-cell",
                                         &doc, &object),
                     GROVE_OK);
    assert_string_equal(grove_node_text(grove_node_at_path(object, "/metadata/name")), "s-0-cell");
    grove_doc_unref(doc);
    static const struct {
        grove_kind kind;
        const char *ns, *name;
        grove_status want;
    } rows[] = {{GROVE_KIND_PODCLIQUE, "default", "none", GROVE_E_NOT_FOUND},
                {GROVE_KIND_NODE, "", "node-b0-r0-n0", GROVE_E_NOT_FOUND},
                {GROVE_KIND_PODCLIQUE, NULL, "s-0-router", GROVE_E_INVALID}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            grove_engine_object(e, rows[i].kind, rows[i].ns, rows[i].name, &doc, &object),
            rows[i].want);
    }
}

#define ONE_POD(name, gpus)                                                                       \
    "{\"apiVersion\":\"grove.io/"                                                                 \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"" name                         \
    "\"},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{"          \
    "\"roleName\":\"a\","                                                                         \
    "\"replicas\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{" \
    "\"limits\":{\"nvidia.com/gpu\":\"" gpus "\"}}}]}}}]}}}"

/* Room that comes is offered to every gang that waits, though one step looks at one of them only. */
static void test_steps_go_on_until_all_were_looked_at(void **state) {
    (void)state;
    world few;
    world_start(&few, env, (cluster_options){.nodes = "1x1x1x4", .gangs_a_step = 1});
    assert_int_equal(grove_sim_cordon(few.c->sim, "node-b0-r0-n0", 1, NULL), GROVE_OK);
    world_apply(&few, ONE_POD("first", "8"));
    world_run(&few, SECOND);
    world_apply(&few, ONE_POD("second", "8"));
    world_run(&few, SECOND);
    world_apply(&few, ONE_POD("third", "4"));
    world_settle(&few);
    assert_int_equal(world_ready_pods(&few, NULL), 0);
    assert_int_equal(grove_sim_cordon(few.c->sim, "node-b0-r0-n0", 0, NULL), GROVE_OK);
    world_run(&few, 60 * SECOND);
    assert_int_equal(world_ready_pods(&few, PODS "=third-0-a"), 1);
    world_check_rest(&few);
    world_end(&few);
}

static void test_deletion_leaves_nothing(void **state) {
    (void)state;
    world_delete(&w, GROVE_KIND_PODCLIQUESET, "s");
    world_settle(&w);
    static const grove_kind kinds[] = {GROVE_KIND_PODCLIQUESET,
                                       GROVE_KIND_PODCLIQUE,
                                       GROVE_KIND_PODCLIQUESCALINGGROUP,
                                       GROVE_KIND_PODGANG,
                                       GROVE_KIND_POD,
                                       GROVE_KIND_SERVICE,
                                       GROVE_KIND_ROLE,
                                       GROVE_KIND_SERVICEACCOUNT,
                                       GROVE_KIND_SECRET};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(grove_sim_count(w.c->sim, kinds[i]), 0);
    }
    world_check_rest(&w);
}

int main(void) {
#define LIFE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        LIFE(test_everything_runs),
        LIFE(test_group_scales_out_and_in),
        LIFE(test_set_scales_to_zero_and_back),
        LIFE(test_known_objects),
        LIFE(test_deleted_pod_comes_back_with_its_index),
        LIFE(test_new_image_rolls_one_clique),
        LIFE(test_node_loss_heals),
        LIFE(test_restart_changes_nothing),
        LIFE(test_places_outlive_the_engine),
        LIFE(test_scaled_gangs_follow_the_base),
        LIFE(test_stock_scheduler_gets_whole_gangs),
        LIFE(test_explanations_are_to_the_point),
        LIFE(test_shared_claims_are_told),
        LIFE(test_guarded_scale),
        LIFE(test_steps_go_on_until_all_were_looked_at),
        LIFE(test_deletion_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
