/* SPDX-License-Identifier: Apache-2.0 */
/* The table cluster of the planner's tests: see cluster.h. */
#include "cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/text.h"
#include "value/scalar.h"

static void log_line(void *ctx, const grove_log_record *r) {
    (void)ctx;
    print_message("log: %s", r->message);
    for (uint32_t i = 0; i < r->n_fields; i++) {
        print_message(" %s=%s", r->fields[i].key, r->fields[i].value);
    }
    print_message("\n");
}

void cluster_open(cluster *c, const char *set) {
    memset(c, 0, sizeof *c);
    grove_env_options options = {.size = sizeof options, .log = log_line};
    oom_memory_init(&c->memory); /* never refuses here: it counts, and nothing it gives is zero */
    c->env = oom_env(&c->memory, &options);
    assert_int_equal(grove_store_new(c->env, &c->store), 0);
    assert_int_equal(grove_planner_new(c->env, &c->planner), 0);
    c->set = set;
    c->ns = "t";
    c->now = INT64_C(1800000000) * 1000000000;
    c->version = 100;
}

void cluster_close(cluster *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        grove_doc_unref(c->objects[i].doc);
    }
    free(c->objects);
    grove_planner_free(c->planner);
    grove_store_free(c->store);
    grove_config_unref(c->config);
    grove_env_unref(c->env);
    assert_int_equal(c->memory.live_blocks, 0);
}

/* ---- objects ---- */

object *cluster_get(cluster *c, gv_kind kind, const char *name) {
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        if (!o->gone && o->kind == kind && strcmp(o->name, name) == 0) {
            return o;
        }
    }
    return NULL;
}

static const grove_node *at(const object *o, const char *pointer) {
    return o ? grove_node_at_path(grove_doc_root(o->doc), pointer) : NULL;
}

const grove_node *cluster_node(cluster *c, gv_kind kind, const char *name, const char *pointer) {
    return at(cluster_get(c, kind, name), pointer);
}

int64_t cluster_int(cluster *c, gv_kind kind, const char *name, const char *pointer) {
    int64_t v = -1;
    return grove_node_int64(cluster_node(c, kind, name, pointer), &v) == GROVE_OK ? v : -1;
}

const char *cluster_text(cluster *c, gv_kind kind, const char *name, const char *pointer) {
    const char *t = grove_node_text(cluster_node(c, kind, name, pointer));
    return t ? t : "";
}

static const grove_node *condition(cluster *c, gv_kind kind, const char *name, const char *type) {
    return gv_condition_find(cluster_node(c, kind, name, "/status/conditions"), type);
}

const char *cluster_condition(cluster *c, gv_kind kind, const char *name, const char *type) {
    const char *t = grove_node_text(grove_node_get(condition(c, kind, name, type), "status"));
    return t ? t : "";
}

const char *cluster_reason(cluster *c, gv_kind kind, const char *name, const char *type) {
    const char *t = grove_node_text(grove_node_get(condition(c, kind, name, type), "reason"));
    return t ? t : "";
}

uint32_t cluster_count(cluster *c, gv_kind kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        n += !c->objects[i].gone && c->objects[i].kind == kind ? 1 : 0;
    }
    return n;
}

static grove_doc *parse(cluster *c, const char *text, bool yaml) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status s = yaml ? grove_doc_parse_yaml(c->env, text, strlen(text), 0, &doc, &err)
                          : grove_doc_parse_json(c->env, text, strlen(text), 0, &doc, &err);
    if (s < 0) {
        print_message("%s\n%s\n", err.message, text);
    }
    assert_int_equal(s, 0);
    return doc;
}

static grove_doc *merged(grove_doc *doc, grove_doc *patch) {
    grove_doc *out = NULL;
    assert_int_equal(
        grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &out, NULL),
        0);
    return out;
}

static void stamp(cluster *c, object *o, bool fresh, bool bump) {
    char text[512], time[64] = "";
    const char *ns = gv_kind_get(o->kind)->namespaced ? "\"namespace\":\"t\"," : "";
    int64_t generation = 0;
    grove_node_int64(at(o, "/metadata/generation"), &generation);
    if (fresh) {
        grove_buf b;
        grove_buf_init(&b, c->env);
        gv_time_format(c->now, &b);
        snprintf(time, sizeof time, "\"creationTimestamp\":\"%s\",\"uid\":\"%s\",", b.data, o->uid);
        grove_buf_fini(&b);
    }
    snprintf(text, sizeof text,
             "{\"metadata\":{%s%s\"resourceVersion\":\"%llu\",\"generation\":%lld}}", time, ns,
             (unsigned long long)++c->version, (long long)(generation + (bump ? 1 : 0)));
    grove_doc *patch = parse(c, text, false);
    grove_doc *next = merged(o->doc, patch);
    grove_doc_unref(patch);
    grove_doc_unref(o->doc);
    o->doc = next;
}

