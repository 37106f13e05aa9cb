/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/render.h - every object that comes out of one PodCliqueSet, offline.
 *
 *     grove_doc *stored = NULL, *list = NULL;
 *     grove_default(env, doc, pcs, NULL, NULL, &stored, &err);  // as a cluster would store it
 *     grove_render(env, stored, grove_doc_root(stored), cfg, "default", 0, &list, &err);
 *     grove_node_write_json(grove_doc_root(list), GROVE_WRITE_PRETTY, &out, &err);
 *
 * The answer is the state a cluster comes to rest in while nothing is scheduled yet: pods of base gangs
 * are released to their scheduler, pods of scaled gangs still carry their gate. Objects have no status
 * and no uid; pods have the names they would get if their PodClique had no uid.
 *
 * Threads: calls run in parallel; documents and configurations are shared.
 */
#ifndef GROVE_RENDER_H
#define GROVE_RENDER_H

#include <grove/config.h>
#include <grove/doc.h>

GROVE_BEGIN_DECLS

/**
 * Find a PodClique's template by its whole name, as grove_plan_make does. Without it by the rule of Grove's
 * own operator, which takes the first clique whose name ends the PodClique's name: the two differ for sets
 * where one clique's name ends with another's (`worker` and `pworker`), and the List says so. Since 0.1.
 */
#define GROVE_RENDER_EXACT_TEMPLATES 0x1u
/** Leave out the fields that an API server fills into pods and claims on its own. Since 0.1. */
#define GROVE_RENDER_AS_SENT 0x2u

/**
 * Expands `pcs`, a PodCliqueSet of `doc` that has been defaulted (grove_default), into a List: the set
 * itself and all its children, pods included. `config` NULL stands for the settings of grove_config_new;
 * `ns` is the namespace where the set names none (NULL: "default"). What a cluster could not make (a
 * claim template that does not exist, a scheduler that is not configured) is left out, with all that
 * would wait for it; the reasons are in the List's metadata.annotations, one `libgrove.io/problem-<n>`
 * each. The caller owns *out_list. GROVE_E_TYPE when the object is no PodCliqueSet. Since 0.1.
 */
GROVE_API grove_status grove_render(grove_env *env, grove_doc *doc, const grove_node *pcs,
                                    grove_config *config, const char *ns, uint32_t flags,
                                    grove_doc **out_list, grove_error *err);

/**
 * Lists every name that comes from `pcs` (defaulted, as for grove_render) once each autoscaler has scaled to
 * its maxReplicas: objects, pods (the five letters as `?`) and host names, in the order of creation. The
 * document: {apiVersion: libgrove.io/v1alpha1, kind: NameList, set, names: [{kind, name, length, limit,
 * margin, by, twice}], count, leastMargin, overLimit, twice}; `by` says what sets the limit, `twice` marks a
 * name that another child of the same kind has too. The caller owns *out_list. GROVE_E_TYPE when the
 * object is no PodCliqueSet, GROVE_E_INVALID when it has no name yet. Since 0.1.
 */
GROVE_API grove_status grove_names_list(grove_env *env, grove_doc *doc, const grove_node *pcs,
                                        grove_config *config, grove_doc **out_list,
                                        grove_error *err);

GROVE_END_DECLS
#endif
