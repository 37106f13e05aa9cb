/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and batches of grovectl place; see place_batch.h. */
#define _POSIX_C_SOURCE 200809L
#include "place_batch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "verbs.h"

typedef struct entry {
    grove_gang *gang;
    grove_decision *decision;
    char *name;
    char **podgroups, **groups; /* as in place_world, whose they become to be written */
    uint32_t n_podgroups, n_groups;
} entry;

struct place_batch {
    place_world *w;
    grove_serve_options o;
    entry *v;
    uint32_t n, cap;
    char **names; /* of committed gangs by id: for bases and victims */
    uint32_t n_names;
};

static int fail(const char *where, const char *what) {
    fprintf(stderr, "grovectl place: %s: %s\n", where, what);
    return EXIT_USAGE;
}

/* ---- queues ---- */

/* {"gpu":8,...} as a row of resources; what is not named is -1. */
static uint32_t read_amounts(const place_world *w, const grove_node *amounts, int64_t *row) {
    uint32_t n = grove_sched_resource_count(w->sched);
    n = n < PLACE_COLUMNS ? n : PLACE_COLUMNS;
    for (uint32_t r = 0; r < n; r++) {
        const char *name = grove_sched_resource_name(w->sched, r);
        if (grove_node_int64(grove_node_get(amounts, name), &row[r]) < 0) {
            row[r] = -1;
        }
    }
    return n;
}

static int64_t number_of(const grove_node *object, const char *key, int64_t otherwise) {
    int64_t n;
    return grove_node_int64(grove_node_get(object, key), &n) == GROVE_OK ? n : otherwise;
}

static int read_queue(place_world *w, const grove_node *line, const char *where) {
    int64_t deserved[PLACE_COLUMNS], limit[PLACE_COLUMNS];
    const char *parent = grove_node_text(grove_node_get(line, "parent"));
    grove_queue q = {.size = (uint32_t)sizeof q, .name = io_member(line, "name")};
    grove_error err = GROVE_ERROR_INIT;
    uint32_t id;
    q.n_deserved = read_amounts(w, grove_node_get(line, "deserved"), deserved);
    q.n_limit = read_amounts(w, grove_node_get(line, "limit"), limit);
    q.deserved = deserved;
    q.limit = limit;
    q.weight = (uint32_t)number_of(line, "weight", 1);
    q.priority = (int32_t)number_of(line, "priority", 0);
    if (parent && parent[0]) {
        q.parent = grove_sched_queue_find(w->sched, parent);
        if (q.parent == GROVE_QUEUE_NONE) {
            return fail(where, "a queue names a parent that no line before it declares");
        }
    }
    return grove_sched_queue(w->sched, &q, &id, &err) < 0 ? fail(where, err.message) : EXIT_OK;
}

int place_read_queues(place_world *w, const char *path) {
    char *text;
    size_t len;
    if (io_read(path, &text, &len) != EXIT_OK) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    for (char *line = text; code == EXIT_OK && *line;) {
        size_t n = strcspn(line, "\n");
        grove_error err = GROVE_ERROR_INIT;
        grove_doc *doc = NULL;
        if (n > 0 && grove_doc_parse_json(w->env, line, n, 0, &doc, &err) < 0) {
            code = fail(path, err.message);
        } else if (n > 0) {
            code = read_queue(w, grove_doc_root(doc), path);
            grove_doc_unref(doc);
        }
        line += n + (line[n] == '\n');
    }
    free(text);
    return code;
}

/* ---- gangs ---- */

place_batch *place_batch_new(place_world *w, const grove_serve_options *o) {
    place_batch *b = calloc(1, sizeof *b);
    if (b) {
        b->w = w;
        b->o = *o;
    }
    return b;
}

static void forget_names(entry *e) {
    for (uint32_t i = 0; i < e->n_podgroups; i++) {
        free(e->podgroups[i]);
    }
    for (uint32_t i = 0; i < e->n_groups; i++) {
        free(e->groups[i]);
    }
    free(e->podgroups);
    free(e->groups);
    free(e->name);
    e->podgroups = e->groups = NULL;
    e->name = NULL;
    e->n_podgroups = e->n_groups = 0;
}

