/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl plan --scale: what scaling a role would bring, and which ratio is the bottleneck. */
#include "cluster.h"
#include "io.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MAX_SCALES 32
#define ROOMY "blocks=1,racks=1,nodes=512,gpu=64,cpu=4096,memory=64Ti,pods=4096"

static const char help[] =
    "usage: grovectl plan FILE --scale NAME=N... [--config FILE] [--nodes SPEC]\n"
    "\n"
    "Scales cliques and scaling groups of the PodCliqueSet in FILE, by their names in the "
    "template, and "
    "shows\n"
    "what is planned for each: N is a number, or a factor such as 3x. Room is no question unless "
    "--nodes "
    "says so.\n"
    "A ratio of the set that moves or holds something back is named.\n"
    "\n"
    "Exit status: 0 all that was asked for is planned, 1 something is held back, 2 wrong usage or "
    "input.\n";

typedef struct request {
    grove_env *env;
    grove_config *config;
    cluster *c;
    const char *file, *config_path, *nodes;
    const char *scales[MAX_SCALES];
    int n_scales;
    char set[256];
} request;

static int complain(const char *file, const grove_error *err) {
    io_print_error(file, err);
    return EXIT_USAGE;
}

static int let_run(request *q) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t to = cluster_now(q->c) + 300 * SECOND;
    return cluster_run(q->c, to, NULL, NULL, &err) < 0 ? complain(NULL, &err) : EXIT_OK;
}

static int64_t number_at(const grove_node *o, const char *pointer) {
    int64_t n = 0;
    return grove_node_int64(grove_node_at_path(o, pointer), &n) == GROVE_OK ? n : 0;
}

static int apply(request *q) {
    io_objects objects = {0};
    int code = io_read_objects(q->env, q->file, GROVE_PARSE_STRICT, &objects);
    for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
        grove_error err = GROVE_ERROR_INIT;
        const grove_node *o = objects.v[i].node;
        if (strcmp(io_member(o, "kind"), "PodCliqueSet") == 0) {
            snprintf(q->set, sizeof q->set, "%s", io_name(o));
        }
        code = cluster_apply(q->c, objects.v[i].doc, o, &err) < 0 ? complain(q->file, &err) : code;
    }
    io_free_objects(&objects);
    if (code == EXIT_OK && !q->set[0]) {
        fprintf(stderr, "%s: no PodCliqueSet is in it\n", q->file);
        code = EXIT_USAGE;
    }
    return code == EXIT_OK ? let_run(q) : code;
}

/* ---- scaling ---- */

/* "<set>-<number>-<name>" */
static int is_of(const request *q, const grove_node *o, const char *name, size_t n) {
    const char *full = io_name(o);
    size_t set = strlen(q->set);
    if (strncmp(full, q->set, set) != 0 || full[set] != '-') {
        return 0;
    }
    size_t digits = strspn(full + set + 1, "0123456789");
    const char *rest = full + set + 1 + digits;
    return digits > 0 && rest[0] == '-' && strlen(rest + 1) == n && strncmp(rest + 1, name, n) == 0;
}

static const grove_kind scaled[] = {GROVE_KIND_PODCLIQUE, GROVE_KIND_PODCLIQUESCALINGGROUP};

