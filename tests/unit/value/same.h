/* SPDX-License-Identifier: Apache-2.0 */
/* Equality of documents as the vectors mean it: key order ignored, floats by their nearest double. */
#ifndef TESTS_VALUE_SAME_H
#define TESTS_VALUE_SAME_H

#include <stdbool.h>
#include <string.h>

#include "value/doc.h"
#include "value/number.h"

/* An integer of 64 bits must be equal to the digit; anything else is a float64 on the Go side. */
static inline bool same_number(const grove_node *ours, const grove_node *theirs) {
    gv_decimal a = gv_decimal_read(gv_node_str(ours));
    gv_decimal b = gv_decimal_read(gv_node_str(theirs));
    bool integer = a.n == 0 || (a.point >= 0 && (uint64_t)a.point >= a.n);
    if (integer && a.point <= 19) {
        int64_t ignored = 0;
        bool range = false;
        if (gv_decimal_int64(&a, &ignored, &range)) {
            return gv_decimal_equal(&a, &b);
        }
    }
    return gv_decimal_equal(&a, &b) || gv_decimal_double(&a) == gv_decimal_double(&b);
}

static inline bool same_value(const grove_node *a, const grove_node *b) {
    const grove_type type = grove_node_type(a);
    if (type != grove_node_type(b) || grove_node_size(a) != grove_node_size(b)) {
        return false;
    }
    if (type == GROVE_NUMBER) {
        return same_number(a, b);
    }
    if (type == GROVE_STRING) {
        return gv_str_eq(gv_node_str(a), gv_node_str(b));
    }
    if (type == GROVE_BOOL) {
        return grove_node_is_true(a) == grove_node_is_true(b);
    }
    uint32_t i = 0;
    GV_EACH(child, a) {
        const grove_node *other = type == GROVE_OBJECT ? gv_node_get(b, gv_node_key(child))
                                                       : grove_node_at(b, i++);
        if (!same_value(child, other)) {
            return false;
        }
    }
    return true;
}

#endif
