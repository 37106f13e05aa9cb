/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused in the queues of a scheduler profile. */
#include "model/config_queues.h"

#include <grove/quantity.h>

#include "value/doc.h"

/* The queue of that name before `end`; NULL: there is none. */
static const grove_node *find_before(const grove_node *queues, const grove_node *end, gv_str name) {
    GV_EACH(q, queues) {
        if (q == end) {
            break;
        }
        if (gv_str_eq(gv_node_get_str(q, "name"), name)) {
            return q;
        }
    }
    return NULL;
}

static void wrong(gv_check *c, const gv_path *entry, const char *key, const grove_node *at,
                  const char *what) {
    gv_path here = gv_path_key(entry, key, strlen(key));
    gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, at, "%s", what);
}

static void check_number(gv_check *c, const gv_path *entry, const grove_node *queue,
                         const char *key, int64_t least, int64_t most) {
    const grove_node *node = grove_node_get(queue, key);
    int64_t value = 0;
    if (!gv_node_is_nothing(node) &&
        (grove_node_int64(node, &value) < 0 || value < least || value > most)) {
        wrong(c, entry, key, node,
              least == 0 ? "must be a whole number of at least 0" : "must be a whole number");
    }
}

static void check_amounts(gv_check *c, const gv_path *entry, const grove_node *queue,
                          const char *key) {
    const grove_node *amounts = grove_node_get(queue, key);
    gv_path above = gv_path_key(entry, key, strlen(key));
    if (!gv_node_is_nothing(amounts) && !gv_node_is(amounts, GROVE_OBJECT)) {
        wrong(c, entry, key, amounts, "must give amounts by resource");
        return;
    }
    GV_EACH(amount, amounts) {
        grove_quantity q, zero = {0};
        size_t n = 0;
        const char *text = grove_node_textn(amount, &n);
        if (!text || grove_quantity_parse(text, n, &q, NULL) < 0 ||
            grove_quantity_compare(&q, &zero) < 0) {
            gv_path here = gv_path_member(&above, amount);
            gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, amount,
                           "%s is no quantity of at least 0", gv_show(amount).text);
        }
    }
}

static void check_names(gv_check *c, const gv_path *entry, const grove_node *queues,
                        const grove_node *queue) {
    const grove_node *name = grove_node_get(queue, "name"),
                     *parent = grove_node_get(queue, "parent");
    gv_path here = gv_path_key(entry, "name", 4);
    if (gv_node_str(name).n == 0) {
        gv_check_error(c, GV_CODE_REQUIRED, "Required", &here, name ? name : queue,
                       "a queue needs a name");
    } else if (find_before(queues, queue, gv_node_str(name))) {
        gv_check_error(c, GV_CODE_DUPLICATE, "Duplicate", &here, name, "%s is given twice",
                       gv_show(name).text);
    }
    if (!gv_node_is_nothing(parent) &&
        !(gv_node_is(parent, GROVE_STRING) && gv_node_str(parent).n == 0) &&
        !find_before(queues, queue, gv_node_str(parent))) {
        wrong(c, entry, "parent", parent, "must be the name of a queue that is given before");
    }
}

static void check_queue(gv_check *c, const gv_path *entry, const grove_node *queues,
                        const grove_node *queue) {
    static const char *const known[] = {"name",  "parent", "deserved",
                                        "limit", "weight", "priority"};
    if (!gv_node_is(queue, GROVE_OBJECT)) {
        gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", entry, queue, "must be a queue");
        return;
    }
    check_names(c, entry, queues, queue);
    check_amounts(c, entry, queue, "deserved");
    check_amounts(c, entry, queue, "limit");
    check_number(c, entry, queue, "weight", 0, UINT32_MAX);
    check_number(c, entry, queue, "priority", INT32_MIN, INT32_MAX);
    GV_EACH(member, queue) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            found = found || gv_str_is(gv_node_key(member), known[i]);
        }
        if (!found) { /* a limit that is misspelt would be none */
            gv_path here = gv_path_member(entry, member);
            gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, member,
                           "a queue has no such field");
        }
    }
}

void gv_config_queues_check(gv_check *c, const gv_path *config, const grove_node *queues,
                            bool *elsewhere) {
    gv_path here = gv_path_key(config, "queues", 6);
    uint32_t i = 0;
    if (gv_node_is_nothing(queues)) {
        return;
    }
    if (!gv_node_is(queues, GROVE_ARRAY)) {
        gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, queues, "must be a list");
        return;
    }
    if (*elsewhere && grove_node_size(queues) > 0) {
        gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, queues,
                       "only one profile may have queues");
    }
    *elsewhere = *elsewhere || grove_node_size(queues) > 0;
    GV_EACH(queue, queues) {
        gv_path entry = gv_path_index(&here, i++);
        check_queue(c, &entry, queues, queue);
    }
}
