/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, formatted appends, base64, times, files. */
#define _GNU_SOURCE /* explicit_bzero, timegm */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grove/sys/util.h>

#define FILE_LIMIT (UINT64_C(4) << 20)
#define NS_PER_S INT64_C(1000000000)

typedef struct gv_k8s_block {
    struct gv_k8s_block *next;
    size_t size; /* of the whole block */
    char text[];
} gv_k8s_block;

char *gv_k8s_pool_text(gv_k8s_pool *pool, const char *p, size_t n) {
    size_t size = sizeof(gv_k8s_block) + n + 1;
    gv_k8s_block *b = grove_memory_alloc(pool->env, size);
    if (!b) {
        return NULL;
    }
    b->size = size;
    b->next = pool->blocks;
    pool->blocks = b;
    if (n > 0) {
        memcpy(b->text, p, n);
    }
    return b->text;
}

bool gv_k8s_pool_set(gv_k8s_pool *pool, const char **out, const char *text) {
    if (!text) {
        *out = NULL;
        return true;
    }
    char *copy = gv_k8s_pool_text(pool, text, strlen(text));
    if (copy) {
        *out = copy;
    }
    return copy != NULL;
}

void gv_k8s_pool_fini(gv_k8s_pool *pool) {
    while (pool->blocks) {
        gv_k8s_block *b = pool->blocks;
        size_t size = b->size;
        pool->blocks = b->next;
        explicit_bzero(b, size);
        grove_memory_free(pool->env, b, size);
    }
}

grove_status gv_k8s_put(grove_buf *buf, const char *text) {
    return grove_buf_append(buf, text, strlen(text));
}

grove_status gv_k8s_putf(grove_buf *buf, const char *fmt, ...) {
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) {
        return GROVE_E_INTERNAL;
    }
    if ((size_t)n < sizeof small) {
        return grove_buf_append(buf, small, (size_t)n);
    }
    grove_status st = grove_buf_reserve(buf, (size_t)n + 1);
    if (st == GROVE_OK) {
        va_start(ap, fmt);
        (void)vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
        va_end(ap);
        buf->len += (uint64_t)n;
    }
    return st;
}

grove_status gv_k8s_put_escaped(grove_buf *buf, const char *text) {
    static const char hex[] = "0123456789ABCDEF";
    grove_status st = GROVE_OK;
    for (const unsigned char *p = (const unsigned char *)text; *p && st == GROVE_OK; p++) {
        char out[3] = {(char)*p};
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("-._~", *p) != NULL;
        if (!plain) {
            out[0] = '%';
            out[1] = hex[*p >> 4];
            out[2] = hex[*p & 15];
        }
        st = grove_buf_append(buf, out, plain ? 1 : 3);
    }
    return st;
}

void gv_k8s_wipe(grove_buf *buf) {
    if (buf->data) {
        explicit_bzero(buf->data, (size_t)buf->cap);
    }
    grove_buf_fini(buf);
}

grove_status gv_k8s_error(grove_error *err, grove_status status, const char *fmt, ...) {
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return grove_error_set(err, status, message);
}

grove_status gv_k8s_nomem(grove_error *err) {
    return grove_error_set(err, GROVE_E_NOMEM, "out of memory");
}

