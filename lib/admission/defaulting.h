/* SPDX-License-Identifier: Apache-2.0 */
/* The object as a cluster would store it: the schema's constants and Grove's mutating webhook. */
#ifndef GV_ADMISSION_DEFAULTING_H
#define GV_ADMISSION_DEFAULTING_H

#include "model/schema.h"

/*
 * `object` must have passed gv_schema_decode_check. A PodCliqueSet for which no rule of the webhook
 * changes anything goes on as submitted, exactly as on a cluster; see gv_schema_roundtrip for the rest.
 */
grove_status gv_admission_stored(gv_kind kind, grove_doc *doc, const grove_node *object,
                                 uint32_t schema_flags, const char *namespace_name,
                                 grove_doc **out_doc, grove_error *err);

#endif
