/* SPDX-License-Identifier: Apache-2.0 */
/* Merge patches by difference, and Kubernetes' conditions in them: see delta.h. */
#include "plan/delta.h"

#include "value/scalar.h"

void gv_delta_begin(gv_delta *d, grove_builder *b) {
    *d = (gv_delta){.b = b};
}

void gv_delta_open(gv_delta *d) {
    if (d->opened == 0) {
        grove_builder_open_object(d->b, NULL);
        d->opened = 1;
    }
    for (; d->opened <= d->depth; d->opened++) {
        grove_builder_open_object(d->b, d->key[d->opened - 1]);
    }
}

void gv_delta_touch(gv_delta *d) {
    gv_delta_open(d);
    d->urgent = true;
}

void gv_delta_enter(gv_delta *d, const char *key) {
    d->key[d->depth++] = key;
}

void gv_delta_leave(gv_delta *d) {
    if (d->opened == d->depth + 1) {
        grove_builder_close(d->b);
        d->opened--;
    }
    d->depth--;
}

bool gv_delta_end(gv_delta *d) {
    while (d->depth > 0) {
        gv_delta_leave(d);
    }
    if (d->opened == 0) {
        return false;
    }
    grove_builder_close(d->b);
    return true;
}

void gv_delta_int(gv_delta *d, const grove_node *live, const char *key, int64_t value) {
    gv_opt_int stands = gv_get_int(live, key);
    if (!stands.set || stands.value != value) {
        gv_delta_touch(d);
        grove_builder_int64(d->b, key, value);
    }
}

void gv_delta_count(gv_delta *d, const grove_node *live, const char *key, int64_t value) {
    gv_opt_int stands = gv_get_int(live, key);
    if (!stands.set || stands.value != value) {
        gv_delta_open(d);
        grove_builder_int64(d->b, key, value);
    }
}

void gv_delta_text(gv_delta *d, const grove_node *live, const char *key, gv_str value) {
    if (value.n == 0) {
        gv_delta_away(d, live, key);
    } else if (!gv_str_eq(gv_get_str(live, key), value)) {
        gv_delta_touch(d);
        grove_builder_stringn(d->b, key, value.p, value.n);
    }
}

void gv_delta_away(gv_delta *d, const grove_node *live, const char *key) {
    grove_type type = grove_node_type(grove_node_get(live, key));
    if (type != GROVE_MISSING && type != GROVE_NULL_NODE) {
        gv_delta_touch(d);
        grove_builder_null(d->b, key);
    }
}

/* ---- texts ---- */

/* A copy of the scratch text in the arena. */
static gv_str keep(gv_work *w, grove_status status) {
    gv_str view = gv_buf_view(&w->text);
    char *copy = status < 0 ? NULL : gv_arena_dup(&w->arena, view);
    if (copy == NULL) {
        w->starved = true;
        return (gv_str){"", 0};
    }
    return (gv_str){copy, view.n};
}

gv_str gv_text(gv_work *w, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    grove_buf_clear(&w->text);
    grove_status status = gv_buf_vfmt(&w->text, fmt, ap);
    va_end(ap);
    return keep(w, status);
}

gv_str gv_time_text(gv_work *w, int64_t ns) {
    grove_buf_clear(&w->text);
    return keep(w, gv_time_format(ns, &w->text));
}

/* ---- conditions ---- */

static const char *word(gv_truth t) {
    return t == GV_TRUE ? "True" : t == GV_FALSE ? "False" : "Unknown";
}

/* As it shall be, but perhaps for the numbers in its message. */
static bool means_so(const gv_work *w, const grove_node *live, const gv_condition *c) {
    if (c->absent) {
        return live == NULL;
    }
    bool old_clock = c->restart && !gv_str_eq(gv_get_str(live, "lastTransitionTime"), w->now_text);
    return live != NULL && !old_clock && gv_str_is(gv_get_str(live, "status"), word(c->status)) &&
           gv_str_is(gv_get_str(live, "reason"), c->reason);
}

static bool stands_so(const gv_work *w, const grove_node *live, const gv_condition *c) {
    return means_so(w, live, c) &&
           (c->absent || gv_str_eq(gv_get_str(live, "message"), c->message));
}

static void write_condition(gv_work *w, gv_delta *d, const grove_node *live, int64_t generation,
                            const gv_condition *c) {
    gv_str since = gv_get_str(live, "lastTransitionTime");
    bool kept = live != NULL && since.n > 0 && !c->restart &&
                gv_str_is(gv_get_str(live, "status"), word(c->status));
    grove_builder_open_object(d->b, NULL);
    grove_builder_string(d->b, "type", c->type);
    grove_builder_string(d->b, "status", word(c->status));
    grove_builder_string(d->b, "reason", c->reason);
    grove_builder_stringn(d->b, "message", c->message.p, c->message.n);
    since = kept ? since : w->now_text;
    grove_builder_stringn(d->b, "lastTransitionTime", since.p, since.n);
    if (c->generation && generation > 0) {
        grove_builder_int64(d->b, "observedGeneration", generation);
    }
    grove_builder_close(d->b);
}

