/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates that change or do not hold, over TLS on loopback. The test is the authority and the server, too,
 * in the same thread, as in test_transport.c.
 */
#define _GNU_SOURCE /* accept4, mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <grove/k8s.h>

#define SECOND INT64_C(1000000000)
#define DAY 86400L
#define HERE "IP:127.0.0.1"

typedef struct pair {
    EVP_PKEY *key;
    X509 *cert;
} pair;

/* ---- certificates ---- */

static void extend(X509 *cert, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    assert_non_null(e);
    assert_int_equal(X509_add_ext(cert, e, -1), 1);
    X509_EXTENSION_free(e);
}

/* by NULL: an authority. hosts NULL: a client. */
static pair make(const pair *by, const char *name, const char *hosts, long from_s, long until_s) {
    static long serial = 0;
    pair p = {EVP_EC_gen("P-256"), X509_new()};
    X509 *issuer = by ? by->cert : p.cert;
    assert_int_equal(X509_set_version(p.cert, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(p.cert), ++serial), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(p.cert), from_s));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(p.cert), until_s));
    assert_int_equal(X509_set_pubkey(p.cert, p.key), 1);
    assert_int_equal(X509_NAME_add_entry_by_txt(X509_get_subject_name(p.cert), "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(p.cert, X509_get_subject_name(issuer)), 1);
    extend(p.cert, issuer, NID_basic_constraints, by ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (hosts) {
        extend(p.cert, issuer, NID_subject_alt_name, hosts);
    }
    assert_true(X509_sign(p.cert, by ? by->key : p.key, EVP_sha256()) > 0);
    return p;
}

static void drop(pair *p) {
    EVP_PKEY_free(p->key);
    X509_free(p->cert);
    *p = (pair){NULL, NULL};
}

static void write_cert(const char *path, const pair *p, const pair *also) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_X509(f, p->cert), 1);
    if (also) {
        assert_int_equal(PEM_write_X509(f, also->cert), 1);
    }
    assert_int_equal(fclose(f), 0);
}

static void write_key(const char *path, const pair *p) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, p->key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(f), 0);
}

/* ---- the server ---- */

typedef struct world {
    char folder[64], ca[80], cert[80], key[80];
    pair authority, other, server, client;
    SSL_CTX *ctx;
    SSL *ssl;
    int listener, conn;
    bool shaken;
    uint32_t accepted, answered;
    char peer[64], asked_for[64], request[4000];
    size_t got;
    grove_env *env;
    grove_backend b;
    int64_t now;
    uint32_t completed;
    uint64_t token;
    grove_status status;
    char message[300];
} world;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    world *w = ctx;
    w->completed++;
    w->status = c->status;
    (void)snprintf(w->message, sizeof w->message, "%s", c->message ? c->message : "");
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    return GROVE_OK;
}

static void hang_up(world *w) {
    SSL_free(w->ssl);
    w->ssl = NULL;
    if (w->conn >= 0) {
        (void)close(w->conn);
    }
    w->conn = -1;
    w->shaken = false;
    w->got = 0;
}

/* Connections made from now on see this certificate. */
static void show(world *w, const pair *p) {
    SSL_CTX_free(w->ctx);
    w->ctx = SSL_CTX_new(TLS_server_method());
    assert_non_null(w->ctx);
    assert_int_equal(SSL_CTX_use_certificate(w->ctx, p->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(w->ctx, p->key), 1);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(w->ctx), w->authority.cert), 1);
    SSL_CTX_set_verify(w->ctx, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_session_id_context(w->ctx, (const unsigned char *)"t", 1);
    hang_up(w);
}

static void note_peer(world *w) {
    X509 *peer = SSL_get1_peer_certificate(w->ssl);
    w->peer[0] = '\0';
    if (peer) {
        (void)X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, w->peer,
                                        (int)sizeof w->peer);
    }
    X509_free(peer);
    const char *name = SSL_get_servername(w->ssl, TLSEXT_NAMETYPE_host_name);
    (void)snprintf(w->asked_for, sizeof w->asked_for, "%s", name ? name : "");
}

static void answer(world *w) {
    static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"kind\":\"Pod\"}";
    static const char bad[] = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}";
    bool is_old = strcmp(w->peer, "rejected") == 0;
    const char *text = is_old ? bad : good;
    w->got = 0;
    w->answered++;
    assert_true(SSL_write(w->ssl, text, (int)strlen(text)) > 0);
}

