/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault scripts. An input is a script. Oracles: what is refused says where; what is accepted decides the same
 * about the same requests twice, with parameters within their bounds, and answers that read back.
 */
#include <stdlib.h>
#include <string.h>

#include "front/faults.h"

static void require(int holds) {
    if (!holds) {
        abort();
    }
}

static const gv_front_request requests[] = {
    {"GET", "/api/v1/namespaces/n/pods?limit=5&continue=7%3An/a", NULL, NULL, "", 0, NULL, NULL,
     NULL},
    {"GET", "/api/v1/namespaces/n/pods?watch=1", NULL, NULL, "", 0, NULL, NULL, NULL},
    {"POST", "/api/v1/namespaces/n/pods", NULL, NULL, "", 0, NULL, NULL, NULL},
    {"PATCH", "/apis/grove.io/v1alpha1/namespaces/n/podcliques/a/status", NULL, NULL, "", 0, NULL,
     NULL, NULL},
    {"DELETE", "/api/v1/nodes/x", NULL, NULL, "", 0, NULL, NULL, NULL},
};
#define N_REQUESTS (sizeof requests / sizeof *requests)
#define ROUNDS 4

static void check_answer(grove_env *env, const gv_fault_plan *plan, const gv_front_request *q) {
    gv_front_response r;
    grove_doc *doc = NULL;
    gv_front_response_init(&r, env);
    require(gv_faults_answer(env, plan, q, &r) == GROVE_OK);
    require(r.http >= 200 && r.http < 600);
    if (r.body.len && strcmp(r.content_type, "application/json") == 0) {
        require(grove_doc_parse_json(env, r.body.data, (size_t)r.body.len, GROVE_PARSE_STRICT, &doc,
                                     NULL) == GROVE_OK);
    }
    grove_doc_unref(doc);
    gv_front_response_fini(&r);
}

static void decide(grove_env *env, gv_faults *faults, gv_fault_plan *out) {
    for (size_t i = 0; i < ROUNDS * N_REQUESTS; i++) {
        const gv_front_request *q = &requests[i % N_REQUESTS];
        gv_faults_request(faults, q, &out[i]);
        require(out[i].delay_ms <= 3600000 && out[i].delay_bound_ms <= 3600000);
        require(!(out[i].acts & GV_FAULT_SLOW) || out[i].bytes_per_s > 0);
        if (out[i].acts & GV_FAULT_ANSWER) {
            check_answer(env, &out[i], q);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    gv_faults *one = NULL, *other = NULL;
    gv_fault_plan first[ROUNDS * N_REQUESTS], second[ROUNDS * N_REQUESTS];
    grove_error err = GROVE_ERROR_INIT;
    require(grove_env_new(NULL, &env) == GROVE_OK);
    if (gv_faults_new(env, (const char *)data, size, &one, &err) < 0) {
        require(err.message[0] != '\0');
    } else {
        require(gv_faults_new(env, (const char *)data, size, &other, &err) == GROVE_OK);
        decide(env, one, first);
        decide(env, other, second);
        for (size_t i = 0; i < ROUNDS * N_REQUESTS; i++) {
            require(first[i].acts == second[i].acts && first[i].code == second[i].code &&
                    first[i].delay_ms == second[i].delay_ms);
        }
    }
    gv_faults_free(one);
    gv_faults_free(other);
    grove_env_unref(env);
    return 0;
}
