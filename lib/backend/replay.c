/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that is a recording: it expects the same calls and delivers what was delivered then. */
#include "backend/line.h"
#include "base/mem.h"
#include "base/text.h"
#include "value/doc.h"

typedef struct replay {
    grove_env *env;
    char *text;
    size_t len, at;
    uint64_t lines; /* passed so far */
    bool broken;
    grove_builder *b;
    grove_buf line; /* what the caller just did, as a line */
} replay;

/* ---- lines ---- */

/* The line at the cursor, without its newline; empty at the end. */
static gv_str peek(const replay *p) {
    const char *from = p->text + p->at;
    size_t left = p->len - p->at;
    const char *nl = left ? memchr(from, '\n', left) : NULL;
    return (gv_str){from, nl ? (size_t)(nl - from) : left};
}

static void pass(replay *p) {
    size_t n = peek(p).n;
    p->at += n + (p->at + n < p->len ? 1 : 0);
    p->lines++;
}

static grove_status differs(replay *p, grove_error *err) {
    gv_str want = peek(p), got = gv_buf_view(&p->line);
    p->broken = true;
    return gv_error(err, GROVE_E_CONFLICT, "line %llu: recorded %.*s, now %.*s",
                    (unsigned long long)p->lines + 1, want.n > 200 ? 200 : (int)want.n, want.p,
                    got.n > 200 ? 200 : (int)got.n, got.p);
}

/* The line just made must be the one at the cursor. */
static grove_status expect(replay *p, grove_status made, grove_error *err) {
    grove_status st = made;
    if (p->broken) {
        st = gv_error(err, GROVE_E_CONFLICT, "the replay has left the recording");
    } else if (st == GROVE_OK && !gv_str_eq(peek(p), gv_buf_view(&p->line))) {
        st = differs(p, err);
    } else if (st == GROVE_OK) {
        pass(p);
    }
    grove_buf_clear(&p->line);
    return st;
}

static grove_status parse_line(replay *p, grove_doc **out_doc, grove_error *err) {
    gv_str line = peek(p);
    return grove_doc_parse_json(p->env, line.p, line.n, 0, out_doc, err);
}

/* {"status":N} after a call: how it went then. */
static grove_status recorded_status(replay *p, grove_error *err) {
    grove_doc *doc = NULL;
    grove_status st = parse_line(p, &doc, err);
    if (st < 0) {
        return st;
    }
    st = (grove_status)gv_node_get_int(grove_doc_root(doc), "status", 0);
    grove_doc_unref(doc);
    pass(p);
    return st < 0 ? gv_error(err, st, "as recorded") : GROVE_OK;
}

/* ---- calls ---- */

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    replay *p = impl;
    grove_op in = {0};
    grove_status st = gv_struct_in(&in, sizeof in, op, op->size, offsetof(grove_op, ns));
    if (st == GROVE_OK) {
        st = expect(p, gv_line_submit(p->b, &in, &p->line), err);
    }
    return st < 0 ? st : recorded_status(p, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    replay *p = impl;
    grove_status st = expect(p, gv_line_cancel(p->b, token, &p->line), err);
    return st < 0 ? st : recorded_status(p, err);
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    replay *p = impl;
    grove_status st = expect(p, gv_line_watch(p->b, w, &p->line), err);
    return st < 0 ? st : recorded_status(p, err);
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    replay *p = impl;
    if (what == GROVE_CONTROL_STATS && arg) {
        return gv_buf_fmt(arg, "{\"lines\":%llu,\"played\":%s}", (unsigned long long)p->lines,
                          p->at == p->len ? "true" : "false");
    }
    grove_status st = expect(p, gv_line_control(p->b, what, &p->line), err);
    return st < 0 ? st : recorded_status(p, err);
}

/* ---- deliveries ---- */

static grove_status deliver(grove_doc *line, const grove_sink *sink) {
    const grove_node *root = grove_doc_root(line);
    const grove_node *done = grove_node_get(root, "completion");
    const grove_node *event = grove_node_get(root, "event");
    if (done) {
        grove_completion c;
        gv_line_read_completion(line, done, &c);
        return sink->completion(sink->ctx, &c);
    }
    if (event) {
        grove_event e;
        gv_line_read_event(line, event, &e);
        return sink->event(sink->ctx, &e);
    }
    return GROVE_E_CONFLICT;
}

