/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: what they are, what is free on them, and the sums per domain that follow. */
#include "sched/state.h"

#include <string.h>

static void journal_note(grove_sched *s, uint32_t id) {
    s->journal[s->journal_end & (s->journal_size - 1)] = id;
    s->journal_end++;
}

void gv_node_touch(grove_sched *s, uint32_t id) {
    journal_note(s, id | GV_DESCRIBED);
}

static inline int64_t positive(int64_t x) {
    return x > 0 ? x : 0;
}

void gv_node_charge(grove_sched *s, uint32_t id, const int64_t *row, int sign) {
    int64_t *room = gv_node_free(s, id), change[GV_RESOURCES_MAX];
    uint32_t changed[GV_RESOURCES_MAX], n = 0, n_res = (uint32_t)s->resource_names.n;
    for (uint32_t r = 0; r < n_res; r++) {
        int64_t before = positive(room[r]);
        room[r] += sign * row[r];
        change[n] = positive(room[r]) - before;
        changed[n] = r;
        n += change[n] != 0;
    }
    size_t n_topologies = gv_node_up(s, id) ? s->topologies.n : 0;
    for (size_t k = 0; k < n_topologies; k++) {
        gv_topology *t = &s->topologies.v[k];
        for (uint32_t l = 0; !t->dirty && l <= t->n_levels; l++) {
            int64_t *sum = t->levels[l].free + (size_t)gv_topology_dom(t, id, l) * s->stride;
            for (uint32_t i = 0; i < n; i++) {
                sum[changed[i]] += change[i];
            }
        }
    }
    journal_note(s, id);
}

void gv_node_busy(grove_sched *s, uint32_t id, uint32_t before) {
    uint32_t now = s->nodes.v[id].n_pods;
    if ((before > 0) == (now > 0)) {
        return;
    }
    for (size_t k = 0; k < s->topologies.n; k++) {
        gv_topology *t = &s->topologies.v[k];
        for (uint32_t l = 0; !t->dirty && l <= t->n_levels; l++) {
            t->levels[l].busy[gv_topology_dom(t, id, l)] += now > 0 ? 1u : UINT32_MAX;
        }
    }
}

/* Takes the node out of the sums (sign -1) or puts it back (+1) around a change of flags or capacity. */
static void sums_of_node(grove_sched *s, uint32_t id, int sign) {
    if (!gv_node_up(s, id)) {
        return;
    }
    const int64_t *room = gv_node_free(s, id);
    for (size_t k = 0; k < s->topologies.n; k++) {
        gv_topology *t = &s->topologies.v[k];
        for (uint32_t l = 0; !t->dirty && l <= t->n_levels; l++) {
            int64_t *sum = t->levels[l].free + (size_t)gv_topology_dom(t, id, l) * s->stride;
            for (size_t r = 0; r < s->resource_names.n; r++) {
                sum[r] += sign * positive(room[r]);
            }
        }
    }
}

static int pair_order(const gv_pair *a, const gv_pair *b) {
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Few labels per node: insertion keeps the last of equal keys. */
static uint32_t sort_labels(gv_pair *labels, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        gv_pair p = labels[i];
        uint32_t at = kept;
        while (at > 0 && pair_order(&p, &labels[at - 1]) < 0) {
            at--;
        }
        if (at > 0 && labels[at - 1].key == p.key) {
            labels[at - 1] = p;
            continue;
        }
        memmove(labels + at + 1, labels + at, (kept - at) * sizeof *labels);
        labels[at] = p;
        kept++;
    }
    return kept;
}

void gv_node_clear(grove_sched *s, gv_node *node) {
    gv_sched_dup_free(s, node->name);
    gv_free(s->env, node->labels, (size_t)node->n_labels * sizeof *node->labels);
    gv_free(s->env, node->taints, (size_t)node->n_taints * sizeof *node->taints);
    memset(node, 0, sizeof *node);
    node->pods = GV_NONE;
}

