/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl rollout: how far the update of a set is; stop it, let it go on, make all pods anew, go back. */
#include "rollout.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RESTARTED_AT "libgrove.io/restartedAt"

static const char help[] =
    "usage: grovectl rollout status SET --cluster FILE [-n NAMESPACE] [-o json]\n"
    "       grovectl rollout pause|resume|restart SET --cluster FILE [-n NAMESPACE]\n"
    "       grovectl rollout history|diff SET [--revision N] --cluster FILE [-n NAMESPACE]\n"
    "       grovectl rollout undo SET [--to-revision N] --cluster FILE [-n NAMESPACE]\n"
    "       grovectl rollout ... SET --kubeconfig FILE [--context NAME] [-n NAMESPACE]\n"
    "\n"
    "status says how far the update of a PodCliqueSet is, whatever its strategy. pause and resume "
    "stop a\n"
    "Coherent update where it is and let it go on; restart makes all pods anew, as the set's "
    "strategy does it,\n"
    "by an annotation on its cliques. FILE is a manifest or a cluster as for grovectl explain: the "
    "changed set is\n"
    "printed, nothing is written. On a running cluster the set is patched.\n"
    "\n"
    "history lists the templates that a set with updateStrategy.revisionHistoryLimit has had, and "
    "the cliques that\n"
    "each of them changed; with --revision it prints one. diff shows what the newest one has "
    "otherwise than\n"
    "revision N, undo makes the set's pods as they were in it: labels, annotations and podSpec of "
    "each clique and\n"
    "the priority class, nothing else. Without N both mean the one before the newest. FILE needs "
    "the\n"
    "controllerrevisions, too.\n"
    "\n"
    "Exit status: 0 the update is through, the set was changed, nothing differs; 1 it is not "
    "through, something\n"
    "differs, or refused; 2 wrong usage or unreadable input.\n";

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int parse(rollout_request *q, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (word[0] != '-') {
            const char **place = q->verb ? &q->set : &q->verb;
            if (*place) {
                return usage();
            }
            *place = word;
            continue;
        }
        if (!value) {
            return usage();
        }
        if (live_option(&q->access, word, value)) {
            /* taken */
        } else if (strcmp(word, "--cluster") == 0) {
            q->cluster_path = value;
        } else if (strcmp(word, "-n") == 0) {
            q->ns = value;
        } else if (strcmp(word, "-o") == 0 && strcmp(value, "json") == 0) {
            q->json = 1;
        } else if (strcmp(word, "--revision") == 0 || strcmp(word, "--to-revision") == 0) {
            char *end = NULL;
            q->number = word;
            q->revision = strtoll(value, &end, 10);
            if (*end || q->revision < 1) {
                return usage();
            }
        } else {
            return usage();
        }
        i++;
    }
    return q->set && (q->cluster_path || q->access.asked) ? EXIT_OK : usage();
}

int64_t rollout_number_at(const grove_node *object, const char *path, int64_t otherwise) {
    int64_t value = otherwise;
    (void)grove_node_int64(grove_node_at_path(object, path), &value);
    return value;
}

int rollout_is_in(const rollout_request *q, const grove_node *object) {
    const char *ns = io_text_at(object, "/metadata/namespace");
    return strcmp(ns[0] ? ns : "default", q->ns) == 0;
}

static const io_object *find_set(const rollout_request *q) {
    const char *slash = strchr(q->set, '/'); /* pcs/NAME is the same */
    const char *name = slash ? slash + 1 : q->set;
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *object = q->objects.v[i].node;
        if (strcmp(io_member(object, "kind"), "PodCliqueSet") == 0 && rollout_is_in(q, object) &&
            strcmp(io_name(object), name) == 0) {
            return &q->objects.v[i];
        }
    }
    fprintf(stderr, "grovectl rollout: no PodCliqueSet %s in namespace %s\n", name, q->ns);
    return NULL;
}

static const char *strategy_of(const grove_node *set) {
    const char *type = io_text_at(set, "/spec/updateStrategy/type");
    return type[0] ? type : "RollingRecreate";
}

/* ---- status ---- */

static int belongs(const grove_node *object, const grove_node *set) {
    const grove_node *labels = grove_node_at_path(object, "/metadata/labels");
    const char *part = grove_node_text(grove_node_get(labels, "app.kubernetes.io/part-of"));
    return part && strcmp(part, io_name(set)) == 0;
}

static int is_member(const grove_node *clique) {
    const grove_node *labels = grove_node_at_path(clique, "/metadata/labels");
    return grove_node_get(labels, "grove.io/podcliquescalinggroup") != NULL;
}

typedef struct progress {
    int64_t wanted, updated;
    int seen, through;
    const char *began, *ended;
    const grove_node *held;
} progress;

