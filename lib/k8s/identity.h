/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we are to the server, kept fresh: token files and certificates are read again, credential programs
 * are run again before their credential ends and after a 401.
 */
#ifndef GV_K8S_IDENTITY_H
#define GV_K8S_IDENTITY_H

#include "access.h"
#include "program.h"
#include "transport.h"

typedef struct gv_k8s_identity {
    grove_env *env;
    const gv_k8s_access *access;
    grove_buf authorization; /* the value of the header; empty: none */
    grove_buf ca, cert, key; /* PEM in use; empty: none */
    grove_buf connect_to;
    int64_t token_due, files_due; /* when to read again */
    int64_t files_read;
    gv_k8s_program program;
    bool have_exec; /* a credential of the program is in use */
    int64_t exec_expires, exec_due;
    int64_t failed_until;
    uint32_t generation; /* counts the credentials that were in use */
    bool trust_changed;
    char why[300];
} gv_k8s_identity;

typedef enum gv_k8s_readiness {
    GV_K8S_READY,
    GV_K8S_WAITING, /* for the program */
    GV_K8S_REFUSED, /* why tells; again after failed_until */
} gv_k8s_readiness;

grove_status gv_k8s_identity_init(gv_k8s_identity *id, grove_env *env, const gv_k8s_access *access,
                                  grove_error *err);
void gv_k8s_identity_fini(gv_k8s_identity *id);
/* Renews what is due. *deadline: lowered to when it wants to be called again. */
grove_status gv_k8s_identity_poll(gv_k8s_identity *id, int64_t now, int64_t *deadline,
                                  gv_k8s_readiness *out);
/* The server answered 401 to a request made with this generation; true when trying again may help. */
bool gv_k8s_identity_rejected(gv_k8s_identity *id, uint32_t generation);
/* What the transport needs; borrowed from id. */
gv_k8s_trust gv_k8s_identity_trust(gv_k8s_identity *id);

/*
 * A connection failed over certificates, ours or the server's: files may have been replaced since, so they
 * are read again, at most each ten seconds.
 */
void gv_k8s_identity_mistrusted(gv_k8s_identity *id, int64_t now);

#endif