/* Labels, taints and flags of `spec` into the zeroed `out`; the name is not copied. */
static grove_status describe(grove_sched *s, const grove_sched_node *spec, gv_node *out) {
    if (spec->n_labels > 0) {
        gv_pair *labels = gv_alloc(s->env, spec->n_labels * sizeof *labels);
        if (!labels) {
            return GROVE_E_NOMEM;
        }
        out->labels = labels;
        out->n_labels = spec->n_labels;
        for (uint32_t i = 0; i < spec->n_labels; i++) {
            if (!gv_sched_text(s, spec->labels[i].key, &labels[i].key) ||
                !gv_sched_text(s, spec->labels[i].value, &labels[i].value)) {
                return GROVE_E_NOMEM;
            }
        }
        uint32_t kept = sort_labels(labels, spec->n_labels);
        if (kept < spec->n_labels) {
            gv_pair *less = gv_realloc(s->env, labels, spec->n_labels * sizeof *labels,
                                       kept * sizeof *labels);
            if (!less) {
                return GROVE_E_NOMEM;
            }
            out->labels = less;
            out->n_labels = kept;
        }
    }
    if (spec->n_taints > 0) {
        out->taints = gv_alloc(s->env, spec->n_taints * sizeof *out->taints);
        if (!out->taints) {
            return GROVE_E_NOMEM;
        }
        out->n_taints = spec->n_taints;
        for (uint32_t i = 0; i < spec->n_taints; i++) {
            const char *value = spec->taints[i].value ? spec->taints[i].value : "";
            out->taints[i].effect = spec->taints[i].effect;
            s->soft_taints = s->soft_taints ||
                             spec->taints[i].effect == GROVE_TAINT_PREFER_NO_SCHEDULE;
            if (!gv_sched_text(s, spec->taints[i].key, &out->taints[i].key) ||
                !gv_sched_text(s, value, &out->taints[i].value)) {
                return GROVE_E_NOMEM;
            }
        }
    }
    out->flags = spec->flags & (GROVE_NODE_UNSCHEDULABLE | GROVE_NODE_DOWN);
    out->pods = GV_NONE;
    return GROVE_OK;
}

static void capacity_row(const grove_sched *s, const grove_sched_node *spec, int64_t *row) {
    for (uint32_t r = 0; r < s->stride; r++) {
        int64_t have = r < spec->n_capacity && spec->capacity ? spec->capacity[r] : 0;
        bool fixed = r < s->resource_fixed.n && s->resource_fixed.v[r] >= 0;
        row[r] = fixed ? s->resource_fixed.v[r] : have;
    }
}

static grove_status node_spec_check(const grove_sched *s, const grove_sched_node *in,
                                    grove_sched_node *out, grove_error *err) {
    grove_status st = gv_struct_in(out, sizeof *out, in, in ? in->size : 0, sizeof *out);
    if (st < 0) {
        return gv_error(err, st, "grove_sched_node has a wrong size");
    }
    for (uint32_t r = 0; r < out->n_capacity; r++) {
        if (out->capacity[r] < 0 || out->capacity[r] > INT64_MAX / 1048576) {
            return gv_error(err, GROVE_E_RANGE, "capacity %u of a node is out of range", r);
        }
    }
    if (out->n_capacity > s->resource_names.n) {
        return gv_error(err, GROVE_E_INVALID, "capacity names a resource that was not declared");
    }
    for (uint32_t i = 0; i < out->n_labels; i++) {
        if (!out->labels[i].key || !out->labels[i].value) {
            return gv_error(err, GROVE_E_INVALID, "a label of a node has no key or value");
        }
    }
    for (uint32_t i = 0; i < out->n_taints; i++) {
        if (!out->taints[i].key) {
            return gv_error(err, GROVE_E_INVALID, "a taint of a node has no key");
        }
    }
    return GROVE_OK;
}

static bool rows_reserve(grove_sched *s, size_t n) {
    if (n <= s->cap_rows) {
        return true;
    }
    size_t want = s->cap_rows ? s->cap_rows * 2 : 64;
    want = want < n ? n : want;
    size_t row = s->stride * sizeof(int64_t);
    int64_t *room = gv_alloc(s->env, want * row), *cap = room ? gv_alloc(s->env, want * row) : NULL;
    if (!cap) {
        gv_free(s->env, room, want * row);
        return false;
    }
    if (s->cap_rows > 0) {
        memcpy(room, s->free, s->cap_rows * row);
        memcpy(cap, s->cap, s->cap_rows * row);
    }
    gv_free(s->env, s->free, s->cap_rows * row);
    gv_free(s->env, s->cap, s->cap_rows * row);
    s->free = room;
    s->cap = cap;
    s->cap_rows = want;
    return true;
}

