/* SPDX-License-Identifier: Apache-2.0 */
/* Requests handed to the front, answers handed back as the plan of their faults lets them. */
#define _GNU_SOURCE /* memmem */
#include "through.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <grove/sys/util.h>

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)
#define BOOKMARK_PERIOD (60 * SECOND)
#define DRIP (50 * MS)

/* ---- a request arrives ---- */

static const char *header(const gv_k8s_request *r, const char *name) {
    size_t n = strlen(name);
    for (uint32_t i = 0; i < r->n_headers; i++) {
        if (strncasecmp(r->headers[i], name, n) == 0 && r->headers[i][n] == ':') {
            return r->headers[i] + n + 2;
        }
    }
    return NULL;
}

static gv_front_request request_of(const gv_k8s_request *r) {
    const char *host = strstr(r->url, "://") + 3;
    return (gv_front_request){.method = r->method,
                              .target = strchr(host, '/'),
                              .accept = header(r, "Accept"),
                              .content_type = header(r, "Content-Type"),
                              .body = r->body ? r->body : "",
                              .body_len = r->body ? r->body_len : 0,
                              .agent = header(r, "User-Agent")};
}

/* Whether the request takes effect although a fault is planned; as the server has it. */
static bool is_carried_out(const gv_fault_plan *plan) {
    bool unanswered = plan->acts & (GV_FAULT_DROP | GV_FAULT_RESTART);
    if (!unanswered && !(plan->acts & GV_FAULT_ANSWER)) {
        return true;
    }
    return plan->carried_out || (!unanswered && plan->body == GV_BODY_EVENT);
}

static grove_status ask(through *t, const gv_front_request *in, const gv_fault_plan *plan,
                        gv_front_response *out) {
    grove_status st = is_carried_out(plan) ? gv_front_handle(t->front, in, out) : GROVE_OK;
    st = st < 0 ? st : gv_faults_stale(t->faults, t->env, in, plan, out);
    if (st < 0 || !(plan->acts & GV_FAULT_ANSWER) || (plan->body == GV_BODY_EVENT && out->watch)) {
        return st;
    }
    if (out->watch) {
        gv_front_unwatch(t->front, out->watch);
        out->watch = 0;
    }
    return gv_faults_answer(t->env, plan, in, out);
}

static void no_answer(through_exchange *x, gv_k8s_end how) {
    x->no_answer = true;
    x->how = how;
}

static void restart(through *t, const gv_fault_plan *plan) {
    t->down_until = t->now + (int64_t)plan->down_ms * MS;
    if (plan->forget) {
        gv_front_forget(t->front);
    }
    for (int i = 0; i < THROUGH_MOST; i++) {
        through_exchange *x = &t->open[i];
        if (x->used && x->watch) {
            gv_front_unwatch(t->front, x->watch);
            x->watch = 0;
        }
        if (x->used && !x->no_answer) {
            no_answer(x, GV_K8S_END_LOST);
        }
    }
}

/* A connection of its own: a certificate that does not hold ends it before anything was sent. */
static bool connects(through *t, through_exchange *x) {
    gv_fault_plan plan;
    gv_faults_connection(t->faults, &plan);
    bool bad = (plan.acts & GV_FAULT_CERTIFICATE) && plan.certificate != GV_CERT_GOOD &&
               plan.certificate != GV_CERT_RENEWED;
    t->fired += bad;
    if (t->now < t->down_until || bad) {
        no_answer(x, bad ? GV_K8S_END_UNUSABLE : GV_K8S_END_UNSENT);
        return false;
    }
    return true;
}

static grove_status arrive(through *t, through_exchange *x) {
    gv_front_request in = request_of(&x->r);
    gv_front_response out;
    t->requests++;
    if (t->arrived) {
        t->arrived(t->ctx, in.method, in.target);
    }
    if (!connects(t, x)) {
        return GROVE_OK;
    }
    gv_front_response_init(&out, t->env);
    gv_faults_request(t->faults, &in, &x->plan);
    t->fired += x->plan.acts != 0;
    grove_status st = ask(t, &in, &x->plan, &out);
    x->http = out.http;
    x->retry_after_s = out.retry_after_s;
    x->watch = out.watch;
    x->ended = out.watch == 0;
    x->server_end_at = out.timeout_s > 0 ? t->now + out.timeout_s * SECOND : INT64_MAX;
    x->ready_at = t->now + (x->watch ? 0 : (int64_t)x->plan.delay_ms * MS);
    st = st < 0 || x->watch ? st : grove_buf_append(&x->held, out.body.data, (size_t)out.body.len);
    gv_front_response_fini(&out);
    if (x->plan.acts & GV_FAULT_RESTART) {
        restart(t, &x->plan);
    } else if (x->plan.acts & GV_FAULT_DROP) {
        no_answer(x, GV_K8S_END_LOST);
    }
    return st;
}

