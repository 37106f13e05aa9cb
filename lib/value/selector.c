/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: one list of requirements, whichever form it was read from. */
#include "value/selector.h"

#include "base/mem.h"

grove_status gv_selector_new(grove_env *env, gv_selector **out) {
    gv_selector *s = gv_zalloc(env, sizeof *s);
    if (!s) {
        return GROVE_E_NOMEM;
    }
    s->env = grove_env_ref(env);
    gv_arena_init(&s->arena, env);
    *out = s;
    return GROVE_OK;
}

void gv_selector_free(gv_selector *s) {
    if (!s) {
        return;
    }
    grove_env *env = s->env;
    for (size_t i = 0; i < s->requirements.n; i++) {
        gv_vec_fini(env, &s->requirements.v[i].values);
    }
    gv_vec_fini(env, &s->requirements);
    gv_arena_fini(&s->arena);
    gv_free(env, s, sizeof *s);
    grove_env_unref(env);
}

/* Ordered by key, equal keys in the order of their arrival. Takes the values, also on failure. */
bool gv_selector_add(gv_selector *s, gv_requirement *r) {
    if (!gv_vec_push(s->env, &s->requirements, *r)) {
        gv_vec_fini(s->env, &r->values);
        return false;
    }
    size_t i = s->requirements.n - 1;
    for (; i > 0 && gv_str_cmp(s->requirements.v[i - 1].key, r->key) > 0; i--) {
        s->requirements.v[i] = s->requirements.v[i - 1];
    }
    s->requirements.v[i] = *r;
    return true;
}

bool gv_selector_copy_text(gv_selector *s, gv_str text, gv_str *out) {
    char *p = gv_arena_dup(&s->arena, text);
    *out = (gv_str){p, text.n};
    return p != NULL;
}

static bool has_value(const gv_requirement *r, gv_str value) {
    for (size_t i = 0; i < r->values.n; i++) {
        if (gv_str_eq(r->values.v[i], value)) {
            return true;
        }
    }
    return false;
}

static bool requirement_matches(const gv_requirement *r, gv_str value) {
    bool present = value.p != NULL;
    int64_t have = 0, bound = 0;
    switch (r->op) {
    case GV_SELECTOR_EXISTS:
        return present;
    case GV_SELECTOR_NOT_EXISTS:
        return !present;
    case GV_SELECTOR_IN:
    case GV_SELECTOR_EQUALS:
    case GV_SELECTOR_DOUBLE_EQUALS:
        return present && has_value(r, value);
    case GV_SELECTOR_NOT_IN:
    case GV_SELECTOR_NOT_EQUALS:
        return !present || !has_value(r, value);
    case GV_SELECTOR_GREATER:
    case GV_SELECTOR_LESS:
        return present && gv_str_int64(value, &have) && gv_str_int64(r->values.v[0], &bound) &&
               (r->op == GV_SELECTOR_GREATER ? have > bound : have < bound);
    }
    return false;
}

bool gv_selector_matches_by(const gv_selector *s, gv_label_lookup lookup, const void *ctx) {
    if (s->nothing) {
        return false;
    }
    for (size_t i = 0; i < s->requirements.n; i++) {
        const gv_requirement *r = &s->requirements.v[i];
        if (!requirement_matches(r, lookup(ctx, r->key))) {
            return false;
        }
    }
    return true;
}

static gv_str lookup_in_node(const void *labels, gv_str key) {
    gv_str value = {NULL, 0};
    value.p = grove_node_textn(grove_node_getn(labels, key.p, key.n), &value.n);
    return value;
}

bool gv_selector_matches(const gv_selector *s, const grove_node *labels) {
    return gv_selector_matches_by(s, lookup_in_node, labels);
}

static const char *operator_text(gv_selector_op op) {
    switch (op) {
    case GV_SELECTOR_EQUALS:
        return "=";
    case GV_SELECTOR_DOUBLE_EQUALS:
        return "==";
    case GV_SELECTOR_NOT_EQUALS:
        return "!=";
    case GV_SELECTOR_GREATER:
        return ">";
    case GV_SELECTOR_LESS:
        return "<";
    case GV_SELECTOR_IN:
        return " in (";
    case GV_SELECTOR_NOT_IN:
        return " notin (";
    case GV_SELECTOR_EXISTS:
    case GV_SELECTOR_NOT_EXISTS:
        break;
    }
    return "";
}

/* The values in order, without sorting the selector's own list: picks the next larger one each time. */
static grove_status put_values(const gv_requirement *r, grove_buf *buf) {
    grove_status st = GROVE_OK;
    for (size_t rank = 0; st == GROVE_OK && rank < r->values.n; rank++) {
        for (size_t i = 0; i < r->values.n; i++) {
            size_t before = 0;
            for (size_t k = 0; k < r->values.n; k++) {
                int order = gv_str_cmp(r->values.v[k], r->values.v[i]);
                before += order < 0 || (order == 0 && k < i) ? 1 : 0;
            }
            if (before == rank) {
                st = rank > 0 ? gv_buf_char(buf, ',') : GROVE_OK;
                st = st == GROVE_OK ? gv_buf_str(buf, r->values.v[i]) : st;
                break;
            }
        }
    }
    return st;
}

static grove_status put_requirement(const gv_requirement *r, grove_buf *buf) {
    grove_status st = r->op == GV_SELECTOR_NOT_EXISTS ? gv_buf_char(buf, '!') : GROVE_OK;
    st = st == GROVE_OK ? gv_buf_str(buf, r->key) : st;
    st = st == GROVE_OK ? gv_buf_c(buf, operator_text(r->op)) : st;
    st = st == GROVE_OK ? put_values(r, buf) : st;
    bool list = r->op == GV_SELECTOR_IN || r->op == GV_SELECTOR_NOT_IN;
    return st == GROVE_OK && list ? gv_buf_char(buf, ')') : st;
}

grove_status gv_selector_format(const gv_selector *s, grove_buf *buf) {
    if (s->nothing) {
        return GROVE_E_UNSUPPORTED;
    }
    grove_status st = GROVE_OK;
    for (size_t i = 0; st == GROVE_OK && i < s->requirements.n; i++) {
        st = i > 0 ? gv_buf_char(buf, ',') : GROVE_OK;
        st = st == GROVE_OK ? put_requirement(&s->requirements.v[i], buf) : st;
    }
    return st;
}
