/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of events.k8s.io: the same store as the core's, under other names. They are written through this
 * group (clients that record Events do nothing else); answers are the core's form.
 */
#include "front/parts.h"

#include <string.h>

bool gv_front_is_event_group(const char *group, const char *version) {
    return strcmp(group, "events.k8s.io") == 0 && strcmp(version, "v1") == 0;
}

/* The core's name of a member; NULL: the same. */
static const char *core_name(const char *key) {
    static const char *const names[][2] = {{"regarding", "involvedObject"},
                                           {"note", "message"},
                                           {"reportingController", "reportingComponent"},
                                           {"deprecatedCount", "count"},
                                           {"deprecatedFirstTimestamp", "firstTimestamp"},
                                           {"deprecatedLastTimestamp", "lastTimestamp"},
                                           {"deprecatedSource", "source"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i][0], key) == 0) {
            return names[i][1];
        }
    }
    return key;
}

grove_status gv_front_core_event(gv_front_call *c, grove_doc **doc) {
    bool ours = c->path.n > 2 && gv_front_is_event_group(c->path.seg[1], c->path.seg[2]);
    const grove_node *root = *doc ? grove_doc_root(*doc) : NULL;
    grove_doc *core = NULL;
    grove_builder *b = NULL;
    if (!ours || c->route.kind != GROVE_KIND_EVENT || grove_node_type(root) != GROVE_OBJECT) {
        return GROVE_OK;
    }
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "v1");
    for (const grove_node *m = grove_node_first(root); m; m = grove_node_next(root, m)) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "apiVersion") != 0) {
            grove_builder_link(b, core_name(key), *doc, m);
        }
    }
    grove_builder_close(b);
    st = grove_builder_finish(b, &core, NULL);
    grove_builder_free(b);
    if (st == GROVE_OK) {
        grove_doc_unref(*doc);
        *doc = core;
    }
    return st;
}
