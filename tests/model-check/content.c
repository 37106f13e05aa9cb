/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of objects: interned, with what the model asks of them read once, and their shape. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/labels.h"
#include "model/view.h"
#include "value/scalar.h"

void must(grove_status st, const char *what) {
    if (st < 0) {
        fprintf(stderr, "model: %s: %s\n", what, grove_status_name(st));
        abort();
    }
}

void *zeroed(size_t size) {
    void *p = calloc(1, size);
    if (!p) {
        abort();
    }
    return p;
}

void broken(model *m, const char *fmt, ...) {
    va_list ap;
    if (m->broken[0] == '\0') {
        va_start(ap, fmt);
        vsnprintf(m->broken, sizeof m->broken, fmt, ap);
        va_end(ap);
    }
}

uint64_t object_key(gv_kind kind, const char *name) {
    return gv_mix64(gv_fnv1a((uint64_t)kind + 1, name, strlen(name)));
}

uint64_t text_key(const char *text) {
    return gv_mix64(gv_fnv1a(GV_FNV_START, text, strlen(text)));
}

const grove_node *member(const content *c, const char *pointer) {
    return c ? grove_node_at_path(grove_doc_root(c->doc), pointer) : NULL;
}

const char *text_of(const content *c, const char *pointer) {
    const char *t = grove_node_text(member(c, pointer));
    return t ? t : "";
}

const version *find_version(const version *list, uint32_t n, uint64_t key) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].is->key == key) {
            return &list[i];
        }
    }
    return NULL;
}

bool pod_is_active(const content *pod) {
    return !pod->dying && !pod->failed;
}

uint64_t pod_unit(const char *clique, int64_t index) {
    return gv_mix64(text_key(clique) + (uint64_t)index);
}

bool is_listed(const content *gang, const char *pod) {
    const grove_node *groups = member(gang, "/spec/podgroups");
    for (const grove_node *g = grove_node_first(groups); g; g = grove_node_next(groups, g)) {
        const grove_node *list = grove_node_get(g, "podReferences");
        for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
            const char *name = grove_node_text(grove_node_get(r, "name"));
            if (name && strcmp(name, pod) == 0) {
                return true;
            }
        }
    }
    return false;
}

grove_doc *parsed(model *m, const char *text) {
    grove_doc *doc = NULL;
    must(grove_doc_parse_yaml(m->env, text, strlen(text), 0, &doc, NULL), text);
    return doc;
}

/* Takes both over. */
grove_doc *merged(model *m, grove_doc *doc, grove_doc *patch) {
    grove_doc *out = NULL;
    (void)m;
    must(
        grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &out, NULL),
        "merge");
    grove_doc_unref(doc);
    grove_doc_unref(patch);
    return out;
}

uint64_t node_hash(model *m, const grove_node *node) {
    grove_buf b;
    grove_buf_init(&b, m->env);
    must(grove_node_write_json(node, GROVE_WRITE_CANONICAL, &b, NULL), "write");
    uint64_t h = gv_mix64(gv_fnv1a(GV_FNV_START, b.data, b.len));
    grove_buf_fini(&b);
    return h;
}

/* ---- shapes ---- */

typedef struct shaper {
    model *m;
    shape out;
    uint32_t cap;
    bool in_list; /* of the pods of a PodGang */
} shaper;

static void put(shaper *s, uint64_t x) {
    s->out.hash = gv_mix64(s->out.hash ^ (x + UINT64_C(0x9e3779b97f4a7c15)));
}

static void put_token(shaper *s, token_kind kind, uint64_t value) {
    if (s->out.n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->out.tokens = realloc(s->out.tokens, s->cap * sizeof *s->out.tokens);
        if (!s->out.tokens) {
            abort();
        }
    }
    s->out.tokens[s->out.n++] = (token){kind, value};
    put(s, (uint64_t)kind + 1);
}

static void put_text(shaper *s, const grove_node *node, const char *key) {
    const char *text = grove_node_text(node);
    int64_t time = 0;
    uint64_t hash = text_key(text);
    const char *known = table_get(&s->m->names, hash);
    bool is_generation = strcmp(key, "generation") == 0 || strcmp(key, "observedGeneration") == 0;
    if (known) {
        put_token(s, known[0] == 'u' ? TOKEN_UID : s->in_list ? TOKEN_MEMBER : TOKEN_POD, hash);
    } else if (is_generation && grove_node_int64(node, &time) == GROVE_OK) {
        put_token(s, TOKEN_GENERATION, (uint64_t)time);
    } else if (strlen(text) == 20 && gv_time_parse(gv_str_c(text), &time, NULL) == GROVE_OK) {
        put_token(s, TOKEN_TIME, (uint64_t)time);
    } else {
        put(s, hash + (uint64_t)grove_node_type(node));
    }
}

