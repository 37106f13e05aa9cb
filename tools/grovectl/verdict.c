/* SPDX-License-Identifier: Apache-2.0 */
/* Judges an embedded cluster by its objects. */
#include "verdict.h"

#include "io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct judge {
    const grove_node *nodes, *pods, *gangs, *sets;
    verdict *out;
} judge;

#define EACH(item, list) \
    for (const grove_node *item = grove_node_first(list); item; item = grove_node_next(list, item))

static void problem(judge *j, const char *fmt, ...) GROVE_PRINTF(2, 3);
static void problem(judge *j, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("problem: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    j->out->problems++;
}

static long number_at(const grove_node *object, const char *pointer) {
    int64_t n = 0;
    return grove_node_int64(grove_node_at_path(object, pointer), &n) < 0 ? 0 : (long)n;
}

static const grove_node *find(const grove_node *list, const char *ns, const char *name) {
    EACH(o, list) {
        if (strcmp(io_name(o), name) == 0 &&
            (!ns || strcmp(io_text_at(o, "/metadata/namespace"), ns) == 0)) {
            return o;
        }
    }
    return NULL;
}

/* ---- sets and pods ---- */

static void judge_sets(judge *j) {
    EACH(set, j->sets) {
        long want = number_at(set, "/spec/replicas");
        long have = number_at(set, "/status/availableReplicas");
        j->out->sets++;
        if (want != have) {
            problem(j, "set %s/%s has %ld of %ld replicas available",
                    io_text_at(set, "/metadata/namespace"), io_name(set), have, want);
        }
    }
}

static int is_ready(const grove_node *pod) {
    return strcmp(io_member(io_condition(pod, "Ready"), "status"), "True") == 0;
}

static void judge_pods(judge *j) {
    EACH(pod, j->pods) {
        j->out->pods++;
        if (!is_ready(pod)) {
            problem(j, "pod %s/%s is not ready (%s)", io_text_at(pod, "/metadata/namespace"),
                    io_name(pod), io_text_at(pod, "/status/phase"));
        }
    }
}

/* ---- capacity ---- */

static long asked(const grove_node *pod, const char *resource) {
    const grove_node *containers = grove_node_at_path(pod, "/spec/containers");
    long n = 0;
    EACH(c, containers) {
        const grove_node *resources = grove_node_get(c, "resources");
        const grove_node *r = grove_node_get(grove_node_get(resources, "requests"), resource);
        r = r ? r : grove_node_get(grove_node_get(resources, "limits"), resource);
        n += r ? strtol(grove_node_text(r), NULL, 10) : 0;
    }
    return n;
}

static void judge_capacity(judge *j, const char *gpu) {
    EACH(node, j->nodes) {
        const grove_node *have = grove_node_get(grove_node_at_path(node, "/status/allocatable"),
                                                gpu);
        long total = have ? strtol(grove_node_text(have), NULL, 10) : 0, used = 0;
        EACH(pod, j->pods) {
            if (strcmp(io_text_at(pod, "/spec/nodeName"), io_name(node)) == 0) {
                used += asked(pod, gpu);
            }
        }
        if (used > total) {
            problem(j, "node %s gives %ld of %ld %s", io_name(node), used, total, gpu);
        }
    }
}

/* ---- pack constraints ---- */

/* The value of a label of the node that a pod runs on; NULL when it has none. */
static const char *domain_of(judge *j, const grove_node *pod, const char *key) {
    const grove_node *node = find(j->nodes, NULL, io_text_at(pod, "/spec/nodeName"));
    return grove_node_text(grove_node_get(grove_node_at_path(node, "/metadata/labels"), key));
}

/* `names`: a list of texts or of objects with a name, or one such object. */
static int is_one_of(const char *clique, const grove_node *names) {
    if (grove_node_type(names) == GROVE_OBJECT) {
        return strcmp(io_member(names, "name"), clique) == 0;
    }
    EACH(name, names) {
        const char *text = grove_node_text(name);
        if (strcmp(text ? text : io_member(name, "name"), clique) == 0) {
            return 1;
        }
    }
    return 0;
}

/* All pods of the cliques that `names` holds lie in one domain of the owner's required key. */
static void judge_pack(judge *j, const grove_node *gang, const grove_node *names,
                       const grove_node *owner, const char *what) {
    const char *key = io_text_at(owner, "/topologyConstraint/packConstraint/required");
    const char *ns = io_text_at(gang, "/metadata/namespace"), *first = NULL;
    if (!key[0]) {
        return;
    }
    j->out->constraints++;
    EACH(pod, j->pods) {
        const grove_node *labels = grove_node_at_path(pod, "/metadata/labels");
        const char *of = grove_node_text(grove_node_get(labels, "grove.io/podgang"));
        const char *clique = grove_node_text(grove_node_get(labels, "grove.io/podclique"));
        if (!of || !clique || strcmp(of, io_name(gang)) != 0 ||
            strcmp(io_text_at(pod, "/metadata/namespace"), ns) != 0 || !is_one_of(clique, names)) {
            continue;
        }
        const char *domain = domain_of(j, pod, key);
        first = first ? first : domain;
        if (!domain || strcmp(domain, first) != 0) {
            problem(j, "%s %s of gang %s/%s is spread: %s is on %s=%s, others on %s", what,
                    io_member(owner, "name"), ns, io_name(gang), io_name(pod), key,
                    domain ? domain : "(none)", first ? first : "(none)");
        }
    }
}

static void judge_gangs(judge *j) {
    EACH(gang, j->gangs) {
        const grove_node *spec = grove_node_get(gang, "spec");
        const grove_node *groups = grove_node_get(spec, "podgroups");
        const grove_node *configs = grove_node_get(spec, "topologyConstraintGroupConfigs");
        j->out->gangs++;
        judge_pack(j, gang, groups, spec, "the whole");
        EACH(config, configs) {
            judge_pack(j, gang, grove_node_get(config, "podGroupNames"), config, "group");
        }
        EACH(group, groups) {
            judge_pack(j, gang, group, group, "podgroup");
        }
    }
}

grove_status verdict_judge(grove_sim *sim, const char *gpu, verdict *out, grove_error *err) {
    static const grove_kind kinds[] = {GROVE_KIND_NODE, GROVE_KIND_POD, GROVE_KIND_PODGANG,
                                       GROVE_KIND_PODCLIQUESET};
    grove_doc *lists[4] = {NULL, NULL, NULL, NULL};
    grove_status st = GROVE_OK;
    for (size_t i = 0; st == GROVE_OK && i < 4; i++) {
        st = grove_sim_list(sim, kinds[i], NULL, NULL, &lists[i], err);
    }
    if (st == GROVE_OK) {
        judge j = {.nodes = grove_node_get(grove_doc_root(lists[0]), "items"),
                   .pods = grove_node_get(grove_doc_root(lists[1]), "items"),
                   .gangs = grove_node_get(grove_doc_root(lists[2]), "items"),
                   .sets = grove_node_get(grove_doc_root(lists[3]), "items"),
                   .out = out};
        *out = (verdict){0};
        judge_sets(&j);
        judge_pods(&j);
        judge_capacity(&j, gpu);
        judge_gangs(&j);
    }
    for (size_t i = 0; i < 4; i++) {
        grove_doc_unref(lists[i]);
    }
    return st;
}
