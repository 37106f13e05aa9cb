/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a request apart: path, query, Accept. */
#include "front/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

grove_status gv_front_fmt(grove_buf *buf, const char *fmt, ...) {
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        return GROVE_E_INTERNAL;
    }
    return grove_buf_append(buf, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* ---- percent-encoding ---- */

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One character; moves *at. -1: malformed. */
static int decode_one(const char *in, size_t n, size_t *at, bool plus) {
    char c = in[(*at)++];
    if (c == '+' && plus) {
        return ' ';
    }
    if (c != '%') {
        return (unsigned char)c;
    }
    if (*at + 2 > n || hex(in[*at]) < 0 || hex(in[*at + 1]) < 0) {
        return -1;
    }
    int value = hex(in[*at]) * 16 + hex(in[*at + 1]);
    *at += 2;
    return value;
}

/* Decodes in[0..n) behind what `out` holds. */
static grove_status decode(const char *in, size_t n, grove_buf *out) {
    for (size_t i = 0; i < n;) {
        int c = decode_one(in, n, &i, true);
        char byte = (char)c;
        if (c <= 0) {
            return GROVE_E_INVALID;
        }
        grove_status st = grove_buf_append(out, &byte, 1);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

/* How many bytes of continuation a first byte promises; -1: it is none. */
static int continuation(unsigned char c) {
    return c < 0x80 ? 0 : c < 0xC2 ? -1 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : c < 0xF5 ? 3 : -1;
}

/* UTF-8 without surrogates, overlong forms and what lies beyond Unicode: it is repeated in answers. */
static bool is_utf8(const char *text, size_t n) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < n;) {
        unsigned char first = p[i++];
        int more = continuation(first);
        if (more < 0 || (size_t)more > n - i) {
            return false;
        }
        unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        for (; more > 0; more--, i++, low = 0x80, high = 0xBF) {
            if (p[i] < low || p[i] > high) {
                return false;
            }
        }
    }
    return true;
}

/* ---- query ---- */

static grove_status add_text(gv_front_query *q, const char *in, size_t n, size_t *out_at) {
    *out_at = (size_t)q->text.len;
    grove_status st = decode(in, n, &q->text);
    if (st < 0) {
        return st;
    }
    if (q->text.len > *out_at && !is_utf8(q->text.data + *out_at, (size_t)q->text.len - *out_at)) {
        return GROVE_E_INVALID;
    }
    return grove_buf_append(&q->text, "", 1);
}

grove_status gv_front_query_parse(gv_front_query *q, grove_env *env, const char *query) {
    grove_buf_init(&q->text, env);
    q->n = 0;
    while (*query) {
        size_t n = strcspn(query, "&");
        const char *equal = memchr(query, '=', n);
        size_t key = equal ? (size_t)(equal - query) : n;
        size_t value = equal ? key + 1 : n;
        if (n > 0) {
            if (q->n == GV_FRONT_PARAMS) {
                return GROVE_E_INVALID;
            }
            grove_status st = add_text(q, query, key, &q->params[q->n].key);
            st = st < 0 ? st : add_text(q, query + value, n - value, &q->params[q->n].value);
            if (st < 0) {
                return st;
            }
            q->n++;
        }
        query += n + (query[n] == '&');
    }
    return GROVE_OK;
}

void gv_front_query_fini(gv_front_query *q) {
    grove_buf_fini(&q->text);
}

const char *gv_front_query_get(const gv_front_query *q, const char *key) {
    for (uint32_t i = 0; i < q->n; i++) {
        if (strcmp(q->text.data + q->params[i].key, key) == 0) {
            return q->text.data + q->params[i].value;
        }
    }
    return NULL;
}

bool gv_front_query_true(const gv_front_query *q, const char *key) {
    const char *value = gv_front_query_get(q, key);
    return value && (strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0);
}

/* ---- path ---- */

bool gv_front_path_parse(gv_front_path *p, const char *path, size_t len) {
    size_t at = 0;
    p->n = 0;
    for (size_t i = 0; i < len;) {
        if (path[i] == '/') {
            i++;
            continue;
        }
        if (p->n == GV_FRONT_SEGMENTS) {
            return false;
        }
        p->seg[p->n++] = p->text + at;
        while (i < len && path[i] != '/') {
            int c = decode_one(path, len, &i, false);
            if (c <= 0 || at + 2 > sizeof p->text) {
                return false;
            }
            p->text[at++] = (char)c;
        }
        p->text[at++] = '\0';
        if (at == sizeof p->text) {
            return false;
        }
    }
    return is_utf8(p->text, at);
}

grove_kind gv_front_kind_at(const char *group, const char *version, const char *plural) {
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (strcmp(grove_kind_group(k), group) == 0 &&
            strcmp(grove_kind_version(k), version) == 0 &&
            strcmp(grove_kind_plural(k), plural) == 0) {
            return k;
        }
    }
    return GROVE_KIND_NONE;
}

