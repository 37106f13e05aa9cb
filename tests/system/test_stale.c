/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that were found before the cluster changed. The answer to the k-th write of a set's life is held back
 * for a while, for every k; meanwhile a node goes, is cordoned, tainted or loses its devices, or a pod of
 * the gang goes, or the set's template changes. No pod is bound to a node of which the engine has heard
 * that it cannot take it, the first of a gang is bound only when all of it is there, and all end up Ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/held.h"
#include "world.h"

#define GANGS 2
#define PODS 3 /* of a gang */
#define NODES 8

static const char set_text[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
    "\"spec\":{\"replicas\":2,\"template\":{\"terminationDelay\":\"1h\",\"cliques\":[{\"name\":"
    "\"a\","
    "\"spec\":{\"roleName\":\"a\",\"replicas\":3,\"minAvailable\":3,\"podSpec\":{\"containers\":[{"
    "\"name\":\"c\",\"image\":\"i:1\",\"resources\":{\"limits\":{\"nvidia.com/"
    "gpu\":\"1\"}}}]}}}]}}}";

typedef struct known {
    char name[64], gang[64];
    bool is, usable, bound; /* there; a node: takes pods; a pod: has a node */
} known;

/* Between engine and cluster: holds one answer back, and judges each bind by what the engine has heard. */
typedef struct between {
    grove_env *env;
    grove_backend inner;
    const grove_sink *sink;
    uint64_t hold_at, writes, token; /* the write whose answer waits; its token */
    gv_held *held;
    int64_t now;
    known nodes[NODES], pods[64];
    uint32_t n_pods;
    uint32_t binds;
    char wrong[200];
} between;

/* ---- what the engine has heard ---- */

static known *find(known *list, uint32_t n, const char *name) {
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static known *node_named(between *b, const char *name) {
    known *k = find(b->nodes, NODES, name);
    for (uint32_t i = 0; !k && i < NODES; i++) {
        k = b->nodes[i].name[0] ? NULL : &b->nodes[i];
    }
    return k;
}

static void hear_node(between *b, const grove_event *event) {
    const grove_node *o = event->object;
    const char *name = grove_node_text(grove_node_at_path(o, "/metadata/name"));
    const char *gpus = grove_node_text(
        grove_node_at_path(o, "/status/allocatable/nvidia.com~1gpu"));
    known *k = node_named(b, name);
    if (!k) {
        fail_msg("a fifth node");
        return;
    }
    snprintf(k->name, sizeof k->name, "%s", name);
    k->is = event->type != GROVE_EVENT_DELETED;
    k->usable = k->is && gpus && strcmp(gpus, "0") != 0 &&
                !grove_node_is_true(grove_node_at_path(o, "/spec/unschedulable")) &&
                grove_node_size(grove_node_at_path(o, "/spec/taints")) == 0;
}

static void hear_pod(between *b, const grove_event *event) {
    const char *name = grove_node_text(grove_node_at_path(event->object, "/metadata/name"));
    known *k = find(b->pods, b->n_pods, name);
    if (!k) {
        assert_true(b->n_pods < sizeof b->pods / sizeof *b->pods);
        k = &b->pods[b->n_pods++];
        snprintf(k->name, sizeof k->name, "%s", name);
    }
    const char *gang = grove_node_text(
        grove_node_at_path(event->object, "/metadata/labels/grove.io~1podgang"));
    snprintf(k->gang, sizeof k->gang, "%s", gang ? gang : "");
    k->is = event->type != GROVE_EVENT_DELETED &&
            !grove_node_at_path(event->object, "/metadata/deletionTimestamp");
    k->bound = k->bound || grove_node_at_path(event->object, "/spec/nodeName") != NULL;
}

static void judge_bind(between *b, const grove_op *op) {
    const known *node = find(b->nodes, NODES, op->target);
    known *pod = find(b->pods, b->n_pods, op->name);
    uint32_t there = 0, bound = 0;
    for (uint32_t i = 0; pod && i < b->n_pods; i++) {
        bool mate = b->pods[i].is && strcmp(b->pods[i].gang, pod->gang) == 0;
        there += mate;
        bound += mate && b->pods[i].bound;
    }
    if (!b->wrong[0] && (!node || !node->usable)) {
        snprintf(b->wrong, sizeof b->wrong, "%s is bound to %s, which takes no pods", op->name,
                 op->target);
    } else if (!b->wrong[0] && bound == 0 && there < PODS) {
        snprintf(b->wrong, sizeof b->wrong, "%s is bound first, and only %u pods are there",
                 op->name, there);
    }
    if (pod) {
        pod->bound = true;
    }
    b->binds++;
}

/* ---- the backend ---- */

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    between *b = impl;
    if (op->verb != GROVE_VERB_EVENT && op->verb != GROVE_VERB_GET && op->verb != GROVE_VERB_LIST &&
        ++b->writes == b->hold_at) {
        b->token = op->token;
    }
    if (op->verb == GROVE_VERB_BIND) {
        judge_bind(b, op);
    }
    return b->inner.ops->submit(b->inner.impl, op, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    between *b = impl;
    return b->inner.ops->cancel(b->inner.impl, token, err);
}

static grove_status watch(void *impl, const grove_watch *what, grove_error *err) {
    between *b = impl;
    return b->inner.ops->watch(b->inner.impl, what, err);
}

static grove_status on_event(void *ctx, const grove_event *event) {
    between *b = ctx;
    if (event->object && event->kind == GROVE_KIND_NODE) {
        hear_node(b, event);
    } else if (event->object && event->kind == GROVE_KIND_POD) {
        hear_pod(b, event);
    }
    return b->sink->event(b->sink->ctx, event);
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    between *b = ctx;
    if (b->token == 0 || c->token != b->token) {
        return b->sink->completion(b->sink->ctx, c);
    }
    grove_status st = gv_held_completion(b->env, c, &b->held);
    if (st == GROVE_OK) {
        b->held->due = b->now + 3 * SECOND;
    }
    return st;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    between *b = impl;
    grove_sink mine = {(uint32_t)sizeof mine, 0, b, on_completion, on_event};
    grove_status st = GROVE_OK;
    b->now = now;
    b->sink = sink;
    if (b->held && b->held->due <= now) {
        st = gv_held_tell(b->held, sink);
        gv_held_free(b->held);
        b->held = NULL;
    }
    st = st < 0 ? st : b->inner.ops->process(b->inner.impl, now, budget, &mine, out_deadline, err);
    if (st == GROVE_OK && b->held && b->held->due < *out_deadline) {
        *out_deadline = b->held->due;
    }
    return st;
}

static void destroy(void *impl) {
    between *b = impl;
    if (b->held) {
        gv_held_free(b->held);
    }
    b->inner.ops->destroy(b->inner.impl);
}

static grove_status wrap(void *ctx, grove_env *env, grove_backend *backend, grove_error *err) {
    static const grove_backend_ops ops = {.size = (uint32_t)sizeof ops,
                                          .submit = submit,
                                          .cancel = cancel,
                                          .watch = watch,
                                          .process = process,
                                          .destroy = destroy};
    between *b = ctx;
    (void)err;
    b->env = env;
    b->inner = *backend;
    *backend = (grove_backend){(uint32_t)sizeof *backend, backend->caps, &ops, b};
    return GROVE_OK;
}

/* ---- what happens meanwhile ---- */

typedef enum happening {
    NODE_GONE,
    CORDONED,
    TAINTED,
    SHRUNK,
    POD_GONE,
    NEW_IMAGE,
    HAPPENINGS
} happening;

static void happen(world *w, happening what, uint32_t which) {
    static const char taint[] =
        "{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}}";
    static const char image[] = "[{\"op\":\"replace\",\"path\":\"/spec/template/cliques/0/spec/"
                                "podSpec/containers/0/image\",\"value\":\"i:2\"}]";
    char node[64], pod[128];
    grove_error err = GROVE_ERROR_INIT;
    snprintf(node, sizeof node, "node-b0-r%u-n%u", which / 4, which % 4);
    switch (what) {
    case NODE_GONE:
        world_delete(w, GROVE_KIND_NODE, node);
        break;
    case CORDONED:
        assert_int_equal(grove_sim_cordon(w->c->sim, node, 1, &err), GROVE_OK);
        break;
    case TAINTED:
        world_patch(w, GROVE_KIND_NODE, node, taint);
        break;
    case SHRUNK:
        world_patch(w, GROVE_KIND_NODE, node,
                    "{\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"0\"}}}");
        break;
    case POD_GONE:
        if (world_pod_name(w, NULL, which % (GANGS * PODS), pod, sizeof pod)) {
            world_delete(w, GROVE_KIND_POD, pod);
        }
        break;
    case NEW_IMAGE:
    default:
        world_json_patch(w, GROVE_KIND_PODCLIQUESET, "s", image);
        break;
    }
}

/* Writes of the whole life. */
static uint64_t live(grove_env *env, uint64_t hold_at, happening what, uint32_t which) {
    static between b;
    world w;
    memset(&b, 0, sizeof b);
    b.hold_at = hold_at;
    cluster_options o = {.nodes = "1x2x4x1", .wrap = wrap, .wrap_ctx = &b};
    world_start(&w, env, o);
    world_apply(&w, set_text);
    world_run(&w, SECOND);
    uint64_t writes = b.writes;
    happen(&w, what, which);
    world_run(&w, 600 * SECOND);
    if (b.wrong[0]) {
        fail_msg("write %llu held, event %d of %u: %s", (unsigned long long)hold_at, (int)what,
                 which, b.wrong);
    }
    assert_true(b.binds >= GANGS * PODS);
    assert_int_equal(world_ready_pods(&w, NULL), GANGS * PODS);
    world_end(&w);
    return writes;
}

static void test_every_write_held(void **state) {
    grove_env *env = NULL;
    const char *text = getenv("GROVE_CRASH_STEP"); /* only every n-th write */
    uint64_t step = text && *text ? strtoull(text, NULL, 10) : 1;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    uint64_t writes = live(env, 0, CORDONED, 0);
    uint32_t lives = 0;
    for (uint64_t k = 1; k <= writes; k += step) {
        for (int what = 0; what < HAPPENINGS; what++) {
            for (uint32_t i = (uint32_t)k % 3; i < (what == NEW_IMAGE ? 3 : NODES); i += 3) {
                (void)live(env, k, (happening)what, i);
                lives++;
            }
        }
    }
    print_message("%llu writes, %u lives\n", (unsigned long long)writes, lives);
    assert_true(writes > 10);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_write_held)};
    return cmocka_run_group_tests_name("stale places", tests, NULL, NULL);
}
