/* SPDX-License-Identifier: Apache-2.0 */
/* Reading acquireTime and renewTime. */
#include "sim/lease.h"

#include "value/doc.h"
#include "value/scalar.h"

/* 2026-11-29T20:19:59.123456Z, or with an offset in place of the Z. */
static bool is_micro_time(gv_str text) {
    int64_t ns = 0;
    const char *dot = text.n ? memchr(text.p, '.', text.n) : NULL;
    if (!dot || gv_time_parse(text, &ns, NULL) < 0) {
        return false;
    }
    size_t digits = 0;
    for (const char *p = dot + 1; p < text.p + text.n && *p >= '0' && *p <= '9'; p++) {
        digits++;
    }
    return digits == 6;
}

grove_status gv_sim_check_lease(gv_sim_call *c, const grove_node *lease) {
    static const char *const times[] = {"acquireTime", "renewTime"};
    const grove_node *spec = grove_node_get(lease, "spec");
    for (size_t i = 0; i < 2; i++) {
        const grove_node *t = grove_node_get(spec, times[i]);
        if (gv_node_is_nothing(t) || is_micro_time(gv_node_str(t))) {
            continue;
        }
        return c->op->verb == GROVE_VERB_PATCH
                   ? gv_sim_refuse(c, 422, "Invalid", NULL, "spec.%s is no time in microseconds",
                                   times[i])
                   : gv_sim_bad_request(c, "spec.%s is no time in microseconds", times[i]);
    }
    return GROVE_OK;
}
