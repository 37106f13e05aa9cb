/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making documents call by call. Nodes and text grow in two arrays, texts being offsets until the end;
 * finishing lays both into one block (see node.h). The first failure sticks.
 */
#include "base/mem.h"
#include "base/vec.h"
#include "value/build.h"
#include "value/doc.h"
#include "value/keys.h"
#include "value/number.h"
#include "value/utf8.h"

#define NONE UINT32_MAX

struct grove_builder {
    grove_env *env;
    GV_VEC(grove_node) nodes;
    GV_VEC(char) text;
    GV_VEC(grove_doc *) pins; /* referenced; sorted by address */
    gv_keys keys;
    uint32_t open; /* innermost open container; its `a` names the one around it */
    uint32_t depth, deepest;
    uint32_t line, column; /* of the nodes to come; 0: none */
    bool placed;           /* by the caller; else copies and links keep their own places */
    bool defaulted, strict;
    grove_error error; /* the first failure; its status is GROVE_OK while there is none */
};

grove_status grove_builder_new(grove_env *env, grove_builder **out_builder) {
    if (!env || !out_builder) {
        return GROVE_E_INVALID;
    }
    grove_builder *b = gv_zalloc(env, sizeof *b);
    if (!b) {
        return GROVE_E_NOMEM;
    }
    b->env = grove_env_ref(env);
    b->keys.env = env;
    b->open = NONE;
    b->error.size = (uint32_t)sizeof b->error;
    *out_builder = b;
    return GROVE_OK;
}

static void reset(grove_builder *b) {
    for (size_t i = 0; i < b->pins.n; i++) {
        grove_doc_unref(b->pins.v[i]);
    }
    b->nodes.n = b->text.n = b->pins.n = 0;
    b->open = NONE;
    b->depth = b->deepest = b->line = b->column = 0;
    b->placed = b->defaulted = false;
    b->error = (grove_error)GROVE_ERROR_INIT;
}

void grove_builder_free(grove_builder *b) {
    if (!b) {
        return;
    }
    grove_env *env = b->env;
    reset(b);
    gv_vec_fini(env, &b->nodes);
    gv_vec_fini(env, &b->text);
    gv_vec_fini(env, &b->pins);
    gv_keys_fini(&b->keys);
    gv_free(env, b, sizeof *b);
    grove_env_unref(env);
}

/* ---- failing ---- */

grove_status gv_build_status(const grove_builder *b) {
    return b ? b->error.status : GROVE_E_INVALID;
}

void gv_build_fail(grove_builder *b, grove_status status, uint32_t line, uint32_t column,
                   const char *fmt, ...) {
    if (gv_build_status(b) < 0) {
        return;
    }
    char message[sizeof b->error.message];
    va_list ap;
    va_start(ap, fmt);
    gv_vfmt(message, sizeof message, fmt, ap);
    va_end(ap);
    gv_error_at(&b->error, status, line, column, NULL, "%s", message);
}

static void fail(grove_builder *b, grove_status status, const char *message) {
    gv_build_fail(b, status, b ? b->line : 0, b ? b->column : 0, "%s", message);
}

/* ---- nodes and text ---- */

static bool add_text(grove_builder *b, gv_str s, uint32_t *out_offset) {
    if (s.n > gv_env_limits(b->env)->document_bytes - b->text.n ||
        b->text.n + s.n >= UINT32_MAX / 2) {
        fail(b, GROVE_E_LIMIT, "the document is too large");
        return false;
    }
    if (!gv_vec_reserve(b->env, &b->text, b->text.n + s.n + 1)) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return false;
    }
    if (s.n > 0) {
        memcpy(b->text.v + b->text.n, s.p, s.n);
    }
    b->text.v[b->text.n + s.n] = '\0';
    *out_offset = (uint32_t)b->text.n;
    b->text.n += s.n + 1;
    return true;
}