static grove_status start(void *impl, const gv_k8s_request *r, void **out_handle) {
    through *t = impl;
    int i = 0;
    while (i < THROUGH_MOST && t->open[i].used) {
        i++;
    }
    if (i == THROUGH_MOST) {
        return GROVE_E_LIMIT;
    }
    through_exchange *x = &t->open[i];
    *x = (through_exchange){.r = *r, .used = true, .server_end_at = INT64_MAX};
    bool timed = r->lane != GV_K8S_LANE_WATCHES && r->timeout_ms > 0;
    x->timeout_at = timed ? t->now + (int64_t)r->timeout_ms * MS : INT64_MAX;
    grove_buf_init(&x->held, t->env);
    *out_handle = x;
    return arrive(t, x);
}

/* ---- its answer ---- */

static void forget(through *t, through_exchange *x) {
    if (x->watch) {
        gv_front_unwatch(t->front, x->watch);
    }
    grove_buf_fini(&x->held);
    x->used = false;
}

static void end(through *t, through_exchange *x, gv_k8s_end how) {
    gv_k8s_request r = x->r;
    int32_t http = x->headers_told ? x->http : 0;
    forget(t, x);
    r.end(r.ctx, how, http, how == GV_K8S_END_ANSWERED ? "" : "lost in the test");
}

static void tell_headers(through_exchange *x) {
    char number[16];
    x->headers_told = true;
    x->r.header(x->r.ctx, x->http, "content-type", "application/json");
    if (x->retry_after_s > 0) {
        (void)snprintf(number, sizeof number, "%u", x->retry_after_s);
        x->r.header(x->r.ctx, x->http, "retry-after", number);
    }
}

/* How many of n bytes may still go, if this stops after `after`; true: it stops there. */
static bool stops(const through_exchange *x, uint64_t after, uint64_t *n) {
    if (x->told + *n < after) {
        return false;
    }
    *n = after > x->told ? after - x->told : 0;
    return true;
}

/* In pieces of any size; false: the client ended it. */
static bool tell_bytes(through *t, through_exchange *x, uint64_t n) {
    while (n > 0) {
        uint64_t piece = grove_random_next(&t->random) % 4000 + 1;
        piece = piece < n ? piece : n;
        const char *from = x->held.data + x->told;
        x->told += piece;
        n -= piece;
        if (x->r.data(x->r.ctx, x->http, from, (size_t)piece) < 0) {
            end(t, x, GV_K8S_END_LOST);
            return false;
        }
        if (!x->used) {
            return false;
        }
    }
    return true;
}

static void tell_error(through *t, through_exchange *x) {
    grove_buf line;
    grove_buf_init(&line, t->env);
    grove_status st = gv_faults_event(t->env, &x->plan, &line);
    if (st == GROVE_OK) {
        st = x->r.data(x->r.ctx, x->http, line.data, (size_t)line.len);
    }
    grove_buf_fini(&line);
    end(t, x, st < 0 ? GV_K8S_END_LOST : GV_K8S_END_ANSWERED);
}

/* Tells what may be told now. */
static void flow(through *t, through_exchange *x) {
    uint32_t acts = x->plan.acts;
    uint64_t n = x->held.len - x->told;
    if (acts & GV_FAULT_SLOW && n > 0) {
        uint64_t drop = (uint64_t)x->plan.bytes_per_s * 50 / 1000 + 1;
        n = n < drop ? n : drop;
        x->drip_at = t->now + DRIP;
    }
    bool hangs = (acts & GV_FAULT_HANG) && stops(x, x->plan.hang_after, &n);
    bool cut = (acts & GV_FAULT_CUT) && stops(x, x->plan.cut_after, &n);
    bool error = x->watch && (acts & GV_FAULT_ANSWER) && stops(x, x->plan.answer_after, &n);
    if (!x->headers_told) {
        tell_headers(x);
    }
    if (!tell_bytes(t, x, n)) {
        return;
    }
    if (error) {
        tell_error(t, x);
    } else if (cut) {
        end(t, x, GV_K8S_END_LOST);
    } else if (hangs) {
        x->silent = true;
    } else if (x->ended && x->told == x->held.len) {
        end(t, x, GV_K8S_END_ANSWERED);
    }
}