static int scale(request *q, const char *order) {
    const char *equals = strchr(order, '=');
    char *end = NULL;
    long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
    int times = end && end[0] == 'x' && end[1] == '\0', found = 0;
    if (!equals || !end || end == equals + 1 || (*end && !times) || value < 0 || value > 1000000) {
        fprintf(stderr, "--scale wants NAME=N or NAME=Nx, not %s\n", order);
        return EXIT_USAGE;
    }
    for (size_t k = 0; k < sizeof scaled / sizeof *scaled; k++) {
        grove_doc *list = NULL;
        grove_error err = GROVE_ERROR_INIT;
        if (grove_sim_list(q->c->sim, scaled[k], NULL, NULL, &list, &err) < 0) {
            return complain(NULL, &err);
        }
        const grove_node *items = grove_node_get(grove_doc_root(list), "items");
        grove_status st = GROVE_OK;
        for (const grove_node *o = grove_node_first(items); o && st == GROVE_OK;
             o = grove_node_next(items, o)) {
            const char *ns = grove_node_text(grove_node_at_path(o, "/metadata/namespace"));
            if (is_of(q, o, order, (size_t)(equals - order))) {
                int64_t to = times ? value * number_at(o, "/spec/replicas") : value;
                st = grove_sim_scale(q->c->sim, scaled[k], ns, io_name(o), to, &err);
                found++;
            }
        }
        grove_doc_unref(list);
        if (st < 0) {
            return complain(NULL, &err);
        }
    }
    if (!found) {
        fprintf(stderr, "nothing of %s that scales is named %.*s\n", q->set, (int)(equals - order),
                order);
    }
    return found ? EXIT_OK : EXIT_USAGE;
}

/* ---- what came of it ---- */

static const grove_node *out_of_ratio(const grove_node *o) {
    return io_condition(o, "libgrove.io/OutOfRatio");
}

static int is_member(const grove_node *o) {
    return grove_node_get(grove_node_at_path(o, "/metadata/labels"),
                          "grove.io/podcliquescalinggroup") != NULL;
}

/* Prints the objects of one kind; counts those that got less than was asked for. */
static int report(request *q, grove_kind kind, int *held) {
    grove_doc *list = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sim_list(q->c->sim, kind, NULL, NULL, &list, &err) < 0) {
        return complain(NULL, &err);
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        if (is_member(o)) {
            continue;
        }
        int64_t asked = number_at(o, "/spec/replicas");
        int64_t got = number_at(o, "/status/scheduledReplicas");
        const grove_node *why = out_of_ratio(o);
        printf("%-44s %8lld %8lld", io_name(o), (long long)asked, (long long)got);
        if (why) {
            printf("  %s: %s", io_member(why, "reason"), io_member(why, "message"));
        } else if (got < asked) {
            printf("  no room");
        }
        printf("\n");
        *held += got < asked || (why && strcmp(io_member(why, "reason"), "Warned") == 0);
    }
    grove_doc_unref(list);
    return EXIT_OK;
}

static int work(request *q) {
    grove_error err = GROVE_ERROR_INIT;
    int held = 0;
    int code = io_read_config(q->env, q->config_path, &q->config);
    cluster_options options = {.config = q->config, .nodes = q->nodes, .instant = 1};
    if (code == EXIT_OK && cluster_new(q->env, &options, &q->c, &err) < 0) {
        code = complain(NULL, &err);
    }
    code = code == EXIT_OK ? apply(q) : code;
    for (int i = 0; code == EXIT_OK && i < q->n_scales; i++) {
        code = scale(q, q->scales[i]);
    }
    code = code == EXIT_OK ? let_run(q) : code;
    if (code == EXIT_OK) {
        printf("%-44s %8s %8s\n", "NAME", "ASKED", "PLANNED");
    }
    for (size_t k = 0; code == EXIT_OK && k < sizeof scaled / sizeof *scaled; k++) {
        code = report(q, scaled[k], &held);
    }
    return code == EXIT_OK && held ? EXIT_REFUSED : code;
}

int cmd_plan(int argc, char **argv) {
    request q = {.nodes = ROOMY};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] ? argv[i] : "";
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (value && strcmp(word, "--scale") == 0 && q.n_scales < MAX_SCALES) {
            q.scales[q.n_scales++] = argv[++i];
        } else if (value && strcmp(word, "--config") == 0) {
            q.config_path = argv[++i];
        } else if (value && strcmp(word, "--nodes") == 0) {
            q.nodes = argv[++i];
        } else if (word[0] != '-' && !q.file) {
            q.file = word;
        } else {
            q.file = NULL;
            break;
        }
    }
    if (!q.file || q.n_scales == 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    int code = grove_env_new(NULL, &q.env) < 0 ? EXIT_USAGE : work(&q);
    cluster_free(q.c);
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return code;
}
