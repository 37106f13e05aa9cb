/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for one clique template, in the order a cluster reports them. */
#include "admission/rules.h"
#include "model/syntax.h"
#include "value/doc.h"

#define NAME_BUDGET 45
#define ANNOTATIONS_MAX 262144

static void check_name(gv_rules *r, const grove_node *clique, uint32_t i) {
    const grove_node *node = grove_node_get(clique, "name");
    gv_str name = gv_node_str(node);
    if (gv_syntax_blank(name)) {
        gv_rules_error(r, GV_CODE_CLIQUE_NAME, "Required", node ? node : clique,
                       gv_clique_path(i, ".name"), "a clique needs a name");
        return;
    }
    if (!gv_syntax_subdomain(name)) {
        gv_rules_error(r, GV_CODE_CLIQUE_NAME, "Invalid", node, gv_clique_path(i, ".name"),
                       "\"%.*s\" is not a DNS-1123 subdomain (a-z, 0-9, '-' and '.')", (int)name.n,
                       name.p);
    }
    size_t length = r->set_name.n + name.n;
    if (!gv_map_has(&r->member_of, name) && length > NAME_BUDGET) {
        const char *why = "names of set and clique may have %u bytes together, not %u";
        gv_rules_error(r, GV_CODE_NAME_BUDGET, "Invalid", node, gv_clique_path(i, ".name"), why,
                       NAME_BUDGET, (unsigned)length);
        gv_rules_error(r, GV_CODE_NAME_BUDGET, "Invalid", gv_node_path(r->root, "metadata.name"),
                       gv_path_fmt("metadata.name"), why, NAME_BUDGET, (unsigned)length);
    }
}

static void check_labels(gv_rules *r, const grove_node *clique, uint32_t i) {
    GV_EACH(value, grove_node_get(clique, "labels")) {
        gv_str key = gv_node_key(value), text = gv_node_str(value);
        if (!gv_syntax_qualified(key)) {
            gv_rules_error(r, GV_CODE_CLIQUE_LABELS, "Invalid", value, gv_clique_path(i, ".labels"),
                           "\"%.*s\" is not a label key", (int)key.n, key.p);
        }
        if (!gv_syntax_label_value(text)) {
            gv_rules_error(r, GV_CODE_CLIQUE_LABELS, "Invalid", value, gv_clique_path(i, ".labels"),
                           "\"%.*s\" is not a label value (63 letters, digits, '-', '_', '.')",
                           (int)text.n, text.p);
        }
    }
}

