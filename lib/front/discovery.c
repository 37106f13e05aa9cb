/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: groups, versions and resources, aggregated and one by one; health and version. */
#include "front/parts.h"

#include <string.h>

#include <grove/version.h>

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

static const char *const builtin_verbs[] = {
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", NULL};
static const char *const custom_verbs[] = {"delete", "deletecollection", "get",   "list", "patch",
                                           "create", "update",           "watch", NULL};

/* In the order that a server tells them in. */
static const char *const *verbs_of(grove_kind kind) {
    return grove_kind_is_custom(kind) ? custom_verbs : builtin_verbs;
}

/* A subresource, and how it is described. */
typedef struct sub_info {
    grove_subresource sub;
    const char *name;
    const char *group, *version, *kind; /* kind NULL: that of the object */
    const char *verbs[4];
} sub_info;

static const sub_info subs[] = {
    {GROVE_SUBRESOURCE_STATUS, "status", "", "", NULL, {"get", "patch", "update", NULL}},
    {GROVE_SUBRESOURCE_SCALE,
     "scale",
     "autoscaling",
     "v1",
     "Scale",
     {"get", "patch", "update", NULL}},
    {GROVE_SUBRESOURCE_BINDING, "binding", "", "v1", "Binding", {"create", NULL, NULL, NULL}},
    {GROVE_SUBRESOURCE_EVICTION,
     "eviction",
     "policy",
     "v1",
     "Eviction",
     {"create", NULL, NULL, NULL}},
};
#define N_SUBS (sizeof subs / sizeof *subs)

/* The first kind of each group and version stands for it. */
static bool leads_group(grove_kind kind, bool version_too) {
    for (grove_kind k = 1; k < kind; k++) {
        if (strcmp(grove_kind_group(k), grove_kind_group(kind)) == 0 &&
            (!version_too || strcmp(grove_kind_version(k), grove_kind_version(kind)) == 0)) {
            return false;
        }
    }
    return true;
}

static bool served_at(grove_kind kind, const char *group, const char *version) {
    return strcmp(grove_kind_group(kind), group) == 0 &&
           strcmp(grove_kind_version(kind), version) == 0;
}

static void put_words(grove_builder *b, const char *key, const char *const *words) {
    grove_builder_open_array(b, key);
    for (; *words; words++) {
        grove_builder_string(b, NULL, *words);
    }
    grove_builder_close(b);
}

static void put_short_names(grove_builder *b, grove_kind kind) {
    const char *names = grove_kind_short_names(kind);
    if (!names[0]) {
        return;
    }
    grove_builder_open_array(b, "shortNames");
    while (*names) {
        size_t n = strcspn(names, ",");
        grove_builder_stringn(b, NULL, names, n);
        names += n + (names[n] == ',');
    }
    grove_builder_close(b);
}

/* ---- aggregated ---- */

static void put_response_kind(grove_builder *b, const char *group, const char *version,
                              const char *kind) {
    grove_builder_open_object(b, "responseKind");
    grove_builder_string(b, "group", group);
    grove_builder_string(b, "version", version);
    grove_builder_string(b, "kind", kind);
    grove_builder_close(b);
}

static void put_aggregated_sub(grove_builder *b, grove_kind kind, const sub_info *sub) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "subresource", sub->name);
    if (sub->kind) {
        put_response_kind(b, sub->group, sub->version, sub->kind);
    } else {
        put_response_kind(b, grove_kind_group(kind), grove_kind_version(kind),
                          grove_kind_name(kind));
    }
    put_words(b, "verbs", sub->verbs);
    grove_builder_close(b);
}

static bool has_subs(grove_kind kind) {
    bool any = false;
    for (size_t i = 0; i < N_SUBS; i++) {
        any = any || grove_kind_has_subresource(kind, subs[i].sub);
    }
    return any;
}

static void put_aggregated_resource(grove_builder *b, grove_kind kind) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "resource", grove_kind_plural(kind));
    put_response_kind(b, grove_kind_group(kind), grove_kind_version(kind), grove_kind_name(kind));
    grove_builder_string(b, "scope", grove_kind_is_namespaced(kind) ? "Namespaced" : "Cluster");
    grove_builder_string(b, "singularResource", grove_kind_singular(kind));
    put_words(b, "verbs", verbs_of(kind));
    put_short_names(b, kind);
    if (has_subs(kind)) {
        grove_builder_open_array(b, "subresources");
        for (size_t i = 0; i < N_SUBS; i++) {
            if (grove_kind_has_subresource(kind, subs[i].sub)) {
                put_aggregated_sub(b, kind, &subs[i]);
            }
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_aggregated_version(grove_builder *b, grove_kind leader) {
    const char *group = grove_kind_group(leader), *version = grove_kind_version(leader);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "version", version);
    grove_builder_open_array(b, "resources");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (served_at(k, group, version)) {
            put_aggregated_resource(b, k);
        }
    }
    grove_builder_close(b);
    grove_builder_string(b, "freshness", "Current");
    grove_builder_close(b);
}

