/* SPDX-License-Identifier: Apache-2.0 */
/* POST: names, namespaces, defaults, admission, the first version. */
#include "model/syntax.h"
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/defaults.h"
#include "sim/lease.h"
#include "sim/managers.h"
#include "sim/meta.h"
#include "sim/podcheck.h"

bool gv_sim_has_generation(gv_kind kind) {
    const gv_kind_info *info = gv_kind_get(kind);
    return info->custom || kind == GV_KIND_POD || kind == GV_KIND_PDB;
}

/* ---- names ---- */

/* Names of RBAC objects are path segments; all others are DNS subdomains, Services labels. */
static bool name_ok(gv_kind kind, gv_str name) {
    if (kind == GV_KIND_ROLE || kind == GV_KIND_ROLEBINDING) {
        return name.n > 0 && name.n <= 253 && !memchr(name.p, '/', name.n) &&
               !memchr(name.p, '%', name.n) && !gv_str_is(name, ".") && !gv_str_is(name, "..");
    }
    return kind == GV_KIND_SERVICE || kind == GV_KIND_NAMESPACE ? gv_syntax_label(name)
                                                                : gv_syntax_subdomain(name);
}

/* generateName plus five letters that spell no words; false when all tries were taken. */
static bool generate_name(gv_sim_call *c, gv_str stem, char out[254]) {
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    size_t n = stem.n > 248 ? 248 : stem.n;
    for (int tries = 0; tries < 8; tries++) {
        memcpy(out, stem.p, n);
        for (size_t i = 0; i < 5; i++) {
            out[n + i] = letters[gv_prng_below(&c->sim->prng, sizeof letters - 1)];
        }
        out[n + 5] = '\0';
        if (!gv_sim_find(c->sim, c->kind, c->ns, gv_str_c(out))) {
            return true;
        }
    }
    return false;
}

static grove_status choose_name(gv_sim_call *c, gv_sim_meta *meta, char generated[254]) {
    if (meta->name.n == 0 && c->name.n > 0) {
        meta->name = c->name;
    }
    if (c->name.n > 0 && !gv_str_eq(c->name, meta->name)) {
        return gv_sim_bad_request(c, "the name of the object (%.*s) is not the name asked for",
                                  (int)meta->name.n, meta->name.p);
    }
    if (meta->name.n == 0 && meta->generate_name.n == 0) {
        return gv_sim_invalid(c, "metadata.name", "FieldValueRequired",
                              "Required value: name or generateName is required");
    }
    if (meta->name.n == 0) {
        if (!generate_name(c, meta->generate_name, generated)) {
            return gv_sim_refuse(c, 409, "AlreadyExists", NULL, "no free name for generateName");
        }
        meta->name = gv_str_c(generated);
    }
    c->name = meta->name;
    if (!name_ok(c->kind, meta->name)) {
        return gv_sim_invalid(c, "metadata.name", "FieldValueInvalid",
                              "Invalid value: not a valid name for this kind");
    }
    return GROVE_OK;
}

/* ---- namespaces ---- */

static grove_status make_namespace(grove_sim *sim, gv_str name) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(sim->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "metadata");
    grove_builder_stringn(b, "name", name.p, name.n);
    grove_builder_close(b);
    grove_builder_close(b);
    st = grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    if (st == GROVE_OK) {
        grove_op op = {.size = sizeof op, .verb = GROVE_VERB_CREATE};
        op.kind = GROVE_KIND_NAMESPACE;
        op.body_doc = doc;
        op.grace_seconds = GROVE_GRACE_DEFAULT;
        grove_sim_result res = {.size = sizeof res};
        st = gv_sim_run(sim, &op, &res);
        grove_doc_unref(res.doc);
    }
    grove_doc_unref(doc);
    return st;
}

grove_status gv_sim_ensure_namespace(grove_sim *sim, gv_str name) {
    if (name.n == 0 || gv_sim_find(sim, GV_KIND_NAMESPACE, (gv_str){"", 0}, name)) {
        return GROVE_OK;
    }
    return make_namespace(sim, name);
}

static grove_status check_namespace(gv_sim_call *c) {
    if (!c->info->namespaced) {
        return GROVE_OK;
    }
    if (c->sim->options.flags & GROVE_SIM_AUTO_NAMESPACES) {
        grove_status st = gv_sim_ensure_namespace(c->sim, c->ns);
        if (st < 0) {
            return st;
        }
    }
    const gv_sim_object *ns = gv_sim_find(c->sim, GV_KIND_NAMESPACE, (gv_str){"", 0}, c->ns);
    if (!ns) {
        return gv_sim_refuse(c, 404, "NotFound", NULL, "namespaces \"%.*s\" not found",
                             (int)c->ns.n, c->ns.p);
    }
    if (ns->dying) {
        gv_sim_cause cause = {"NamespaceTerminating", "namespace is being terminated",
                              "metadata.namespace"};
        return gv_sim_refuse(c, 403, "Forbidden", &cause,
                             "%s \"%.*s\" is forbidden: namespace %.*s is being terminated",
                             c->info->plural, (int)c->name.n, c->name.p, (int)c->ns.n, c->ns.p);
    }
    return GROVE_OK;
}

