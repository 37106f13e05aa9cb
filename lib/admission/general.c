/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold on create and update alike, and those over all cliques together. */
#include "admission/rules.h"
#include "admission/startup_graph.h"
#include "model/syntax.h"
#include "value/doc.h"
#include "value/scalar.h"

static void check_scalars(gv_rules *r) {
    const grove_node *replicas = gv_node_path(r->root, "spec.replicas");
    if (gv_node_get_int(grove_node_get(r->root, "spec"), "replicas", 0) < 0) {
        gv_rules_error(r, GV_CODE_SET_REPLICAS, "Invalid", replicas, gv_path_fmt("spec.replicas"),
                       "replicas must not be negative");
    }
    const grove_node *type = grove_node_get(r->tmpl, "cliqueStartupType");
    gv_str text = gv_node_str(type);
    if (!type) {
        gv_rules_error(r, GV_CODE_STARTUP_TYPE, "Required", r->tmpl,
                       gv_path_fmt(GV_TMPL ".cliqueStartupType"), "a startup type must be set");
    } else if (!gv_str_is(text, "CliqueStartupTypeAnyOrder") &&
               !gv_str_is(text, "CliqueStartupTypeInOrder") &&
               !gv_str_is(text, "CliqueStartupTypeExplicit")) {
        gv_rules_error(r, GV_CODE_STARTUP_TYPE, "Invalid", type,
                       gv_path_fmt(GV_TMPL ".cliqueStartupType"),
                       "must be CliqueStartupTypeAnyOrder, CliqueStartupTypeInOrder or "
                       "CliqueStartupTypeExplicit");
    }
}

static void check_twice(gv_rules *r, const grove_node *cliques, const char *key, gv_code code,
                        const char *path, const char *what) {
    grove_buf twice;
    grove_buf_init(&twice, r->env);
    if (gv_repeated(r, cliques, key, &twice)) {
        gv_rules_error(r, code, "Duplicate", cliques, gv_path_fmt("%s", path),
                       "several cliques have the %s \"%s\"", what, gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
}

static void check_schedulers(gv_rules *r, const grove_node *cliques) {
    gv_path path = gv_path_fmt(GV_TMPL ".cliques.spec.podSpec.schedulerName");
    gv_str first = gv_rules_scheduler(r, grove_node_first(cliques));
    GV_EACH(clique, cliques) {
        gv_str name = gv_rules_scheduler(r, clique);
        if (!gv_str_eq(name, first)) {
            gv_rules_error(r, GV_CODE_SCHEDULERS_DIFFER, "Invalid", clique, path,
                           "all cliques must have one scheduler: \"%.*s\" is not \"%.*s\"",
                           (int)name.n, name.p, (int)first.n, first.p);
            break;
        }
    }
    if (!gv_rules_scheduler_enabled(r, first)) {
        gv_rules_error(r, GV_CODE_SCHEDULER_DISABLED, "Invalid", cliques, path,
                       "scheduler \"%.*s\" is not enabled in the operator's configuration",
                       (int)first.n, first.p);
    }
}

static void check_delay(gv_rules *r) {
    const grove_node *delay = grove_node_get(r->tmpl, "terminationDelay");
    gv_path path = gv_path_fmt(GV_TMPL ".terminationDelay");
    int64_t ns = 0;
    if (!delay) {
        gv_rules_error(r, GV_CODE_TERMINATION_DELAY, "Required", r->tmpl, path,
                       "terminationDelay must be set");
    } else if (gv_duration_parse(gv_node_str(delay), &ns, NULL) < 0 || ns <= 0) {
        gv_rules_error(r, GV_CODE_TERMINATION_DELAY, "Invalid", delay, path,
                       "terminationDelay must be greater than 0");
    }
}

void gv_rules_general(gv_rules *r) {
    const grove_node *cliques = grove_node_get(r->tmpl, "cliques");
    check_scalars(r);
    gv_rules_claims(r);
    gv_rules_sharing(r, r->tmpl, gv_path_fmt(GV_TMPL));
    uint32_t i = 0;
    GV_EACH(entry, grove_node_get(r->tmpl, "resourceSharing")) {
        gv_rules_sharing_filter(r, entry, gv_path_fmt(GV_TMPL ".resourceSharing[%u]", i++),
                                &r->cliques, &r->groups);
    }
    if (grove_node_size(cliques) == 0) {
        /* Grove crashes here (HTTP 500); what follows needs a first clique. */
        gv_rules_error(r, GV_CODE_NO_CLIQUES, "Required", cliques ? cliques : r->tmpl,
                       gv_path_fmt(GV_TMPL ".cliques"), "at least one clique is needed");
        return;
    }
    gv_rules_cliques(r);
    check_twice(r, cliques, "name", GV_CODE_CLIQUE_TWICE, GV_TMPL ".cliques.name", "name");
    check_twice(r, cliques, "spec.roleName", GV_CODE_ROLE_TWICE, GV_TMPL ".cliques.roleName",
                "roleName");
    check_schedulers(r, cliques);
    if (gv_str_is(gv_node_get_str(r->tmpl, "cliqueStartupType"), "CliqueStartupTypeExplicit")) {
        gv_rules_startup_graph(r);
    }
    gv_rules_groups(r);
    check_delay(r);
}
