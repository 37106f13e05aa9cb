/* SPDX-License-Identifier: Apache-2.0 */
/* Records from bytes: the object around, its metadata, events of watches. */
#include "model/extract.h"

#include "base/env.h"
#include "model/labels.h"
#include "model/records_take.h"
#include "value/scalar.h"

int32_t grove_extract_takes(grove_kind kind) {
    return kind == GROVE_KIND_POD || kind == GROVE_KIND_NODE;
}

grove_status grove_extract_new(grove_env *env, grove_extract **out_extract) {
    if (env == NULL || out_extract == NULL) {
        return GROVE_E_INVALID;
    }
    grove_extract *x = gv_zalloc(env, sizeof *x);
    if (x == NULL) {
        return GROVE_E_NOMEM;
    }
    x->env = grove_env_ref(env);
    gv_arena_init(&x->texts, env);
    grove_buf_init(&x->version, env);
    *out_extract = x;
    return GROVE_OK;
}

void grove_extract_free(grove_extract *x) {
    if (x == NULL) {
        return;
    }
    grove_env *env = x->env;
    gv_pod_facts_fini(env, &x->pod);
    gv_node_facts_fini(env, &x->node);
    gv_vec_fini(env, &x->labels);
    gv_vec_fini(env, &x->containers);
    gv_vec_fini(env, &x->init_containers);
    gv_vec_fini(env, &x->own);
    gv_vec_fini(env, &x->pod_level);
    gv_vec_fini(env, &x->overhead);
    gv_arena_fini(&x->texts);
    grove_buf_fini(&x->version);
    gv_free(env, x, sizeof *x);
    grove_env_unref(env);
}

/* ---- parts that pods and nodes share ---- */

int64_t gv_extract_time(gv_scan *s) {
    int64_t ns = GV_TIME_NONE;
    gv_str text = gv_scan_text(s);
    return text.n > 0 && gv_time_parse(text, &ns, NULL) == GROVE_OK ? ns : GV_TIME_NONE;
}

