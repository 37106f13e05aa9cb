/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The webhooks' certificate and who trusts it. Made by groved and kept in a Secret that all replicas share,
 * or read from files. In this order: certificate -> server listens -> webhook configurations carry the
 * authorities -> ready. A new authority is trusted (beside the old one) before a certificate of it is used.
 */
#ifndef GROVED_CERTS_H
#define GROVED_CERTS_H

#include "live.h"

typedef struct certs certs;

certs *certs_new(live *d);
void certs_free(certs *c);
/* Goes on with whatever comes next; called after each turn. */
void certs_step(live *d);
/* 1 when the webhooks listen and are registered. */
int certs_are_ready(const certs *c);
/* Unix time; 0: there is no certificate. */
int64_t certs_expire_s(const certs *c);
/* For http_options.tls, with a live as context. */
SSL_CTX *certs_context(void *ctx);
/* A new authority and a new certificate, though the old ones would do. 0, or -1 when they are files. */
int certs_rotate(live *d);

/* ---- registration.c ---- */
/* Applies the webhook configurations with these authorities; `done` is told whether all were accepted. */
void registration_apply(live *d, const char *ca_pem, void (*done)(void *ctx, grove_status st),
                        void *ctx);

/* ---- hooks.c ---- */
void hooks_handle(void *ctx, const char *path, const char *body, size_t len, http_answer *answer);

/* ---- authorizer.c ---- */
/* Appends the answer to a review of a managed object; negative when the bytes are no review. */
grove_status authorizer_review(live *d, const char *bytes, size_t len, grove_buf *out,
                               grove_error *err);

#endif
