/* SPDX-License-Identifier: Apache-2.0 */
/* The merge itself, and which lists have keys. */
#include "sim/strategic.h"

#include "base/mem.h"
#include "value/doc.h"

/* ---- which lists merge ---- */

typedef struct list_key {
    const char *list, *key;
} list_key;

static const list_key list_keys[] = {
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"volumes", "name"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"imagePullSecrets", "name"},
    {"secrets", "name"},
    {"hostAliases", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"schedulingGates", "name"},
    {"resourceClaims", "name"},
    {"conditions", "type"},
    {"addresses", "type"},
    {"ownerReferences", "uid"},
    {"podIPs", "ip"},
    {"hostIPs", "ip"},
};

const char *gv_strategic_merge_key(gv_kind kind, const char *list) {
    if (strcmp(list, "ports") == 0) {
        return kind == GV_KIND_SERVICE ? "port" : "containerPort";
    }
    for (size_t i = 0; i < sizeof list_keys / sizeof *list_keys; i++) {
        if (strcmp(list_keys[i].list, list) == 0) {
            return list_keys[i].key;
        }
    }
    return NULL;
}

/* Lists of plain values that merge as sets. */
static bool is_set(const char *list) {
    return strcmp(list, "finalizers") == 0;
}

/* ---- directives ---- */

#define DIRECTIVE_PATCH "$patch"
#define DIRECTIVE_RETAIN "$retainKeys"
#define DIRECTIVE_DROP "$deleteFromPrimitiveList/"
#define DIRECTIVE_ORDER "$setElementOrder/"

static bool is_directive(const char *key) {
    return key[0] == '$';
}

static bool says(const grove_node *patch, const char *word) {
    return gv_str_is(gv_node_get_str(patch, DIRECTIVE_PATCH), word);
}

typedef struct merge {
    grove_builder *b;
    grove_doc *target_doc;
    gv_kind kind;
} merge;

static void merge_object(merge *m, const char *key, const grove_node *target,
                         const grove_node *patch);

static void keep(merge *m, const char *key, const grove_node *node) {
    grove_builder_link(m->b, key, m->target_doc, node);
}

/* A patch value that meets nothing: itself, without directives. */
static void add_clean(merge *m, const char *key, const grove_node *patch) {
    if (grove_node_type(patch) == GROVE_OBJECT) {
        merge_object(m, key, NULL, patch);
    } else if (grove_node_type(patch) == GROVE_ARRAY) {
        grove_builder_open_array(m->b, key);
        GV_EACH(e, patch) {
            if (!says(e, "delete") && !(says(e, "replace") && grove_node_size(e) == 1)) {
                add_clean(m, NULL, e);
            }
        }
        grove_builder_close(m->b);
    } else {
        grove_builder_copy(m->b, key, patch);
    }
}

/* ---- lists ---- */

static const grove_node *find_by(const grove_node *list, const char *key, const grove_node *value) {
    GV_EACH(e, list) {
        const grove_node *have = grove_node_get(e, key);
        if (have && value && grove_node_equal(have, value)) {
            return e;
        }
    }
    return NULL;
}

static bool replaces_all(const grove_node *patch) {
    GV_EACH(e, patch) {
        if (says(e, "replace") && grove_node_size(e) == 1) {
            return true;
        }
    }
    return false;
}

/* One element of the result: what the patch makes of it, unless it deletes it. */
static void put_element(merge *m, const grove_node *t, const grove_node *p) {
    if (!p) {
        keep(m, NULL, t);
    } else if (!says(p, "delete")) {
        if (t) {
            merge_object(m, NULL, t, p);
        } else {
            add_clean(m, NULL, p);
        }
    }
}

/* The next element that the order names and that exists on either side; moves *at. */
static void put_ordered(merge *m, const grove_node *order, const grove_node **at,
                        const grove_node *target, const grove_node *patch, const char *by) {
    while (*at) {
        const grove_node *key = grove_node_get(*at, by);
        const grove_node *t = find_by(target, by, key), *p = find_by(patch, by, key);
        *at = grove_node_next(order, *at);
        if (t || p) {
            put_element(m, t, p);
            return;
        }
    }
}

/*
 * Elements that the order names stand in its order, in the places where such elements stood; the others keep
 * theirs. Without an order: the target's elements, then what the patch adds.
 */
