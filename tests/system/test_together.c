/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs that lie together and replicas that lie apart, while sets are scaled, pods deleted, nodes lost and
 * engines die: after every instant all gangs of a set replica share one rack, the router that is outside the
 * core unit is in a gang of its own, and no replica was put where the spread forbids it.
 * GROVE_CHAOS_SEEDS (default 48) histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "mortal.h"

#define RACKS 4
#define REPLICAS 6
#define STEPS 10

static const char set_text[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
    "\"spec\":{\"replicas\":2,\"template\":{\"terminationDelay\":\"1h\",\"crossGangPack\":"
    "\"Require\","
    "\"topologyConstraint\":{\"topologyName\":\"t\",\"pack\":{\"required\":\"rack\"},"
    "\"spread\":{\"domain\":\"rack\",\"maxSkew\":1,\"mode\":\"Require\"}},\"cliques\":["
    "{\"name\":\"router\",\"spec\":{\"roleName\":\"router\",\"replicas\":2,\"minAvailable\":1,"
    "\"coreMember\":false,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\"}]}}},"
    "{\"name\":\"pre\",\"spec\":{\"roleName\":\"pre\",\"replicas\":1,"
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"p:1\",\"resources\":{\"limits\":"
    "{\"nvidia.com/gpu\":\"2\"}}}]}}},"
    "{\"name\":\"dec\",\"spec\":{\"roleName\":\"dec\",\"replicas\":2,"
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"d:1\",\"resources\":{\"limits\":"
    "{\"nvidia.com/gpu\":\"1\"}}}]}}}],"
    "\"podCliqueScalingGroups\":[{\"name\":\"cell\",\"cliqueNames\":[\"pre\",\"dec\"],"
    "\"replicas\":2,\"minAvailable\":1}]}}}";

static const char config_text[] =
    "[{\"apiVersion\":\"operator.config.grove.io/v1alpha1\",\"kind\":\"OperatorConfiguration\","
    "\"topologyAwareScheduling\":{\"enabled\":true},\"scheduler\":{\"defaultProfileName\":"
    "\"grove-scheduler\",\"profiles\":[{\"name\":\"grove-scheduler\"}]}},"
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"ClusterTopologyBinding\",\"metadata\":"
    "{\"name\":\"t\"},\"spec\":{\"levels\":["
    "{\"domain\":\"block\",\"key\":\"node.network.kwai.io/block\"},"
    "{\"domain\":\"rack\",\"key\":\"node.network.kwai.io/rack\"}]}}]";

/* Racks that the base gangs of set replicas were in at the last look; -1: none. */
static int home[REPLICAS];
static unsigned long long placed, moved;

/* ---- promises ---- */

static const char *label(const grove_node *pod, const char *key) {
    const char *text = grove_node_text(
        grove_node_get(grove_node_at_path(pod, "/metadata/labels"), key));
    return text ? text : "";
}

/* The rack of a pod that is there and not on its way out, by the node's name (node-b0-r1-n2); -1: none. */
static int rack_of(const grove_node *pod) {
    const char *node = grove_node_text(grove_node_at_path(pod, "/spec/nodeName"));
    int block = 0, rack = 0;
    bool there = node && !grove_node_at_path(pod, "/metadata/deletionTimestamp") &&
                 sscanf(node, "node-b%d-r%d-", &block, &rack) == 2;
    return there ? block * 2 + rack : -1;
}

/* What was put somewhere since the last look may not have made a rack fuller than the emptiest and one. */
static void check_spread(world *w, const int *now) {
    int count[RACKS] = {0};
    bool fresh = false, left = false;
    for (int i = 0; i < REPLICAS; i++) {
        fresh = fresh || (now[i] >= 0 && home[i] < 0);
        left = left || (home[i] >= 0 && now[i] != home[i]);
        placed += now[i] >= 0 && home[i] < 0;
        moved += now[i] >= 0 && home[i] >= 0 && now[i] != home[i];
        count[now[i] >= 0 ? now[i] : 0] += now[i] >= 0;
    }
    for (int i = 0; fresh && !left && i < REPLICAS; i++) {
        for (int r = 0; now[i] >= 0 && home[i] < 0 && r < RACKS; r++) {
            if (count[now[i]] > count[r] + 1) {
                world_broken(w, "a replica was put into the fuller rack%s%s", "", "");
            }
        }
    }
    memcpy(home, now, sizeof home);
}

static void check_placed(world *w, const grove_node *pods) {
    int now[REPLICAS];
    memset(now, -1, sizeof now);
    for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
        const char *gang = label(p, "grove.io/podgang"), *clique = label(p, "grove.io/podclique");
        int replica = atoi(label(p, "grove.io/podcliqueset-replica-index")), rack = rack_of(p);
        if (strstr(clique, "-router")) {
            if (strcmp(gang, clique) != 0) {
                world_broken(w, "router of %s is in gang %s", clique, gang);
            }
        } else if (rack >= 0 && replica < REPLICAS) {
            if (now[replica] >= 0 && now[replica] != rack) {
                world_broken(w, "gang %s lies in another rack than its set replica: %s", gang,
                             clique);
            }
            now[replica] = rack;
        }
    }
    check_spread(w, now);
}

