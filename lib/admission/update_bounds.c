/* SPDX-License-Identifier: Apache-2.0 */
/* updateStrategy.rollingUpdate: bounds of a Coherent update, which nothing else reads. */
#include "admission/rules.h"
#include "model/labels.h"
#include "model/view.h"
#include "value/doc.h"
#include "value/scalar.h"

static void refuse(gv_rules *r, const grove_node *at, const char *type, const char *member,
                   const char *why) {
    gv_rules_error(r, GV_CODE_UPDATE_BOUNDS, type, at,
                   gv_path_fmt("spec.updateStrategy.rollingUpdate%s", member), "%s", why);
}

static void check_unavailable(gv_rules *r, const grove_node *node) {
    bool percent = false;
    gv_opt_int number = gv_number_or_percent(node, &percent);
    if (!number.set || number.value < 1 || number.value > (percent ? 100 : INT32_MAX)) {
        refuse(
            r, node, "Invalid", ".maxUnavailable",
            "must be a number from 1 on or a share from \"1%\" to \"100%\": with nothing that may "
            "be away no pair can be replaced");
    }
}

static void check_reserved(gv_rules *r, const grove_node *node, const char *member,
                           const char *why) {
    bool percent = false;
    gv_opt_int number = gv_number_or_percent(node, &percent);
    if (node != NULL && (!number.set || number.value != 0)) {
        refuse(r, node, "Forbidden", member, why);
    }
}

static void refuse_role(gv_rules *r, const grove_node *at, const char *type, gv_path path,
                        const char *why) {
    gv_rules_error(r, GV_CODE_UPDATE_BOUNDS, type, at, path, "%s", why);
}

/* Of one role: `why_not` NULL where it has a part of its own in a Coherent update. */
static void check_role(gv_rules *r, const grove_node *role, gv_path path, const char *why_not) {
    const grove_node *bounds = grove_node_get(role, "rollingUpdate");
    const grove_node *node = grove_node_get(bounds, "maxUnavailable");
    bool percent = false;
    gv_opt_int number = gv_number_or_percent(node, &percent);
    if (grove_node_type(bounds) != GROVE_OBJECT) {
        return;
    }
    if (why_not != NULL) {
        refuse_role(r, bounds, "Forbidden", path, why_not);
    } else if (node != NULL &&
               (!number.set || number.value < 1 || number.value > (percent ? 100 : INT32_MAX))) {
        refuse_role(r, node, "Invalid", gv_path_fmt("%s.maxUnavailable", path.s),
                    "must be a number from 1 on or a share from \"1%\" to \"100%\"");
    }
}

static void check_roles(gv_rules *r, bool coherent) {
    const char *other = coherent ? NULL
                                 : "bounds a Coherent update; updateStrategy.type is another one, "
                                   "which reads none of it";
    uint32_t i = 0;
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        const grove_node *core = gv_node_path(clique, "spec.coreMember");
        bool outside = grove_node_type(core) == GROVE_BOOL && !grove_node_is_true(core);
        bool member = gv_map_has(&r->member_of, gv_node_get_str(clique, "name"));
        check_role(r, clique, gv_clique_path(i++, ".rollingUpdate"),
                   member ? "a member of a scaling group goes with its replica: the group has the "
                            "bound"
                   : outside ? "a clique outside the core unit is rolled for itself, pod by pod"
                             : other);
    }
    i = 0;
    GV_EACH(group, grove_node_get(r->tmpl, "podCliqueScalingGroups")) {
        gv_path path = gv_path_fmt(GV_TMPL ".podCliqueScalingGroups[%u].rollingUpdate", i++);
        check_role(r, group, path, other);
    }
}

void gv_rules_update_bounds(gv_rules *r) {
    const grove_node *strategy = gv_node_path(r->root, "spec.updateStrategy");
    const grove_node *bounds = grove_node_get(strategy, "rollingUpdate");
    check_roles(r, gv_str_is(gv_node_get_str(strategy, "type"), GV_UPDATE_COHERENT));
    if (grove_node_type(bounds) != GROVE_OBJECT) {
        return;
    }
    if (!gv_str_is(gv_node_get_str(strategy, "type"), GV_UPDATE_COHERENT)) {
        refuse(
            r, bounds, "Forbidden", "",
            "bounds a Coherent update; updateStrategy.type is another one, which reads none of it");
    }
    const grove_node *unavailable = grove_node_get(bounds, "maxUnavailable");
    if (unavailable != NULL) {
        check_unavailable(r, unavailable);
    }
    check_reserved(r, grove_node_get(bounds, "maxSurge"), ".maxSurge",
                   "is reserved: nothing comes beyond what is wanted yet; use maxUnavailable");
    check_reserved(r, grove_node_get(bounds, "partition"), ".partition",
                   "is reserved: the old template is not kept for set replicas yet; use paused");
    gv_str deadline = gv_node_get_str(bounds, "progressDeadline");
    int64_t ns = 0;
    if (deadline.n > 0 && (gv_duration_parse(deadline, &ns, NULL) < 0 || ns <= 0)) {
        refuse(r, grove_node_get(bounds, "progressDeadline"), "Invalid", ".progressDeadline",
               "must be greater than 0");
    }
}
