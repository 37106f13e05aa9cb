/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl tree, grovectl status: the sets of a cluster with what hangs below them. */
#include "live.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tree_help[] =
    "usage: grovectl tree [NAME] [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--cluster "
    "FILE]\n"
    "\n"
    "Shows PodCliqueSets with their groups, cliques, gangs and pods, and how each of them does. "
    "All\n"
    "namespaces unless -n is given.\n";
static const char status_help[] =
    "usage: grovectl status [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--cluster FILE]\n"
    "\n"
    "A line for each PodCliqueSet, and one below it for each thing that is not as it should be.\n"
    "Exit status: 0 all sets are available, 1 some are not, 2 wrong usage or no cluster.\n";

typedef struct forest {
    const io_objects *objects;
    const char *ns, *name;
    int brief; /* status: only what is not as it should be */
    int bad;
} forest;

static const grove_node *metadata(const io_object *o) {
    return grove_node_get(o->node, "metadata");
}

static int64_t number(const io_object *o, const char *pointer) {
    int64_t n = 0;
    (void)grove_node_int64(grove_node_at_path(o->node, pointer), &n);
    return n;
}

static int is_kind(const io_object *o, const char *kind) {
    return strcmp(io_member(o->node, "kind"), kind) == 0;
}

static int owns(const io_object *owner, const io_object *o) {
    const char *uid = io_member(metadata(owner), "uid");
    const grove_node *list = grove_node_get(metadata(o), "ownerReferences"), *r;
    for (r = grove_node_first(list); uid[0] && r; r = grove_node_next(list, r)) {
        if (strcmp(io_member(r, "uid"), uid) == 0) {
            return 1;
        }
    }
    return 0;
}

/* "True", "False", "" */
static const char *condition(const io_object *o, const char *type, const char **out_reason) {
    const grove_node *c = io_condition(o->node, type);
    *out_reason = io_member(c, "reason");
    return io_member(c, "status");
}

static const char *state_of(const io_object *o, char *out, size_t cap, int *good) {
    const char *reason = "", *phase = grove_node_text(grove_node_at_path(o->node, "/status/phase"));
    if (is_kind(o, "Pod")) {
        *good = strcmp(condition(o, "Ready", &reason), "True") == 0;
        int gated = grove_node_size(grove_node_at_path(o->node, "/spec/schedulingGates")) > 0;
        const char *node = grove_node_text(grove_node_at_path(o->node, "/spec/nodeName"));
        (void)snprintf(out, cap, "%s%s%s",
                       *good   ? "ready"
                       : gated ? "gated"
                       : node  ? "not ready"
                               : "pending",
                       node ? " on " : "", node ? node : "");
    } else if (is_kind(o, "PodGang")) {
        *good = phase && strcmp(phase, "Running") == 0;
        (void)snprintf(out, cap, "%s", phase ? phase : "Pending");
    } else if (is_kind(o, "PodClique")) {
        int64_t ready = number(o, "/status/readyReplicas"), least = number(o, "/spec/minAvailable");
        *good = ready >= number(o, "/spec/replicas");
        (void)snprintf(out, cap, "%lld of %lld ready, at least %lld", (long long)ready,
                       (long long)number(o, "/spec/replicas"), (long long)least);
    } else {
        int64_t available = number(o, "/status/availableReplicas");
        *good = available >= number(o, "/spec/replicas");
        (void)snprintf(out, cap, "%lld of %lld available", (long long)available,
                       (long long)number(o, "/spec/replicas"));
    }
    if (io_member(metadata(o), "deletionTimestamp")[0]) {
        (void)snprintf(out, cap, "being deleted");
        *good = 0;
    }
    return out;
}

static void print_line(forest *f, const io_object *o, int depth) {
    static const char *const kinds[][2] = {{"PodCliqueSet", "set"},
                                           {"PodClique", "clique"},
                                           {"PodCliqueScalingGroup", "group"},
                                           {"PodGang", "gang"},
                                           {"Pod", "pod"}};
    char state[160];
    int good = 0;
    const char *word = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        word = is_kind(o, kinds[i][0]) ? kinds[i][1] : word;
    }
    (void)state_of(o, state, sizeof state, &good);
    f->bad += depth == 0 && !good;
    if (depth == 0) {
        printf("%s/%s  %s\n", io_member(metadata(o), "namespace"), io_name(o->node), state);
    } else if (!f->brief || !good) {
        printf("%*s%s %s  %s\n", depth * 2, "", word, io_name(o->node), state);
    }
}

static void print_below(forest *f, const io_object *owner, int depth) {
    static const char *const order[] = {"PodCliqueScalingGroup", "PodClique", "PodGang", "Pod"};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        for (size_t i = 0; i < f->objects->n; i++) {
            const io_object *o = &f->objects->v[i];
            if (is_kind(o, order[k]) && owns(owner, o)) {
                print_line(f, o, depth);
                print_below(f, o, depth + 1);
            }
        }
    }
}

static void print_sets(forest *f) {
    uint32_t n = 0;
    for (size_t i = 0; i < f->objects->n; i++) {
        const io_object *o = &f->objects->v[i];
        if (!is_kind(o, "PodCliqueSet") || (f->name && strcmp(f->name, io_name(o->node)) != 0) ||
            (f->ns && strcmp(f->ns, io_member(metadata(o), "namespace")) != 0)) {
            continue;
        }
        n++;
        print_line(f, o, 0);
        print_below(f, o, 1);
    }
    if (n == 0) {
        printf("no PodCliqueSets\n");
    }
}

static int run(int argc, char **argv, int brief) {
    live_access access = {.asked = 1};
    forest f = {.brief = brief};
    const char *help = brief ? status_help : tree_help, *path = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (live_option(&access, word, value)) {
            i++;
        } else if (value && strcmp(word, "-n") == 0) {
            f.ns = argv[++i];
        } else if (value && strcmp(word, "--cluster") == 0) {
            path = argv[++i];
            access.asked = 0;
        } else if (word[0] != '-' && !f.name && !brief) {
            f.name = word;
        } else {
            fputs(help, stderr);
            return EXIT_USAGE;
        }
    }
    grove_env *env = NULL;
    io_objects objects = {0};
    int code = grove_env_new(NULL, &env) < 0 ? EXIT_USAGE
                                             : live_or_file(env, &access, path, &objects);
    if (code == EXIT_OK) {
        f.objects = &objects;
        print_sets(&f);
        code = f.bad && brief ? EXIT_REFUSED : EXIT_OK;
    }
    io_free_objects(&objects);
    grove_env_unref(env);
    return code;
}

int cmd_tree(int argc, char **argv) {
    return run(argc, argv, 0);
}

int cmd_status(int argc, char **argv) {
    return run(argc, argv, 1);
}
