/* SPDX-License-Identifier: Apache-2.0 */
/* resourceClaimTemplates and resourceSharing at the three levels. */
#include "admission/rules.h"
#include "model/syntax.h"
#include "value/doc.h"

void gv_rules_claims(gv_rules *r) {
    const grove_node *templates = grove_node_get(r->tmpl, "resourceClaimTemplates");
    uint32_t i = 0;
    GV_EACH(entry, templates) {
        if (gv_node_get_str(entry, "name").n == 0) {
            gv_rules_error(r, GV_CODE_CLAIM_TEMPLATE_NAME, "Required", entry,
                           gv_path_fmt(GV_TMPL ".resourceClaimTemplates[%u].name", i),
                           "a claim template needs a name");
        }
        const grove_node *requests = gv_node_path(entry, "templateSpec.spec.devices.requests");
        if (grove_node_size(requests) == 0) {
            gv_rules_error(
                r, GV_CODE_CLAIM_TEMPLATE_REQUESTS, "Required", requests ? requests : entry,
                gv_path_fmt(
                    GV_TMPL ".resourceClaimTemplates[%u].templateSpec.spec.devices.requests", i),
                "a claim template needs at least one device request");
        }
        i++;
    }
    grove_buf twice;
    grove_buf_init(&twice, r->env);
    if (gv_repeated(r, templates, "name", &twice)) {
        gv_rules_error(r, GV_CODE_CLAIM_TEMPLATE_TWICE, "Duplicate", templates,
                       gv_path_fmt(GV_TMPL ".resourceClaimTemplates.name"),
                       "several claim templates are named %s", gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
}

void gv_rules_sharing(gv_rules *r, const grove_node *owner, gv_path path) {
    gv_map seen;
    gv_map_init(&seen, r->env);
    uint32_t i = 0;
    GV_EACH(entry, grove_node_get(owner, "resourceSharing")) {
        gv_path at = gv_path_fmt("%s.resourceSharing[%u]", path.s, i++);
        gv_str name = gv_node_get_str(entry, "name");
        gv_str scope = gv_node_get_str(entry, "scope");
        if (name.n == 0) {
            gv_rules_error(r, GV_CODE_SHARING_NAME, "Required", entry, gv_path_fmt("%s.name", at.s),
                           "the entry must name a claim template");
        } else if (gv_map_has(&seen, name)) {
            gv_rules_error(r, GV_CODE_SHARING_TWICE, "Duplicate", grove_node_get(entry, "name"),
                           gv_path_fmt("%s.name", at.s), "\"%.*s\" is shared twice in this list",
                           (int)name.n, name.p);
        } else if (!gv_map_put(&seen, name, &seen)) {
            r->failed = true;
        }
        if (gv_node_get_str(entry, "namespace").n && gv_map_has(&r->claims, name)) {
            gv_rules_error(r, GV_CODE_SHARING_NAMESPACE, "Invalid",
                           grove_node_get(entry, "namespace"), gv_path_fmt("%s.namespace", at.s),
                           "\"%.*s\" is a template of this set: no namespace may be given",
                           (int)name.n, name.p);
        }
        if (!gv_str_is(scope, "AllReplicas") && !gv_str_is(scope, "PerReplica")) {
            gv_rules_error(r, GV_CODE_SHARING_SCOPE, "NotSupported", entry,
                           gv_path_fmt("%s.scope", at.s),
                           "scope must be AllReplicas or PerReplica");
        }
    }
    gv_map_fini(&seen);
}

static void check_filter_list(gv_rules *r, const grove_node *filter, const char *key, gv_path path,
                              const gv_map *known, const char *what) {
    uint32_t i = 0;
    GV_EACH(name, grove_node_get(filter, key)) {
        gv_str text = gv_node_str(name);
        if (!gv_map_has(known, text)) {
            gv_rules_error(r, GV_CODE_FILTER_UNKNOWN, "NotFound", name,
                           gv_path_fmt("%s.filter.%s[%u]", path.s, key, i),
                           "there is no %s \"%.*s\" here", what, (int)text.n, text.p);
        }
        i++;
    }
}

void gv_rules_sharing_filter(gv_rules *r, const grove_node *entry, gv_path path,
                             const gv_map *cliques, const gv_map *groups) {
    const grove_node *filter = grove_node_get(entry, "filter");
    if (!filter) {
        return;
    }
    if (grove_node_size(grove_node_get(filter, "childCliqueNames")) == 0 &&
        (!groups || grove_node_size(grove_node_get(filter, "childScalingGroupNames")) == 0)) {
        gv_rules_error(r, GV_CODE_FILTER_EMPTY, "Required", filter,
                       gv_path_fmt("%s.filter", path.s),
                       "a filter must name at least one child; leave it out to share with all");
    }
    check_filter_list(r, filter, "childCliqueNames", path, cliques, "clique");
    if (groups) {
        check_filter_list(r, filter, "childScalingGroupNames", path, groups, "scaling group");
    }
}
