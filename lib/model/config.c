/* SPDX-License-Identifier: Apache-2.0 */
/* What the operator and the cluster are set to: reading it, and looking things up in it. */
#include "model/config.h"

#include <grove/version.h>

#include "base/codes.h"
#include "base/mem.h"
#include "model/kinds.h"
#include "value/doc.h"
#include "value/scalar.h"

#define DEFAULT_SCHEDULER "default-scheduler"
#define KAI_SCHEDULER "kai-scheduler"
#define DEFAULT_INITC_IMAGE "grove-initc:" GROVE_VERSION_STRING
#define OPERATOR_API "operator.config.grove.io/v1alpha1"

/* ---- life ---- */

static bool add_scheduler(grove_config *c, gv_str name, const grove_node *config) {
    gv_scheduler_profile p = {
        .name = gv_arena_dup(&c->arena, name),
        .config = config,
        .gang_scheduling = gv_node_get_bool(config, "gangScheduling"),
        .unplaced_too = gv_str_is(gv_node_get_str(config, "onNoFit"), "ReleaseForAutoscaler"),
        .preempts = !gv_str_is(gv_node_get_str(config, "preemptionPolicy"), "Never")};
    const grove_node *queues = grove_node_get(config, "queues");
    p.queues = grove_node_size(queues) > 0 ? queues : NULL;
    gv_str guard = gv_node_get_str(config, "starvationGuard");
    if (guard.n > 0 && gv_duration_parse(guard, &p.starving_ns, NULL) < 0) {
        p.starving_ns = 0; /* gv_config_check has refused it */
    }
    return p.name && gv_vec_push(c->env, &c->schedulers, p);
}

static grove_config *blank(grove_env *env) {
    grove_config *c = gv_zalloc(env, sizeof *c);
    if (!c) {
        return NULL;
    }
    gv_refs_init(&c->refs);
    c->env = grove_env_ref(env);
    gv_arena_init(&c->arena, env);
    gv_map_init(&c->bindings, env);
    gv_map_init(&c->priority_classes, env);
    gv_map_init(&c->claim_templates, env);
    gv_map_init(&c->queues, env);
    gv_map_init(&c->volumes, env);
    gv_map_init(&c->volume_claims, env);
    return c;
}

grove_status grove_config_new(grove_env *env, grove_config **out_config) {
    grove_config *c = blank(env);
    if (!c) {
        return GROVE_E_NOMEM;
    }
    c->topology_enabled = true;
    c->default_scheduler = gv_arena_dup(&c->arena, GV_STR(DEFAULT_SCHEDULER));
    c->initc_image = gv_arena_dup(&c->arena, GV_STR(DEFAULT_INITC_IMAGE));
    if (!c->default_scheduler || !c->initc_image ||
        !add_scheduler(c, GV_STR(DEFAULT_SCHEDULER), NULL) ||
        !add_scheduler(c, GV_STR(KAI_SCHEDULER), NULL)) {
        grove_config_unref(c);
        return GROVE_E_NOMEM;
    }
    *out_config = c;
    return GROVE_OK;
}

grove_status gv_config_layer(grove_config *below, grove_config **out_config) {
    grove_config *c = blank(below->env);
    if (!c) {
        return GROVE_E_NOMEM;
    }
    c->below = grove_config_ref(below);
    c->topology_enabled = below->topology_enabled;
    c->auto_mnnvl = below->auto_mnnvl;
    c->guard_scale = below->guard_scale;
    c->default_scheduler = below->default_scheduler;
    c->initc_image = below->initc_image;
    for (size_t i = 0; i < below->schedulers.n; i++) {
        if (!gv_vec_push(c->env, &c->schedulers, below->schedulers.v[i])) {
            grove_config_unref(c);
            return GROVE_E_NOMEM;
        }
    }
    *out_config = c;
    return GROVE_OK;
}

grove_config *grove_config_ref(grove_config *config) {
    gv_refs_up(&config->refs);
    return config;
}

