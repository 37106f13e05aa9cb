/* SPDX-License-Identifier: Apache-2.0 */
/* The election on the server: the machine of lease.h, its requests, and the fence in front of all writes. */
#define _GNU_SOURCE /* CLOCK_BOOTTIME, getentropy, gethostname */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include "backend.h"

typedef struct gv_k8s_elect {
    gv_lease lease;
    gv_k8s_pool texts;
    const char *name, *ns, *identity;
    int64_t (*clock)(void *ctx);
    void *clock_ctx;
    grove_doc *doc; /* the Lease as it was last seen; NULL: never */
    gv_lease_state told;
    grove_status failure; /* the last one that was logged */
    bool severed;         /* after the loss, the connections were reset */
} gv_k8s_elect;

static int64_t system_clock(void *ctx) {
    struct timespec t = {0, 0};
    (void)ctx;
#ifdef CLOCK_BOOTTIME
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
#else
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (int64_t)t.tv_sec * GV_K8S_SECOND + t.tv_nsec;
}

static int64_t clock_of(const gv_k8s_elect *e) {
    return e->clock(e->clock_ctx);
}

bool gv_k8s_may_write(const gv_k8s *k) {
    return !k->elect || gv_lease_may_write(&k->elect->lease, clock_of(k->elect));
}

uint32_t gv_k8s_elect_timeout_ms(const gv_k8s *k) {
    int64_t ms = k->elect->lease.renew_deadline / 2 / GV_K8S_MS;
    return ms > 0 ? (uint32_t)ms : 1;
}

int64_t gv_k8s_elect_deadline(const gv_k8s *k) {
    int64_t at = k->elect ? gv_lease_deadline(&k->elect->lease) : INT64_MAX;
    int64_t left = at == INT64_MAX ? INT64_MAX : at - clock_of(k->elect);
    return left > INT64_MAX - k->now ? INT64_MAX : left > 0 ? k->now + left : k->now;
}

/* ---- Leases as documents ---- */

static const char *holder_of(const grove_doc *doc) {
    const grove_node *root = doc ? grove_doc_root(doc) : NULL;
    const char *holder = gv_k8s_member(grove_node_get(root, "spec"), "holderIdentity");
    return holder ? holder : "";
}

/* False when the answer is no Lease. */
static bool read_record(const gv_k8s_elect *e, const grove_doc *doc, gv_lease_record *out) {
    const grove_node *root = doc ? grove_doc_root(doc) : NULL;
    const char *kind = gv_k8s_member(root, "kind");
    const grove_node *spec = grove_node_get(root, "spec");
    int64_t seconds = 0;
    *out = (gv_lease_record){0};
    if (!kind || strcmp(kind, "Lease") != 0) {
        return false;
    }
    if (spec) {
        (void)grove_node_hash(spec, &out->hash, NULL);
        (void)grove_node_int64(grove_node_get(spec, "leaseDurationSeconds"), &seconds);
    }
    seconds = seconds < 0 ? 0 : seconds > 86400 ? 86400 : seconds;
    out->duration = seconds * GV_K8S_SECOND;
    out->free = holder_of(doc)[0] == '\0';
    out->mine = strcmp(holder_of(doc), e->identity) == 0;
    return true;
}

