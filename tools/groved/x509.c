/* SPDX-License-Identifier: Apache-2.0 */
/* Making and judging certificates with OpenSSL. */
#include "x509.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BACK_SECONDS 3600 /* clocks of other machines may be behind */
#define DAY_SECONDS 86400L

static char reason[256];

const char *x509_error(void) {
    return reason;
}

static int fail(void) {
    ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
    ERR_clear_error();
    return -1;
}

/* ---- PEM ---- */

static X509 *read_crt(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *crt = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return crt;
}

static EVP_PKEY *read_key(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return key;
}

static char *text_of(BIO *bio) {
    char *bytes = NULL, *text = NULL;
    long n = BIO_get_mem_data(bio, &bytes);
    if (n > 0 && (text = malloc((size_t)n + 1))) {
        memcpy(text, bytes, (size_t)n);
        text[n] = '\0';
    }
    return text;
}

static int write_both(X509 *crt, EVP_PKEY *key, char **out_crt, char **out_key) {
    BIO *c = BIO_new(BIO_s_mem()), *k = BIO_new(BIO_s_mem());
    char *crt_text = NULL, *key_text = NULL;
    if (c && k && PEM_write_bio_X509(c, crt) &&
        PEM_write_bio_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL)) {
        crt_text = text_of(c);
        key_text = text_of(k);
    }
    BIO_free(c);
    BIO_free(k);
    if (!crt_text || !key_text) {
        free(crt_text);
        free(key_text);
        return fail();
    }
    *out_crt = crt_text;
    *out_key = key_text;
    return 0;
}

/* ---- making ---- */

static int extend(X509 *crt, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, crt, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    int good = e && X509_add_ext(crt, e, -1);
    X509_EXTENSION_free(e);
    return good;
}

/* Version 3, a random serial number, from an hour ago for so many days. */
static X509 *blank(const char *common_name, EVP_PKEY *key, int days) {
    unsigned char serial[16] = {0};
    X509 *crt = X509_new();
    BIGNUM *n = NULL;
    X509_NAME *name = crt ? X509_get_subject_name(crt) : NULL;
    int good = crt && RAND_bytes(serial, sizeof serial) == 1;
    serial[0] &= 0x7f;
    good = good && (n = BN_bin2bn(serial, sizeof serial, NULL)) &&
           BN_to_ASN1_INTEGER(n, X509_get_serialNumber(crt)) && X509_set_version(crt, 2) &&
           X509_gmtime_adj(X509_getm_notBefore(crt), -BACK_SECONDS) &&
           X509_gmtime_adj(X509_getm_notAfter(crt), days * DAY_SECONDS) &&
           X509_set_pubkey(crt, key) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name,
                                      -1, -1, 0);
    BN_free(n);
    if (!good) {
        X509_free(crt);
        return NULL;
    }
    return crt;
}

int x509_make_authority(const char *common_name, int days, char **out_crt, char **out_key) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *crt = key ? blank(common_name, key, days) : NULL;
    int code = -1;
    if (crt && X509_set_issuer_name(crt, X509_get_subject_name(crt)) &&
        extend(crt, crt, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        extend(crt, crt, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        extend(crt, crt, NID_subject_key_identifier, "hash") && X509_sign(crt, key, EVP_sha256())) {
        code = write_both(crt, key, out_crt, out_key);
    } else {
        (void)fail();
    }
    X509_free(crt);
    EVP_PKEY_free(key);
    return code;
}

int x509_make_server(const char *ca_crt, const char *ca_key, const char *names, int days,
                     char **out_crt, char **out_key) {
    X509 *issuer = read_crt(ca_crt), *crt = NULL;
    EVP_PKEY *signer = read_key(ca_key), *key = EVP_EC_gen("P-256");
    int code = -1;
    if (issuer && signer && key && (crt = blank("grove-webhooks", key, days)) &&
        X509_set_issuer_name(crt, X509_get_subject_name(issuer)) &&
        extend(crt, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
        extend(crt, issuer, NID_key_usage, "critical,digitalSignature") &&
        extend(crt, issuer, NID_ext_key_usage, "serverAuth") &&
        extend(crt, issuer, NID_authority_key_identifier, "keyid") &&
        extend(crt, issuer, NID_subject_alt_name, names) && X509_sign(crt, signer, EVP_sha256())) {
        code = write_both(crt, key, out_crt, out_key);
    } else {
        (void)fail();
    }
    X509_free(crt);
    X509_free(issuer);
    EVP_PKEY_free(key);
    EVP_PKEY_free(signer);
    return code;
}

/* ---- judging ---- */

static int64_t end_of(const X509 *crt) {
    struct tm tm;
    return ASN1_TIME_to_tm(X509_get0_notAfter(crt), &tm) ? (int64_t)timegm(&tm) : 0;
}

int64_t x509_expires(const char *crt) {
    X509 *x = read_crt(crt);
    int64_t at = x ? end_of(x) : 0;
    X509_free(x);
    ERR_clear_error();
    return at;
}

static int signed_by(X509 *crt, const char *authorities) {
    BIO *bio = BIO_new_mem_buf(authorities, -1);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509 *ca = NULL;
    int good = 0;
    while (bio && store && (ca = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        (void)X509_STORE_add_cert(store, ca);
        X509_free(ca);
    }
    if (ctx && store && X509_STORE_CTX_init(ctx, store, crt, NULL)) {
        good = X509_verify_cert(ctx) == 1;
    }
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    BIO_free(bio);
    ERR_clear_error();
    return good;
}

int x509_check(const char *ca_crt, const char *crt, const char *key, int64_t *out_expires) {
    X509 *x = read_crt(crt);
    EVP_PKEY *k = read_key(key);
    int good = x && k && X509_check_private_key(x, k) == 1 &&
               X509_cmp_current_time(X509_get0_notBefore(x)) < 0 &&
               X509_cmp_current_time(X509_get0_notAfter(x)) > 0 &&
               (!ca_crt || signed_by(x, ca_crt));
    if (good) {
        *out_expires = end_of(x);
    }
    X509_free(x);
    EVP_PKEY_free(k);
    return good ? 0 : fail();
}

int x509_names(const char *crt, const char *host) {
    X509 *x = read_crt(crt);
    int good = x &&
               (X509_check_host(x, host, 0, 0, NULL) == 1 || X509_check_ip_asc(x, host, 0) == 1);
    X509_free(x);
    ERR_clear_error();
    return good;
}

SSL_CTX *x509_context(const char *crt, const char *key) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    X509 *x = read_crt(crt);
    EVP_PKEY *k = read_key(key);
    if (!ctx || !x || !k || !SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) ||
        SSL_CTX_use_certificate(ctx, x) != 1 || SSL_CTX_use_PrivateKey(ctx, k) != 1) {
        (void)fail();
        SSL_CTX_free(ctx);
        ctx = NULL;
    }
    X509_free(x);
    EVP_PKEY_free(k);
    return ctx;
}
