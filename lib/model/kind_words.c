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