/* ---- histories ---- */

static void hurt(mortal *m, gv_prng *r) {
    world *w = &m->w;
    grove_error err = GROVE_ERROR_INIT;
    char name[128], node[128];
    uint32_t pods = world_pods(w, NULL, NULL);
    if (pods == 0 ||
        !world_pod_name(w, NULL, (uint32_t)gv_prng_below(r, pods), name, sizeof name)) {
        return;
    }
    if (gv_prng_below(r, 2) == 0) {
        world_delete(w, GROVE_KIND_POD, name);
    } else if (world_text(w, GROVE_KIND_POD, name, "/spec/nodeName", node, sizeof node)[0]) {
        static const int64_t away[] = {5, 60, 400};
        grove_sim_fail_node(w->c->sim, node, &err);
        mortal_run(m, away[gv_prng_below(r, 3)] * SECOND);
        grove_sim_recover_node(w->c->sim, node, &err);
    }
}

static void step(mortal *m, gv_prng *r) {
    switch (gv_prng_below(r, 6)) {
    case 0:
        world_scale(&m->w, GROVE_KIND_PODCLIQUESET, "s", 1 + (int64_t)gv_prng_below(r, REPLICAS));
        break;
    case 1:
        world_scale(&m->w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell",
                    1 + (int64_t)gv_prng_below(r, 3));
        break;
    case 2:
        mortal_arm(m, 1 + gv_prng_below(r, 8), gv_prng_below(r, 2) == 1);
        break;
    case 3:
        mortal_restart(m);
        break;
    default:
        hurt(m, r);
        break;
    }
    mortal_run(m, (int64_t)gv_prng_below(r, 120) * SECOND);
}

static void play(uint64_t seed) {
    mortal m;
    grove_env *env = NULL;
    cluster_options options = {.seed = seed};
    gv_prng r;
    gv_prng_seed(&r, seed);
    memset(home, -1, sizeof home);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_config_new(env, &options.config), GROVE_OK);
    assert_int_equal(grove_config_load(options.config, config_text, sizeof config_text - 1, NULL),
                     GROVE_OK);
    mortal_start(&m, env, options, false);
    m.w.promise = check_placed;
    world_apply(&m.w, set_text);
    world_run(&m.w, 60 * SECOND);
    for (int i = 0; i < STEPS; i++) {
        step(&m, &r);
    }
    mortal_restart(&m);
    mortal_settle(&m);
    if (m.w.broken) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, m.w.first);
    }
    world_check_rest(&m.w);
    mortal_end(&m);
    grove_config_unref(options.config);
    grove_env_unref(env);
}

static void test_histories(void **state) {
    const char *text = getenv("GROVE_CHAOS_SEEDS");
    unsigned long n = text && *text ? strtoul(text, NULL, 10) : 48;
    (void)state;
    for (unsigned long seed = 1; seed <= n; seed++) {
        play(seed);
    }
    print_message("%lu histories: %llu base gangs placed, %llu moved\n", n, placed, moved);
    assert_true(placed > n);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_histories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
