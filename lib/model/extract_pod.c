/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods from bytes. Members come in any order, and of equal keys the last one counts: each part begins by
 * forgetting what an earlier one of its name said. Requests depend on the order init containers, containers,
 * so what they are made of is noted, and looked at when the spec is known: nothing large is read twice.
 */
#include <limits.h>

#include "base/env.h"
#include "model/extract.h"
#include "model/labels.h"
#include "model/records_take.h"

typedef struct spec_facts {
    gv_str resources, overhead; /* texts of the values; n 0: none */
    uint32_t gate_flags;
    bool host_network;
} spec_facts;

typedef struct status_facts {
    uint32_t init_flags, main_flags, n_started;
} status_facts;

#define CONDITION_FLAGS \
    (GV_POD_READY | GV_POD_SCHEDULED | GV_POD_GATED_COND | GV_POD_UNSCHEDULABLE | GV_POD_DISRUPTED)

/* ---- status ---- */

static void read_conditions(gv_scan *s, gv_pod_facts *f) {
    f->flags &= ~(uint32_t)CONDITION_FLAGS;
    f->ready_since = f->scheduled_since = GV_TIME_NONE;
    if (!gv_scan_open(s, '[')) {
        return;
    }
    while (gv_scan_element(s)) {
        gv_str key, type = {"", 0}, status = {"", 0}, reason = {"", 0};
        int64_t since = GV_TIME_NONE;
        if (!gv_scan_open(s, '{')) {
            continue;
        }
        while (gv_scan_member(s, &key)) {
            if (gv_str_is(key, "type")) {
                type = gv_scan_text(s);
            } else if (gv_str_is(key, "status")) {
                status = gv_scan_text(s);
            } else if (gv_str_is(key, "reason")) {
                reason = gv_scan_text(s);
            } else if (gv_str_is(key, "lastTransitionTime")) {
                since = gv_extract_time(s);
            } else {
                (void)gv_scan_skip(s);
            }
        }
        gv_pod_take_condition(f, type, status, reason, since);
    }
}

typedef struct ending {
    bool failed;
    int64_t at;
} ending;

/* The value of `state` or `lastState`. */
static ending read_terminated(gv_scan *s) {
    ending e = {false, GV_TIME_NONE};
    gv_str key;
    if (!gv_scan_open(s, '{')) {
        return e;
    }
    while (gv_scan_member(s, &key)) {
        if (!gv_str_is(key, "terminated")) {
            (void)gv_scan_skip(s);
            continue;
        }
        e = (ending){false, GV_TIME_NONE};
        if (!gv_scan_open(s, '{')) {
            continue;
        }
        while (gv_scan_member(s, &key)) {
            if (gv_str_is(key, "exitCode")) {
                e.failed = gv_scan_int(s, 0) != 0;
            } else if (gv_str_is(key, "finishedAt")) {
                e.at = gv_extract_time(s);
            } else {
                (void)gv_scan_skip(s);
            }
        }
    }
    return e;
}

typedef struct container_status {
    bool started, ready, failed;
    int64_t ended;
} container_status;

static container_status read_container_status(gv_scan *s) {
    container_status c = {false, false, false, GV_TIME_NONE};
    gv_str key;
    if (!gv_scan_open(s, '{')) {
        return c;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "started")) {
            c.started = gv_scan_is_true(s);
        } else if (gv_str_is(key, "ready")) {
            c.ready = gv_scan_is_true(s);
        } else if (gv_str_is(key, "lastState")) {
            c.failed = read_terminated(s).failed;
        } else if (gv_str_is(key, "state")) {
            c.ended = read_terminated(s).at;
        } else {
            (void)gv_scan_skip(s);
        }
    }
    return c;
}

static void read_init_statuses(gv_scan *s, status_facts *t) {
    t->init_flags = 0;
    if (gv_scan_open(s, '[')) {
        while (gv_scan_element(s)) {
            t->init_flags |= read_container_status(s).failed ? GV_POD_ERRONEOUS : 0u;
        }
    }
}