/* Members in the order of the document: documents that differ in it only are kept apart. */
static void put_node(shaper *s, const grove_node *node, const char *key) {
    put(s, text_key(key));
    if (grove_node_type(node) == GROVE_OBJECT || grove_node_type(node) == GROVE_ARRAY) {
        put(s, (uint64_t)grove_node_size(node) << 8 | (uint64_t)grove_node_type(node));
        bool is_list = strcmp(key, "podReferences") == 0;
        if (is_list) {
            put_token(s, TOKEN_LIST, 0);
            s->in_list = true;
        }
        for (const grove_node *n = grove_node_first(node); n; n = grove_node_next(node, n)) {
            const char *name = grove_node_key(n, NULL);
            put_node(s, n, name ? name : "");
        }
        s->in_list = s->in_list && !is_list;
    } else if (grove_node_text(node)) {
        put_text(s, node, key);
    } else {
        put(s, (uint64_t)grove_node_type(node) + (uint64_t)grove_node_is_true(node) * 16);
    }
}

shape shape_of(model *m, const grove_node *root) {
    shaper s = {.m = m, .out = {.hash = 7}};
    if (root) {
        put_node(&s, root, "");
    }
    return s.out;
}

/* ---- contents ---- */

void note_pod_name(model *m, const char *text) {
    if (!table_get(&m->names, text_key(text))) {
        char *kept = zeroed(strlen(text) + 2);
        kept[0] = 'p';
        memcpy(kept + 1, text, strlen(text));
        table_put(&m->names, text_key(text), kept);
    }
}

static void note_uid(model *m, const char *uid) {
    if (!table_get(&m->names, text_key(uid))) {
        char *kept = zeroed(2);
        kept[0] = 'u';
        table_put(&m->names, text_key(uid), kept);
    }
}

static void read_pod(content *c) {
    const grove_node *ready = gv_condition_find(member(c, "/status/conditions"), "Ready");
    const char *status = grove_node_text(grove_node_get(ready, "status"));
    c->clique = text_of(c, "/metadata/labels/grove.io~1podclique");
    c->gang = text_of(c, "/metadata/labels/grove.io~1podgang");
    c->index = atoi(text_of(c, "/metadata/labels/grove.io~1podclique-pod-index"));
    c->unit = pod_unit(c->clique, c->index);
    c->failed = strcmp(text_of(c, "/status/phase"), "Failed") == 0;
    c->bound = text_of(c, "/spec/nodeName")[0] != '\0';
    c->gated = grove_node_size(member(c, "/spec/schedulingGates")) > 0;
    c->ready = status && strcmp(status, "True") == 0;
}

static uint64_t wanted_of(model *m, const content *c) {
    static const char *const meta[] = {"/metadata/labels", "/metadata/annotations",
                                       "/metadata/finalizers", "/metadata/uid",
                                       "/metadata/deletionTimestamp"};
    const grove_node *root = grove_doc_root(c->doc);
    uint64_t wanted = 0;
    for (const grove_node *n = grove_node_first(root); n; n = grove_node_next(root, n)) {
        const char *key = grove_node_key(n, NULL);
        bool other = strcmp(key, "status") == 0 || strcmp(key, "metadata") == 0;
        wanted += other ? 0 : node_hash(m, n);
    }
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++) {
        const grove_node *n = member(c, meta[i]);
        wanted = gv_mix64(wanted + (n ? node_hash(m, n) : i));
    }
    return wanted;
}

const content *content_of(model *m, gv_kind kind, grove_doc *doc) {
    /* One resourceVersion for all: the planner only asks whether there is one. */
    doc = merged(m, doc, parsed(m, "{metadata: {resourceVersion: \"1\"}}"));
    uint64_t hash = node_hash(m, grove_doc_root(doc));
    const content *known = table_get(&m->contents, hash);
    if (known) {
        grove_doc_unref(doc);
        return known;
    }
    content *c = zeroed(sizeof *c);
    c->kind = kind;
    c->doc = doc;
    c->hash = hash;
    c->name = text_of(c, "/metadata/name");
    c->uid = text_of(c, "/metadata/uid");
    c->key = object_key(kind, c->name);
    c->unit = c->key;
    c->uid_key = text_key(c->uid);
    c->owner_key = text_key(text_of(c, "/metadata/ownerReferences/0/uid"));
    c->dying = member(c, "/metadata/deletionTimestamp") != NULL;
    c->held = grove_node_size(member(c, "/metadata/finalizers")) > 0;
    c->wanted = wanted_of(m, c);
    note_uid(m, c->uid);
    if (kind == GV_KIND_POD) {
        note_pod_name(m, c->name);
        read_pod(c);
    }
    c->shape = shape_of(m, grove_doc_root(doc));
    table_put(&m->contents, hash, c);
    return c;
}

/* ---- the model's memory ---- */

model *model_new(const scenario *what, uint32_t lag) {
    model *m = zeroed(sizeof *m);
    m->what = what;
    m->lag = lag;
    must(grove_env_new(NULL, &m->env), "environment");
    must(grove_planner_new(m->env, &m->warm), "planner");
    return m;
}

void model_free(model *m) {
    plans_free(m);
    for (size_t i = 0; i < m->contents.n_slots; i++) {
        content *c = m->contents.slots[i].item;
        if (c) {
            grove_doc_unref(c->doc);
            free(c->shape.tokens);
            free(c);
        }
    }
    for (size_t i = 0; i < m->names.n_slots; i++) {
        free(m->names.slots[i].item);
    }
    table_fini(&m->contents);
    table_fini(&m->changes);
    table_fini(&m->names);
    grove_planner_free(m->warm);
    grove_env_unref(m->env);
    free(m);
}
