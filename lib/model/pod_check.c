/* SPDX-License-Identifier: Apache-2.0 */
/* Pod-level checks of what becomes of a podSpec; containers are in pod_check_container.c. */
#include "model/pod_check.h"

#include "model/pod_check_parts.h"
#include "model/syntax.h"

/* ---- values out of fixed sets, anywhere ---- */

static void check_value(gv_check *c, const gv_schema_limit *set, const grove_node *node,
                        const gv_path *path) {
    gv_str text = gv_node_str(node);
    char list[160];
    size_t at = 0;
    for (uint16_t i = 0; i < set->n_enum; i++) {
        const char *value = gv_type_text(gv_schema_enums[set->first_enum + i]);
        if (gv_str_is(text, value)) {
            return;
        }
        if (i < 8) {
            at += gv_fmt(list + at, sizeof list - at, "%s%s", i ? ", " : "", value);
        }
    }
    gv_check_warning(c, GV_CODE_POD_VALUE, path, node, "%s is not one of %s%s", gv_show(node).text,
                     list, set->n_enum > 8 ? ", ..." : "");
}

static void check_values(gv_check *c, uint16_t row, const grove_node *node, const gv_path *path) {
    const gv_schema_type *type = gv_type_at(row);
    uint32_t index = 0;
    if (type->shape != GV_SHAPE_STRUCT && type->shape != GV_SHAPE_LIST) {
        return;
    }
    GV_EACH(m, node) {
        if (type->shape == GV_SHAPE_LIST) {
            gv_path here = gv_path_index(path, index++);
            check_values(c, type->elem, m, &here);
            continue;
        }
        gv_path here = gv_path_member(path, m);
        int32_t i = gv_type_find(type, here.key.p, here.key.n);
        if (i < 0) {
            continue;
        }
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        const gv_schema_limit *set = &gv_schema_limits[field->pod_values];
        if (field->pod_values && gv_node_is(m, GROVE_STRING)) {
            check_value(c, set, m, &here);
        } else if (field->pod_values && gv_node_is(m, GROVE_ARRAY)) {
            uint32_t j = 0;
            GV_EACH(v, m) {
                gv_path entry = gv_path_index(&here, j++);
                check_value(c, set, v, &entry);
            }
        }
        check_values(c, field->type, m, &here);
    }
}

/* ---- volumes ---- */

static void check_volumes(gv_check *c, const grove_node *pod, const gv_path *path) {
    gv_path list = gv_path_key(path, "volumes", 7);
    uint32_t i = 0;
    GV_EACH(v, grove_node_get(pod, "volumes")) {
        gv_path entry = gv_path_index(&list, i++), name = gv_path_key(&entry, "name", 4);
        uint32_t sources = 0;
        GV_EACH(m, v) {
            sources += !gv_str_is(gv_node_key(m), "name");
        }
        if (!gv_syntax_label(gv_node_get_str(v, "name"))) {
            gv_check_warning(c, GV_CODE_POD_NAME, &name, v, "a volume's name must be a DNS label");
        }
        if (sources > 1) { /* without one it is an emptyDir */
            gv_check_warning(c, GV_CODE_POD_VOLUME, &entry, v,
                             "a volume has one source, this one has %u", (unsigned)sources);
        }
    }
}

/* ---- the rest of the pod ---- */

static void at_least(gv_check *c, const grove_node *pod, const gv_path *path, const char *member,
                     int64_t least) {
    const grove_node *node = grove_node_get(pod, member);
    gv_path here = gv_path_key(path, member, strlen(member));
    if (node && gv_node_get_int(pod, member, least) < least) {
        gv_check_warning(c, GV_CODE_POD_NUMBER, &here, node, "must be at least %lld",
                         (long long)least);
    }
}

static void check_tolerations(gv_check *c, const grove_node *pod, const gv_path *path) {
    gv_path list = gv_path_key(path, "tolerations", 11);
    uint32_t i = 0;
    GV_EACH(t, grove_node_get(pod, "tolerations")) {
        gv_path entry = gv_path_index(&list, i++);
        bool exists = gv_str_is(gv_node_get_str(t, "operator"), "Exists");
        gv_str key = gv_node_get_str(t, "key");
        if (exists && gv_node_get_str(t, "value").n > 0) {
            gv_check_warning(c, GV_CODE_POD_TOLERATION, &entry, t,
                             "operator Exists takes no value");
        } else if (!exists && key.n == 0) {
            gv_check_warning(c, GV_CODE_POD_TOLERATION, &entry, t,
                             "without a key the operator must be Exists");
        } else if (key.n > 0 && !gv_syntax_qualified(key)) {
            gv_check_warning(c, GV_CODE_POD_TOLERATION, &entry, t, "the key is malformed");
        }
        if (grove_node_get(t, "tolerationSeconds") &&
            !gv_str_is(gv_node_get_str(t, "effect"), "NoExecute")) {
            gv_check_warning(c, GV_CODE_POD_TOLERATION, &entry, t,
                             "tolerationSeconds goes with effect NoExecute only");
        }
    }
}

static void check_pod_fields(gv_check *c, const grove_node *pod, const gv_path *path) {
    const grove_node *selector = grove_node_get(pod, "nodeSelector");
    gv_path here = gv_path_key(path, "nodeSelector", 12);
    at_least(c, pod, path, "terminationGracePeriodSeconds", 0);
    at_least(c, pod, path, "activeDeadlineSeconds", 1);
    if (selector && !gv_syntax_labels(selector)) {
        gv_check_warning(c, GV_CODE_POD_SELECTOR, &here, selector,
                         "a key or value is no label: no node can carry it");
    }
    static const char *const names[] = {"serviceAccountName", "priorityClassName",
                                        "runtimeClassName"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        gv_str name = gv_node_get_str(pod, names[i]);
        gv_path at = gv_path_key(path, names[i], strlen(names[i]));
        if (name.n > 0 && !gv_syntax_subdomain(name)) {
            gv_check_warning(c, GV_CODE_POD_NAME, &at, grove_node_get(pod, names[i]),
                             "no object can have the name %s",
                             gv_show(grove_node_get(pod, names[i])).text);
        }
    }
}

grove_status gv_pod_check(const grove_doc *doc, const grove_node *pod_spec, const gv_path *path,
                          grove_diags *diags) {
    gv_check c;
    gv_check_init(&c, grove_doc_env(doc), doc, diags);
    check_values(&c, GV_TYPE_PODSPEC, pod_spec, path);
    check_volumes(&c, pod_spec, path);
    check_tolerations(&c, pod_spec, path);
    check_pod_fields(&c, pod_spec, path);
    gv_pod_check_containers(&c, pod_spec, path);
    grove_status status = c.status;
    gv_check_fini(&c);
    return status;
}
