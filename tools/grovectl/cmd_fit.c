/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl fit: would these manifests find room on this cluster? */
#include "cluster.h"
#include "live.h"
#include "io.h"
#include "picture.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: grovectl fit FILE... --cluster FILE [--config FILE] [-o text|json]\n"
    "                    [--picture FILE.svg|FILE.html]\n"
    "       grovectl fit FILE... --kubeconfig FILE [--context NAME] ...\n"
    "\n"
    "Applies the manifests to a copy of the cluster and says for each gang whether it finds room, "
    "with the\n"
    "nodes it gets, or why not. The cluster FILE holds Node and Pod objects (`kubectl get "
    "nodes,pods -A -o\n"
    "json`), or is a node spec such as 2x2x4x8. Nothing is contacted.\n"
    "\n"
    "Exit status: 0 everything fits, 1 something does not, 2 wrong usage or unreadable input.\n";

typedef struct request {
    grove_env *env;
    const char *cluster_path, *config_path, *picture;
    live_access access;
    int json;
    grove_config *config;
    cluster *c;
} request;

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int complain(const char *file, const grove_error *err) {
    io_print_error(file, err);
    return EXIT_USAGE;
}

/* ---- the copy of the cluster ---- */

/* What a server has written into an object, and refuses on creation. */
#define SERVED "{\"metadata\":{\"resourceVersion\":null,\"uid\":null,\"generation\":null}}"

static grove_status apply_served(request *q, const io_object *o, grove_error *err) {
    grove_doc *patch = NULL, *fresh = NULL;
    grove_status st = grove_doc_parse_json(q->env, SERVED, strlen(SERVED), 0, &patch, err);
    st = st < 0
             ? st
             : grove_merge_patch_apply(o->doc, o->node, patch, grove_doc_root(patch), &fresh, err);
    st = st < 0 ? st : grove_sim_apply(q->c->sim, fresh, grove_doc_root(fresh), err);
    grove_doc_unref(patch);
    grove_doc_unref(fresh);
    return st;
}

static int load_cluster(request *q, io_objects *objects) {
    grove_error err = GROVE_ERROR_INIT;
    FILE *f = q->access.asked ? NULL : fopen(q->cluster_path, "r");
    if (!f && !q->access.asked && strcmp(q->cluster_path, "-") != 0) { /* no file: a spec */
        return grove_sim_add_nodes(q->c->sim, q->cluster_path, &err) < 0 ? complain(NULL, &err)
                                                                         : EXIT_OK;
    }
    if (f) {
        fclose(f);
    }
    int code = live_or_file(q->env, &q->access, q->cluster_path, objects);
    code = code == EXIT_OK ? io_add_volumes(q->config, objects) : code;
    static const char *const kinds[] = {"Node", "PriorityClass", "ClusterTopologyBinding", "Pod"};
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; code == EXIT_OK && i < objects->n; i++) {
            const io_object *o = &objects->v[i];
            const char *phase = grove_node_text(grove_node_at_path(o->node, "/status/phase"));
            int finished = phase &&
                           (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
            if (strcmp(io_member(o->node, "kind"), kinds[k]) != 0 || finished) {
                continue;
            }
            if (apply_served(q, o, &err) < 0) {
                code = complain(o->file, &err);
            }
        }
    }
    return code;
}

static int apply_manifests(request *q, char **files, int n) {
    int code = EXIT_OK;
    for (int k = 0; code == EXIT_OK && k < n; k++) {
        io_objects objects = {0};
        code = io_read_objects(q->env, files[k], GROVE_PARSE_STRICT, &objects);
        for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
            grove_error err = GROVE_ERROR_INIT;
            if (cluster_apply(q->c, objects.v[i].doc, objects.v[i].node, &err) < 0) {
                io_print_error(files[k], &err);
                code = EXIT_REFUSED;
            }
        }
        io_free_objects(&objects);
    }
    return code;
}

/* ---- the answer ---- */

static const char *label_of(const grove_node *pod, const char *key) {
    const char *text = grove_node_text(
        grove_node_get(grove_node_at_path(pod, "/metadata/labels"), key));
    return text ? text : "";
}

static int is_of_gang(const grove_node *pod, const grove_node *gang) {
    return strcmp(label_of(pod, "grove.io/podgang"), io_name(gang)) == 0 &&
           strcmp(io_text_at(pod, "/metadata/namespace"),
                  io_text_at(gang, "/metadata/namespace")) == 0;
}