void grove_config_unref(grove_config *config) {
    if (!config || !gv_refs_down(&config->refs)) {
        return;
    }
    grove_env *env = config->env;
    for (size_t i = 0; i < config->pinned.n; i++) {
        grove_doc_unref(config->pinned.v[i]);
    }
    gv_vec_fini(env, &config->pinned);
    gv_vec_fini(env, &config->schedulers);
    gv_map_fini(&config->bindings);
    gv_map_fini(&config->priority_classes);
    gv_map_fini(&config->claim_templates);
    gv_map_fini(&config->queues);
    gv_map_fini(&config->volumes);
    gv_map_fini(&config->volume_claims);
    gv_arena_fini(&config->arena);
    grove_config_unref(config->below);
    gv_free(env, config, sizeof *config);
    grove_env_unref(env);
}

/* ---- adding ---- */

/* The first error of the operator's check, with a word on how many there are. */
static grove_status refused(grove_error *err, const grove_diags *found) {
    const grove_diag *first = grove_diags_at(found, 0);
    uint32_t more = grove_diags_count(found) - 1;
    if (more == 0) {
        return gv_error_at(err, GROVE_E_REFUSED, first->line, first->column, first->path, "%s",
                           first->message);
    }
    return gv_error_at(err, GROVE_E_REFUSED, first->line, first->column, first->path,
                       "%s (and %u more)", first->message, (unsigned)more);
}

static grove_status check_operator(const grove_config *c, const grove_doc *doc,
                                   const grove_node *object, grove_error *err) {
    grove_diags *found = NULL;
    uint32_t errors = 0;
    if (grove_diags_new(c->env, &found) < 0) {
        return gv_error_nomem(err);
    }
    grove_status status = gv_config_check(doc, object, found, &errors);
    if (status < 0) {
        status = gv_error_nomem(err);
    } else if (errors > 0) {
        status = refused(err, found);
    }
    grove_diags_free(found);
    return status;
}

/* Profiles as the operator defaults them: none given forces default-scheduler, else it is appended. */
static bool set_schedulers(grove_config *c, const grove_node *scheduler) {
    const grove_node *profiles = grove_node_get(scheduler, "profiles");
    gv_str name = gv_node_get_str(scheduler, "defaultProfileName");
    c->schedulers.n = 0;
    if (grove_node_size(profiles) == 0 || name.n == 0) {
        name = GV_STR(DEFAULT_SCHEDULER);
    }
    GV_EACH(p, profiles) {
        if (!add_scheduler(c, gv_node_get_str(p, "name"), grove_node_get(p, "config"))) {
            return false;
        }
    }
    c->default_scheduler = gv_arena_dup(&c->arena, name);
    return c->default_scheduler && (gv_config_scheduler(c, GV_STR(DEFAULT_SCHEDULER)) ||
                                    add_scheduler(c, GV_STR(DEFAULT_SCHEDULER), NULL));
}

static grove_status add_operator(grove_config *c, const grove_doc *doc, const grove_node *object,
                                 grove_error *err) {
    grove_status status = check_operator(c, doc, object, err);
    if (status < 0) {
        return status;
    }
    c->topology_enabled = gv_node_get_bool(grove_node_get(object, "topologyAwareScheduling"),
                                           "enabled");
    c->auto_mnnvl = gv_node_get_bool(grove_node_get(object, "network"), "autoMNNVLEnabled");
    c->guard_scale = gv_str_is(gv_node_get_str(object, "guardScale"), "Deny");
    gv_str image = gv_node_get_str(grove_node_get(object, "initContainer"), "image");
    if (image.n > 0 && !(c->initc_image = gv_arena_dup(&c->arena, image))) {
        return gv_error_nomem(err);
    }
    return set_schedulers(c, grove_node_get(object, "scheduler")) ? GROVE_OK : gv_error_nomem(err);
}

static gv_str name_of(const grove_node *object) {
    return gv_node_get_str(grove_node_get(object, "metadata"), "name");
}

