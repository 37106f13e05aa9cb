/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a set of a thousand pods costs in writes over its life: made until everything serves, and deleted. Beside it the
 * least that any operator writes: one create for each object, the gate of each pod, one delete for each object
 * that no owner takes along, the gang's members, and one status for each step that users wait for.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/runner.h>

#include "cluster.h"

#define SECOND INT64_C(1000000000)

typedef struct tally {
    uint64_t by_verb[GROVE_VERB_COUNT];
    uint64_t pods_made, gates, pods_deleted;
    uint64_t others_made, others_deleted, statuses, members, rest;
    grove_backend inner;
    grove_backend_ops ops; /* the inner ones but for submit */
} tally;

static tally counts;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "bench life: %s: %s\n", what, why);
    exit(1);
}

static void tell(const grove_op *op) {
    bool pod = op->kind == GROVE_KIND_POD;
    counts.by_verb[op->verb]++;
    if (op->verb == GROVE_VERB_CREATE) {
        counts.pods_made += pod;
        counts.others_made += !pod;
    } else if (op->verb == GROVE_VERB_DELETE) {
        counts.pods_deleted += pod;
        counts.others_deleted += !pod;
    } else if (op->subresource == GROVE_SUBRESOURCE_STATUS) {
        counts.statuses++;
    } else if (op->verb == GROVE_VERB_PATCH && pod) {
        counts.gates++;
    } else if (op->verb == GROVE_VERB_PATCH && op->kind == GROVE_KIND_PODGANG) {
        counts.members++;
    } else if (op->verb == GROVE_VERB_PATCH || op->verb == GROVE_VERB_REPLACE) {
        counts.rest++;
    }
}

static grove_status count_submit(void *impl, const grove_op *op, grove_error *err) {
    tell(op);
    return counts.inner.ops->submit(impl, op, err);
}

static grove_status count(void *ctx, grove_env *env, grove_backend *backend, grove_error *err) {
    (void)ctx;
    (void)env;
    (void)err;
    counts = (tally){.inner = *backend, .ops = *backend->ops};
    counts.ops.submit = count_submit;
    backend->ops = &counts.ops;
    return GROVE_OK;
}

#define CLIQUE(name, pods)                                                              \
    "{\"name\":\"" name "\",\"spec\":{\"roleName\":\"" name "\",\"replicas\":" pods "," \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\"}]}}}"
#define SET(rest)                                                                   \
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":" \
    "{\"name\":\"big\"},\"spec\":{\"replicas\":100,\"template\":{" rest "}}}"

typedef struct shape {
    const char *name, *set;
    uint64_t cliques, groups, gangs; /* of a set replica */
} shape;

static const shape shapes[] = {
    {"cliques", SET("\"cliques\":[" CLIQUE("work", "10") "]"), 1, 0, 1},
    {"groups",
     SET("\"cliques\":[" CLIQUE("route", "2") "," CLIQUE("pre", "1") "," CLIQUE(
         "dec",
         "3") "],\"podCliqueScalingGroups\":[{\"name\":\"cell\",\"cliqueNames\":[\"pre\",\"dec\"],"
              "\"replicas\":2,\"minAvailable\":1}]"),
     5, 1, 2}};

static void apply(cluster *c, grove_env *env, const char *text) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    if (grove_doc_parse_json(env, text, strlen(text), 0, &doc, &err) < 0 ||
        cluster_apply(c, doc, NULL, &err) < 0) {
        fail("apply", err.message);
    }
    grove_doc_unref(doc);
}

static void run(cluster *c, int64_t ns) {
    grove_error err = GROVE_ERROR_INIT;
    if (cluster_run(c, cluster_now(c) + ns, NULL, NULL, &err) < 0) {
        fail("run", err.message);
    }
}

static void delete_set(cluster *c) {
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sim_delete(c->sim, GROVE_KIND_PODCLIQUESET, "default", "big", &err) < 0 ||
        cluster_settle_now(c, &err) < 0) {
        fail("delete", err.message);
    }
}

static void figure(const shape *s, const char *name, double value, const char *unit) {
    printf("%-10s %-24s %10.3f %s\n", s->name, name, value, unit);
    printf("{\"bench\":\"life\",\"name\":\"%s_%s\",\"value\":%g,\"unit\":\"%s\"}\n", s->name, name,
           value, unit);
}

/* Statuses: each gang has none, Starting and Running; each clique, group and set is told of its making and of
 * its readiness. */
static double least(const shape *s) {
    uint64_t statuses = 100 * (2 * s->gangs + 2 * s->cliques + 2 * s->groups) + 2;
    return (double)(counts.pods_made + counts.gates + counts.pods_deleted + counts.others_made +
                    counts.others_deleted + 100 * s->gangs + statuses);
}

static void live(grove_env *env, const shape *s) {
    grove_error err = GROVE_ERROR_INIT;
    cluster *c = NULL;
    cluster_options options = {
        .nodes = "4x4x8x8", .status_quiet_ns = SECOND, .instant = 1, .wrap = count};
    if (cluster_new(env, &options, &c, &err) < 0) {
        fail("cluster", err.message);
    }
    apply(c, env, s->set);
    run(c, 120 * SECOND);
    if (counts.pods_made != 1000) {
        fail(s->name, "there are not a thousand pods");
    }
    delete_set(c);
    run(c, 120 * SECOND);
    if (grove_sim_count(c->sim, GROVE_KIND_POD) + grove_sim_count(c->sim, GROVE_KIND_PODCLIQUE)) {
        fail(s->name, "something is left");
    }
    uint64_t all = 0;
    for (uint32_t verb = 0; verb < GROVE_VERB_COUNT; verb++) {
        bool write = verb != GROVE_VERB_EVENT && verb != GROVE_VERB_BIND &&
                     verb != GROVE_VERB_GET && verb != GROVE_VERB_LIST;
        all += write ? counts.by_verb[verb] : 0;
    }
    figure(s, "operations_a_pod", (double)all / 1000, "writes");
    figure(s, "creates_gates_deletes",
           (double)(counts.pods_made + counts.gates + counts.pods_deleted) / 1000, "writes");
    figure(s, "other_objects", (double)(counts.others_made + counts.others_deleted) / 1000,
           "writes");
    figure(s, "statuses", (double)counts.statuses / 1000, "writes");
    figure(s, "members_of_gangs", (double)counts.members / 1000, "writes");
    figure(s, "anything_else", (double)counts.rest / 1000, "writes");
    figure(s, "beside_the_least", (double)all / least(s), "ratio");
    cluster_free(c);
}

int main(void) {
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        fail("environment", "out of memory");
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        live(env, &shapes[i]);
    }
    grove_env_unref(env);
    return 0;
}
