/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on their way: queues by class, one write of an object at a time, a window that grows with the
 * server's answers and halves with its complaints, and the table of what is sent again.
 */
#include <stdio.h>
#include <string.h>

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include "backend.h"

#define MAX_ATTEMPTS 6
#define FIRST_WINDOW 8
#define RETRY_BASE (100 * GV_K8S_MS)

/* ---- lists ---- */

static void push(gv_k8s_list *l, gv_k8s_call *c) {
    c->next = NULL;
    c->prev = l->last;
    if (l->last) {
        l->last->next = c;
    } else {
        l->first = c;
    }
    l->last = c;
}

static void push_front(gv_k8s_list *l, gv_k8s_call *c) {
    c->prev = NULL;
    c->next = l->first;
    if (l->first) {
        l->first->prev = c;
    } else {
        l->last = c;
    }
    l->first = c;
}

static void take(gv_k8s_list *l, gv_k8s_call *c) {
    *(c->prev ? &c->prev->next : &l->first) = c->next;
    *(c->next ? &c->next->prev : &l->last) = c->prev;
    c->next = c->prev = NULL;
}

/* ---- chains: the open writes of one object, in the order in which they came ---- */

static void chain_add(gv_k8s *k, gv_k8s_call *c) {
    gv_k8s_call **at = &k->chains[c->object % GV_K8S_CHAINS];
    while (c->object != 0 && *at) {
        at = &(*at)->chain_next;
    }
    if (c->object != 0) {
        *at = c;
    }
}

static void chain_remove(gv_k8s *k, gv_k8s_call *c) {
    gv_k8s_call **at = &k->chains[c->object % GV_K8S_CHAINS];
    while (c->object != 0 && *at && *at != c) {
        at = &(*at)->chain_next;
    }
    if (c->object != 0 && *at) {
        *at = c->chain_next;
        c->chain_next = NULL;
    }
}

/* The last open write of the object that `c` writes; NULL: none. */
static gv_k8s_call *last_write(const gv_k8s *k, const gv_k8s_call *c) {
    gv_k8s_call *last = NULL;
    for (gv_k8s_call *at = k->chains[c->object % GV_K8S_CHAINS]; c->object != 0 && at;
         at = at->chain_next) {
        last = at->object == c->object ? at : last;
    }
    return last;
}

static bool is_first(const gv_k8s *k, const gv_k8s_call *c) {
    if (c->object == 0) {
        return true;
    }
    const gv_k8s_call *at = k->chains[c->object % GV_K8S_CHAINS];
    while (at && at->object != c->object) {
        at = at->chain_next;
    }
    return at == c;
}

/* ---- life ---- */

static void call_free(gv_k8s_call *c) {
    gv_k8s *k = c->k;
    while (c->riders) {
        gv_k8s_call *r = c->riders;
        c->riders = r->next;
        call_free(r);
    }
    gv_k8s_event_free(k, c->event);
    grove_buf_fini(&c->path);
    gv_k8s_wipe(&c->body); /* Secrets are written, too */
    gv_k8s_wipe(&c->reply);
    grove_doc_unref(c->doc);
    grove_memory_free(k->env, c, sizeof *c);
}

static void enqueue(gv_k8s *k, gv_k8s_call *c, bool in_front) {
    c->is_waiting = true;
    k->again += c->attempts > 0;
    if (in_front) {
        push_front(&k->queues[c->class], c);
    } else {
        push(&k->queues[c->class], c);
    }
}

static void dequeue(gv_k8s *k, gv_k8s_call *c) {
    c->is_waiting = false;
    k->again -= c->attempts > 0;
    take(&k->queues[c->class], c);
}

grove_status gv_k8s_submit(gv_k8s *k, const grove_op *in, gv_k8s_owner owner, grove_error *err) {
    grove_op op = {0};
    grove_status st = grove_struct_read(&op, sizeof op, in, in->size, offsetof(grove_op, ns));
    if (st < 0) {
        return grove_error_set(err, st, "grove_op has an unknown size");
    }
    bool known = owner != GV_K8S_CALLER || op.token != 0;
    if (!known || op.verb <= GROVE_VERB_NONE || op.verb >= GROVE_VERB_COUNT) {
        return grove_error_set(err, GROVE_E_INVALID, "an operation needs a token and a known verb");
    }
    gv_k8s_call *c = grove_memory_alloc(k->env, sizeof *c);
    if (!c) {
        return gv_k8s_nomem(err);
    }
    c->k = k;
    c->owner = owner;
    grove_buf_init(&c->path, k->env);
    grove_buf_init(&c->body, k->env);
    grove_buf_init(&c->reply, k->env);
    bool along = false;
    st = gv_k8s_compile(k, &op, c, err);
    if (st == GROVE_OK && gv_k8s_coalesce(k, last_write(k, c), c, &along) < 0) {
        st = gv_k8s_nomem(err);
    }
    if (st < 0) {
        call_free(c);
        return st;
    }
    if (!along) {
        enqueue(k, c, false);
        chain_add(k, c);
    }
    k->stats.operations++;
    k->activity++;
    return GROVE_OK;
}