static bool may_flow(const through *t, const through_exchange *x) {
    bool whole = (x->plan.acts & GV_FAULT_HANG) && x->plan.hang_whole;
    bool any = x->told < x->held.len || x->ended || !x->headers_told;
    return any && !whole && !x->silent && t->now >= x->ready_at && t->now >= x->drip_at;
}

/* One look at one exchange; true: something was told. */
static bool look(through *t, through_exchange *x) {
    if (x->no_answer) {
        end(t, x, x->how);
        return true;
    }
    if (t->now >= x->timeout_at) {
        end(t, x, GV_K8S_END_TIMEOUT);
        return true;
    }
    if (x->watch && t->now >= x->server_end_at) {
        gv_front_unwatch(t->front, x->watch);
        x->watch = 0;
        x->ended = true;
    }
    if (!may_flow(t, x)) {
        return false;
    }
    flow(t, x);
    return true;
}

/* ---- watches ---- */

static through_exchange *of_watch(through *t, uint64_t watch) {
    int i = 0;
    while (i < THROUGH_MOST && !(t->open[i].used && t->open[i].watch == watch)) {
        i++;
    }
    return i < THROUGH_MOST ? &t->open[i] : NULL;
}

static bool is_left_out(const through_exchange *x, const char *bytes, size_t len) {
    static const char mark[] = "{\"type\":\"BOOKMARK\"", last[] = "initial-events-end";
    return (x->plan.acts & GV_FAULT_NO_BOOKMARKS) && len > sizeof mark &&
           memcmp(bytes, mark, sizeof mark - 1) == 0 &&
           (x->plan.initial || !memmem(bytes, len, last, sizeof last - 1));
}

static void on_line(void *ctx, uint64_t watch, const char *bytes, size_t len) {
    through *t = ctx;
    through_exchange *x = of_watch(t, watch);
    if (!x || x->silent || is_left_out(x, bytes, len)) {
        return;
    }
    if (t->faults && (x->plan.acts & GV_FAULT_DELAY) && x->told == x->held.len) {
        uint32_t bound = x->plan.delay_bound_ms;
        uint32_t ms = bound ? gv_faults_draw(t->faults, bound) : x->plan.delay_ms;
        x->ready_at = t->now + (int64_t)ms * MS;
    }
    if (x->told == x->held.len && x->told > 0 && !x->plan.acts) {
        grove_buf_clear(&x->held); /* a plan counts bytes from the beginning */
        x->told = 0;
    }
    if (grove_buf_append(&x->held, bytes, len) < 0) {
        no_answer(x, GV_K8S_END_LOST);
    }
}

static void on_watch_end(void *ctx, uint64_t watch) {
    through_exchange *x = of_watch(ctx, watch);
    if (x) {
        x->watch = 0;
        x->ended = true;
    }
}

static grove_status pump(through *t) {
    const gv_front_sink sink = {t, on_line, on_watch_end};
    grove_status st = grove_sim_advance(t->sim, t->now, NULL);
    if (st == GROVE_OK && t->now >= t->bookmark_at) {
        t->bookmark_at = t->now + BOOKMARK_PERIOD;
        st = gv_front_bookmark(t->front, NULL);
    }
    return st < 0 ? st : gv_front_pump(t->front, &sink, NULL);
}

/* ---- the transport ---- */

static grove_status perform(void *impl, int64_t now, int64_t *out_deadline) {
    through *t = impl;
    bool any = false;
    t->now = now > t->now ? now : t->now;
    grove_status st = pump(t);
    for (int i = 0; i < THROUGH_MOST && st == GROVE_OK; i++) {
        any = (t->open[i].used && look(t, &t->open[i])) || any;
    }
    *out_deadline = any ? now : INT64_MAX;
    return st;
}

static void stop(void *impl, void *handle) {
    forget(impl, handle);
}

static grove_status trust(void *impl, const gv_k8s_trust *with) {
    (void)impl;
    (void)with;
    return GROVE_OK;
}

static grove_status of_lane(void *impl, gv_k8s_lane lane) {
    (void)impl;
    (void)lane;
    return GROVE_OK;
}

static void pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    (void)impl;
    (void)fds;
    (void)cap;
    *out_n = 0;
}

static void destroy(void *impl) {
    through_forget(impl);
}

void through_forget(through *t) {
    for (int i = 0; i < THROUGH_MOST; i++) {
        if (t->open[i].used) {
            forget(t, &t->open[i]);
        }
    }
}

gv_k8s_transport through_transport(through *t) {
    static const gv_k8s_transport_ops ops = {trust,   start,   stop,    of_lane,
                                             of_lane, perform, pollfds, destroy};
    return (gv_k8s_transport){&ops, t};
}
