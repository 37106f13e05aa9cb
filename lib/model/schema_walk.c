/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the schema tables, and findings with path, position and message. */
#include "model/schema_walk.h"

#include "base/mem.h"

const gv_schema_root *gv_schema_root_of(gv_kind kind) {
    for (uint16_t i = 0; i < gv_schema_n_roots; i++) {
        if (gv_schema_roots[i].kind == (uint16_t)kind) {
            return &gv_schema_roots[i];
        }
    }
    return NULL;
}

bool gv_schema_has(gv_kind kind) {
    return gv_schema_root_of(kind) != NULL;
}

bool gv_schema_column_at(gv_kind kind, uint32_t i, gv_schema_column *out) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    if (!root || i >= root->n_columns) {
        return false;
    }
    const gv_schema_column_row *row = &gv_schema_columns[root->first_column + i];
    *out = (gv_schema_column){gv_type_text(row->name), gv_type_text(row->type),
                              gv_type_text(row->json_path), row->priority};
    return true;
}

const grove_node *gv_schema_given(const grove_node *object, const char *member) {
    const grove_node *node = grove_node_get(object, member);
    return grove_node_type(node) == GROVE_NULL_NODE ? NULL : node;
}

/* Names are compared as strcmp does: a prefix comes first. */
static int compare_name(const gv_schema_field *field, const char *key, size_t len) {
    size_t common = field->name_len < len ? field->name_len : len;
    int order = memcmp(gv_type_text(field->name), key, common);
    return order != 0 ? order : (field->name_len > len) - (field->name_len < len);
}

int32_t gv_type_find(const gv_schema_type *type, const char *key, size_t len) {
    int32_t lo = 0, hi = type->n_fields;
    while (lo < hi) {
        int32_t mid = (lo + hi) / 2;
        int order = compare_name(&gv_schema_fields[type->first_field + mid], key, len);
        if (order == 0) {
            return mid;
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return -1;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Longer names than this are not compared: no field is that long. */
#define NAME_MAX_LEN 48

/* Edits (insert, remove, replace, swap of neighbours) from a to b, case ignored. */
static uint32_t distance(gv_str a, gv_str b) {
    uint32_t rows[3][NAME_MAX_LEN + 1];
    uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b.n; j++) {
        last[j] = (uint32_t)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= a.n; i++) {
        now[0] = (uint32_t)i;
        for (size_t j = 1; j <= b.n; j++) {
            uint32_t cost = lower(a.p[i - 1]) != lower(b.p[j - 1]);
            uint32_t best = last[j - 1] + cost;
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && lower(a.p[i - 1]) == lower(b.p[j - 2]) &&
                lower(a.p[i - 2]) == lower(b.p[j - 1]) && before[j - 2] + cost < best) {
                best = before[j - 2] + cost;
            }
            now[j] = best;
        }
        uint32_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b.n];
}

static size_t common_prefix(gv_str a, gv_str b) {
    size_t n = 0;
    while (n < a.n && n < b.n && lower(a.p[n]) == lower(b.p[n])) {
        n++;
    }
    return n;
}

/* How far off a name is, UINT32_MAX for too far. Names that begin
 * alike ("cliques" for cliqueNames) count as near, though less so than a slip of the finger. */
static uint32_t strangeness(gv_str wrong, gv_str name) {
    uint32_t edits = distance(wrong, name);
    size_t longer = name.n > wrong.n ? name.n : wrong.n;
    if (edits * 3 <= longer) {
        return edits;
    }
    size_t shared = common_prefix(wrong, name);
    return shared >= 4 && shared * 3 >= wrong.n * 2 ? NAME_MAX_LEN + edits : UINT32_MAX;
}

const char *gv_type_nearest(const gv_schema_type *type, gv_str wrong, bool upstream) {
    const char *best = NULL;
    uint32_t least = UINT32_MAX;
    if (wrong.n == 0 || wrong.n > NAME_MAX_LEN) {
        return NULL;
    }
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        gv_str name = {gv_type_text(field->name), field->name_len};
        if (name.n > NAME_MAX_LEN || (upstream && field->flags & GV_FIELD_EXTENSION)) {
            continue;
        }
        uint32_t off = strangeness(wrong, name);
        if (off < least) {
            best = name.p;
            least = off;
        }
    }
    return best;
}

