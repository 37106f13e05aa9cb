/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes from bytes: labels, taints, what pods can have of it, whether it is ready. */
#include "model/extract.h"
#include "model/records_take.h"

static void read_taints(grove_extract *x, gv_scan *s) {
    x->node.taints.n = 0;
    if (!gv_scan_open(s, '[')) {
        return;
    }
    while (gv_scan_element(s)) {
        gv_taint_fact taint = {{"", 0}, {"", 0}, {"", 0}};
        gv_str key;
        if (gv_scan_open(s, '{')) {
            while (gv_scan_member(s, &key)) {
                gv_str *text = gv_str_is(key, "key")      ? &taint.key
                               : gv_str_is(key, "value")  ? &taint.value
                               : gv_str_is(key, "effect") ? &taint.effect
                                                          : NULL;
                if (text) {
                    *text = gv_scan_text(s);
                } else {
                    (void)gv_scan_skip(s);
                }
            }
        }
        if (!gv_vec_push(x->env, &x->node.taints, taint)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
}

static void read_spec(grove_extract *x, gv_scan *s) {
    gv_str key;
    x->node.flags &= ~GV_NODE_UNSCHEDULABLE;
    x->node.taints.n = 0;
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "taints")) {
            read_taints(x, s);
        } else if (gv_str_is(key, "unschedulable")) {
            bool off = gv_scan_is_true(s);
            x->node.flags &= ~GV_NODE_UNSCHEDULABLE;
            x->node.flags |= off ? GV_NODE_UNSCHEDULABLE : 0u;
        } else {
            (void)gv_scan_skip(s);
        }
    }
}

static bool read_ready(gv_scan *s) {
    bool any = false;
    if (!gv_scan_open(s, '[')) {
        return false;
    }
    while (gv_scan_element(s)) {
        gv_str key, type = {"", 0}, status = {"", 0};
        if (!gv_scan_open(s, '{')) {
            continue;
        }
        while (gv_scan_member(s, &key)) {
            gv_str *text = gv_str_is(key, "type")     ? &type
                           : gv_str_is(key, "status") ? &status
                                                      : NULL;
            if (text) {
                *text = gv_scan_text(s);
            } else {
                (void)gv_scan_skip(s);
            }
        }
        any = any || (gv_str_is(type, "Ready") && gv_str_is(status, "True"));
    }
    return any;
}

/* A map of resources: allocatable counts, capacity where that is missing. */
static bool read_amounts(grove_extract *x, gv_scan *s, gv_request_facts *out) {
    bool is_map = *gv_scan_at(s) == '{' && s->status == GROVE_OK;
    gv_extract_quantities(x, s, out);
    return is_map;
}

static void read_status(grove_extract *x, gv_scan *s) {
    gv_str key;
    bool allocatable = false;
    x->node.flags &= ~GV_NODE_READY;
    x->node.allocatable.n = x->own.n = 0;
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "conditions")) {
            x->node.flags &= ~GV_NODE_READY;
            x->node.flags |= read_ready(s) ? GV_NODE_READY : 0u;
        } else if (gv_str_is(key, "allocatable")) {
            allocatable = read_amounts(x, s, &x->node.allocatable);
        } else if (gv_str_is(key, "capacity")) {
            (void)read_amounts(x, s, &x->own);
        } else {
            (void)gv_scan_skip(s);
        }
    }
    if (!allocatable) {
        x->node.allocatable.n = 0;
        for (size_t i = 0; i < x->own.n; i++) {
            if (!gv_vec_push(x->env, &x->node.allocatable, x->own.v[i])) {
                gv_scan_fail(s, GROVE_E_NOMEM);
            }
        }
    }
}

static void take_labels(grove_extract *x, gv_scan *s) {
    gv_label_facts *out = &x->node.labels;
    out->n = 0;
    for (size_t i = 0; i < x->labels.n; i++) {
        if (!gv_vec_push(x->env, out, x->labels.v[i])) {
            gv_scan_fail(s, GROVE_E_NOMEM);
            return;
        }
    }
    gv_labels_sort(out); /* equal keys keep their order: the last one counts */
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        n -= n > 0 && gv_str_eq(out->v[n - 1].key, out->v[i].key) ? 1u : 0u;
        out->v[n++] = out->v[i];
    }
    out->n = n;
}

void gv_extract_node(grove_extract *x, gv_scan *s) {
    gv_str key;
    x->node.flags = 0;
    x->node.taints.n = x->node.allocatable.n = x->own.n = 0;
    if (gv_scan_open(s, '{')) {
        while (gv_scan_member(s, &key)) {
            if (gv_str_is(key, "metadata")) {
                gv_extract_metadata(x, s, &x->node.head);
            } else if (gv_str_is(key, "spec")) {
                read_spec(x, s);
            } else if (gv_str_is(key, "status")) {
                read_status(x, s);
            } else {
                gv_extract_other(x, s, key);
            }
        }
    }
    take_labels(x, s);
    gv_requests_sort(&x->node.allocatable);
}
