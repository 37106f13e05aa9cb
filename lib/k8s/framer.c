/* SPDX-License-Identifier: Apache-2.0 */
/* The framer: one pass over each byte, whatever the cuts; eight bytes at a time inside of strings. */
#include "framer.h"

#include <stdint.h>
#include <string.h>

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)
#define LARGE (UINT64_C(256) << 10)

void gv_k8s_framer_init(gv_k8s_framer *f, grove_env *env) {
    *f = (gv_k8s_framer){0};
    grove_buf_init(&f->bytes, env);
}

void gv_k8s_framer_fini(gv_k8s_framer *f) {
    grove_buf_fini(&f->bytes);
}

void gv_k8s_framer_reset(gv_k8s_framer *f, bool is_list) {
    grove_buf keep = f->bytes;
    if (keep.cap > LARGE) { /* one large object does not cost for ever */
        grove_env *env = keep.env;
        grove_buf_fini(&keep);
        grove_buf_init(&keep, env);
    }
    grove_buf_clear(&keep);
    *f = (gv_k8s_framer){.bytes = keep, .is_list = is_list};
}

/* Moves what is left to the front once it is the smaller part. */
static void compact(gv_k8s_framer *f) {
    size_t len = (size_t)f->bytes.len;
    if (f->start == 0 || f->start < len - f->start) {
        return;
    }
    memmove(f->bytes.data, f->bytes.data + f->start, len - f->start);
    f->bytes.len = len - f->start;
    f->at -= f->start;
    f->end -= f->piece != GV_K8S_PIECE_NONE ? f->start : f->end;
    f->start = 0;
}

grove_status gv_k8s_framer_add(gv_k8s_framer *f, const char *bytes, size_t n) {
    compact(f);
    return grove_buf_append(&f->bytes, bytes, n);
}

/* ---- values ---- */