grove_status gv_number_text(const grove_node *number, grove_buf *out) {
    int64_t whole = 0;
    if (grove_node_int64(number, &whole) == GROVE_OK) {
        return gv_buf_fmt(out, "%lld", (long long)whole);
    }
    return grove_node_write_json(number, GROVE_WRITE_CANONICAL, out, NULL);
}

void gv_check_init(gv_check *c, grove_env *env, const grove_doc *doc, grove_diags *diags) {
    *c = (gv_check){.doc = doc, .diags = diags};
    grove_buf_init(&c->text, env);
}

void gv_check_fini(gv_check *c) {
    grove_buf_fini(&c->text);
}

static void add(gv_check *c, grove_severity severity, gv_code code, const char *type,
                const gv_path *path, const grove_node *at, const char *fmt, va_list ap) {
    if (c->status < 0) {
        return;
    }
    uint32_t line = 0, column = 0;
    grove_node_position(c->doc, at, &line, &column);
    grove_buf_clear(&c->text);
    grove_status status = gv_path_write(path, &c->text);
    uint64_t path_len = c->text.len;
    if (status == GROVE_OK) {
        status = gv_buf_char(&c->text, '\0');
    }
    if (status == GROVE_OK) {
        status = gv_buf_vfmt(&c->text, fmt, ap);
    }
    if (status < 0 || !gv_diag_add(c->diags, severity, (uint32_t)code, type,
                                   (gv_str){c->text.data, (size_t)path_len}, line, column, "%s",
                                   c->text.data + path_len + 1)) {
        c->status = status < 0 ? status : GROVE_E_NOMEM;
    }
}

void gv_check_error(gv_check *c, gv_code code, const char *type, const gv_path *path,
                    const grove_node *at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(c, GROVE_SEVERITY_ERROR, code, type, path, at, fmt, ap);
    va_end(ap);
    c->errors++;
    /* grove-api, corrections: these types keep the server from evaluating any CEL rule */
    static const char *const blocking[] = {"Required", "TypeInvalid", "NotSupported", "TooLong",
                                           "TooMany"};
    for (size_t i = 0; i < sizeof blocking / sizeof blocking[0]; i++) {
        c->blocked = c->blocked || strcmp(type, blocking[i]) == 0;
    }
}

void gv_check_warning(gv_check *c, gv_code code, const gv_path *path, const grove_node *at,
                      const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(c, GROVE_SEVERITY_WARNING, code, "", path, at, fmt, ap);
    va_end(ap);
}

const char *gv_node_noun(const grove_node *node) {
    switch (grove_node_type(node)) {
    case GROVE_NULL_NODE:
        return "null";
    case GROVE_BOOL:
        return "a boolean";
    case GROVE_NUMBER:
        return "a number";
    case GROVE_STRING:
        return "a string";
    case GROVE_ARRAY:
        return "a list";
    case GROVE_OBJECT:
        return "an object";
    default:
        return "nothing";
    }
}

const char *gv_shape_noun(gv_shape shape) {
    switch (shape) {
    case GV_SHAPE_STRING:
        return "a string";
    case GV_SHAPE_INT32:
    case GV_SHAPE_INT64:
        return "a whole number";
    case GV_SHAPE_NUMBER:
        return "a number";
    case GV_SHAPE_BOOL:
        return "true or false";
    case GV_SHAPE_QUANTITY:
        return "a quantity";
    case GV_SHAPE_INT_OR_STRING:
        return "a whole number or a string";
    case GV_SHAPE_DURATION:
        return "a duration";
    case GV_SHAPE_TIME:
        return "a time";
    case GV_SHAPE_LIST:
        return "a list";
    case GV_SHAPE_ANY:
    case GV_SHAPE_STRUCT:
    case GV_SHAPE_MAP:
        break;
    }
    return "an object";
}

gv_shown gv_show(const grove_node *node) {
    gv_shown out = {{0}};
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    switch (grove_node_type(node)) {
    case GROVE_STRING:
        gv_fmt(out.text, sizeof out.text, n > 60 ? "\"%.57s...\"" : "\"%s\"", text);
        break;
    case GROVE_NUMBER:
        gv_fmt(out.text, sizeof out.text, "%.60s", text);
        break;
    case GROVE_BOOL:
        gv_fmt(out.text, sizeof out.text, "%s", grove_node_is_true(node) ? "true" : "false");
        break;
    default:
        gv_fmt(out.text, sizeof out.text, "%s", gv_node_noun(node));
    }
    return out;
}
