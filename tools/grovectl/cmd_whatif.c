/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl whatif: which gangs would keep or find room if nodes went or came. */
#include "chart.h"
#include "io.h"
#include "live.h"
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
#define COPIES_MAX 100000

static const char help[] =
    "usage: grovectl whatif --cluster FILE [--lose KEY=VALUE]... [--add NODES]... [--config FILE]\n"
    "                       [-o text|json] [--picture FILE.svg|FILE.html]\n"
    "       grovectl whatif --kubeconfig FILE [--context NAME] ...\n"
    "\n"
    "Takes nodes away from a cluster, adds others, and says which gangs stay whole, which would "
    "find other\n"
    "room for what they lost, and which would not. FILE is a cluster as for grovectl explain. "
    "Nothing is\n"
    "changed; pods that stay where they are are never moved to make room.\n"
    "\n"
    "  --lose KEY=VALUE  nodes whose label KEY is VALUE; KEY may be the last word of the label "
    "(rack=r3),\n"
    "                    or node for the name\n"
    "  --add NxNODE      N more nodes like NODE of the file, with its labels: --add 8xnode-7\n"
    "  --add SPEC        new nodes, as for grovectl sim --nodes (nodes=8,gpu=8,prefix=new)\n"
    "  --picture FILE    draws what is left; gangs that find no room are listed below it\n"
    "\n"
    "A set stays whole when all its gangs keep or find their minimum.\n"
    "\n"
    "Exit status: 0 every gang keeps its minimum, 1 some do not, 2 wrong usage or unreadable "
    "input.\n";

typedef struct request {
    grove_env *env;
    const char *cluster_path, *config_path;
    live_access access;
    const char *lose[CHANGES_MAX], *add[CHANGES_MAX];
    int n_lose, n_add, json;
    const char *picture;
    grove_config *config;
    unsigned added;
    io_objects objects; /* the changed cluster */
} request;

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

/* "8xnode-7": eight times node-7; false: something else is meant. */
static int is_copies(const char *text, unsigned *out_n, const char **out_name) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *out_n = (unsigned)n;
    *out_name = end + 1;
    return end > text && *end == 'x' && n > 0 && n <= COPIES_MAX && end[1] &&
           (end[1] < '0' || end[1] > '9');
}