/* Non-zero when one of the eight bytes is a quote or a backslash. */
static uint64_t ends_plain(uint64_t x) {
    const uint64_t quote = x ^ (ONES * '"'), backslash = x ^ (ONES * '\\');
    return (((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash)) & HIGHS;
}

/* f->at is in a string: to behind its end, or to the end of what came. */
static void pass_string(gv_k8s_framer *f) {
    const char *p = f->bytes.data;
    size_t at = f->at, len = (size_t)f->bytes.len;
    while (at < len && f->in_string) {
        if (f->escaped) {
            f->escaped = false;
            at++;
            continue;
        }
        uint64_t x;
        while (len - at >= sizeof x && (memcpy(&x, p + at, sizeof x), ends_plain(x) == 0)) {
            at += sizeof x;
        }
        while (at < len && p[at] != '"' && p[at] != '\\') {
            at++;
        }
        if (at < len) {
            f->escaped = p[at] == '\\';
            f->in_string = p[at] != '"';
            at++;
        }
    }
    f->at = at;
}

/* f->at is in a container: true when its end was passed. */
static bool pass_container(gv_k8s_framer *f) {
    const char *p = f->bytes.data;
    size_t len = (size_t)f->bytes.len;
    while (f->at < len) {
        if (f->in_string) {
            pass_string(f);
            continue;
        }
        switch (p[f->at++]) {
        case '"':
            f->in_string = true;
            break;
        case '{':
        case '[':
            f->depth++;
            break;
        case '}':
        case ']':
            if (--f->depth == 0) {
                return true;
            }
            break;
        default:
            break;
        }
    }
    f->broken = f->broken || f->at - f->start > GV_K8S_DOCUMENT_LIMIT;
    return false;
}

static bool is_space(char c) {
    return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

/* The container whose bracket was the last byte. */
static void enter(gv_k8s_framer *f, gv_k8s_piece inside) {
    f->start = f->at - 1;
    f->depth = 1;
    f->inside = inside;
    f->place = GV_K8S_INSIDE;
}

/* ---- streams ---- */

/*
 * Events of Kubernetes are lines, in which no line feed can stand: what begins as one ends at its line feed,
 * found without a look at the bytes between. Anything else is counted through.
 */
#define LINE "{\"type\":\""

/* False: it is no such line. */
static bool scan_line(gv_k8s_framer *f) {
    const char *begin = f->bytes.data + f->start;
    size_t have = (size_t)f->bytes.len - f->start, n = sizeof LINE - 1;
    if (memcmp(begin, LINE, have < n ? have : n) != 0) {
        return false;
    }
    const char *from = f->bytes.data + f->at;
    const char *feed = memchr(from, '\n', (size_t)f->bytes.len - f->at);
    if (!feed) {
        f->at = have < n ? f->at : (size_t)f->bytes.len;
        f->broken = have > GV_K8S_DOCUMENT_LIMIT;
        return true;
    }
    f->at = (size_t)(feed - f->bytes.data) + 1;
    f->end = f->at - 1;
    while (f->end > f->start && is_space(f->bytes.data[f->end - 1])) {
        f->end--;
    }
    f->piece = GV_K8S_PIECE_DOCUMENT;
    f->place = GV_K8S_BEFORE;
    return true;
}

static void scan_stream(gv_k8s_framer *f) {
    size_t len = (size_t)f->bytes.len;
    while (f->place == GV_K8S_BEFORE && f->at < len && !f->broken) {
        char c = f->bytes.data[f->at++];
        if (c == '{') {
            enter(f, GV_K8S_PIECE_DOCUMENT);
        } else if (is_space(c)) {
            f->start = f->at;
        } else {
            f->broken = true;
        }
    }
    if (f->place != GV_K8S_INSIDE || f->broken || scan_line(f)) {
        return;
    }
    if (pass_container(f)) {
        f->piece = GV_K8S_PIECE_DOCUMENT;
        f->end = f->at;
        f->place = GV_K8S_BEFORE;
    }
}

/* ---- lists ---- */

static bool key_is(const gv_k8s_framer *f, const char *word) {
    return f->key_len == strlen(word) && memcmp(f->key, word, f->key_len) == 0;
}

static void key_byte(gv_k8s_framer *f, char c) {
    if (c == '"' && !f->escaped) {
        f->place = GV_K8S_COLON;
        return;
    }
    f->escaped = c == '\\' && !f->escaped;
    if (f->key_len < sizeof f->key) {
        f->key[f->key_len] = c;
    }
    f->key_len++;
}

/* The first byte of a member's value. */
static void value_byte(gv_k8s_framer *f, char c) {
    bool items = key_is(f, "items");
    if (items && c == '[') {
        f->place = GV_K8S_ITEMS;
    } else if (c == '{' || c == '[') {
        enter(f, key_is(f, "metadata") && c == '{' ? GV_K8S_PIECE_METADATA : GV_K8S_PIECE_NONE);
    } else if (items && c != 'n') { /* null is an empty list */
        f->broken = true;
    } else {
        f->place = GV_K8S_SCALAR;
        f->in_string = c == '"';
    }
}

static void end_list(gv_k8s_framer *f) {
    f->piece = GV_K8S_PIECE_END;
    f->start = f->end = f->at;
    f->place = GV_K8S_DONE;
}

/* A byte outside of containers. */
static void list_byte(gv_k8s_framer *f, char c) {
    switch (f->place) {
    case GV_K8S_KEY:
        key_byte(f, c);
        return;
    case GV_K8S_SCALAR:
        if (c == '}') {
            end_list(f);
        } else if (c == ',') {
            f->place = GV_K8S_KEYS;
        }
        return;
    default:
        break;
    }
    if (is_space(c)) {
        return;
    }
    if (f->place == GV_K8S_BEFORE && c == '{') {
        f->place = GV_K8S_KEYS;
    } else if (f->place == GV_K8S_KEYS && c == '"') {
        f->place = GV_K8S_KEY;
        f->key_len = 0;
        f->escaped = false;
    } else if (f->place == GV_K8S_KEYS && c == '}') {
        end_list(f);
    } else if (f->place == GV_K8S_COLON && c != ':') {
        value_byte(f, c);
    } else if (f->place == GV_K8S_ITEMS && c == '{') {
        enter(f, GV_K8S_PIECE_ITEM);
    } else if (f->place == GV_K8S_ITEMS && c == ']') {
        f->place = GV_K8S_KEYS;
    } else if (c != ',' && c != ':') {
        f->broken = true;
    }
}

static void scan_list(gv_k8s_framer *f) {
    size_t len = (size_t)f->bytes.len;
    while (f->at < len && !f->broken && f->piece == GV_K8S_PIECE_NONE) {
        if (f->place == GV_K8S_INSIDE) {
            if (pass_container(f)) {
                f->piece = f->inside;
                f->end = f->at;
                f->place = f->inside == GV_K8S_PIECE_ITEM ? GV_K8S_ITEMS : GV_K8S_KEYS;
            }
        } else if (f->place == GV_K8S_SCALAR && f->in_string) {
            pass_string(f);
        } else if (f->place == GV_K8S_DONE) {
            f->broken = !is_space(f->bytes.data[f->at++]);
        } else {
            list_byte(f, f->bytes.data[f->at++]);
        }
        if (f->piece == GV_K8S_PIECE_NONE && f->place != GV_K8S_INSIDE) {
            f->start = f->at; /* nothing of it is wanted */
        }
    }
}

/* ---- pieces ---- */

gv_k8s_piece gv_k8s_framer_peek(gv_k8s_framer *f, const char **out_text, size_t *out_len) {
    if (f->piece == GV_K8S_PIECE_NONE && !f->broken) {
        if (f->is_list) {
            scan_list(f);
        } else {
            scan_stream(f);
        }
    }
    if (f->piece != GV_K8S_PIECE_NONE) {
        *out_text = f->bytes.data + f->start;
        *out_len = f->end - f->start;
    }
    return f->piece;
}

void gv_k8s_framer_take(gv_k8s_framer *f) {
    if (f->piece != GV_K8S_PIECE_NONE) {
        f->start = f->end;
        f->piece = GV_K8S_PIECE_NONE;
    }
}
