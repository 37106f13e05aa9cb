/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and descriptors of a multi handle: close-on-exec, kept alive, each of them known. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "curl_pool.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grove/sys/util.h>

/* More room for one more element; the table as it was when there is none. */
static void *grown(gv_k8s_curl_pool *p, void *table, uint32_t *cap, size_t size) {
    void *more = grove_memory_resize(p->env, table, *cap * size, (*cap + 8) * size);
    if (!more) {
        p->no_memory = true;
        return NULL;
    }
    *cap += 8;
    return more;
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address) {
    gv_k8s_curl_pool *p = ctx;
    (void)purpose;
    if (p->n_sockets == p->cap_sockets) {
        int *more = grown(p, p->sockets, &p->cap_sockets, sizeof *p->sockets);
        if (!more) {
            return CURL_SOCKET_BAD;
        }
        p->sockets = more;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) {
        p->sockets[p->n_sockets++] = fd;
    }
    return fd;
}

static int close_socket(void *ctx, curl_socket_t fd) {
    gv_k8s_curl_pool *p = ctx;
    for (uint32_t i = 0; i < p->n_sockets; i++) {
        if (p->sockets[i] == fd) {
            p->sockets[i] = p->sockets[--p->n_sockets];
            break;
        }
    }
    return close(fd);
}

/* Keep-alive that notices a dead peer in half a minute. */
static int tune_socket(void *ctx, curl_socket_t fd, curlsocktype purpose) {
    (void)ctx;
    (void)purpose;
    const int on = 1, idle = 15, interval = 5, count = 3;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#ifdef TCP_KEEPIDLE
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
#endif
#ifdef TCP_USER_TIMEOUT
    const unsigned user_timeout = 30000;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, sizeof user_timeout);
#endif
    return CURL_SOCKOPT_OK;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx) {
    (void)easy;
    (void)socket_ctx;
    gv_k8s_curl_pool *p = ctx;
    uint32_t i = 0;
    while (i < p->n_fds && p->fds[i].fd != fd) {
        i++;
    }
    if (what == CURL_POLL_REMOVE) {
        if (i < p->n_fds) {
            p->fds[i] = p->fds[--p->n_fds];
        }
        return 0;
    }
    if (i == p->cap_fds) {
        struct pollfd *more = grown(p, p->fds, &p->cap_fds, sizeof *p->fds);
        if (!more) {
            return -1;
        }
        p->fds = more;
    }
    p->n_fds += i == p->n_fds ? 1 : 0;
    p->fds[i] = (struct pollfd){.fd = fd};
    p->fds[i].events |= (what & CURL_POLL_IN) != 0 ? POLLIN : 0;
    p->fds[i].events = (short)(p->fds[i].events | ((what & CURL_POLL_OUT) != 0 ? POLLOUT : 0));
    return 0;
}

static CURLM *new_multi(gv_k8s_curl_pool *p) {
    CURLM *m = curl_multi_init();
    if (m) {
        (void)curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_socket);
        (void)curl_multi_setopt(m, CURLMOPT_SOCKETDATA, p);
        (void)curl_multi_setopt(m, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
        (void)curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, 64L);
    }
    return m;
}

gv_k8s_curl_pool *gv_k8s_curl_pool_new(grove_env *env) {
    gv_k8s_curl_pool *p = grove_memory_alloc(env, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->env = env;
    p->deadline = INT64_MAX;
    p->multi = new_multi(p);
    if (!p->multi) {
        grove_memory_free(env, p, sizeof *p);
        return NULL;
    }
    return p;
}

void gv_k8s_curl_pool_free(gv_k8s_curl_pool *p, bool reset) {
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    for (uint32_t i = 0; i < p->n_sockets && reset; i++) { /* closing sends a reset, nothing else */
        (void)setsockopt(p->sockets[i], SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    (void)curl_multi_cleanup(p->multi);
    grove_memory_free(p->env, p->fds, p->cap_fds * sizeof *p->fds);
    grove_memory_free(p->env, p->sockets, p->cap_sockets * sizeof *p->sockets);
    grove_memory_free(p->env, p, sizeof *p);
}

void gv_k8s_curl_pool_adopt(gv_k8s_curl_pool *p, CURL *easy) {
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, p);
    (void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    (void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, p);
    (void)curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, tune_socket);
}

void gv_k8s_curl_pool_pump(gv_k8s_curl_pool *p, const struct pollfd *ready) {
    int running = 0, mask = 0;
    if (ready) {
        mask |= (ready->revents & (POLLIN | POLLHUP)) != 0 ? CURL_CSELECT_IN : 0;
        mask |= (ready->revents & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
        mask |= (ready->revents & (POLLERR | POLLNVAL)) != 0 ? CURL_CSELECT_ERR : 0;
    }
    (void)curl_multi_socket_action(p->multi, ready ? ready->fd : CURL_SOCKET_TIMEOUT, mask,
                                   &running);
}
