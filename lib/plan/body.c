/* SPDX-License-Identifier: Apache-2.0 */
/* What the bodies of all children share: metadata, labels, owner; and which file builds which kind. */
#include "plan/body.h"

#include "base/mem.h"
#include "model/labels.h"
#include "value/build.h"

/* ---- labels and annotations ---- */

static bool grow(gv_pairs *p) {
    uint32_t cap = p->cap ? 2 * p->cap : 16;
    gv_pair *v = gv_arena_array(p->a, gv_pair, cap);
    if (!v) {
        p->failed = true;
        return false;
    }
    if (p->n) {
        memcpy(v, p->v, p->n * sizeof *v);
    }
    p->v = v;
    p->cap = cap;
    return true;
}

void gv_pairs_put(gv_pairs *p, const char *key, gv_str value) {
    gv_str k = gv_str_c(key);
    for (uint32_t i = 0; i < p->n; i++) {
        if (gv_str_eq(p->v[i].key, k)) {
            p->v[i].value = value;
            return;
        }
    }
    if (p->n < p->cap || grow(p)) {
        p->v[p->n++] = (gv_pair){k, value};
    }
}

void gv_pairs_put_index(gv_pairs *p, const char *key, int64_t value) {
    const char *text = gv_arena_fmt(p->a, "%lld", (long long)value);
    if (!text) {
        p->failed = true;
        return;
    }
    gv_pairs_put(p, key, gv_str_c(text));
}

void gv_pairs_put_all(gv_pairs *p, const grove_node *map) {
    for (const grove_node *m = grove_node_first(map); m; m = grove_node_next(map, m)) {
        gv_pairs_put(p, grove_node_key(m, NULL), gv_view_str(m));
    }
}

void gv_pairs_put_foreign(gv_pairs *p, const grove_node *map) {
    for (const grove_node *m = grove_node_first(map); m; m = grove_node_next(map, m)) {
        const char *key = grove_node_key(m, NULL);
        gv_str text = gv_str_c(key);
        if (!gv_str_starts(text, GV_STR(GV_OWN_PREFIX)) &&
            !gv_str_starts(text, GV_STR(GV_COND_OWN_PREFIX))) {
            gv_pairs_put(p, key, gv_view_str(m));
        }
    }
}

void gv_pairs_drop(gv_pairs *p, const char *key) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (gv_str_is(p->v[i].key, key)) {
            p->v[i] = p->v[--p->n];
            return;
        }
    }
}

void gv_pairs_write(gv_pairs *p, grove_builder *b, const char *key) {
    if (p->n == 0) {
        return;
    }
    for (uint32_t i = 1; i < p->n; i++) { /* a dozen entries: insertion sort */
        gv_pair one = p->v[i];
        uint32_t j = i;
        for (; j > 0 && gv_str_cmp(one.key, p->v[j - 1].key) < 0; j--) {
            p->v[j] = p->v[j - 1];
        }
        p->v[j] = one;
    }
    grove_builder_open_object(b, key);
    for (uint32_t i = 0; i < p->n; i++) {
        gv_write_str(b, p->v[i].key.p, p->v[i].value);
    }
    grove_builder_close(b);
}

/* ---- metadata ---- */

void gv_write_str(grove_builder *b, const char *key, gv_str s) {
    grove_builder_stringn(b, key, s.n ? s.p : "", s.n);
}

void gv_write_made(grove_builder *b, const char *key, const char *text) {
    if (!text) {
        gv_build_fail(b, GROVE_E_NOMEM, 0, 0, "out of memory");
    }
    grove_builder_string(b, key, text);
}

void gv_write_kind(grove_builder *b, gv_kind kind) {
    char version[96];
    grove_builder_string(b, "apiVersion", gv_kind_api_version(kind, version, sizeof version));
    grove_builder_string(b, "kind", gv_kind_get(kind)->name);
}

void gv_write_owner(grove_builder *b, gv_kind kind, gv_str name, gv_str uid) {
    grove_builder_open_array(b, "ownerReferences");
    grove_builder_open_object(b, NULL);
    gv_write_kind(b, kind);
    gv_write_str(b, "name", name);
    if (uid.n) {
        gv_write_str(b, "uid", uid);
    }
    grove_builder_bool(b, "controller", 1);
    grove_builder_bool(b, "blockOwnerDeletion", 1);
    grove_builder_close(b);
    grove_builder_close(b);
}

void gv_put_default_labels(gv_pairs *labels, gv_str set) {
    gv_pairs_put(labels, GV_LABEL_MANAGED_BY, GV_STR(GV_MANAGER));
    gv_pairs_put(labels, GV_LABEL_PART_OF, set);
}