static void read_main_statuses(gv_scan *s, gv_pod_facts *f, status_facts *t) {
    t->main_flags = t->n_started = 0;
    f->ended = GV_TIME_NONE;
    if (!gv_scan_open(s, '[')) {
        return;
    }
    while (gv_scan_element(s)) {
        container_status c = read_container_status(s);
        t->n_started += c.started ? 1u : 0u;
        t->main_flags |= c.failed ? GV_POD_ERRONEOUS : 0u;
        t->main_flags |= c.started && !c.ready ? GV_POD_STARTED_NOT_READY : 0u;
        f->ended = c.ended > f->ended ? c.ended : f->ended;
    }
}

static void begin_status(gv_pod_facts *f, status_facts *t) {
    *t = (status_facts){0};
    f->flags = 0;
    f->phase = GV_POD_PHASE_NONE;
    f->ready_since = f->scheduled_since = f->ended = GV_TIME_NONE;
}

static void read_status(gv_scan *s, gv_pod_facts *f, status_facts *t) {
    gv_str key;
    begin_status(f, t);
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "phase")) {
            f->phase = gv_pod_phase_of(gv_scan_text(s));
        } else if (gv_str_is(key, "reason")) {
            f->flags &= ~(uint32_t)GV_POD_REFUSED;
            f->flags |= gv_pod_refused_of(gv_scan_text(s));
        } else if (gv_str_is(key, "conditions")) {
            read_conditions(s, f);
        } else if (gv_str_is(key, "containerStatuses")) {
            read_main_statuses(s, f, t);
        } else if (gv_str_is(key, "initContainerStatuses")) {
            read_init_statuses(s, t);
        } else {
            (void)gv_scan_skip(s);
        }
    }
}

/* ---- spec ---- */

static void read_gates(gv_scan *s, gv_pod_facts *f, spec_facts *p) {
    uint32_t n = 0;
    p->gate_flags = 0;
    f->gate_at = f->n_gates = 0;
    if (!gv_scan_open(s, '[')) {
        return;
    }
    for (; gv_scan_element(s); n++) {
        gv_str key, name = {"", 0};
        if (gv_scan_open(s, '{')) {
            while (gv_scan_member(s, &key)) {
                if (gv_str_is(key, "name")) {
                    name = gv_scan_text(s);
                } else {
                    (void)gv_scan_skip(s);
                }
            }
        }
        bool ours = gv_str_is(name, GV_GATE);
        p->gate_flags |= ours ? GV_POD_GROVE_GATE : GV_POD_FOREIGN_GATE;
        f->gate_at = ours ? (uint16_t)n : f->gate_at;
    }
    f->n_gates = (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX);
}

static gv_container_fact read_container(gv_scan *s) {
    gv_container_fact c = {{"", 0}, {"", 0}, false};
    gv_str key;
    if (!gv_scan_open(s, '{')) {
        return c;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "resources")) {
            c.resources = gv_scan_skip(s);
        } else if (gv_str_is(key, "ports")) {
            c.ports = gv_scan_skip(s);
        } else if (gv_str_is(key, "restartPolicy")) {
            c.sidecar = gv_str_is(gv_scan_text(s), "Always");
        } else {
            (void)gv_scan_skip(s);
        }
    }
    return c;
}

