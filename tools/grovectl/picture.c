/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the topology with the gangs' pods in it. */
#include "picture.h"

#include "chart.h"
#include "io.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct drawing {
    const grove_node *pods;
    const char *const *keys;
    const char *gpu;
    grove_buf *out;
    grove_status st;
} drawing;

static void put(drawing *d, const char *text) {
    if (d->st == GROVE_OK) {
        d->st = grove_buf_append(d->out, text, strlen(text));
    }
}

static const char *label(const grove_node *object, const char *key) {
    const char *text = grove_node_text(
        grove_node_get(grove_node_at_path(object, "/metadata/labels"), key));
    return text ? text : "";
}

static const char *text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

/* Devices that one container asks for: limits stand for requests where those are missing. */
static long gpus_of(const grove_node *pod, const char *gpu) {
    const grove_node *containers = grove_node_at_path(pod, "/spec/containers");
    long n = 0;
    for (const grove_node *c = grove_node_first(containers); c;
         c = grove_node_next(containers, c)) {
        const grove_node *resources = grove_node_get(c, "resources");
        const grove_node *asked = grove_node_get(grove_node_get(resources, "requests"), gpu);
        asked = asked ? asked : grove_node_get(grove_node_get(resources, "limits"), gpu);
        n += asked ? strtol(grove_node_text(asked), NULL, 10) : 0;
    }
    return n;
}

static int is_live(const grove_node *pod) {
    const char *phase = text_at(pod, "/status/phase");
    return strcmp(phase, "Failed") != 0 && strcmp(phase, "Succeeded") != 0;
}

/* "namespace/gang clique x2, clique" for what runs on a node, in the order of the pods. */
static void put_pods_of(drawing *d, const char *node) {
    const grove_node *last = NULL;
    unsigned times = 0;
    char text[512];
    for (const grove_node *p = grove_node_first(d->pods); p; p = grove_node_next(d->pods, p)) {
        if (strcmp(text_at(p, "/spec/nodeName"), node) != 0 || !is_live(p)) {
            continue;
        }
        const char *clique = label(p, "grove.io/podclique");
        if (last && strcmp(label(last, "grove.io/podclique"), clique) == 0 &&
            strcmp(text_at(last, "/metadata/namespace"), text_at(p, "/metadata/namespace")) == 0) {
            times++;
            continue;
        }
        if (times > 1) {
            snprintf(text, sizeof text, " x%u", times);
            put(d, text);
        }
        snprintf(text, sizeof text, "%s%s/%s", last ? ", " : "", text_at(p, "/metadata/namespace"),
                 clique[0] ? clique : text_at(p, "/metadata/name"));
        put(d, text);
        last = p;
        times = 1;
    }
    if (times > 1) {
        snprintf(text, sizeof text, " x%u", times);
        put(d, text);
    }
}

static void put_node(drawing *d, const grove_node *node, unsigned depth) {
    const char *name = io_name(node), *have = grove_node_text(grove_node_get(
                                          grove_node_at_path(node, "/status/allocatable"), d->gpu));
    long total = have ? strtol(have, NULL, 10) : 0, used = 0;
    char text[256], bar[65];
    for (const grove_node *p = grove_node_first(d->pods); p; p = grove_node_next(d->pods, p)) {
        if (strcmp(text_at(p, "/spec/nodeName"), name) == 0 && is_live(p)) {
            used += gpus_of(p, d->gpu);
        }
    }
    size_t width = total < 64 ? (size_t)total : 64;
    for (size_t i = 0; i < width; i++) {
        bar[i] = (long)i < used ? '#' : '.';
    }
    bar[width] = '\0';
    snprintf(text, sizeof text, "%*s%-18s [%s] %2ld/%ld  ", (int)(2 * depth), "", name, bar, used,
             total);
    put(d, text);
    put_pods_of(d, name);
    put(d, "\n");
}

