/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl whatif: which gangs would keep or find room if nodes went or came. */
#include "io.h"
#include "snapshot.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <grove/sys/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BINDERS "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"
#define CHANGES_MAX 32

static const char help[] =
    "usage: grovectl whatif --cluster FILE [--lose KEY=VALUE]... [--add SPEC]... [--config FILE]\n"
    "\n"
    "Takes nodes away from a cluster, adds others, and says which gangs stay whole, which would "
    "find other\n"
    "room for what they lost, and which would not. FILE is a cluster as for grovectl explain. "
    "Nothing is\n"
    "contacted; pods that stay where they are are never moved to make room.\n"
    "\n"
    "  --lose KEY=VALUE  nodes whose label KEY is VALUE; KEY may be the last word of the label "
    "(rack=r3),\n"
    "                    or node for the name\n"
    "  --add SPEC        new nodes, as for grovectl sim --nodes (nodes=8,gpu=8,prefix=new)\n"
    "\n"
    "Exit status: 0 every gang keeps its minimum, 1 some do not, 2 wrong usage or unreadable "
    "input.\n";

typedef struct request {
    grove_env *env;
    const char *cluster_path, *config_path;
    const char *lose[CHANGES_MAX], *add[CHANGES_MAX];
    int n_lose, n_add;
    grove_config *config;
    io_objects objects; /* the changed cluster */
} request;

static const char *text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

static int is_kind(const grove_node *object, const char *kind) {
    return strcmp(io_member(object, "kind"), kind) == 0;
}

/* ---- changing the cluster ---- */

