/* SPDX-License-Identifier: Apache-2.0 */
/* TLS before the front: an authority of this process's own, and certificates from it, good ones and bad ones. */
#ifndef GV_FRONT_TLS_H
#define GV_FRONT_TLS_H

#include <openssl/ssl.h>

#include "front/faults.h"

typedef struct gv_tls gv_tls;

/* A new authority; keys are new each time. NULL: OpenSSL cannot. */
gv_tls *gv_tls_new(void);
void gv_tls_free(gv_tls *tls);
/* The authority's certificate, for clients; PEM. */
const char *gv_tls_authority(const gv_tls *tls);
/* The server's side of a connection that shows this certificate; NULL: OpenSSL cannot. */
SSL *gv_tls_accept(gv_tls *tls, gv_fault_certificate which);

#endif