static void put_aggregated_group(grove_builder *b, grove_kind leader) {
    const char *group = grove_kind_group(leader);
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "metadata");
    if (group[0]) {
        grove_builder_string(b, "name", group);
    }
    grove_builder_close(b);
    grove_builder_open_array(b, "versions");
    for (grove_kind k = leader; k < GROVE_KIND_COUNT; k++) {
        if (strcmp(grove_kind_group(k), group) == 0 && leads_group(k, true)) {
            put_aggregated_version(b, k);
        }
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static void put_aggregated(grove_builder *b, bool core) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "APIGroupDiscoveryList");
    grove_builder_string(b, "apiVersion", "apidiscovery.k8s.io/v2");
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    grove_builder_open_array(b, "items");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (leads_group(k, false) && (grove_kind_group(k)[0] == '\0') == core) {
            put_aggregated_group(b, k);
        }
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

/* ---- one by one ---- */

static void put_group_version(grove_builder *b, const char *key, grove_kind kind) {
    char text[128] = "";
    size_t n = strlen(grove_kind_group(kind));
    memcpy(text, grove_kind_group(kind), n);
    text[n] = '/';
    memcpy(text + n + 1, grove_kind_version(kind), strlen(grove_kind_version(kind)) + 1);
    grove_builder_open_object(b, key);
    grove_builder_string(b, "groupVersion", text);
    grove_builder_string(b, "version", grove_kind_version(kind));
    grove_builder_close(b);
}

static void put_group(grove_builder *b, grove_kind leader, bool alone) {
    grove_builder_open_object(b, NULL);
    if (alone) {
        grove_builder_string(b, "kind", "APIGroup");
        grove_builder_string(b, "apiVersion", "v1");
    }
    grove_builder_string(b, "name", grove_kind_group(leader));
    grove_builder_open_array(b, "versions");
    for (grove_kind k = leader; k < GROVE_KIND_COUNT; k++) {
        if (strcmp(grove_kind_group(k), grove_kind_group(leader)) == 0 && leads_group(k, true)) {
            put_group_version(b, NULL, k);
        }
    }
    grove_builder_close(b);
    put_group_version(b, "preferredVersion", leader);
    grove_builder_close(b);
}

static void put_groups(grove_builder *b) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "APIGroupList");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_array(b, "groups");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (grove_kind_group(k)[0] && leads_group(k, false)) {
            put_group(b, k, false);
        }
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static void put_core_versions(grove_builder *b) {
    static const char *const versions[] = {"v1", NULL};
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "APIVersions");
    put_words(b, "versions", versions);
    grove_builder_open_array(b, "serverAddressByClientCIDRs");
    grove_builder_close(b);
    grove_builder_close(b);
}

static void put_sub(grove_builder *b, grove_kind kind, const sub_info *sub) {
    char name[96] = "";
    size_t n = strlen(grove_kind_plural(kind));
    memcpy(name, grove_kind_plural(kind), n);
    name[n] = '/';
    memcpy(name + n + 1, sub->name, strlen(sub->name) + 1);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", name);
    grove_builder_string(b, "singularName", "");
    grove_builder_bool(b, "namespaced", grove_kind_is_namespaced(kind));
    if (sub->kind && sub->group[0]) {
        grove_builder_string(b, "group", sub->group);
        grove_builder_string(b, "version", sub->version);
    }
    grove_builder_string(b, "kind", sub->kind ? sub->kind : grove_kind_name(kind));
    put_words(b, "verbs", sub->verbs);
    grove_builder_close(b);
}

static void put_resource(grove_builder *b, grove_kind kind) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", grove_kind_plural(kind));
    grove_builder_string(b, "singularName", grove_kind_singular(kind));
    grove_builder_bool(b, "namespaced", grove_kind_is_namespaced(kind));
    grove_builder_string(b, "kind", grove_kind_name(kind));
    put_words(b, "verbs", verbs_of(kind));
    put_short_names(b, kind);
    grove_builder_close(b);
    for (size_t i = 0; i < N_SUBS; i++) {
        if (grove_kind_has_subresource(kind, subs[i].sub)) {
            put_sub(b, kind, &subs[i]);
        }
    }
}

