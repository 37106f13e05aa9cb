/* SPDX-License-Identifier: Apache-2.0 */
/* scale, binding, eviction. */
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/condition.h"
#include "sim/meta.h"
#include "sim/pdb.h"

/* ---- scale ---- */

/* Where a kind keeps the selector of the pods it scales. */
static const char *selector_member(gv_kind kind) {
    return kind == GV_KIND_PODCLIQUESCALINGGROUP ? "selector" : "hpaPodSelector";
}

static grove_status scale_doc(grove_sim *sim, const gv_sim_object *o, grove_doc **out_doc) {
    const grove_node *root = gv_sim_root(o);
    const grove_node *meta = grove_node_get(root, "metadata");
    const grove_node *status = grove_node_get(root, "status");
    static const char *const names[] = {"name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp"};
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "Scale");
    grove_builder_string(b, "apiVersion", "autoscaling/v1");
    grove_builder_open_object(b, "metadata");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (grove_node_get(meta, names[i])) {
            grove_builder_copy(b, names[i], grove_node_get(meta, names[i]));
        }
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "spec");
    grove_builder_int64(b, "replicas",
                        gv_node_get_int(grove_node_get(root, "spec"), "replicas", 0));
    grove_builder_close(b);
    grove_builder_open_object(b, "status");
    grove_builder_int64(b, "replicas", gv_node_get_int(status, "replicas", 0));
    gv_str selector = gv_node_get_str(status, selector_member(o->kind));
    if (selector.n > 0) {
        grove_builder_stringn(b, "selector", selector.p, selector.n);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

grove_status gv_sim_scale_get(gv_sim_call *c) {
    grove_doc *doc = NULL;
    grove_status st = scale_doc(c->sim, c->obj, &doc);
    return st < 0 ? st : gv_sim_answer(c, 200, doc);
}

static void copy_but(grove_builder *b, const grove_node *object, const char *except) {
    GV_EACH(m, object) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, except) != 0) {
            grove_builder_copy(b, key, m);
        }
    }
}

/* spec with another replicas, as a document. */
static grove_status scaled_spec(grove_sim *sim, const gv_sim_object *o, int64_t replicas,
                                grove_doc **out_doc) {
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    copy_but(b, grove_node_get(gv_sim_root(o), "spec"), "replicas");
    grove_builder_int64(b, "replicas", replicas);
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

/* A scale is reviewed with the whole object as it would be; what the review changes beside it is not taken. */
static grove_status review_scale(gv_sim_call *c, int64_t replicas) {
    grove_builder *b = c->sim->builder;
    grove_doc *patch = NULL, *scaled = NULL;
    if (!c->sim->options.admit) {
        return GROVE_OK;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "spec");
    grove_builder_int64(b, "replicas", replicas);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &patch, NULL);
    if (st == GROVE_OK) {
        st = grove_merge_patch_apply(c->obj->doc, gv_sim_root(c->obj), patch, grove_doc_root(patch),
                                     &scaled, NULL);
    }
    if (st == GROVE_OK) {
        st = gv_sim_admit(c, GROVE_VERB_REPLACE, &scaled);
    }
    grove_doc_unref(scaled);
    grove_doc_unref(patch);
    return st;
}

static grove_status set_replicas(gv_sim_call *c, int64_t replicas) {
    gv_sim_object *o = c->obj;
    const grove_node *spec = grove_node_get(gv_sim_root(o), "spec");
    if (replicas < 0 || replicas > INT32_MAX) {
        return gv_sim_invalid(c, ".spec.replicas", "FieldValueInvalid",
                              "Invalid value: should be a non-negative integer");
    }
    grove_status st = review_scale(c, replicas);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    if (c->dry_run || gv_node_get_int(spec, "replicas", -1) == replicas) {
        return gv_sim_scale_get(c);
    }
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    meta.generation += meta.generation > 0 ? 1 : 0;
    grove_doc *doc = NULL;
    gv_sim_parts parts = {0};
    st = scaled_spec(c->sim, o, replicas, &doc);
    if (st == GROVE_OK) {
        st = gv_sim_parts_of(c->sim, gv_sim_root(o), o, &parts);
    }
    if (st == GROVE_OK) {
        st = gv_sim_parts_set(c->sim, &parts, "spec", NULL, doc);
    }
    if (st == GROVE_OK) {
        st = gv_sim_update(c->sim, o, &meta, &parts);
    }
    gv_vec_fini(c->sim->env, &parts);
    grove_doc_unref(doc);
    return st < 0 ? st : gv_sim_scale_get(c);
}

grove_status gv_sim_scale_set(gv_sim_call *c) {
    return set_replicas(c, c->op->replicas);
}

/* A Scale that somebody sent or patched: only its version and spec.replicas count. */
static grove_status take_scale(gv_sim_call *c, const grove_node *scale) {
    char have[24];
    (void)gv_fmt(have, sizeof have, "%llu", (unsigned long long)c->obj->rv);
    gv_str rv = gv_node_get_str(grove_node_get(scale, "metadata"), "resourceVersion");
    if (rv.n > 0 && !gv_str_is(rv, have)) {
        return gv_sim_conflict(c, "the object has been modified; please apply your changes to the "
                                  "latest version and try again");
    }
    const grove_node *replicas = grove_node_get(grove_node_get(scale, "spec"), "replicas");
    int64_t n = 0;
    if (replicas && grove_node_int64(replicas, &n) < 0) {
        return gv_sim_bad_request(c, "spec.replicas is not an integer");
    }
    return set_replicas(c, n);
}