static void tell(cluster *c, const object *o) {
    grove_error err = GROVE_ERROR_INIT;
    grove_status s = o->gone ? grove_store_remove(c->store, grove_doc_root(o->doc), &err)
                             : grove_store_put(c->store, o->doc, grove_doc_root(o->doc), &err);
    assert_int_equal(s, 0);
}

static object *new_object(cluster *c, grove_doc *doc) {
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->objects = realloc(c->objects, c->cap * sizeof *c->objects);
        assert_non_null(c->objects);
    }
    object *o = &c->objects[c->n++];
    memset(o, 0, sizeof *o);
    o->kind = gv_kind_of(grove_doc_root(doc));
    assert_int_not_equal(o->kind, GV_KIND_NONE);
    o->doc = doc;
    snprintf(o->name, sizeof o->name, "%s",
             grove_node_text(grove_node_at_path(grove_doc_root(doc), "/metadata/name")));
    return o;
}

static void create(cluster *c, grove_doc *doc) {
    object *o = new_object(c, doc);
    snprintf(o->uid, sizeof o->uid, "uid-%llu", (unsigned long long)++c->next_uid);
    stamp(c, o, true, true);
    tell(c, o);
}

void cluster_load(cluster *c, const char *json) {
    grove_doc *list = parse(c, json, false);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *n = grove_node_first(items); n; n = grove_node_next(items, n)) {
        grove_builder *b = NULL;
        grove_doc *doc = NULL;
        assert_int_equal(grove_builder_new(c->env, &b), 0);
        grove_builder_copy(b, NULL, n);
        assert_int_equal(grove_builder_finish(b, &doc, NULL), 0);
        grove_builder_free(b);
        object *o = new_object(c, doc);
        snprintf(o->uid, sizeof o->uid, "%s", grove_node_text(at(o, "/metadata/uid")));
        tell(c, o);
    }
    c->version = 1000000; /* beyond what was loaded */
    grove_doc_unref(list);
}

void cluster_add(cluster *c, const char *yaml) {
    create(c, parse(c, yaml, true));
}

static bool held(const object *o) {
    return grove_node_size(at(o, "/metadata/finalizers")) > 0;
}
static bool dying(const object *o) {
    return at(o, "/metadata/deletionTimestamp") != NULL;
}

/* Replaces the document; ends the object when nothing holds it any more. */
static void replace(cluster *c, object *o, grove_doc *next, bool status) {
    bool bump = !status &&
                !grove_node_equal(grove_node_get(grove_doc_root(next), "spec"), at(o, "/spec"));
    grove_doc_unref(o->doc);
    o->doc = next;
    stamp(c, o, false, bump);
    o->gone = dying(o) && !held(o);
    tell(c, o);
}

void cluster_merge(cluster *c, gv_kind kind, const char *name, const char *json) {
    object *o = cluster_get(c, kind, name);
    assert_non_null(o);
    grove_doc *patch = parse(c, json, false);
    replace(c, o, merged(o->doc, patch), grove_node_get(grove_doc_root(patch), "status") != NULL);
    grove_doc_unref(patch);
}

void cluster_patch(cluster *c, gv_kind kind, const char *name, const char *json) {
    object *o = cluster_get(c, kind, name);
    assert_non_null(o);
    grove_doc *patch = parse(c, json, false), *next = NULL;
    assert_int_equal(grove_json_patch_apply(o->doc, grove_doc_root(o->doc), patch,
                                            grove_doc_root(patch), &next, NULL),
                     0);
    replace(c, o, next, false);
    grove_doc_unref(patch);
}

static void remove_object(cluster *c, object *o) {
    if (held(o)) {
        if (!dying(o)) {
            cluster_merge(c, o->kind, o->name,
                          "{\"metadata\":{\"deletionTimestamp\":\"2027-01-15T08:00:00Z\"}}");
        }
        return;
    }
    stamp(c, o, false, false);
    o->gone = true;
    tell(c, o);
}

void cluster_delete(cluster *c, gv_kind kind, const char *name) {
    object *o = cluster_get(c, kind, name);
    assert_non_null(o);
    remove_object(c, o);
}