/* ---- base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

grove_status gv_k8s_base64_decode(const char *text, size_t n, grove_buf *out) {
    uint32_t bits = 0, count = 0;
    size_t i = 0;
    for (; i < n && text[i] != '='; i++) {
        if (strchr(" \t\r\n", text[i])) {
            if (text[i] == '\0') {
                return GROVE_E_PARSE;
            }
            continue;
        }
        const char *at = strchr(digits, text[i]);
        if (!at || text[i] == '\0') {
            return GROVE_E_PARSE;
        }
        bits = bits << 6 | (uint32_t)(at - digits);
        if (++count % 4 == 0) {
            const char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
            grove_status st = grove_buf_append(out, bytes, 3);
            if (st < 0) {
                return st;
            }
            bits = 0;
        }
    }
    uint32_t pad = 0;
    for (; i < n; i++) {
        if (text[i] == '=') {
            pad++;
        } else if (text[i] == '\0' || !strchr(" \t\r\n", text[i])) {
            return GROVE_E_PARSE;
        }
    }
    uint32_t rest = count % 4;
    if (rest == 1 || pad != (4 - rest) % 4) {
        return GROVE_E_PARSE;
    }
    if (rest == 0) {
        return GROVE_OK;
    }
    bits <<= 6 * (4 - rest);
    const char tail[2] = {(char)(bits >> 16), (char)(bits >> 8)};
    return grove_buf_append(out, tail, rest - 1);
}

grove_status gv_k8s_base64_encode(const char *bytes, size_t n, grove_buf *out) {
    const unsigned char *p = (const unsigned char *)bytes;
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < n && st == GROVE_OK; i += 3) {
        size_t have = n - i < 3 ? n - i : 3;
        uint32_t bits = (uint32_t)p[i] << 16;
        bits |= have > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        bits |= have > 2 ? (uint32_t)p[i + 2] : 0;
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              have > 1 ? digits[bits >> 6 & 63] : '=',
                              have > 2 ? digits[bits & 63] : '='};
        st = grove_buf_append(out, four, 4);
    }
    return st;
}

/* ---- times ---- */

bool gv_k8s_time_read(const char *text, int64_t *out_ns) {
    struct tm tm = {0};
    int used = 0;
    if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                        &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6) {
        return false;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    const char *p = text + used;
    int64_t fraction = 0, unit = NS_PER_S / 10;
    if (*p == '.') {
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10) {
            fraction += (*p - '0') * unit;
        }
    }
    int64_t offset = 0;
    int hours = 0, minutes = 0;
    if ((*p == '+' || *p == '-') && sscanf(p + 1, "%2d:%2d%n", &hours, &minutes, &used) == 2) {
        offset = (*p == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
        p += 1 + used;
    } else if (*p == 'Z' || *p == 'z') {
        p++;
    } else {
        return false;
    }
    if (*p != '\0' || tm.tm_year < 70 || tm.tm_year > 300) {
        return false;
    }
    *out_ns = ((int64_t)timegm(&tm) - offset) * NS_PER_S + fraction;
    return true;
}

void gv_k8s_time_write(int64_t ns, char out[32]) {
    time_t seconds = (time_t)(ns / NS_PER_S);
    struct tm tm;
    char whole[24] = "1970-01-01T00:00:00";
    if (gmtime_r(&seconds, &tm)) {
        (void)strftime(whole, sizeof whole, "%Y-%m-%dT%H:%M:%S", &tm);
    }
    (void)snprintf(out, 32, "%.19s.%06dZ", whole, (int)(ns % NS_PER_S / 1000));
}

const char *gv_k8s_member(const grove_node *object, const char *key) {
    const grove_node *node = grove_node_get(object, key);
    return grove_node_type(node) == GROVE_STRING ? grove_node_text(node) : NULL;
}

/* ---- files ---- */

static grove_status read_all(int fd, const char *path, grove_buf *out, grove_error *err) {
    for (;;) {
        grove_status st = grove_buf_reserve(out, 4096);
        if (st < 0) {
            return gv_k8s_nomem(err);
        }
        ssize_t n = read(fd, out->data + out->len, 4096);
        if (n == 0) {
            out->data[out->len] = '\0';
            return GROVE_OK;
        }
        if (n < 0 && errno != EINTR) {
            return gv_k8s_error(err, GROVE_E_IO, "%s: %s", path, strerror(errno));
        }
        out->len += n > 0 ? (uint64_t)n : 0;
        if (out->len > FILE_LIMIT) {
            return gv_k8s_error(err, GROVE_E_LIMIT, "%s: larger than 4 MiB", path);
        }
    }
}

grove_status gv_k8s_read_file(const char *path, grove_buf *out, grove_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return gv_k8s_error(err,
                            errno == ENOENT || errno == ENOTDIR ? GROVE_E_NOT_FOUND : GROVE_E_IO,
                            "%s: %s", path, strerror(errno));
    }
    grove_status st = read_all(fd, path, out, err);
    (void)close(fd);
    return st;
}
