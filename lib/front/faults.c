/* SPDX-License-Identifier: Apache-2.0 */
/* Decides, request by request, what a script of faults lets go wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/doc.h>
#include <grove/sys/util.h>

#include "front/faults_script.h"
#include "front/parts.h"

/* ---- life ---- */

static grove_status read_head(gv_faults *faults, const grove_doc *doc, grove_error *err) {
    const grove_node *root = grove_doc_root(doc), *list = grove_node_get(root, "faults");
    int64_t value = 0;
    if (grove_node_type(root) != GROVE_OBJECT) {
        return gv_fault_wrong(doc, root, err, "a script is an object with a list of faults");
    }
    for (const grove_node *m = grove_node_first(root); m; m = grove_node_next(root, m)) {
        const char *key = grove_node_key(m, NULL);
        bool seed = strcmp(key, "seed") == 0, limit = strcmp(key, "limit") == 0;
        if (!seed && !limit && m != list) {
            return gv_fault_wrong(doc, m, err, "a script has seed, limit and faults, not '%.60s'",
                                  key);
        }
        if ((seed || limit) && (grove_node_int64(m, &value) < 0 || value < 0)) {
            return gv_fault_wrong(doc, m, err, "%s must be a number, not below 0", key);
        }
        *(seed ? &faults->random : &faults->limit) = seed || limit ? (uint64_t)value
                                                                   : faults->limit;
    }
    if (grove_node_type(list) != GROVE_ARRAY) {
        return gv_fault_wrong(doc, list ? list : root, err, "'faults' must be a list");
    }
    return GROVE_OK;
}

static grove_status read_script(gv_faults *faults, const grove_doc *doc, grove_error *err) {
    const grove_node *list = grove_node_get(grove_doc_root(doc), "faults");
    grove_status st = read_head(faults, doc, err);
    uint32_t n = grove_node_size(list);
    if (st < 0 || n == 0) {
        return st;
    }
    faults->list = calloc(n, sizeof *faults->list);
    if (!faults->list) {
        return GROVE_E_NOMEM;
    }
    for (const grove_node *m = grove_node_first(list); st == GROVE_OK && m;
         m = grove_node_next(list, m)) {
        st = gv_fault_read(doc, m, &faults->list[faults->n], err);
        faults->n++;
    }
    return st;
}

grove_status gv_faults_new(grove_env *env, const char *text, size_t len, gv_faults **out_faults,
                           grove_error *err) {
    grove_doc *doc = NULL;
    gv_faults *faults = calloc(1, sizeof *faults);
    if (!faults) {
        return GROVE_E_NOMEM;
    }
    grove_status st = grove_doc_parse_yaml(env, text, len, GROVE_PARSE_STRICT, &doc, err);
    st = st < 0 ? st : read_script(faults, doc, err);
    grove_doc_unref(doc);
    if (st < 0) {
        gv_faults_free(faults);
        return st;
    }
    *out_faults = faults;
    return GROVE_OK;
}

static void memory_free(gv_fault_memory *m) {
    grove_buf_fini(&m->body);
    grove_buf_fini(&m->older);
    free(m->target);
    free(m);
}

void gv_faults_free(gv_faults *faults) {
    if (!faults) {
        return;
    }
    while (faults->memory) {
        gv_fault_memory *m = faults->memory;
        faults->memory = m->next;
        memory_free(m);
    }
    free(faults->list);
    free(faults);
}

bool gv_faults_need_tls(const gv_faults *faults) {
    for (uint32_t i = 0; faults && i < faults->n; i++) {
        if (faults->list[i].act == GV_FAULT_CERTIFICATE) {
            return true;
        }
    }
    return false;
}

void gv_faults_tell(const gv_faults *faults, gv_faults_say_fn say, void *ctx) {
    for (uint32_t i = 0; faults && i < faults->n; i++) {
        say(ctx, faults->list[i].name, faults->list[i].matched, faults->list[i].fired);
    }
}

/* ---- which requests ---- */

