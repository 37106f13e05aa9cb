/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod-template hash: which cliques make equal pods.
 *
 * It covers labels, annotations and podSpec of a clique and the set's priorityClassName, in a canonical
 * form: members by key, numbers by value, quantities by value, null as absent, and lists whose order
 * means nothing sorted by their key. The text starts with the scheme it was made by; a change of the
 * form is a new scheme, never a silent change of this one, since it would restart every pod.
 */
#include <grove/quantity.h>

#include "base/hash.h"
#include "base/sort.h"
#include "model/labels.h"
#include "plan/template_def.h"

#define SCHEME GV_HASH_SCHEME

typedef struct hasher {
    gv_arena arena; /* sorted views of objects and lists */
    uint64_t h;
    bool failed; /* out of memory */
} hasher;

static void put(hasher *x, char tag, const char *bytes, size_t n) {
    /* Tag and length before the bytes, so that no two trees feed the same stream. */
    unsigned char head[9] = {(unsigned char)tag};
    for (int i = 0; i < 8; i++) {
        head[1 + i] = (unsigned char)((uint64_t)n >> (8 * i));
    }
    x->h = gv_fnv1a(gv_fnv1a(x->h, head, sizeof head), bytes, n);
}

static void put_node(hasher *x, const grove_node *node, const char *under);

/* Lists of objects whose order has no meaning, with the member that identifies an element. */
static const char *order_key(const char *list) {
    static const char *const keys[][2] = {
        {"volumes", "name"},        {"volumeMounts", "mountPath"}, {"volumeDevices", "devicePath"},
        {"ports", "containerPort"}, {"imagePullSecrets", "name"},  {"resourceClaims", "name"},
        {"claims", "name"},         {"hostAliases", "ip"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(list, keys[i][0]) == 0) {
            return keys[i][1];
        }
    }
    return NULL;
}

/* Objects whose members are quantities, and single quantities. */
static bool holds_quantities(const char *key) {
    return strcmp(key, "limits") == 0 || strcmp(key, "requests") == 0 ||
           strcmp(key, "overhead") == 0;
}
static bool is_quantity(const char *key) {
    return strcmp(key, "sizeLimit") == 0 || strcmp(key, "divisor") == 0;
}

typedef struct sortable {
    gv_str key;
    uint32_t at; /* keeps equal keys in their order */
    const grove_node *node;
} sortable;

static int by_key(const void *a, const void *b, void *ctx) {
    const sortable *l = a, *r = b;
    (void)ctx;
    int c = gv_str_cmp(l->key, r->key);
    return c ? c : (l->at > r->at) - (l->at < r->at);
}

/* The children of a node in canonical order: members by key, elements by their member `key`. */
static const void **children(hasher *x, const grove_node *node, const char *key, uint32_t *out_n) {
    uint32_t size = grove_node_size(node), n = 0;
    sortable *list = gv_arena_array(&x->arena, sortable, size + 1);
    const void **sorted = gv_arena_array(&x->arena, const void *, size + 1);
    if (!list || !sorted) {
        x->failed = true;
        return NULL;
    }
    for (const grove_node *c = grove_node_first(node); c; c = grove_node_next(node, c)) {
        if (grove_node_type(c) == GROVE_NULL_NODE) {
            continue;
        }
        sortable *s = &list[n];
        *s = (sortable){GV_STR(""), n, c};
        s->key.p = key ? grove_node_textn(grove_node_get(c, key), &s->key.n)
                       : grove_node_key(c, &s->key.n);
        sorted[n++] = s;
    }
    gv_sort(sorted, n, by_key, NULL);
    *out_n = n;
    return sorted;
}

static void put_object(hasher *x, const grove_node *node, const char *under) {
    uint32_t n = 0;
    const void **members = children(x, node, NULL, &n);
    if (!members) {
        return;
    }
    put(x, '{', NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        const sortable *m = members[i];
        put(x, 'k', m->key.p, m->key.n);
        /* below limits and the like every member is a quantity, whatever it is called */
        put_node(x, m->node, holds_quantities(under) ? "sizeLimit" : m->key.p);
    }
    put(x, '}', NULL, 0);
}

