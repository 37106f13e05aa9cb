/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is a piece of a larger text: parsed by itself, then moved to its place. */
#include "value/json_at.h"

#include "value/node.h"

static void shift(uint32_t *line, uint32_t *column, uint32_t to_line, uint32_t to_column) {
    if (*line > 0) {
        *column += *line == 1 ? to_column - 1 : 0;
        *line += to_line - 1;
    }
}

grove_status gv_json_parse_at(grove_env *env, const char *text, size_t len, uint32_t flags,
                              uint32_t line, uint32_t column, grove_doc **out_doc,
                              grove_error *err) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(env, text, len, flags, &doc, err);
    if (st < 0) {
        if (err) {
            shift(&err->line, &err->column, line, column);
        }
        return st;
    }
    if (line > 1 || column > 1) {
        grove_node *nodes = gv_doc_nodes(doc);
        for (uint32_t i = 0; i < doc->n_nodes; i++) {
            if (gv_node_raw_type(&nodes[i]) != GV_INDEX) {
                shift(&nodes[i].line, &nodes[i].column, line, column);
            }
        }
    }
    *out_doc = doc;
    return GROVE_OK;
}
