/* SPDX-License-Identifier: Apache-2.0 */
/* One request after the other against a cluster, for verbs that do their work and end. */
#ifndef GROVECTL_ERRAND_H
#define GROVECTL_ERRAND_H

#include <grove/k8s.h>

typedef struct errand {
    grove_env *env;
    grove_backend backend;
    uint64_t token;
    grove_status status; /* of the last request */
    int32_t http;
    char message[512];
    grove_doc *doc; /* its answer; owned */
    int done;
} errand;

/* 0, or -1 after a line on standard error that begins with `program`. NULL: found as usual. */
int errand_begin(errand *e, const char *program, const char *kubeconfig, const char *context);
void errand_end(errand *e);
/* Sends and waits for the answer; GROVE_E_TIMEOUT after half a minute. */
grove_status errand_ask(errand *e, grove_op *op);
/* The root of the last answer. Borrowed. */
const grove_node *errand_answer(const errand *e);
/* Lets so many milliseconds pass. */
void errand_wait(errand *e, int ms);

#endif
