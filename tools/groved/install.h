/* SPDX-License-Identifier: Apache-2.0 */
/* One request after the other against a cluster, for verbs that do their work and end. */
#ifndef GROVED_INSTALL_H
#define GROVED_INSTALL_H

#include <grove/k8s.h>

#include "groved.h"

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

/* An exit code; has said why it is not EXIT_DONE. */
int errand_begin(errand *e, const groved_options *options);
void errand_end(errand *e);
/* Sends and waits for the answer; GROVE_E_TIMEOUT after half a minute. */
grove_status errand_ask(errand *e, grove_op *op);
/* The root of the last answer. Borrowed. */
const grove_node *errand_answer(const errand *e);
/* Lets so many milliseconds pass. */
void errand_wait(errand *e, int ms);

#endif