/* Annotation keys are judged in lower case. */
static bool is_annotation_key(gv_str key) {
    char lower[320];
    if (key.n > sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return gv_syntax_qualified((gv_str){lower, key.n});
}

static void check_annotations(gv_rules *r, const grove_node *clique, uint32_t i) {
    const grove_node *annotations = grove_node_get(clique, "annotations");
    size_t bytes = 0;
    GV_EACH(value, annotations) {
        gv_str key = gv_node_key(value);
        bytes += key.n + gv_node_str(value).n;
        if (!is_annotation_key(key)) {
            gv_rules_error(r, GV_CODE_CLIQUE_ANNOTATIONS, "Invalid", value,
                           gv_clique_path(i, ".annotations"), "\"%.*s\" is not an annotation key",
                           (int)key.n, key.p);
        }
    }
    if (bytes > ANNOTATIONS_MAX) {
        gv_rules_error(r, GV_CODE_CLIQUE_ANNOTATIONS, "TooLong", annotations,
                       gv_clique_path(i, ".annotations"), "annotations may have %u bytes, not %llu",
                       ANNOTATIONS_MAX, (unsigned long long)bytes);
    }
}

static void check_counts(gv_rules *r, const grove_node *spec, uint32_t i) {
    const grove_node *min = grove_node_get(spec, "minAvailable");
    int64_t replicas = gv_node_get_int(spec, "replicas", 0),
            least = gv_node_get_int(spec, "minAvailable", 0);
    if (replicas <= 0) {
        gv_rules_error(r, GV_CODE_REPLICAS, "Invalid", grove_node_get(spec, "replicas"),
                       gv_clique_path(i, ".spec.replicas"), "replicas must be greater than 0");
    }
    if (!min) {
        gv_rules_error(r, GV_CODE_MIN_AVAILABLE, "Required", spec,
                       gv_clique_path(i, ".spec.minAvailable"), "minAvailable must be set");
        return;
    }
    if (least <= 0) {
        gv_rules_error(
            r, GV_CODE_MIN_AVAILABLE, "Invalid", min, gv_clique_path(i, ".spec.minAvailable"),
            "minAvailable must be greater than 0%s",
            grove_node_is_defaulted(min) ? " (it defaults to the replicas as given)" : "");
    }
    if (least > replicas) {
        gv_rules_error(r, GV_CODE_MIN_AVAILABLE, "Invalid", min,
                       gv_clique_path(i, ".spec.minAvailable"),
                       "minAvailable %lld is more than the %lld replicas", (long long)least,
                       (long long)replicas);
    }
}

static void check_starts_after(gv_rules *r, const grove_node *clique, uint32_t i) {
    if (!gv_str_is(gv_node_get_str(r->tmpl, "cliqueStartupType"), "CliqueStartupTypeExplicit")) {
        return;
    }
    const grove_node *after = gv_node_path(clique, "spec.startsAfter");
    gv_path path = gv_clique_path(i, ".spec.startsAfter");
    gv_str own = gv_node_get_str(clique, "name");
    GV_EACH(entry, after) {
        gv_str name = gv_node_str(entry);
        if (gv_syntax_blank(name)) {
            gv_rules_error(r, GV_CODE_STARTS_AFTER_BLANK, "Required", entry, path,
                           "an entry of startsAfter must name a clique");
        }
        if (gv_str_eq(name, own)) {
            gv_rules_error(r, GV_CODE_STARTS_AFTER_SELF, "Invalid", entry, path,
                           "a clique cannot start after itself");
        }
    }
    grove_buf twice;
    grove_buf_init(&twice, r->env);
    if (gv_repeated(r, after, NULL, &twice)) {
        gv_rules_error(r, GV_CODE_STARTS_AFTER_TWICE, "Duplicate", after, path,
                       "named more than once: %s", gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
}

static void check_autoscaling(gv_rules *r, const grove_node *spec, uint32_t i) {
    const grove_node *scale = grove_node_get(spec, "autoScalingConfig");
    const grove_node *floor = grove_node_get(scale, "minReplicas");
    if (!scale) {
        return;
    }
    gv_path max_path = gv_clique_path(i, ".spec.autoScalingConfig.maxReplicas");
    gv_path min_path = gv_clique_path(i, ".spec.autoScalingConfig.minReplicas");
    const grove_node *ceiling = grove_node_get(scale, "maxReplicas");
    int64_t max = gv_node_get_int(scale, "maxReplicas", 0);
    int64_t replicas = gv_node_get_int(spec, "replicas", 0);
    if (!floor) {
        gv_rules_error(r, GV_CODE_SCALE_MIN, "Required", scale, min_path,
                       "minReplicas must be set");
    } else {
        int64_t min = gv_node_get_int(scale, "minReplicas", 0);
        int64_t least = gv_node_get_int(spec, "minAvailable", 0);
        if (min < least) {
            gv_rules_error(r, GV_CODE_SCALE_MIN, "Invalid", floor, min_path,
                           "the autoscaler may not go below minAvailable %lld", (long long)least);
        }
        if (max < min) {
            gv_rules_error(r, GV_CODE_SCALE_MAX, "Invalid", ceiling ? ceiling : scale, max_path,
                           "maxReplicas %lld is less than minReplicas %lld", (long long)max,
                           (long long)min);
        }
    }
    if (max < replicas) {
        gv_rules_error(r, GV_CODE_SCALE_MAX, "Invalid", ceiling ? ceiling : scale, max_path,
                       "maxReplicas %lld is less than the %lld replicas", (long long)max,
                       (long long)replicas);
    }
}

static void check_env(gv_rules *r, const grove_node *container, gv_path path) {
    const grove_node *env = grove_node_get(container, "env");
    uint32_t m = 0;
    GV_EACH(var, env) {
        gv_str name = gv_node_get_str(var, "name");
        if (!gv_syntax_env_name(name)) {
            gv_rules_error(
                r, GV_CODE_ENV_NAME, "Invalid", var, gv_path_fmt("%s.env[%u].name", path.s, m),
                "\"%.*s\" is not the name of an environment variable", (int)name.n, name.p);
        }
        m++;
    }
    grove_buf twice;
    grove_buf_init(&twice, r->env);
    if (gv_repeated(r, env, "name", &twice)) {
        gv_rules_error(r, GV_CODE_ENV_TWICE, "Duplicate", env, gv_path_fmt("%s.env", path.s),
                       "set more than once in one container: %s", gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
}

static void check_pod_spec(gv_rules *r, const grove_node *pod, uint32_t i) {
    const grove_node *policy = grove_node_get(pod, "restartPolicy");
    if (!gv_syntax_blank(gv_node_str(policy))) {
        gv_rules_warning(r, GV_CODE_RESTART_POLICY, policy, gv_path_fmt("%s", ""),
                         "restartPolicy will be ignored, it will be set to Always");
    }
    /* The second `.spec` is in Grove's paths although no manifest has it. */
    const grove_node *spread = grove_node_get(pod, "topologySpreadConstraints");
    if (r->create && grove_node_type(spread) == GROVE_ARRAY) {
        gv_rules_error(r, GV_CODE_SPREAD_CONSTRAINTS, "Invalid", spread,
                       gv_clique_path(i, ".spec.podSpec.spec.topologySpreadConstraints"),
                       "pods of a gang may not have spread constraints; use topologyConstraint");
    }
    const grove_node *node_name = grove_node_get(pod, "nodeName");
    if (r->create && !gv_syntax_blank(gv_node_str(node_name))) {
        gv_rules_error(r, GV_CODE_NODE_NAME, "Invalid", node_name,
                       gv_clique_path(i, ".spec.podSpec.spec.nodeName"),
                       "the scheduler chooses the node: nodeName may not be set");
    }
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t l = 0; l < 2; l++) {
        uint32_t k = 0;
        GV_EACH(container, grove_node_get(pod, lists[l])) {
            check_env(
                r, container,
                gv_path_fmt(GV_TMPL ".cliques[%u].spec.podSpec.spec.%s[%u]", i, lists[l], k++));
        }
    }
}

void gv_rules_cliques(gv_rules *r) {
    uint32_t i = 0;
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        const grove_node *spec = grove_node_get(clique, "spec");
        check_name(r, clique, i);
        check_labels(r, clique, i);
        check_annotations(r, clique, i);
        gv_rules_sharing(r, clique, gv_clique_path(i, ""));
        check_counts(r, spec, i);
        check_starts_after(r, clique, i);
        check_autoscaling(r, spec, i);
        check_pod_spec(r, grove_node_get(spec, "podSpec"), i);
        i++;
    }
}
