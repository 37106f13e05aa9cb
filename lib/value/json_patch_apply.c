/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON patch (RFC 6902), applying. Each operation makes a new document that links all it leaves alone, so
 * the target is never touched and a failure leaves nothing behind.
 */
#include "base/mem.h"
#include "value/patch.h"
#include "value/pointer.h"

typedef enum kind { ADD, REMOVE, REPLACE, MOVE, COPY, TEST, UNKNOWN } kind;

static const char *const kind_names[] = {"add", "remove", "replace", "move", "copy", "test"};

typedef struct operation {
    uint32_t index;
    kind kind;
    gv_str path, from;
    gv_source value;
    const grove_node *node; /* the operation itself */
} operation;

typedef struct applier {
    grove_builder *b;
    grove_doc *doc; /* what has been reached so far; referenced */
    const grove_node *root;
    grove_error *err;
} applier;

static grove_status refuse(const applier *a, const operation *op, grove_status status, gv_str path,
                           const char *why) {
    char shown[256];
    gv_fmt(shown, sizeof shown, "%.*s", (int)(path.n < 255 ? path.n : 255), path.p);
    return gv_error_at(a->err, status, gv_node_line(op->node), gv_node_column(op->node), shown,
                       "operation %u (%s): %s", op->index,
                       op->kind < UNKNOWN ? kind_names[op->kind] : "unknown", why);
}

/* ---- reading an operation ---- */

static kind read_kind(gv_str name) {
    unsigned k = ADD;
    while (k < UNKNOWN && !gv_str_is(name, kind_names[k])) {
        k++;
    }
    return (kind)k;
}

static grove_status read_pointer(const applier *a, const operation *op, const char *name,
                                 gv_str *out) {
    const grove_node *text = grove_node_get(op->node, name);
    *out = gv_node_str(text);
    if (!gv_node_is(text, GROVE_STRING) || !gv_pointer_is_valid(*out)) {
        return refuse(a, op, GROVE_E_INVALID, *out, "\"path\" or \"from\" is no JSON pointer");
    }
    return GROVE_OK;
}

static grove_status read_operation(const applier *a, grove_doc *patch_doc, operation *op) {
    op->kind = read_kind(gv_node_get_str(op->node, "op"));
    op->value = (gv_source){patch_doc, grove_node_get(op->node, "value")};
    if (op->kind == UNKNOWN) {
        return refuse(a, op, GROVE_E_INVALID, GV_STR(""), "\"op\" names no operation of RFC 6902");
    }
    grove_status st = read_pointer(a, op, "path", &op->path);
    if (st == GROVE_OK && (op->kind == MOVE || op->kind == COPY)) {
        st = read_pointer(a, op, "from", &op->from);
    }
    const bool wants_value = op->kind == ADD || op->kind == REPLACE || op->kind == TEST;
    if (st == GROVE_OK && wants_value && !op->value.node) {
        st = refuse(a, op, GROVE_E_INVALID, op->path, "\"value\" is missing");
    }
    return st;
}

/* ---- one edit ---- */

/* The edit at the end of a pointer: a new value (inserted or put in place), or none: removal. */
typedef struct edit {
    gv_source value; /* node NULL: remove */
    bool insert;     /* add: into an array between its elements, into an object new or not */
} edit;

typedef struct editor {
    grove_builder *b;
    grove_doc *doc;
    edit edit;
} editor;

static grove_status edit_node(const editor *e, gv_str key, const grove_node *node, gv_str rest);

static void put_value(const editor *e, gv_str key) {
    if (e->edit.value.node) {
        gv_build_link(e->b, key, e->edit.value.doc, e->edit.value.node);
    }
}

static grove_status edit_object(const editor *e, const grove_node *node, gv_str token,
                                gv_str rest) {
    const grove_node *target = gv_pointer_step(node, token);
    if (!target && !(e->edit.insert && rest.n == 0)) {
        return GROVE_E_NOT_FOUND;
    }
    grove_status st = GROVE_OK;
    GV_EACH(child, node) {
        const gv_str key = gv_node_key(child);
        if (child != target) {
            gv_build_link(e->b, key, e->doc, child);
        } else if (rest.n == 0) {
            put_value(e, key);
        } else {
            st = edit_node(e, key, child, rest);
        }
    }
    if (!target) {
        grove_buf key;
        grove_buf_init(&key, grove_doc_env(e->doc));
        st = gv_pointer_unescape(token, &key);
        if (st == GROVE_OK) {
            put_value(e, gv_buf_view(&key));
        }
        grove_buf_fini(&key);
    }
    return st;
}

static grove_status edit_array(const editor *e, const grove_node *node, gv_str token, gv_str rest) {
    const uint32_t size = grove_node_size(node);
    const bool insert = e->edit.insert && rest.n == 0;
    uint32_t at = size;
    if (!(insert && gv_str_is(token, "-")) && !gv_pointer_token_index(token, &at)) {
        return GROVE_E_NOT_FOUND;
    }
    if (at > size || (at == size && !insert)) {
        return GROVE_E_NOT_FOUND;
    }
    grove_status st = GROVE_OK;
    uint32_t i = 0;
    GV_EACH(child, node) {
        if (i == at && rest.n == 0) {
            put_value(e, GV_NO_KEY);
        }
        if (i != at || insert) {
            gv_build_link(e->b, GV_NO_KEY, e->doc, child);
        } else if (rest.n > 0) {
            st = edit_node(e, GV_NO_KEY, child, rest);
        }
        i++;
    }
    if (at == size) {
        put_value(e, GV_NO_KEY);
    }
    return st;
}

