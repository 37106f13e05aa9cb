/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that goes with an INFEASIBLE answer, in a form that others can check. */
#include "sched/decision.h"

static grove_certificate blank(grove_reason reason) {
    return (grove_certificate){.size = (uint32_t)sizeof(grove_certificate),
                               .reason = reason,
                               .level = GROVE_LEVEL_NONE,
                               .nearest = GV_NONE,
                               .class_id = GV_NONE,
                               .resource = GV_NONE};
}

void gv_certificate_refusal(grove_decision *d, const gv_refusal *r) {
    d->certificate = blank(r->reason);
    d->certificate.entity_kind = r->kind;
    d->certificate.entity = r->entity;
    d->certificate.level = r->level == GV_LEVEL_UNKNOWN ? GROVE_LEVEL_UNKNOWN
                                                        : (grove_level)r->level - 1;
}

void gv_certificate_queue(grove_decision *d, grove_reason reason, uint32_t queue, uint32_t resource,
                          int64_t have, int64_t need) {
    d->certificate = blank(reason);
    d->certificate.queue = queue;
    d->certificate.resource = resource;
    d->certificate.have = have;
    d->certificate.need = need;
}

/* A class that fits nowhere even on an empty cluster. */
static bool no_node(const gv_problem *p, grove_certificate *c) {
    for (uint32_t k = 0; k < p->n_classes; k++) {
        const gv_problem_class *cls = &p->classes[k];
        if (cls->need == 0) {
            continue;
        }
        bool found = false;
        uint32_t lacking = GV_NONE;
        int64_t most = -1;
        for (uint32_t i = 0; !found && i < p->s->nodes.n; i++) {
            if (!gv_node_live(p->s, i) || !gv_class_allows(p->s, cls->class_id, i)) {
                continue;
            }
            const int64_t *cap = p->s->cap + (size_t)i * p->s->stride;
            found = gv_fit(cls->cls, cap) > 0;
            for (uint32_t n = 0; !found && n < cls->cls->n_needs; n++) {
                const gv_need *need = &cls->cls->needs[n];
                if (cap[need->resource] < need->amount && cap[need->resource] > most) {
                    most = cap[need->resource];
                    lacking = need->resource;
                }
            }
        }
        if (!found) {
            *c = blank(GROVE_REASON_NO_NODE);
            c->class_id = cls->class_id;
            c->resource = lacking;
            c->have = most > 0 ? most : 0;
            c->need = lacking == GV_NONE ? 1 : cls->row[lacking];
            return true;
        }
    }
    return false;
}

void gv_certificate_bounds(const gv_problem *p, grove_decision *d, const gv_candidates *c) {
    const gv_unit *root = &p->units[0];
    grove_certificate *out = &d->certificate;
    if (no_node(p, out)) {
        return;
    }
    *out = blank(c->n > 0 ? GROVE_REASON_JOINT : c->nearest.reason);
    out->level = (grove_level)root->level - 1;
    out->candidates = c->considered;
    if (c->n == 0 && (c->nearest.reason == GROVE_REASON_NONE || c->banned > 0)) {
        out->reason = c->banned > 0 ? GROVE_REASON_SPREAD : GROVE_REASON_COUNT;
        out->need = 1;
        return;
    }
    if (c->n == 0) {
        out->class_id = c->nearest.cls == GV_NONE ? GV_NONE : p->classes[c->nearest.cls].class_id;
        out->resource = c->nearest.resource;
        out->have = c->nearest.have;
        out->need = c->nearest.need;
    }
    uint32_t dom = c->n > 0 ? c->v[0].domain : c->nearest_domain;
    if (dom != GV_NONE) {
        out->nearest = root->level == p->host ? dom
                                              : p->t->order[p->t->levels[root->level].lo[dom]];
    }
}

const char *grove_reason_name(grove_reason reason) {
    static const char *const names[] = {"NONE",        "UNKNOWN_LEVEL", "NO_NODE", "PINNED_APART",
                                        "ANCHOR",      "RESOURCE",      "COUNT",   "CAPABILITY",
                                        "JOINT",       "SPREAD",        "BUDGET",  "QUEUE_LIMIT",
                                        "QUEUE_SHARE", "KEPT"};
    return reason >= 0 && reason <= GROVE_REASON_KEPT ? names[reason] : "?";
}
