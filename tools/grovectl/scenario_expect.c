/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: what must be true of the cluster's objects at a step. */
#include "io.h"
#include <grove/kinds.h>
#include "scenario.h"
#include "scenario_pairs.h"
#include "verbs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int scenario_select(scenario *s, cluster *c, const grove_node *what, grove_kind *out_kind,
                    grove_doc **out_list) {
    const char *word = scenario_text(what, "kind", "");
    const char *name = grove_node_text(grove_node_get(what, "name"));
    const char *selector = grove_node_text(grove_node_get(what, "selector"));
    const char *ns = scenario_text(what, "namespace", "default");
    grove_error err = GROVE_ERROR_INIT;
    *out_kind = grove_kind_find(word, strlen(word));
    if (*out_kind == GROVE_KIND_NONE) {
        return scenario_complain(s, what, "unknown kind \"%s\"", word);
    }
    char field[320];
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_LIST,
                   .token = 1,
                   .kind = *out_kind,
                   .ns = strcmp(ns, "*") == 0 || !grove_kind_is_namespaced(*out_kind) ? NULL : ns,
                   .label_selector = selector};
    if (name) {
        snprintf(field, sizeof field, "metadata.name=%s", name);
        op.field_selector = field;
    }
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    grove_status st = grove_sim_execute(c->sim, &op, &result);
    if (st < 0 || result.status < 0) {
        grove_doc_unref(result.doc);
        (void)err;
        return scenario_complain(s, what, "%s", result.message[0] ? result.message : "list failed");
    }
    *out_list = result.doc;
    return EXIT_OK;
}

/* status.conditions[Ready].status: dots step into members, [x] into the entry whose type or name is x, the
 * entry number x, or the member of an object whose name has dots. */
static const grove_node *follow(const grove_node *node, const char *path) {
    while (node && *path) {
        size_t n = strcspn(path, ".[");
        if (n) {
            node = grove_node_getn(node, path, n);
            path += n;
        }
        if (*path == '[') {
            const char *end = strchr(path, ']');
            if (!end) {
                return NULL;
            }
            const grove_node *found = NULL;
            char key[320];
            snprintf(key, sizeof key, "%.*s", (int)(end - path - 1), path + 1);
            for (const grove_node *e = grove_node_first(node); e && !found;
                 e = grove_node_next(node, e)) {
                if (strcmp(scenario_text(e, "type", ""), key) == 0 ||
                    strcmp(scenario_text(e, "name", ""), key) == 0) {
                    found = e;
                }
            }
            char *rest = NULL;
            long index = strtol(key, &rest, 10);
            node = grove_node_type(node) == GROVE_OBJECT ? grove_node_get(node, key)
                   : found                               ? found
                   : *rest == '\0'                       ? grove_node_at(node, (uint32_t)index)
                                                         : NULL;
            path = end + 1;
        }
        path += *path == '.';
    }
    return node;
}

static void print_value(const grove_node *node, grove_buf *out) {
    grove_buf_clear(out);
    if (!node || grove_node_write_json(node, 0, out, NULL) < 0) {
        grove_buf_append(out, "nothing", 7);
    }
}

void scenario_fail(scenario *s, const grove_node *what, const char *subject, const char *is,
                   const char *wanted) {
    uint32_t line = 0, column = 0;
    grove_node_position(s->doc, what, &line, &column);
    s->failures++;
    fprintf(stderr, "%s:%u:%u: expectation failed", s->file, line, column);
    if (s->at_ns > 0) {
        fprintf(stderr, " at %lld.%03llds", (long long)(s->at_ns / 1000000000),
                (long long)(s->at_ns / 1000000 % 1000));
    }
    fprintf(stderr, ": %s %s, not %s\n", subject, is, wanted);
}

/* ---- which objects ---- */

/* The objects of a list that an expectation is about. */
typedef struct picked {
    const grove_node **v;
    size_t n;
} picked;

/* What {path, equals | exists} says of an object. */
static bool holds(const grove_node *what, const grove_node *object, const grove_node **out_got) {
    const grove_node *want = grove_node_get(what, "equals");
    *out_got = follow(object, scenario_text(what, "path", ""));
    const grove_node *exists = grove_node_get(what, "exists");
    return want ? *out_got && grove_node_equal(want, *out_got)
                : (*out_got != NULL) == (!exists || grove_node_is_true(exists));
}

/* `where` is one condition or a list of them. */
static bool meets(const grove_node *where, const grove_node *object) {
    const grove_node *got = NULL;
    if (grove_node_type(where) != GROVE_ARRAY) {
        return !where || holds(where, object, &got);
    }
    for (const grove_node *w = grove_node_first(where); w; w = grove_node_next(where, w)) {
        if (!holds(w, object, &got)) {
            return false;
        }
    }
    return true;
}

