/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration in force: the host's, with the cluster's own topology bindings and classes over it. */
#include "engine/engine.h"

static const gv_kind looked_up[] = {GV_KIND_CLUSTERTOPOLOGYBINDING, GV_KIND_PRIORITYCLASS,
                                    GV_KIND_RESOURCECLAIMTEMPLATE, GV_KIND_VOLCANO_QUEUE};

grove_status gv_engine_refresh_config(grove_engine *e, grove_error *err) {
    grove_config *fresh = NULL;
    grove_status st = gv_config_layer(e->base_config, &fresh);
    for (size_t k = 0; st == GROVE_OK && k < sizeof looked_up / sizeof *looked_up; k++) {
        const gv_list *list = gv_store_of_kind(e->store, looked_up[k]);
        for (const gv_object *o = list->first; st == GROVE_OK && o;
             o = gv_list_next(o, GV_LIST_KIND)) {
            if (!gv_object_is_terminating(o)) {
                st = grove_config_add(fresh, o->u.document.doc, o->u.document.node, err);
            }
        }
    }
    if (st < 0) {
        grove_config_unref(fresh);
        return st;
    }
    grove_config_unref(e->config);
    e->config = fresh;
    e->config_stale = false;
    return GROVE_OK;
}

grove_status grove_engine_config(grove_engine *engine, grove_config **out_config,
                                 grove_error *err) {
    if (engine->config_stale) {
        grove_status st = gv_engine_refresh_config(engine, err);
        if (st == GROVE_OK) {
            st = grove_store_mark_all(engine->store); /* the flag that asked for it is taken */
        }
        if (st < 0) {
            return st;
        }
    }
    *out_config = grove_config_ref(engine->config);
    return GROVE_OK;
}