/* As new: ready, not cordoned, by a name of its own, in the domains of the one it is like. */
static int add_copies(request *q, const io_objects *all, unsigned n, const char *name) {
    const io_object *like = NULL;
    for (size_t i = 0; i < all->n && !like; i++) {
        const grove_node *o = all->v[i].node;
        like = is_kind(o, "Node") && strcmp(io_name(o), name) == 0 ? &all->v[i] : NULL;
    }
    if (!like) {
        fprintf(stderr, "grovectl whatif: the file has no node '%s'\n", name);
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    for (unsigned i = 1; i <= n && code == EXIT_OK; i++) {
        char patch[1024];
        snprintf(patch, sizeof patch,
                 "{\"metadata\":{\"name\":\"%s-added-%u\",\"uid\":\"%s-added-%u\","
                 "\"labels\":{\"kubernetes.io/hostname\":\"%s-added-%u\"}},"
                 "\"spec\":{\"unschedulable\":null},\"status\":{\"conditions\":"
                 "[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                 name, q->added + i, name, q->added + i, name, q->added + i);
        code = push_patched(q, like->doc, like->node, patch);
    }
    q->added += n;
    return code;
}

static int add_nodes(request *q, const io_objects *all, const char *text) {
    grove_doc *list = NULL;
    grove_error err = GROVE_ERROR_INIT;
    unsigned n;
    const char *name;
    if (is_copies(text, &n, &name)) {
        return add_copies(q, all, n, name);
    }
    if (grove_sim_node_list(q->env, text, &list, &err) < 0) {
        io_print_error(NULL, &err);
        return EXIT_USAGE;
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    int code = EXIT_OK;
    for (const grove_node *o = grove_node_first(items); o && code == EXIT_OK;
         o = grove_node_next(items, o)) {
        code = push_patched(q, list, o, READY);
        q->added++;
    }
    grove_doc_unref(list);
    return code;
}

static int change_cluster(request *q, const io_objects *all, unsigned *lost, unsigned *displaced) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < all->n; i++) {
        const io_object *o = &all->v[i];
        const char *node = io_text_at(o->node, "/spec/nodeName");
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
        code = add_nodes(q, all, q->add[i]);
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
             strcmp(io_text_at(pod, "/metadata/namespace"),
                    io_text_at(gang, "/metadata/namespace")) == 0 &&
             !io_text_at(pod, "/spec/nodeName")[0];
    }
    return n;
}

typedef enum fate { STAYS, MOVES, GOES } fate;
static const char *const fates[] = {"stays", "moves", "goes"};

typedef struct gang_fate {
    const grove_node *gang;
    unsigned displaced;
    fate fate;
    char why[512];
    grove_doc *explanation; /* of a gang that was asked about; NULL: it loses nothing */
} gang_fate;

static int judge_gang(request *q, grove_engine *engine, int64_t now, gang_fate *g) {
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    g->displaced = displaced_of(q, g->gang);
    if (g->displaced == 0) {
        return EXIT_OK;
    }
    grove_buf_init(&out, q->env);
    grove_status st = grove_engine_explain(engine, GROVE_KIND_PODGANG,
                                           io_text_at(g->gang, "/metadata/namespace"),
                                           io_name(g->gang), now, 1, &out, &err);
    st = st < 0 ? st
                : grove_doc_parse_json(q->env, out.data, (size_t)out.len, 0, &g->explanation, &err);
    const grove_node *placement = grove_node_get(grove_doc_root(g->explanation), "placement");
    g->fate = strcmp(io_member(placement, "verdict"), "placed") == 0 ? MOVES : GOES;
    snprintf(g->why, sizeof g->why, "%s", g->fate == GOES ? io_member(placement, "text") : "");
    for (size_t n = strlen(g->why); n > 0 && g->why[n - 1] == '\n';) {
        g->why[--n] = '\0';
    }
    int code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : EXIT_OK;
    grove_buf_fini(&out);
    return code;
}

/* What its pods ask for and placement did not take into account. */
static const grove_node *notes_of(const gang_fate *g) {
    return grove_node_get(grove_doc_root(g->explanation), "notSupported");
}

static const char *set_of(const grove_node *gang) {
    return io_text_at(gang, "/metadata/labels/app.kubernetes.io~1part-of");
}

static int same_set(const grove_node *a, const grove_node *b) {
    return strcmp(set_of(a), set_of(b)) == 0 &&
           strcmp(io_text_at(a, "/metadata/namespace"), io_text_at(b, "/metadata/namespace")) == 0;
}

/* The worst that happens to a gang of the set of gangs[at]; -1 when an earlier gang stood for it. */
static int fate_of_set(const gang_fate *gangs, size_t n, size_t at) {
    int worst = STAYS;
    for (size_t i = 0; i < n; i++) {
        if (same_set(gangs[i].gang, gangs[at].gang)) {
            if (i < at) {
                return -1;
            }
            worst = (int)gangs[i].fate > worst ? (int)gangs[i].fate : worst;
        }
    }
    return worst;
}

static void print_text(const request *q, const gang_fate *gangs, size_t n, unsigned lost,
                       unsigned displaced) {
    printf("%u nodes go, %u come, %u pods lose their place\n", lost, q->added, displaced);
    for (size_t i = 0; i < n; i++) {
        const gang_fate *g = &gangs[i];
        printf("gang %s/%s: ", io_text_at(g->gang, "/metadata/namespace"), io_name(g->gang));
        if (g->fate == STAYS) {
            printf("stays whole\n");
        } else if (g->fate == MOVES) {
            printf("loses %u pods and finds room for them\n", g->displaced);
            io_print_not_supported(notes_of(g)); /* of others they are among the reasons */
        } else {
            printf("loses %u pods and finds no room: %s\n", g->displaced, g->why);
        }
    }
    for (size_t i = 0; i < n; i++) {
        int set = fate_of_set(gangs, n, i);
        if (set >= 0 && set_of(gangs[i].gang)[0]) {
            printf("set %s/%s: %s\n", io_text_at(gangs[i].gang, "/metadata/namespace"),
                   set_of(gangs[i].gang),
                   set == STAYS   ? "stays as it is"
                   : set == MOVES ? "stays whole, some of its pods move"
                                  : "does not stay whole");
        }
    }
}

static void put_gangs(grove_builder *b, const gang_fate *gangs, size_t n) {
    grove_builder_open_array(b, "gangs");
    for (size_t i = 0; i < n; i++) {
        const gang_fate *g = &gangs[i];
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "namespace", io_text_at(g->gang, "/metadata/namespace"));
        grove_builder_string(b, "gang", io_name(g->gang));
        grove_builder_string(b, "fate", fates[g->fate]);
        grove_builder_int64(b, "displaced", g->displaced);
        grove_builder_string(b, "why", g->why);
        if (g->explanation) {
            grove_builder_copy(b, "notSupported", notes_of(g));
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static int print_json(request *q, const gang_fate *gangs, size_t n, unsigned lost,
                      unsigned displaced) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, q->env);
    grove_status st = grove_builder_new(q->env, &b);
    if (st == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "libgrove.io/v1alpha1");
        grove_builder_string(b, "kind", "WhatIf");
        grove_builder_int64(b, "nodesLost", lost);
        grove_builder_int64(b, "nodesAdded", q->added);
        grove_builder_int64(b, "podsDisplaced", displaced);
        put_gangs(b, gangs, n);
        grove_builder_open_array(b, "sets");
        for (size_t i = 0; i < n; i++) {
            int set = fate_of_set(gangs, n, i);
            if (set >= 0 && set_of(gangs[i].gang)[0]) {
                grove_builder_open_object(b, NULL);
                grove_builder_string(b, "namespace",
                                     io_text_at(gangs[i].gang, "/metadata/namespace"));
                grove_builder_string(b, "set", set_of(gangs[i].gang));
                grove_builder_bool(b, "whole", set != GOES);
                grove_builder_close(b);
            }
        }
        grove_builder_close(b);
        grove_builder_close(b);
        st = grove_builder_finish(b, &doc, &err);
    }
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_PRETTY, &out, &err);
    st = st < 0 ? st : grove_buf_append(&out, "\n", 1);
    int code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : io_write(&out);
    grove_doc_unref(doc);
    grove_builder_free(b);
    grove_buf_fini(&out);
    return code;
}