void gv_extract_quantities(grove_extract *x, gv_scan *s, gv_request_facts *out) {
    gv_str name;
    out->n = 0;
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &name)) {
        gv_request_fact fact = {name, gv_request_amount(gv_scan_scalar(s), name)};
        size_t i = 0;
        while (i < out->n && !gv_str_eq(out->v[i].name, name)) {
            i++;
        }
        if (i < out->n) {
            out->v[i] = fact;
        } else if (!gv_vec_push(x->env, out, fact)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
}

static void read_labels(grove_extract *x, gv_scan *s) {
    gv_label_fact label;
    x->labels.n = 0;
    if (!gv_scan_open(s, '{')) {
        return;
    }
    while (gv_scan_member(s, &label.key)) {
        label.value = gv_scan_text(s);
        if (!gv_vec_push(x->env, &x->labels, label)) {
            gv_scan_fail(s, GROVE_E_NOMEM);
        }
    }
}

gv_str gv_extract_label(const grove_extract *x, const char *key) {
    for (size_t i = x->labels.n; i > 0; i--) {
        if (gv_str_is(x->labels.v[i - 1].key, key)) {
            return x->labels.v[i - 1].value;
        }
    }
    return (gv_str){"", 0};
}

typedef struct owner {
    gv_str api_version, kind, name, uid;
    bool controls;
} owner;

static owner read_owner(gv_scan *s) {
    owner o = {{"", 0}, {"", 0}, {"", 0}, {"", 0}, false};
    gv_str key;
    if (!gv_scan_open(s, '{')) {
        return o;
    }
    while (gv_scan_member(s, &key)) {
        gv_str *text = gv_str_is(key, "apiVersion") ? &o.api_version
                       : gv_str_is(key, "kind")     ? &o.kind
                       : gv_str_is(key, "name")     ? &o.name
                       : gv_str_is(key, "uid")      ? &o.uid
                                                    : NULL;
        if (text) {
            *text = gv_scan_text(s);
        } else if (gv_str_is(key, "controller")) {
            o.controls = gv_scan_is_true(s);
        } else {
            (void)gv_scan_skip(s);
        }
    }
    return o;
}

static void read_owners(gv_scan *s, gv_head_facts *h) {
    bool found = false;
    h->n_owners = 0;
    h->owner_kind = GV_KIND_NONE;
    h->owner_uid = h->owner_name = (gv_str){"", 0};
    if (!gv_scan_open(s, '[')) {
        return;
    }
    while (gv_scan_element(s)) {
        owner o = read_owner(s);
        h->n_owners++;
        if (o.controls && !found) {
            found = true;
            h->owner_uid = o.uid;
            h->owner_name = o.name;
            h->owner_kind = gv_kind_find(o.api_version, o.kind);
        }
    }
}

static bool any_element(gv_scan *s) {
    bool any = false;
    if (gv_scan_open(s, '[')) {
        while (gv_scan_element(s)) {
            (void)gv_scan_skip(s);
            any = true;
        }
    }
    return any;
}

static void read_deletion(gv_scan *s, gv_head_facts *h) {
    gv_str text = gv_scan_text(s);
    h->deleted = GV_TIME_NONE;
    h->flags = text.n > 0 ? GV_HEAD_TERMINATING : 0u;
    if (text.n > 0 && gv_time_parse(text, &h->deleted, NULL) < 0) {
        h->deleted = GV_TIME_NONE;
    }
}

static void read_member(grove_extract *x, gv_scan *s, gv_str key, gv_head_facts *h) {
    gv_str *text = gv_str_is(key, "name")              ? &h->name
                   : gv_str_is(key, "namespace")       ? &h->ns
                   : gv_str_is(key, "uid")             ? &h->uid
                   : gv_str_is(key, "resourceVersion") ? &h->rv
                                                       : NULL;
    if (text) {
        *text = gv_scan_text(s);
    } else if (gv_str_is(key, "labels")) {
        read_labels(x, s);
    } else if (gv_str_is(key, "ownerReferences")) {
        read_owners(s, h);
    } else if (gv_str_is(key, "creationTimestamp")) {
        h->created = gv_extract_time(s);
    } else if (gv_str_is(key, "deletionTimestamp")) {
        read_deletion(s, h);
    } else if (gv_str_is(key, "generation")) {
        h->generation = gv_scan_int(s, 0);
    } else if (gv_str_is(key, "finalizers")) {
        x->has_finalizer = any_element(s);
    } else {
        (void)gv_scan_skip(s);
    }
}

static void begin_head(grove_extract *x, gv_head_facts *h) {
    const gv_str none = {"", 0};
    *h = (gv_head_facts){.kind = x->kind,
                         .ns = none,
                         .name = none,
                         .uid = none,
                         .rv = none,
                         .owner_uid = none,
                         .owner_name = none,
                         .part_of = none,
                         .created = GV_TIME_NONE,
                         .deleted = GV_TIME_NONE};
    x->labels.n = 0;
    x->has_finalizer = false;
}

void gv_extract_metadata(grove_extract *x, gv_scan *s, gv_head_facts *out) {
    gv_str key;
    begin_head(x, out);
    if (gv_scan_open(s, '{')) {
        while (gv_scan_member(s, &key)) {
            read_member(x, s, key, out);
        }
    }
    if (!gv_kind_get(x->kind)->namespaced) {
        out->ns = (gv_str){"", 0};
    }
    out->part_of = gv_extract_label(x, GV_LABEL_PART_OF);
    bool managed = gv_str_is(gv_extract_label(x, GV_LABEL_MANAGED_BY), GV_MANAGER);
    out->flags |= managed ? GV_HEAD_MANAGED : 0u;
}

/* ---- one object ---- */

static gv_head_facts *head_of(grove_extract *x) {
    return x->kind == GV_KIND_POD ? &x->pod.head : &x->node.head;
}

/* The next value of the scan is the object. */
static void read_object(grove_extract *x, gv_scan *s, gv_kind kind) {
    x->kind = kind;
    x->foreign = x->foreign_version = false;
    begin_head(x, head_of(x));
    if (kind == GV_KIND_POD) {
        gv_extract_pod(x, s);
    } else {
        gv_extract_node(x, s);
    }
}

void gv_extract_other(grove_extract *x, gv_scan *s, gv_str key) {
    if (gv_str_is(key, "kind")) {
        x->foreign = !gv_str_is(gv_scan_text(s), gv_kind_get(x->kind)->name);
    } else if (gv_str_is(key, "apiVersion")) {
        x->foreign_version = !gv_str_is(gv_scan_text(s), "v1");
    } else {
        (void)gv_scan_skip(s);
    }
}

static grove_status finish(grove_extract *x, grove_status st, grove_error *err) {
    bool valid = x->kind != GV_KIND_NONE && !x->foreign && !x->foreign_version &&
                 head_of(x)->name.n > 0;
    st = st == GROVE_OK && !valid ? GROVE_E_INVALID : st;
    if (st == GROVE_OK) {
        grove_buf_clear(&x->version);
        st = gv_buf_str(&x->version, head_of(x)->rv);
    }
    if (st == GROVE_OK) {
        return GROVE_OK;
    }
    x->kind = GV_KIND_NONE;
    return gv_error(err, st,
                    st == GROVE_E_NOMEM     ? "out of memory"
                    : st == GROVE_E_INVALID ? "object without a name, or of another kind"
                    : st == GROVE_E_LIMIT   ? "the object is nested too deeply"
                                            : "the object is no JSON");
}

static void begin(grove_extract *x, gv_scan *s, const char *text, size_t len) {
    x->kind = GV_KIND_NONE;
    gv_arena_reset(&x->texts);
    gv_scan_begin(s, (gv_str){text, len}, &x->texts, gv_env_limits(x->env)->depth);
}

grove_status grove_extract_read(grove_extract *x, grove_kind kind, const char *text, size_t len,
                                grove_error *err) {
    gv_scan s;
    if (x == NULL || text == NULL) {
        return gv_error(err, GROVE_E_INVALID, "extractor and text are required");
    }
    if (!grove_extract_takes(kind)) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "no records are made of this kind");
    }
    begin(x, &s, text, len);
    read_object(x, &s, (gv_kind)kind);
    return finish(x, gv_scan_end(&s), err);
}