/* Pods of a gang without a node. */
static unsigned count_unplaced(const grove_node *pods, const grove_node *gang, unsigned *placed) {
    unsigned missing = 0;
    for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
        if (!is_of_gang(p, gang)) {
            continue;
        }
        if (io_text_at(p, "/spec/nodeName")[0]) {
            (*placed)++;
        } else {
            missing++;
        }
    }
    return missing;
}

/* How many pods of the clique the node got; 0 when an earlier pod than `first` stands for it already. */
static unsigned count_on(const grove_node *pods, const grove_node *gang, const char *clique,
                         const grove_node *first) {
    const char *node = io_text_at(first, "/spec/nodeName");
    unsigned n = 0;
    for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
        if (is_of_gang(p, gang) && strcmp(label_of(p, "grove.io/podclique"), clique) == 0 &&
            strcmp(io_text_at(p, "/spec/nodeName"), node) == 0) {
            if (n == 0 && p != first) {
                return 0;
            }
            n++;
        }
    }
    return n;
}

/* {podgroup: {node: pods}}, or a line for each podgroup. */
static void put_placement(const grove_node *gang, const grove_node *pods, grove_builder *b) {
    const grove_node *groups = grove_node_at_path(gang, "/spec/podgroups"), *g;
    if (b) {
        grove_builder_open_object(b, "placement");
    }
    for (g = grove_node_first(groups); g; g = grove_node_next(groups, g)) {
        const char *clique = io_member(g, "name"), *gap = ":";
        if (b) {
            grove_builder_open_object(b, clique);
        } else {
            printf("  %s", clique);
        }
        for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
            const char *node = io_text_at(p, "/spec/nodeName");
            int mine = node[0] && is_of_gang(p, gang) &&
                       strcmp(label_of(p, "grove.io/podclique"), clique) == 0;
            unsigned n = mine ? count_on(pods, gang, clique, p) : 0;
            if (n > 0 && b) {
                grove_builder_int64(b, node, n);
            } else if (n > 0) {
                printf("%s %s x%u", gap, node, n);
                gap = ",";
            }
        }
        if (b) {
            grove_builder_close(b);
        } else {
            printf("\n");
        }
    }
    if (b) {
        grove_builder_close(b);
    }
}

/* What the gang's pods ask for and placement does not take into account: an array in *out_doc. */
static grove_status find_notes(request *q, const char *ns, const char *gang, grove_doc **out_doc,
                               grove_error *err) {
    grove_buf text;
    grove_buf_init(&text, q->env);
    grove_status st = grove_engine_explain(q->c->engine, GROVE_KIND_PODGANG, ns, gang,
                                           cluster_now(q->c), 1, &text, err);
    st = st < 0 ? st : grove_doc_parse_json(q->env, text.data, (size_t)text.len, 0, out_doc, err);
    grove_buf_fini(&text);
    return st;
}

static grove_status put_gang(request *q, const grove_node *gang, const grove_node *pods,
                             grove_builder *b, int *all_fit, grove_error *err) {
    unsigned placed = 0, missing = count_unplaced(pods, gang, &placed);
    int fits = missing == 0 && placed > 0;
    const char *ns = io_text_at(gang, "/metadata/namespace");
    grove_doc *explanation = NULL;
    grove_buf why;
    grove_buf_init(&why, q->env);
    grove_status st = find_notes(q, ns, io_name(gang), &explanation, err);
    const grove_node *notes = grove_node_get(grove_doc_root(explanation), "notSupported");
    if (st == GROVE_OK && !fits) {
        *all_fit = 0;
        st = grove_engine_explain(q->c->engine, GROVE_KIND_PODGANG, ns, io_name(gang),
                                  cluster_now(q->c), 0, &why, err);
    }
    if (st == GROVE_OK && b) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "namespace", ns);
        grove_builder_string(b, "gang", io_name(gang));
        grove_builder_bool(b, "fits", fits);
        grove_builder_int64(b, "placed", placed);
        grove_builder_int64(b, "unplaced", missing);
        grove_builder_string(b, "why", why.data ? why.data : "");
        put_placement(gang, pods, b);
        grove_builder_copy(b, "notSupported", notes);
        grove_builder_close(b);
    } else if (st == GROVE_OK) {
        printf("%s/%s: %s (%u pods placed, %u not)\n%s", ns, io_name(gang),
               fits ? "fits" : "does not fit", placed, missing, why.data ? why.data : "");
        if (fits) {
            put_placement(gang, pods, NULL);
            io_print_not_supported(notes); /* of others they are among the reasons */
        }
    }
    grove_buf_fini(&why);
    grove_doc_unref(explanation);
    return st;
}

