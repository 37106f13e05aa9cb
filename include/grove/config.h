/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/config.h - what a cluster knows besides the manifest: the operator's configuration and the
 * cluster objects that admission and planning look up.
 *
 * Without anything added: topology on, schedulers default-scheduler (the default) and kai-scheduler, no
 * ClusterTopologyBinding.
 *
 *     grove_config *cfg = NULL;
 *     grove_config_new(env, &cfg);
 *     grove_config_load(cfg, yaml, yaml_len, &err);  // YAML stream, List or JSON array
 *
 * Threads: build on one thread, then share freely (reference-counted).
 */
#ifndef GROVE_CONFIG_H
#define GROVE_CONFIG_H

#include <grove/doc.h>

GROVE_BEGIN_DECLS

typedef struct grove_config grove_config;

GROVE_API grove_status grove_config_new(grove_env *env, grove_config **out_config);
/**
 * Adds one object: an OperatorConfiguration (fields it leaves out take Grove's defaults), a
 * ClusterTopologyBinding, PriorityClass, ResourceClaimTemplate or Volcano Queue, a PersistentVolume or
 * PersistentVolumeClaim (nodes that a bound volume is reachable from), or a List of these. Other kinds: GROVE_E_UNSUPPORTED. Pins the document.
 */
GROVE_API grove_status grove_config_add(grove_config *config, grove_doc *doc,
                                        const grove_node *object, grove_error *err);
/** Adds every object of a YAML stream, a List or a JSON array. */
GROVE_API grove_status grove_config_load(grove_config *config, const char *text, size_t len,
                                         grove_error *err);
GROVE_API grove_config *grove_config_ref(grove_config *config);
GROVE_API void grove_config_unref(grove_config *config);

GROVE_END_DECLS
#endif