/* What the server does without waiting. */
static void serve(world *w) {
    if (w->conn < 0) {
        w->conn = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (w->conn < 0) {
            return;
        }
        w->accepted++;
        w->ssl = SSL_new(w->ctx);
        assert_non_null(w->ssl);
        assert_int_equal(SSL_set_fd(w->ssl, w->conn), 1);
    }
    ERR_clear_error();
    int n = w->shaken ? SSL_read(w->ssl, w->request + w->got, (int)(sizeof w->request - 1 - w->got))
                      : SSL_accept(w->ssl);
    int why = n > 0 ? SSL_ERROR_NONE : SSL_get_error(w->ssl, n);
    if (n <= 0 && why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        hang_up(w);
    } else if (n > 0 && !w->shaken) {
        w->shaken = true;
        note_peer(w);
    } else if (n > 0) {
        w->got += (size_t)n;
        w->request[w->got] = '\0';
        if (strstr(w->request, "\r\n\r\n")) {
            answer(w);
        }
    }
}

static void turn(world *w) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, w, on_completion, on_event};
    grove_pollfd fds[16];
    struct pollfd list[18];
    uint32_t n = 0;
    int64_t deadline = 0;
    w->now += 1000000;
    assert_int_equal(w->b.ops->process(w->b.impl, w->now, 0, &sink, &deadline, NULL), GROVE_OK);
    assert_int_equal(w->b.ops->pollfds(w->b.impl, fds, 16, &n), GROVE_OK);
    for (uint32_t i = 0; i < n; i++) {
        short in = (fds[i].events & GROVE_POLL_IN) != 0 ? POLLIN : 0;
        list[i] = (struct pollfd){
            fds[i].fd, (short)(in | ((fds[i].events & GROVE_POLL_OUT) != 0 ? POLLOUT : 0)), 0};
    }
    list[n] = (struct pollfd){w->conn >= 0 ? w->conn : w->listener, POLLIN, 0};
    (void)poll(list, n + 1, 10);
    serve(w);
}

/* One read, to its completion. */
static grove_status get(world *w) {
    grove_op op = {.size = sizeof op, .verb = GROVE_VERB_GET, .kind = GROVE_KIND_POD, .name = "p"};
    op.token = ++w->token;
    op.ns = "n";
    uint32_t before = w->completed;
    assert_int_equal(w->b.ops->submit(w->b.impl, &op, NULL), GROVE_OK);
    for (int i = 0; i < 3000 && w->completed == before; i++) {
        turn(w);
    }
    assert_int_equal(w->completed, before + 1);
    return w->status;
}

static int listen_somewhere(int *out_port) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *out_port = ntohs(a.sin_port);
    return fd;
}

/* more: members of the cluster, each with a comma before it. */
static void open_with(world *w, const char *more) {
    char config[1000];
    int port = 0;
    *w = (world){.conn = -1, .now = INT64_C(1800000000) * SECOND};
    memcpy(w->folder, "/tmp/grove-tls-XXXXXX", 22);
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->ca, sizeof w->ca, "%s/ca", w->folder);
    (void)snprintf(w->cert, sizeof w->cert, "%s/cert", w->folder);
    (void)snprintf(w->key, sizeof w->key, "%s/key", w->folder);
    w->authority = make(NULL, "authority", NULL, -DAY, DAY);
    w->other = make(NULL, "other authority", NULL, -DAY, DAY);
    w->server = make(&w->authority, "server", HERE, -DAY, DAY);
    w->client = make(&w->authority, "one", NULL, -DAY, DAY);
    write_cert(w->ca, &w->authority, NULL);
    write_cert(w->cert, &w->client, NULL);
    write_key(w->key, &w->client);
    w->listener = listen_somewhere(&port);
    show(w, &w->server);
    int n = snprintf(
        config, sizeof config,
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://127.0.0.1:%d\","
        "\"certificate-authority\":\"%s\"%s}}],\"users\":[{\"name\":\"u\",\"user\":{"
        "\"client-certificate\":\"%s\",\"client-key\":\"%s\"}}],\"contexts\":[{\"name\":\"x\","
        "\"context\":{\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}",
        port, w->ca, more, w->cert, w->key);
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    grove_k8s_options o = {.size = sizeof o, .kubeconfig_bytes = config, .seed = 3};
    o.kubeconfig_len = (uint64_t)n;
    assert_int_equal(grove_k8s_backend(w->env, &o, &w->b, NULL), GROVE_OK);
}