static int print_json(request *q, grove_builder *b) {
    grove_doc *doc = NULL;
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, q->env);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &doc, &err);
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_PRETTY, &out, &err);
    st = st < 0 ? st : grove_buf_append(&out, "\n", 1);
    int code = st < 0 ? complain(NULL, &err) : io_write(&out);
    grove_doc_unref(doc);
    grove_buf_fini(&out);
    return code;
}

static int print_answer(request *q) {
    grove_doc *gangs = NULL, *pods = NULL;
    grove_builder *b = NULL;
    grove_error err = GROVE_ERROR_INIT;
    int all_fit = 1, code = EXIT_OK;
    grove_status st = grove_sim_list(q->c->sim, GROVE_KIND_PODGANG, NULL, NULL, &gangs, &err);
    st = st < 0 ? st : grove_sim_list(q->c->sim, GROVE_KIND_POD, NULL, NULL, &pods, &err);
    st = st < 0 || !q->json ? st : grove_builder_new(q->env, &b);
    if (st == GROVE_OK && b) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "libgrove.io/v1alpha1");
        grove_builder_string(b, "kind", "Fit");
        grove_builder_open_array(b, "gangs");
    }
    const grove_node *items = grove_node_get(grove_doc_root(gangs), "items");
    const grove_node *list = grove_node_get(grove_doc_root(pods), "items");
    for (const grove_node *g = grove_node_first(items); st == GROVE_OK && g;
         g = grove_node_next(items, g)) {
        st = put_gang(q, g, list, b, &all_fit, &err);
    }
    if (st < 0) {
        code = complain(NULL, &err);
    } else if (b) {
        code = print_json(q, b);
    }
    grove_builder_free(b);
    grove_doc_unref(gangs);
    grove_doc_unref(pods);
    return code != EXIT_OK ? code : all_fit ? EXIT_OK : EXIT_REFUSED;
}

static int run(request *q, char **files, int n) {
    io_objects objects = {0};
    grove_error err = GROVE_ERROR_INIT;
    cluster_options options = {.config = q->config, .sim_flags = GROVE_SIM_NO_KUBELET};
    if (cluster_new(q->env, &options, &q->c, &err) < 0) {
        return complain(NULL, &err);
    }
    int code = load_cluster(q, &objects);
    if (code == EXIT_OK && cluster_settle_now(q->c, &err) < 0) {
        code = complain(NULL, &err);
    }
    code = code == EXIT_OK ? apply_manifests(q, files, n) : code;
    if (code == EXIT_OK && cluster_settle_now(q->c, &err) < 0) {
        code = complain(NULL, &err);
    }
    code = code == EXIT_OK ? print_answer(q) : code;
    if (q->picture && code != EXIT_USAGE) {
        int drawn = picture_save(q->env, q->c->sim, "Fit on a copy of the cluster", q->picture);
        code = drawn == EXIT_OK ? code : drawn;
    }
    io_free_objects(&objects);
    cluster_free(q->c);
    return code;
}

int cmd_fit(int argc, char **argv) {
    request q = {0};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (word[0] != '-' || !word[1]) {
            argv[n++] = argv[i];
        } else if (live_option(&q.access, word, value)) {
            i++;
        } else if (value && strcmp(word, "--cluster") == 0) {
            q.cluster_path = argv[++i];
        } else if (value && strcmp(word, "--picture") == 0) {
            q.picture = argv[++i];
        } else if (value && strcmp(word, "--config") == 0) {
            q.config_path = argv[++i];
        } else if (value && strcmp(word, "-o") == 0) {
            q.json = strcmp(argv[++i], "json") == 0;
        } else {
            return usage();
        }
    }
    if (n == 0 || (!q.cluster_path && !q.access.asked) || grove_env_new(NULL, &q.env) < 0) {
        return usage();
    }
    int code = io_read_config(q.env, q.config_path, &q.config);
    code = code == EXIT_OK ? run(&q, argv, n) : code;
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return code;
}