/* Domains in the order in which their first node comes. */
static void put_level(drawing *d, const grove_node *const *nodes, size_t n, unsigned level) {
    const char *key = d->keys[level];
    if (!key) {
        for (size_t i = 0; i < n; i++) {
            put_node(d, nodes[i], level);
        }
        return;
    }
    const grove_node **inside = calloc(n ? n : 1, sizeof *inside);
    char *done = calloc(n ? n : 1, 1);
    for (size_t i = 0; inside && done && i < n; i++) {
        size_t k = 0;
        if (done[i]) {
            continue;
        }
        const char *value = label(nodes[i], key), *word = strrchr(key, '/');
        for (size_t j = i; j < n; j++) {
            if (!done[j] && strcmp(label(nodes[j], key), value) == 0) {
                inside[k++] = nodes[j];
                done[j] = 1;
            }
        }
        char text[256];
        snprintf(text, sizeof text, "%*s%s %s\n", (int)(2 * level), "", word ? word + 1 : key,
                 value[0] ? value : "(none)");
        put(d, text);
        put_level(d, inside, k, level + 1);
    }
    if (!inside || !done) {
        d->st = GROVE_E_NOMEM;
    }
    free(inside);
    free(done);
}

grove_status picture_write(grove_env *env, grove_sim *sim, const char *const *keys, const char *gpu,
                           grove_buf *out, grove_error *err) {
    grove_doc *nodes = NULL, *pods = NULL;
    (void)env;
    grove_status st = grove_sim_list(sim, GROVE_KIND_NODE, NULL, NULL, &nodes, err);
    st = st < 0 ? st : grove_sim_list(sim, GROVE_KIND_POD, NULL, NULL, &pods, err);
    if (st == GROVE_OK) {
        const grove_node *items = grove_node_get(grove_doc_root(nodes), "items");
        drawing d = {.pods = grove_node_get(grove_doc_root(pods), "items"),
                     .keys = keys,
                     .gpu = gpu,
                     .out = out};
        size_t n = 0;
        const grove_node **list = calloc(grove_node_size(items) + 1, sizeof *list);
        for (const grove_node *o = grove_node_first(items); list && o;
             o = grove_node_next(items, o)) {
            list[n++] = o;
        }
        d.st = list ? GROVE_OK : GROVE_E_NOMEM;
        put_level(&d, list, n, 0);
        free(list);
        st = d.st;
    }
    grove_doc_unref(nodes);
    grove_doc_unref(pods);
    return st;
}

int picture_save(grove_env *env, grove_sim *sim, const char *title, const char *path) {
    static const grove_kind kinds[] = {GROVE_KIND_CLUSTERTOPOLOGYBINDING, GROVE_KIND_NODE,
                                       GROVE_KIND_PODGANG, GROVE_KIND_POD};
    grove_doc *lists[4] = {NULL};
    grove_error err = GROVE_ERROR_INIT;
    chart c = {.title = title};
    size_t n = 0, room = 1;
    grove_status st = GROVE_OK;
    for (size_t k = 0; st == GROVE_OK && k < 4; k++) {
        st = grove_sim_list(sim, kinds[k], NULL, NULL, &lists[k], &err);
        room += grove_node_size(grove_node_get(grove_doc_root(lists[k]), "items"));
    }
    const grove_node **objects = calloc(room, sizeof *objects);
    for (size_t k = 0; st == GROVE_OK && objects && k < 4; k++) {
        const grove_node *items = grove_node_get(grove_doc_root(lists[k]), "items");
        for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
            objects[n++] = o;
        }
    }
    st = st < 0 ? st : !objects ? GROVE_E_NOMEM : chart_add_objects(&c, objects, n);
    int code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : chart_save(env, &c, path);
    chart_free(&c);
    free(objects);
    for (size_t k = 0; k < 4; k++) {
        grove_doc_unref(lists[k]);
    }
    return code;
}
