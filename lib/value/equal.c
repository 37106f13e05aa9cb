/* SPDX-License-Identifier: Apache-2.0 */
/* Equality by value: the order of keys does not count, numbers count by their value. */
#include "value/doc.h"
#include "value/node.h"
#include "value/number.h"

static bool equal_numbers(const grove_node *a, const grove_node *b) {
    const gv_str ta = gv_node_str(a);
    const gv_str tb = gv_node_str(b);
    if (gv_str_eq(ta, tb)) {
        return true;
    }
    const gv_decimal da = gv_decimal_read(ta);
    const gv_decimal db = gv_decimal_read(tb);
    return gv_decimal_equal(&da, &db);
}

static bool equal_arrays(const grove_node *a, const grove_node *b) {
    const grove_node *cb = grove_node_first(b);
    GV_EACH(ca, a) {
        if (!grove_node_equal(ca, cb)) {
            return false;
        }
        cb = grove_node_next(b, cb);
    }
    return true;
}

/* Sizes are equal and keys are unique, so it is enough that each member of a has its like in b. */
static bool equal_objects(const grove_node *a, const grove_node *b) {
    const grove_node *guess = grove_node_first(b); /* mostly the order is the same */
    GV_EACH(ca, a) {
        const gv_str key = gv_node_key(ca);
        const grove_node *cb = guess && gv_str_eq(gv_node_key(guess), key) ? guess
                                                                           : gv_node_get(b, key);
        if (!cb || !grove_node_equal(ca, cb)) {
            return false;
        }
        guess = grove_node_next(b, cb);
    }
    return true;
}

int32_t grove_node_equal(const grove_node *a, const grove_node *b) {
    const grove_type type = grove_node_type(a);
    if (type != grove_node_type(b)) {
        return 0;
    }
    a = gv_node_resolve(a);
    b = gv_node_resolve(b);
    if (a == b) {
        return 1;
    }
    switch (type) {
    case GROVE_BOOL:
        return grove_node_is_true(a) == grove_node_is_true(b);
    case GROVE_NUMBER:
        return equal_numbers(a, b);
    case GROVE_STRING:
        return gv_str_eq(gv_node_str(a), gv_node_str(b));
    case GROVE_ARRAY:
        return grove_node_size(a) == grove_node_size(b) && equal_arrays(a, b);
    case GROVE_OBJECT:
        return grove_node_size(a) == grove_node_size(b) && equal_objects(a, b);
    default:
        return 1;
    }
}