/* False when memory ran out. */
static bool pick(const grove_node *what, const grove_node *items, picked *out) {
    const grove_node *where = grove_node_get(what, "where");
    out->n = 0;
    out->v = malloc((grove_node_size(items) + 1) * sizeof *out->v);
    if (!out->v) {
        return false;
    }
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        if (meets(where, o)) {
            out->v[out->n++] = o;
        }
    }
    return true;
}

/* ---- what is said of them ---- */

/* `n` against the member `key`, which sets it exactly (0), at least (1) or at most (-1). */
static int check_number(scenario *s, const grove_node *what, const char *key, int bound,
                        const char *subject, size_t n) {
    static const char *const words[] = {"at most ", "", "at least "};
    const grove_node *node = grove_node_get(what, key);
    int64_t want = 0, is = (int64_t)n;
    if (!node) {
        return EXIT_OK;
    }
    if (grove_node_int64(node, &want) < 0) {
        return scenario_complain(s, node, "%s must be a whole number", key);
    }
    s->expectations++;
    if (bound == 0 ? is != want : bound > 0 ? is < want : is > want) {
        char a[32], b[64];
        snprintf(a, sizeof a, "%lld", (long long)is);
        snprintf(b, sizeof b, "%s%lld", words[bound + 1], (long long)want);
        scenario_fail(s, what, subject, a, b);
    }
    return EXIT_OK;
}

static void check_value(scenario *s, const grove_node *what, const grove_node *object) {
    const grove_node *got = NULL;
    const char *name = grove_node_text(grove_node_at_path(object, "/metadata/name"));
    s->expectations++;
    if (!holds(what, object, &got)) {
        char where[512];
        grove_buf a, b;
        grove_buf_init(&a, s->env);
        grove_buf_init(&b, s->env);
        snprintf(where, sizeof where, "%s of %s is", scenario_text(what, "path", ""),
                 name ? name : "?");
        print_value(got, &a);
        print_value(grove_node_get(what, "equals"), &b);
        scenario_fail(s, what, where, a.data,
                      grove_node_get(what, "equals") ? b.data : "as expected");
        grove_buf_fini(&a);
        grove_buf_fini(&b);
    }
}

/* No two of the objects have the same value at the path. */
static void check_distinct(scenario *s, const grove_node *what, const picked *p) {
    const char *path = grove_node_text(grove_node_get(what, "distinct"));
    if (!path) {
        return;
    }
    s->expectations++;
    for (size_t i = 0; i < p->n; i++) {
        const grove_node *a = follow(p->v[i], path);
        for (size_t j = 0; j < i; j++) {
            if (a && grove_node_equal(a, follow(p->v[j], path))) {
                scenario_fail(s, what, path, "is shared", "distinct");
                return;
            }
        }
    }
}

/* All objects (pods) are on nodes that have one value of the label in common. */
static int check_together(scenario *s, cluster *c, const grove_node *what, const picked *p) {
    const char *key = grove_node_text(grove_node_get(what, "together"));
    char common[320] = "", value[320];
    if (!key) {
        return EXIT_OK;
    }
    s->expectations++;
    for (size_t i = 0; i < p->n; i++) {
        const char *node = grove_node_text(grove_node_at_path(p->v[i], "/spec/nodeName"));
        grove_doc *doc = NULL;
        if (!node || grove_sim_get(c->sim, GROVE_KIND_NODE, NULL, node, &doc, NULL) < 0) {
            scenario_fail(s, what, key, "unknown for a pod without a node", "shared");
            return EXIT_OK;
        }
        const grove_node *labels = grove_node_at_path(grove_doc_root(doc), "/metadata/labels");
        snprintf(value, sizeof value, "%s", scenario_text(labels, key, ""));
        grove_doc_unref(doc);
        if (i > 0 && strcmp(value, common) != 0) {
            scenario_fail(s, what, key, value, common);
            return EXIT_OK;
        }
        memcpy(common, value, sizeof common);
    }
    return EXIT_OK;
}