static void merge_keyed(merge *m, const char *key, const grove_node *target,
                        const grove_node *patch, const char *by, const grove_node *order) {
    const grove_node *at = grove_node_first(order);
    grove_builder_open_array(m->b, key);
    GV_EACH(t, target) {
        const grove_node *own = grove_node_get(t, by);
        if (find_by(order, by, own)) {
            put_ordered(m, order, &at, target, patch, by);
        } else {
            put_element(m, t, find_by(patch, by, own));
        }
    }
    while (at) {
        put_ordered(m, order, &at, target, patch, by);
    }
    GV_EACH(p, patch) {
        const grove_node *own = grove_node_get(p, by);
        if (!find_by(target, by, own) && !find_by(order, by, own)) {
            put_element(m, NULL, p);
        }
    }
    grove_builder_close(m->b);
}

static bool holds(const grove_node *list, const grove_node *value) {
    GV_EACH(e, list) {
        if (grove_node_equal(e, value)) {
            return true;
        }
    }
    return false;
}

/* target without `dropped`, plus what of `patch` is new. */
static void merge_set(merge *m, const char *key, const grove_node *target, const grove_node *patch,
                      const grove_node *dropped) {
    grove_builder_open_array(m->b, key);
    GV_EACH(t, target) {
        if (!holds(dropped, t)) {
            keep(m, NULL, t);
        }
    }
    GV_EACH(p, patch) {
        if (!holds(target, p)) {
            grove_builder_copy(m->b, NULL, p);
        }
    }
    grove_builder_close(m->b);
}

/* ---- values ---- */

/* The member "<directive><key>" of a patch. */
static const grove_node *directed(const grove_node *patch, const char *directive, const char *key) {
    size_t n = strlen(directive);
    GV_EACH(p, patch) {
        const char *k = grove_node_key(p, NULL);
        if (strncmp(k, directive, n) == 0 && strcmp(k + n, key) == 0) {
            return p;
        }
    }
    return NULL;
}

/* `whole` is the patch of the object that the member stands in: it holds the member's directives. */
static void merge_value(merge *m, const char *key, const grove_node *target,
                        const grove_node *patch, const grove_node *whole) {
    grove_type t = grove_node_type(target), p = grove_node_type(patch);
    const char *by = gv_strategic_merge_key(m->kind, key);
    if (t == GROVE_OBJECT && p == GROVE_OBJECT) {
        merge_object(m, key, target, patch);
    } else if (t == GROVE_ARRAY && is_set(key) && (!patch || p == GROVE_ARRAY)) {
        merge_set(m, key, target, patch, directed(whole, DIRECTIVE_DROP, key));
    } else if (t == GROVE_ARRAY && by && (!patch || (p == GROVE_ARRAY && !replaces_all(patch)))) {
        merge_keyed(m, key, target, patch, by, directed(whole, DIRECTIVE_ORDER, key));
    } else if (!patch) {
        keep(m, key, target);
    } else {
        add_clean(m, key, patch);
    }
}

static bool retained(const grove_node *patch, const grove_node *member) {
    const grove_node *list = grove_node_get(patch, DIRECTIVE_RETAIN);
    if (!list) {
        return true;
    }
    GV_EACH(e, list) {
        if (gv_str_eq(gv_node_str(e), gv_node_key(member))) {
            return true;
        }
    }
    return false;
}

static void merge_object(merge *m, const char *key, const grove_node *target,
                         const grove_node *patch) {
    const grove_node *base = says(patch, "replace") ? NULL : target;
    grove_builder_open_object(m->b, key);
    GV_EACH(t, base) {
        const char *k = grove_node_key(t, NULL);
        const grove_node *p = grove_node_get(patch, k);
        if (grove_node_type(p) == GROVE_NULL_NODE || !retained(patch, t)) {
            continue;
        }
        merge_value(m, k, t, p, patch);
    }
    GV_EACH(p, patch) {
        const char *k = grove_node_key(p, NULL);
        if (!is_directive(k) && !grove_node_get(base, k) && grove_node_type(p) != GROVE_NULL_NODE) {
            add_clean(m, k, p);
        }
    }
    grove_builder_close(m->b);
}

grove_status gv_strategic_patch_apply(grove_env *env, grove_doc *target_doc,
                                      const grove_node *target, grove_doc *patch_doc,
                                      const grove_node *patch, gv_kind kind, grove_doc **out_doc,
                                      grove_error *err) {
    (void)patch_doc; /* patch values are copied */
    if (grove_node_type(patch) != GROVE_OBJECT || grove_node_type(target) != GROVE_OBJECT) {
        return gv_error(err, GROVE_E_TYPE, "a strategic merge patch is an object");
    }
    merge m = {NULL, target_doc, kind};
    grove_status st = grove_builder_new(env, &m.b);
    if (st < 0) {
        return st;
    }
    merge_object(&m, NULL, target, patch);
    st = grove_builder_finish(m.b, out_doc, err);
    grove_builder_free(m.b);
    return st;
}