static gv_kind owner_kind(gv_owner owner) {
    switch (owner) {
    case GV_OWNER_GROUP:
        return GV_KIND_PODCLIQUESCALINGGROUP;
    case GV_OWNER_CLIQUE:
        return GV_KIND_PODCLIQUE;
    case GV_OWNER_GANG:
        return GV_KIND_PODGANG;
    case GV_OWNER_SET:
        break;
    }
    return GV_KIND_PODCLIQUESET;
}

static gv_str owner_name(const gv_want *w, const gv_want_object *o) {
    switch (o->owner) {
    case GV_OWNER_GROUP:
        return w->groups[o->owner_index].name;
    case GV_OWNER_CLIQUE:
        return w->cliques[o->owner_index].name;
    case GV_OWNER_GANG:
        return w->gangs[o->owner_index].name;
    case GV_OWNER_SET:
        break;
    }
    return w->set;
}

/* A label value takes no colon: Roles and RoleBindings carry their name with hyphens. */
static gv_str name_as_label(gv_body *body) {
    gv_str name = body->o->name;
    char *text = gv_arena_dup(body->a, name);
    if (!text) {
        body->failed = true;
        return GV_STR("");
    }
    for (size_t i = 0; i < name.n; i++) {
        if (text[i] == ':') {
            text[i] = '-';
        }
    }
    return (gv_str){text, name.n};
}

static bool carries_name_label(gv_kind kind) {
    return kind != GV_KIND_PODGANG && kind != GV_KIND_RESOURCECLAIM;
}

void gv_body_open(gv_body *body, const char *finalizer) {
    const gv_want_object *o = body->o;
    grove_builder *b = body->b;
    gv_put_default_labels(&body->labels, body->w->set);
    gv_pairs_put(&body->labels, GV_LABEL_COMPONENT, gv_str_c(o->component));
    if (carries_name_label(o->kind)) {
        gv_pairs_put(&body->labels, GV_LABEL_NAME, name_as_label(body));
    }
    grove_builder_open_object(b, NULL);
    gv_write_kind(b, o->kind);
    grove_builder_open_object(b, "metadata");
    gv_write_str(b, "name", o->name);
    gv_write_str(b, "namespace", body->w->ns);
    gv_pairs_write(&body->labels, b, "labels");
    gv_pairs_write(&body->annotations, b, "annotations");
    if (finalizer) {
        grove_builder_open_array(b, "finalizers");
        grove_builder_string(b, NULL, finalizer);
        grove_builder_close(b);
    }
    gv_write_owner(b, owner_kind(o->owner), owner_name(body->w, o), body->args->owner_uid);
    grove_builder_close(b);
}

/* ---- which file builds which kind ---- */

static void build(gv_body *body) {
    switch (body->o->kind) {
    case GV_KIND_SERVICE:
        gv_build_service(body);
        break;
    case GV_KIND_SERVICEACCOUNT:
        gv_build_serviceaccount(body);
        break;
    case GV_KIND_ROLE:
        gv_build_role(body);
        break;
    case GV_KIND_ROLEBINDING:
        gv_build_rolebinding(body);
        break;
    case GV_KIND_SECRET:
        gv_build_secret(body);
        break;
    case GV_KIND_HPA:
        gv_build_hpa(body);
        break;
    case GV_KIND_RESOURCECLAIM:
        gv_build_claim(body);
        break;
    case GV_KIND_COMPUTEDOMAIN:
        gv_build_computedomain(body);
        break;
    case GV_KIND_CONTROLLERREVISION:
        gv_build_revision(body);
        break;
    case GV_KIND_PODCLIQUESCALINGGROUP:
        gv_build_scalinggroup(body);
        break;
    case GV_KIND_PODCLIQUE:
        gv_build_podclique(body);
        break;
    default:
        gv_build_podgang(body);
        break;
    }
    grove_builder_close(body->b);
}

grove_status gv_object_build(const gv_want *w, uint32_t object, const gv_body_args *args,
                             grove_builder *b, grove_error *err) {
    static const gv_body_args none = {{NULL, 0}, NULL, 0};
    const gv_want_object *o = &w->objects[object];
    const gv_template *t = o->replica < 0 || o->replica >= (int64_t)w->n_replicas
                               ? w->current
                               : w->replicas[o->replica].t;
    gv_arena a;
    gv_arena_init(&a, t->env);
    gv_body body = {.w = w,
                    .o = o,
                    .args = args ? args : &none,
                    .t = t,
                    .a = &a,
                    .b = b,
                    .labels = {.a = &a},
                    .annotations = {.a = &a}};
    grove_status s = GROVE_OK;
    if (o->owner == GV_OWNER_GANG) {
        grove_builder_open_object(b, NULL);
        s = t->gang_adapter->build(w, o->at, body.args->owner_uid, &a, b, err);
        grove_builder_close(b);
    } else {
        build(&body);
    }
    if (body.failed || body.labels.failed || body.annotations.failed) {
        s = gv_error_nomem(err);
    }
    gv_arena_fini(&a);
    return s;
}