static void put_array(hasher *x, const grove_node *node, const char *under) {
    const char *key = order_key(under);
    put(x, '[', NULL, 0);
    if (key) {
        uint32_t n = 0;
        const void **elements = children(x, node, key, &n);
        for (uint32_t i = 0; elements && i < n; i++) {
            put_node(x, ((const sortable *)elements[i])->node, "");
        }
    } else {
        for (const grove_node *c = grove_node_first(node); c; c = grove_node_next(node, c)) {
            put_node(x, c, "");
        }
    }
    put(x, ']', NULL, 0);
}

static bool put_quantity(hasher *x, const grove_node *node) {
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    grove_quantity q;
    if (!text || grove_quantity_parse(text, n, &q, NULL) != GROVE_OK) {
        return false;
    }
    char value[64];
    n = gv_fmt(value, sizeof value, "%llx/%llx", (unsigned long long)q.hi,
               (unsigned long long)q.lo);
    put(x, 'q', value, n);
    return true;
}

static void put_scalar(hasher *x, const grove_node *node) {
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    switch (grove_node_type(node)) {
    case GROVE_BOOL:
        put(x, grove_node_is_true(node) ? 't' : 'f', NULL, 0);
        break;
    case GROVE_NUMBER: {
        int64_t value;
        char digits[24];
        if (grove_node_int64(node, &value) == GROVE_OK) {
            n = gv_fmt(digits, sizeof digits, "%lld", (long long)value);
            put(x, 'i', digits, n);
        } else {
            put(x, 'n', text, n);
        }
        break;
    }
    case GROVE_STRING:
        put(x, 's', text, n);
        break;
    default:
        put(x, '0', NULL, 0);
        break;
    }
}

/* `under` is the member's key, "" for elements. Depth is bounded by the document's own limit. */
static void put_node(hasher *x, const grove_node *node, const char *under) {
    switch (grove_node_type(node)) {
    case GROVE_OBJECT:
        put_object(x, node, under);
        break;
    case GROVE_ARRAY:
        put_array(x, node, under);
        break;
    default:
        if (!is_quantity(under) || !put_quantity(x, node)) {
            put_scalar(x, node);
        }
        break;
    }
}

static void put_map(hasher *x, const grove_node *map) {
    if (grove_node_size(map) == 0) {
        put(x, '0', NULL, 0); /* absent and empty are one */
    } else {
        put_object(x, map, "");
    }
}

static void put_clique(hasher *x, const grove_node *labels, const grove_node *annotations,
                       const grove_node *pod_spec, gv_str priority_class) {
    put_map(x, labels);
    put_map(x, annotations);
    uint32_t n = 0;
    const void **members = children(x, pod_spec, NULL, &n);
    for (uint32_t i = 0; members && i < n; i++) {
        const sortable *m = members[i];
        /* the set's class stands in for the pod's own */
        if (!gv_str_is(m->key, "priorityClassName")) {
            put(x, 'k', m->key.p, m->key.n);
            put_node(x, m->node, m->key.p);
        }
    }
    put(x, 'p', priority_class.p, priority_class.n);
}

/* 27 letters that are neither vowels nor look alike, 14 of them for 64 bits. */
static void spell(uint64_t h, char out[32]) {
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    memcpy(out, SCHEME, sizeof SCHEME - 1);
    char *p = out + sizeof SCHEME - 1;
    h = gv_mix64(h);
    for (int i = 0; i < 14; i++) {
        *p++ = letters[h % 27];
        h /= 27;
    }
    *p = '\0';
}

grove_status gv_hash_clique(grove_env *env, const grove_node *labels, const grove_node *annotations,
                            const grove_node *pod_spec, gv_str priority_class, char out[32],
                            grove_error *err) {
    hasher x = {.h = GV_FNV_START};
    gv_arena_init(&x.arena, env);
    put_clique(&x, labels, annotations, pod_spec, priority_class);
    gv_arena_fini(&x.arena);
    if (x.failed) {
        return gv_error_nomem(err);
    }
    spell(x.h, out);
    return GROVE_OK;
}

grove_status gv_hash_generation(const gv_template *t, char out[32], grove_error *err) {
    hasher x = {.h = GV_FNV_START};
    gv_arena_init(&x.arena, t->env);
    for (uint32_t c = 0; c < t->pcs.n_cliques; c++) {
        const gv_clique *clique = &t->pcs.cliques[c];
        put_clique(&x, clique->labels, clique->annotations, clique->pod_spec,
                   t->pcs.priority_class);
    }
    gv_arena_fini(&x.arena);
    if (x.failed) {
        return gv_error_nomem(err);
    }
    spell(x.h, out);
    return GROVE_OK;
}