void place_batch_free(place_batch *b) {
    for (uint32_t i = 0; b && i < b->cap; i++) {
        forget_names(&b->v[i]);
        grove_gang_free(b->v[i].gang);
        grove_decision_free(b->v[i].decision);
    }
    for (uint32_t i = 0; b && i < b->n_names; i++) {
        free(b->names[i]);
    }
    if (b) {
        free(b->names);
        free(b->v);
        free(b);
    }
}

static entry *next_entry(place_batch *b) {
    if (b->n == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 64;
        entry *grown = realloc(b->v, cap * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        memset(grown + b->cap, 0, (cap - b->cap) * sizeof *grown);
        b->v = grown;
        b->cap = cap;
    }
    entry *e = &b->v[b->n];
    bool made = (e->gang || grove_gang_new(b->w->sched, &e->gang) == GROVE_OK) &&
                (e->decision || grove_decision_new(b->w->sched, &e->decision) == GROVE_OK);
    return made ? e : NULL;
}

/* Lends an entry's gang, decision and names to the world, or takes them back. */
static void swap_in(place_world *w, entry *e) {
    entry was = {w->gang,   w->decision,    e->name,    w->podgroups,
                 w->groups, w->n_podgroups, w->n_groups};
    w->gang = e->gang;
    w->decision = e->decision;
    w->podgroups = e->podgroups;
    w->groups = e->groups;
    w->n_podgroups = e->n_podgroups;
    w->n_groups = e->n_groups;
    *e = was;
}

static uint32_t gang_named(const place_batch *b, const char *name) {
    for (uint32_t i = 0; i < b->n_names; i++) {
        if (b->names[i] && strcmp(b->names[i], name) == 0) {
            return i;
        }
    }
    return GROVE_SCHED_NONE;
}

static int read_service(const place_batch *b, entry *e, const grove_node *gang, const char *where) {
    const char *queue = grove_node_text(grove_node_get(gang, "queue"));
    const char *base = grove_node_text(grove_node_get(gang, "base"));
    uint32_t id = GROVE_QUEUE_NONE, base_id = GROVE_SCHED_NONE;
    uint32_t flags =
        (grove_node_is_true(grove_node_get(gang, "neverEvict")) ? GROVE_GANG_NEVER_EVICT : 0u) |
        (grove_node_is_true(grove_node_get(gang, "yields")) ? GROVE_GANG_YIELDS : 0u);
    if (queue && queue[0]) {
        id = grove_sched_queue_find(b->w->sched, queue);
        if (id == GROVE_QUEUE_NONE) {
            return fail(where, "a gang names a queue that is not there");
        }
    }
    if (base && base[0]) {
        base_id = gang_named(b, base);
        if (base_id == GROVE_SCHED_NONE) {
            return fail(where, "a gang names a base that has no place");
        }
    }
    int64_t blocked = number_of(gang, "blocked", 0);
    if (grove_gang_queue(e->gang, id) < 0 || grove_gang_base(e->gang, base_id) < 0 ||
        grove_gang_flags(e->gang, flags) < 0 ||
        grove_gang_priority(e->gang, (int32_t)number_of(gang, "priority", 0)) < 0 ||
        grove_gang_waiting(e->gang, number_of(gang, "since", 0),
                           blocked > 0 ? (uint32_t)blocked : 0) < 0) {
        return fail(where, "a gang's queue, base or flags cannot be taken");
    }
    return EXIT_OK;
}

int place_batch_add(place_batch *b, const grove_node *gang, const char *where) {
    entry *e = next_entry(b);
    if (!e) {
        return fail(where, "out of memory");
    }
    swap_in(b->w, e);
    int code = place_read_gang(b->w, gang, where);
    swap_in(b->w, e);
    const char *name = io_member(gang, "name");
    e->name = strdup(name ? name : "");
    if (code == EXIT_OK) {
        code = e->name ? read_service(b, e, gang, where) : fail(where, "out of memory");
    }
    b->n++;
    return code;
}

uint32_t place_batch_size(const place_batch *b) {
    return b->n;
}

/* ---- serving ---- */

static int keep_name(place_batch *b, uint32_t id, const char *name) {
    if (id >= b->n_names) {
        char **grown = realloc(b->names, ((size_t)id + 64) * sizeof *grown);
        if (!grown) {
            return EXIT_USAGE;
        }
        memset(grown + b->n_names, 0, ((size_t)id + 64 - b->n_names) * sizeof *grown);
        b->names = grown;
        b->n_names = id + 64;
    }
    free(b->names[id]);
    b->names[id] = strdup(name);
    return b->names[id] ? EXIT_OK : EXIT_USAGE;
}

static void write_victims(place_batch *b, grove_builder *out, const grove_decision *d) {
    uint32_t n;
    const grove_victim *list = grove_decision_victims(d, &n);
    if (n == 0) {
        return;
    }
    grove_builder_open_array(out, "victims");
    for (uint32_t i = 0; i < n; i++) {
        const char *name = list[i].gang < b->n_names ? b->names[list[i].gang] : NULL;
        grove_builder_open_object(out, NULL);
        grove_builder_string(out, "gang", name ? name : "");
        grove_builder_int64(out, "pods", list[i].pod == GROVE_SCHED_NONE ? 0 : 1);
        grove_builder_close(out);
    }
    grove_builder_close(out);
    grove_builder_bool(out, "provenBest", grove_decision_victims_proven(d));
}

static int print_served(place_batch *b, const entry *e, const grove_served *s) {
    grove_builder *out = NULL;
    grove_doc *doc = NULL;
    grove_buf text;
    grove_buf_init(&text, b->w->env);
    if (grove_builder_new(b->w->env, &out) < 0) {
        return EXIT_USAGE;
    }
    grove_builder_open_object(out, NULL);
    grove_builder_string(out, "name", e->name);
    place_write_answer(b->w, out);
    if (s->flags & GROVE_SERVED_TOGETHER) {
        grove_builder_bool(out, "together", 1);
    }
    if (s->flags & (GROVE_SERVED_PREEMPTED | GROVE_SERVED_RECLAIMED)) {
        grove_builder_string(out, "by",
                             s->flags & GROVE_SERVED_RECLAIMED ? "reclaim" : "preemption");
        write_victims(b, out, b->w->decision);
    }
    if (s->flags & GROVE_SERVED_KEPT) {
        grove_builder_string(out, "kept", grove_sched_node_name(b->w->sched, s->node));
    }
    grove_builder_close(out);
    int code = EXIT_OK;
    if (grove_builder_finish(out, &doc, NULL) < 0 ||
        grove_node_write_json(grove_doc_root(doc), 0, &text, NULL) < 0) {
        code = fail("output", "out of memory");
    } else {
        fwrite(text.data, 1, (size_t)text.len, stdout);
        putchar('\n');
    }
    grove_doc_unref(doc);
    grove_builder_free(out);
    grove_buf_fini(&text);
    return code;
}

int place_batch_serve(place_batch *b, void (*each)(place_world *w, void *ctx), void *ctx) {
    const grove_gang **gangs = calloc((size_t)b->n + 1, sizeof *gangs);
    grove_decision **decisions = calloc((size_t)b->n + 1, sizeof *decisions);
    const grove_served *served = NULL;
    grove_error err = GROVE_ERROR_INIT;
    int code = gangs && decisions ? EXIT_OK : fail("batch", "out of memory");
    for (uint32_t i = 0; code == EXIT_OK && i < b->n; i++) {
        gangs[i] = b->v[i].gang;
        decisions[i] = b->v[i].decision;
    }
    if (code == EXIT_OK &&
        grove_sched_serve(b->w->sched, gangs, decisions, b->n, &b->o, &served, &err) < 0) {
        code = fail("batch", err.message);
    }
    for (uint32_t i = 0; code == EXIT_OK && i < b->n;
         i++) { /* victims before their slots are reused */
        entry *e = &b->v[served[i].index];
        swap_in(b->w, e);
        each(b->w, ctx);
        code = print_served(b, e, &served[i]);
        swap_in(b->w, e);
    }
    for (uint32_t i = 0; code == EXIT_OK && i < b->n; i++) {
        entry *e = &b->v[served[i].index];
        if (served[i].gang != GROVE_SCHED_NONE) {
            code = keep_name(b, served[i].gang, e->name);
        }
    }
    for (uint32_t i = 0; i < b->n; i++) {
        forget_names(&b->v[i]);
    }
    b->n = 0;
    free(gangs);
    free(decisions);
    return code;
}
