/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few objects that kubectl sends as protobuf and in no other form: `kubectl create namespace`,
 * `configmap`, `serviceaccount`. What is not understood must be empty, so that nothing is lost in silence.
 */
#include "front/parts.h"

#include <string.h>

#define MAGIC "k8s\0"
#define MAGIC_LEN 4
#define DEPTH_MAX 8

/* A message, or what is left of it. */
typedef struct message {
    const unsigned char *p;
    size_t n;
} message;

typedef struct field {
    uint64_t number;
    bool bytes;     /* else a number */
    uint64_t value; /* of a number */
    message data;   /* of bytes */
} field;

static bool varint(message *m, uint64_t *out) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && m->n > 0; shift += 7) {
        unsigned char c = *m->p++;
        m->n--;
        value |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* Takes the next field; false when it is malformed. */
static bool next(message *m, field *out) {
    uint64_t tag = 0, len = 0;
    if (!varint(m, &tag)) {
        return false;
    }
    *out = (field){.number = tag >> 3, .bytes = (tag & 7) == 2};
    if ((tag & 7) == 0) {
        return varint(m, &out->value);
    }
    if (!out->bytes || !varint(m, &len) || len > m->n) {
        return false;
    }
    out->data = (message){m->p, (size_t)len};
    m->p += len;
    m->n -= (size_t)len;
    return true;
}

/* Nothing but zero values, at any depth. */
static bool is_empty(message m, int depth) {
    while (m.n > 0) {
        field f;
        if (!next(&m, &f) || f.value || depth == DEPTH_MAX) {
            return false;
        }
        if (f.data.n > 0 && !is_empty(f.data, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool field_is_empty(const field *f) {
    return f->value == 0 && is_empty(f->data, 0);
}

/* ---- what is understood ---- */

/* A member of a message: text, or map of texts. */
typedef struct member {
    uint64_t number;
    const char *name;
    bool map;
} member;

static const member of_metadata[] = {{1, "name", false},        {2, "generateName", false},
                                     {3, "namespace", false},   {11, "labels", true},
                                     {12, "annotations", true}, {0, NULL, false}};
static const member of_config_map[] = {{2, "data", true}, {0, NULL, false}};
static const member of_others[] = {{0, NULL, false}};

static const member *members_of(grove_kind kind) {
    return kind == GROVE_KIND_CONFIGMAP                                        ? of_config_map
           : kind == GROVE_KIND_NAMESPACE || kind == GROVE_KIND_SERVICEACCOUNT ? of_others
                                                                               : NULL;
}

/* An entry of a map: key and value. */
static bool put_entry(grove_builder *b, message entry) {
    message key = {NULL, 0}, value = {NULL, 0};
    char name[256];
    while (entry.n > 0) {
        field f;
        if (!next(&entry, &f) || !f.bytes) {
            return false;
        }
        key = f.number == 1 ? f.data : key;
        value = f.number == 2 ? f.data : value;
    }
    if (key.n == 0 || key.n >= sizeof name || memchr(key.p, 0, key.n)) {
        return false;
    }
    memcpy(name, key.p, key.n);
    name[key.n] = '\0';
    grove_builder_stringn(b, name, value.n ? (const char *)value.p : "", value.n);
    return true;
}

/* The fields of one number, which are one member. */
static bool put_member(grove_builder *b, const member *known, message m) {
    bool any = false;
    while (m.n > 0) {
        field f;
        if (!next(&m, &f)) {
            return false;
        }
        if (f.number != known->number || !f.bytes || (!known->map && f.data.n == 0)) {
            continue;
        }
        if (!known->map) {
            grove_builder_stringn(b, known->name, (const char *)f.data.p, f.data.n);
            return true;
        }
        if (!any) {
            grove_builder_open_object(b, known->name);
            any = true;
        }
        if (!put_entry(b, f.data)) {
            return false;
        }
    }
    if (any) {
        grove_builder_close(b);
    }
    return true;
}

static bool is_known(const member *members, uint64_t number) {
    while (members->name && members->number != number) {
        members++;
    }
    return members->name != NULL;
}

static bool put_members(grove_builder *b, const member *members, message m, uint64_t except) {
    message rest = m;
    while (rest.n > 0) {
        field f;
        if (!next(&rest, &f) ||
            (f.number != except && !is_known(members, f.number) && !field_is_empty(&f))) {
            return false;
        }
    }
    for (; members->name; members++) {
        if (!put_member(b, members, m)) {
            return false;
        }
    }
    return true;
}

/* The bytes of a field of this number; empty when there is none. */
static message find(message m, uint64_t number) {
    field f;
    while (m.n > 0 && next(&m, &f)) {
        if (f.number == number && f.bytes) {
            return f.data;
        }
    }
    return (message){NULL, 0};
}

static bool put_object(grove_builder *b, message type, message raw, const member *members) {
    message version = find(type, 1), kind = find(type, 2);
    grove_builder_open_object(b, NULL);
    grove_builder_stringn(b, "apiVersion", version.n ? (const char *)version.p : "", version.n);
    grove_builder_stringn(b, "kind", kind.n ? (const char *)kind.p : "", kind.n);
    grove_builder_open_object(b, "metadata");
    bool ok = put_members(b, of_metadata, find(raw, 1), 0);
    grove_builder_close(b);
    ok = ok && put_members(b, members, raw, 1);
    grove_builder_close(b);
    return ok;
}

grove_status gv_front_protobuf(gv_front_call *c, grove_doc **out_doc) {
    const member *members = members_of(c->route.kind);
    message all = {(const unsigned char *)c->req->body, c->req->body_len};
    grove_builder *b = NULL;
    if (!members || c->route.sub[0] || all.n < MAGIC_LEN || memcmp(all.p, MAGIC, MAGIC_LEN) != 0) {
        return GROVE_E_UNSUPPORTED;
    }
    all = (message){all.p + MAGIC_LEN, all.n - MAGIC_LEN};
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    st = put_object(b, find(all, 1), find(all, 2), members) ? grove_builder_finish(b, out_doc, NULL)
                                                            : GROVE_E_UNSUPPORTED;
    grove_builder_free(b);
    return st == GROVE_E_NOMEM || st == GROVE_OK ? st : GROVE_E_UNSUPPORTED;
}