/* A star stands for any part of a segment, two for any part of the path. */
static bool matches(const char *pattern, const char *text, size_t n) {
    while (*pattern && *pattern != '*') {
        if (n == 0 || *pattern != *text) {
            return false;
        }
        pattern++;
        text++;
        n--;
    }
    if (!*pattern) {
        return n == 0;
    }
    bool deep = pattern[1] == '*';
    pattern += deep ? 2 : 1;
    for (size_t i = 0; i <= n; i++) {
        if (matches(pattern, text + i, n - i)) {
            return true;
        }
        if (i < n && text[i] == '/' && !deep) {
            return false;
        }
    }
    return false;
}

/* Whether a GET or DELETE is about a whole collection. */
static bool of_collection(const char *target, size_t n) {
    gv_front_route route;
    gv_front_path *path = calloc(1, sizeof *path);
    bool is = path && gv_front_path_parse(path, target, n) && gv_front_route_find(path, &route) &&
              !route.name[0];
    free(path);
    return is;
}

static bool is_watch(const char *query) {
    for (; *query; query += *query == '&') {
        size_t n = strcspn(query, "&");
        if ((n == 7 && strncmp(query, "watch=1", n) == 0) ||
            (n == 10 && strncmp(query, "watch=true", n) == 0)) {
            return true;
        }
        query += n;
    }
    return false;
}

static uint32_t verb_of(const gv_front_request *q) {
    size_t n = strcspn(q->target, "?#");
    if (strcmp(q->method, "GET") == 0) {
        return q->target[n] == '?' && is_watch(q->target + n + 1) ? GV_VERB_WATCH
               : of_collection(q->target, n)                      ? GV_VERB_LIST
                                                                  : GV_VERB_GET;
    }
    return strcmp(q->method, "POST") == 0    ? GV_VERB_CREATE
           : strcmp(q->method, "PUT") == 0   ? GV_VERB_UPDATE
           : strcmp(q->method, "PATCH") == 0 ? GV_VERB_PATCH
           : of_collection(q->target, n)     ? GV_VERB_DELETECOLLECTION
                                             : GV_VERB_DELETE;
}

/* ---- whether now ---- */

static uint64_t below(gv_faults *faults, uint64_t bound) {
    return bound ? grove_random_next(&faults->random) % bound : 0;
}

static bool is_nth(const gv_fault *f) {
    for (uint32_t i = 0; i < f->n_nth; i++) {
        if (f->nth[i] == f->matched) {
            return true;
        }
    }
    return f->n_nth == 0;
}

/* The request matches: does it happen? Draws once for each match, whatever else holds. */
static bool fires(gv_faults *faults, gv_fault *f) {
    f->matched++;
    bool yes = f->chance_from == 0 || below(faults, f->chance_from) < f->chance_of;
    yes = yes && is_nth(f) && f->matched >= f->from;
    yes = yes && (f->every == 0 || f->matched % f->every == 0);
    yes = yes && (f->times == 0 || f->fired < f->times);
    yes = yes && (faults->limit == 0 || faults->fired < faults->limit);
    f->fired += yes;
    faults->fired += yes;
    return yes;
}

/* ---- the plan ---- */

/* Adds one fault to what was planned; an earlier one of the same act stands. */
static void add(gv_faults *faults, const gv_fault *f, gv_fault_plan *plan) {
    const gv_fault_plan *p = &f->plan;
    if (plan->acts & f->act) {
        return;
    }
    plan->acts |= f->act;
    plan->carried_out |= p->carried_out;
    plan->reset |= p->reset;
    plan->forget |= p->forget;
    plan->initial |= p->initial;
    switch (f->act) {
    case GV_FAULT_ANSWER:
        plan->code = p->code;
        plan->body = p->body;
        plan->resumable = p->resumable;
        plan->answer_after = p->answer_after;
        plan->retry_after_s = p->retry_after_s;
        (void)snprintf(plan->reason, sizeof plan->reason, "%s", p->reason);
        break;
    case GV_FAULT_CUT:
        plan->cut_after = p->cut_after;
        break;
    case GV_FAULT_HANG:
        plan->hang_after = p->hang_after;
        plan->hang_whole = p->hang_whole;
        break;
    case GV_FAULT_SLOW:
        plan->bytes_per_s = p->bytes_per_s;
        break;
    case GV_FAULT_DELAY:
        plan->delay_bound_ms = f->delay_drawn ? p->delay_ms : 0;
        plan->delay_ms = f->delay_drawn ? gv_faults_draw(faults, p->delay_ms) : p->delay_ms;
        break;
    case GV_FAULT_RESTART:
        plan->down_ms = p->down_ms;
        break;
    case GV_FAULT_CERTIFICATE:
        plan->certificate = p->certificate;
        break;
    default:
        break;
    }
}