/* Of each version as many as its rarest role has: those that serve together. */
static int check_pairs(scenario *s, const grove_node *what, const picked *p) {
    const grove_node *pairs = grove_node_get(what, "pairs");
    if (!pairs) {
        return EXIT_OK;
    }
    const grove_node **values = malloc((2 * p->n + 1) * sizeof *values);
    if (!values) {
        return scenario_complain(s, pairs, "out of memory");
    }
    for (size_t i = 0; i < p->n; i++) {
        values[i] = follow(p->v[i], scenario_text(pairs, "roles", ""));
        values[p->n + i] = follow(p->v[i], scenario_text(pairs, "versions", ""));
    }
    scenario_pairs is = scenario_count_pairs(values, values + p->n, p->n);
    free(values);
    int code = check_number(s, pairs, "atLeast", 1, "the number of whole pairs is",
                            (size_t)is.whole);
    return code == EXIT_OK ? check_number(s, pairs, "apart", -1,
                                          "the roles of one version are apart by", (size_t)is.apart)
                           : code;
}

static bool has_uid(const grove_node *items, const char *uid) {
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        const char *other = grove_node_text(grove_node_at_path(o, "/metadata/uid"));
        if (other && strcmp(other, uid) == 0) {
            return true;
        }
    }
    return false;
}

/* How many of the objects are the very ones that a snapshot shows. */
static int check_kept(scenario *s, const grove_node *what, const picked *p) {
    const char *since = grove_node_text(grove_node_get(what, "since"));
    const scenario_snapshot *shot = NULL;
    size_t kept = 0;
    if (!since) {
        return EXIT_OK;
    }
    for (size_t i = 0; i < s->snapshot_count; i++) {
        shot = strcmp(s->snapshots[i].name, since) == 0 ? &s->snapshots[i] : shot;
    }
    if (!shot) {
        return scenario_complain(s, what, "no snapshot \"%s\" was taken before", since);
    }
    const grove_node *items = grove_node_get(grove_doc_root(shot->dump), "items");
    for (size_t i = 0; i < p->n; i++) {
        const char *uid = grove_node_text(grove_node_at_path(p->v[i], "/metadata/uid"));
        kept += uid && has_uid(items, uid);
    }
    return check_number(s, what, "kept", 0, "the number of objects that were kept is", kept);
}

static int check(scenario *s, cluster *c, const grove_node *what, const picked *p) {
    static const struct {
        const char *key;
        int bound;
    } numbers[] = {{"count", 0}, {"atLeast", 1}, {"atMost", -1}};
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < 3; i++) {
        code = check_number(s, what, numbers[i].key, numbers[i].bound, "the number of objects is",
                            p->n);
    }
    if (grove_node_get(what, "path") && p->n == 0) {
        s->expectations++;
        scenario_fail(s, what, "the number of objects is", "0", "at least 1");
    }
    for (size_t i = 0; grove_node_get(what, "path") && i < p->n; i++) {
        check_value(s, what, p->v[i]);
    }
    check_distinct(s, what, p);
    code = code == EXIT_OK ? check_together(s, c, what, p) : code;
    code = code == EXIT_OK ? check_pairs(s, what, p) : code;
    return code == EXIT_OK ? check_kept(s, what, p) : code;
}

/* All members known, and something is said at all. */
static int check_form(const scenario *s, const grove_node *what) {
    static const char *const says[] = {"count",    "atLeast",  "atMost", "path",
                                       "distinct", "together", "kept",   "pairs"};
    const grove_node *where = grove_node_get(what, "where");
    bool list = grove_node_type(where) == GROVE_ARRAY, any = false;
    int code = scenario_known_members(s, what,
                                      "kind name namespace selector where count atLeast atMost "
                                      "path equals exists distinct together since kept pairs");
    if (code == EXIT_OK && grove_node_get(what, "pairs")) {
        code = scenario_known_members(s, grove_node_get(what, "pairs"),
                                      "roles versions atLeast apart");
    }
    for (const grove_node *w = list ? grove_node_first(where) : where; w && code == EXIT_OK;
         w = list ? grove_node_next(where, w) : NULL) {
        code = scenario_known_members(s, w, "path equals exists");
    }
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        any = any || grove_node_get(what, says[i]);
    }
    if (code == EXIT_OK && !any) {
        code = scenario_complain(s, what, "nothing is expected of the objects");
    }
    return code;
}

int scenario_expect(scenario *s, cluster *c, const grove_node *what) {
    grove_kind kind = GROVE_KIND_NONE;
    grove_doc *list = NULL;
    picked p = {NULL, 0};
    int code = check_form(s, what);
    code = code == EXIT_OK ? scenario_select(s, c, what, &kind, &list) : code;
    if (code != EXIT_OK) {
        return code;
    }
    if (pick(what, grove_node_get(grove_doc_root(list), "items"), &p)) {
        code = check(s, c, what, &p);
    } else {
        code = scenario_complain(s, what, "out of memory");
    }
    free(p.v);
    grove_doc_unref(list);
    return code;
}