/* "rack" names every label whose last word it is; a whole label key names itself. */
static int is_lost(const request *q, const grove_node *node) {
    const grove_node *labels = grove_node_at_path(node, "/metadata/labels");
    for (int i = 0; i < q->n_lose; i++) {
        const char *equal = strchr(q->lose[i], '=');
        size_t n = (size_t)(equal - q->lose[i]);
        if (n == 4 && strncmp(q->lose[i], "node", 4) == 0 &&
            strcmp(io_name(node), equal + 1) == 0) {
            return 1;
        }
        for (const grove_node *l = grove_node_first(labels); l; l = grove_node_next(labels, l)) {
            const char *key = grove_node_key(l, NULL), *slash = strrchr(key, '/');
            const char *word = slash && !memchr(q->lose[i], '/', n) ? slash + 1 : key;
            if (strlen(word) == n && strncmp(word, q->lose[i], n) == 0 &&
                strcmp(grove_node_text(l) ? grove_node_text(l) : "", equal + 1) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static int node_is_lost(const request *q, const io_objects *all, const char *name) {
    for (size_t i = 0; i < all->n; i++) {
        const grove_node *o = all->v[i].node;
        if (is_kind(o, "Node") && strcmp(io_name(o), name) == 0) {
            return is_lost(q, o);
        }
    }
    return 1; /* a node that the file does not have takes nobody */
}

static int push(request *q, grove_doc *doc, const grove_node *node) {
    io_objects *list = &q->objects;
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 256;
        io_object *v = realloc(list->v, cap * sizeof *v);
        if (!v) {
            return EXIT_USAGE;
        }
        list->v = v;
        list->cap = cap;
    }
    list->v[list->n++] = (io_object){.doc = grove_doc_ref(doc), .node = node, .file = ""};
    return EXIT_OK;
}

/* The object with a merge patch applied. */
static int push_patched(request *q, grove_doc *doc, const grove_node *node, const char *text) {
    grove_doc *patch = NULL, *changed = NULL;
    grove_error err = GROVE_ERROR_INIT;
    int code = EXIT_OK;
    if (grove_doc_parse_json(q->env, text, strlen(text), 0, &patch, &err) < 0 ||
        grove_merge_patch_apply(doc, node, patch, grove_doc_root(patch), &changed, &err) < 0) {
        io_print_error(NULL, &err);
        code = EXIT_USAGE;
    } else {
        code = push(q, changed, grove_doc_root(changed));
    }
    grove_doc_unref(patch);
    grove_doc_unref(changed);
    return code;
}

/* The pod as its successor will be: without a node, not started. */
#define DISPLACED "{\"spec\":{\"nodeName\":null},\"status\":null}"
/* A new node as it will be once its kubelet has said so. */
#define READY "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"

static int change_cluster(request *q, const io_objects *all, unsigned *lost, unsigned *displaced) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < all->n; i++) {
        const io_object *o = &all->v[i];
        const char *node = text_at(o->node, "/spec/nodeName");
        if (is_kind(o->node, "Node") && is_lost(q, o->node)) {
            (*lost)++;
        } else if (is_kind(o->node, "Pod") && node[0] && node_is_lost(q, all, node)) {
            (*displaced)++;
            code = push_patched(q, o->doc, o->node, DISPLACED);
        } else {
            code = push(q, o->doc, o->node);
        }
    }
    for (int i = 0; code == EXIT_OK && i < q->n_add; i++) {
        grove_doc *list = NULL;
        grove_error err = GROVE_ERROR_INIT;
        if (grove_sim_node_list(q->env, q->add[i], &list, &err) < 0) {
            io_print_error(NULL, &err);
            return EXIT_USAGE;
        }
        const grove_node *items = grove_node_get(grove_doc_root(list), "items");
        for (const grove_node *n = grove_node_first(items); n && code == EXIT_OK;
             n = grove_node_next(items, n)) {
            code = push_patched(q, list, n, READY);
        }
        grove_doc_unref(list);
    }
    return code;
}

/* ---- the answer ---- */

/* Pods of a gang without a node in the changed cluster. */
static unsigned displaced_of(const request *q, const grove_node *gang) {
    unsigned n = 0;
    for (size_t i = 0; i < q->objects.n; i++) {
        const grove_node *pod = q->objects.v[i].node;
        const char *of = grove_node_text(
            grove_node_get(grove_node_at_path(pod, "/metadata/labels"), "grove.io/podgang"));
        n += is_kind(pod, "Pod") && of && strcmp(of, io_name(gang)) == 0 &&
             strcmp(text_at(pod, "/metadata/namespace"), text_at(gang, "/metadata/namespace")) ==
                 0 &&
             !text_at(pod, "/spec/nodeName")[0];
    }
    return n;
}

static int print_gang(request *q, grove_engine *engine, const grove_node *gang, int64_t now) {
    const char *ns = text_at(gang, "/metadata/namespace");
    unsigned displaced = displaced_of(q, gang);
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    grove_buf out;
    int code = EXIT_OK;
    if (displaced == 0) {
        printf("%s/%s: stays whole\n", ns, io_name(gang));
        return EXIT_OK;
    }
    grove_buf_init(&out, q->env);
    grove_status st = grove_engine_explain(engine, GROVE_KIND_PODGANG, ns, io_name(gang), now, 1,
                                           &out, &err);
    st = st < 0 ? st : grove_doc_parse_json(q->env, out.data, (size_t)out.len, 0, &doc, &err);
    const grove_node *placement = grove_node_get(grove_doc_root(doc), "placement");
    const char *verdict = io_member(placement, "verdict");
    if (st < 0) {
        io_print_error(NULL, &err);
        code = EXIT_USAGE;
    } else if (strcmp(verdict, "placed") == 0) {
        printf("%s/%s: loses %u pods and finds room for them\n", ns, io_name(gang), displaced);
    } else {
        printf("%s/%s: loses %u pods and finds no room: %s\n", ns, io_name(gang), displaced,
               io_member(placement, "text"));
        code = EXIT_REFUSED;
    }
    grove_doc_unref(doc);
    grove_buf_fini(&out);
    return code;
}

static int run(request *q) {
    io_objects all = {0};
    grove_engine *engine = NULL;
    unsigned lost = 0, displaced = 0;
    int64_t now = (int64_t)time(NULL) * INT64_C(1000000000);
    int code = io_read_objects(q->env, q->cluster_path, 0, &all), verdict = EXIT_OK;
    code = code == EXIT_OK ? change_cluster(q, &all, &lost, &displaced) : code;
    code = code == EXIT_OK ? snapshot_engine(q->env, q->config, BINDERS, &q->objects, now, &engine)
                           : code;
    if (code == EXIT_OK) {
        printf("%u nodes go, %u pods lose their place\n", lost, displaced);
    }
    for (size_t i = 0; code == EXIT_OK && i < q->objects.n; i++) {
        if (is_kind(q->objects.v[i].node, "PodGang")) {
            int one = print_gang(q, engine, q->objects.v[i].node, now);
            verdict = one == EXIT_REFUSED ? EXIT_REFUSED : verdict;
            code = one == EXIT_USAGE ? EXIT_USAGE : EXIT_OK;
        }
    }
    grove_engine_free(engine);
    io_free_objects(&q->objects);
    io_free_objects(&all);
    return code == EXIT_OK ? verdict : code;
}

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

int cmd_whatif(int argc, char **argv) {
    request q = {0};
    for (int i = 1; i < argc; i += 2) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (value && strcmp(word, "--cluster") == 0) {
            q.cluster_path = value;
        } else if (value && strcmp(word, "--config") == 0) {
            q.config_path = value;
        } else if (value && strcmp(word, "--lose") == 0 && strchr(value, '=') &&
                   q.n_lose < CHANGES_MAX) {
            q.lose[q.n_lose++] = value;
        } else if (value && strcmp(word, "--add") == 0 && q.n_add < CHANGES_MAX) {
            q.add[q.n_add++] = value;
        } else {
            return usage();
        }
    }
    if (!q.cluster_path || grove_env_new(NULL, &q.env) < 0) {
        return usage();
    }
    int code = io_read_config(q.env, q.config_path, &q.config);
    code = code == EXIT_OK ? run(&q) : code;
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return code;
}