static void open_world(world *w) {
    open_with(w, "");
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    grove_env_unref(w->env);
    hang_up(w);
    SSL_CTX_free(w->ctx);
    (void)close(w->listener);
    drop(&w->authority);
    drop(&w->other);
    drop(&w->server);
    drop(&w->client);
    (void)unlink(w->ca);
    (void)unlink(w->cert);
    (void)unlink(w->key);
    (void)rmdir(w->folder);
}

/* ---- what happens ---- */

static void client_certificate_is_renewed(void **state) {
    (void)state;
    world w;
    open_world(&w);
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "one");
    pair two = make(&w.authority, "two", NULL, -DAY, DAY);
    write_cert(w.cert, &two, NULL);
    write_key(w.key, &two);
    w.now += 200 * SECOND; /* not yet read again: the connection serves on */
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "one");
    assert_int_equal(w.accepted, 1);
    w.now += 101 * SECOND; /* read again: a new connection shows the new one */
    hang_up(&w);           /* this server holds one connection at a time */
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "two");
    assert_int_equal(w.accepted, 2);
    drop(&two);
    close_world(&w);
}

/* 401 for a certificate: the files are read at once, and the request goes again with what they hold. */
static void rejected_certificate_is_read_again(void **state) {
    (void)state;
    world w;
    open_world(&w);
    pair old = make(&w.authority, "rejected", NULL, -DAY, DAY);
    write_cert(w.cert, &old, NULL);
    write_key(w.key, &old);
    assert_int_equal(get(&w), GROVE_E_AUTH);
    assert_string_equal(w.peer, "rejected");
    assert_int_equal(w.answered, 2); /* once more, no oftener */
    write_cert(w.cert, &w.client, NULL);
    write_key(w.key, &w.client);
    w.now += SECOND;
    hang_up(&w);
    (void)get(&w);
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "one");
    drop(&old);
    close_world(&w);
}

/* A certificate without its key, as in the middle of a rotation: an error, mended ten seconds later. */
static void half_a_rotation(void **state) {
    (void)state;
    world w;
    open_world(&w);
    pair two = make(&w.authority, "two", NULL, -DAY, DAY);
    write_cert(w.cert, &two, NULL);
    assert_int_equal(get(&w), GROVE_E_IO);
    assert_int_equal(w.answered, 0);
    write_key(w.key, &two);
    w.now += 11 * SECOND;
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "two");
    drop(&two);
    close_world(&w);
}

static void server_certificate_is_renewed(void **state) {
    (void)state;
    world w;
    open_world(&w);
    assert_int_equal(get(&w), GROVE_OK);
    pair fresh = make(&w.authority, "server", HERE, -DAY, DAY);
    show(&w, &fresh); /* the server begins anew */
    assert_int_equal(get(&w), GROVE_OK);
    assert_int_equal(w.accepted, 2);
    drop(&fresh);
    close_world(&w);
}

/* The server has moved to another authority: refused until the file says so, read again soon after. */
static void authority_is_renewed(void **state) {
    (void)state;
    world w;
    open_world(&w);
    assert_int_equal(get(&w), GROVE_OK);
    pair fresh = make(&w.other, "server", HERE, -DAY, DAY);
    show(&w, &fresh);
    assert_int_equal(get(&w), GROVE_E_IO);
    assert_non_null(strstr(w.message, "certificate"));
    write_cert(w.ca, &w.authority, &w.other);
    w.now += 11 * SECOND;
    assert_int_equal(get(&w), GROVE_OK);
    show(&w, &w.server); /* both are trusted now */
    assert_int_equal(get(&w), GROVE_OK);
    drop(&fresh);
    close_world(&w);
}

