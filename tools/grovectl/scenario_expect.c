/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: what must be true of the cluster's objects at a step. */
#include "io.h"
#include <grove/kinds.h>
#include "scenario.h"
#include "verbs.h"

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

/* status.conditions[Ready].status: dots step into members, [x] into the entry whose type or name is x. */
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
            char key[128];
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
            node = found ? found : *rest == '\0' ? grove_node_at(node, (uint32_t)index) : NULL;
            path = end + 1;
        }
        path += *path == '.';
    }
    return node;
}

static void print_value(const scenario *s, const grove_node *node, grove_buf *out) {
    (void)s;
    grove_buf_clear(out);
    if (!node || grove_node_write_json(node, 0, out, NULL) < 0) {
        grove_buf_append(out, "nothing", 7);
    }
}

static void fail(scenario *s, const grove_node *what, const char *fmt, const char *a,
                 const char *b) {
    uint32_t line = 0, column = 0;
    grove_node_position(s->doc, what, &line, &column);
    s->failures++;
    fprintf(stderr, "%s:%u:%u: expectation failed: ", s->file, line, column);
    fprintf(stderr, "%s %s, not %s\n", fmt, a, b);
}

static void check_value(scenario *s, const grove_node *what, const grove_node *object) {
    const char *path = scenario_text(what, "path", "");
    const grove_node *want = grove_node_get(what, "equals"), *got = follow(object, path);
    const char *name = grove_node_text(grove_node_at_path(object, "/metadata/name"));
    grove_buf a, b;
    grove_buf_init(&a, s->env);
    grove_buf_init(&b, s->env);
    s->expectations++;
    int same = want ? grove_node_equal(want, got)
                    : (got != NULL) == grove_node_is_true(grove_node_get(what, "exists"));
    if (!same) {
        char where[512];
        snprintf(where, sizeof where, "%s of %s is", path, name ? name : "?");
        print_value(s, got, &a);
        print_value(s, want, &b);
        fail(s, what, where, a.data, b.data);
    }
    grove_buf_fini(&a);
    grove_buf_fini(&b);
}

int scenario_expect(scenario *s, cluster *c, const grove_node *what) {
    grove_kind kind = GROVE_KIND_NONE;
    grove_doc *list = NULL;
    int code = scenario_select(s, c, what, &kind, &list);
    if (code != EXIT_OK) {
        return code;
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    const grove_node *count = grove_node_get(what, "count");
    if (count) {
        int64_t want = 0;
        char a[32], b[32];
        s->expectations++;
        if (grove_node_int64(count, &want) < 0) {
            code = scenario_complain(s, count, "count must be a whole number");
        } else if (want != grove_node_size(items)) {
            snprintf(a, sizeof a, "%u", (unsigned)grove_node_size(items));
            snprintf(b, sizeof b, "%lld", (long long)want);
            fail(s, what, "the number of objects is", a, b);
        }
    }
    if (grove_node_get(what, "path")) {
        if (grove_node_size(items) == 0) {
            s->expectations++;
            fail(s, what, "the number of objects is", "0", "at least 1");
        }
        for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
            check_value(s, what, o);
        }
    }
    grove_doc_unref(list);
    return code;
}