/* Appends `node` with the edit made at `rest` below it. */
static grove_status edit_node(const editor *e, gv_str key, const grove_node *node, gv_str rest) {
    gv_str token;
    const grove_type type = grove_node_type(node);
    if (!gv_pointer_next(&rest, &token)) { /* the root itself */
        put_value(e, key);
        return GROVE_OK;
    }
    if (type != GROVE_OBJECT && type != GROVE_ARRAY) {
        return GROVE_E_NOT_FOUND;
    }
    gv_build_open(e->b, key, type);
    const grove_status st = type == GROVE_OBJECT ? edit_object(e, node, token, rest)
                                                 : edit_array(e, node, token, rest);
    grove_builder_close(e->b);
    return st;
}

/* Makes the edit and goes on from its result. */
static grove_status make_edit(applier *a, const operation *op, gv_str path, edit change) {
    const editor e = {a->b, a->doc, change};
    grove_doc *next = NULL;
    grove_status st = edit_node(&e, GV_NO_KEY, a->root, path);
    if (st == GROVE_E_NOT_FOUND) {
        (void)grove_builder_finish(a->b, &next, NULL); /* empties the builder */
        grove_doc_unref(next);
        return refuse(a, op, st, path, "there is no such place");
    }
    const grove_status finished = grove_builder_finish(a->b, &next, a->err);
    st = st < 0 ? gv_error_nomem(a->err) : finished;
    if (st < 0) {
        grove_doc_unref(next);
        return st;
    }
    grove_doc_unref(a->doc);
    a->doc = next;
    a->root = grove_doc_root(next);
    return GROVE_OK;
}

/* ---- the operations ---- */

static grove_status find(const applier *a, const operation *op, gv_str path,
                         const grove_node **out) {
    *out = gv_pointer_find(a->root, path);
    return *out ? GROVE_OK : refuse(a, op, GROVE_E_NOT_FOUND, path, "there is no such value");
}

static grove_status run_remove(applier *a, const operation *op, gv_str path) {
    if (path.n == 0) {
        return refuse(a, op, GROVE_E_INVALID, path, "the whole document cannot be removed");
    }
    const edit removal = {{NULL, NULL}, false};
    return make_edit(a, op, path, removal);
}

static grove_status run_move(applier *a, const operation *op, const grove_node *from) {
    const bool prefix = gv_str_starts(op->path, op->from);
    if (prefix && op->path.n == op->from.n) {
        return GROVE_OK;
    }
    if (prefix && op->path.p[op->from.n] == '/') {
        return refuse(a, op, GROVE_E_INVALID, op->path, "a value cannot move into itself");
    }
    grove_doc *held = grove_doc_ref(a->doc); /* the value lives there */
    grove_status st = run_remove(a, op, op->from);
    if (st == GROVE_OK) {
        st = make_edit(a, op, op->path, (edit){{held, from}, true});
    }
    grove_doc_unref(held);
    return st;
}

static grove_status run(applier *a, const operation *op) {
    const grove_node *found = NULL;
    grove_status st = GROVE_OK;
    switch (op->kind) {
    case ADD:
        return make_edit(a, op, op->path, (edit){op->value, true});
    case REMOVE:
        return run_remove(a, op, op->path);
    case REPLACE:
        return make_edit(a, op, op->path, (edit){op->value, false});
    case MOVE:
        st = find(a, op, op->from, &found);
        return st < 0 ? st : run_move(a, op, found);
    case COPY:
        st = find(a, op, op->from, &found);
        return st < 0 ? st : make_edit(a, op, op->path, (edit){{a->doc, found}, true});
    default:
        st = find(a, op, op->path, &found);
        if (st == GROVE_OK && !grove_node_equal(found, op->value.node)) {
            st = refuse(a, op, GROVE_E_CONFLICT, op->path, "the value is another one");
        }
        return st;
    }
}

static grove_status run_all(applier *a, gv_source patch) {
    uint32_t index = 0;
    GV_EACH(node, patch.node) {
        operation op = {.index = index, .node = node};
        grove_status st = read_operation(a, patch.doc, &op);
        st = st == GROVE_OK ? run(a, &op) : st;
        if (st < 0) {
            return st;
        }
        index++;
    }
    return GROVE_OK;
}

grove_status grove_json_patch_apply(grove_doc *target_doc, const grove_node *target,
                                    grove_doc *patch_doc, const grove_node *patch,
                                    grove_doc **out_doc, grove_error *err) {
    const gv_source p = {patch_doc, patch};
    grove_status st = gv_patch_arguments((gv_source){target_doc, target}, p, out_doc, err);
    if (st < 0) {
        return st;
    }
    if (!gv_node_is(patch, GROVE_ARRAY)) {
        return gv_error(err, GROVE_E_INVALID, "a JSON patch is an array of operations");
    }
    applier a = {.root = target, .err = err};
    if (grove_builder_new(grove_doc_env(target_doc), &a.b) < 0) {
        return gv_error_nomem(err);
    }
    a.doc = grove_doc_ref(target_doc);
    st = run_all(&a, p);
    if (st == GROVE_OK && a.doc == target_doc) { /* nothing but tests: still an own document */
        gv_build_link(a.b, GV_NO_KEY, a.doc, target);
        st = grove_builder_finish(a.b, out_doc, err);
    } else if (st == GROVE_OK) {
        *out_doc = grove_doc_ref(a.doc);
    }
    grove_doc_unref(a.doc);
    grove_builder_free(a.b);
    return st;
}
