/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl rollout: how far the update of a set is; stop it, let it go on, make all pods anew. */
#include "io.h"
#include "live.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef GROVECTL_LIVE
#include "errand.h"
#endif

#define RESTARTED_AT "libgrove.io/restartedAt"

static const char help[] =
    "usage: grovectl rollout status SET --cluster FILE [-n NAMESPACE]\n"
    "       grovectl rollout pause|resume|restart SET --cluster FILE [-n NAMESPACE]\n"
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
    "Exit status: 0 the update is through, the set was changed; 1 it is not through, or refused; "
    "2 wrong usage\n"
    "or unreadable input.\n";

typedef struct request {
    grove_env *env;
    const char *verb, *set, *cluster_path, *ns;
    live_access access;
    io_objects objects;
} request;

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int parse(request *q, int argc, char **argv) {
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
        } else {
            return usage();
        }
        i++;
    }
    return q->set && (q->cluster_path || q->access.asked) ? EXIT_OK : usage();
}

static int64_t number_at(const grove_node *object, const char *path, int64_t otherwise) {
    int64_t value = otherwise;
    (void)grove_node_int64(grove_node_at_path(object, path), &value);
    return value;
}

static int is_in(const request *q, const grove_node *object) {
    const char *ns = io_text_at(object, "/metadata/namespace");
    return strcmp(ns[0] ? ns : "default", q->ns) == 0;
}

static const io_object *find_set(const request *q) {
    const char *slash = strchr(q->set, '/'); /* pcs/NAME is the same */
    const char *name = slash ? slash + 1 : q->set;
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *object = q->objects.v[i].node;
        if (strcmp(io_member(object, "kind"), "PodCliqueSet") == 0 && is_in(q, object) &&
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

static void print_children(const request *q, const grove_node *set) {
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *o = q->objects.v[i].node;
        const char *kind = io_member(o, "kind");
        int group = strcmp(kind, "PodCliqueScalingGroup") == 0;
        int clique = strcmp(kind, "PodClique") == 0 && !is_member(o);
        if (is_in(q, o) && (group || clique) && belongs(o, set)) {
            printf("  %s %s: %lld of %lld %s updated\n", kind, io_name(o),
                   (long long)number_at(o, "/status/updatedReplicas", 0),
                   (long long)number_at(o, "/spec/replicas", 0), group ? "replicas" : "pods");
        }
    }
}

static int print_status(const request *q, const grove_node *set) {
    int64_t wanted = number_at(set, "/spec/replicas", 1);
    int64_t updated = number_at(set, "/status/updatedReplicas", 0);
    int seen = number_at(set, "/status/observedGeneration", 0) >=
               number_at(set, "/metadata/generation", 0);
    const char *began = io_text_at(set, "/status/updateProgress/updateStartedAt");
    const char *ended = io_text_at(set, "/status/updateProgress/updateEndedAt");
    int through = seen && updated >= wanted && (!began[0] || ended[0]);
    const grove_node *held = io_condition(set, "libgrove.io/UpdateStalled");
    printf("%s/%s (%s): ", q->ns, io_name(set), strategy_of(set));
    if (!seen) {
        printf("the change is not observed yet\n");
    } else if (through) {
        printf("through, %lld of %lld set replicas are of the current template\n",
               (long long)updated, (long long)wanted);
    } else {
        printf("%lld of %lld set replicas are of the current template%s%s\n", (long long)updated,
               (long long)wanted, began[0] ? ", begun " : "", began);
    }
    if (!through) {
        print_children(q, set);
    }
    if (held && !through) {
        printf("  %s: %s\n", io_member(held, "reason"), io_member(held, "message"));
    }
    return through ? EXIT_OK : EXIT_REFUSED;
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
static grove_doc *make_patch(const request *q, const io_object *set) {
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

static int print_changed(const request *q, const io_object *set, grove_doc *patch) {
    grove_doc *changed = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    grove_buf_init(&out, q->env);
    int code = EXIT_USAGE;
    if (grove_merge_patch_apply(set->doc, set->node, patch, grove_doc_root(patch), &changed, &err) <
            0 ||
        grove_node_write_yaml(grove_doc_root(changed), 0, &out, &err) < 0) {
        io_print_error(set->file, &err);
    } else {
        code = io_write(&out);
    }
    grove_doc_unref(changed);
    grove_buf_fini(&out);
    return code;
}

#ifdef GROVECTL_LIVE
static int write_change(const request *q, const io_object *set, grove_doc *patch) {
    errand e;
    grove_op op = {.verb = GROVE_VERB_PATCH,
                   .kind = GROVE_KIND_PODCLIQUESET,
                   .ns = q->ns,
                   .name = io_name(set->node),
                   .patch_type = GROVE_PATCH_MERGE,
                   .body_doc = patch,
                   .body = grove_doc_root(patch)};
    if (errand_begin(&e, "grovectl", q->access.kubeconfig, q->access.context) < 0) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    if (errand_ask(&e, &op) < 0) {
        fprintf(stderr, "grovectl rollout: %s\n", e.message);
        code = EXIT_REFUSED;
    } else {
        printf("podcliqueset %s/%s: %s\n", q->ns, io_name(set->node), q->verb);
    }
    errand_end(&e);
    return code;
}
#else
static int write_change(const request *q, const io_object *set, grove_doc *patch) {
    return print_changed(q, set, patch); /* never reached: nothing was read from a cluster */
}
#endif

static int change(const request *q, const io_object *set) {
    if (strcmp(q->verb, "restart") != 0 && strcmp(strategy_of(set->node), "Coherent") != 0) {
        fprintf(
            stderr,
            "grovectl rollout: %s is updated by %s, which cannot be paused: only Coherent can\n",
            io_name(set->node), strategy_of(set->node));
        return EXIT_REFUSED;
    }
    grove_doc *patch = make_patch(q, set);
    int code = EXIT_USAGE;
    if (!patch) {
        fprintf(stderr, "grovectl: out of memory\n");
    } else {
        code = q->access.asked ? write_change(q, set, patch) : print_changed(q, set, patch);
    }
    grove_doc_unref(patch);
    return code;
}

int cmd_rollout(int argc, char **argv) {
    request q = {.ns = "default"};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    if (parse(&q, argc, argv) != EXIT_OK || grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    int changes = strcmp(q.verb, "pause") == 0 || strcmp(q.verb, "resume") == 0 ||
                  strcmp(q.verb, "restart") == 0;
    int code = changes || strcmp(q.verb, "status") == 0 ? EXIT_OK : usage();
    code = code == EXIT_OK ? live_or_file(q.env, &q.access, q.cluster_path, &q.objects) : code;
    const io_object *set = code == EXIT_OK ? find_set(&q) : NULL;
    if (code == EXIT_OK) {
        code = !set ? EXIT_REFUSED : changes ? change(&q, set) : print_status(&q, set->node);
    }
    io_free_objects(&q.objects);
    grove_env_unref(q.env);
    return code;
}