static bool journal_reserve(grove_sched *s, size_t n_nodes) {
    size_t want = 1024;
    while (want < n_nodes / 4) {
        want *= 2;
    }
    if (want <= s->journal_size) {
        return true;
    }
    uint32_t *ring = gv_alloc(s->env, want * sizeof *ring);
    if (!ring) {
        return false;
    }
    gv_free(s->env, s->journal, s->journal_size * sizeof *s->journal);
    s->journal = ring;
    s->journal_size = (uint32_t)want;
    s->journal_end += 2 * want; /* every column is now too far behind and will be built anew */
    return true;
}

static void topologies_dirty(grove_sched *s) {
    for (size_t i = 0; i < s->topologies.n; i++) {
        s->topologies.v[i].dirty = true;
    }
}

static uint32_t take_slot(grove_sched *s) {
    if (s->free_node > 0) {
        for (uint32_t i = 0; i < s->nodes.n; i++) {
            if (!s->nodes.v[i].name) {
                s->free_node--;
                return i;
            }
        }
    }
    s->nodes.n++;
    return (uint32_t)s->nodes.n - 1;
}

grove_status grove_sched_node_add(grove_sched *sched, const grove_sched_node *node,
                                  uint32_t *out_node, grove_error *err) {
    grove_sched *s = sched;
    grove_sched_node spec;
    if (!s || s->marks > 0) {
        return gv_error(err, GROVE_E_INVALID, "a node cannot be added while a mark is open");
    }
    grove_status st = node_spec_check(s, node, &spec, err);
    if (st < 0) {
        return st;
    }
    if (!spec.name || !spec.name[0]) {
        return gv_error(err, GROVE_E_INVALID, "a node needs a name");
    }
    if (gv_map_has(&s->node_ids, gv_str_c(spec.name))) {
        return gv_error(err, GROVE_E_EXISTS, "node '%s' exists already", spec.name);
    }
    gv_node fresh = {0};
    st = describe(s, &spec, &fresh);
    fresh.name = st == GROVE_OK ? gv_sched_dup(s, spec.name) : NULL;
    if (!fresh.name || !gv_vec_reserve(s->env, &s->nodes, s->nodes.n + 1) ||
        !rows_reserve(s, s->nodes.n + 1) || !journal_reserve(s, s->nodes.n + 1)) {
        gv_node_clear(s, &fresh);
        return gv_error_nomem(err);
    }
    uint32_t id = take_slot(s);
    if (!gv_map_put(&s->node_ids, gv_str_c(spec.name), (void *)(uintptr_t)(id + 1))) {
        gv_node_clear(s, &fresh);
        s->nodes.v[id] = fresh;
        s->free_node++;
        return gv_error_nomem(err);
    }
    s->nodes.v[id] = fresh;
    capacity_row(s, &spec, s->cap + (size_t)id * s->stride);
    capacity_row(s, &spec, gv_node_free(s, id));
    topologies_dirty(s);
    gv_node_touch(s, id);
    *out_node = id;
    return GROVE_OK;
}

/* Equal places in every topology: then no tree has to be built anew. */
static bool same_domains(const grove_sched *s, const gv_node *a, const gv_node *b) {
    for (size_t k = 0; k < s->topologies.n; k++) {
        const gv_topology *t = &s->topologies.v[k];
        for (uint32_t l = 1; l <= t->n_levels; l++) {
            uint32_t va = GV_NONE, vb = GV_NONE;
            for (uint32_t i = 0; i < a->n_labels; i++) {
                va = a->labels[i].key == t->levels[l].key ? a->labels[i].value : va;
            }
            for (uint32_t i = 0; i < b->n_labels; i++) {
                vb = b->labels[i].key == t->levels[l].key ? b->labels[i].value : vb;
            }
            if (va != vb) {
                return false;
            }
        }
    }
    return true;
}

