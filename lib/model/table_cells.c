/* SPDX-License-Identifier: Apache-2.0 */
/* The same columns as values: for servers that answer with tables. */
#include "base/mem.h"
#include "model/kinds.h"
#include "model/table.h"

int32_t grove_table_column_at(grove_kind kind, uint32_t i, grove_table_column *out_column) {
    gv_column c;
    if (out_column->size < sizeof *out_column || !gv_table_column(kind, i, &c)) {
        return 0;
    }
    bool custom = grove_kind_is_custom(kind) && c.arg && c.arg[0] == '.';
    out_column->priority = c.priority;
    out_column->name = c.title;
    out_column->type = c.type ? c.type : "string";
    out_column->json_path = custom ? c.arg : "";
    return 1;
}

static grove_status put_cell(const gv_column *c, bool custom, const grove_node *object,
                             int64_t now_ns, grove_buf *text, grove_builder *b) {
    text->len = 0;
    grove_status st = c->cell(object, c->arg, now_ns, text);
    if (st < 0) {
        return st;
    }
    bool integer = c->type && strcmp(c->type, "integer") == 0;
    int64_t number = 0;
    size_t n = (size_t)text->len; /* it is in memory, so it fits */
    if (integer && gv_str_int64((gv_str){text->data, n}, &number)) {
        grove_builder_int64(b, NULL, number);
    } else if (n == 0 && (custom || integer)) {
        grove_builder_null(b, NULL);
    } else {
        grove_builder_stringn(b, NULL, n ? text->data : "", n);
    }
    return GROVE_OK;
}

grove_status grove_table_cells(grove_env *env, grove_kind kind, const grove_node *object,
                               int64_t now_ns, grove_builder *b, grove_error *err) {
    bool custom = grove_kind_is_custom(kind) != 0;
    grove_status st = GROVE_OK;
    grove_buf text;
    gv_column c;
    grove_buf_init(&text, env);
    for (uint32_t i = 0; st == GROVE_OK && gv_table_column(kind, i, &c); i++) {
        st = put_cell(&c, custom, object, now_ns, &text, b);
    }
    grove_buf_fini(&text);
    return st < 0 ? gv_error_nomem(err) : GROVE_OK;
}
