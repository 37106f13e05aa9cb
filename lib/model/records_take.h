/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two readers of pods and nodes share (records_read.c reads documents, extract_*.c reads bytes): the
 * meaning of single fields, and the sums of requests.
 */
#ifndef GV_MODEL_RECORDS_TAKE_H
#define GV_MODEL_RECORDS_TAKE_H

#include "model/records.h"

gv_pod_phase gv_pod_phase_of(gv_str text);
uint32_t gv_pod_refused_of(gv_str reason); /* GV_POD_REFUSED or 0 */
/* A number that a pod's index can be; -1 otherwise. */
int32_t gv_pod_index_of(gv_str text);
/* The integer after the last hyphen of a host name. */
uint32_t gv_pod_incarnation_of(gv_str text); /* 0: absent, or no number */
int32_t gv_pod_hostname_index(gv_str host);
void gv_pod_take_condition(gv_pod_facts *f, gv_str type, gv_str status, gv_str reason,
                           int64_t since);
/* Ports out of range are passed over; false: out of memory. */
bool gv_pod_take_port(grove_env *env, gv_pod_facts *f, int64_t port, gv_str protocol);
void gv_labels_sort(gv_label_facts *labels);

/* ---- requests; false always means out of memory ---- */

typedef struct gv_request_sums {
    gv_request_facts now;  /* what runs beside what is looked at */
    gv_request_facts peak; /* largest need of any moment of the start */
} gv_request_sums;

/* text.p NULL: 0. Beyond int64: the largest. */
int64_t gv_request_amount(gv_str text, gv_str resource);
bool gv_request_add(grove_env *env, gv_request_facts *list, gv_str name, int64_t amount);
/* Init containers come first, in their order; then the others' requests are added to s->now. */
bool gv_requests_init(grove_env *env, gv_request_sums *s, const gv_request_facts *own,
                      bool sidecar);
/* Appends the pod's need to *out, sorted. pod: pod-level requests, which replace; overhead is added. */
bool gv_requests_finish(grove_env *env, gv_request_sums *s, const gv_request_facts *pod,
                        const gv_request_facts *overhead, gv_request_facts *out);
void gv_requests_sort(gv_request_facts *list);
void gv_requests_fini(grove_env *env, gv_request_sums *s);

#endif
