/* SPDX-License-Identifier: Apache-2.0 */
/* The public side of the table of kinds. */
#include <grove/kinds.h>

#include "model/kinds.h"

grove_kind grove_kind_find(const char *word, size_t len) {
    return (grove_kind)gv_kind_by_word((gv_str){word, len});
}

const char *grove_kind_name(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->name : "";
}

const char *grove_kind_plural(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->plural : "";
}

const char *grove_kind_group(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->group : "";
}

const char *grove_kind_version(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->version : "";
}

int32_t grove_kind_is_namespaced(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info && info->namespaced;
}

const char *grove_kind_singular(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->singular : "";
}

const char *grove_kind_short_names(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->short_names : "";
}

int32_t grove_kind_has_subresource(grove_kind kind, grove_subresource subresource) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    switch (info ? subresource : GROVE_SUBRESOURCE_NONE) {
    case GROVE_SUBRESOURCE_STATUS:
        return info->has_status;
    case GROVE_SUBRESOURCE_SCALE:
        return info->has_scale;
    case GROVE_SUBRESOURCE_BINDING:
    case GROVE_SUBRESOURCE_EVICTION:
        return kind == GROVE_KIND_POD;
    default:
        return 0;
    }
}

int32_t grove_kind_is_custom(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info && info->custom;
}