static int draw(request *q, const gang_fate *gangs, size_t n) {
    chart c = {.title = "What is left"};
    const grove_node **objects = calloc(q->objects.n + 1, sizeof *objects);
    for (size_t i = 0; objects && i < q->objects.n; i++) {
        objects[i] = q->objects.v[i].node;
    }
    grove_status st = objects ? chart_add_objects(&c, objects, q->objects.n) : GROVE_E_NOMEM;
    for (uint32_t k = 0; st == GROVE_OK && k < c.n_gangs; k++) {
        for (size_t i = 0; c.gangs[k].why && i < n; i++) {
            if (strcmp(io_name(gangs[i].gang), c.gangs[k].name) == 0) {
                c.gangs[k].why = gangs[i].fate == GOES ? gangs[i].why : "finds room elsewhere";
            }
        }
    }
    int code = st < 0 ? EXIT_USAGE : chart_save(q->env, &c, q->picture);
    chart_free(&c);
    free(objects);
    return code;
}

static int judge_all(request *q, grove_engine *engine, int64_t now, unsigned lost,
                     unsigned displaced) {
    gang_fate *gangs = calloc(q->objects.n + 1, sizeof *gangs);
    size_t n = 0;
    int code = gangs ? EXIT_OK : EXIT_USAGE, verdict = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < q->objects.n; i++) {
        if (is_kind(q->objects.v[i].node, "PodGang")) {
            gangs[n].gang = q->objects.v[i].node;
            code = judge_gang(q, engine, now, &gangs[n]);
            verdict = gangs[n++].fate == GOES ? EXIT_REFUSED : verdict;
        }
    }
    if (code == EXIT_OK && q->json) {
        code = print_json(q, gangs, n, lost, displaced);
    } else if (code == EXIT_OK) {
        print_text(q, gangs, n, lost, displaced);
    }
    code = code == EXIT_OK && q->picture ? draw(q, gangs, n) : code;
    for (size_t i = 0; gangs && i < n; i++) {
        grove_doc_unref(gangs[i].explanation);
    }
    free(gangs);
    return code == EXIT_OK ? verdict : code;
}

static int run(request *q) {
    io_objects all = {0};
    grove_engine *engine = NULL;
    unsigned lost = 0, displaced = 0;
    int64_t now = (int64_t)time(NULL) * INT64_C(1000000000);
    int code = live_or_file(q->env, &q->access, q->cluster_path, &all);
    code = code == EXIT_OK ? io_add_volumes(q->config, &all) : code;
    code = code == EXIT_OK ? change_cluster(q, &all, &lost, &displaced) : code;
    code = code == EXIT_OK ? snapshot_engine(q->env, q->config, BINDERS, &q->objects, now, &engine)
                           : code;
    code = code == EXIT_OK ? judge_all(q, engine, now, lost, displaced) : code;
    grove_engine_free(engine);
    io_free_objects(&q->objects);
    io_free_objects(&all);
    return code;
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
        } else if (value && strcmp(word, "--picture") == 0) {
            q.picture = value;
        } else if (value && strcmp(word, "-o") == 0 &&
                   (strcmp(value, "json") == 0 || strcmp(value, "text") == 0)) {
            q.json = value[0] == 'j';
        } else if (value && strcmp(word, "--lose") == 0 && strchr(value, '=') &&
                   q.n_lose < CHANGES_MAX) {
            q.lose[q.n_lose++] = value;
        } else if (value && strcmp(word, "--add") == 0 && q.n_add < CHANGES_MAX) {
            q.add[q.n_add++] = value;
        } else if (!live_option(&q.access, word, value)) {
            return usage();
        }
    }
    if ((!q.cluster_path && !q.access.asked) || grove_env_new(NULL, &q.env) < 0) {
        return usage();
    }
    int code = io_read_config(q.env, q.config_path, &q.config);
    code = code == EXIT_OK ? run(&q) : code;
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return code;
}