bool gv_front_route_find(const gv_front_path *p, gv_front_route *out_route) {
    const char *seg[GV_FRONT_SEGMENTS] = {"", "", "", "", "", "", "", ""};
    bool core = p->n > 0 && strcmp(p->seg[0], "api") == 0;
    uint32_t skip = core ? 2 : 3, n = p->n > skip ? p->n - skip : 0;
    if (n == 0 || (!core && strcmp(p->seg[0], "apis") != 0)) {
        return false;
    }
    memcpy(seg, p->seg + skip, n * sizeof *seg);
    const char *group = core ? "" : p->seg[1], *version = p->seg[skip - 1], *ns = "";
    group = gv_front_is_event_group(group, version) && n > 2 ? "" : group;
    const char **rest = seg;
    bool in_namespace = strcmp(seg[0], "namespaces") == 0 && n >= 3 &&
                        gv_front_kind_at(group, version, seg[2]) != GROVE_KIND_NONE;
    if (in_namespace) {
        ns = seg[1];
        rest = seg + 2;
        n -= 2;
    }
    grove_kind kind = gv_front_kind_at(group, version, rest[0]);
    if (kind == GROVE_KIND_NONE || n > 3 || (in_namespace && !grove_kind_is_namespaced(kind)) ||
        (!in_namespace && grove_kind_is_namespaced(kind) && n > 1)) {
        return false;
    }
    *out_route = (gv_front_route){kind, ns, rest[1], rest[2]};
    return true;
}

/* ---- Accept ---- */

static bool has(const char *media, size_t n, const char *word) {
    size_t m = strlen(word);
    for (size_t i = 0; i + m <= n; i++) {
        if (strncmp(media + i, word, m) == 0) {
            return true;
        }
    }
    return false;
}

static gv_front_form form_of(const char *media, size_t n) {
    if (has(media, n, "as=APIGroupDiscoveryList")) {
        return has(media, n, "v=v2") && !has(media, n, "v=v2beta") ? GV_FORM_DISCOVERY
                                                                   : GV_FORM_NONE;
    }
    bool json = has(media, n, "application/json");
    if (has(media, n, "as=Table")) {
        return json ? GV_FORM_TABLE : GV_FORM_NONE;
    }
    if (has(media, n, "as=PartialObjectMetadata")) {
        return json ? GV_FORM_PARTIAL : GV_FORM_NONE;
    }
    if (json || has(media, n, "*/*") || has(media, n, "application/*")) {
        return GV_FORM_JSON;
    }
    return has(media, n, "application/yaml") ? GV_FORM_YAML : GV_FORM_NONE;
}

gv_front_form gv_front_accept(const char *accept) {
    if (!accept || !accept[0]) {
        return GV_FORM_JSON;
    }
    gv_front_form form = GV_FORM_NONE;
    while (*accept && form == GV_FORM_NONE) {
        size_t n = strcspn(accept, ",");
        form = form_of(accept, n);
        accept += n + (accept[n] == ',');
    }
    return form;
}
