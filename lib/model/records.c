/* SPDX-License-Identifier: Apache-2.0 */
/* Facts into records: one piece of memory each, shared texts from the pool. */
#include "model/records.h"

static size_t round8(size_t n) {
    return (n + 7) & ~(size_t)7;
}

/* ---- texts of a record's own ---- */

static const char *own_text(char **at, gv_str s) {
    char *text = *at;
    if (s.n > 0) {
        memcpy(text, s.p, s.n);
    }
    text[s.n] = '\0';
    *at += s.n + 1;
    return text;
}

static size_t head_texts(const gv_head_facts *f) {
    return f->name.n + f->uid.n + f->rv.n + 3;
}

size_t gv_head_tail(const gv_head_facts *facts) {
    return round8(head_texts(facts));
}

size_t gv_pod_tail(const gv_pod_facts *facts) {
    return facts->requests.n * sizeof(gv_request) + facts->ports.n * sizeof(gv_host_port) +
           round8(head_texts(&facts->head));
}

size_t gv_node_tail(const gv_node_facts *facts) {
    return facts->labels.n * sizeof(gv_label) + facts->taints.n * sizeof(gv_taint) +
           facts->allocatable.n * sizeof(gv_request) + round8(head_texts(&facts->head));
}

/* A resourceVersion as a number; 0 when it is none (then only equality can be asked). */
static uint64_t version_order(gv_str rv) {
    int64_t n = 0;
    return gv_str_int64(rv, &n) && n > 0 ? (uint64_t)n : 0;
}

/* Takes a text from the pool into *out; on failure clears *ok. *out is never left unset, so that drop
 * can run over a half-filled record. */
static void take(gv_intern *pool, const char **out, gv_str text, bool *ok) {
    *out = *ok ? gv_intern_take(pool, text) : "";
    if (*out == NULL) {
        *ok = false;
        *out = "";
    }
}

static bool head_fill(gv_head *out, char **at, const gv_head_facts *f, gv_intern *pool) {
    bool ok = true;
    *out = (gv_head){.kind = f->kind,
                     .flags = f->flags,
                     .owner_kind = f->owner_kind,
                     .n_owners = f->n_owners,
                     .rv_order = version_order(f->rv),
                     .generation = f->generation,
                     .created = f->created,
                     .deleted = f->deleted};
    out->name = own_text(at, f->name);
    out->uid = own_text(at, f->uid);
    out->rv = own_text(at, f->rv);
    take(pool, &out->ns, f->ns, &ok);
    take(pool, &out->owner_uid, f->owner_uid, &ok);
    take(pool, &out->owner_name, f->owner_name, &ok);
    take(pool, &out->part_of, f->part_of, &ok);
    return ok;
}

bool gv_head_fill(gv_head *out, char *tail, const gv_head_facts *facts, gv_intern *pool) {
    char *at = tail;
    if (!head_fill(out, &at, facts, pool)) {
        gv_head_drop(out, pool);
        return false;
    }
    return true;
}

void gv_head_drop(gv_head *head, gv_intern *pool) {
    gv_intern_give(pool, head->ns);
    gv_intern_give(pool, head->owner_uid);
    gv_intern_give(pool, head->owner_name);
    gv_intern_give(pool, head->part_of);
    head->ns = head->owner_uid = head->owner_name = head->part_of = "";
}

/* ---- pods ---- */

bool gv_pod_fill(gv_pod *out, char *tail, const gv_pod_facts *f, gv_intern *pool) {
    gv_request *requests = (gv_request *)(void *)tail;
    gv_host_port *ports = (gv_host_port *)(void *)(requests + f->requests.n);
    char *at = (char *)(ports + f->ports.n);
    *out = (gv_pod){.flags = f->flags,
                    .phase = f->phase,
                    .index = f->index,
                    .hostname_index = f->hostname_index,
                    .incarnation = f->incarnation,
                    .gate_at = f->gate_at,
                    .n_gates = f->n_gates,
                    .n_requests = (uint16_t)f->requests.n,
                    .n_ports = (uint16_t)f->ports.n,
                    .priority = f->priority,
                    .ready_since = f->ready_since,
                    .scheduled_since = f->scheduled_since,
                    .ended = f->ended,
                    .requests = requests,
                    .ports = ports};
    bool ok = head_fill(&out->head, &at, &f->head, pool);
    take(pool, &out->clique, f->clique, &ok);
    take(pool, &out->gang, f->gang, &ok);
    take(pool, &out->base_gang, f->base_gang, &ok);
    take(pool, &out->hash, f->hash, &ok);
    take(pool, &out->node, f->node, &ok);
    take(pool, &out->scheduler, f->scheduler, &ok);
    take(pool, &out->priority_class, f->priority_class, &ok);
    for (size_t i = 0; i < f->requests.n; i++) {
        take(pool, &requests[i].name, f->requests.v[i].name, &ok);
        requests[i].amount = f->requests.v[i].amount;
    }
    if (f->ports.n > 0) {
        memcpy(ports, f->ports.v, f->ports.n * sizeof *ports);
    }
    if (!ok) {
        gv_pod_drop(out, pool);
    }
    return ok;
}