grove_status gv_sim_scale_write(gv_sim_call *c) {
    if (c->op->verb == GROVE_VERB_REPLACE) {
        return take_scale(c, c->body);
    }
    grove_doc *scale = NULL, *next = NULL;
    grove_status st = scale_doc(c->sim, c->obj, &scale);
    if (st == GROVE_OK) {
        st = gv_sim_patched(c, scale, grove_doc_root(scale), false, &next);
    }
    if (st == GROVE_OK && next) {
        st = take_scale(c, grove_doc_root(next));
    }
    grove_doc_unref(next);
    grove_doc_unref(scale);
    return st;
}

/* ---- binding ---- */

static grove_status bound_spec(grove_sim *sim, const gv_sim_object *o, const char *node,
                               grove_doc **out_doc) {
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    copy_but(b, grove_node_get(gv_sim_root(o), "spec"), "nodeName");
    grove_builder_string(b, "nodeName", node);
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

static grove_status scheduled_status(grove_sim *sim, const gv_sim_object *o, grove_doc **out_doc) {
    gv_sim_new_condition scheduled = {"PodScheduled", "True", NULL, NULL};
    const grove_node *root = gv_sim_root(o);
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    copy_but(b, grove_node_get(root, "status"), "conditions");
    gv_sim_build_conditions(sim, b, root, &scheduled, 1);
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

static grove_status bind(gv_sim_call *c) {
    grove_sim *sim = c->sim;
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(c->obj), &meta);
    grove_doc *spec = NULL, *status = NULL;
    gv_sim_parts parts = {0};
    grove_status st = bound_spec(sim, c->obj, c->op->target, &spec);
    if (st == GROVE_OK) {
        st = scheduled_status(sim, c->obj, &status);
    }
    if (st == GROVE_OK) {
        st = gv_sim_parts_of(sim, gv_sim_root(c->obj), c->obj, &parts);
    }
    if (st == GROVE_OK) {
        st = gv_sim_parts_set(sim, &parts, "spec", NULL, spec);
    }
    if (st == GROVE_OK) {
        st = gv_sim_parts_set(sim, &parts, "status", NULL, status);
    }
    if (st == GROVE_OK) {
        st = gv_sim_update(sim, c->obj, &meta, &parts);
    }
    gv_vec_fini(sim->env, &parts);
    grove_doc_unref(spec);
    grove_doc_unref(status);
    return st;
}

grove_status gv_sim_bind_op(gv_sim_call *c) {
    const grove_node *spec = grove_node_get(gv_sim_root(c->obj), "spec");
    char why[320];
    gv_str node = gv_node_get_str(spec, "nodeName");
    if (!c->op->target || !c->op->target[0]) {
        return gv_sim_invalid(c, "target.name", "FieldValueRequired", "Required value");
    }
    if (c->obj->dying) {
        (void)gv_fmt(why, sizeof why, "pod %s is being deleted, cannot be assigned to a host",
                     c->obj->name.p);
        return gv_sim_conflict(c, why);
    }
    if (node.n > 0) {
        (void)gv_fmt(why, sizeof why, "pod %s is already assigned to node \"%s\"", c->obj->name.p,
                     node.p);
        return gv_sim_conflict(c, why);
    }
    if (grove_node_size(grove_node_get(spec, "schedulingGates")) > 0) {
        (void)gv_fmt(why, sizeof why, "pod %s has non-empty .spec.schedulingGates", c->obj->name.p);
        return gv_sim_conflict(c, why);
    }
    grove_doc *status = NULL;
    grove_status st = gv_sim_success_doc(c, 201, (gv_str){"", 0}, &status);
    if (st == GROVE_OK && !c->dry_run) {
        st = bind(c);
    }
    if (st < 0) {
        grove_doc_unref(status);
        return st;
    }
    return gv_sim_answer(c, 201, status);
}

/* ---- eviction ---- */

/* Says why, then deletes with grace. */
static grove_status evict(gv_sim_call *c) {
    const gv_sim_new_condition why[] = {
        {"DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"}};
    grove_doc *status = NULL;
    grove_status st = gv_sim_success_doc(c, 201, (gv_str){"", 0}, &status);
    if (st == GROVE_OK) {
        st = gv_sim_set_conditions(c->sim, c->obj, why, 1);
    }
    if (st == GROVE_OK) {
        st = gv_sim_delete_object(c, c->op->grace_seconds, GROVE_PROPAGATION_DEFAULT);
    }
    if (st < 0 || gv_sim_refused(c)) {
        grove_doc_unref(status);
        return st;
    }
    grove_doc_unref(c->res->doc); /* an eviction does not show the pod */
    return gv_sim_answer(c, 201, status);
}

grove_status gv_sim_evict(gv_sim_call *c) {
    bool allowed = true;
    char why[256] = "";
    grove_status st = gv_sim_pdb_allows(c->sim, c->obj, &allowed, why, sizeof why);
    if (st < 0) {
        return st;
    }
    if (!allowed) {
        gv_sim_cause cause = {"DisruptionBudget", why, ""};
        return gv_sim_refuse(c, 429, "TooManyRequests", &cause,
                             "Cannot evict pod as it would violate the pod's disruption budget.");
    }
    return c->dry_run ? gv_sim_answer_success(c, 201, (gv_str){"", 0}) : evict(c);
}