static const gv_condition *wanted(const gv_condition *want, uint32_t n, gv_str type) {
    for (uint32_t i = 0; i < n; i++) {
        if (gv_str_is(type, want[i].type)) {
            return &want[i];
        }
    }
    return NULL;
}

bool gv_delta_conditions(gv_work *w, gv_delta *d, const gv_memo *memo, int64_t generation,
                         const gv_condition *want, uint32_t n) {
    bool same = true;
    for (uint32_t i = 0; i < n; i++) {
        const grove_node *live = gv_condition_find(memo->conditions, want[i].type);
        same = same && stands_so(w, live, &want[i]);
        d->urgent = d->urgent || !(want[i].can_wait || means_so(w, live, &want[i]));
    }
    if (same) {
        return true;
    }
    gv_delta_open(d);
    grove_builder_open_array(d->b, "conditions");
    /* What stands keeps its place, whoever wrote it; what is new comes after. */
    for (const grove_node *c = grove_node_first(memo->conditions); c;
         c = grove_node_next(memo->conditions, c)) {
        const gv_condition *mine = wanted(want, n, gv_get_str(c, "type"));
        if (mine == NULL || (!mine->absent && stands_so(w, c, mine))) {
            grove_builder_copy(d->b, NULL, c);
        } else if (!mine->absent) {
            write_condition(w, d, c, generation, mine);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!want[i].absent && gv_condition_find(memo->conditions, want[i].type) == NULL) {
            write_condition(w, d, NULL, generation, &want[i]);
        }
    }
    grove_builder_close(d->b);
    return true;
}

/* ---- lastErrors ---- */

static bool error_stands(const grove_node *entry, const gv_fault *f) {
    return gv_str_is(gv_get_str(entry, "code"), f->code) &&
           gv_str_eq(gv_get_str(entry, "description"), f->text);
}

static bool is_of(const gv_fault *f, gv_kind kind, gv_str name) {
    return f->kind == kind && gv_str_eq(f->name, name);
}

static bool is_listed(const grove_node *live, const gv_fault *f) {
    for (const grove_node *e = grove_node_first(live); e; e = grove_node_next(live, e)) {
        if (error_stands(e, f)) {
            return true;
        }
    }
    return false;
}

grove_status gv_delta_tell_errors(gv_work *w, const grove_node *status, const gv_object *o) {
    const grove_node *live = grove_node_get(status, "lastErrors");
    for (size_t i = 0; i < w->faults.n; i++) {
        const gv_fault *f = &w->faults.v[i];
        if (f->event == NULL || !is_of(f, o->u.head.kind, gv_str_c(o->u.head.name)) ||
            is_listed(live, f)) {
            continue;
        }
        grove_status st = gv_act_event(w, f->about ? f->about : o, true, f->event, f->text);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

void gv_delta_errors(gv_work *w, gv_delta *d, const grove_node *status, gv_kind kind, gv_str name) {
    const grove_node *live = grove_node_get(status, "lastErrors");
    const grove_node *at = grove_node_first(live);
    bool same = true;
    uint32_t n = 0;
    for (size_t i = 0; i < w->faults.n; i++) {
        if (is_of(&w->faults.v[i], kind, name)) {
            same = same && at != NULL && error_stands(at, &w->faults.v[i]);
            at = at != NULL ? grove_node_next(live, at) : NULL;
            n++;
        }
    }
    if (n == 0) {
        gv_delta_away(d, status, "lastErrors");
        return;
    }
    if (same && at == NULL) {
        return;
    }
    gv_delta_touch(d);
    grove_builder_open_array(d->b, "lastErrors");
    for (size_t i = 0; i < w->faults.n; i++) {
        const gv_fault *f = &w->faults.v[i];
        if (!is_of(f, kind, name)) {
            continue;
        }
        gv_str when = gv_time_text(w, f->at == GV_TIME_NONE ? w->now : f->at);
        grove_builder_open_object(d->b, NULL);
        grove_builder_string(d->b, "code", f->code);
        grove_builder_stringn(d->b, "description", f->text.p, f->text.n);
        grove_builder_stringn(d->b, "observedAt", when.p, when.n);
        grove_builder_close(d->b);
    }
    grove_builder_close(d->b);
}
