/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that hold an integer or a text: replicas or a percentage, a port or its name. */
#include "base/mem.h"
#include "value/scalar.h"

grove_status gv_int_or_string_read(const grove_node *node, gv_int_or_string *out,
                                   grove_error *err) {
    gv_int_or_string v = {false, 0, {NULL, 0}};
    if (grove_node_type(node) == GROVE_STRING) {
        v.text.p = grove_node_textn(node, &v.text.n);
    } else if (grove_node_type(node) == GROVE_NUMBER) {
        int64_t wide = 0;
        grove_status st = grove_node_int64(node, &wide);
        if (st == GROVE_E_TYPE) {
            return gv_error(err, GROVE_E_TYPE, "%s is not an integer", grove_node_text(node));
        }
        if (st < 0 || wide < INT32_MIN || wide > INT32_MAX) {
            return gv_error(err, GROVE_E_RANGE, "%s does not fit 32 bits", grove_node_text(node));
        }
        v.is_int = true;
        v.value = (int32_t)wide;
    } else {
        return gv_error(err, GROVE_E_TYPE, "an integer or a text is expected");
    }
    *out = v;
    return GROVE_OK;
}

grove_status gv_percent_parse(gv_str text, int32_t *out_percent, grove_error *err) {
    int64_t wide = 0;
    gv_str digits = {text.p, text.n ? text.n - 1 : 0};
    if (digits.n > 1 && digits.p[0] == '+' && digits.p[1] != '-') {
        digits.p++;
        digits.n--;
    }
    if (text.n < 2 || text.p[text.n - 1] != '%' || !gv_str_int64(digits, &wide)) {
        return gv_error(err, GROVE_E_PARSE, "\"%.*s\" is not a percentage such as \"30%%\"",
                        (int)(text.n < 64 ? text.n : 64), text.n ? text.p : "");
    }
    if (wide < INT32_MIN || wide > INT32_MAX) {
        return gv_error(err, GROVE_E_RANGE, "\"%.*s\" does not fit 32 bits",
                        (int)(text.n < 64 ? text.n : 64), text.p);
    }
    *out_percent = (int32_t)wide;
    return GROVE_OK;
}

grove_status gv_int_or_percent(const gv_int_or_string *v, int32_t total, bool round_up,
                               int32_t *out, grove_error *err) {
    int32_t percent = 0;
    if (v->is_int) {
        *out = v->value;
        return GROVE_OK;
    }
    grove_status st = gv_percent_parse(v->text, &percent, err);
    if (st < 0) {
        return st;
    }
    int64_t product = (int64_t)percent * total;
    int64_t scaled = product / 100, rest = product % 100; /* rest has the sign of the product */
    if (rest > 0 && round_up) {
        scaled++;
    } else if (rest < 0 && !round_up) {
        scaled--;
    }
    if (scaled < INT32_MIN || scaled > INT32_MAX) {
        return gv_error(err, GROVE_E_RANGE, "%d%% of %d does not fit 32 bits", (int)percent,
                        (int)total);
    }
    *out = (int32_t)scaled;
    return GROVE_OK;
}
