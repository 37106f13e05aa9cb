/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as kubectl prints them: one column table with the resource definitions. */
#include "model/table.h"

#include "base/mem.h"
#include "base/vec.h"
#include "model/schema.h"
#include "value/doc.h"
#include "value/scalar.h"

#define GAP 3 /* spaces between columns */
#define SECOND INT64_C(1000000000)

/* ---- ages ---- */

static grove_status two(grove_buf *out, int64_t big, char big_unit, int64_t small,
                        char small_unit) {
    return small == 0 ? gv_buf_fmt(out, "%lld%c", (long long)big, big_unit)
                      : gv_buf_fmt(out, "%lld%c%lld%c", (long long)big, big_unit, (long long)small,
                                   small_unit);
}

grove_status gv_table_age(int64_t created_ns, int64_t now_ns, grove_buf *out) {
    int64_t s = created_ns < now_ns ? (now_ns - created_ns) / SECOND : 0;
    int64_t m = s / 60, h = m / 60, d = h / 24;
    if (s < 120) {
        return gv_buf_fmt(out, "%llds", (long long)s);
    }
    if (m < 10) {
        return two(out, m, 'm', s % 60, 's');
    }
    if (m < 180) {
        return gv_buf_fmt(out, "%lldm", (long long)m);
    }
    if (h < 8) {
        return two(out, h, 'h', m % 60, 'm');
    }
    if (h < 48) {
        return gv_buf_fmt(out, "%lldh", (long long)h);
    }
    if (d < 8) {
        return two(out, d, 'd', h % 24, 'h');
    }
    if (d < 365 * 2) {
        return gv_buf_fmt(out, "%lldd", (long long)d);
    }
    return d < 365 * 8 ? two(out, d / 365, 'y', d % 365, 'd')
                       : gv_buf_fmt(out, "%lldy", (long long)(d / 365));
}

grove_status gv_cell_age(const grove_node *object, const char *arg, int64_t now_ns,
                         grove_buf *out) {
    int64_t created = 0;
    (void)arg;
    gv_str text = gv_node_str(gv_node_path(object, "metadata.creationTimestamp"));
    if (text.n == 0 || gv_time_parse(text, &created, NULL) < 0) {
        return gv_buf_c(out, "<unknown>");
    }
    return gv_table_age(created, now_ns, out);
}

/* ---- the JSONPath of printer columns ---- */

static const grove_node *entry_where(const grove_node *list, gv_str key, gv_str value) {
    GV_EACH(entry, list) {
        if (gv_str_eq(gv_node_str(grove_node_getn(entry, key.p, key.n)), value)) {
            return entry;
        }
    }
    return NULL;
}

static grove_status put_value(const grove_node *node, grove_buf *out) {
    switch (grove_node_type(node)) {
    case GROVE_BOOL:
        return gv_buf_c(out, grove_node_is_true(node) ? "true" : "false");
    case GROVE_STRING:
    case GROVE_NUMBER:
        return gv_buf_str(out, gv_node_str(node));
    default:
        return GROVE_OK;
    }
}

static grove_status follow(const grove_node *node, gv_str path, grove_buf *out);

/* `[*]` joins what follows of every entry. */
static grove_status follow_all(const grove_node *list, gv_str rest, grove_buf *out) {
    bool first = true;
    GV_EACH(entry, list) {
        grove_status st = first ? GROVE_OK : gv_buf_c(out, ",");
        st = st < 0 ? st : follow(entry, rest, out);
        if (st < 0) {
            return st;
        }
        first = false;
    }
    return GROVE_OK;
}

static gv_str skip(gv_str s, size_t n) {
    return (gv_str){s.p + n, s.n - n};
}

/* `?(@.key=="value")` */
static const grove_node *filtered(const grove_node *list, gv_str filter) {
    const char *equal = memchr(filter.p, '=', filter.n);
    if (!equal || filter.n < 8) {
        return NULL;
    }
    gv_str key = {filter.p + 4, (size_t)(equal - filter.p) - 4};
    gv_str value = skip(filter, (size_t)(equal - filter.p) + 3);
    value.n -= value.n >= 2 ? 2 : value.n; /* the closing quote and bracket */
    return entry_where(list, key, value);
}

static grove_status follow(const grove_node *node, gv_str path, grove_buf *out) {
    while (node && path.n) {
        if (path.p[0] == '.') {
            size_t n = 1;
            while (n < path.n && path.p[n] != '.' && path.p[n] != '[') {
                n++;
            }
            node = grove_node_getn(node, path.p + 1, n - 1);
            path = skip(path, n);
            continue;
        }
        const char *end = memchr(path.p, ']', path.n);
        if (path.p[0] != '[' || !end) {
            return GROVE_OK;
        }
        gv_str inner = {path.p + 1, (size_t)(end - path.p) - 1};
        path = skip(path, inner.n + 2);
        if (gv_str_is(inner, "*")) {
            return follow_all(node, path, out);
        }
        node = filtered(node, inner);
    }
    return put_value(node, out);
}

grove_status gv_cell_path(const grove_node *object, const char *arg, int64_t now_ns,
                          grove_buf *out) {
    (void)now_ns;
    return follow(object, gv_str_c(arg), out);
}

