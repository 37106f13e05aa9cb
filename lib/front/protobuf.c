/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that kubectl sends as protobuf and in no other form: `kubectl create namespace`, `configmap`,
 * `secret`, `serviceaccount`, `service`, `role`, `rolebinding`, `poddisruptionbudget`, `priorityclass`. What is
 * not understood must be empty, so that nothing is lost in silence. Answers are JSON, which every client
 * takes: it asks for protobuf first, and for JSON beside it.
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

typedef enum member_type {
    TEXT,
    NUMBER,
    BOOL,
    TEXTS, /* map of texts */
    BYTES, /* map of bytes, base64 in JSON */
    MESSAGE,
    INT_OR_TEXT,
} member_type;

/* A member of a message. */
typedef struct member {
    uint64_t number;
    const char *name;
    member_type type;
    bool list;
    const struct member *of; /* of a message */
} member;

#define END \
    { 0, NULL, TEXT, false, NULL }

static const member of_metadata[] = {
    {1, "name", TEXT, false, NULL},          {2, "generateName", TEXT, false, NULL},
    {3, "namespace", TEXT, false, NULL},     {11, "labels", TEXTS, false, NULL},
    {12, "annotations", TEXTS, false, NULL}, END};
static const member of_nothing[] = {END};
static const member of_config_map[] = {{2, "data", TEXTS, false, NULL},
                                       {3, "binaryData", BYTES, false, NULL},
                                       {4, "immutable", BOOL, false, NULL},
                                       END};
static const member of_secret[] = {{2, "data", BYTES, false, NULL},
                                   {3, "type", TEXT, false, NULL},
                                   {4, "stringData", TEXTS, false, NULL},
                                   {5, "immutable", BOOL, false, NULL},
                                   END};
static const member of_port[] = {
    {1, "name", TEXT, false, NULL},       {2, "protocol", TEXT, false, NULL},
    {3, "port", NUMBER, false, NULL},     {4, "targetPort", INT_OR_TEXT, false, NULL},
    {5, "nodePort", NUMBER, false, NULL}, END};
static const member of_service_spec[] = {{1, "ports", MESSAGE, true, of_port},
                                         {2, "selector", TEXTS, false, NULL},
                                         {3, "clusterIP", TEXT, false, NULL},
                                         {4, "type", TEXT, false, NULL},
                                         {7, "sessionAffinity", TEXT, false, NULL},
                                         {10, "externalName", TEXT, false, NULL},
                                         END};
static const member of_service[] = {{2, "spec", MESSAGE, false, of_service_spec}, END};
static const member of_rule[] = {
    {1, "verbs", TEXT, true, NULL},           {2, "apiGroups", TEXT, true, NULL},
    {3, "resources", TEXT, true, NULL},       {4, "resourceNames", TEXT, true, NULL},
    {5, "nonResourceURLs", TEXT, true, NULL}, END};
static const member of_role[] = {{2, "rules", MESSAGE, true, of_rule}, END};
static const member of_subject[] = {{1, "kind", TEXT, false, NULL},
                                    {2, "apiGroup", TEXT, false, NULL},
                                    {3, "name", TEXT, false, NULL},
                                    {4, "namespace", TEXT, false, NULL},
                                    END};
static const member of_role_ref[] = {{1, "apiGroup", TEXT, false, NULL},
                                     {2, "kind", TEXT, false, NULL},
                                     {3, "name", TEXT, false, NULL},
                                     END};
static const member of_role_binding[] = {
    {2, "subjects", MESSAGE, true, of_subject}, {3, "roleRef", MESSAGE, false, of_role_ref}, END};
static const member of_selector[] = {{1, "matchLabels", TEXTS, false, NULL}, END};
static const member of_budget_spec[] = {{1, "minAvailable", INT_OR_TEXT, false, NULL},
                                        {2, "selector", MESSAGE, false, of_selector},
                                        {3, "maxUnavailable", INT_OR_TEXT, false, NULL},
                                        END};
static const member of_budget[] = {{2, "spec", MESSAGE, false, of_budget_spec}, END};
static const member of_priority_class[] = {{2, "value", NUMBER, false, NULL},
                                           {3, "globalDefault", BOOL, false, NULL},
                                           {4, "description", TEXT, false, NULL},
                                           {5, "preemptionPolicy", TEXT, false, NULL},
                                           END};

static const struct {
    grove_kind kind;
    const member *members; /* beside metadata */
} known[] = {{GROVE_KIND_NAMESPACE, of_nothing},
             {GROVE_KIND_SERVICEACCOUNT, of_nothing},
             {GROVE_KIND_CONFIGMAP, of_config_map},
             {GROVE_KIND_SECRET, of_secret},
             {GROVE_KIND_SERVICE, of_service},
             {GROVE_KIND_ROLE, of_role},
             {GROVE_KIND_ROLEBINDING, of_role_binding},
             {GROVE_KIND_PDB, of_budget},
             {GROVE_KIND_PRIORITYCLASS, of_priority_class}};

static const member *members_of(grove_kind kind) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].kind == kind) {
            return known[i].members;
        }
    }
    return NULL;
}

/* ---- values ---- */

static void put_text(grove_builder *b, const char *key, message text) {
    grove_builder_stringn(b, key, text.n ? (const char *)text.p : "", text.n);
}

