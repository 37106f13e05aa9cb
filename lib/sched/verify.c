/* SPDX-License-Identifier: Apache-2.0 */
/* The state as one number, and running sums against a fresh count. */
#include "sched/state.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t x) {
    return gv_mix64(h ^ (x + UINT64_C(0x9e3779b97f4a7c15)));
}

static uint64_t hash_node(const grove_sched *s, uint32_t i, uint64_t h) {
    const gv_node *node = &s->nodes.v[i];
    h = mix(h, i);
    h = mix(h, node->name ? gv_fnv1a(GV_FNV_START, node->name, strlen(node->name)) : 0);
    if (!node->name) {
        return h;
    }
    h = mix(h, node->flags);
    for (uint32_t k = 0; k < node->n_labels; k++) {
        h = mix(h, (uint64_t)node->labels[k].key << 32 | node->labels[k].value);
    }
    for (uint32_t k = 0; k < node->n_taints; k++) {
        h = mix(h, (uint64_t)node->taints[k].key << 32 | node->taints[k].value);
        h = mix(h, (uint64_t)node->taints[k].effect);
    }
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        h = mix(h, (uint64_t)gv_node_free(s, i)[r]);
        h = mix(h, (uint64_t)s->cap[(size_t)i * s->stride + r]);
    }
    for (uint32_t p = node->pods; p != GV_NONE; p = s->pods.v[p].next) {
        const gv_pod *pod = &s->pods.v[p];
        h = mix(h, (uint64_t)p << 32 | pod->vector);
        h = mix(h, (uint64_t)pod->gang << 32 | pod->podgroup);
        h = mix(h, (uint64_t)(uint32_t)pod->priority << 32 | pod->flags);
    }
    return h;
}

uint64_t grove_sched_hash(const grove_sched *sched) {
    const grove_sched *s = sched;
    uint64_t h = 1;
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        h = hash_node(s, i, h);
    }
    for (uint32_t q = 1; q < grove_sched_queue_count(s); q++) {
        const int64_t *used = grove_sched_queue_used(s, q);
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            h = mix(h, (uint64_t)used[r]);
        }
    }
    for (uint32_t g = 0; g < s->gangs.n; g++) {
        const gv_gang_record *gang = &s->gangs.v[g];
        if (gang->live && (gang->queue || gang->flags || gv_gang_base(s, g) != GV_NONE)) {
            h = mix(mix(h, (uint64_t)gang->queue << 32 | gang->flags), gv_gang_base(s, g));
        }
        h = mix(h, gang->live ? (uint64_t)gang->n_pods << 32 | (uint32_t)gang->priority : 0);
        for (uint32_t p = gang->live ? gang->head : GV_NONE; p != GV_NONE;
             p = s->pods.v[p].gang_next) {
            h = mix(h, p);
        }
    }
    for (uint32_t p = s->free_pod; p != GV_NONE; p = s->pods.v[p].next) {
        h = mix(h, p); /* the next pod's id depends on it */
    }
    return h;
}

static grove_status drifted(grove_error *err, const char *what, uint32_t id) {
    return gv_error(err, GROVE_E_INTERNAL, "%s %u has drifted", what, id);
}

static grove_status verify_nodes(const grove_sched *s, grove_error *err) {
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const gv_node *node = &s->nodes.v[i];
        uint32_t n = 0;
        int64_t used[GV_RESOURCES_MAX] = {0};
        for (uint32_t p = node->name ? node->pods : GV_NONE; p != GV_NONE; p = s->pods.v[p].next) {
            const int64_t *row = gv_sched_row(s, s->pods.v[p].vector);
            for (uint32_t r = 0; r < s->resource_names.n; r++) {
                used[r] += row[r];
            }
            n++;
        }
        for (uint32_t r = 0; node->name && r < s->resource_names.n; r++) {
            if (s->cap[(size_t)i * s->stride + r] - used[r] != gv_node_free(s, i)[r]) {
                return drifted(err, "free room of node", i);
            }
        }
        if (node->name && n != node->n_pods) {
            return drifted(err, "pod count of node", i);
        }
    }
    return GROVE_OK;
}

