/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of pods: everything about a pod that decides where it may go, kept once. Host ports and a
 * bound per host become resources of which every node has a fixed amount, so that nothing else in the
 * engine needs to know them.
 */
#include "sched/state.h"

#include <stddef.h>
#include <string.h>

/* A port may be taken by this many addresses, or by all addresses at once; a token by as many holders. */
#define PORT_ADDRESSES 4096

static void term_clear(grove_sched *s, gv_term *t) {
    for (uint32_t i = 0; i < t->n_reqs; i++) {
        gv_free(s->env, t->reqs[i].values, t->reqs[i].n_values * sizeof(uint32_t));
    }
    gv_free(s->env, t->reqs, t->n_reqs * sizeof *t->reqs);
}

void gv_class_clear(grove_sched *s, gv_class *c) {
    uint32_t n_any = c->n_lists ? c->list_end[c->n_lists - 1] : 0;
    for (uint32_t i = 0; i < n_any; i++) {
        term_clear(s, &c->any[i]);
    }
    for (uint32_t i = 0; i < c->n_preferred; i++) {
        term_clear(s, &c->preferred[i]);
    }
    gv_free(s->env, c->any, n_any * sizeof *c->any);
    gv_free(s->env, c->list_end, c->n_lists * sizeof *c->list_end);
    gv_free(s->env, c->preferred, c->n_preferred * sizeof *c->preferred);
    gv_free(s->env, c->tolerations, c->n_tolerations * sizeof *c->tolerations);
    gv_free(s->env, c->needs, c->n_needs * sizeof *c->needs);
    gv_free(s->env, c->identity, c->identity_len);
    memset(c, 0, sizeof *c);
}

/* ---- identity: a text that is equal exactly for equal descriptions ---- */

static void put_text(grove_buf *b, const char *text, grove_status *st) {
    size_t n = text ? strlen(text) : 0;
    uint64_t len = text ? n : UINT64_MAX;
    *st = *st < 0 ? *st : grove_buf_append(b, (const char *)&len, sizeof len);
    if (*st == GROVE_OK && n > 0) {
        *st = grove_buf_append(b, text, n);
    }
}

static void put_int(grove_buf *b, int64_t x, grove_status *st) {
    *st = *st < 0 ? *st : grove_buf_append(b, (const char *)&x, sizeof x);
}

static void put_term(grove_buf *b, const grove_sched_term *t, grove_status *st) {
    put_int(b, t->n_requirements, st);
    put_int(b, t->weight, st);
    for (uint32_t i = 0; i < t->n_requirements; i++) {
        const grove_sched_requirement *q = &t->requirements[i];
        put_int(b, q->op, st);
        put_text(b, q->key, st);
        put_int(b, q->n_values, st);
        for (uint32_t v = 0; v < q->n_values; v++) {
            put_text(b, q->values[v], st);
        }
    }
}

static grove_status put_identity(grove_buf *b, const grove_sched_class_spec *spec,
                                 const int64_t *row, uint32_t n_row) {
    grove_status st = GROVE_OK;
    for (uint32_t r = 0; r < n_row; r++) {
        if (row[r] > 0) {
            put_int(b, r, &st);
            put_int(b, row[r], &st);
        }
    }
    put_int(b, -1, &st);
    put_int(b, (int64_t)spec->key, &st);
    put_int(b, spec->max_per_host, &st);
    put_int(b, spec->n_selector, &st);
    for (uint32_t i = 0; i < spec->n_selector; i++) {
        put_text(b, spec->selector[i].key, &st);
        put_text(b, spec->selector[i].value, &st);
    }
    put_int(b, spec->n_required, &st);
    for (uint32_t i = 0; i < spec->n_required; i++) {
        put_int(b, spec->required[i].n_terms, &st);
        for (uint32_t k = 0; k < spec->required[i].n_terms; k++) {
            put_term(b, &spec->required[i].terms[k], &st);
        }
    }
    put_int(b, spec->n_preferred, &st);
    for (uint32_t i = 0; i < spec->n_preferred; i++) {
        put_term(b, &spec->preferred[i], &st);
    }
    put_int(b, spec->n_tolerations, &st);
    for (uint32_t i = 0; i < spec->n_tolerations; i++) {
        put_text(b, spec->tolerations[i].key, &st);
        put_text(b, spec->tolerations[i].value, &st);
        put_int(b, spec->tolerations[i].effect, &st);
        put_int(b, spec->tolerations[i].exists, &st);
    }
    put_int(b, spec->n_ports, &st);
    for (uint32_t i = 0; i < spec->n_ports; i++) {
        put_text(b, spec->ports[i].protocol, &st);
        put_text(b, spec->ports[i].ip, &st);
        put_int(b, spec->ports[i].port, &st);
    }
    for (uint32_t i = 0; i < spec->n_tokens; i++) {
        put_text(b, spec->tokens[i].name, &st);
        put_int(b, spec->tokens[i].alone != 0, &st);
    }
    return st;
}

