/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the embedded cluster stores, and says it in the words of a pod's life. */
#include "timeline.h"

#include "io.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct timeline {
    grove_env *env;
    grove_sim *sim;
    timeline_entry *v;
    size_t n, cap;
    int live;
    int64_t start_ns;
    int failed; /* out of memory: the record is not complete */
};

static char *dup(const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* The recordings' words for where a pod stands. */
static const char *pod_phase(const grove_event *event) {
    const grove_node *pod = event->object;
    if (event->type == GROVE_EVENT_DELETED) {
        return "gone";
    }
    if (grove_node_at_path(pod, "/metadata/deletionTimestamp")) {
        return "deleting";
    }
    if (strcmp(io_text_at(io_condition(pod, "Ready"), "/status"), "True") == 0) {
        return "ready";
    }
    if (strcmp(io_text_at(pod, "/status/phase"), "Running") == 0) {
        return "notready";
    }
    if (io_text_at(pod, "/spec/nodeName")[0]) {
        return "bound";
    }
    return grove_node_size(grove_node_at_path(pod, "/spec/schedulingGates")) ? "gated" : "pending";
}

static const char *gang_phase(const grove_event *event) {
    if (event->type == GROVE_EVENT_DELETED) {
        return "gone";
    }
    const char *phase = io_text_at(event->object, "/status/phase");
    return phase[0] ? phase : "Pending";
}

static const timeline_entry *last_of(const timeline *t, grove_kind kind, const char *ns,
                                     const char *name) {
    for (size_t i = t->n; i-- > 0;) {
        if (t->v[i].kind == kind && strcmp(t->v[i].name, name) == 0 &&
            strcmp(t->v[i].ns, ns) == 0) {
            return &t->v[i];
        }
    }
    return NULL;
}

static void print_entry(const timeline *t, const timeline_entry *e) {
    int64_t ms = (e->at_ns - t->start_ns) / 1000000;
    printf("%6lld.%03llds  %-8s %-40s %-9s %s\n", (long long)(ms / 1000), (long long)(ms % 1000),
           e->kind == GROVE_KIND_POD     ? "pod"
           : e->kind == GROVE_KIND_EVENT ? "event"
                                         : "podgang",
           e->name, e->phase, e->text);
}

static void free_entry(timeline_entry *e) {
    char *texts[] = {e->ns, e->name, e->phase, e->text, e->clique, e->index, e->image};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(texts[i]);
    }
}

/* `pod`: the object that the entry is about, when it is a pod; NULL. */
static void add(timeline *t, int64_t at, grove_kind kind, const char *ns, const char *name,
                const char *phase, const char *text, const grove_node *pod) {
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 256;
        timeline_entry *v = realloc(t->v, cap * sizeof *v);
        if (!v) {
            t->failed = 1;
            return;
        }
        t->v = v;
        t->cap = cap;
    }
    const grove_node *labels = grove_node_at_path(pod, "/metadata/labels");
    timeline_entry e = {.at_ns = at,
                        .kind = kind,
                        .ns = dup(ns),
                        .name = dup(name),
                        .phase = dup(phase),
                        .text = dup(text),
                        .clique = dup(io_member(labels, "grove.io/podclique")),
                        .index = dup(io_member(labels, "grove.io/podclique-pod-index")),
                        .image = dup(io_text_at(pod, "/spec/containers/0/image"))};
    if (!e.ns || !e.name || !e.phase || !e.text || !e.clique || !e.index || !e.image) {
        t->failed = 1;
        free_entry(&e);
        return;
    }
    t->v[t->n++] = e;
    if (t->live) {
        print_entry(t, &e);
    }
}

static void add_event(timeline *t, int64_t at, const grove_node *event) {
    char text[512];
    const char *about = io_text_at(event, "/regarding/name");
    about = about[0] ? about : io_text_at(event, "/involvedObject/name");
    const char *note = io_text_at(event, "/note");
    snprintf(text, sizeof text, "%s: %s", io_text_at(event, "/type"),
             note[0] ? note : io_text_at(event, "/message"));
    add(t, at, GROVE_KIND_EVENT, io_text_at(event, "/metadata/namespace"), about,
        io_text_at(event, "/reason"), text, NULL);
}

static void observe(void *ctx, int64_t now, const grove_event *event) {
    timeline *t = ctx;
    if (event->kind == GROVE_KIND_EVENT) {
        if (event->type == GROVE_EVENT_ADDED) {
            add_event(t, now, event->object);
        }
        return;
    }
    if (event->kind != GROVE_KIND_POD && event->kind != GROVE_KIND_PODGANG) {
        return;
    }
    const char *ns = io_text_at(event->object, "/metadata/namespace");
    const char *name = io_text_at(event->object, "/metadata/name");
    bool pod = event->kind == GROVE_KIND_POD;
    const char *phase = pod ? pod_phase(event) : gang_phase(event);
    const timeline_entry *last = last_of(t, event->kind, ns, name);
    if (!last || strcmp(last->phase, phase) != 0) {
        add(t, now, event->kind, ns, name, phase,
            pod ? io_text_at(event->object, "/spec/nodeName") : "", pod ? event->object : NULL);
    }
}

grove_status timeline_new(grove_env *env, grove_sim *sim, timeline **out_timeline) {
    timeline *t = calloc(1, sizeof *t);
    if (!t) {
        return GROVE_E_NOMEM;
    }
    t->env = grove_env_ref(env);
    t->sim = sim;
    grove_sim_observe(sim, observe, t);
    *out_timeline = t;
    return GROVE_OK;
}

void timeline_free(timeline *t) {
    if (!t) {
        return;
    }
    grove_sim_observe(t->sim, NULL, NULL);
    for (size_t i = 0; i < t->n; i++) {
        free_entry(&t->v[i]);
    }
    free(t->v);
    grove_env_unref(t->env);
    free(t);
}

size_t timeline_count(const timeline *t) {
    return t->n;
}

const timeline_entry *timeline_at(const timeline *t, size_t i) {
    return i < t->n ? &t->v[i] : NULL;
}

void timeline_print_live(timeline *t, int64_t start_ns) {
    t->live = 1;
    t->start_ns = start_ns;
}

static const char *kind_word(grove_kind kind) {
    return kind == GROVE_KIND_POD ? "Pod" : kind == GROVE_KIND_PODGANG ? "PodGang" : "Event";
}

void timeline_put(const timeline *t, grove_builder *b, const char *key, int64_t start_ns) {
    grove_builder_open_array(b, key);
    for (size_t i = 0; i < t->n; i++) {
        const timeline_entry *e = &t->v[i];
        grove_builder_open_object(b, NULL);
        grove_builder_int64(b, "ms", (e->at_ns - start_ns) / 1000000);
        grove_builder_string(b, "kind", kind_word(e->kind));
        grove_builder_string(b, "namespace", e->ns);
        grove_builder_string(b, "name", e->name);
        grove_builder_string(b, "phase", e->phase);
        grove_builder_string(b, "text", e->text);
        if (e->kind == GROVE_KIND_POD) {
            grove_builder_string(b, "clique", e->clique);
            grove_builder_string(b, "index", e->index);
            grove_builder_string(b, "image", e->image);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}