static void certificates_that_do_not_hold(void **state) {
    static const struct {
        const char *hosts, *says;
        long from_s, until_s;
    } rows[] = {
        {HERE, "expired", -2 * DAY, -DAY},
        {HERE, "not yet valid", DAY, 2 * DAY},
        {"IP:127.0.0.2", "127.0.0.1", -DAY, DAY},
        {"DNS:elsewhere.invalid", "127.0.0.1", -DAY, DAY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        open_world(&w);
        pair bad = make(&w.authority, "server", rows[i].hosts, rows[i].from_s, rows[i].until_s);
        show(&w, &bad);
        assert_int_equal(get(&w), GROVE_E_IO);
        assert_non_null(strstr(w.message, rows[i].says));
        assert_int_equal(w.answered, 0);
        show(&w, &w.server); /* nothing is remembered against the server */
        assert_int_equal(get(&w), GROVE_OK);
        drop(&bad);
        close_world(&w);
    }
}

/* The name that the certificate must have, and that the server is asked for, in place of the address. */
static void another_name(void **state) {
    static const struct {
        const char *hosts, *says;
    } rows[] = {
        {"DNS:api.grove.test", NULL},
        {"DNS:other.test,DNS:*.grove.test", NULL},
        {"DNS:other.test," HERE, "api.grove.test"}, /* the address is not what counts */
        {HERE, "api.grove.test"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        open_with(&w, ",\"tls-server-name\":\"api.grove.test\"");
        pair named = make(&w.authority, "server", rows[i].hosts, -DAY, DAY);
        show(&w, &named);
        assert_int_equal(get(&w), rows[i].says ? GROVE_E_IO : GROVE_OK);
        assert_int_equal(w.answered, rows[i].says ? 0 : 1);
        if (rows[i].says) {
            assert_non_null(strstr(w.message, rows[i].says));
        } else {
            assert_string_equal(w.asked_for, "api.grove.test");
        }
        drop(&named);
        close_world(&w);
    }
}

/* A server that has nothing newer than TLS 1.1 gets no request, though OpenSSL would talk to it. */
static void old_tls(void **state) {
    (void)state;
    static const struct {
        int most;
        bool served;
    } rows[] = {{TLS1_1_VERSION, false}, {TLS1_2_VERSION, true}, {TLS1_3_VERSION, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        open_world(&w);
        assert_int_equal(SSL_CTX_set_min_proto_version(w.ctx, TLS1_1_VERSION), 1);
        assert_int_equal(SSL_CTX_set_max_proto_version(w.ctx, rows[i].most), 1);
        grove_op op = {.size = sizeof op, .verb = GROVE_VERB_GET, .kind = GROVE_KIND_POD};
        op.name = "p";
        op.ns = "n";
        op.token = 1;
        assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_OK);
        for (int k = 0; k < 3000 && w.completed == 0; k++) {
            w.now += SECOND; /* tried again, in vain */
            turn(&w);
        }
        assert_int_equal(w.completed, 1);
        assert_int_equal(w.status, rows[i].served ? GROVE_OK : GROVE_E_UNAVAILABLE);
        assert_int_equal(w.answered, rows[i].served ? 1 : 0);
        assert_true(rows[i].served || strstr(w.message, "protocol version"));
        close_world(&w);
    }
}

static void cut_last_byte(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(truncate(path, s.st_size - 1), 0);
}

/* CLI-11: files of certificates and keys that end without a line feed. */
static void no_line_feed_at_the_end(void **state) {
    (void)state;
    world w;
    open_world(&w);
    cut_last_byte(w.ca);
    cut_last_byte(w.cert);
    cut_last_byte(w.key);
    assert_int_equal(get(&w), GROVE_OK);
    assert_string_equal(w.peer, "one");
    close_world(&w);
}

/* What this OpenSSL would agree to, so that it is not what refuses. */
static void lenient_openssl(void) {
    static const char text[] = "openssl_conf = i\n[i]\nssl_conf = s\n[s]\nsystem_default = d\n"
                               "[d]\nMinProtocol = TLSv1\nCipherString = DEFAULT@SECLEVEL=0\n";
    char path[] = "/tmp/grove-openssl-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(setenv("OPENSSL_CONF", path, 1), 0);
    assert_int_equal(OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, NULL), 1);
    assert_int_equal(unlink(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_certificate_is_renewed),
        cmocka_unit_test(rejected_certificate_is_read_again),
        cmocka_unit_test(half_a_rotation),
        cmocka_unit_test(server_certificate_is_renewed),
        cmocka_unit_test(authority_is_renewed),
        cmocka_unit_test(certificates_that_do_not_hold),
        cmocka_unit_test(another_name),
        cmocka_unit_test(old_tls),
        cmocka_unit_test(no_line_feed_at_the_end),
    };
    lenient_openssl();
    (void)signal(SIGPIPE, SIG_IGN); /* of the server's side, which writes by OpenSSL */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
