/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a class of pods may run on a node at all: selectors, affinity, taints, veto. */
#include "sched/state.h"

static const gv_pair *find_label(const gv_node *node, uint32_t key) {
    for (uint32_t i = 0; i < node->n_labels; i++) {
        if (node->labels[i].key == key) {
            return &node->labels[i];
        }
    }
    return NULL;
}

static bool value_listed(const gv_requirement *q, uint32_t value) {
    for (uint32_t i = 0; i < q->n_values; i++) {
        if (q->values[i] == value) {
            return true;
        }
    }
    return false;
}

static bool compares(const grove_sched *s, const gv_requirement *q, const gv_pair *label) {
    int64_t have;
    if (!label || q->bad_bound || !gv_str_int64(gv_str_c(s->texts.v[label->value]), &have)) {
        return false;
    }
    return q->op == GROVE_MATCH_GT ? have > q->bound : have < q->bound;
}

static bool requirement_holds(const grove_sched *s, const gv_requirement *q, const gv_node *node) {
    if (q->op == GROVE_MATCH_NAME_IN || q->op == GROVE_MATCH_NAME_NOT_IN) {
        uint32_t name = gv_sched_text_find(s, node->name);
        bool listed = name != GV_NONE && value_listed(q, name);
        return listed == (q->op == GROVE_MATCH_NAME_IN);
    }
    const gv_pair *label = find_label(node, q->key);
    switch (q->op) {
    case GROVE_MATCH_IN:
        return label && value_listed(q, label->value);
    case GROVE_MATCH_NOT_IN:
        return !label || !value_listed(q, label->value);
    case GROVE_MATCH_EXISTS:
        return label != NULL;
    case GROVE_MATCH_DOES_NOT_EXIST:
        return label == NULL;
    default:
        return compares(s, q, label);
    }
}

static bool term_holds(const grove_sched *s, const gv_term *term, const gv_node *node) {
    for (uint32_t i = 0; i < term->n_reqs; i++) {
        if (!requirement_holds(s, &term->reqs[i], node)) {
            return false;
        }
    }
    return term->n_reqs > 0;
}

static bool tolerated(const gv_class *c, const gv_taint *taint) {
    for (uint32_t i = 0; i < c->n_tolerations; i++) {
        const gv_toleration *t = &c->tolerations[i];
        if (t->effect != GROVE_TAINT_ANY && t->effect != taint->effect) {
            continue;
        }
        if (t->key == GV_NONE ? t->exists
                              : t->key == taint->key && (t->exists || t->value == taint->value)) {
            return true;
        }
    }
    return false;
}

bool gv_class_allows(const grove_sched *s, uint32_t class_id, uint32_t node_id) {
    const gv_class *c = &s->classes.v[class_id];
    const gv_node *node = &s->nodes.v[node_id];
    if (!node->name || (node->flags & (GROVE_NODE_DOWN | GV_NODE_KEPT)) ||
        ((node->flags & GROVE_NODE_UNSCHEDULABLE) && !c->tolerates_unschedulable)) {
        return false;
    }
    for (uint32_t i = 0; i < node->n_taints; i++) {
        if (node->taints[i].effect != GROVE_TAINT_PREFER_NO_SCHEDULE &&
            !tolerated(c, &node->taints[i])) {
            return false;
        }
    }
    uint32_t term = 0;
    for (uint32_t list = 0; list < c->n_lists; list++) {
        bool holds = false;
        for (; term < c->list_end[list]; term++) {
            holds = holds || term_holds(s, &c->any[term], node);
        }
        if (!holds) {
            return false;
        }
    }
    return !s->veto || s->veto(s->veto_ctx, class_id, node_id) == 0;
}

int64_t gv_class_dislike(const grove_sched *s, uint32_t class_id, uint32_t node_id) {
    const gv_class *c = &s->classes.v[class_id];
    const gv_node *node = &s->nodes.v[node_id];
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->n_preferred; i++) {
        sum += term_holds(s, &c->preferred[i], node) ? 0 : c->preferred[i].weight;
    }
    for (uint32_t i = 0; i < node->n_taints; i++) {
        if (node->taints[i].effect == GROVE_TAINT_PREFER_NO_SCHEDULE &&
            !tolerated(c, &node->taints[i])) {
            sum += 100;
        }
    }
    return sum;
}

int32_t grove_sched_class_allows(grove_sched *sched, uint32_t class_id, uint32_t node) {
    return class_id < sched->classes.n && gv_node_live(sched, node) &&
           gv_class_allows(sched, class_id, node);
}
