/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/admission.h - what a cluster with Grove would say about an object, without the cluster.
 *
 * An object passes three stages, each hiding those after it: `decode` (unknown fields, values that
 * cannot be read), `schema` (what the API server checks against the resource definition) and `webhook`
 * (Grove's own rules). All calls are pure: the verdict depends on the arguments only.
 *
 *     grove_diags *found = NULL;
 *     grove_diags_new(env, &found);
 *     grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
 *     grove_validate(env, doc, grove_doc_root(doc), NULL, NULL, NULL, found, &verdict, NULL);
 *     if (!verdict.allowed) { ... grove_diags_at(found, 0)->message ... }
 *
 * Threads: calls on different diags and buffers run in parallel; documents and configs are shared.
 */
#ifndef GROVE_ADMISSION_H
#define GROVE_ADMISSION_H

#include <grove/buf.h>
#include <grove/config.h>
#include <grove/diag.h>
#include <grove/doc.h>

GROVE_BEGIN_DECLS

/** What is being done with the object. Since 0.1. */
typedef int32_t grove_operation;
#define GROVE_OPERATION_AUTO 0 /**< update when an old object is given, else create */
#define GROVE_OPERATION_CREATE 1
#define GROVE_OPERATION_UPDATE 2
#define GROVE_OPERATION_STATUS 3 /**< write to the status subresource; needs the old object */
#define GROVE_OPERATION_SCALE \
    4 /**< write to the scale subresource: no webhook, only replicas >= 0 */

/** What happens to fields that the kind does not have. Since 0.1. */
typedef int32_t grove_field_validation;
#define GROVE_FIELDS_STRICT 0 /**< an error of stage decode, as kubectl asks for */
#define GROVE_FIELDS_WARN 1   /**< dropped with a warning */
#define GROVE_FIELDS_IGNORE 2 /**< dropped */

/** Where a cluster would refuse. Since 0.1. */
typedef int32_t grove_stage;
#define GROVE_STAGE_NONE 0    /**< allowed */
#define GROVE_STAGE_DECODE 1  /**< HTTP 400 */
#define GROVE_STAGE_SCHEMA 2  /**< HTTP 422 */
#define GROVE_STAGE_WEBHOOK 3 /**< HTTP 403 */

/** "", "decode", "schema" or "webhook". Static storage. Since 0.1. */
GROVE_API const char *grove_stage_name(grove_stage stage);

/** Which lints run. Zero-initialise and set size for all. Since 0.1. */
typedef struct grove_lint_options {
    uint32_t size;
    uint32_t n_disabled;
    const uint32_t *disabled; /**< codes (1234 for GRV1234) that are not reported */
    grove_doc *nodes_doc;     /**< document `nodes` was reached from; NULL without nodes */
    const grove_node
        *nodes; /**< Node objects, a List or an array: lets lints ask what the cluster has */
} grove_lint_options;

#define GROVE_VALIDATE_LINT 0x1u /**< run the lints too (warnings) */
#define GROVE_VALIDATE_LEGACY \
    0x2u /**< read older forms (packDomain, ClusterTopology, PodGangSet) */
#define GROVE_VALIDATE_WARNINGS_REFUSE 0x4u /**< a warning refuses like an error (`--strict`) */
#define GROVE_VALIDATE_POD_WARNINGS \
    0x8u /**< warn of what a cluster admits and a pod cannot be made of */
#define GROVE_VALIDATE_STRICT_UPSTREAM 0x10u /**< refuse libgrove's extensions of the API */
#define GROVE_VALIDATE_SCHEMA_ONLY \
    0x20u /**< stop after the schema stage, as without Grove's webhooks */

/** Options of grove_validate and grove_default; NULL stands for all zero. Since 0.1. */
typedef struct grove_validate_options {
    uint32_t size; /**< sizeof(grove_validate_options) */
    grove_operation operation;
    grove_field_validation fields;
    uint32_t flags;                 /**< GROVE_VALIDATE_* */
    grove_config *config;           /**< borrowed; NULL: the settings of grove_config_new */
    const grove_lint_options *lint; /**< NULL: all lints, when GROVE_VALIDATE_LINT is set */
    const char *
        namespace_name; /**< namespace of the request for objects that name none; NULL: "default" */
} grove_validate_options;

/** The verdict; caller-owned. Since 0.1. */
typedef struct grove_admission_verdict {
    uint32_t size;     /**< sizeof(grove_admission_verdict), set by the caller */
    int32_t allowed;   /**< 1 or 0 */
    grove_stage stage; /**< where it was refused */
    uint32_t
        http_code; /**< 201 or 200 when allowed, else 400, 403, 404, 422 or 500 as a cluster would answer */
} grove_admission_verdict;
#define GROVE_ADMISSION_VERDICT_INIT \
    { (uint32_t)sizeof(grove_admission_verdict), 0, 0, 0 }

/**
 * Judges `object` of `doc`; `old` of `old_doc` is the stored object for updates, else both NULL. Findings
 * are appended to `diags` (errors of the refusing stage, warnings of all stages that ran). A kind other
 * than the five of Grove is GROVE_E_UNSUPPORTED; one that Grove had in an older release is refused with
 * today's name, or read with GROVE_VALIDATE_LEGACY. GROVE_OK whenever a verdict was reached. Since 0.1.
 */
GROVE_API grove_status grove_validate(grove_env *env, grove_doc *doc, const grove_node *object,
                                      grove_doc *old_doc, const grove_node *old,
                                      const grove_validate_options *options, grove_diags *diags,
                                      grove_admission_verdict *out_verdict, grove_error *err);

/**
 * The object as a cluster would store it, without the metadata that only a server can give. The result
 * pins `doc`; added members carry the defaulted flag. GROVE_E_REFUSED, with the reasons appended to
 * `diags` (NULL allowed), when the object cannot be decoded. Since 0.1.
 */
GROVE_API grove_status grove_default(grove_env *env, grove_doc *doc, const grove_node *object,
                                     const grove_validate_options *options, grove_diags *diags,
                                     grove_doc **out_doc, grove_error *err);

/**
 * Answers an AdmissionReview (admission.k8s.io/v1) for Grove's webhooks: `path` is the request's URL path
 * (defaulting or validating, as Grove registers them). Appends the response's JSON. GROVE_E_PARSE when
 * the bytes are no AdmissionReview. Since 0.1.
 */
GROVE_API grove_status grove_admission_review(grove_env *env, grove_config *config,
                                              const char *path, const char *bytes, size_t len,
                                              grove_buf *out_response, grove_error *err);

/**
 * Whether the configuration (guardScale: Deny; by default Grove's Allow) forbids to give `target`, a
 * PodClique or PodCliqueScalingGroup, so many replicas: 1 when they are fewer than its minAvailable. Then
 * one line for people is appended to `out_why` (NULL allowed; left as it was when there is no memory).
 * `target` NULL, as for an object that is not known, and one that is being deleted: 0. Since 0.1.
 */
GROVE_API int32_t grove_scale_is_refused(const grove_config *config, const grove_node *target,
                                         int64_t replicas, grove_buf *out_why);

/**
 * Answers an AdmissionReview about the scale subresource of `target`, which the caller looks up (the
 * review holds only a Scale, without minAvailable): for a webhook on podcliques/scale and
 * podcliquescalinggroups/scale. Errors as grove_admission_review. Since 0.1.
 */
GROVE_API grove_status grove_admission_review_scale(grove_env *env, grove_config *config,
                                                    const grove_node *target, const char *bytes,
                                                    size_t len, grove_buf *out_response,
                                                    grove_error *err);

/** Appends lint warnings about a valid object. Since 0.1. */
GROVE_API grove_status grove_lint(grove_env *env, grove_doc *doc, const grove_node *object,
                                  grove_config *config, const grove_lint_options *options,
                                  grove_diags *diags, grove_error *err);

/**
 * The modern form of an object written for an older release; what could not be carried over is appended
 * to `diags`. An object that is modern already comes back equal. Since 0.1.
 */
GROVE_API grove_status grove_migrate(grove_env *env, grove_doc *doc, const grove_node *object,
                                     grove_diags *diags, grove_doc **out_doc, grove_error *err);

/** Which set of resource definitions. Since 0.1. */
#define GROVE_CRD_UPSTREAM 0u /**< as Grove's own */
#define GROVE_CRD_EXTENDED 1u /**< with the fields that libgrove reserves (docs/reference/api.md) */
/**
 * Appends the CustomResourceDefinition of a kind (by kind name or resource word) as YAML.
 * GROVE_E_NOT_FOUND for a kind that has none. Since 0.1.
 */
GROVE_API grove_status grove_crd_write(grove_env *env, const char *kind, uint32_t set,
                                       grove_buf *buf, grove_error *err);

GROVE_END_DECLS
#endif