/* ---- columns ---- */

static grove_status cell_name(const grove_node *object, const char *arg, int64_t now_ns,
                              grove_buf *out) {
    (void)now_ns;
    return gv_buf_str(out, gv_node_get_str(grove_node_get(object, "metadata"), arg));
}

bool gv_table_column(grove_kind kind, uint32_t i, gv_column *out) {
    gv_schema_column c;
    if (kind != GROVE_KIND_EVENT && i-- == 0) {
        *out = (gv_column){"Name", 0, cell_name, "name", NULL};
        return true;
    }
    if (gv_schema_column_at((gv_kind)kind, 0, &c)) {
        if (!gv_schema_column_at((gv_kind)kind, i, &c)) {
            return false;
        }
        bool date = strcmp(c.type, "date") == 0;
        *out = (gv_column){c.name, c.priority, date ? gv_cell_age : gv_cell_path, c.json_path,
                           c.type};
        return true;
    }
    const gv_column *b = gv_table_builtin_column(kind, i);
    if (b) {
        *out = *b;
    }
    return b != NULL;
}

typedef GV_VEC(gv_column) columns;

static bool collect_columns(grove_env *env, grove_kind kind, uint32_t flags, columns *out) {
    bool ok = true;
    if (flags & GROVE_TABLE_NAMESPACE && grove_kind_is_namespaced(kind)) {
        ok = gv_vec_push(env, out, ((gv_column){"Namespace", 0, cell_name, "namespace", NULL}));
    }
    gv_column c;
    for (uint32_t i = 0; ok && gv_table_column(kind, i, &c); i++) {
        if ((flags & GROVE_TABLE_WIDE) || c.priority == 0) {
            ok = gv_vec_push(env, out, c);
        }
    }
    return ok;
}

/* ---- layout ---- */

typedef struct layout {
    grove_env *env;
    columns columns;
    grove_buf text;         /* all cells, one after the other, NUL between them */
    GV_VEC(uint64_t) cells; /* offsets into text */
    GV_VEC(uint64_t) widths;
} layout;

/* Widths count characters, not bytes. */
static uint64_t width_of(const char *text) {
    uint64_t n = 0;
    for (; *text; text++) {
        n += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return n;
}

static grove_status end_cell(layout *l, uint64_t start, size_t column) {
    grove_status st = gv_buf_char(&l->text, '\0');
    if (st < 0 || !gv_vec_push(l->env, &l->cells, start)) {
        return GROVE_E_NOMEM;
    }
    uint64_t width = width_of(l->text.data + start);
    if (width > l->widths.v[column]) {
        l->widths.v[column] = width;
    }
    return GROVE_OK;
}

static grove_status put_header(layout *l) {
    for (size_t i = 0; i < l->columns.n; i++) {
        uint64_t start = l->text.len;
        for (const char *p = l->columns.v[i].title; *p; p++) {
            char c = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
            if (gv_buf_char(&l->text, c) < 0) {
                return GROVE_E_NOMEM;
            }
        }
        if (end_cell(l, start, i) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static grove_status put_row(layout *l, const grove_node *object, int64_t now_ns) {
    for (size_t i = 0; i < l->columns.n; i++) {
        const gv_column *c = &l->columns.v[i];
        uint64_t start = l->text.len;
        if (c->cell(object, c->arg, now_ns, &l->text) < 0 || end_cell(l, start, i) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static grove_status write_lines(const layout *l, grove_buf *buf) {
    grove_status st = GROVE_OK;
    for (size_t i = 0; st == GROVE_OK && i < l->cells.n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): where there is a cell there is a column */
        size_t column = i % l->columns.n;
        const char *cell = l->text.data + l->cells.v[i];
        st = gv_buf_c(buf, cell);
        if (column + 1 == l->columns.n) {
            st = st < 0 ? st : gv_buf_char(buf, '\n');
            continue;
        }
        for (uint64_t pad = width_of(cell); st == GROVE_OK && pad < l->widths.v[column] + GAP;
             pad++) {
            st = gv_buf_char(buf, ' ');
        }
    }
    return st;
}

grove_status grove_table_write(grove_env *env, grove_kind kind, const grove_node *items,
                               uint32_t flags, int64_t now_ns, grove_buf *buf, grove_error *err) {
    layout l = {.env = env};
    grove_buf_init(&l.text, env);
    grove_status st = collect_columns(env, kind, flags, &l.columns) ? GROVE_OK : GROVE_E_NOMEM;
    for (size_t i = 0; st == GROVE_OK && i < l.columns.n; i++) {
        st = gv_vec_push(env, &l.widths, 0) ? GROVE_OK : GROVE_E_NOMEM;
    }
    if (st == GROVE_OK && !(flags & GROVE_TABLE_NO_HEADERS)) {
        st = put_header(&l);
    }
    GV_EACH(object, items) {
        st = st < 0 ? st : put_row(&l, object, now_ns);
    }
    st = st < 0 ? st : write_lines(&l, buf);
    grove_buf_fini(&l.text);
    gv_vec_fini(env, &l.columns);
    gv_vec_fini(env, &l.cells);
    gv_vec_fini(env, &l.widths);
    return st < 0 ? gv_error_nomem(err) : GROVE_OK;
}