/* Does a value under this key fit here? */
static bool check_place(grove_builder *b, gv_str key) {
    if (gv_build_status(b) < 0) {
        return false;
    }
    if (b->open == NONE ? b->nodes.n > 0 : false) {
        fail(b, GROVE_E_INVALID, "a document has one root");
    } else if ((b->open != NONE && gv_node_raw_type(&b->nodes.v[b->open]) == GROVE_OBJECT) !=
               (key.p != NULL)) {
        fail(b, GROVE_E_INVALID,
             key.p ? "a key was given where none belongs" : "a member needs a key");
    } else if (key.n > GV_KEY_LEN_MAX) {
        fail(b, GROVE_E_LIMIT, "a key is too long");
    }
    return gv_build_status(b) == GROVE_OK;
}

static bool reserve_nodes(grove_builder *b, size_t more) {
    if (more > gv_env_limits(b->env)->document_nodes - b->nodes.n) {
        fail(b, GROVE_E_LIMIT, "the document has too many values");
        return false;
    }
    if (!gv_vec_reserve(b->env, &b->nodes, b->nodes.n + more)) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return false;
    }
    return true;
}

/* Appends a node under a key; NULL: failed. */
static grove_node *add_node(grove_builder *b, gv_str key, uint32_t head) {
    if (!check_place(b, key) || !reserve_nodes(b, 1)) {
        return NULL;
    }
    grove_node node = {.head = head, .line = b->line, .column = b->column};
    if (key.p) {
        node.head |= GV_NODE_MEMBER | (uint32_t)key.n << GV_KEY_LEN_SHIFT;
        if (!add_text(b, key, &node.key)) {
            return NULL;
        }
    }
    node.head |= b->defaulted ? GV_NODE_DEFAULTED : 0;
    if (b->open != NONE) {
        b->nodes.v[b->open].b++;
    }
    b->nodes.v[b->nodes.n] = node;
    return &b->nodes.v[b->nodes.n++];
}

/* Notes that something of this nesting was put into the innermost open container. */
static bool note_depth(grove_builder *b, uint32_t more) {
    const uint32_t depth = b->depth + more;
    if (depth > gv_env_limits(b->env)->depth) {
        fail(b, GROVE_E_LIMIT, "the document is nested too deeply");
        return false;
    }
    b->deepest = depth > b->deepest ? depth : b->deepest;
    return true;
}

void gv_build_open(grove_builder *b, gv_str key, grove_type type) {
    if (gv_build_status(b) < 0 || !note_depth(b, 1)) {
        return;
    }
    grove_node *node = add_node(b, key, (uint32_t)type);
    if (node) {
        node->a = b->open;
        b->open = (uint32_t)(b->nodes.n - 1);
        b->depth++;
    }
}

static bool close_object(grove_builder *b) {
    if (!gv_vec_reserve(b->env, &b->nodes, b->nodes.n + gv_index_nodes(b->nodes.v[b->open].b))) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return false;
    }
    grove_node *object = &b->nodes.v[b->open];
    const grove_node *second;
    b->keys.text = b->text.v;
    if (gv_keys_close(&b->keys, object, b->strict, &second) < 0) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return false;
    }
    b->nodes.n = b->open + object->a;
    if (second) {
        const gv_str key = gv_keys_of(&b->keys, second);
        gv_build_fail(b, GROVE_E_PARSE, second->line, second->column,
                      "the key \"%.*s\" is there twice", (int)(key.n < 200 ? key.n : 200), key.p);
    }
    return second == NULL;
}

void grove_builder_close(grove_builder *b) {
    if (gv_build_status(b) < 0) {
        return;
    }
    if (b->open == NONE) {
        fail(b, GROVE_E_INVALID, "nothing is open that could be closed");
        return;
    }
    grove_node *node = &b->nodes.v[b->open];
    const uint32_t outer = node->a;
    node->a = (uint32_t)(b->nodes.n - b->open);
    if (gv_node_raw_type(node) == GROVE_OBJECT && node->b > 1 && !close_object(b)) {
        return;
    }
    b->open = outer;
    b->depth--;
}