void gv_node_image_free(grove_sched *s, gv_node_image *image) {
    if (image) {
        image->node.name = NULL; /* the name stays with the node */
        gv_node_clear(s, &image->node);
        gv_free(s->env, image->cap, image->stride * sizeof *image->cap);
        gv_free(s->env, image, sizeof *image);
    }
}

void gv_node_image_swap(grove_sched *s, uint32_t id, gv_node_image *image) {
    gv_node *node = &s->nodes.v[id];
    if (!same_domains(s, node, &image->node)) {
        topologies_dirty(s);
    }
    sums_of_node(s, id, -1);
    gv_node other = image->node;
    image->node = *node;
    node->labels = other.labels;
    node->n_labels = other.n_labels;
    node->taints = other.taints;
    node->n_taints = other.n_taints;
    node->flags = other.flags;
    int64_t *cap = s->cap + (size_t)id * s->stride, *room = gv_node_free(s, id);
    for (uint32_t r = 0; r < s->stride; r++) {
        int64_t now = image->cap[r];
        room[r] += now - cap[r];
        image->cap[r] = cap[r];
        cap[r] = now;
    }
    sums_of_node(s, id, +1);
    gv_node_touch(s, id);
}

grove_status grove_sched_node_update(grove_sched *sched, uint32_t id, const grove_sched_node *node,
                                     grove_error *err) {
    grove_sched *s = sched;
    grove_sched_node spec;
    if (!s || !gv_node_live(s, id)) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no node %u", id);
    }
    grove_status st = node_spec_check(s, node, &spec, err);
    if (st < 0) {
        return st;
    }
    gv_node_image *image = gv_zalloc(s->env, sizeof *image);
    if (!image) {
        return gv_error_nomem(err);
    }
    image->stride = s->stride;
    image->cap = gv_alloc(s->env, s->stride * sizeof *image->cap);
    st = image->cap ? describe(s, &spec, &image->node) : GROVE_E_NOMEM;
    if (st < 0 || !gv_undo_room(s, 1)) {
        gv_node_image_free(s, image);
        return gv_error_nomem(err);
    }
    if (s->marks > 0 && !same_domains(s, &s->nodes.v[id], &image->node)) {
        gv_node_image_free(s, image);
        return gv_error(err, GROVE_E_INVALID,
                        "a node cannot change its domain while a mark is open");
    }
    capacity_row(s, &spec, image->cap);
    gv_node_image_swap(s, id, image);
    if (s->marks > 0) {
        gv_undo_note(s, &(gv_undo){.kind = GV_UNDO_NODE, .id = id, .was.image = image});
    } else {
        gv_node_image_free(s, image);
    }
    return GROVE_OK;
}

grove_status grove_sched_node_remove(grove_sched *sched, uint32_t id) {
    grove_sched *s = sched;
    if (!s || !gv_node_live(s, id)) {
        return GROVE_E_NOT_FOUND;
    }
    if (s->marks > 0) {
        return GROVE_E_INVALID;
    }
    while (s->nodes.v[id].pods != GV_NONE) {
        gv_pod_erase(s, s->nodes.v[id].pods);
    }
    gv_map_remove(&s->node_ids, gv_str_c(s->nodes.v[id].name));
    gv_node_clear(s, &s->nodes.v[id]);
    s->free_node++;
    topologies_dirty(s);
    gv_node_touch(s, id);
    return GROVE_OK;
}

uint32_t grove_sched_node_find(const grove_sched *sched, const char *name) {
    uintptr_t known = name ? (uintptr_t)gv_map_get(&sched->node_ids, gv_str_c(name)) : 0;
    return known ? (uint32_t)known - 1 : GV_NONE;
}

const char *grove_sched_node_name(const grove_sched *sched, uint32_t id) {
    return gv_node_live(sched, id) ? sched->nodes.v[id].name : NULL;
}

uint32_t grove_sched_node_limit(const grove_sched *sched) {
    return (uint32_t)sched->nodes.n;
}

const int64_t *grove_sched_node_free(const grove_sched *sched, uint32_t id) {
    return gv_node_live(sched, id) ? gv_node_free(sched, id) : NULL;
}