/* The token of the call itself, or of one that goes along. */
static bool carries(const gv_k8s_call *c, uint64_t token) {
    bool found = c->token == token;
    for (const gv_k8s_call *r = c->riders; r && !found; r = r->next) {
        found = r->token == token;
    }
    return found;
}

static gv_k8s_call *find_in(const gv_k8s_list *l, uint64_t token) {
    gv_k8s_call *c = l->first;
    while (c && !carries(c, token)) {
        c = c->next;
    }
    return c;
}

static gv_k8s_call *find_queued(const gv_k8s *k, uint64_t token) {
    gv_k8s_call *c = NULL;
    for (int i = 0; i < GV_K8S_CLASSES && !c; i++) {
        c = find_in(&k->queues[i], token);
    }
    return c;
}

/* It has its verdict: what waits for the object may go. */
static void settle(gv_k8s *k, gv_k8s_call *c) {
    c->judged = true;
    chain_remove(k, c);
    k->activity++;
}

static void end_with(gv_k8s *k, gv_k8s_call *c, grove_status status, const char *message) {
    grove_error e = GROVE_ERROR_INIT;
    (void)grove_error_set(&e, status, message);
    c->verdict = (gv_k8s_verdict){.status = status, .flags = e.flags};
    memcpy(c->verdict.message, e.message, sizeof c->verdict.message);
    push(&k->ended, c);
    settle(k, c);
}

grove_status gv_k8s_cancel_call(gv_k8s *k, uint64_t token) {
    gv_k8s_call *c = find_queued(k, token);
    if (c && !c->riders) { /* several writes in one cannot be told apart any more */
        dequeue(k, c);
        end_with(k, c, GROVE_E_CANCELLED, "cancelled before it was sent");
        return GROVE_OK;
    }
    if (c) {
        return GROVE_OK;
    }
    c = find_in(&k->sent, token);
    if (c && !c->is_write) {
        k->transport.ops->stop(k->transport.impl, c->handle);
        c->handle = NULL;
        k->in_flight--;
        take(&k->sent, c);
        end_with(k, c, GROVE_E_CANCELLED, "cancelled");
        return GROVE_OK;
    }
    /* a write on its way, or an answer that came: the completion says what became of it */
    return c || find_in(&k->ended, token) ? GROVE_OK : GROVE_E_NOT_FOUND;
}

void gv_k8s_drop_calls(gv_k8s *k) {
    gv_k8s_list *lists[GV_K8S_CLASSES + 2] = {&k->sent, &k->ended};
    for (int i = 0; i < GV_K8S_CLASSES; i++) {
        lists[i + 2] = &k->queues[i];
    }
    for (int i = 0; i < GV_K8S_CLASSES + 2; i++) {
        while (lists[i]->first) {
            gv_k8s_call *c = lists[i]->first;
            if (c->handle) {
                k->transport.ops->stop(k->transport.impl, c->handle);
            }
            take(lists[i], c);
            call_free(c);
        }
    }
}

/* ---- answers ---- */

static void on_header(void *ctx, int32_t http, const char *name, const char *value) {
    gv_k8s_call *c = ctx;
    uint32_t ms = gv_k8s_note_header(c->k, http, name, value);
    c->retry_after_ms = ms > 0 ? ms : c->retry_after_ms;
}

static grove_status on_data(void *ctx, int32_t http, const char *bytes, size_t n) {
    gv_k8s_call *c = ctx;
    c->k->stats.bytes += n;
    grove_status st = gv_k8s_keep(&c->reply, http, bytes, n);
    c->too_large = st == GROVE_E_LIMIT;
    return st;
}

static void on_end(void *ctx, gv_k8s_end how, int32_t http, const char *message) {
    gv_k8s_call *c = ctx;
    gv_k8s *k = c->k;
    c->handle = NULL;
    c->how = how;
    c->http = http;
    size_t n = strlen(message);
    n = n < sizeof c->verdict.message ? n : sizeof c->verdict.message - 1;
    memcpy(c->verdict.message, message, n);
    c->verdict.message[n] = '\0';
    k->in_flight--;
    k->activity++;
    take(&k->sent, c);
    push(&k->ended, c);
}

