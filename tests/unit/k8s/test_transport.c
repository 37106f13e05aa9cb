/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport over real sockets on loopback. The test is the server, too, in the same thread: it accepts,
 * reads and writes between two calls of process, so nothing depends on timing.
 */
#define _GNU_SOURCE /* accept4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <grove/k8s.h>

#include "support/oom.h"

#define SECOND INT64_C(1000000000)

typedef struct world {
    grove_env *env;
    grove_backend b;
    int listener, conn;
    int64_t now;
    char events[400];
    uint32_t completed;
    grove_status status;
    uint32_t flags;
    char request[4000];
    size_t got;
} world;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    world *w = ctx;
    w->completed++;
    w->status = c->status;
    w->flags = c->flags;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    world *w = ctx;
    size_t used = strlen(w->events);
    (void)snprintf(w->events + used, sizeof w->events - used, "%d:%s ", e->type,
                   e->resource_version);
    return GROVE_OK;
}

/* One turn: the backend works, then both sides wait a little for a byte. */
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
        assert_true((fcntl(fds[i].fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    list[n] = (struct pollfd){w->conn >= 0 ? w->conn : w->listener, POLLIN, 0};
    (void)poll(list, n + 1, 10);
}

static void accept_one(world *w) {
    for (int i = 0; i < 1000 && w->conn < 0; i++) {
        turn(w);
        w->conn = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    assert_true(w->conn >= 0);
}

/* Until the server has seen this text. */
static void expect_request(world *w, const char *text) {
    for (int i = 0; i < 1000 && !strstr(w->request, text); i++) {
        ssize_t n = read(w->conn, w->request + w->got, sizeof w->request - 1 - w->got);
        if (n > 0) {
            w->got += (size_t)n;
            w->request[w->got] = '\0';
        }
        turn(w);
    }
    assert_non_null(strstr(w->request, text));
}

static void say(world *w, const char *text) {
    assert_int_equal(write(w->conn, text, strlen(text)), strlen(text));
}

/* In `env`, taken over. `cluster` and `user` are members in JSON; each %d in cluster is the listener's port. */
static void open_in(world *w, grove_env *env, const char *cluster, const char *user,
                    uint32_t flags) {
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    char config[800], members[300];
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *w = (world){.conn = -1, .now = INT64_C(1800000000) * SECOND, .env = env};
    w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(w->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(w->listener, 8), 0);
    assert_int_equal(getsockname(w->listener, (struct sockaddr *)&a, &len), 0);
    int at = 0;
    for (const char *p = cluster; *p; p += p[0] == '%' ? 2 : 1) {
        at += p[0] == '%'
                  ? snprintf(members + at, sizeof members - (size_t)at, "%d", ntohs(a.sin_port))
                  : snprintf(members + at, sizeof members - (size_t)at, "%c", *p);
    }
    int n = snprintf(config, sizeof config,
                     "{\"clusters\":[{\"name\":\"c\",\"cluster\":{%s}}],\"users\":[{\"name\":\"u\","
                     "\"user\":{%s}}],\"contexts\":[{\"name\":\"x\",\"context\":{"
                     "\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}",
                     members, user);
    grove_k8s_options o = {.size = sizeof o, .kubeconfig_bytes = config, .seed = 3};
    o.kubeconfig_len = (uint64_t)n;
    o.flags = flags;
    assert_int_equal(grove_k8s_backend(w->env, &o, &w->b, NULL), GROVE_OK);
}

static void open_with(world *w, const char *cluster, const char *user) {
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    open_in(w, env, cluster, user, 0);
}

static void open_world(world *w) {
    open_with(w, "\"server\":\"http://127.0.0.1:%d\"", "\"token\":\"hunter2\"");
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    grove_env_unref(w->env);
    (void)close(w->listener);
    if (w->conn >= 0) {
        (void)close(w->conn);
    }
}

static void watch_from(world *w) {
    grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 1, .resource_version = "5"};
    assert_int_equal(w->b.ops->watch(w->b.impl, &g, NULL), GROVE_OK);
    accept_one(w);
    expect_request(w, "\r\n\r\n");
}

/* Events come out as their bytes come in, not when a buffer is full. */
static void events_without_delay(void **state) {
    (void)state;
    world w;
    open_world(&w);
    watch_from(&w);
    assert_non_null(strstr(w.request, "GET /api/v1/pods?watch=1&"));
    assert_null(strstr(w.request, "hunter2")); /* credentials go over TLS only */
    say(&w,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    const char *event =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\"}}}\n";
    char chunk[200];
    (void)snprintf(chunk, sizeof chunk, "%zx\r\n%s\r\n", strlen(event), event);
    for (size_t i = 0; i < strlen(chunk); i++) { /* a slow peer: byte by byte */
        assert_int_equal(write(w.conn, chunk + i, 1), 1);
        turn(&w);
    }
    for (int i = 0; i < 100 && w.events[0] == '\0'; i++) {
        turn(&w);
    }
    assert_string_equal(w.events, "1:6 ");
    close_world(&w);
}

/* The peer resets while we write: an error, and no SIGPIPE for the host. */
static void reset_while_writing(void **state) {
    (void)state;
    world w;
    sigset_t before, after;
    struct sigaction action;
    open_world(&w);
    assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL); /* it would end this process */
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    size_t size = 8u << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    const char *head = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"";
    memcpy(text, head, strlen(head));
    memcpy(text + size - 3, "\"}}", 4);
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(w.env, text, size, 0, &doc, NULL), GROVE_OK);
    grove_op op = {
        .size = sizeof op, .verb = GROVE_VERB_CREATE, .kind = GROVE_KIND_CONFIGMAP, .token = 2};
    op.body_doc = doc;
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_OK);
    accept_one(&w);
    expect_request(&w, "\r\n\r\n");
    const struct linger hard = {1, 0};
    assert_int_equal(setsockopt(w.conn, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
    assert_int_equal(close(w.conn), 0);
    w.conn = -1;
    for (int i = 0; i < 1000 && w.completed == 0; i++) {
        turn(&w);
    }
    assert_int_equal(w.completed, 1);
    assert_int_equal(w.status, GROVE_E_UNAVAILABLE);
    assert_int_equal(w.flags, GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    assert_int_equal(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
    grove_doc_unref(doc);
    free(text);
    close_world(&w);
}

/* A stream that is cut in the middle of an event goes on from the last whole one. */
static void cut_in_an_event(void **state) {
    (void)state;
    world w;
    open_world(&w);
    watch_from(&w);
    say(&w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n"
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\"}}}\n{\"ty");
    for (int i = 0; i < 100 && w.events[0] == '\0'; i++) {
        turn(&w);
    }
    assert_string_equal(w.events, "1:6 ");
    assert_int_equal(close(w.conn), 0);
    w.conn = -1;
    w.got = 0;
    w.request[0] = '\0';
    accept_one(&w);
    expect_request(&w, "resourceVersion=6 ");
    close_world(&w);
}

static void nobody_listens(void **state) {
    (void)state;
    world w;
    open_world(&w);
    (void)close(w.listener);
    w.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    grove_op op = {
        .size = sizeof op, .verb = GROVE_VERB_DELETE, .kind = GROVE_KIND_POD, .token = 2};
    op.name = "a";
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_OK);
    for (int i = 0; i < 3000 && w.completed == 0; i++) {
        w.now += SECOND; /* retries are due at once */
        turn(&w);
    }
    assert_int_equal(w.status, GROVE_E_UNAVAILABLE);
    assert_int_equal(w.flags, GROVE_ERROR_RETRIABLE); /* surely not processed */
    close_world(&w);
}

/* ---- compressed bodies ---- */

#define GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\xff"
#define PLAIN_SERVER "\"server\":\"http://127.0.0.1:%d\"", "\"token\":\"t\""

/* `text` as one stored block of deflate, flushed, not the last one: what a server's flush leaves on the wire. */
static size_t stored(char *out, const char *text) {
    size_t n = strlen(text);
    const unsigned char head[] = {0, (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)~n,
                                  (unsigned char)(~n >> 8)};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, text, n);
    return sizeof head + n;
}

static void say_chunk(world *w, const char *bytes, size_t n) {
    char head[20];
    (void)snprintf(head, sizeof head, "%zx\r\n", n);
    say(w, head);
    assert_int_equal(write(w->conn, bytes, n), n);
    say(w, "\r\n");
}

#define EVENT(version) \
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}\n"

/* A compressed stream byte by byte: an event is told when the last byte of it came, not one later. */
static void gzip_byte_by_byte(void **state) {
    (void)state;
    char bytes[400];
    world w;
    memcpy(bytes, GZIP_HEAD, 10);
    size_t first = 10 + stored(bytes + 10, EVENT("6"));
    size_t all = first + stored(bytes + first, EVENT("7"));
    open_world(&w);
    watch_from(&w);
    assert_non_null(strstr(w.request, "Accept-Encoding: gzip\r\n"));
    say(&w, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t i = 0; i < all; i++) {
        say_chunk(&w, bytes + i, 1);
        const char *want = i + 1 < first ? "" : i + 1 < all ? "1:6 " : "1:6 1:7 ";
        turn(&w);
        for (int k = 0; k < 100 && strcmp(w.events, want) != 0; k++) {
            turn(&w);
        }
        assert_string_equal(w.events, want);
    }
    close_world(&w);
}

typedef struct bits {
    char *out;
    size_t n; /* bits */
} bits;

/* The lowest `count` bits of value, the highest of them first, as codes of Huffman stand. */
static void put_code(bits *b, unsigned value, int count) {
    for (int i = count - 1; i >= 0; i--, b->n++) {
        if (b->n % 8 == 0) {
            b->out[b->n / 8] = 0;
        }
        b->out[b->n / 8] = (char)(b->out[b->n / 8] | (char)(((value >> i) & 1u) << (b->n % 8)));
    }
}

/* One byte again and again, 258 times for 13 bits, in a block of fixed codes that does not end. */
static size_t bomb(char *out, char byte, size_t times) {
    bits b = {out, 0};
    put_code(&b, 2, 3); /* not the last block; its kind, 01, the lower bit first */
    put_code(&b, 0x30u + (unsigned char)byte, 8);
    for (size_t i = 0; i < times; i++) {
        put_code(&b, 0xC5, 8); /* 258 bytes */
        put_code(&b, 0, 5);    /* from one byte back */
    }
    return (b.n + 7) / 8;
}

/* A hundred times what is on the wire: it is left, and what it was in begins anew. */
static void gzip_without_measure(void **state) {
    (void)state;
    static const struct {
        const char *opening, *version;
    } rows[] = {
        {EVENT("6") "{\"type\":\"ADDED\",\"object\":\"", "5"}, /* an event without end */
        {"{\"items\":[{\"metadata\":\"", NULL},                /* an item */
        {"{\"unknown\":[\"", NULL},                            /* a member of the list */
    };
    const size_t times = 800000; /* 197 MiB of 1.3 */
    char *bytes = malloc(times * 2 + 1000);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        oom_memory m;
        oom_memory_init(&m);
        open_in(&w, oom_env(&m, NULL), PLAIN_SERVER, rows[i].version ? 0 : GROVE_K8S_NO_WATCHLIST);
        grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 1};
        g.resource_version = rows[i].version;
        assert_int_equal(w.b.ops->watch(w.b.impl, &g, NULL), GROVE_OK);
        accept_one(&w);
        expect_request(&w, "\r\n\r\n");
        memcpy(bytes, GZIP_HEAD, 10);
        size_t all = 10 + stored(bytes + 10, rows[i].opening);
        all += bomb(bytes + all, 'x', times);
        char head[160];
        (void)snprintf(head, sizeof head,
                       "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                       all);
        say(&w, head);
        for (size_t at = 0;
             at < all;) { /* as much at once as the system takes; or the client left */
            ssize_t n = send(w.conn, bytes + at, all - at, MSG_NOSIGNAL);
            at += n > 0 ? (size_t)n : 0;
            at = n < 0 && errno != EAGAIN ? all : at;
            if (n < 0) {
                turn(&w);
            }
        }
        for (int k = 0; k < 20; k++) {
            w.now += SECOND;
            turn(&w);
        }
        assert_string_equal(w.events, rows[i].version ? "1:6 6: " : "");
        assert_true(m.peak_bytes < (UINT64_C(100) << 20));
        close_world(&w);
        assert_int_equal(m.live_blocks, 0);
    }
    free(bytes);
}