static void put_resources(grove_builder *b, grove_kind leader) {
    const char *group = grove_kind_group(leader), *version = grove_kind_version(leader);
    char text[128] = "";
    size_t n = strlen(group);
    memcpy(text, group, n);
    text[n] = '/';
    memcpy(text + n + 1, version, strlen(version) + 1);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "APIResourceList");
    if (n) {
        grove_builder_string(b, "apiVersion", "v1");
    }
    grove_builder_string(b, "groupVersion", n ? text : version);
    grove_builder_open_array(b, "resources");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (served_at(k, group, version)) {
            put_resource(b, k);
        }
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

/* The kind that stands for a group, or for a group and version. */
static grove_kind leader_of(const char *group, const char *version) {
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (strcmp(grove_kind_group(k), group) == 0 &&
            (!version || strcmp(grove_kind_version(k), version) == 0)) {
            return k;
        }
    }
    return GROVE_KIND_NONE;
}

/* ---- version ---- */

static void put_version(grove_builder *b) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "major", "1");
    grove_builder_string(b, "minor", "34");
    grove_builder_string(b, "gitVersion", "v1.34.0+libgrove." GROVE_VERSION_STRING);
    grove_builder_string(b, "gitCommit", "");
    grove_builder_string(b, "gitTreeState", "");
    grove_builder_string(b, "buildDate", "1970-01-01T00:00:00Z");
    grove_builder_string(b, "goVersion", "none");
    grove_builder_string(b, "compiler", "c");
    grove_builder_string(b, "platform", "any/any");
    grove_builder_close(b);
}

/* ---- which of them ---- */

/* false: the path is none of discovery. *aggregated: the answer's media type has parameters. */
static bool put_document(const gv_front_call *c, grove_builder *b, bool *aggregated) {
    const gv_front_path *p = &c->path;
    bool core = strcmp(p->seg[0], "api") == 0, groups = strcmp(p->seg[0], "apis") == 0;
    if (p->n == 1 && strcmp(p->seg[0], "version") == 0) {
        put_version(b);
        return true;
    }
    if (p->n == 1 && (core || groups)) {
        *aggregated = c->form == GV_FORM_DISCOVERY;
        if (*aggregated) {
            put_aggregated(b, core);
        } else if (core) {
            put_core_versions(b);
        } else {
            put_groups(b);
        }
        return true;
    }
    grove_kind leader = core && p->n == 2     ? leader_of("", p->seg[1])
                        : groups && p->n == 2 ? leader_of(p->seg[1], NULL)
                        : groups && p->n == 3 ? leader_of(p->seg[1], p->seg[2])
                                              : GROVE_KIND_NONE;
    if (leader == GROVE_KIND_NONE || (groups && !p->seg[1][0])) {
        return false;
    }
    if (groups && p->n == 2) {
        put_group(b, leader, true);
    } else {
        put_resources(b, leader);
    }
    return true;
}

static bool is_health(const gv_front_path *p) {
    return p->n == 1 && (strcmp(p->seg[0], "healthz") == 0 || strcmp(p->seg[0], "readyz") == 0 ||
                         strcmp(p->seg[0], "livez") == 0);
}

grove_status gv_front_discover(gv_front_call *c, bool *out_done) {
    *out_done = true;
    if (c->path.n > 0 && is_health(&c->path)) {
        return gv_front_text(c, 200, "ok");
    }
    if (c->path.n > 0 && strcmp(c->path.seg[0], "openapi") == 0) {
        return gv_front_openapi(c);
    }
    bool aggregated = false;
    grove_builder *b = NULL;
    grove_status st = c->path.n == 0 ? GROVE_OK : grove_builder_new(c->env, &b);
    *out_done = st == GROVE_OK && b && put_document(c, b, &aggregated);
    if (*out_done) {
        if (c->form == GV_FORM_NONE) { /* asked for another form only */
            st = gv_front_refuse(c, 406, "NotAcceptable", GV_DETAILS_NONE,
                                 "only the following media types are accepted: application/json, "
                                 "application/yaml");
        } else {
            st = gv_front_built(c, 200, b);
            c->res->content_type = aggregated ? AGGREGATED : c->res->content_type;
        }
    }
    grove_builder_free(b);
    return st;
}
