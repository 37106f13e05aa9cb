/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions as text: see tell.h. */
#include "tell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static const char *node_name(const telling *t, uint32_t node) {
    return node == GROVE_SCHED_NONE ? "-" : grove_sched_node_name(t->s, node);
}

static const char *verdict(const telling *t) {
    static const char *const names[] = {"none", "placed", "infeasible", "unknown"};
    return names[grove_decision_verdict(t->d)];
}

static const char *level_name(const telling *t, grove_level level) {
    return level == GROVE_LEVEL_NONE      ? "none"
           : level == GROVE_LEVEL_UNKNOWN ? "unknown"
                                          : grove_sched_level_key(t->s, t->topology, level);
}

static void tell_nodes(const telling *t) {
    for (uint32_t p = 0; p < t->n_podgroups; p++) {
        uint32_t n = 0;
        const uint32_t *nodes = grove_decision_nodes(t->d, p, &n);
        gv_buf_fmt(t->out, " [");
        for (uint32_t i = 0; i < n; i++) {
            gv_buf_fmt(t->out, "%s%s", i ? " " : "", node_name(t, nodes[i]));
        }
        gv_buf_fmt(t->out, "]");
    }
}

static void tell_cost(const telling *t) {
    grove_cost c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_cost(t->d, &c), GROVE_OK);
    gv_buf_fmt(t->out,
               " climbed %lld span %lld hosts %lld skew %lld moved %lld broken %lld leftover %lld "
               "disliked %lld",
               (long long)c.climbed, (long long)c.span, (long long)c.hosts, (long long)c.skew,
               (long long)c.moved, (long long)c.broken, (long long)c.leftover,
               (long long)c.disliked);
}

static void tell_certificate(const telling *t) {
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(t->d, &c), GROVE_OK);
    gv_buf_fmt(t->out,
               " %s of %d/%d on %s: %u candidates, nearest %s, class %d, resource %d, %lld of %lld",
               grove_reason_name(c.reason), (int)c.entity_kind, (int)c.entity,
               level_name(t, c.level), (unsigned)c.candidates, node_name(t, c.nearest),
               (int)c.class_id, (int)c.resource, (long long)c.have, (long long)c.need);
}

void tell_short(const telling *t) {
    gv_buf_fmt(t->out, "  %s", verdict(t));
    if (grove_decision_verdict(t->d) == GROVE_PLACED) {
        gv_buf_fmt(t->out, " score %d", (int)grove_decision_score(t->d));
        tell_cost(t);
        tell_nodes(t);
    } else {
        tell_certificate(t);
    }
    gv_buf_fmt(t->out, "\n");
}

static void tell_levels(const telling *t) {
    gv_buf_fmt(t->out, "  levels: gang %s",
               level_name(t, grove_decision_level(t->d, GROVE_ENTITY_GANG, 0)));
    for (uint32_t i = 0; i < t->n_groups; i++) {
        gv_buf_fmt(t->out, ", group %s",
                   level_name(t, grove_decision_level(t->d, GROVE_ENTITY_GROUP, i)));
    }
    for (uint32_t i = 0; i < t->n_podgroups; i++) {
        gv_buf_fmt(t->out, ", podgroup %s",
                   level_name(t, grove_decision_level(t->d, GROVE_ENTITY_PODGROUP, i)));
    }
    gv_buf_fmt(t->out, "\n");
}

static void tell_victims(const telling *t) {
    uint32_t n = 0;
    const grove_victim *v = grove_decision_victims(t->d, &n);
    for (uint32_t i = 0; i < n; i++) {
        gv_buf_fmt(t->out, "  victim: gang %d pod %d on %s\n", (int)v[i].gang, (int)v[i].pod,
                   v[i].pod == GROVE_SCHED_NONE
                       ? "-"
                       : node_name(t, grove_sched_pod_node(t->s, v[i].pod)));
    }
    if (n > 0) {
        gv_buf_fmt(t->out, "  proven fewest: %d\n", (int)grove_decision_victims_proven(t->d));
    }
}

/* The explanation; how many steps it took is left open. */
static void tell_why(const telling *t, uint32_t flags) {
    uint64_t from = t->out->len;
    assert_int_equal(grove_sched_explain(t->s, t->g, t->d, flags, t->out, NULL), GROVE_OK);
    gv_buf_fmt(t->out, "\n");
    char *digits = strstr(t->out->data + from, "\"steps\":");
    for (digits = digits ? digits + 8 : NULL; digits && *digits >= '0' && *digits <= '9';) {
        memmove(digits, digits + 1, strlen(digits));
        t->out->len--;
    }
}

void tell_long(const telling *t) {
    tell_short(t);
    if (grove_decision_verdict(t->d) == GROVE_PLACED) {
        tell_levels(t);
    }
    tell_victims(t);
    tell_why(t, 0);
    tell_why(t, GROVE_EXPLAIN_JSON);
}

void tell_room(const telling *t) {
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sched_verify(t->s, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (uint32_t i = 0; i < grove_sched_node_limit(t->s); i++) {
        const int64_t *free = grove_sched_node_free(t->s, i);
        gv_buf_fmt(t->out, "  %s:", free ? grove_sched_node_name(t->s, i) : "gone");
        for (uint32_t r = 0; free && r < grove_sched_resource_count(t->s); r++) {
            gv_buf_fmt(t->out, " %lld", (long long)free[r]);
        }
        gv_buf_fmt(t->out, "\n");
    }
}
