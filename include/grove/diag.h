/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/diag.h - findings about a document: what validation, linting and planning have to say.
 *
 * A grove_diags is an ordered list that the caller owns. Each finding has a permanent code (GRVnnnn,
 * explained in docs/errors.md), a severity, the Kubernetes error type, Grove's field path, the place in
 * the source text, and one line for people.
 *
 * Threads: one thread at a time.
 */
#ifndef GROVE_DIAG_H
#define GROVE_DIAG_H

#include <grove/env.h>

GROVE_BEGIN_DECLS

typedef int32_t grove_severity;
#define GROVE_SEVERITY_ERROR 1
#define GROVE_SEVERITY_WARNING 2
#define GROVE_SEVERITY_NOTE 3

/** One finding; texts are borrowed from the list. Since 0.1. */
typedef struct grove_diag {
    uint32_t size; /**< sizeof(grove_diag) as the library knows it */
    uint32_t code; /**< 1234 for GRV1234 */
    grove_severity severity;
    uint32_t line; /**< 1-based; 0 unknown */
    uint32_t column;
    uint32_t reserved;
    const char *type; /**< "Required", "Invalid", "Duplicate", ...; "" for warnings */
    const char *path; /**< spec.template.cliques[0].name */
    const char *message;
} grove_diag;

typedef struct grove_diags grove_diags;

GROVE_API grove_status grove_diags_new(grove_env *env, grove_diags **out_diags);
GROVE_API void grove_diags_free(grove_diags *diags);
GROVE_API void grove_diags_clear(grove_diags *diags);
GROVE_API uint32_t grove_diags_count(const grove_diags *diags);
/** Entry i, borrowed until the list changes; NULL when out of range. */
GROVE_API const grove_diag *grove_diags_at(const grove_diags *diags, uint32_t i);
/** Entries of severity error. */
GROVE_API uint32_t grove_diags_errors(const grove_diags *diags);
/** Findings that were left out because the limit of the env was reached. */
GROVE_API uint32_t grove_diags_dropped(const grove_diags *diags);

/** What a code stands for; static storage. Since 0.1. */
typedef struct grove_code_info {
    uint32_t size;     /**< sizeof(grove_code_info) as the library knows it */
    uint32_t code;     /**< 1234 */
    const char *name;  /**< "GRV1234" */
    const char *title; /**< a few words */
    const char *cause; /**< why it is found, a sentence or two */
    const char *cure;  /**< what to do */
} grove_code_info;

/** The registry's entry for a code; NULL when there is none. Since 0.1. */
GROVE_API const grove_code_info *grove_code_get(uint32_t code);
/** Entry i in ascending order of codes; NULL past the end. Since 0.1. */
GROVE_API const grove_code_info *grove_code_at(uint32_t i);

GROVE_END_DECLS
#endif
