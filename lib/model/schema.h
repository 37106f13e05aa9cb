/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema layer of admission: what the API server does with an object before and after Grove's
 * webhooks, driven by the tables of lib/model/schema/ (grove-api 0.1, steps 1 to 4).
 *
 * A PodCliqueSet passes, in this order (the caller is lib/admission):
 *     gv_schema_decode_check   unknown fields, undecodable values          -> stage decode
 *     gv_schema_default        when no rule of the mutating webhook changes anything, else
 *     gv_schema_roundtrip      with the webhook's changes as edits         -> the object as stored
 *     gv_schema_validate       metadata, OpenAPI, scale, CEL               -> stage schema
 * The other kinds have no mutating webhook: decode_check, default, validate.
 *
 * All functions are pure and re-entrant. GROVE_OK means "judged"; a negative status that there is no
 * verdict (GROVE_E_NOMEM, GROVE_E_UNSUPPORTED for a kind without a schema).
 */
#ifndef GV_MODEL_SCHEMA_H
#define GV_MODEL_SCHEMA_H

#include <stdbool.h>

#include <grove/admission.h>

#include "model/gen/schema_ids.h"
#include "model/kinds.h"

/* True for the five kinds that have a schema. */
bool gv_schema_has(gv_kind kind);

/*
 * Steps 1 and 3, refusals only. Appends an error per unknown field (fields: Strict), per value that the
 * API server cannot read (metadata; with a PodCliqueSet everything, since its webhook decodes it) and
 * per null entry of `cliques`, on which the webhook crashes; without webhooks a PodCliqueSet is read as the
 * other kinds are. With GROVE_FIELDS_WARN unknown fields are
 * warnings. `object` is as submitted; *out_errors counts the errors added.
 */
#define GV_SCHEMA_WEBHOOKS 0x1u
#define GV_SCHEMA_UPSTREAM 0x2u /* libgrove's own fields are unknown ones, as they are to Grove */
grove_status gv_schema_decode_check(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                    grove_field_validation fields, uint32_t flags,
                                    grove_diags *diags, uint32_t *out_errors);

#define GV_SCHEMA_KEEP_STATUS 0x1u /* else `status` is dropped, as on the main resource */

/*
 * Steps 1, 2 and 4: unknown fields pruned, nulls outside lists treated as absent, constant defaults of
 * the CRD filled in (with the defaulted flag), metadata as the API server writes it back. `object` must
 * have passed gv_schema_decode_check. Everything else stays as submitted, number texts included. A
 * namespaced object without a namespace gets `ns`, the namespace of the request (may be empty).
 */
grove_status gv_schema_default(gv_kind kind, grove_doc *doc, const grove_node *object,
                               uint32_t flags, gv_str ns, grove_doc **out_doc, grove_error *err);

/* One change of the mutating webhook: sets a member of the object being written to the first of these
 * that is not NULL, else to `number`. */
typedef struct gv_schema_edit {
    const char *member;
    const char *text;         /* a string */
    const grove_node *scalar; /* a scalar of the submitted object */
    const char *true_member;  /* an object {true_member: true} */
    int64_t number;
} gv_schema_edit;

/*
 * Asked for every object that the typed structure writes back, before its members are written. `type` is
 * its row in the tables (GV_TYPE_PODCLIQUESPEC, GV_TYPE_PODSPEC, GV_TYPE_AUTOSCALINGCONFIG, ...), `object` the
 * object as submitted and `parent` the object that holds it, as submitted; each NULL where it was absent.
 * CRD defaults are not in them yet. Fills at most `cap` edits and returns how many. An edit replaces what
 * was submitted.
 */
typedef struct gv_schema_edits {
    void *ctx;
    uint32_t (*edit)(void *ctx, gv_schema_type_id type, const grove_node *parent,
                     const grove_node *object, gv_schema_edit *out, uint32_t cap);
} gv_schema_edits;

/*
 * Steps 1 to 4 for an object that the webhook changes: as gv_schema_default, and in between the typed
 * structure is written back: zero values of what it always writes, canonical durations, quantities, times
 * and integers, null list entries as zero values, plus the edits. What was submitted is never removed.
 * One pass, one document.
 */
grove_status gv_schema_roundtrip(gv_kind kind, grove_doc *doc, const grove_node *object,
                                 uint32_t flags, gv_str ns, const gv_schema_edits *edits,
                                 grove_doc **out_doc, grove_error *err);

/* Step 4: metadata, OpenAPI structure, scale, list maps, and CEL unless one of the errors blocks it.
 * `object` comes from gv_schema_default or _roundtrip; create: CEL's transition rules apply; upstream: by Grove's own
 * resource definitions. */
grove_status gv_schema_validate(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                bool create, bool upstream, grove_diags *diags,
                                uint32_t *out_errors);

/* The member of a submitted object, an explicit null counting as absent (0.1 step 1). */
const grove_node *gv_schema_given(const grove_node *object, const char *member);

/* The CustomResourceDefinition (apiextensions.k8s.io/v1) of a kind; extended: with libgrove's own fields. */
grove_status gv_schema_crd(grove_env *env, gv_kind kind, bool extended, grove_doc **out_crd,
                           grove_error *err);

/* Printer columns, in order; texts are static. */
typedef struct gv_schema_column {
    const char *name;      /* "Replicas" */
    const char *type;      /* integer, string, date */
    const char *json_path; /* ".spec.replicas" */
    int32_t priority;
} gv_schema_column;
/* False past the end. */
bool gv_schema_column_at(gv_kind kind, uint32_t i, gv_schema_column *out);

#endif