/* ---- proxies ---- */

static void no_variables(void) {
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(unsetenv(names[i]), 0);
    }
}

/* Which way a request goes, by the first bytes that the listener sees, which is proxy and server alike. */
static void ways(void **state) {
    (void)state;
#define ANY "\"server\":\"https://0.0.0.0:%d\""
#define PROXY(scheme) ",\"proxy-url\":\"" scheme "u:hunter2@127.0.0.1:%d\""
    static const struct {
        const char *cluster;
        bool https_proxy; /* of the environment */
        const char *no_proxy, *first;
    } cases[] = {
        {ANY, false, NULL, "\x16"}, /* TLS begins */
        {ANY, true, NULL, "CONNECT 0.0.0.0:"},
        {ANY, true, "0.0.0.0", "\x16"},
        {ANY, true, "10.0.0.0/8,0.0.0.0/8", "\x16"},
        {ANY, true, "example.com", "CONNECT 0.0.0.0:"},
        {ANY PROXY("http://"), false, NULL, "CONNECT 0.0.0.0:"},
        {ANY PROXY("http://"), false, "*", "CONNECT 0.0.0.0:"}, /* what was said beats the rest */
        {ANY PROXY("https://"), false, NULL, "\x16"},
        {ANY PROXY("socks5://"), false, NULL, "\x05"},
        {"\"server\":\"http://api.example.test\"" PROXY("http://"), false, NULL,
         "GET http://api.example.test/api/v1/pods?watch=1"},
        /* never through one of the environment: */
        {"\"server\":\"https://127.0.0.1:%d\"", true, NULL, "\x16"},
        {"\"server\":\"https://localhost:%d\"", true, NULL, "\x16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w;
        char proxy[60];
        no_variables();
        open_with(&w, cases[i].cluster, "\"token\":\"s\"");
        if (cases[i].https_proxy) {
            struct sockaddr_in a = {0};
            socklen_t len = sizeof a;
            assert_int_equal(getsockname(w.listener, (struct sockaddr *)&a, &len), 0);
            (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", ntohs(a.sin_port));
            assert_int_equal(setenv("HTTPS_PROXY", proxy, 1), 0);
        }
        if (cases[i].no_proxy) {
            assert_int_equal(setenv("NO_PROXY", cases[i].no_proxy, 1), 0);
        }
        grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 1};
        g.resource_version = "5";
        assert_int_equal(w.b.ops->watch(w.b.impl, &g, NULL), GROVE_OK);
        accept_one(&w);
        expect_request(&w, cases[i].first);
        if (strncmp(w.request, cases[i].first, strlen(cases[i].first)) != 0) {
            fail_msg("case %zu: %.60s", i, w.request);
        }
        close_world(&w);
    }
    no_variables();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_without_delay),
        cmocka_unit_test(reset_while_writing),
        cmocka_unit_test(cut_in_an_event),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(gzip_byte_by_byte),
        cmocka_unit_test(gzip_without_measure),
        cmocka_unit_test(ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
