/* SPDX-License-Identifier: Apache-2.0 */
/* Counting Ready pods by PodClique: by label and uid, never by the beginning of a name. */
#include "parents.h"

#include <stdlib.h>
#include <string.h>

#define LABEL "grove.io/podclique"

/* ---- arguments ---- */

static char *trimmed(const char *text) {
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) {
        n--;
    }
    char *out = malloc(n + 1);
    if (out) {
        memcpy(out, text, n);
        out[n] = '\0';
    }
    return out;
}

static const char *put(parents *p, const char *name, int64_t wanted) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (strcmp(p->v[i].name, name) == 0) {
            p->v[i].wanted = wanted; /* the last one wins */
            return NULL;
        }
    }
    parent *grown = realloc(p->v, (p->n + 1) * sizeof *grown);
    if (!grown) {
        return "out of memory";
    }
    p->v = grown;
    p->v[p->n] = (parent){.name = trimmed(name), .wanted = wanted};
    return p->v[p->n].name ? (p->n++, NULL) : "out of memory";
}

const char *parents_add(parents *p, const char *value) {
    char *text = trimmed(value), *end = NULL;
    const char *wrong = NULL;
    if (!text) {
        return "out of memory";
    }
    char *colon = strchr(text, ':');
    if (text[0] && (!colon || strchr(colon + 1, ':'))) {
        wrong = "not of the form NAME:COUNT";
    } else if (text[0]) {
        *colon = '\0';
        long long wanted = strtoll(colon + 1, &end, 10);
        wrong = colon == text                            ? "the name is empty"
                : *end || end == colon + 1 || wanted < 1 ? "the count is no number above 0"
                                                         : put(p, text, wanted);
    }
    free(text);
    return wrong;
}

/* ---- pods ---- */

static int is_ready(const grove_node *pod) {
    const grove_node *list = grove_node_at_path(pod, "/status/conditions"), *c;
    for (c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        const char *type = grove_node_text(grove_node_get(c, "type"));
        const char *status = grove_node_text(grove_node_get(c, "status"));
        if (type && status && strcmp(type, "Ready") == 0) {
            return strcmp(status, "True") == 0;
        }
    }
    return 0;
}

static const parent *parent_of(const parents *p, const grove_node *metadata) {
    const char *clique = grove_node_text(grove_node_get(grove_node_get(metadata, "labels"), LABEL));
    for (uint32_t i = 0; clique && i < p->n; i++) {
        if (strcmp(p->v[i].name, clique) == 0) {
            return &p->v[i];
        }
    }
    return NULL;
}

static int add(parents *p, const char *uid, uint32_t at) {
    if (p->n_pods == p->cap_pods) {
        uint32_t cap = p->cap_pods ? p->cap_pods * 2 : 16;
        void *grown = realloc(p->pods, cap * sizeof *p->pods);
        if (!grown) {
            return -1;
        }
        p->pods = grown;
        p->cap_pods = cap;
    }
    char *copy = trimmed(uid);
    if (!copy) {
        return -1;
    }
    p->pods[p->n_pods++] = (struct seen){copy, at};
    p->v[at].ready++;
    return 1;
}

static int drop(parents *p, uint32_t i) {
    p->v[p->pods[i].parent].ready--;
    free(p->pods[i].uid);
    p->pods[i] = p->pods[--p->n_pods];
    return 1;
}

int parents_pod(parents *p, const grove_node *pod, int deleted) {
    const grove_node *metadata = grove_node_get(pod, "metadata");
    const char *uid = grove_node_text(grove_node_get(metadata, "uid"));
    const parent *of = parent_of(p, metadata);
    /* a pod that is going may still be Ready: it will not be there for us */
    int going = deleted || grove_node_text(grove_node_get(metadata, "deletionTimestamp")) != NULL;
    int counts = of && !going && is_ready(pod);
    for (uint32_t i = 0; uid && i < p->n_pods; i++) {
        if (strcmp(p->pods[i].uid, uid) == 0) {
            return counts ? 0 : drop(p, i);
        }
    }
    return uid && counts ? add(p, uid, (uint32_t)(of - p->v)) : 0;
}

void parents_forget(parents *p) {
    while (p->n_pods) {
        (void)drop(p, p->n_pods - 1);
    }
}

int parents_are_ready(const parents *p) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->v[i].ready < p->v[i].wanted) {
            return 0;
        }
    }
    return 1;
}

void parents_fini(parents *p) {
    parents_forget(p);
    for (uint32_t i = 0; i < p->n; i++) {
        free(p->v[i].name);
    }
    free(p->v);
    free(p->pods);
    *p = (parents){0};
}
