/* SPDX-License-Identifier: Apache-2.0 */
/* What grove_extract is made of, for its readers and for the store. */
#ifndef GV_MODEL_EXTRACT_H
#define GV_MODEL_EXTRACT_H

#include <grove/sys/extract.h>

#include "model/records.h"
#include "value/json_scan.h"

/* A container that was read: what its requests and ports are made of, as text of the object. */
typedef struct gv_container_fact {
    gv_str resources, ports; /* n 0: none */
    bool sidecar;
} gv_container_fact;

typedef GV_VEC(gv_container_fact) gv_container_facts;

struct grove_extract {
    grove_env *env;
    gv_arena texts; /* those that held escapes */
    gv_kind kind;   /* of the object read last; NONE: none */
    gv_pod_facts pod;
    gv_node_facts node;
    gv_label_facts labels;
    bool has_finalizer;
    bool foreign, foreign_version; /* it says that it is something else */
    gv_container_facts containers, init_containers;
    gv_request_facts own, pod_level, overhead; /* work memory */
    grove_buf version;
};

/* What was read; NULL: nothing. */
const gv_head_facts *gv_extract_head(const grove_extract *x);

/* The value of `metadata`, whatever comes before or after it. */
void gv_extract_metadata(grove_extract *x, gv_scan *s, gv_head_facts *out);
/* The last value of a label; "" when absent. */
gv_str gv_extract_label(const grove_extract *x, const char *key);
int64_t gv_extract_time(gv_scan *s);
/* A map of quantities, the last of equal keys counting. */
void gv_extract_quantities(grove_extract *x, gv_scan *s, gv_request_facts *out);

/* A member of the object that is no spec, status or metadata. */
void gv_extract_other(grove_extract *x, gv_scan *s, gv_str key);

void gv_extract_pod(grove_extract *x, gv_scan *s);
void gv_extract_node(grove_extract *x, gv_scan *s);

/* What was read as one JSON object: extract_write.c. */
grove_status gv_pod_facts_write(grove_env *env, const gv_pod_facts *f, grove_buf *buf);
grove_status gv_node_facts_write(grove_env *env, const gv_node_facts *f, grove_buf *buf);

#endif