#define BASE64_BLOCK 3

static bool put_base64(grove_builder *b, grove_env *env, const char *key, message bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    grove_buf out;
    bool ok = true;
    grove_buf_init(&out, env);
    for (size_t i = 0; ok && i < bytes.n; i += BASE64_BLOCK) {
        size_t n = bytes.n - i < BASE64_BLOCK ? bytes.n - i : BASE64_BLOCK;
        uint32_t v = 0;
        char block[4];
        for (size_t j = 0; j < BASE64_BLOCK; j++) {
            v = v << 8 | (j < n ? bytes.p[i + j] : 0U);
        }
        for (size_t j = 0; j < sizeof block; j++) {
            block[j] = j <= n ? digits[v >> (18 - 6 * j) & 63] : '=';
        }
        ok = grove_buf_append(&out, block, sizeof block) == GROVE_OK;
    }
    grove_builder_stringn(b, key, out.len ? out.data : "", (size_t)out.len);
    grove_buf_fini(&out);
    return ok;
}

/* An entry of a map: key and value. */
static bool put_entry(grove_builder *b, grove_env *env, message entry, member_type type) {
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
    if (type == BYTES) {
        return put_base64(b, env, name, value);
    }
    put_text(b, name, value);
    return true;
}

/* {type, number, text} */
static bool put_int_or_text(grove_builder *b, const char *key, message m) {
    uint64_t type = 0, number = 0;
    message text = {NULL, 0};
    while (m.n > 0) {
        field f;
        if (!next(&m, &f)) {
            return false;
        }
        type = f.number == 1 ? f.value : type;
        number = f.number == 2 ? f.value : number;
        text = f.number == 3 ? f.data : text;
    }
    if (type) {
        put_text(b, key, text);
    } else {
        grove_builder_int64(b, key, (int64_t)number);
    }
    return true;
}

static bool put_members(grove_builder *b, grove_env *env, const member *members, message m,
                        uint64_t except, int depth);

/* One value; what is empty is left out, except in a list. */
static bool put_value(grove_builder *b, grove_env *env, const member *is, const field *f,
                      int depth) {
    const char *key = is->list ? NULL : is->name;
    bool text = is->type == TEXT, plain = is->type == NUMBER || is->type == BOOL;
    if (f->bytes == plain) {
        return false;
    }
    if (plain || (text && f->data.n == 0 && !is->list)) {
        if (is->type == BOOL && f->value) {
            grove_builder_bool(b, key, 1);
        } else if (is->type == NUMBER && f->value) {
            grove_builder_int64(b, key, (int64_t)f->value);
        }
        return true;
    }
    if (text) {
        put_text(b, key, f->data);
        return true;
    }
    if (is->type == INT_OR_TEXT) {
        return put_int_or_text(b, key, f->data);
    }
    grove_builder_open_object(b, key);
    bool ok = put_members(b, env, is->of, f->data, 0, depth + 1);
    grove_builder_close(b);
    return ok;
}

/* The fields of one number, which are one member. */
static bool put_member(grove_builder *b, grove_env *env, const member *is, message m, int depth) {
    bool map = is->type == TEXTS || is->type == BYTES, open = false, ok = true;
    while (ok && m.n > 0) {
        field f;
        if (!next(&m, &f)) {
            return false;
        }
        if (f.number != is->number) {
            continue;
        }
        if (map && !open) {
            grove_builder_open_object(b, is->name);
        } else if (is->list && !open) {
            grove_builder_open_array(b, is->name);
        }
        open = map || is->list;
        ok = map ? f.bytes && put_entry(b, env, f.data, is->type)
                 : put_value(b, env, is, &f, depth);
        if (!open) {
            break; /* the first is the one */
        }
    }
    if (open) {
        grove_builder_close(b);
    }
    return ok;
}

static bool is_known(const member *members, uint64_t number) {
    while (members->name && members->number != number) {
        members++;
    }
    return members->name != NULL;
}

static bool put_members(grove_builder *b, grove_env *env, const member *members, message m,
                        uint64_t except, int depth) {
    message rest = m;
    while (rest.n > 0) {
        field f;
        if (depth == DEPTH_MAX || !next(&rest, &f) ||
            (f.number != except && !is_known(members, f.number) && !field_is_empty(&f))) {
            return false;
        }
    }
    for (; members->name; members++) {
        if (!put_member(b, env, members, m, depth)) {
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

static bool put_object(grove_builder *b, grove_env *env, message type, message raw,
                       const member *members) {
    grove_builder_open_object(b, NULL);
    put_text(b, "apiVersion", find(type, 1));
    put_text(b, "kind", find(type, 2));
    grove_builder_open_object(b, "metadata");
    bool ok = put_members(b, env, of_metadata, find(raw, 1), 0, 0);
    grove_builder_close(b);
    ok = ok && put_members(b, env, members, raw, 1, 0);
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
    st = put_object(b, c->env, find(all, 1), find(all, 2), members)
             ? grove_builder_finish(b, out_doc, NULL)
             : GROVE_E_UNSUPPORTED;
    grove_builder_free(b);
    return st == GROVE_E_NOMEM || st == GROVE_OK ? st : GROVE_E_UNSUPPORTED;
}