static void adapt(gv_k8s *k, const gv_k8s_call *c) {
    grove_status st = c->verdict.status;
    if (c->owner == GV_K8S_ELECTION) {
        return; /* on connections of its own */
    }
    if (st == GROVE_E_TIMEOUT || st == GROVE_E_UNAVAILABLE ||
        (st == GROVE_E_BUSY && c->verb != GROVE_VERB_EVICT)) {
        k->window = k->window > 2 ? k->window / 2 : 1;
        k->successes = 0;
        return;
    }
    int64_t trip = k->now - c->sent_at;
    k->fastest = trip > 0 && (k->fastest == 0 || trip < k->fastest) ? trip : k->fastest;
    int64_t slow = 2 * k->fastest > 20 * GV_K8S_MS ? 2 * k->fastest : 20 * GV_K8S_MS;
    if (++k->successes >= k->window && trip <= slow && k->window < k->max_in_flight) {
        k->window++; /* once a round trip of the whole window */
        k->successes = 0;
    }
}

static int64_t backoff(gv_k8s *k, const gv_k8s_call *c) {
    int64_t base = RETRY_BASE << (c->attempts < 6 ? c->attempts : 6);
    return gv_k8s_random_between(k, base, 2 * base);
}

/* How long to wait before sending it again; negative: not at all. */
static int64_t retry_in(gv_k8s *k, gv_k8s_call *c) {
    const gv_k8s_verdict *v = &c->verdict;
    if (v->status == GROVE_OK || c->attempts >= MAX_ATTEMPTS) {
        return -1;
    }
    if (c->http == 401 && c->refreshed == 0) {
        c->refreshed = 1;
        return gv_k8s_identity_rejected(&k->identity, c->generation) ? 0 : -1;
    }
    if (v->status == GROVE_E_BUSY && c->verb == GROVE_VERB_EVICT) {
        return -1; /* a disruption budget, not overload */
    }
    if (c->owner == GV_K8S_ELECTION) {
        return -1; /* it has rounds of its own */
    }
    bool retriable = (v->flags & GROVE_ERROR_RETRIABLE) != 0;
    bool uncertain = (v->flags & GROVE_ERROR_UNCERTAIN) != 0;
    if (!retriable || uncertain || c->class == GV_K8S_CLASS_EVENT) {
        return -1;
    }
    if (v->retry_after_ms > 0) {
        return (int64_t)v->retry_after_ms * GV_K8S_MS;
    }
    return c->is_repeatable || c->how == GV_K8S_END_UNSENT ? backoff(k, c) : -1;
}

/* Its page for paths that lead nowhere says too little to whoever has not installed something. */
static void name_unknown_kind(gv_k8s_call *c) {
    char version[96];
    const char *plural = grove_kind_plural(c->kind);
    if (c->http == 404 && !c->doc && plural) {
        (void)snprintf(c->verdict.message, sizeof c->verdict.message,
                       "the server does not know %s of %s", plural,
                       gv_k8s_api_version(c->kind, version));
    }
}

/* The server's words for a precondition that fails are not always Conflict. */
static void mend(gv_k8s_call *c) {
    if (c->verdict.status != GROVE_E_REFUSED || c->http != 422 || !c->has_precondition) {
        return;
    }
    const grove_node *root = c->doc ? grove_doc_root(c->doc) : NULL;
    bool bare = grove_node_size(grove_node_get(root, "details")) == 0;
    if (gv_k8s_has_cause(root, NULL, "metadata.uid") ||
        gv_k8s_has_cause(root, NULL, "metadata.resourceVersion") || (c->is_json_patch && bare)) {
        c->verdict.status = GROVE_E_CONFLICT;
    }
}

/* Asking again brings no less; what was written took effect, or not. */
static void refuse_large(gv_k8s_call *c) {
    if (c->too_large) {
        c->verdict = (gv_k8s_verdict){.status = GROVE_E_LIMIT};
        c->verdict.flags = c->is_write ? GROVE_ERROR_UNCERTAIN : 0;
        (void)snprintf(c->verdict.message, sizeof c->verdict.message,
                       "the server's answer is larger than %u MiB",
                       (unsigned)(GV_K8S_REPLY_LIMIT >> 20));
    }
}