void gv_pod_drop(gv_pod *pod, gv_intern *pool) {
    gv_head_drop(&pod->head, pool);
    gv_intern_give(pool, pod->clique);
    gv_intern_give(pool, pod->gang);
    gv_intern_give(pool, pod->base_gang);
    gv_intern_give(pool, pod->hash);
    gv_intern_give(pool, pod->node);
    gv_intern_give(pool, pod->scheduler);
    gv_intern_give(pool, pod->priority_class);
    for (uint32_t i = 0; i < pod->n_requests; i++) {
        gv_intern_give(pool, pod->requests[i].name);
    }
    pod->n_requests = 0;
}

/* Texts of records in one store are equal exactly when their pointers are. */
static bool head_same(const gv_head *a, const gv_head *b) {
    return a->kind == b->kind && a->flags == b->flags && a->owner_kind == b->owner_kind &&
           a->n_owners == b->n_owners && a->ns == b->ns && strcmp(a->name, b->name) == 0 &&
           strcmp(a->uid, b->uid) == 0 && a->owner_uid == b->owner_uid &&
           a->owner_name == b->owner_name && a->part_of == b->part_of && a->created == b->created &&
           a->deleted == b->deleted;
}

static bool requests_same(const gv_request *a, const gv_request *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].name != b[i].name || a[i].amount != b[i].amount) {
            return false;
        }
    }
    return true;
}

bool gv_pod_same(const gv_pod *a, const gv_pod *b) {
    return head_same(&a->head, &b->head) && a->flags == b->flags && a->phase == b->phase &&
           a->index == b->index && a->incarnation == b->incarnation &&
           a->hostname_index == b->hostname_index && a->gate_at == b->gate_at &&
           a->n_gates == b->n_gates && a->clique == b->clique && a->gang == b->gang &&
           a->base_gang == b->base_gang && a->hash == b->hash && a->node == b->node &&
           a->scheduler == b->scheduler && a->priority_class == b->priority_class &&
           a->priority == b->priority && a->ready_since == b->ready_since &&
           a->scheduled_since == b->scheduled_since && a->ended == b->ended &&
           a->n_requests == b->n_requests && a->n_ports == b->n_ports &&
           requests_same(a->requests, b->requests, a->n_requests) &&
           (a->n_ports == 0 || memcmp(a->ports, b->ports, a->n_ports * sizeof *a->ports) == 0);
}

/* ---- nodes ---- */

bool gv_node_fill(gv_node_record *out, char *tail, const gv_node_facts *f, gv_intern *pool) {
    gv_label *labels = (gv_label *)(void *)tail;
    gv_taint *taints = (gv_taint *)(void *)(labels + f->labels.n);
    gv_request *allocatable = (gv_request *)(void *)(taints + f->taints.n);
    char *at = (char *)(allocatable + f->allocatable.n);
    *out = (gv_node_record){.flags = f->flags,
                            .n_labels = (uint32_t)f->labels.n,
                            .n_taints = (uint32_t)f->taints.n,
                            .n_allocatable = (uint32_t)f->allocatable.n,
                            .labels = labels,
                            .taints = taints,
                            .allocatable = allocatable};
    bool ok = head_fill(&out->head, &at, &f->head, pool);
    for (size_t i = 0; i < f->labels.n; i++) {
        take(pool, &labels[i].key, f->labels.v[i].key, &ok);
        take(pool, &labels[i].value, f->labels.v[i].value, &ok);
    }
    for (size_t i = 0; i < f->taints.n; i++) {
        take(pool, &taints[i].key, f->taints.v[i].key, &ok);
        take(pool, &taints[i].value, f->taints.v[i].value, &ok);
        take(pool, &taints[i].effect, f->taints.v[i].effect, &ok);
    }
    for (size_t i = 0; i < f->allocatable.n; i++) {
        take(pool, &allocatable[i].name, f->allocatable.v[i].name, &ok);
        allocatable[i].amount = f->allocatable.v[i].amount;
    }
    if (!ok) {
        gv_node_drop(out, pool);
    }
    return ok;
}

void gv_node_drop(gv_node_record *node, gv_intern *pool) {
    gv_head_drop(&node->head, pool);
    for (uint32_t i = 0; i < node->n_labels; i++) {
        gv_intern_give(pool, node->labels[i].key);
        gv_intern_give(pool, node->labels[i].value);
    }
    for (uint32_t i = 0; i < node->n_taints; i++) {
        gv_intern_give(pool, node->taints[i].key);
        gv_intern_give(pool, node->taints[i].value);
        gv_intern_give(pool, node->taints[i].effect);
    }
    for (uint32_t i = 0; i < node->n_allocatable; i++) {
        gv_intern_give(pool, node->allocatable[i].name);
    }
    node->n_labels = node->n_taints = node->n_allocatable = 0;
}

bool gv_node_same(const gv_node_record *a, const gv_node_record *b) {
    if (!head_same(&a->head, &b->head) || a->flags != b->flags || a->n_labels != b->n_labels ||
        a->n_taints != b->n_taints || a->n_allocatable != b->n_allocatable ||
        !requests_same(a->allocatable, b->allocatable, a->n_allocatable)) {
        return false;
    }
    for (uint32_t i = 0; i < a->n_labels; i++) {
        if (a->labels[i].key != b->labels[i].key || a->labels[i].value != b->labels[i].value) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->n_taints; i++) {
        if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
            a->taints[i].effect != b->taints[i].effect) {
            return false;
        }
    }
    return true;
}

const char *gv_node_record_label(const gv_node_record *node, gv_str key) {
    uint32_t lo = 0, hi = node->n_labels;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = gv_str_cmp(gv_str_c(node->labels[mid].key), key);
        if (c == 0) {
            return node->labels[mid].value;
        }
        if (c < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}