static progress read_progress(const grove_node *set) {
    progress p = {.wanted = rollout_number_at(set, "/spec/replicas", 1),
                  .updated = rollout_number_at(set, "/status/updatedReplicas", 0),
                  .seen = rollout_number_at(set, "/status/observedGeneration", 0) >=
                          rollout_number_at(set, "/metadata/generation", 0),
                  .began = io_text_at(set, "/status/updateProgress/updateStartedAt"),
                  .ended = io_text_at(set, "/status/updateProgress/updateEndedAt"),
                  .held = io_condition(set, "libgrove.io/UpdateStalled")};
    p.through = p.seen && p.updated >= p.wanted && (!p.began[0] || p.ended[0]);
    return p;
}

/* A clique or group that counts for itself in an update: no member of a group. */
static int counts(const rollout_request *q, const grove_node *o, const grove_node *set) {
    const char *kind = io_member(o, "kind");
    int group = strcmp(kind, "PodCliqueScalingGroup") == 0;
    int clique = strcmp(kind, "PodClique") == 0 && !is_member(o);
    return rollout_is_in(q, o) && (group || clique) && belongs(o, set);
}

static void print_children(const rollout_request *q, const grove_node *set) {
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *o = q->objects.v[i].node;
        if (counts(q, o, set)) {
            const char *kind = io_member(o, "kind");
            printf("  %s %s: %lld of %lld %s updated\n", kind, io_name(o),
                   (long long)rollout_number_at(o, "/status/updatedReplicas", 0),
                   (long long)rollout_number_at(o, "/spec/replicas", 0),
                   strcmp(kind, "PodClique") == 0 ? "pods" : "replicas");
        }
    }
}

static int print_status(const rollout_request *q, const grove_node *set) {
    progress p = read_progress(set);
    printf("%s/%s (%s): ", q->ns, io_name(set), strategy_of(set));
    if (!p.seen) {
        printf("the change is not observed yet\n");
    } else if (p.through) {
        printf("through, %lld of %lld set replicas are of the current template\n",
               (long long)p.updated, (long long)p.wanted);
    } else {
        printf("%lld of %lld set replicas are of the current template%s%s\n", (long long)p.updated,
               (long long)p.wanted, p.began[0] ? ", begun " : "", p.began);
    }
    if (!p.through) {
        print_children(q, set);
    }
    if (p.held && !p.through) {
        printf("  %s: %s\n", io_member(p.held, "reason"), io_member(p.held, "message"));
    }
    return p.through ? EXIT_OK : EXIT_REFUSED;
}

static void put_text(grove_builder *b, const char *key, const char *text) {
    if (text[0]) {
        grove_builder_string(b, key, text);
    }
}

static void put_roles(grove_builder *b, const rollout_request *q, const grove_node *set) {
    grove_builder_open_array(b, "roles");
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *o = q->objects.v[i].node;
        if (counts(q, o, set)) {
            grove_builder_open_object(b, NULL);
            grove_builder_string(b, "kind", io_member(o, "kind"));
            grove_builder_string(b, "name", io_name(o));
            grove_builder_int64(b, "replicas", rollout_number_at(o, "/spec/replicas", 0));
            grove_builder_int64(b, "updatedReplicas",
                                rollout_number_at(o, "/status/updatedReplicas", 0));
            grove_builder_close(b);
        }
    }
    grove_builder_close(b);
}

static void put_status(grove_builder *b, const rollout_request *q, const grove_node *set,
                       const progress *p) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "libgrove.io/v1alpha1");
    grove_builder_string(b, "kind", "RolloutStatus");
    grove_builder_string(b, "namespace", q->ns);
    grove_builder_string(b, "name", io_name(set));
    grove_builder_string(b, "strategy", strategy_of(set));
    grove_builder_bool(b, "observed", p->seen);
    grove_builder_bool(b, "through", p->through);
    grove_builder_int64(b, "replicas", p->wanted);
    grove_builder_int64(b, "updatedReplicas", p->updated);
    put_text(b, "startedAt", p->began);
    put_text(b, "endedAt", p->ended);
    put_roles(b, q, set);
    if (p->held) {
        grove_builder_open_object(b, "held");
        grove_builder_bool(b, "stalled", strcmp(io_member(p->held, "status"), "True") == 0);
        put_text(b, "reason", io_member(p->held, "reason"));
        put_text(b, "message", io_member(p->held, "message"));
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static int write_status(const rollout_request *q, const grove_node *set) {
    progress p = read_progress(set);
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_buf out;
    grove_buf_init(&out, q->env);
    int code = EXIT_USAGE;
    if (grove_builder_new(q->env, &b) == GROVE_OK) {
        put_status(b, q, set, &p);
        if (grove_builder_finish(b, &doc, NULL) == GROVE_OK &&
            grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_PRETTY, &out, NULL) ==
                GROVE_OK) {
            code = io_write(&out);
        }
    }
    grove_doc_unref(doc);
    grove_builder_free(b);
    grove_buf_fini(&out);
    return code != EXIT_OK ? code : p.through ? EXIT_OK : EXIT_REFUSED;
}