static void read_containers(grove_extract *x, gv_scan *s, gv_container_facts *out) {
    out->n = 0;
    if (!gv_scan_open(s, '[')) {
        return;
    }
    while (gv_scan_element(s)) {
        gv_container_fact c = read_container(s);
        if (!gv_vec_push(x->env, out, c)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
}

static void begin_spec(grove_extract *x, spec_facts *p) {
    const gv_str none = {"", 0};
    gv_pod_facts *f = &x->pod;
    *p = (spec_facts){.resources = none, .overhead = none};
    x->containers.n = x->init_containers.n = 0;
    f->node = f->scheduler = f->priority_class = none;
    f->hostname_index = -1;
    f->priority = 0;
    f->gate_at = f->n_gates = 0;
}

static void read_spec_member(grove_extract *x, gv_scan *s, gv_str key, spec_facts *p) {
    gv_pod_facts *f = &x->pod;
    gv_str *text = gv_str_is(key, "nodeName")            ? &f->node
                   : gv_str_is(key, "schedulerName")     ? &f->scheduler
                   : gv_str_is(key, "priorityClassName") ? &f->priority_class
                                                         : NULL;
    gv_str *part = gv_str_is(key, "resources")  ? &p->resources
                   : gv_str_is(key, "overhead") ? &p->overhead
                                                : NULL;
    gv_container_facts *list = gv_str_is(key, "containers")       ? &x->containers
                               : gv_str_is(key, "initContainers") ? &x->init_containers
                                                                  : NULL;
    if (text) {
        *text = gv_scan_text(s);
    } else if (part) {
        *part = gv_scan_skip(s);
    } else if (list) {
        read_containers(x, s, list);
    } else if (gv_str_is(key, "hostname")) {
        f->hostname_index = gv_pod_hostname_index(gv_scan_text(s));
    } else if (gv_str_is(key, "priority")) {
        f->priority = (int32_t)gv_scan_int(s, 0);
    } else if (gv_str_is(key, "hostNetwork")) {
        p->host_network = gv_scan_is_true(s);
    } else if (gv_str_is(key, "schedulingGates")) {
        read_gates(s, f, p);
    } else {
        (void)gv_scan_skip(s);
    }
}

static void read_spec(grove_extract *x, gv_scan *s, spec_facts *p) {
    gv_str key;
    begin_spec(x, p);
    if (gv_scan_open(s, '{')) {
        while (gv_scan_member(s, &key)) {
            read_spec_member(x, s, key, p);
        }
    }
}

/* ---- containers: requests and ports ---- */

/* A reader over a part of the object that was read already: only memory can fail. */
static gv_scan again(grove_extract *x, gv_str text) {
    gv_scan s;
    gv_scan_begin(&s, text, &x->texts, GV_DEPTH_MAX);
    return s;
}

static void check(gv_scan *s, const gv_scan *part) {
    if (part->status < 0) {
        gv_scan_fail(s, part->status);
    }
}

/* requests and limits of `resources`, a limit counting where no request is given: added to *out. */
static void add_resources(grove_extract *x, gv_scan *s, gv_str resources, gv_request_facts *out) {
    gv_scan r = again(x, resources);
    gv_str key, parts[2] = {{"", 0}, {"", 0}};
    if (resources.n == 0 || !gv_scan_open(&r, '{')) {
        return;
    }
    while (gv_scan_member(&r, &key)) {
        gv_str value = gv_scan_skip(&r);
        if (gv_str_is(key, "requests")) {
            parts[0] = value;
        } else if (gv_str_is(key, "limits")) {
            parts[1] = value;
        }
    }
    check(s, &r);
    gv_request_facts named = {0};
    for (int k = 0; k < 2; k++) {
        gv_scan m = again(x, parts[k]);
        if (parts[k].n == 0) {
            continue;
        }
        gv_extract_quantities(x, &m, &x->own);
        bool ok = m.status == GROVE_OK;
        for (size_t i = 0; ok && i < x->own.n; i++) {
            bool counted = false;
            for (size_t j = 0; j < named.n; j++) {
                counted = counted || gv_str_eq(named.v[j].name, x->own.v[i].name);
            }
            ok = counted || gv_request_add(x->env, out, x->own.v[i].name, x->own.v[i].amount);
            ok = ok && (k == 1 || gv_vec_push(x->env, &named, x->own.v[i]));
        }
        if (!ok) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
    gv_vec_fini(x->env, &named);
}

static void read_port(gv_scan *s, bool host_network, int64_t *out_port, gv_str *out_protocol) {
    gv_str key;
    int64_t host = INT64_MIN, container = 0;
    bool has_host = false;
    *out_protocol = (gv_str){"", 0};
    *out_port = 0;
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &key)) {
        if (gv_str_is(key, "hostPort")) {
            host = gv_scan_int(s, INT64_MIN);
            has_host = host != INT64_MIN;
        } else if (gv_str_is(key, "containerPort")) {
            container = gv_scan_int(s, 0);
        } else if (gv_str_is(key, "protocol")) {
            *out_protocol = gv_scan_text(s);
        } else {
            (void)gv_scan_skip(s);
        }
    }
    *out_port = has_host ? host : host_network ? container : 0;
}

static void read_ports(grove_extract *x, gv_scan *s, gv_str ports, bool host_network) {
    gv_scan p = again(x, ports);
    if (ports.n == 0 || !gv_scan_open(&p, '[')) {
        return;
    }
    while (gv_scan_element(&p)) {
        int64_t port = 0;
        gv_str protocol;
        read_port(&p, host_network, &port, &protocol);
        if (!gv_pod_take_port(x->env, &x->pod, port, protocol)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
    check(s, &p);
}

static void add_containers(grove_extract *x, gv_scan *s, gv_request_sums *sums) {
    for (size_t i = 0; i < x->init_containers.n; i++) {
        const gv_container_fact *c = &x->init_containers.v[i];
        gv_request_facts own = {0};
        add_resources(x, s, c->resources, &own);
        if (!gv_requests_init(x->env, sums, &own, c->sidecar)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
        gv_vec_fini(x->env, &own);
    }
    for (size_t i = 0; i < x->containers.n; i++) {
        add_resources(x, s, x->containers.v[i].resources, &sums->now);
    }
}

static void read_all_ports(grove_extract *x, gv_scan *s, const spec_facts *p) {
    const gv_container_facts *lists[] = {&x->containers, &x->init_containers};
    x->pod.ports.n = 0;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->n; i++) {
            if (k == 0 || lists[k]->v[i].sidecar) { /* an init container that ends keeps no port */
                read_ports(x, s, lists[k]->v[i].ports, p->host_network);
            }
        }
    }
}

static void read_requests(grove_extract *x, gv_scan *s, const spec_facts *p) {
    gv_request_sums sums = {0};
    x->pod.requests.n = x->pod_level.n = x->overhead.n = 0;
    add_containers(x, s, &sums);
    add_resources(x, s, p->resources, &x->pod_level);
    if (p->overhead.n > 0) {
        gv_scan o = again(x, p->overhead);
        gv_extract_quantities(x, &o, &x->overhead);
        check(s, &o);
    }
    if (!gv_requests_finish(x->env, &sums, &x->pod_level, &x->overhead, &x->pod.requests)) {
        gv_scan_fail(s, GROVE_E_NOMEM);
    }
    if (x->pod.requests.n > UINT16_MAX) {
        gv_scan_fail(s, GROVE_E_LIMIT);
    }
    gv_requests_fini(x->env, &sums);
}

/* ---- the whole ---- */

static void take_labels(const grove_extract *x, gv_pod_facts *f) {
    f->index = gv_pod_index_of(gv_extract_label(x, GV_LABEL_POD_INDEX));
    f->incarnation = gv_pod_incarnation_of(gv_extract_label(x, GV_LABEL_INCARNATION));
    f->clique = gv_extract_label(x, GV_LABEL_CLIQUE);
    f->gang = gv_extract_label(x, GV_LABEL_GANG);
    f->base_gang = gv_extract_label(x, GV_LABEL_BASE_GANG);
    f->hash = gv_extract_label(x, GV_LABEL_TEMPLATE_HASH);
}

void gv_extract_pod(grove_extract *x, gv_scan *s) {
    gv_pod_facts *f = &x->pod;
    spec_facts spec;
    status_facts status;
    gv_str key;
    begin_spec(x, &spec);
    begin_status(f, &status);
    if (gv_scan_open(s, '{')) {
        while (gv_scan_member(s, &key)) {
            if (gv_str_is(key, "metadata")) {
                gv_extract_metadata(x, s, &f->head);
            } else if (gv_str_is(key, "spec")) {
                read_spec(x, s, &spec);
            } else if (gv_str_is(key, "status")) {
                read_status(s, f, &status);
            } else {
                gv_extract_other(x, s, key);
            }
        }
    }
    take_labels(x, f);
    read_requests(x, s, &spec);
    read_all_ports(x, s, &spec);
    f->flags |= spec.gate_flags | status.init_flags | status.main_flags;
    f->flags |= x->has_finalizer ? GV_POD_HAS_FINALIZER : 0u;
    f->flags |= status.n_started < x->containers.n ? GV_POD_NOT_STARTED : 0u;
}