/* ---- the body ---- */

static grove_status check_body(gv_sim_call *c, const grove_node *body) {
    if (grove_node_type(body) != GROVE_OBJECT) {
        return gv_sim_bad_request(c, "the body is not an object");
    }
    gv_str kind = gv_node_get_str(body, "kind");
    if (kind.n > 0 && gv_kind_of(body) != c->kind) {
        return gv_sim_bad_request(c, "%.*s cannot be handled as a %s", (int)kind.n, kind.p,
                                  c->info->name);
    }
    gv_str ns = gv_node_get_str(grove_node_get(body, "metadata"), "namespace");
    if (ns.n > 0 && (!c->info->namespaced || !gv_str_eq(ns, c->ns))) {
        return gv_sim_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    }
    if (gv_node_get_str(grove_node_get(body, "metadata"), "resourceVersion").n > 0) {
        return gv_sim_bad_request(c, "resourceVersion should not be set on objects to be created");
    }
    return GROVE_OK;
}

/* What the server itself checks of a kind. */
static grove_status check_kind(gv_sim_call *c, const grove_node *object) {
    if (c->kind == GV_KIND_POD) {
        return gv_sim_check_pod(c, grove_node_get(object, "spec"));
    }
    return c->kind == GV_KIND_LEASE ? gv_sim_check_lease(c, object) : GROVE_OK;
}

/* Meta as the server makes it for a new object. */
static void first_meta(gv_sim_call *c, gv_sim_meta *meta, const char *uid) {
    meta->ns = c->ns;
    meta->uid = gv_str_c(uid);
    meta->generation = gv_sim_has_generation(c->kind) ? 1 : 0;
    meta->created_ns = c->sim->now;
    meta->deleted_ns = GV_SIM_NO_TIME;
    meta->grace = -1;
    meta->managed = NULL;
}

static grove_status store_new(gv_sim_call *c, const gv_sim_meta *meta, gv_sim_parts *parts) {
    if (c->dry_run) {
        grove_doc *doc = NULL;
        grove_status st = gv_sim_compose(c->sim, c->kind, meta, parts, 0, &doc);
        return st < 0 ? st : gv_sim_answer(c, 201, doc);
    }
    grove_status st = gv_sim_insert(c->sim, c->kind, meta, parts, &c->obj);
    return st < 0 ? st : gv_sim_answer_object(c, 201, c->obj);
}

static grove_status store_admitted(gv_sim_call *c, grove_doc *doc, gv_str name) {
    char uid[40];
    gv_sim_parts parts = {0};
    gv_sim_meta meta;
    grove_doc *managed = NULL;
    gv_sim_meta_read(grove_doc_root(doc), &meta);
    meta.name = name;
    gv_sim_make_uid(c->sim, uid);
    first_meta(c, &meta, uid);
    grove_status st = gv_sim_parts_of(c->sim, grove_doc_root(doc), NULL, &parts);
    st = st < 0 ? st : gv_managers_track(c, NULL, NULL, &meta, &parts, &managed);
    st = st < 0 ? st : store_new(c, &meta, &parts);
    grove_doc_unref(managed);
    gv_vec_fini(c->sim->env, &parts);
    return st;
}

/* Names, admission, first version of a body whose defaults are set. */
static grove_status create_defaulted(gv_sim_call *c, grove_doc *doc) {
    gv_sim_meta meta;
    char generated[254];
    gv_sim_meta_read(grove_doc_root(doc), &meta);
    grove_status st = choose_name(c, &meta, generated);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    st = check_namespace(c);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    if (gv_sim_find(c->sim, c->kind, c->ns, c->name)) {
        return gv_sim_refuse(c, 409, "AlreadyExists", NULL, "%s%s%s \"%.*s\" already exists",
                             c->info->plural, c->info->group[0] ? "." : "", c->info->group,
                             (int)c->name.n, c->name.p);
    }
    st = check_kind(c, grove_doc_root(doc));
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    grove_doc *admitted = grove_doc_ref(doc);
    c->said = doc;
    st = gv_sim_admit(c, GROVE_VERB_CREATE, &admitted);
    if (st == GROVE_OK && !gv_sim_refused(c)) {
        st = store_admitted(c, admitted, meta.name);
    }
    c->said = NULL;
    grove_doc_unref(admitted);
    return st;
}

grove_status gv_sim_create(gv_sim_call *c, grove_doc *doc, const grove_node *body) {
    grove_status st = check_body(c, body);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    grove_doc *defaulted = NULL;
    gv_prng drawn = c->sim->prng;
    st = gv_sim_default_new(c->sim, c->kind, doc, body, &defaulted);
    if (st == GROVE_OK) {
        st = create_defaulted(c, defaulted);
        grove_doc_unref(defaulted);
    }
    if (st < 0 || gv_sim_refused(c) || c->dry_run) {
        c->sim->prng = drawn; /* what was not stored leaves no trace in later uids */
    }
    return st;
}