static grove_status judge(gv_k8s *k, gv_k8s_call *c) {
    char transport_message[sizeof c->verdict.message];
    memcpy(transport_message, c->verdict.message, sizeof transport_message);
    grove_doc_unref(c->doc);
    c->doc = NULL;
    if (c->how == GV_K8S_END_ANSWERED && c->reply.len > 0) {
        grove_status st = grove_doc_parse_json(k->env, c->reply.data, (size_t)c->reply.len, 0,
                                               &c->doc, NULL);
        if (st == GROVE_E_NOMEM) {
            return st;
        }
    }
    gv_k8s_outcome o = {c->how,
                        c->http,
                        c->retry_after_ms,
                        c->is_write,
                        c->verb == GROVE_VERB_CREATE,
                        transport_message,
                        c->doc ? grove_doc_root(c->doc) : NULL,
                        c->reply.len > 0 ? c->reply.data : NULL};
    gv_k8s_judge(&o, &c->verdict);
    refuse_large(c);
    name_unknown_kind(c);
    mend(c);
    return GROVE_OK;
}

static void again(gv_k8s *k, gv_k8s_call *c, int64_t delay) {
    c->attempts++;
    c->not_before = k->now + delay;
    c->retry_after_ms = 0;
    c->too_large = false;
    gv_k8s_wipe(&c->reply);
    grove_buf_init(&c->reply, k->env);
    enqueue(k, c, true);
    k->stats.retries++;
    k->activity++;
}

grove_status gv_k8s_judge_calls(gv_k8s *k) {
    for (gv_k8s_call *c = k->ended.first, *next; c; c = next) {
        next = c->next;
        if (c->judged) {
            continue;
        }
        grove_status st = judge(k, c);
        if (st < 0) {
            return st;
        }
        adapt(k, c);
        if (c->how == GV_K8S_END_UNUSABLE) {
            gv_k8s_identity_mistrusted(&k->identity, k->now);
        }
        k->stats.errors += c->verdict.status < 0 ? 1 : 0;
        k->stats.busy += c->verdict.status == GROVE_E_BUSY ? 1 : 0;
        bool other_form = c->event && c->attempts < 2 && gv_k8s_event_answered(k, c);
        int64_t delay = other_form ? 0 : retry_in(k, c);
        if (delay >= 0) {
            take(&k->ended, c);
            again(k, c, delay);
        } else if (c->owner == GV_K8S_ELECTION) {
            st = gv_k8s_elect_answered(k, c);
            if (st < 0) {
                return st;
            }
            settle(k, c);
            take(&k->ended, c);
            call_free(c);
        } else {
            settle(k, c);
        }
    }
    return GROVE_OK;
}

/* ---- sending ---- */

static grove_status send_call(gv_k8s *k, gv_k8s_call *c) {
    bool wanted = true;
    grove_status st = c->event ? gv_k8s_event_prepare(k, c, &wanted) : GROVE_OK;
    if (st < 0 || !wanted) {
        if (st == GROVE_OK) {
            dequeue(k, c);
            end_with(k, c, GROVE_OK, "");
        }
        return st;
    }
    bool own = c->owner == GV_K8S_ELECTION, lease = own && !c->event;
    gv_k8s_request r = {.method = c->method,
                        .lane = lease ? GV_K8S_LANE_LEASE : GV_K8S_LANE_REQUESTS,
                        .timeout_ms = own ? gv_k8s_elect_timeout_ms(k) : k->request_timeout_ms,
                        .body = c->is_write ? c->body.data : NULL,
                        .body_len = (size_t)c->body.len,
                        .ctx = c,
                        .header = on_header,
                        .data = on_data,
                        .end = on_end};
    st = gv_k8s_start(k, &r, c->path.data, c->is_write ? c->content_type : NULL, &c->handle);
    if (st < 0) {
        return st;
    }
    c->sent_at = k->now;
    c->generation = k->identity.generation;
    dequeue(k, c);
    push(&k->sent, c);
    k->in_flight++;
    return GROVE_OK;
}

/* Without credentials nothing can go: everything that waits is told so. */
static void refuse_all(gv_k8s *k) {
    for (int i = 0; i < GV_K8S_CLASSES; i++) {
        while (k->queues[i].first) {
            gv_k8s_call *c = k->queues[i].first;
            dequeue(k, c);
            end_with(k, c, GROVE_E_AUTH, k->identity.why);
        }
    }
}