static grove_status add_binding(grove_config *c, const grove_node *object, grove_error *err) {
    const grove_node *levels = grove_node_get(grove_node_get(object, "spec"), "levels");
    gv_topology_binding *b = gv_arena_new(&c->arena, gv_topology_binding);
    uint32_t n = grove_node_size(levels);
    if (!b || !(b->levels = gv_arena_array(&c->arena, gv_topology_level, n + 1))) {
        return gv_error_nomem(err);
    }
    b->name = name_of(object);
    b->object = object;
    GV_EACH(level, levels) {
        b->levels[b->n_levels].domain = gv_node_get_str(level, "domain");
        b->levels[b->n_levels++].key = gv_node_get_str(level, "key");
    }
    return gv_map_put(&c->bindings, b->name, b) ? GROVE_OK : gv_error_nomem(err);
}

/* Maps hold plain pointers; nodes are only read through them. */
static bool put_node(gv_map *map, gv_str key, const grove_node *node) {
    return gv_map_put(map, key, (void *)(uintptr_t)node);
}

static grove_status add_namespaced(grove_config *c, gv_map *map, const grove_node *object,
                                   grove_error *err) {
    gv_str ns = gv_node_get_str(grove_node_get(object, "metadata"), "namespace");
    gv_str name = name_of(object);
    char *key = gv_arena_fmt(&c->arena, "%.*s/%.*s", (int)ns.n, ns.p, (int)name.n, name.p);
    return key && put_node(map, gv_str_c(key), object) ? GROVE_OK : gv_error_nomem(err);
}

/* What the planner has no use for but places depend on; *out_known: it was one of these. */
static grove_status add_volume(grove_config *c, const grove_node *object, bool *out_known,
                               grove_error *err) {
    gv_str kind = gv_node_get_str(object, "kind");
    bool core = gv_str_is(gv_node_get_str(object, "apiVersion"), "v1");
    *out_known = true;
    if (core && gv_str_is(kind, "PersistentVolume")) {
        return put_node(&c->volumes, name_of(object), object) ? GROVE_OK : gv_error_nomem(err);
    }
    if (core && gv_str_is(kind, "PersistentVolumeClaim")) {
        return add_namespaced(c, &c->volume_claims, object, err);
    }
    *out_known = false;
    return GROVE_OK;
}

static grove_status add_one(grove_config *c, const grove_doc *doc, const grove_node *object,
                            grove_error *err) {
    gv_str kind = gv_node_get_str(object, "kind");
    gv_str api_version = gv_node_get_str(object, "apiVersion");
    bool operator_api = gv_str_is(api_version, OPERATOR_API);
    bool untyped = kind.n == 0 && api_version.n == 0; /* assumed to be the operator's */
    if (untyped ||
        (gv_str_is(kind, "OperatorConfiguration") && (operator_api || api_version.n == 0))) {
        return add_operator(c, doc, object, err);
    }
    switch (gv_kind_of(object)) {
    case GV_KIND_CLUSTERTOPOLOGYBINDING:
        return add_binding(c, object, err);
    case GV_KIND_PRIORITYCLASS:
        return put_node(&c->priority_classes, name_of(object), object) ? GROVE_OK
                                                                       : gv_error_nomem(err);
    case GV_KIND_RESOURCECLAIMTEMPLATE:
        return add_namespaced(c, &c->claim_templates, object, err);
    case GV_KIND_VOLCANO_QUEUE:
        return put_node(&c->queues, name_of(object), object) ? GROVE_OK : gv_error_nomem(err);
    default:
        break;
    }
    bool known = false;
    grove_status st = add_volume(c, object, &known, err);
    if (known) {
        return st;
    }
    uint32_t line = 0, column = 0;
    grove_node_position(doc, object, &line, &column);
    return gv_error_at(err, GROVE_E_UNSUPPORTED, line, column, "kind",
                       "%.*s %.*s is no part of a configuration", (int)api_version.n, api_version.p,
                       (int)kind.n, kind.p);
}

