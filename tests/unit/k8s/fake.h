/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport without a server: a function of the test answers each request, and the answer arrives in
 * pieces of any size.
 */
#ifndef TESTS_K8S_FAKE_H
#define TESTS_K8S_FAKE_H

#include "k8s/backend.h"

#define FAKE_REQUESTS 64

typedef struct fake_answer {
    gv_k8s_end how;
    int32_t http;
    const char *header, *value; /* one header; NULL: none */
    const char *body;           /* borrowed for the life of the request */
    size_t len;
    bool open; /* the stream does not end */
} fake_answer;

typedef struct fake_request {
    gv_k8s_request r;
    fake_answer a;
    size_t at;
    bool started;
    struct fake *f;
} fake_request;

typedef struct fake {
    void (*answer)(struct fake *f, const char *method, const char *url, const char *body,
                   fake_answer *out);
    void *ctx;
    size_t piece;  /* bytes of a piece; 0: random ones */
    size_t cut;    /* not 0: two pieces, the first of so many bytes */
    uint64_t seed; /* of the random ones */
    uint32_t n_sent, severed, renewed;
    char log[FAKE_REQUESTS][1000]; /* "METHOD URL BODY" of each request */
    char headers[FAKE_REQUESTS][600];
    fake_request open[FAKE_REQUESTS];
} fake;

/* A backend over it, with this kubeconfig (NULL: a server without credentials). */
grove_status fake_backend(grove_env *env, fake *f, const char *kubeconfig,
                          const grove_k8s_options *options, grove_backend *out);

#endif
