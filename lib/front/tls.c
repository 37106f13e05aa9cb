/* SPDX-License-Identifier: Apache-2.0 */
/* Makes keys and certificates, and the TLS settings that show them. */
#include "front/tls.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400L
#define LIFE_DAYS 30
#define HERE "DNS:localhost,IP:127.0.0.1,IP:::1"
#define ELSEWHERE "DNS:elsewhere.invalid"

/* Who signs. */
typedef struct authority {
    EVP_PKEY *key;
    X509 *cert;
} authority;

struct gv_tls {
    authority ours, strange;
    SSL_CTX *shown[GV_CERT_COUNT]; /* made on first use */
    long serial;
    char *pem;
};

/* What a certificate says. */
typedef struct subject {
    const char *name;
    long from_s, until_s; /* from now */
    const char *hosts;    /* NULL: of an authority */
} subject;

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = e && X509_add_ext(cert, e, -1) == 1;
    X509_EXTENSION_free(e);
    return ok;
}

static bool describe(X509 *cert, X509 *issuer, const subject *s) {
    if (!s->hosts) {
        return add_extension(cert, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(cert, issuer, NID_key_usage, "critical,keyCertSign,cRLSign") &&
               add_extension(cert, issuer, NID_subject_key_identifier, "hash");
    }
    return add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_ext_key_usage, "serverAuth") &&
           add_extension(cert, issuer, NID_subject_alt_name, s->hosts);
}

/* A certificate of `key`, signed by `by` (NULL: by itself). */
static X509 *make_cert(gv_tls *tls, EVP_PKEY *key, const authority *by, const subject *s) {
    X509 *cert = X509_new();
    X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;
    X509 *issuer = by ? by->cert : cert;
    bool ok = cert && X509_set_version(cert, 2) == 1 &&
              ASN1_INTEGER_set(X509_get_serialNumber(cert), ++tls->serial) == 1 &&
              X509_gmtime_adj(X509_getm_notBefore(cert), s->from_s) &&
              X509_gmtime_adj(X509_getm_notAfter(cert), s->until_s) &&
              X509_set_pubkey(cert, key) == 1 &&
              X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)s->name,
                                         -1, -1, 0) == 1 &&
              X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
              describe(cert, issuer, s) && X509_sign(cert, by ? by->key : key, EVP_sha256()) > 0;
    if (!ok) {
        X509_free(cert);
        return NULL;
    }
    return cert;
}

static bool make_authority(gv_tls *tls, authority *out, const char *name) {
    subject s = {name, -DAY, LIFE_DAYS * DAY, NULL};
    out->key = EVP_EC_gen("P-256");
    out->cert = out->key ? make_cert(tls, out->key, NULL, &s) : NULL;
    return out->cert != NULL;
}

static char *to_pem(X509 *cert) {
    BIO *bio = BIO_new(BIO_s_mem());
    char *data = NULL, *text = NULL;
    long n = bio && PEM_write_bio_X509(bio, cert) == 1 ? BIO_get_mem_data(bio, &data) : 0;
    if (n > 0) {
        text = malloc((size_t)n + 1);
    }
    if (text) {
        memcpy(text, data, (size_t)n);
        text[n] = '\0';
    }
    BIO_free(bio);
    return text;
}

gv_tls *gv_tls_new(void) {
    gv_tls *tls = calloc(1, sizeof *tls);
    if (!tls) {
        return NULL;
    }
    tls->pem = make_authority(tls, &tls->ours, "groved embedded cluster") &&
                       make_authority(tls, &tls->strange, "somebody else")
                   ? to_pem(tls->ours.cert)
                   : NULL;
    if (!tls->pem) {
        gv_tls_free(tls);
        return NULL;
    }
    return tls;
}

static void authority_fini(authority *a) {
    X509_free(a->cert);
    EVP_PKEY_free(a->key);
}

void gv_tls_free(gv_tls *tls) {
    if (!tls) {
        return;
    }
    for (size_t i = 0; i < GV_CERT_COUNT; i++) {
        SSL_CTX_free(tls->shown[i]);
    }
    authority_fini(&tls->ours);
    authority_fini(&tls->strange);
    free(tls->pem);
    free(tls);
}

const char *gv_tls_authority(const gv_tls *tls) {
    return tls->pem;
}

static subject subject_of(gv_fault_certificate which) {
    subject s = {"groved", -DAY, LIFE_DAYS * DAY, HERE};
    if (which == GV_CERT_EXPIRED) {
        s.from_s = -2 * DAY;
        s.until_s = -DAY;
    } else if (which == GV_CERT_NOT_YET_VALID) {
        s.from_s = DAY;
    } else if (which == GV_CERT_OTHER_HOST) {
        s.hosts = ELSEWHERE;
    }
    return s;
}

static SSL_CTX *make_shown(gv_tls *tls, gv_fault_certificate which) {
    subject s = subject_of(which);
    const authority *by = which == GV_CERT_OTHER_AUTHORITY ? &tls->strange : &tls->ours;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key ? make_cert(tls, key, by, &s) : NULL;
    SSL_CTX *ctx = cert ? SSL_CTX_new(TLS_server_method()) : NULL;
    bool ok = ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
              SSL_CTX_use_certificate(ctx, cert) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1;
    X509_free(cert); /* the context has its own reference */
    EVP_PKEY_free(key);
    if (!ok) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

SSL *gv_tls_accept(gv_tls *tls, gv_fault_certificate which) {
    if (!tls->shown[which]) {
        tls->shown[which] = make_shown(tls, which);
    }
    return tls->shown[which] ? SSL_new(tls->shown[which]) : NULL;
}