uint32_t gv_faults_draw(gv_faults *faults, uint32_t at_most_ms) {
    return (uint32_t)below(faults, (uint64_t)at_most_ms + 1);
}

void gv_faults_request(gv_faults *faults, const gv_front_request *request,
                       gv_fault_plan *out_plan) {
    *out_plan = (gv_fault_plan){0};
    if (!faults) {
        return;
    }
    size_t n = strcspn(request->target, "?#");
    uint32_t verb = verb_of(request);
    for (uint32_t i = 0; i < faults->n; i++) {
        gv_fault *f = &faults->list[i];
        if ((f->verbs & verb) && (!f->path[0] || matches(f->path, request->target, n)) &&
            fires(faults, f)) {
            add(faults, f, out_plan);
        }
    }
}

void gv_faults_connection(gv_faults *faults, gv_fault_plan *out_plan) {
    *out_plan = (gv_fault_plan){0};
    for (uint32_t i = 0; faults && i < faults->n; i++) {
        gv_fault *f = &faults->list[i];
        if ((f->verbs & GV_VERB_CONNECT) && fires(faults, f)) {
            add(faults, f, out_plan);
        }
    }
}

/* ---- stale answers ---- */

static bool wants_memory(const gv_faults *faults, const gv_front_request *q) {
    size_t n = strcspn(q->target, "?#");
    uint32_t verb = faults ? verb_of(q) : 0;
    for (uint32_t i = 0; faults && i < faults->n; i++) {
        const gv_fault *f = &faults->list[i];
        if (f->act == GV_FAULT_STALE && (f->verbs & verb & (GV_VERB_GET | GV_VERB_LIST)) &&
            (!f->path[0] || matches(f->path, q->target, n))) {
            return true;
        }
    }
    return false;
}

static gv_fault_memory *memory_of(gv_faults *faults, grove_env *env, const char *target) {
    gv_fault_memory *m = faults->memory;
    while (m && strcmp(m->target, target) != 0) {
        m = m->next;
    }
    if (m) {
        return m;
    }
    m = calloc(1, sizeof *m);
    char *copy = m ? strdup(target) : NULL;
    if (!copy) {
        free(m);
        return NULL;
    }
    m->target = copy;
    grove_buf_init(&m->body, env);
    grove_buf_init(&m->older, env);
    m->next = faults->memory;
    faults->memory = m;
    return m;
}

static bool same(const grove_buf *a, const grove_buf *b) {
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, (size_t)a->len) == 0);
}

static grove_status set(grove_buf *to, const grove_buf *from) {
    grove_buf_clear(to);
    return from->len ? grove_buf_append(to, from->data, (size_t)from->len) : GROVE_OK;
}

grove_status gv_faults_stale(gv_faults *faults, grove_env *env, const gv_front_request *request,
                             const gv_fault_plan *plan, gv_front_response *response) {
    if (response->watch || response->http != 200 || !wants_memory(faults, request)) {
        return GROVE_OK;
    }
    gv_fault_memory *m = memory_of(faults, env, request->target);
    grove_status st = m ? GROVE_OK : GROVE_E_NOMEM;
    if (st == GROVE_OK && !same(&m->body, &response->body)) {
        st = set(&m->older, &m->body);
        st = st < 0 ? st : set(&m->body, &response->body);
    }
    if (st == GROVE_OK && (plan->acts & GV_FAULT_STALE) && m->older.len > 0) {
        st = set(&response->body, &m->older);
    }
    return st;
}

