/* SPDX-License-Identifier: Apache-2.0 */
/* Grove's validating webhook: the groups of rules in a cluster's order. */
#include "admission/webhook.h"

static void on_create(gv_rules *r) {
    gv_rules_topology_create(r);
    gv_rules_general(r);
    gv_rules_mnnvl_create(r);
    gv_rules_backend(r);
    gv_rules_extensions(r);
    gv_rules_update_bounds(r);
}

/* What may not change is looked at only when the new object is valid. */
static void on_update(gv_rules *r, const grove_node *old) {
    gv_rules_general(r);
    gv_rules_mnnvl_update(r, old);
    gv_rules_backend(r);
    gv_rules_extensions(r);
    gv_rules_update_bounds(r);
    if (r->errors == 0) {
        gv_rules_pack_domain_warnings(r);
        gv_rules_immutable(r, old);
    }
}

grove_status gv_webhook_validate(grove_env *env, const grove_config *config, gv_kind kind,
                                 grove_doc *doc, const grove_node *root, const grove_node *old,
                                 grove_diags *diags, uint32_t *out_errors) {
    gv_rules r;
    grove_status st = gv_rules_init(&r, env, config, doc, root, old == NULL, diags);
    if (st < 0) {
        return st;
    }
    if (kind == GV_KIND_CLUSTERTOPOLOGYBINDING) {
        gv_rules_binding(&r);
    } else if (kind == GV_KIND_PODCLIQUESET && old) {
        on_update(&r, old);
    } else if (kind == GV_KIND_PODCLIQUESET) {
        on_create(&r);
    }
    gv_rules_fini(&r);
    if (r.failed) {
        return GROVE_E_NOMEM;
    }
    *out_errors = r.errors;
    return GROVE_OK;
}