/* Whether the line says that the sink did not take the delivery before it. */
static bool says_failed(const replay *p) {
    return gv_str_starts(peek(p), GV_STR("{\"failed\":"));
}

/* One line inside `process`; *ended with its status and deadline at the last one. */
static grove_status play_line(replay *p, const grove_sink *sink, bool *ended, int64_t *deadline,
                              grove_error *err) {
    grove_doc *line = NULL;
    grove_status st = parse_line(p, &line, err);
    if (st < 0) {
        p->broken = st != GROVE_E_NOMEM;
        return st;
    }
    const grove_node *end = grove_node_get(grove_doc_root(line), "processed");
    if (end) {
        *ended = true;
        *deadline = gv_node_get_int(end, "deadline", INT64_MAX);
        st = (grove_status)gv_node_get_int(end, "status", 0);
        pass(p);
        grove_doc_unref(line);
        return st < 0 ? gv_error(err, st, "as recorded") : GROVE_OK;
    }
    size_t at = p->at;
    uint64_t lines = p->lines;
    pass(p); /* what the sink does comes after this line */
    st = deliver(line, sink);
    grove_doc_unref(line);
    if (says_failed(p)) {
        pass(p);
        return GROVE_OK; /* its status is that of the process, which follows */
    }
    if (st == GROVE_E_CONFLICT) {
        p->broken = true;
        return gv_error(err, st, "line %llu: the calls differ from the recording",
                        (unsigned long long)lines + 1);
    }
    if (st < 0) {
        p->at = at; /* delivered again by the next call */
        p->lines = lines;
    }
    return st;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    replay *p = impl;
    bool ended = false;
    int64_t deadline = INT64_MAX;
    grove_status st = expect(p, gv_line_process(p->b, now, budget, &p->line), err);
    while (st == GROVE_OK && !ended) {
        st = p->broken ? GROVE_E_CONFLICT : play_line(p, sink, &ended, &deadline, err);
    }
    if (st == GROVE_OK && out_deadline) {
        *out_deadline = deadline;
    }
    return st;
}

static void destroy(void *impl) {
    replay *p = impl;
    grove_env *env = p->env;
    grove_builder_free(p->b);
    grove_buf_fini(&p->line);
    gv_free(env, p->text, p->len + 1);
    gv_free(env, p, sizeof *p);
    grove_env_unref(env);
}

static const grove_backend_ops ops = {
    (uint32_t)sizeof(grove_backend_ops), 0, submit, cancel, watch, NULL, process, control, destroy};

/* The first line: what the recorded backend could do. */
static grove_status read_head(replay *p, uint32_t *out_caps, grove_error *err) {
    grove_doc *doc = NULL;
    grove_status st = parse_line(p, &doc, err);
    if (st < 0) {
        return st;
    }
    const grove_node *head = grove_node_get(grove_doc_root(doc), "recording");
    if (gv_node_get_int(head, "version", 0) != 1) {
        st = gv_error(err, GROVE_E_UNSUPPORTED, "not a recording of this version");
    }
    *out_caps = (uint32_t)gv_node_get_int(head, "caps", 0);
    grove_doc_unref(doc);
    pass(p);
    return st;
}

grove_status grove_backend_replay(grove_env *env, const char *recording, size_t len,
                                  grove_backend *out_backend, grove_error *err) {
    replay *p = gv_zalloc(env, sizeof *p);
    if (!p) {
        return gv_error_nomem(err);
    }
    p->env = grove_env_ref(env);
    grove_buf_init(&p->line, env);
    p->text = gv_alloc(env, len + 1);
    if (!p->text || grove_builder_new(env, &p->b) < 0) {
        gv_free(env, p->text, len + 1);
        grove_buf_fini(&p->line);
        gv_free(env, p, sizeof *p);
        grove_env_unref(env);
        return gv_error_nomem(err);
    }
    p->len = len;
    memcpy(p->text, recording, len);
    p->text[len] = '\0';
    uint32_t caps = 0;
    grove_status st = read_head(p, &caps, err);
    if (st < 0) {
        destroy(p);
        return st;
    }
    *out_backend = (grove_backend){(uint32_t)sizeof *out_backend, caps, &ops, p};
    return GROVE_OK;
}