grove_status gv_k8s_send_calls(gv_k8s *k, gv_k8s_readiness ready) {
    if (k->window == 0) {
        k->window = FIRST_WINDOW < k->max_in_flight ? FIRST_WINDOW : k->max_in_flight;
    }
    if (ready == GV_K8S_REFUSED) {
        refuse_all(k);
    }
    if (ready != GV_K8S_READY) {
        return GROVE_OK;
    }
    bool may_write = gv_k8s_may_write(k);
    for (int i = 0; i < GV_K8S_CLASSES; i++) {
        uint32_t room = i == GV_K8S_CLASS_LEASE ? UINT32_MAX : k->window; /* a lease never waits */
        for (gv_k8s_call *c = k->queues[i].first, *next; c && k->in_flight < room; c = next) {
            next = c->next;
            bool held = c->owner == GV_K8S_CALLER && (k->paused || (c->is_write && !may_write));
            if (!held && c->not_before <= k->now && is_first(k, c)) {
                grove_status st = send_call(k, c);
                if (st < 0) {
                    return st;
                }
            }
        }
    }
    return GROVE_OK;
}

/* ---- the fence ---- */

bool gv_k8s_has_writes(const gv_k8s *k) {
    bool any = false;
    for (const gv_k8s_call *c = k->sent.first; c && !any; c = c->next) {
        any = c->is_write;
    }
    for (int i = 0; i < GV_K8S_CLASSES; i++) {
        for (const gv_k8s_call *c = k->queues[i].first; c && !any; c = c->next) {
            any = c->is_write;
        }
    }
    return any;
}

void gv_k8s_refuse_writes(gv_k8s *k, const char *why) {
    for (int i = 0; i < GV_K8S_CLASSES; i++) {
        for (gv_k8s_call *c = k->queues[i].first, *next; c; c = next) {
            next = c->next;
            if (c->is_write && c->owner == GV_K8S_CALLER) {
                dequeue(k, c);
                end_with(k, c, GROVE_E_CANCELLED, why);
            }
        }
    }
}

grove_status gv_k8s_cut_calls(gv_k8s *k, const char *why) {
    for (gv_k8s_call *c = k->sent.first, *next; c; c = next) {
        next = c->next;
        if (c->owner == GV_K8S_ELECTION && !c->event) {
            continue; /* in a lane of its own */
        }
        k->transport.ops->stop(k->transport.impl, c->handle);
        c->handle = NULL;
        k->in_flight--;
        take(&k->sent, c);
        if (c->is_write) {
            end_with(k, c, GROVE_E_UNAVAILABLE, why);
            c->verdict.flags |= GROVE_ERROR_UNCERTAIN;
        } else {
            again(k, c, 0);
        }
    }
    return k->transport.ops->sever(k->transport.impl, GV_K8S_LANE_REQUESTS);
}

/* ---- telling ---- */

static grove_status tell(const gv_k8s_call *c, const grove_sink *sink) {
    const gv_k8s_verdict *v = &c->verdict;
    grove_completion done = {(uint32_t)sizeof done, v->status, c->token, c->http};
    done.flags = v->flags;
    done.retry_after_ms = v->retry_after_ms;
    done.reason = v->reason;
    done.message = v->message;
    done.object_doc = c->doc;
    done.object = c->doc ? grove_doc_root(c->doc) : NULL;
    return sink->completion(sink->ctx, &done);
}

/* Those that went along are told the same, one after the other: the call takes the next one's token. */
static bool next_rider(gv_k8s_call *c) {
    gv_k8s_call *r = c->riders;
    if (!r) {
        return false;
    }
    c->token = r->token;
    c->riders = r->next;
    r->next = NULL;
    call_free(r);
    return true;
}

grove_status gv_k8s_tell_calls(gv_k8s *k, const grove_sink *sink, uint32_t *budget) {
    while (k->ended.first && k->ended.first->judged && *budget > 0) {
        gv_k8s_call *c = k->ended.first;
        take(&k->ended, c);
        if ((c->flags & GROVE_OP_NO_REPLY) == 0 && c->owner == GV_K8S_CALLER) {
            grove_status st = tell(c, sink);
            if (st < 0) {
                push_front(&k->ended, c);
                return st;
            }
            (*budget)--;
            k->stats.completions++;
            k->activity++;
            if (next_rider(c)) {
                push_front(&k->ended, c);
                continue;
            }
        }
        call_free(c);
        k->activity++;
    }
    return GROVE_OK;
}

int64_t gv_k8s_calls_deadline(const gv_k8s *k) {
    int64_t at = INT64_MAX;
    if (k->ended.first) {
        return k->now;
    }
    /* only what is sent again has a time of its own: thousands that wait for their turn cost nothing */
    for (int i = 0; i < GV_K8S_CLASSES && !k->paused && k->again > 0; i++) {
        for (const gv_k8s_call *c = k->queues[i].first; c; c = c->next) {
            if (c->not_before > k->now && c->not_before < at) {
                at = c->not_before;
            }
        }
    }
    return at;
}
