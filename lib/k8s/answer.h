/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of the server means: one table from reason and code to status and flags. */
#ifndef GV_K8S_ANSWER_H
#define GV_K8S_ANSWER_H

#include <stdbool.h>

#include "transport.h"

typedef struct gv_k8s_verdict {
    grove_status status;
    uint32_t flags; /* GROVE_ERROR_* */
    uint32_t retry_after_ms;
    char reason[64];
    char message[512];
} gv_k8s_verdict;

/* What is known of a request when its end is judged. */
typedef struct gv_k8s_outcome {
    gv_k8s_end how;
    int32_t http;
    uint32_t retry_after_ms; /* of the header */
    bool is_write;
    bool is_create;
    const char *transport_message;
    const grove_node *body; /* parsed, or NULL */
    const char *text;       /* the body as it came, NULL when empty */
} gv_k8s_outcome;

void gv_k8s_judge(const gv_k8s_outcome *outcome, gv_k8s_verdict *out);
/* True when details.causes has this reason. */
bool gv_k8s_has_cause(const grove_node *status, const char *reason, const char *field);

#endif