/* ---- answers ---- */

/* What a server sends beside 410: the same place in the list as it is now ("0" for the version). */
static grove_status put_rest(grove_env *env, const gv_front_request *request, grove_builder *b) {
    char token[GV_FRONT_TARGET_MAX];
    gv_front_query query;
    const char *target = request->target + strcspn(request->target, "?#");
    grove_status st = gv_front_query_parse(&query, env, target + (*target == '?'));
    if (st == GROVE_OK) {
        const char *was = gv_front_query_get(&query, "continue");
        const char *key = was ? strchr(was, ':') : NULL;
        (void)snprintf(token, sizeof token, "0%s", key ? key : ":");
        grove_builder_string(b, "continue", token);
    }
    gv_front_query_fini(&query);
    return st == GROVE_E_NOMEM ? st : GROVE_OK;
}

static grove_status put_status(grove_env *env, const gv_fault_plan *plan,
                               const gv_front_request *request, grove_builder *b, const char *key) {
    char message[80];
    (void)snprintf(message, sizeof message, "a fault of the test's script: %d", (int)plan->code);
    grove_builder_open_object(b, key);
    grove_builder_string(b, "kind", "Status");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_object(b, "metadata");
    grove_status st = plan->resumable && request ? put_rest(env, request, b) : GROVE_OK;
    grove_builder_close(b);
    grove_builder_string(b, "status", "Failure");
    grove_builder_string(b, "message", message);
    if (plan->reason[0]) {
        grove_builder_string(b, "reason", plan->reason);
    }
    if (plan->retry_after_s) {
        grove_builder_open_object(b, "details");
        grove_builder_int64(b, "retryAfterSeconds", plan->retry_after_s);
        grove_builder_close(b);
    }
    grove_builder_int64(b, "code", plan->code);
    grove_builder_close(b);
    return st;
}

static grove_status write_status(grove_env *env, const gv_fault_plan *plan,
                                 const gv_front_request *request, bool event, grove_buf *out) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st < 0) {
        return st;
    }
    if (event) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "type", "ERROR");
        st = put_status(env, plan, request, b, "object");
        grove_builder_close(b);
    } else {
        st = put_status(env, plan, request, b, NULL);
    }
    st = st < 0 ? st : grove_builder_finish(b, &doc, NULL);
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, out, NULL);
    st = st < 0 ? st : grove_buf_append(out, "\n", 1);
    grove_doc_unref(doc);
    grove_builder_free(b);
    return st;
}

grove_status gv_faults_event(grove_env *env, const gv_fault_plan *plan, grove_buf *out_line) {
    return write_status(env, plan, NULL, true, out_line);
}

grove_status gv_faults_answer(grove_env *env, const gv_fault_plan *plan,
                              const gv_front_request *request, gv_front_response *response) {
    static const char html[] = "<html>\r\n<head><title>Bad Gateway</title></head>\r\n"
                               "<body><h1>Bad Gateway</h1></body>\r\n</html>\r\n";
    static const char text[] = "upstream connect error or disconnect before headers\n";
    bool is_html = plan->body == GV_BODY_HTML, is_text = plan->body == GV_BODY_TEXT;
    grove_buf_clear(&response->body);
    response->http = plan->body == GV_BODY_EVENT ? 200 : plan->code;
    response->retry_after_s = plan->retry_after_s;
    response->content_type = is_html   ? "text/html"
                             : is_text ? "text/plain; charset=utf-8"
                                       : "application/json";
    if (plan->body == GV_BODY_EMPTY) {
        return GROVE_OK;
    }
    if (is_html || is_text) {
        const char *body = is_html ? html : text;
        return grove_buf_append(&response->body, body, strlen(body));
    }
    return write_status(env, plan, request, plan->body == GV_BODY_EVENT, &response->body);
}