/* A List (of any kind name), an array, or one object; lists may hold lists. */
static grove_status add_all(grove_config *c, const grove_doc *doc, const grove_node *object,
                            grove_error *err) {
    const grove_node *items = gv_node_is(object, GROVE_ARRAY) ? object
                                                              : grove_node_get(object, "items");
    if (!gv_node_is(items, GROVE_ARRAY)) {
        return add_one(c, doc, object, err);
    }
    GV_EACH(item, items) {
        grove_status status = gv_node_is_nothing(item) ? GROVE_OK : add_all(c, doc, item, err);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

grove_status grove_config_add(grove_config *config, grove_doc *doc, const grove_node *object,
                              grove_error *err) {
    if (!gv_vec_push(config->env, &config->pinned, doc)) {
        return gv_error_nomem(err);
    }
    grove_doc_ref(doc);
    return add_all(config, doc, object, err);
}

grove_status grove_config_load(grove_config *config, const char *text, size_t len,
                               grove_error *err) {
    grove_stream *stream = NULL;
    grove_status status = grove_stream_new(config->env, text, len, GROVE_PARSE_STRICT, &stream,
                                           err);
    while (status == GROVE_OK) {
        grove_doc *doc = NULL;
        status = grove_stream_next(stream, &doc, err);
        if (status < 0 || !doc) {
            break;
        }
        status = grove_config_add(config, doc, grove_doc_root(doc), err);
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    return status;
}

/* ---- looking up ---- */

const gv_scheduler_profile *gv_config_scheduler(const grove_config *config, gv_str name) {
    for (size_t i = 0; i < config->schedulers.n; i++) {
        if (gv_str_is(name, config->schedulers.v[i].name)) {
            return &config->schedulers.v[i];
        }
    }
    return NULL;
}

const gv_topology_binding *gv_config_binding(const grove_config *config, gv_str name) {
    const gv_topology_binding *found = gv_map_get(&config->bindings, name);
    return found || !config->below ? found : gv_config_binding(config->below, name);
}

int32_t gv_binding_level(const gv_topology_binding *binding, gv_str domain) {
    for (uint32_t i = 0; i < binding->n_levels; i++) {
        if (gv_str_eq(binding->levels[i].domain, domain)) {
            return (int32_t)i;
        }
    }
    return -1;
}

const grove_node *gv_config_priority_class(const grove_config *config, gv_str name) {
    const grove_node *found = gv_map_get(&config->priority_classes, name);
    return found || !config->below ? found : gv_config_priority_class(config->below, name);
}

/* namespace/name without building the key: the maps are small and asked seldom */
static const grove_node *find_namespaced(const gv_map *map, gv_str ns, gv_str name) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(map, &i));) {
        if (e->key_len == ns.n + 1 + name.n && memcmp(e->key, ns.p, ns.n) == 0 &&
            e->key[ns.n] == '/' && memcmp(e->key + ns.n + 1, name.p, name.n) == 0) {
            return e->value;
        }
    }
    return NULL;
}

const grove_node *gv_config_claim_template(const grove_config *config, gv_str ns, gv_str name) {
    const grove_node *found = find_namespaced(&config->claim_templates, ns, name);
    return found || !config->below ? found : gv_config_claim_template(config->below, ns, name);
}

const grove_node *gv_config_volume_claim(const grove_config *config, gv_str ns, gv_str name) {
    const grove_node *found = find_namespaced(&config->volume_claims, ns, name);
    return found || !config->below ? found : gv_config_volume_claim(config->below, ns, name);
}

const grove_node *gv_config_volume(const grove_config *config, gv_str name) {
    const grove_node *found = gv_map_get(&config->volumes, name);
    return found || !config->below ? found : gv_config_volume(config->below, name);
}

const grove_node *gv_config_queue(const grove_config *config, gv_str name) {
    const grove_node *found = gv_map_get(&config->queues, name);
    return found || !config->below ? found : gv_config_queue(config->below, name);
}
