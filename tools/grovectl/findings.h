/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on objects in the forms that people and machines read: text, JSON, SARIF, annotations. */
#ifndef GROVECTL_FINDINGS_H
#define GROVECTL_FINDINGS_H

#include <grove/admission.h>

typedef enum findings_format {
    FINDINGS_TEXT,
    FINDINGS_JSON,
    FINDINGS_SARIF,
    FINDINGS_GITHUB
} findings_format;

/* One judged object; texts are borrowed while it is written. */
typedef struct finding {
    const char *file; /* NULL: a line of --cases */
    uint32_t index;
    const char *kind, *name;
    const char *text; /* source of the file for carets; NULL: none */
    const grove_admission_verdict *verdict;
    const grove_diags *diags;
    grove_doc *names; /* of grove_names_list; NULL: not asked for */
} finding;

typedef struct findings findings;

/* Output is collected in `out` and complete after findings_end. */
grove_status findings_begin(grove_env *env, findings_format format, grove_buf *out,
                            findings **out_findings);
grove_status findings_add(findings *f, const finding *one);
grove_status findings_end(findings *f); /* frees f */

/* One case as a line of JSON. */
grove_status findings_case_line(grove_env *env, const finding *one, grove_buf *out);

#endif
