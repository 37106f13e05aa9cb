/* SPDX-License-Identifier: Apache-2.0 */
/* A pod spec as a class of the placement engine: requests and everything that chooses nodes. */
#ifndef GV_ENGINE_VIEW_CLASS_H
#define GV_ENGINE_VIEW_CLASS_H

#include "engine/view_sched.h"

/* Of which pods: for what is looked up and for notes. */
typedef struct gv_view_owner {
    const grove_config *config;
    gv_str ns, clique;
} gv_view_owner;

grove_status gv_view_class(gv_view *v, const gv_view_owner *owner, const grove_node *pod_spec,
                           const grove_sched_token *tokens, uint32_t n_tokens, uint32_t *out_class,
                           grove_error *err);
/* What a pod takes up by its own record, which need not be that of its clique any more, with `tokens`. */
grove_status gv_view_plain_class(gv_view *v, const gv_pod *pod, const grove_sched_token *tokens,
                                 uint32_t n_tokens, uint32_t *out_class, grove_error *err);
/* false: out of memory. `path` is static or in the scratch, as is `text`. */
bool gv_view_note_add(gv_view *v, gv_str clique, const char *path, const char *text);
/* view_volumes.c: the nodes that the pod's volumes are reachable from: each list must have a term that holds.
 * Appends to lists[*n], which has room for gv_view_volume_lists_max entries. false: out of memory. */
uint32_t gv_view_volume_lists_max(const grove_node *pod_spec);
bool gv_view_volumes(gv_view *v, const gv_view_owner *owner, const grove_node *pod_spec,
                     grove_sched_terms *lists, uint32_t *n);
/* A nodeSelectorTerm, in the scratch. */
bool gv_view_term(gv_view *v, const grove_node *term, grove_sched_term *out);
/* Amounts by resource index, in the scratch; *out_n of them. `asked`: requests, else capacities. */
grove_status gv_view_amounts(gv_view *v, const gv_request *list, uint32_t n, bool asked,
                             int64_t **out, uint32_t *out_n);

#endif