static grove_event_type type_of(gv_str word) {
    static const char *const words[] = {"", "ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
    for (grove_event_type t = GROVE_EVENT_ADDED; t <= GROVE_EVENT_BOOKMARK; t++) {
        if (gv_str_is(word, words[t])) {
            return t;
        }
    }
    return 0;
}

grove_status grove_extract_event(grove_extract *x, grove_kind kind, const char *text, size_t len,
                                 grove_event_type *out_type, const char **out_object,
                                 size_t *out_len, grove_error *err) {
    gv_scan s;
    gv_str key, object = {"", 0};
    grove_event_type type = 0;
    if (x == NULL || text == NULL || !grove_extract_takes(kind)) {
        return gv_error(err, GROVE_E_INVALID, "an event of pods or nodes is required");
    }
    begin(x, &s, text, len);
    if (gv_scan_open(&s, '{')) {
        while (gv_scan_member(&s, &key)) {
            if (gv_str_is(key, "type")) {
                type = type_of(gv_scan_text(&s));
            } else if (gv_str_is(key, "object")) {
                object.p = gv_scan_at(&s);
                read_object(x, &s, (gv_kind)kind);
                object.n = (size_t)(s.at - object.p);
            } else {
                (void)gv_scan_skip(&s);
            }
        }
    }
    bool told = type != 0 && type != GROVE_EVENT_BOOKMARK;
    grove_status st = gv_scan_end(&s);
    if (st < 0 || told) {
        st = finish(x, st, err);
    }
    if (st < 0) {
        return st;
    }
    x->kind = told ? x->kind : GV_KIND_NONE;
    *out_type = type;
    *out_object = object.p;
    *out_len = object.n;
    return GROVE_OK;
}

const gv_head_facts *gv_extract_head(const grove_extract *x) {
    return x->kind == GV_KIND_NONE ? NULL : x->kind == GV_KIND_POD ? &x->pod.head : &x->node.head;
}

const char *grove_extract_version(const grove_extract *x) {
    return x != NULL && x->version.data != NULL ? x->version.data : "";
}