/* ---- terms ---- */

static grove_status copy_requirement(grove_sched *s, const grove_sched_requirement *in,
                                     gv_requirement *out) {
    out->op = in->op;
    if (!gv_sched_text(s, in->key ? in->key : "", &out->key)) {
        return GROVE_E_NOMEM;
    }
    if (in->n_values > 0) {
        out->values = gv_alloc(s->env, in->n_values * sizeof *out->values);
        if (!out->values) {
            return GROVE_E_NOMEM;
        }
        out->n_values = in->n_values;
        for (uint32_t i = 0; i < in->n_values; i++) {
            if (!gv_sched_text(s, in->values[i], &out->values[i])) {
                return GROVE_E_NOMEM;
            }
        }
    }
    if (in->op == GROVE_MATCH_GT || in->op == GROVE_MATCH_LT) {
        out->bad_bound = in->n_values != 1 || !gv_str_int64(gv_str_c(in->values[0]), &out->bound);
    }
    return GROVE_OK;
}

static grove_status copy_term(grove_sched *s, const grove_sched_term *in, gv_term *out) {
    out->weight = in->weight;
    if (in->n_requirements == 0) {
        return GROVE_OK;
    }
    out->reqs = gv_zalloc(s->env, in->n_requirements * sizeof *out->reqs);
    if (!out->reqs) {
        return GROVE_E_NOMEM;
    }
    out->n_reqs = in->n_requirements;
    for (uint32_t i = 0; i < in->n_requirements; i++) {
        grove_status st = copy_requirement(s, &in->requirements[i], &out->reqs[i]);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

/* A selector is one more list with a single term of equalities. */
static grove_status copy_lists(grove_sched *s, const grove_sched_class_spec *spec, gv_class *c) {
    uint32_t n_lists = spec->n_required + (spec->n_selector > 0), n_terms = spec->n_selector > 0;
    for (uint32_t i = 0; i < spec->n_required; i++) {
        n_terms += spec->required[i].n_terms;
    }
    if (n_lists == 0) {
        return GROVE_OK;
    }
    uint32_t *ends = gv_zalloc(s->env, n_lists * sizeof *ends);
    gv_term *terms = n_terms ? gv_zalloc(s->env, n_terms * sizeof *terms) : NULL;
    if (!ends || (n_terms && !terms)) {
        gv_free(s->env, ends, n_lists * sizeof *ends);
        gv_free(s->env, terms, n_terms * sizeof *terms);
        return GROVE_E_NOMEM;
    }
    c->list_end = ends;
    c->any = terms;
    c->n_lists = n_lists;
    for (uint32_t i = 0, at = 0; i < n_lists; i++) {
        at += i < spec->n_required ? spec->required[i].n_terms : 1;
        ends[i] = at;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < spec->n_required; i++) {
        for (uint32_t k = 0; k < spec->required[i].n_terms; k++) {
            grove_status st = copy_term(s, &spec->required[i].terms[k], &terms[at++]);
            if (st < 0) {
                return st;
            }
        }
    }
    if (spec->n_selector > 0) {
        gv_term *t = &terms[at];
        t->reqs = gv_zalloc(s->env, spec->n_selector * sizeof *t->reqs);
        if (!t->reqs) {
            return GROVE_E_NOMEM;
        }
        t->n_reqs = spec->n_selector;
        for (uint32_t i = 0; i < spec->n_selector; i++) {
            const char *value = spec->selector[i].value;
            grove_sched_requirement q = {spec->selector[i].key, &value, 1, GROVE_MATCH_IN};
            grove_status st = copy_requirement(s, &q, &t->reqs[i]);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

static grove_status copy_tolerations(grove_sched *s, const grove_sched_class_spec *spec,
                                     gv_class *c) {
    if (spec->n_tolerations == 0) {
        return GROVE_OK;
    }
    c->tolerations = gv_zalloc(s->env, spec->n_tolerations * sizeof *c->tolerations);
    if (!c->tolerations) {
        return GROVE_E_NOMEM;
    }
    c->n_tolerations = spec->n_tolerations;
    for (uint32_t i = 0; i < spec->n_tolerations; i++) {
        const grove_sched_toleration *in = &spec->tolerations[i];
        gv_toleration *out = &c->tolerations[i];
        bool any_key = !in->key || !in->key[0];
        out->key = GV_NONE;
        out->effect = in->effect;
        out->exists = in->exists != 0;
        if ((!any_key && !gv_sched_text(s, in->key, &out->key)) ||
            !gv_sched_text(s, in->value ? in->value : "", &out->value)) {
            return GROVE_E_NOMEM;
        }
        bool names_it = any_key || strcmp(in->key, "node.kubernetes.io/unschedulable") == 0;
        bool matches = out->exists || (!any_key && (!in->value || !in->value[0]));
        bool effect = in->effect == GROVE_TAINT_ANY || in->effect == GROVE_TAINT_NO_SCHEDULE;
        c->tolerates_unschedulable = c->tolerates_unschedulable || (names_it && matches && effect);
    }
    return GROVE_OK;
}

/* ---- ports and bounds as resources ---- */

static bool any_address(const char *ip) {
    return !ip || !ip[0] || strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
}

static grove_status add_port(grove_sched *s, const grove_sched_port *p, int64_t *row) {
    char name[128];
    uint32_t r;
    const char *protocol = p->protocol && p->protocol[0] ? p->protocol : "TCP";
    gv_fmt(name, sizeof name, "port:%s:%u", protocol, p->port);
    grove_status st = gv_sched_resource_fixed(s, name, PORT_ADDRESSES, &r);
    if (st < 0) {
        return st;
    }
    row[r] += any_address(p->ip) ? PORT_ADDRESSES : 1;
    if (!any_address(p->ip)) {
        gv_fmt(name, sizeof name, "port:%s:%u@%s", protocol, p->port, p->ip);
        st = gv_sched_resource_fixed(s, name, 1, &r);
        if (st < 0) {
            return st;
        }
        row[r] += 1;
    }
    return GROVE_OK;
}

static grove_status add_token(grove_sched *s, const grove_sched_token *t, int64_t *row) {
    char name[128];
    uint32_t r;
    size_t n = strlen(t->name);
    if (n < sizeof name - 8) {
        gv_fmt(name, sizeof name, "token:%s", t->name);
    } else {
        gv_fmt(name, sizeof name, "token:%.64s#%016llx", t->name,
               (unsigned long long)gv_fnv1a(GV_FNV_START, t->name, n));
    }
    grove_status st = gv_sched_resource_fixed(s, name, PORT_ADDRESSES, &r);
    if (st == GROVE_OK) {
        int64_t take = t->alone ? PORT_ADDRESSES : 1;
        row[r] = row[r] > take ? row[r] : take;
    }
    return st;
}

/* Fills row[GV_RESOURCES_MAX] with the requests, ports, tokens and the bound per host included. */
static grove_status build_row(grove_sched *s, const grove_sched_class_spec *spec, uint64_t mark,
                              int64_t *row) {
    memset(row, 0, GV_RESOURCES_MAX * sizeof *row);
    for (uint32_t r = 0; r < spec->n_requests; r++) {
        row[r] = spec->requests[r];
    }
    row[0] = 1;
    for (uint32_t i = 0; i < spec->n_ports; i++) {
        grove_status st = add_port(s, &spec->ports[i], row);
        if (st < 0) {
            return st;
        }
    }
    for (uint32_t i = 0; i < spec->n_tokens; i++) {
        grove_status st = add_token(s, &spec->tokens[i], row);
        if (st < 0) {
            return st;
        }
    }
    if (spec->max_per_host > 0) {
        char name[64];
        uint32_t r;
        gv_fmt(name, sizeof name, "host-bound:%u:%llu", spec->max_per_host,
               (unsigned long long)mark);
        grove_status st = gv_sched_resource_fixed(s, name, spec->max_per_host, &r);
        if (st < 0) {
            return st;
        }
        row[r] = 1;
    }
    return GROVE_OK;
}

static grove_status fill_class(grove_sched *s, const grove_sched_class_spec *spec,
                               const int64_t *row, gv_class *c) {
    uint32_t n_res = (uint32_t)s->resource_names.n;
    for (uint32_t r = 0; r < n_res; r++) {
        c->n_needs += row[r] > 0;
    }
    c->needs = gv_alloc(s->env, c->n_needs * sizeof *c->needs);
    if (!c->needs) {
        c->n_needs = 0;
        return GROVE_E_NOMEM;
    }
    for (uint32_t r = 0, n = 0; r < n_res; r++) {
        if (row[r] > 0) {
            c->needs[n++] = (gv_need){r, row[r]};
        }
    }
    if (!gv_sched_vector(s, row, n_res, &c->vector)) {
        return GROVE_E_NOMEM;
    }
    grove_status st = copy_lists(s, spec, c);
    st = st < 0 ? st : copy_tolerations(s, spec, c);
    if (st == GROVE_OK && spec->n_preferred > 0) {
        c->preferred = gv_zalloc(s->env, spec->n_preferred * sizeof *c->preferred);
        c->n_preferred = c->preferred ? spec->n_preferred : 0;
        st = c->preferred ? GROVE_OK : GROVE_E_NOMEM;
        for (uint32_t i = 0; st == GROVE_OK && i < spec->n_preferred; i++) {
            st = copy_term(s, &spec->preferred[i], &c->preferred[i]);
        }
    }
    return st;
}

static grove_status check_spec(const grove_sched *s, const grove_sched_class_spec *spec) {
    if (spec->n_requests > s->resource_names.n || spec->n_requests > GV_RESOURCES_MAX) {
        return GROVE_E_INVALID;
    }
    for (uint32_t i = 0; i < spec->n_selector; i++) {
        if (!spec->selector[i].key || !spec->selector[i].value) {
            return GROVE_E_INVALID;
        }
    }
    for (uint32_t i = 0; i < spec->n_tokens; i++) {
        if (!spec->tokens[i].name) {
            return GROVE_E_INVALID;
        }
    }
    return GROVE_OK;
}

/* Before the class is looked up: what is out of range is no part of its identity. */
static grove_status check_requests(const grove_sched_class_spec *spec) {
    for (uint32_t r = 0; r < spec->n_requests; r++) {
        if (spec->requests[r] < 0 || spec->requests[r] > INT64_MAX / (GV_COUNT_MAX + 1)) {
            return GROVE_E_RANGE;
        }
    }
    return GROVE_OK;
}

grove_status grove_sched_class(grove_sched *sched, const grove_sched_class_spec *spec,
                               uint32_t *out_class, grove_error *err) {
    grove_sched *s = sched;
    grove_sched_class_spec in;
    grove_status st = gv_struct_in(&in, sizeof in, spec, spec ? spec->size : 0,
                                   offsetof(grove_sched_class_spec, tokens));
    if (st < 0) {
        return gv_error(err, st, "grove_sched_class_spec has a wrong size");
    }
    if (check_spec(s, &in) < 0) {
        return gv_error(err, GROVE_E_INVALID, "a class names undeclared resources or lacks a text");
    }
    grove_buf id;
    grove_buf_init(&id, s->env);
    int64_t row[GV_RESOURCES_MAX];
    st = check_requests(&in);
    st = st < 0 ? st : put_identity(&id, &in, in.requests, in.n_requests);
    uint64_t mark = st < 0 ? 0 : gv_fnv1a(GV_FNV_START, id.data, (size_t)id.len);
    for (uint32_t i = 0; st == GROVE_OK && i < s->classes.n; i++) {
        const gv_class *c = &s->classes.v[i];
        if (c->identity_len == id.len && memcmp(c->identity, id.data, (size_t)id.len) == 0) {
            *out_class = i;
            grove_buf_fini(&id);
            return GROVE_OK;
        }
    }
    gv_class fresh = {0};
    st = st < 0 ? st : build_row(s, &in, mark, row);
    st = st < 0 ? st : fill_class(s, &in, row, &fresh);
    if (st == GROVE_OK) {
        fresh.filtered = fresh.n_lists > 0 || s->veto;
        fresh.identity = gv_alloc(s->env, (size_t)id.len);
        fresh.identity_len = fresh.identity ? (size_t)id.len : 0;
        st = fresh.identity && gv_vec_push(s->env, &s->classes, fresh) ? GROVE_OK : GROVE_E_NOMEM;
    }
    if (st == GROVE_OK) {
        memcpy(fresh.identity, id.data, (size_t)id.len);
        *out_class = (uint32_t)s->classes.n - 1;
    } else {
        gv_class_clear(s, &fresh);
        st = gv_error(err, st, "the class cannot be made (%s)", grove_status_name(st));
    }
    grove_buf_fini(&id);
    return st;
}

const int64_t *grove_sched_class_requests(const grove_sched *sched, uint32_t class_id) {
    return class_id < sched->classes.n ? gv_sched_row(sched, sched->classes.v[class_id].vector)
                                       : NULL;
}