void gv_build_scalar(grove_builder *b, gv_str key, grove_type type, gv_str text) {
    uint32_t head = (uint32_t)type;
    bool integer = false;
    if (type == GROVE_NUMBER) {
        if (gv_number_scan(text, &integer) != text.n || text.n == 0) {
            fail(b, GROVE_E_INVALID, "not a JSON number");
            return;
        }
        head |= integer ? GV_NODE_INTEGER : 0;
    } else if (type == GROVE_BOOL) {
        head |= gv_str_is(text, "true") ? GV_NODE_TRUE : 0;
    }
    if (!add_node(b, key, head) || (type != GROVE_NUMBER && type != GROVE_STRING)) {
        return;
    }
    uint32_t offset = 0;
    if (add_text(b, text, &offset)) {
        grove_node *node = &b->nodes.v[b->nodes.n - 1];
        node->a = offset;
        node->b = (uint32_t)text.n;
    }
}

void gv_build_string(grove_builder *b, gv_str key, gv_str text) {
    gv_build_scalar(b, key, GROVE_STRING, text);
}

/* ---- copies and links ---- */

/* While nodes of another document are appended, each keeps its own place unless one was set. */
typedef struct place {
    uint32_t line, column;
    bool defaulted;
} place;

static place adopt_place(grove_builder *b, const grove_node *from) {
    const place before = {b->line, b->column, b->defaulted};
    if (!b->placed) {
        b->line = from->line;
        b->column = from->column;
        b->defaulted = grove_node_is_defaulted(from) != 0;
    }
    return before;
}

static void restore_place(grove_builder *b, place before) {
    b->line = before.line;
    b->column = before.column;
    b->defaulted = before.defaulted;
}

void gv_build_copy(grove_builder *b, gv_str key, const grove_node *node) {
    if (gv_build_status(b) < 0) {
        return;
    }
    if (!node) {
        fail(b, GROVE_E_INVALID, "no node to copy");
        return;
    }
    const place before = adopt_place(b, node);
    const grove_type type = grove_node_type(node);
    if (gv_type_is_container((uint32_t)type)) {
        gv_build_open(b, key, type);
        GV_EACH(child, node) {
            gv_build_copy(b, type == GROVE_OBJECT ? gv_node_key(child) : GV_NO_KEY, child);
        }
        grove_builder_close(b);
    } else {
        gv_build_scalar(b, key, type,
                        type == GROVE_BOOL ? gv_str_c(grove_node_is_true(node) ? "true" : "")
                                           : gv_node_str(node));
    }
    restore_place(b, before);
}

static bool pin(grove_builder *b, grove_doc *doc) {
    size_t low = 0;
    size_t high = b->pins.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)b->pins.v[middle] < (uintptr_t)doc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < b->pins.n && b->pins.v[low] == doc) {
        return true;
    }
    if (!gv_vec_push(b->env, &b->pins, doc)) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return false;
    }
    memmove(b->pins.v + low + 1, b->pins.v + low, (b->pins.n - 1 - low) * sizeof *b->pins.v);
    b->pins.v[low] = grove_doc_ref(doc);
    return true;
}

void gv_build_link(grove_builder *b, gv_str key, grove_doc *doc, const grove_node *node) {
    if (gv_build_status(b) < 0) {
        return;
    }
    const grove_node *target = gv_node_resolve(node);
    grove_doc *owner = doc && target ? gv_doc_owner(doc, target) : NULL;
    if (!owner) {
        fail(b, GROVE_E_INVALID, "the node to link is not in the document given");
        return;
    }
    if (target->b == 0 || !gv_type_is_container(gv_node_raw_type(target))) {
        gv_build_copy(b, key, node);
        return;
    }
    /* The owner's bound of depth is at hand; the true depth costs a walk and is asked only in need. */
    const uint32_t room = gv_env_limits(b->env)->depth - b->depth;
    if (!note_depth(b, owner->depth <= room ? owner->depth : gv_node_depth(target)) ||
        !pin(b, owner)) {
        return;
    }
    for (uint32_t i = 0; i < owner->n_pins; i++) { /* links below the target lead there */
        if (!pin(b, owner->pins[i])) {
            return;
        }
    }
    const place before = adopt_place(b, node);
    grove_node *link = add_node(b, key, GV_LINK);
    if (link) {
        memcpy(&link->a, &target, sizeof target);
    }
    restore_place(b, before);
}