/* What the cluster's garbage collector does: children of a gone controller go. */
static void collect(cluster *c) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < c->n; i++) {
            object *o = &c->objects[i];
            const char *owner = grove_node_text(at(o, "/metadata/ownerReferences/0/uid"));
            if (o->gone || owner == NULL || dying(o)) {
                continue;
            }
            bool lives = false;
            for (uint32_t k = 0; k < c->n && !lives; k++) {
                lives = !c->objects[k].gone && strcmp(c->objects[k].uid, owner) == 0;
            }
            if (!lives) {
                remove_object(c, o);
                again = true;
            }
        }
    }
}

/* ---- pods ---- */

object *cluster_pod(cluster *c, const char *clique, int index) {
    char want[16];
    snprintf(want, sizeof want, "%d", index);
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        if (o->gone || o->kind != GV_KIND_POD || dying(o)) {
            continue;
        }
        const char *of = grove_node_text(at(o, "/metadata/labels/grove.io~1podclique"));
        const char *no = grove_node_text(at(o, "/metadata/labels/grove.io~1podclique-pod-index"));
        if (of && no && strcmp(of, clique) == 0 && strcmp(no, want) == 0) {
            return o;
        }
    }
    return NULL;
}

bool cluster_gated(const object *pod) {
    return grove_node_size(at(pod, "/spec/schedulingGates")) > 0;
}

void cluster_bind(cluster *c, object *pod) {
    cluster_merge(
        c, GV_KIND_POD, pod->name,
        "{\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Pending\",\"conditions\":["
        "{\"type\":\"PodScheduled\",\"status\":\"True\"}]}}");
}

void cluster_ready(cluster *c, object *pod, bool ready) {
    const char *t =
        ready ? "{\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\",\"conditions\":["
                "{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\","
                "\"status\":\"True\"}],\"containerStatuses\":[{\"name\":\"c\",\"started\":"
                "true,\"ready\":true}]}}"
              : "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
                "\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":"
                "\"False\"}],\"containerStatuses\":[{\"name\":\"c\",\"started\":true,"
                "\"ready\":false}]}}";
    cluster_merge(c, GV_KIND_POD, pod->name, t);
}

static bool is_ready(const object *o) {
    const grove_node *r = gv_condition_find(at(o, "/status/conditions"), "Ready");
    const char *s = grove_node_text(grove_node_get(r, "status"));
    return s && strcmp(s, "True") == 0;
}

bool cluster_ended(const object *pod) {
    const char *phase = grove_node_text(at(pod, "/status/phase"));
    return phase && (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0);
}

static uint32_t run_pods(cluster *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        if (!o->gone && o->kind == GV_KIND_POD && !dying(o) && !cluster_ended(o) &&
            !cluster_gated(o) && !is_ready(o)) {
            cluster_ready(c, o, true);
            n++;
        }
    }
    return n;
}

void cluster_run_pods(cluster *c) {
    run_pods(c);
}

/* ---- planning and applying ---- */

grove_plan_request cluster_request(const cluster *c) {
    return (grove_plan_request){.size = sizeof(grove_plan_request),
                                .ns = c->ns,
                                .name = c->set,
                                .config = c->config,
                                .placements = c->placements,
                                .n_placements = c->n_placements,
                                .refusals = c->refusals,
                                .n_refusals = c->n_refusals,
                                .now_ns = c->now};
}

grove_plan *cluster_plan(cluster *c) {
    grove_plan_request rq = cluster_request(c);
    grove_plan *plan = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status s = grove_plan_make(c->planner, c->store, &rq, &plan, &err);
    if (s < 0) {
        print_message("plan: %s: %s\n", grove_status_name(s), err.message);
    }
    assert_int_equal(s, 0);
    return plan;
}

static void apply_patch(cluster *c, const grove_action *a, object *o) {
    grove_doc *next = NULL;
    grove_error err = GROVE_ERROR_INIT;
    const grove_node *body = grove_doc_root(a->body);
    if (a->resource_version[0]) {
        assert_string_equal(grove_node_text(at(o, "/metadata/resourceVersion")),
                            a->resource_version);
    }
    if (a->patch_type == GROVE_PATCH_JSON) {
        grove_status s = grove_json_patch_apply(o->doc, grove_doc_root(o->doc), a->body, body,
                                                &next, &err);
        assert_int_equal(s, 0);
    } else {
        next = merged(o->doc, a->body);
        /* No write that changes nothing. */
        assert_false(grove_node_equal(grove_doc_root(next), grove_doc_root(o->doc)));
    }
    c->gates += a->kind == GROVE_KIND_POD ? 1 : 0;
    replace(c, o, next, a->subresource == GROVE_SUBRESOURCE_STATUS);
}

