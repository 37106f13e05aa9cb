/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of names, keys and values that Kubernetes shares between kinds (grove-api 0.4). */
#ifndef GV_MODEL_SYNTAX_H
#define GV_MODEL_SYNTAX_H

#include <grove/doc.h>

#include "base/text.h"

bool gv_syntax_label(gv_str s);       /* DNS-1123 label */
bool gv_syntax_subdomain(gv_str s);   /* DNS-1123 subdomain */
bool gv_syntax_qualified(gv_str s);   /* label and annotation keys, finalizers */
bool gv_syntax_label_value(gv_str s); /* may be empty */
bool gv_syntax_env_name(gv_str s);    /* environment variable */
bool gv_syntax_level_key(gv_str s);   /* node label key of a topology level, length not checked */
bool gv_syntax_condition_type(gv_str s);
bool gv_syntax_condition_reason(gv_str s);
bool gv_syntax_quantity(gv_str s);    /* as the schema's pattern says, not as decoding does */
bool gv_syntax_domain_form(gv_str s); /* topology domain, length not checked */
bool gv_syntax_domain(gv_str s);      /* topology domain, length included */
bool gv_syntax_blank(gv_str s);       /* empty after trimming white space */

/* Every key and value of a labels object well-formed. NULL: yes. */
bool gv_syntax_labels(const grove_node *labels);
/* Every annotation key well-formed (lower-cased first), and the total size of keys and values. */
bool gv_syntax_annotations(const grove_node *annotations, uint64_t *out_bytes);
#define GV_ANNOTATIONS_MAX_BYTES UINT64_C(262144)

#endif