static grove_status verify_level(const grove_sched *s, const gv_topology *t, uint32_t l,
                                 grove_error *err) {
    const gv_level *lv = &t->levels[l];
    for (uint32_t d = 0; d < lv->n; d++) {
        uint32_t busy = 0;
        int64_t sum[GV_RESOURCES_MAX] = {0};
        for (uint32_t pos = lv->lo[d]; pos < lv->hi[d]; pos++) {
            uint32_t node = t->order[pos];
            if (gv_topology_dom(t, node, l) != d || t->pos[node] != pos) {
                return drifted(err, "tree at node", node);
            }
            busy += s->nodes.v[node].n_pods > 0;
            for (uint32_t r = 0; gv_node_up(s, node) && r < s->resource_names.n; r++) {
                int64_t have = gv_node_free(s, node)[r];
                sum[r] += have > 0 ? have : 0;
            }
        }
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            if (sum[r] != lv->free[(size_t)d * s->stride + r]) {
                return drifted(err, "free sum of domain", d);
            }
        }
        if (busy != lv->busy[d]) {
            return drifted(err, "busy count of domain", d);
        }
        uint32_t below = l < t->n_levels ? t->levels[l + 1].n : 0;
        for (uint32_t c = lv->first[d]; l < t->n_levels && c < lv->end[d]; c++) {
            if (c >= below || t->levels[l + 1].parent[c] != d) {
                return drifted(err, "parent of domain", c);
            }
        }
    }
    return GROVE_OK;
}

/* Every queue against the pods in it and in those below it. */
static grove_status verify_queues(grove_sched *s, grove_error *err) {
    for (uint32_t q = 1; q < grove_sched_queue_count(s); q++) {
        int64_t sum[GV_RESOURCES_MAX] = {0};
        for (uint32_t p = 0; p < s->pods.n; p++) {
            const gv_pod *pod = &s->pods.v[p];
            uint32_t at = pod->node != GV_NONE ? gv_pod_queue(pod) : 0;
            while (at != 0 && at != q) {
                at = grove_sched_queue_parent(s, at);
            }
            for (uint32_t r = 0; at == q && r < s->resource_names.n; r++) {
                sum[r] += gv_sched_row(s, pod->vector)[r];
            }
        }
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            if (sum[r] != grove_sched_queue_used(s, q)[r]) {
                return drifted(err, "use of queue", q);
            }
        }
    }
    return GROVE_OK;
}

static grove_status verify_column(grove_sched *s, const gv_column *old, grove_error *err) {
    uint32_t class_id = old->class_id, topology = old->topology;
    const gv_column *c = gv_column_get(s, topology, class_id);
    if (!c) {
        return gv_error_nomem(err);
    }
    const gv_topology *t = &s->topologies.v[topology];
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        uint32_t want = gv_node_live(s, i) && gv_class_allows(s, class_id, i)
                            ? gv_fit(&s->classes.v[class_id], gv_node_free(s, i))
                            : 0;
        if (want != c->count[i]) {
            return drifted(err, "count of a class on node", i);
        }
        total += want;
    }
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        uint64_t sum = 0;
        for (uint32_t d = 0; d < t->levels[l].n; d++) {
            sum += c->sum[l][d];
        }
        if (sum != total) {
            return drifted(err, "sum of a class on level", l);
        }
    }
    return GROVE_OK;
}

static grove_status verify_rooms(grove_sched *s, const gv_rooms *old, grove_error *err) {
    const gv_rooms *o = gv_rooms_get(s, old->topology, old->level, old->resource);
    if (!o) {
        return gv_error_nomem(err);
    }
    const gv_level *lv = &s->topologies.v[o->topology].levels[o->level];
    for (uint32_t i = 0; i < o->n; i++) {
        const int64_t *room = gv_rooms_of(o, o->dom[i]);
        if (memcmp(room, lv->free + (size_t)o->dom[i] * s->stride, o->width * sizeof *room) != 0) {
            return drifted(err, "room in the order at domain", o->dom[i]);
        }
        int c = i > 0 ? gv_rooms_compare(o, gv_rooms_of(o, o->dom[i - 1]), room) : -1;
        if (c > 0 || (c == 0 && o->dom[i - 1] >= o->dom[i])) {
            return drifted(err, "order of domains at place", i);
        }
    }
    return GROVE_OK;
}

grove_status grove_sched_verify(grove_sched *sched, grove_error *err) {
    grove_sched *s = sched;
    grove_status st = verify_nodes(s, err);
    for (uint32_t k = 0; st == GROVE_OK && k < s->topologies.n; k++) {
        if (gv_topology_refresh(s, k) < 0) {
            return gv_error_nomem(err);
        }
        for (uint32_t l = 0; st == GROVE_OK && l <= s->topologies.v[k].n_levels; l++) {
            st = verify_level(s, &s->topologies.v[k], l, err);
        }
    }
    st = st < 0 ? st : verify_queues(s, err);
    for (size_t i = 0; st == GROVE_OK && i < s->columns.n; i++) {
        st = verify_column(s, s->columns.v[i], err);
    }
    for (size_t i = 0; st == GROVE_OK && i < s->rooms.n; i++) {
        st = verify_rooms(s, &s->rooms.v[i], err);
    }
    return st;
}