static void apply(cluster *c, const grove_action *a) {
    if (getenv("PLAN_TRACE")) {
        print_message("  [%d] %s %s%s\n", a->order, a->text,
                      a->subresource == GROVE_SUBRESOURCE_STATUS ? " " : "", a->reason);
    }
    object *o = cluster_get(c, (gv_kind)a->kind, a->name);
    if (a->verb == GROVE_VERB_CREATE) {
        assert_null(o);
        c->creates++;
        create(c, grove_doc_ref(a->body));
        return;
    }
    if (a->verb == GROVE_VERB_EVENT) {
        c->events++;
        snprintf(c->last_event, sizeof c->last_event, "%s", a->reason);
        return;
    }
    assert_non_null(o);
    assert_string_equal(a->uid, o->uid);
    if (a->verb == GROVE_VERB_DELETE) {
        c->deletes++;
        remove_object(c, o);
    } else if (a->verb == GROVE_VERB_BIND) {
        c->binds++;
        cluster_bind(c, o);
    } else {
        assert_int_equal(a->verb, GROVE_VERB_PATCH);
        c->patches++;
        apply_patch(c, a, o);
    }
}

static void assert_same(const grove_plan *a, const grove_plan *b, cluster *c) {
    grove_buf x, y;
    grove_buf_init(&x, c->env);
    grove_buf_init(&y, c->env);
    assert_int_equal(grove_plan_write_json(a, 0, &x, NULL), 0);
    assert_int_equal(grove_plan_write_json(b, 0, &y, NULL), 0);
    assert_string_equal(x.data, y.data);
    grove_buf_fini(&x);
    grove_buf_fini(&y);
}

uint32_t cluster_round(cluster *c) {
    grove_plan *plan = cluster_plan(c), *again = cluster_plan(c);
    assert_same(plan, again, c);
    grove_plan_unref(again);
    uint32_t n = 0;
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        const grove_action *a = grove_plan_action(plan, i);
        n += a->verb != GROVE_VERB_EVENT ? 1 : 0;
        bool lost = c->drop != NULL && c->keep_permille > 0 &&
                    gv_prng_below(c->drop, 1000) >= c->keep_permille;
        if (!lost) {
            apply(c, a);
        }
    }
    grove_plan_unref(plan);
    collect(c);
    c->now += 100000000;
    return n;
}

uint32_t cluster_settle(cluster *c, uint32_t most) {
    for (uint32_t round = 0; round < most; round++) {
        if (getenv("PLAN_TRACE")) {
            print_message("round %u\n", round);
        }
        if (cluster_round(c) == 0) {
            assert_int_equal(cluster_round(c), 0);
            return round;
        }
    }
    fail_msg("no empty plan after %u rounds", most);
    return most;
}

void cluster_live(cluster *c, uint32_t most) {
    for (uint32_t i = 0; i < most; i++) {
        cluster_settle(c, most);
        if (run_pods(c) == 0) {
            return;
        }
    }
    fail_msg("pods and plan do not come to rest in %u turns", most);
}

bool cluster_waits(cluster *c, const char *reason, const char *name, int64_t *out_deadline) {
    grove_plan *plan = cluster_plan(c);
    bool found = false;
    for (uint32_t i = 0; i < grove_plan_waits(plan) && !found; i++) {
        const grove_wait *w = grove_plan_wait(plan, i);
        found = strcmp(w->reason, reason) == 0 && (name == NULL || strcmp(w->name, name) == 0);
        if (found && out_deadline != NULL) {
            *out_deadline = w->deadline_ns;
        }
    }
    grove_plan_unref(plan);
    return found;
}

void cluster_dump(cluster *c) {
    grove_buf b;
    grove_buf_init(&b, c->env);
    for (uint32_t i = 0; i < c->n; i++) {
        const object *o = &c->objects[i];
        if (!o->gone && (o->kind <= GV_KIND_PODGANG || o->kind == GV_KIND_POD)) {
            grove_buf_clear(&b);
            grove_node_write_json(at(o, "/status"), 0, &b, NULL);
            int64_t replicas = -1;
            grove_node_int64(at(o, "/spec/replicas"), &replicas);
            print_message("%s %s replicas %d %s%s\n", gv_kind_get(o->kind)->name, o->name,
                          (int)replicas, dying(o) ? "dying " : "", b.data ? b.data : "");
        }
    }
    grove_plan *plan = cluster_plan(c);
    grove_buf_clear(&b);
    grove_plan_explain(plan, GROVE_KIND_NONE, NULL, c->now, &b, NULL);
    print_message("%s\n", b.data ? b.data : "");
    grove_plan_unref(plan);
    grove_buf_fini(&b);
}
