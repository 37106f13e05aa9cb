/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of single fields of pods and nodes, and what a pod asks for in all. */
#include "model/records_take.h"

#include "value/scalar.h"

gv_pod_phase gv_pod_phase_of(gv_str text) {
    static const char *const words[] = {"", "Pending", "Running", "Succeeded", "Failed", "Unknown"};
    for (int i = 1; i < 6; i++) {
        if (gv_str_is(text, words[i])) {
            return (gv_pod_phase)i;
        }
    }
    return GV_POD_PHASE_NONE;
}

/* What kubelets write who found less room than was promised: of a resource, of devices, of one NUMA node, of
 * host ports. Other refusals are about labels and features, which say so for themselves. */
uint32_t gv_pod_refused_of(gv_str reason) {
    bool room = gv_str_starts(reason, GV_STR("OutOf")) ||
                gv_str_is(reason, "UnexpectedAdmissionError") ||
                gv_str_is(reason, "TopologyAffinityError") || gv_str_is(reason, "NodePorts");
    return room ? GV_POD_REFUSED : 0;
}

int32_t gv_pod_index_of(gv_str text) {
    int64_t n = -1;
    return gv_str_int64(text, &n) && n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

uint32_t gv_pod_incarnation_of(gv_str text) {
    int32_t n = gv_pod_index_of(text);
    return n > 0 ? (uint32_t)n : 0;
}

int32_t gv_pod_hostname_index(gv_str host) {
    for (size_t i = host.n; i > 0; i--) {
        if (host.p[i - 1] == '-') {
            return gv_pod_index_of((gv_str){host.p + i, host.n - i});
        }
    }
    return -1;
}

void gv_pod_take_condition(gv_pod_facts *f, gv_str type, gv_str status, gv_str reason,
                           int64_t since) {
    bool is_true = gv_str_is(status, "True");
    if (gv_str_is(type, "Ready")) {
        f->flags |= is_true ? GV_POD_READY : 0u;
        f->ready_since = since;
    } else if (gv_str_is(type, "PodScheduled")) {
        bool is_false = gv_str_is(status, "False");
        f->flags |= is_true ? GV_POD_SCHEDULED : 0u;
        f->flags |= is_false && gv_str_is(reason, "SchedulingGated") ? GV_POD_GATED_COND : 0u;
        f->flags |= is_false && gv_str_is(reason, "Unschedulable") ? GV_POD_UNSCHEDULABLE : 0u;
        f->scheduled_since = since;
    } else if (gv_str_is(type, "DisruptionTarget")) {
        f->flags |= is_true ? GV_POD_DISRUPTED : 0u;
    }
}

bool gv_pod_take_port(grove_env *env, gv_pod_facts *f, int64_t port, gv_str protocol) {
    gv_host_port host = {(int32_t)port, gv_str_is(protocol, "UDP")    ? 1u
                                        : gv_str_is(protocol, "SCTP") ? 2u
                                                                      : 0u};
    return port <= 0 || port > 65535 || f->ports.n >= UINT16_MAX ||
           gv_vec_push(env, &f->ports, host);
}

void gv_labels_sort(gv_label_facts *labels) {
    for (size_t i = 1; i < labels->n; i++) { /* few, and mostly sorted already */
        gv_label_fact x = labels->v[i];
        size_t k = i;
        for (; k > 0 && gv_str_cmp(labels->v[k - 1].key, x.key) > 0; k--) {
            labels->v[k] = labels->v[k - 1];
        }
        labels->v[k] = x;
    }
}

/* ---- requests ---- */

static gv_request_fact *slot(grove_env *env, gv_request_facts *list, gv_str name) {
    for (size_t i = 0; i < list->n; i++) {
        if (gv_str_eq(list->v[i].name, name)) {
            return &list->v[i];
        }
    }
    gv_request_fact fresh = {name, 0};
    return gv_vec_push(env, list, fresh) ? &list->v[list->n - 1] : NULL;
}

/* Stays at the ends of the range: quantities may be anything, negative ones too. */
static int64_t plus(int64_t a, int64_t b) {
    if (b < 0) {
        return a < INT64_MIN - b ? INT64_MIN : a + b;
    }
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t gv_request_amount(gv_str text, gv_str resource) {
    grove_quantity q;
    int64_t amount = 0;
    if (text.p == NULL || grove_quantity_parse(text.p, text.n, &q, NULL) < 0) {
        return 0;
    }
    grove_status s = gv_str_is(resource, "cpu") ? grove_quantity_milli(&q, &amount)
                                                : grove_quantity_units(&q, &amount);
    return s == GROVE_OK ? amount : INT64_MAX;
}

bool gv_request_add(grove_env *env, gv_request_facts *list, gv_str name, int64_t amount) {
    gv_request_fact *r = slot(env, list, name);
    if (r != NULL) {
        r->amount = plus(r->amount, amount);
    }
    return r != NULL;
}

static int64_t amount_in(const gv_request_facts *list, gv_str name) {
    for (size_t i = 0; i < list->n; i++) {
        if (gv_str_eq(list->v[i].name, name)) {
            return list->v[i].amount;
        }
    }
    return 0;
}

/* peak = max(peak, base, base + more), per resource. */
static bool raise_to(grove_env *env, gv_request_facts *peak, const gv_request_facts *base,
                     const gv_request_facts *more) {
    for (size_t i = 0; i < base->n; i++) {
        gv_request_fact *p = slot(env, peak, base->v[i].name);
        if (p == NULL) {
            return false;
        }
        p->amount = p->amount > base->v[i].amount ? p->amount : base->v[i].amount;
    }
    for (size_t i = 0; more && i < more->n; i++) {
        gv_request_fact *p = slot(env, peak, more->v[i].name);
        if (p == NULL) {
            return false;
        }
        int64_t need = plus(amount_in(base, more->v[i].name), more->v[i].amount);
        p->amount = p->amount > need ? p->amount : need;
    }
    return true;
}

/* Init containers run one after another beside the sidecars started so far. */
bool gv_requests_init(grove_env *env, gv_request_sums *s, const gv_request_facts *own,
                      bool sidecar) {
    if (!sidecar) {
        return raise_to(env, &s->peak, &s->now, own);
    }
    bool ok = true;
    for (size_t i = 0; ok && i < own->n; i++) {
        ok = gv_request_add(env, &s->now, own->v[i].name, own->v[i].amount);
    }
    return ok && raise_to(env, &s->peak, &s->now, NULL);
}

bool gv_requests_finish(grove_env *env, gv_request_sums *s, const gv_request_facts *pod,
                        const gv_request_facts *overhead, gv_request_facts *out) {
    bool ok = raise_to(env, &s->peak, &s->now, NULL);
    for (size_t i = 0; ok && i < pod->n; i++) { /* replaces the sum, per resource that it names */
        gv_request_fact *p = slot(env, &s->peak, pod->v[i].name);
        ok = p != NULL;
        if (ok) {
            p->amount = pod->v[i].amount;
        }
    }
    for (size_t i = 0; ok && i < overhead->n; i++) {
        ok = gv_request_add(env, &s->peak, overhead->v[i].name, overhead->v[i].amount);
    }
    for (size_t i = 0; ok && i < s->peak.n; i++) {
        ok = s->peak.v[i].amount == 0 || gv_vec_push(env, out, s->peak.v[i]);
    }
    gv_requests_sort(out);
    return ok;
}

void gv_requests_sort(gv_request_facts *list) {
    for (size_t i = 1; i < list->n; i++) {
        gv_request_fact x = list->v[i];
        size_t k = i;
        for (; k > 0 && gv_str_cmp(list->v[k - 1].name, x.name) > 0; k--) {
            list->v[k] = list->v[k - 1];
        }
        list->v[k] = x;
    }
}

void gv_requests_fini(grove_env *env, gv_request_sums *s) {
    gv_vec_fini(env, &s->now);
    gv_vec_fini(env, &s->peak);
}