uint32_t gv_build_mark(const grove_builder *b) {
    return (uint32_t)b->nodes.n;
}

void gv_build_repeat(grove_builder *b, gv_str key, uint32_t mark) {
    if (gv_build_status(b) < 0) {
        return;
    }
    if (mark >= b->nodes.n) {
        fail(b, GROVE_E_INVALID, "nothing was built under this mark");
        return;
    }
    const grove_node *source = &b->nodes.v[mark];
    const uint32_t n = (uint32_t)(gv_node_after(source) - source);
    if (n > b->nodes.n - mark) { /* it is still open: its `a` is no size yet */
        fail(b, GROVE_E_INVALID, "a value cannot hold itself");
        return;
    }
    if (!note_depth(b, gv_node_depth(source)) || !reserve_nodes(b, n)) {
        return;
    }
    grove_node *copy = add_node(
        b, key, b->nodes.v[mark].head & (GV_NODE_TYPE | GV_NODE_INTEGER | GV_NODE_TRUE));
    if (copy) {
        source = &b->nodes.v[mark];
        copy->a = source->a;
        copy->b = source->b;
        memcpy(copy + 1, source + 1, (n - 1) * sizeof *copy);
        b->nodes.n += n - 1;
    }
}

/* ---- settings ---- */

void gv_build_at(grove_builder *b, uint32_t line, uint32_t column) {
    b->line = line;
    b->column = column;
    b->placed = line != 0;
}

void gv_build_strict(grove_builder *b, bool strict) {
    b->strict = strict;
}

void grove_builder_position(grove_builder *b, const grove_node *at, int32_t defaulted) {
    if (b) {
        gv_build_at(b, at ? at->line : 0, at ? at->column : 0);
        b->defaulted = at && defaulted;
        b->placed = at != NULL;
    }
}

/* ---- the public calls ---- */