/* ---- a change ---- */

static void put_restarted(grove_builder *b, const io_object *set) {
    char now[32];
    time_t t = time(NULL);
    (void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
    const grove_node *cliques = grove_node_at_path(set->node, "/spec/template/cliques");
    grove_builder_open_object(b, "template");
    grove_builder_open_array(b, "cliques");
    for (const grove_node *c = grove_node_first(cliques); c; c = grove_node_next(cliques, c)) {
        const grove_node *old = grove_node_get(c, "annotations"), *m;
        grove_builder_open_object(b, NULL);
        for (m = grove_node_first(c); m; m = grove_node_next(c, m)) {
            if (strcmp(grove_node_key(m, NULL), "annotations") != 0) {
                grove_builder_link(b, grove_node_key(m, NULL), set->doc, m);
            }
        }
        grove_builder_open_object(b, "annotations");
        for (m = grove_node_first(old); m; m = grove_node_next(old, m)) {
            if (strcmp(grove_node_key(m, NULL), RESTARTED_AT) != 0) {
                grove_builder_link(b, grove_node_key(m, NULL), set->doc, m);
            }
        }
        grove_builder_string(b, RESTARTED_AT, now);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

/* A merge patch; NULL when memory ran out. */
static grove_doc *make_patch(const rollout_request *q, const io_object *set) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    if (grove_builder_new(q->env, &b) < 0) {
        return NULL;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "spec");
    if (strcmp(q->verb, "restart") == 0) {
        put_restarted(b, set);
    } else {
        grove_builder_open_object(b, "updateStrategy");
        grove_builder_open_object(b, "rollingUpdate");
        grove_builder_bool(b, "paused", strcmp(q->verb, "pause") == 0);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    (void)grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    return doc;
}

static int change(const rollout_request *q, const io_object *set) {
    if (strcmp(q->verb, "restart") != 0 && strcmp(strategy_of(set->node), "Coherent") != 0) {
        fprintf(
            stderr,
            "grovectl rollout: %s is updated by %s, which cannot be paused: only Coherent can\n",
            io_name(set->node), strategy_of(set->node));
        return EXIT_REFUSED;
    }
    grove_doc *patch = make_patch(q, set);
    int code = rollout_write(q, set, patch, q->verb);
    grove_doc_unref(patch);
    return code;
}

/* ---- the verbs ---- */

static int show_status(const rollout_request *q, const io_object *set) {
    return q->json ? write_status(q, set->node) : print_status(q, set->node);
}

static const struct {
    const char *name;
    int (*run)(const rollout_request *q, const io_object *set);
    const char *number; /* the option that names a revision; NULL: it has none */
} verbs[] = {{"status", show_status, NULL},
             {"pause", change, NULL},
             {"resume", change, NULL},
             {"restart", change, NULL},
             {"history", rollout_history, "--revision"},
             {"diff", rollout_diff, "--revision"},
             {"undo", rollout_undo, "--to-revision"}};
#define N_VERBS (sizeof verbs / sizeof *verbs)

static size_t find_verb(const rollout_request *q) {
    size_t at = 0;
    while (at < N_VERBS && strcmp(verbs[at].name, q->verb) != 0) {
        at++;
    }
    int fits = at < N_VERBS && (!q->json || verbs[at].run == show_status) &&
               (!q->number || (verbs[at].number && strcmp(q->number, verbs[at].number) == 0));
    return fits ? at : N_VERBS;
}

int cmd_rollout(int argc, char **argv) {
    rollout_request q = {.ns = "default"};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    if (parse(&q, argc, argv) != EXIT_OK) {
        return EXIT_USAGE;
    }
    size_t at = find_verb(&q);
    if (at == N_VERBS) {
        return usage();
    }
    if (grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    q.access.also = verbs[at].number ? GROVE_KIND_CONTROLLERREVISION : GROVE_KIND_NONE;
    int code = live_or_file(q.env, &q.access, q.cluster_path, &q.objects);
    const io_object *set = code == EXIT_OK ? find_set(&q) : NULL;
    if (code == EXIT_OK) {
        code = set ? verbs[at].run(&q, set) : EXIT_REFUSED;
    }
    io_free_objects(&q.objects);
    grove_env_unref(q.env);
    return code;
}
