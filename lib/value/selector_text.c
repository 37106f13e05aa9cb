/* SPDX-License-Identifier: Apache-2.0 */
/* The string form of label selectors: "a=b,c!=d,e in (x,y),!f". */
#include "base/mem.h"
#include "value/label.h"
#include "value/selector.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_IN, /* "in" and "notin" are words again where a key or value stands */
    TOKEN_NOT_IN,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
} token_kind;

typedef struct parser {
    gv_selector *selector;
    gv_str text;
    size_t at;       /* after the current token */
    token_kind kind; /* the current token */
    gv_str word;     /* its text */
    size_t column;   /* where it begins, 0-based */
    grove_error *err;
} parser;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c) {
    return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

static token_kind symbol_kind(const parser *p, size_t *out_len) {
    const char *s = p->text.p + p->at;
    bool equals_next = p->at + 1 < p->text.n && s[1] == '=';
    *out_len = 1;
    switch (s[0]) {
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case ',':
        return TOKEN_COMMA;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    case '!':
        *out_len = equals_next ? 2 : 1;
        return equals_next ? TOKEN_NOT_EQUALS : TOKEN_NOT;
    default:
        *out_len = equals_next ? 2 : 1;
        return equals_next ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
    }
}

static void advance(parser *p) {
    while (p->at < p->text.n && is_space(p->text.p[p->at])) {
        p->at++;
    }
    size_t begin = p->at, len = 0;
    p->column = begin;
    if (begin == p->text.n) {
        p->kind = TOKEN_END;
    } else if (is_symbol(p->text.p[begin])) {
        p->kind = symbol_kind(p, &len);
    } else {
        while (begin + len < p->text.n && !is_symbol(p->text.p[begin + len]) &&
               !is_space(p->text.p[begin + len])) {
            len++;
        }
        gv_str word = {p->text.p + begin, len};
        p->kind = gv_str_is(word, "in")      ? TOKEN_IN
                  : gv_str_is(word, "notin") ? TOKEN_NOT_IN
                                             : TOKEN_WORD;
    }
    p->at = begin + len;
    p->word = (gv_str){len ? p->text.p + begin : "", len};
}

static bool at_word(const parser *p) {
    return p->kind == TOKEN_WORD || p->kind == TOKEN_IN || p->kind == TOKEN_NOT_IN;
}

static bool at_end_of_requirement(const parser *p) {
    return p->kind == TOKEN_END || p->kind == TOKEN_COMMA;
}

static grove_status expected(const parser *p, const char *what) {
    if (p->kind == TOKEN_END) {
        return gv_error_at(p->err, GROVE_E_PARSE, 1, (uint32_t)p->column + 1, "",
                           "label selector ends where %s is expected", what);
    }
    return gv_error_at(p->err, GROVE_E_PARSE, 1, (uint32_t)p->column + 1, "",
                       "label selector has \"%.*s\" where %s is expected",
                       (int)(p->word.n < 64 ? p->word.n : 64), p->word.p, what);
}

static grove_status refuse_word(const parser *p, gv_str word, const char *what) {
    return gv_error_at(p->err, GROVE_E_PARSE, 1, (uint32_t)p->column + 1, "",
                       "label selector has \"%.*s\", which is not a valid %s",
                       (int)(word.n < 64 ? word.n : 64), word.n ? word.p : "", what);
}

/* Values are a set, kept in order. */
static grove_status add_value(parser *p, gv_requirement *r, gv_str value) {
    size_t at = 0;
    for (; at < r->values.n; at++) {
        int order = gv_str_cmp(r->values.v[at], value);
        if (order == 0) {
            return GROVE_OK;
        }
        if (order > 0) {
            break;
        }
    }
    if (!gv_label_value_ok(value)) {
        return refuse_word(p, value, "label value");
    }
    gv_str kept = {NULL, 0};
    if (!gv_selector_copy_text(p->selector, value, &kept) ||
        !gv_vec_push(p->selector->env, &r->values, kept)) {
        return gv_error_nomem(p->err);
    }
    for (size_t i = r->values.n - 1; i > at; i--) {
        r->values.v[i] = r->values.v[i - 1];
    }
    r->values.v[at] = kept;
    return GROVE_OK;
}

/* "(a,b)", where an item may be empty: "()" and "(a,)" hold the empty value. Kubernetes reads commas in
 * pairs and so refuses a list that ends with an even number of them. */
static grove_status parse_list(parser *p, gv_requirement *r) {
    if (p->kind != TOKEN_OPEN) {
        return expected(p, "\"(\"");
    }
    advance(p);
    for (uint32_t commas = 0;; commas++) {
        gv_str value = {"", 0};
        if (at_word(p)) {
            value = p->word;
            commas = 0;
            advance(p);
        } else if (p->kind == TOKEN_CLOSE && commas > 0 && commas % 2 == 0) {
            return expected(p, "a value");
        }
        grove_status st = add_value(p, r, value);
        if (st < 0) {
            return st;
        }
        if (p->kind == TOKEN_CLOSE) {
            advance(p);
            return GROVE_OK;
        }
        if (p->kind != TOKEN_COMMA) {
            return expected(p, "\",\" or \")\"");
        }
        advance(p);
    }
}

static grove_status parse_value(parser *p, gv_requirement *r) {
    gv_str value = {"", 0};
    if (!at_end_of_requirement(p)) {
        if (!at_word(p)) {
            return expected(p, "a value");
        }
        value = p->word;
    }
    int64_t number = 0;
    if ((r->op == GV_SELECTOR_GREATER || r->op == GV_SELECTOR_LESS) &&
        !gv_str_int64(value, &number)) {
        return refuse_word(p, value, "integer");
    }
    grove_status st = add_value(p, r, value);
    if (st == GROVE_OK && at_word(p)) {
        advance(p);
    }
    return st;
}

static grove_status parse_operator(parser *p, gv_requirement *r) {
    switch (p->kind) {
    case TOKEN_IN:
        r->op = GV_SELECTOR_IN;
        break;
    case TOKEN_NOT_IN:
        r->op = GV_SELECTOR_NOT_IN;
        break;
    case TOKEN_EQUALS:
        r->op = GV_SELECTOR_EQUALS;
        break;
    case TOKEN_DOUBLE_EQUALS:
        r->op = GV_SELECTOR_DOUBLE_EQUALS;
        break;
    case TOKEN_NOT_EQUALS:
        r->op = GV_SELECTOR_NOT_EQUALS;
        break;
    case TOKEN_GREATER:
        r->op = GV_SELECTOR_GREATER;
        break;
    case TOKEN_LESS:
        r->op = GV_SELECTOR_LESS;
        break;
    case TOKEN_END:
    case TOKEN_WORD:
    case TOKEN_OPEN:
    case TOKEN_CLOSE:
    case TOKEN_COMMA:
    case TOKEN_NOT:
        return expected(p, "an operator (=, ==, !=, in, notin, >, <)");
    }
    advance(p);
    return GROVE_OK;
}

static grove_status parse_requirement(parser *p, gv_requirement *r) {
    bool negated = p->kind == TOKEN_NOT;
    if (negated) {
        advance(p);
    }
    if (!at_word(p)) {
        return expected(p, "a label key");
    }
    if (!gv_label_key_ok(p->word)) {
        return refuse_word(p, p->word, "label key");
    }
    if (!gv_selector_copy_text(p->selector, p->word, &r->key)) {
        return gv_error_nomem(p->err);
    }
    advance(p);
    if (negated || at_end_of_requirement(p)) {
        r->op = negated ? GV_SELECTOR_NOT_EXISTS : GV_SELECTOR_EXISTS;
        return GROVE_OK;
    }
    grove_status st = parse_operator(p, r);
    if (st < 0) {
        return st;
    }
    return r->op == GV_SELECTOR_IN || r->op == GV_SELECTOR_NOT_IN ? parse_list(p, r)
                                                                  : parse_value(p, r);
}

static grove_status parse_all(parser *p) {
    advance(p);
    while (p->kind != TOKEN_END) {
        gv_requirement r = {0};
        grove_status st = parse_requirement(p, &r);
        if (st < 0) {
            gv_vec_fini(p->selector->env, &r.values);
            return st;
        }
        if (!gv_selector_add(p->selector, &r)) {
            return gv_error_nomem(p->err);
        }
        if (p->kind == TOKEN_END) {
            break;
        }
        if (p->kind != TOKEN_COMMA) {
            return expected(p, "\",\"");
        }
        advance(p);
        if (p->kind != TOKEN_NOT && !at_word(p)) {
            return expected(p, "a label key");
        }
    }
    return GROVE_OK;
}

grove_status gv_selector_parse(grove_env *env, gv_str text, gv_selector **out, grove_error *err) {
    parser p = {.text = text, .err = err};
    if (gv_selector_new(env, &p.selector) < 0) {
        return gv_error_nomem(err);
    }
    grove_status st = parse_all(&p);
    if (st < 0) {
        gv_selector_free(p.selector);
        return st;
    }
    *out = p.selector;
    return GROVE_OK;
}
