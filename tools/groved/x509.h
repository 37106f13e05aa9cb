/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of the webhooks: an authority of our own, and a server certificate under it. PEM texts, free(). */
#ifndef GROVED_X509_H
#define GROVED_X509_H

#include <openssl/ssl.h>

#include <stdint.h>

/* All return 0, or -1 with the library's reason in x509_error(). */
int x509_make_authority(const char *common_name, int days, char **out_crt, char **out_key);
/* names: "DNS:a.b.svc,DNS:a.b,IP:127.0.0.1" */
int x509_make_server(const char *ca_crt, const char *ca_key, const char *names, int days,
                     char **out_crt, char **out_key);
/* Whether crt and key belong together, one of the authorities in ca_crt (NULL: not asked) signed crt, and
 * crt is valid now. *out_expires: Unix time. */
int x509_check(const char *ca_crt, const char *crt, const char *key, int64_t *out_expires);
/* Whether crt holds for this DNS name or address. */
int x509_names(const char *crt, const char *host);
/* When the first certificate of a PEM text ends; 0: it is none. */
int64_t x509_expires(const char *crt);
/* A context that serves with this certificate: TLS 1.2 or newer. NULL on failure. */
SSL_CTX *x509_context(const char *crt, const char *key);
const char *x509_error(void);

#endif
