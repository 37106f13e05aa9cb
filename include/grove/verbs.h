/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/verbs.h - the words that plans, operations and backends share: verbs, kinds, subresources,
 * patch types.
 *
 * A plan action and a backend operation name the same thing with the same number, so that one turns
 * into the other without a table. Numbers are permanent; new ones are added at the end.
 */
#ifndef GROVE_VERBS_H
#define GROVE_VERBS_H

#include <stdint.h>

#include <grove/export.h>

GROVE_BEGIN_DECLS

/** What is to be done with an object. Since 0.1. */
typedef int32_t grove_verb;
#define GROVE_VERB_NONE 0
#define GROVE_VERB_GET 1
#define GROVE_VERB_LIST 2
#define GROVE_VERB_CREATE 3
#define GROVE_VERB_PATCH 4 /**< merge, JSON or strategic patch */
#define GROVE_VERB_APPLY 5 /**< server-side apply */
#define GROVE_VERB_DELETE 6
#define GROVE_VERB_BIND 7     /**< a pod to a node */
#define GROVE_VERB_EVICT 8    /**< a delete that respects disruption budgets */
#define GROVE_VERB_EVENT 9    /**< tell people: best effort, never retried */
#define GROVE_VERB_SCALE 10   /**< set spec.replicas through the scale subresource */
#define GROVE_VERB_REPLACE 11 /**< write the whole object (HTTP PUT); not every backend has it */
#define GROVE_VERB_COUNT 12

/** The kinds that this library reads or writes. Since 0.1. */
typedef int32_t grove_kind;
#define GROVE_KIND_NONE 0
#define GROVE_KIND_PODCLIQUESET 1
#define GROVE_KIND_PODCLIQUE 2
#define GROVE_KIND_PODCLIQUESCALINGGROUP 3
#define GROVE_KIND_CLUSTERTOPOLOGYBINDING 4
#define GROVE_KIND_PODGANG 5
#define GROVE_KIND_POD 6
#define GROVE_KIND_NODE 7
#define GROVE_KIND_SERVICE 8
#define GROVE_KIND_SERVICEACCOUNT 9
#define GROVE_KIND_SECRET 10
#define GROVE_KIND_ROLE 11
#define GROVE_KIND_ROLEBINDING 12
#define GROVE_KIND_HPA 13 /**< HorizontalPodAutoscaler */
#define GROVE_KIND_RESOURCECLAIM 14
#define GROVE_KIND_RESOURCECLAIMTEMPLATE 15
#define GROVE_KIND_COMPUTEDOMAIN 16
#define GROVE_KIND_KAI_PODGROUP 17
#define GROVE_KIND_KAI_TOPOLOGY 18
#define GROVE_KIND_VOLCANO_PODGROUP 19
#define GROVE_KIND_VOLCANO_QUEUE 20
#define GROVE_KIND_PRIORITYCLASS 21
#define GROVE_KIND_EVENT 22
#define GROVE_KIND_PDB 23 /**< PodDisruptionBudget */
#define GROVE_KIND_NAMESPACE 24
#define GROVE_KIND_LEASE 25
#define GROVE_KIND_CONFIGMAP 26
#define GROVE_KIND_CRD 27                /**< CustomResourceDefinition */
#define GROVE_KIND_MUTATING_WEBHOOK 28   /**< MutatingWebhookConfiguration */
#define GROVE_KIND_VALIDATING_WEBHOOK 29 /**< ValidatingWebhookConfiguration */
#define GROVE_KIND_CONTROLLERREVISION 30
#define GROVE_KIND_COUNT 31

/** A part of an object that is written apart from the rest. Since 0.1. */
typedef int32_t grove_subresource;
#define GROVE_SUBRESOURCE_NONE 0
#define GROVE_SUBRESOURCE_STATUS 1
#define GROVE_SUBRESOURCE_SCALE 2
#define GROVE_SUBRESOURCE_BINDING 3
#define GROVE_SUBRESOURCE_EVICTION 4

/** How the body of a GROVE_VERB_PATCH is meant. Since 0.1. */
typedef int32_t grove_patch_type;
#define GROVE_PATCH_NONE 0
#define GROVE_PATCH_MERGE 1     /**< RFC 7396 */
#define GROVE_PATCH_JSON 2      /**< RFC 6902 */
#define GROVE_PATCH_STRATEGIC 3 /**< built-in kinds only */

/** What becomes of the objects that a deleted object owns. Since 0.1. */
typedef int32_t grove_propagation;
#define GROVE_PROPAGATION_DEFAULT 0 /**< background */
#define GROVE_PROPAGATION_BACKGROUND 1
#define GROVE_PROPAGATION_FOREGROUND 2
#define GROVE_PROPAGATION_ORPHAN 3

/** The word of a verb ("CREATE"); "?" when unknown. Static storage. Since 0.1. */
GROVE_API const char *grove_verb_name(grove_verb verb);

GROVE_END_DECLS
#endif