static bool is_ours(const char *key) {
    static const char *const keys[] = {"holderIdentity", "leaseDurationSeconds", "acquireTime",
                                       "renewTime", "leaseTransitions"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* The spec that the step wants; what else stands in the old one stays. */
static void write_spec(grove_builder *b, const gv_k8s_elect *e, gv_lease_step step, int64_t now) {
    const grove_node *old = e->doc ? grove_node_get(grove_doc_root(e->doc), "spec") : NULL;
    const char *acquired = gv_k8s_member(old, "acquireTime");
    bool release = step == GV_LEASE_RELEASE;
    int64_t transitions = 0;
    char when[32];
    gv_k8s_time_write(now, when);
    (void)grove_node_int64(grove_node_get(old, "leaseTransitions"), &transitions);
    grove_builder_open_object(b, "spec");
    grove_builder_string(b, "holderIdentity", release ? "" : e->identity);
    grove_builder_int64(b, "leaseDurationSeconds", release ? 1 : e->lease.duration / GV_K8S_SECOND);
    grove_builder_string(b, "acquireTime", step == GV_LEASE_RENEW && acquired ? acquired : when);
    grove_builder_string(b, "renewTime", when);
    grove_builder_int64(b, "leaseTransitions",
                        step == GV_LEASE_TAKE ? transitions + 1 : transitions);
    for (const grove_node *c = grove_node_first(old); c; c = grove_node_next(old, c)) {
        if (!is_ours(grove_node_key(c, NULL))) {
            grove_builder_link(b, grove_node_key(c, NULL), e->doc, c);
        }
    }
    grove_builder_close(b);
}

static grove_status write_lease(const gv_k8s *k, gv_lease_step step, grove_doc **out) {
    const gv_k8s_elect *e = k->elect;
    const grove_node *root = step != GV_LEASE_CREATE && e->doc ? grove_doc_root(e->doc) : NULL;
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(k->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    for (const grove_node *c = grove_node_first(root); c; c = grove_node_next(root, c)) {
        if (strcmp(grove_node_key(c, NULL), "spec") != 0) {
            grove_builder_link(b, grove_node_key(c, NULL), e->doc, c);
        }
    }
    write_spec(b, e, step, k->now);
    grove_builder_close(b);
    st = grove_builder_finish(b, out, NULL);
    grove_builder_free(b);
    return st;
}

/* ---- requests ---- */

static grove_op op_for(const gv_k8s *k, grove_verb verb) {
    return (grove_op){.size = sizeof(grove_op),
                      .verb = verb,
                      .kind = GROVE_KIND_LEASE,
                      .ns = k->elect->ns,
                      .name = k->elect->name,
                      .grace_seconds = GROVE_GRACE_DEFAULT};
}

static grove_status send_step(gv_k8s *k, gv_lease_step step) {
    grove_doc *body = NULL;
    if (step == GV_LEASE_READ) {
        grove_op op = op_for(k, GROVE_VERB_GET);
        return gv_k8s_submit(k, &op, GV_K8S_ELECTION, NULL);
    }
    grove_status st = write_lease(k, step, &body);
    if (st == GROVE_OK) {
        grove_op op = op_for(k, step == GV_LEASE_CREATE ? GROVE_VERB_CREATE : GROVE_VERB_REPLACE);
        op.body_doc = body;
        st = gv_k8s_submit(k, &op, GV_K8S_ELECTION, NULL);
    }
    grove_doc_unref(body);
    return st;
}

/* "ID became leader", about the Lease. An Event that cannot be made is none: nothing depends on it. */
static void send_event(gv_k8s *k, const char *what) {
    const gv_k8s_elect *e = k->elect;
    grove_builder *b = NULL;
    grove_doc *body = NULL;
    grove_buf note;
    grove_buf_init(&note, k->env);
    if (gv_k8s_putf(&note, "%s %s", e->identity, what) == GROVE_OK &&
        grove_builder_new(k->env, &b) == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "type", "Normal");
        grove_builder_string(b, "reason", "LeaderElection");
        grove_builder_string(b, "note", note.data);
        grove_builder_close(b);
        if (grove_builder_finish(b, &body, NULL) == GROVE_OK) {
            grove_op op = op_for(k, GROVE_VERB_EVENT);
            const grove_node *root = e->doc ? grove_doc_root(e->doc) : NULL;
            op.uid = gv_k8s_member(grove_node_get(root, "metadata"), "uid");
            op.body_doc = body;
            op.flags = GROVE_OP_NO_REPLY;
            (void)gv_k8s_submit(k, &op, GV_K8S_ELECTION, NULL);
        }
    }
    grove_doc_unref(body);
    grove_builder_free(b);
    grove_buf_fini(&note);
}

grove_status gv_k8s_elect_answered(gv_k8s *k, const gv_k8s_call *call) {
    gv_k8s_elect *e = k->elect;
    gv_lease_record record;
    if (call->event) {
        return GROVE_OK;
    }
    grove_status st = call->verdict.status;
    bool have = st == GROVE_OK && read_record(e, call->doc, &record);
    if (have || (st == GROVE_E_NOT_FOUND && call->verb == GROVE_VERB_GET)) {
        grove_doc *seen = have ? grove_doc_ref(call->doc) : NULL;
        grove_doc_unref(e->doc);
        e->doc = seen;
    }
    bool expected = st == GROVE_E_NOT_FOUND || st == GROVE_E_CONFLICT || st == GROVE_E_EXISTS;
    if (st < 0 && !expected && st != e->failure) {
        gv_k8s_log(k, GROVE_LOG_WARN, call->verdict.message, "lease", e->name);
    }
    e->failure = st;
    gv_lease_answer(&e->lease, clock_of(e), st, have ? &record : NULL);
    k->activity++;
    return GROVE_OK;
}

/* ---- steps ---- */

static void tell_state(gv_k8s *k) {
    gv_k8s_elect *e = k->elect;
    static const char *const words[] = {
        [GV_LEASE_STANDBY] = "",
        [GV_LEASE_LEADING] = "became leader",
        [GV_LEASE_RELEASING] = "stops leading",
        [GV_LEASE_RELEASED] = "gave the lease back",
        [GV_LEASE_LOST] = "lost the lease",
    };
    gv_lease_state now = e->lease.state;
    if (now == e->told) {
        return;
    }
    e->told = now;
    gv_k8s_log(k, now == GV_LEASE_LOST ? GROVE_LOG_ERROR : GROVE_LOG_INFO, words[now], "lease",
               e->name);
    if (now == GV_LEASE_LEADING) {
        send_event(k, "became leader");
    }
}

static grove_status keep_fence(gv_k8s *k, int64_t now) {
    gv_k8s_elect *e = k->elect;
    gv_lease_state state = e->lease.state;
    if (gv_lease_may_write(&e->lease, now)) {
        return GROVE_OK;
    }
    gv_k8s_refuse_writes(k, state == GV_LEASE_STANDBY ? "this process does not lead"
                                                      : "this process leads no more");
    if (e->severed || state != GV_LEASE_LOST) {
        return GROVE_OK;
    }
    grove_status st = gv_k8s_cut_calls(k, "cut off: the lease may be lost");
    e->severed = st == GROVE_OK;
    return st;
}

grove_status gv_k8s_elect_step(gv_k8s *k) {
    gv_k8s_elect *e = k->elect;
    if (!e) {
        return GROVE_OK;
    }
    int64_t now = clock_of(e);
    gv_lease_step step = gv_lease_next(&e->lease, now, gv_k8s_has_writes(k));
    grove_status st = GROVE_OK;
    if (step != GV_LEASE_NOTHING) {
        st = send_step(k, step);
        if (st < 0) { /* out of memory: the step comes again */
            e->lease.running = GV_LEASE_NOTHING;
            return st;
        }
    }
    tell_state(k);
    return keep_fence(k, now);
}

void gv_k8s_elect_free(gv_k8s *k) {
    gv_k8s_elect *e = k->elect;
    if (e) {
        grove_doc_unref(e->doc);
        gv_k8s_pool_fini(&e->texts);
        grove_memory_free(k->env, e, sizeof *e);
        k->elect = NULL;
    }
}

/* ---- public ---- */

static grove_status take_identity(gv_k8s *k, gv_k8s_elect *e, const char *identity) {
    char host[256] = "", text[300];
    uint64_t r[2] = {grove_random_next(&k->random), grove_random_next(&k->random)};
    if (gv_k8s_empty(identity)) {
        (void)gethostname(host, sizeof host - 1);
        (void)getentropy(r, sizeof r); /* where there is none: the seed's */
        (void)snprintf(text, sizeof text, "%s_%016llx%016llx", host, (unsigned long long)r[0],
                       (unsigned long long)r[1]);
        identity = text;
    }
    return gv_k8s_pool_set(&e->texts, &e->identity, identity) ? GROVE_OK : GROVE_E_NOMEM;
}

static grove_status begin(gv_k8s *k, const grove_k8s_lease_options *o, grove_error *err) {
    gv_k8s_elect *e = grove_memory_alloc(k->env, sizeof *e);
    if (!e) {
        return gv_k8s_nomem(err);
    }
    k->elect = e;
    e->texts.env = k->env;
    e->clock = o->clock ? o->clock : system_clock;
    e->clock_ctx = o->clock_ctx;
    bool ok = gv_k8s_pool_set(&e->texts, &e->name, o->name) &&
              gv_k8s_pool_set(&e->texts, &e->ns, gv_k8s_empty(o->ns) ? k->access.ns : o->ns) &&
              take_identity(k, e, o->identity) == GROVE_OK;
    if (!ok) {
        gv_k8s_elect_free(k);
        return gv_k8s_nomem(err);
    }
    gv_lease_init(&e->lease, o->duration_ns, o->renew_deadline_ns, o->retry_ns,
                  grove_random_next(&k->random), clock_of(e));
    k->activity++;
    return GROVE_OK;
}

grove_status grove_k8s_elect(const grove_backend *backend, const grove_k8s_lease_options *options,
                             grove_error *err) {
    grove_k8s_lease_options o = {.size = sizeof o};
    gv_k8s *k = gv_k8s_of(backend);
    if (!k || !options) {
        return grove_error_set(err, GROVE_E_INVALID, "a Kubernetes backend and options are needed");
    }
    grove_status st = grove_struct_read(&o, sizeof o, options, options->size,
                                        offsetof(grove_k8s_lease_options, ns));
    if (st < 0) {
        return grove_error_set(err, st, "grove_k8s_lease_options has an unknown size");
    }
    o.duration_ns = o.duration_ns != 0 ? o.duration_ns : 15 * GV_K8S_SECOND;
    o.renew_deadline_ns = o.renew_deadline_ns != 0 ? o.renew_deadline_ns : 10 * GV_K8S_SECOND;
    o.retry_ns = o.retry_ns != 0 ? o.retry_ns : 2 * GV_K8S_SECOND;
    const char *fault = k->elect ? "this backend is a candidate already"
                        : gv_k8s_empty(o.name)
                            ? "a lease needs a name"
                            : gv_lease_fault(o.duration_ns, o.renew_deadline_ns, o.retry_ns);
    return fault ? grove_error_set(err, GROVE_E_INVALID, fault) : begin(k, &o, err);
}

grove_status grove_k8s_resign(const grove_backend *backend, grove_error *err) {
    gv_k8s *k = gv_k8s_of(backend);
    if (!k || !k->elect) {
        return grove_error_set(err, GROVE_E_INVALID, "this backend is no candidate");
    }
    if (k->elect->lease.state == GV_LEASE_LEADING) {
        send_event(k, "stopped leading");
    }
    gv_lease_resign(&k->elect->lease, clock_of(k->elect));
    k->activity++;
    return GROVE_OK;
}

grove_status grove_k8s_lease(const grove_backend *backend, grove_k8s_lease_info *out_info) {
    static const grove_k8s_lease_state states[] = {
        [GV_LEASE_STANDBY] = GROVE_K8S_LEASE_STANDBY,
        [GV_LEASE_LEADING] = GROVE_K8S_LEASE_LEADING,
        [GV_LEASE_RELEASING] = GROVE_K8S_LEASE_RELEASING,
        [GV_LEASE_RELEASED] = GROVE_K8S_LEASE_RELEASED,
        [GV_LEASE_LOST] = GROVE_K8S_LEASE_LOST,
    };
    const gv_k8s *k = gv_k8s_of(backend);
    if (!k || !out_info || out_info->size < offsetof(grove_k8s_lease_info, identity)) {
        return GROVE_E_INVALID;
    }
    grove_k8s_lease_info info = {out_info->size, GROVE_K8S_LEASE_NONE, "", "", 0};
    if (k->elect) {
        int64_t fence = gv_lease_fence(&k->elect->lease), now = clock_of(k->elect);
        info.state = states[k->elect->lease.state];
        info.identity = k->elect->identity;
        info.holder = holder_of(k->elect->doc);
        info.left_ns = fence > now ? fence - now : 0;
    }
    memcpy(out_info, &info, info.size < sizeof info ? info.size : sizeof info);
    return GROVE_OK;
}