/* Text from outside must be UTF-8, or the documents could not be written as JSON. */
/* Length of the plain ASCII that s begins with, rounded down to eight: nearly all of nearly any text. */
static size_t ascii_prefix(gv_str s) {
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t eight;
        memcpy(&eight, s.p + i, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    return i;
}

static bool is_utf8(gv_str s) {
    for (size_t i = ascii_prefix(s); i < s.n;) {
        if ((unsigned char)s.p[i] < 0x80) {
            i++;
            continue;
        }
        char c[5] = {0};
        memcpy(c, s.p + i, s.n - i < 4 ? s.n - i : 4);
        const size_t n = gv_utf8_length(c);
        if (n == 0 || n > s.n - i) {
            return false;
        }
        i += n;
    }
    return true;
}

static gv_str outside_key(grove_builder *b, const char *key) {
    const gv_str k = key ? gv_str_c(key) : GV_NO_KEY;
    if (b && !is_utf8(k)) {
        fail(b, GROVE_E_INVALID, "a key is not UTF-8");
    }
    return k;
}

void grove_builder_open_object(grove_builder *b, const char *key) {
    gv_build_open(b, outside_key(b, key), GROVE_OBJECT);
}

void grove_builder_open_array(grove_builder *b, const char *key) {
    gv_build_open(b, outside_key(b, key), GROVE_ARRAY);
}

void grove_builder_null(grove_builder *b, const char *key) {
    gv_build_scalar(b, outside_key(b, key), GROVE_NULL_NODE, GV_STR(""));
}

void grove_builder_bool(grove_builder *b, const char *key, int32_t value) {
    gv_build_scalar(b, outside_key(b, key), GROVE_BOOL, gv_str_c(value ? "true" : "false"));
}

void grove_builder_int64(grove_builder *b, const char *key, int64_t value) {
    char text[24];
    const size_t n = gv_fmt(text, sizeof text, "%lld", (long long)value);
    gv_build_scalar(b, outside_key(b, key), GROVE_NUMBER, (gv_str){text, n});
}

void grove_builder_number(grove_builder *b, const char *key, const char *text, size_t len) {
    gv_build_scalar(b, outside_key(b, key), GROVE_NUMBER, (gv_str){text, text ? len : 0});
}

void grove_builder_string(grove_builder *b, const char *key, const char *text) {
    grove_builder_stringn(b, key, text, text ? strlen(text) : 0);
}

void grove_builder_stringn(grove_builder *b, const char *key, const char *text, size_t len) {
    const gv_str k = outside_key(b, key);
    if (b && ((!text && len > 0) || !is_utf8((gv_str){text, len}))) {
        fail(b, GROVE_E_INVALID, "a string is not UTF-8");
    }
    gv_build_string(b, k, (gv_str){text ? text : "", len});
}

void grove_builder_link(grove_builder *b, const char *key, grove_doc *doc, const grove_node *node) {
    gv_build_link(b, outside_key(b, key), doc, node);
}

void grove_builder_copy(grove_builder *b, const char *key, const grove_node *node) {
    gv_build_copy(b, outside_key(b, key), node);
}

/* ---- finishing ---- */

/* Offsets into the text become distances back from each node. */
static void place_nodes(const grove_builder *b, char *text, grove_node *nodes) {
    for (size_t i = 0; i < b->nodes.n; i++) {
        grove_node node = b->nodes.v[i];
        const uint32_t type = gv_node_raw_type(&node);
        const uint32_t distance = (uint32_t)((char *)&nodes[i] - text);
        if (type != GV_INDEX) {
            node.key = node.head & GV_NODE_MEMBER ? distance - node.key : 0;
            node.a = type == GROVE_STRING || type == GROVE_NUMBER ? distance - node.a : node.a;
        }
        nodes[i] = node;
    }
}

static grove_doc *make_doc(grove_builder *b) {
    const size_t text_at = sizeof(grove_doc) + b->pins.n * sizeof(grove_doc *);
    const size_t nodes_at = (text_at + b->text.n + 7) & ~(size_t)7;
    const size_t size = nodes_at + b->nodes.n * sizeof(grove_node);
    if (size > UINT32_MAX) {
        fail(b, GROVE_E_LIMIT, "the document is too large");
        return NULL;
    }
    char *block = gv_alloc(b->env, size);
    if (!block) {
        fail(b, GROVE_E_NOMEM, "out of memory");
        return NULL;
    }
    grove_doc *doc = (grove_doc *)(void *)block;
    gv_refs_init(&doc->refs);
    doc->depth = b->deepest;
    doc->env = grove_env_ref(b->env);
    doc->size = size;
    doc->nodes_at = nodes_at;
    doc->n_nodes = (uint32_t)b->nodes.n;
    doc->n_pins = (uint32_t)b->pins.n;
    doc->next_dead = NULL;
    for (size_t i = 0; i < b->pins.n; i++) {
        doc->pins[i] = b->pins.v[i];
    }
    b->pins.n = 0; /* their references went over to the document */
    if (b->text.n > 0) {
        memcpy(block + text_at, b->text.v, b->text.n);
    }
    place_nodes(b, block + text_at, gv_doc_nodes(doc));
    return doc;
}

grove_status grove_builder_finish(grove_builder *b, grove_doc **out_doc, grove_error *err) {
    if (!b || !out_doc) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_builder_finish is invalid");
    }
    if (b->open != NONE) {
        fail(b, GROVE_E_INVALID, "a container was not closed");
    } else if (b->nodes.n == 0) {
        fail(b, GROVE_E_INVALID, "nothing was built");
    }
    grove_doc *doc = b->error.status == GROVE_OK ? make_doc(b) : NULL;
    const grove_status st = b->error.status;
    if (st < 0) {
        gv_error_at(err, st, b->error.line, b->error.column, NULL, "%s", b->error.message);
    } else {
        *out_doc = doc;
    }
    reset(b);
    return st;
}
