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

void gv_rules_update_bounds(gv_rules *r) {
    const grove_node *strategy = gv_node_path(r->root, "spec.updateStrategy");
    const grove_node *bounds = grove_node_get(strategy, "rollingUpdate");
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
