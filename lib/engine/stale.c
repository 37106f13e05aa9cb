/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that were found in a cluster which has changed since. Between a decision and its binds other writes
 * of the set may be under way; meanwhile a node can go, or turn into another one, and so can a pod of the gang,
 * or what the gang asks for. So a decision is compared with what is known now before a plan is made of it,
 * and once more before each pod goes out. While no pod has gone, all of it has to hold; after that what is
 * left has to, as a gang that has begun is better finished than stopped.
 */
#include "base/hash.h"
#include "engine/engine.h"
#include "value/doc.h"

/* ---- what was known ---- */

static uint64_t add_text(uint64_t h, const char *text) {
    return gv_fnv1a(h, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t h, int64_t n) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)n >> (8 * i));
    }
    return gv_fnv1a(h, bytes, sizeof bytes);
}

/* 0: there is no such node. */
uint64_t gv_engine_node_sig(const grove_engine *e, const char *name) {
    const gv_object *o = gv_store_get(e->store, GV_KIND_NODE, GV_STR(""), gv_str_c(name));
    if (o == NULL || gv_object_is_terminating(o)) {
        return 0;
    }
    const gv_node_record *node = &o->u.node;
    uint64_t h = add_number(add_text(GV_FNV_START, node->head.uid), node->flags);
    for (uint32_t i = 0; i < node->n_labels; i++) {
        h = add_text(add_text(h, node->labels[i].key), node->labels[i].value);
    }
    for (uint32_t i = 0; i < node->n_taints; i++) {
        h = add_text(add_text(h, node->taints[i].key), node->taints[i].value);
        h = add_text(h, node->taints[i].effect);
    }
    for (uint32_t i = 0; i < node->n_allocatable; i++) {
        h = add_number(add_text(h, node->allocatable[i].name), node->allocatable[i].amount);
    }
    return h | 1u;
}

/* Everything of the gang's spec but who its pods are. */
grove_status gv_engine_gang_terms(grove_engine *e, gv_str ns, gv_str gang, uint64_t *out) {
    const gv_object *o = gv_store_get(e->store, GV_KIND_PODGANG, ns, gang);
    grove_status st = GROVE_OK;
    grove_buf_clear(&e->op_text);
    GV_EACH(member, grove_node_get(o ? gv_object_node(o) : NULL, "spec")) {
        bool groups = strcmp(grove_node_key(member, NULL), "podgroups") == 0;
        if (!groups && st == GROVE_OK) {
            st = grove_node_write_json(member, 0, &e->op_text, NULL);
        }
        GV_EACH(group, groups ? member : NULL) {
            GV_EACH(part, group) {
                if (st == GROVE_OK && strcmp(grove_node_key(part, NULL), "podReferences") != 0) {
                    st = grove_node_write_json(part, 0, &e->op_text, NULL);
                }
            }
        }
    }
    *out = gv_fnv1a(GV_FNV_START, e->op_text.data, (size_t)e->op_text.len);
    return st;
}

/* ---- does it hold ---- */

static const gv_pod *pod_of(const grove_engine *e, const gv_decided *d,
                            const grove_placed_pod *place) {
    const gv_object *o = gv_store_get(e->store, GV_KIND_POD, d->ns, gv_str_c(place->pod));
    bool same = o && gv_pod_is_active(&o->u.pod) && strcmp(o->u.head.uid, place->uid) == 0;
    return same ? &o->u.pod : NULL;
}

/* Some pod has gone out: bound by us, or let go towards its place. */
static bool has_begun(const grove_engine *e, const gv_decided *d) {
    for (uint32_t i = 0; i < d->placement.n_pods; i++) {
        const gv_pod *p = pod_of(e, d, &d->placement.pods[i]);
        if (p && (gv_pod_is_bound(p) || (d->gated && (p->flags & GV_POD_GROVE_GATE) == 0))) {
            return true;
        }
    }
    return false;
}

/* The pod is still to be bound, and its node is not what it was. */
static bool has_lost_node(const grove_engine *e, const gv_decided *d, uint32_t i) {
    const gv_pod *p = pod_of(e, d, &d->placement.pods[i]);
    return p && !gv_pod_is_bound(p) &&
           gv_engine_node_sig(e, d->placement.pods[i].node) != d->node_sigs[i];
}

/* `only`: the pod that matters once the gang has begun; GV_ALL: all that are left. */
#define GV_ALL UINT32_MAX
static grove_status is_stale(grove_engine *e, const gv_decided *d, uint32_t only, bool *out) {
    bool begun = has_begun(e, d);
    uint64_t terms = 0;
    *out = false;
    if (d->placement.verdict != GROVE_VERDICT_PLACED || (begun && d->gated)) {
        return GROVE_OK;
    }
    if (begun && only != GV_ALL) {
        *out = has_lost_node(e, d, only);
        return GROVE_OK;
    }
    for (uint32_t i = 0; i < d->placement.n_pods && !*out; i++) {
        *out = (!begun && !pod_of(e, d, &d->placement.pods[i])) || has_lost_node(e, d, i);
    }
    if (begun || *out) {
        return GROVE_OK;
    }
    grove_status st = gv_engine_gang_terms(e, d->ns, gv_str_c(d->placement.gang), &terms);
    *out = st == GROVE_OK && terms != d->terms;
    return st;
}

static uint32_t place_in(const gv_decided *d, const char *pod) {
    for (uint32_t i = 0; i < d->placement.n_pods; i++) {
        if (strcmp(d->placement.pods[i].pod, pod) == 0) {
            return i;
        }
    }
    return GV_ALL;
}

/* ---- before a plan, and before an action ---- */

grove_status gv_engine_decide_stale_anew(grove_engine *e, gv_set *set, int64_t now,
                                         grove_error *err) {
    gv_map_entry *entry;
    bool any = false, stale = false;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (!gv_str_is(d->ns, set->ns) || !gv_str_is(d->set, set->name)) {
            continue;
        }
        if (is_stale(e, d, GV_ALL, &stale) < 0) {
            return gv_error_nomem(err);
        }
        if (stale) {
            any = true;
            if (gv_engine_withdraw(e, d->ns, gv_str_c(d->placement.gang)) < 0) {
                return gv_error_nomem(err);
            }
        }
    }
    return any ? gv_engine_place_gangs(e, now, err) : GROVE_OK;
}

grove_status gv_engine_follows_stale(grove_engine *e, const grove_action *a, bool *out) {
    *out = false;
    if ((gv_kind)a->kind != GV_KIND_POD ||
        (a->verb != GROVE_VERB_BIND && a->verb != GROVE_VERB_PATCH)) {
        return GROVE_OK;
    }
    const gv_object *o = gv_store_get(e->store, GV_KIND_POD, gv_str_c(a->ns), gv_str_c(a->name));
    if (o == NULL || o->u.pod.gang[0] == '\0') {
        return GROVE_OK;
    }
    const gv_decided *d = gv_engine_decision(e, gv_str_c(a->ns), gv_str_c(o->u.pod.gang));
    uint32_t at = d ? place_in(d, a->name) : GV_ALL;
    if (a->verb == GROVE_VERB_BIND) {
        /* Another one may stand there since the plan was made, or none. */
        *out = at == GV_ALL || strcmp(d->placement.pods[at].node, a->node) != 0;
    }
    return at == GV_ALL || *out ? GROVE_OK : is_stale(e, d, at, out);
}
