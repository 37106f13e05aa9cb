/* SPDX-License-Identifier: Apache-2.0 */
/* grove_env: the host's allocator, log callback and limits; all memory of the library passes here. */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"

#define DEFAULT_DEPTH 128
#define DEFAULT_DOCUMENT_BYTES (UINT64_C(64) << 20)
#define DEFAULT_DOCUMENT_NODES UINT64_C(4194304)
#define DEFAULT_DIAGNOSTICS 1000
#define DEFAULT_SEARCH_STEPS UINT64_C(2000000)

static void *std_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}

static void *std_resize(void *ctx, void *p, size_t old_n, size_t n) {
    (void)ctx;
    (void)old_n;
    return realloc(p, n);
}

static void std_release(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}

static const grove_allocator std_allocator = {
    (uint32_t)sizeof(grove_allocator), 0, NULL, std_alloc, std_resize, std_release};

grove_status gv_struct_check(const void *in, uint32_t in_size, size_t known, size_t min_size) {
    if (in_size < min_size) {
        return GROVE_E_INVALID;
    }
    const unsigned char *bytes = in;
    for (size_t i = known; i < in_size; i++) {
        if (bytes[i] != 0) {
            return GROVE_E_TOO_NEW;
        }
    }
    return GROVE_OK;
}

grove_status gv_struct_in(void *out, size_t out_size, const void *in, uint32_t in_size,
                          size_t min_size) {
    grove_status status = gv_struct_check(in, in_size, out_size, min_size);
    if (status < 0) {
        return status;
    }
    memset(out, 0, out_size);
    memcpy(out, in, in_size < out_size ? in_size : out_size);
    return GROVE_OK;
}

static grove_status read_limits(grove_limits *out, const grove_limits *in) {
    grove_limits l = {0};
    if (in) {
        grove_status st = gv_struct_in(&l, sizeof l, in, in->size, sizeof l.size);
        if (st < 0) {
            return st;
        }
    }
    l.size = (uint32_t)sizeof l;
    l.depth = l.depth ? l.depth : DEFAULT_DEPTH;
    if (l.depth > GV_DEPTH_MAX) {
        l.depth = GV_DEPTH_MAX;
    }
    l.document_bytes = l.document_bytes ? l.document_bytes : DEFAULT_DOCUMENT_BYTES;
    l.document_nodes = l.document_nodes ? l.document_nodes : DEFAULT_DOCUMENT_NODES;
    l.diagnostics = l.diagnostics ? l.diagnostics : DEFAULT_DIAGNOSTICS;
    l.search_steps = l.search_steps ? l.search_steps : DEFAULT_SEARCH_STEPS;
    l.store_bytes = l.store_bytes ? l.store_bytes : UINT64_MAX;
    *out = l;
    return GROVE_OK;
}

static grove_status read_allocator(grove_allocator *out, const grove_allocator *in) {
    if (!in) {
        *out = std_allocator;
        return GROVE_OK;
    }
    return gv_struct_in(out, sizeof *out, in, in->size, sizeof *out);
}

grove_status grove_env_new(const grove_env_options *options, grove_env **out_env) {
    if (!out_env) {
        return GROVE_E_INVALID;
    }
    grove_env_options o = {0};
    grove_env e = {0};
    grove_status st = GROVE_OK;
    if (options) {
        st = gv_struct_in(&o, sizeof o, options, options->size, sizeof o.size);
    }
    if (st == GROVE_OK) {
        st = read_allocator(&e.allocator, o.allocator);
    }
    if (st == GROVE_OK) {
        st = read_limits(&e.limits, o.limits);
    }
    if (st < 0) {
        return st;
    }
    if (!e.allocator.alloc || !e.allocator.resize || !e.allocator.release) {
        return GROVE_E_INVALID;
    }
    e.log = o.log;
    e.log_ctx = o.log_ctx;
    e.log_level = o.log_level ? o.log_level : GROVE_LOG_INFO;
    grove_env *env = e.allocator.alloc(e.allocator.ctx, sizeof *env);
    if (!env) {
        return GROVE_E_NOMEM;
    }
    memcpy(env, &e, sizeof e);
    gv_refs_init(&env->refs);
    *out_env = env;
    return GROVE_OK;
}

grove_env *grove_env_ref(grove_env *env) {
    if (env) {
        gv_refs_up(&env->refs);
    }
    return env;
}

void grove_env_unref(grove_env *env) {
    if (env && gv_refs_down(&env->refs)) {
        grove_allocator a = env->allocator;
        a.release(a.ctx, env, sizeof *env);
    }
}

const grove_limits *gv_env_limits(const grove_env *env) {
    return &env->limits;
}

void *gv_alloc(grove_env *env, size_t n) {
    return env->allocator.alloc(env->allocator.ctx, n ? n : 1);
}

void *gv_zalloc(grove_env *env, size_t n) {
    void *p = gv_alloc(env, n);
    if (p) {
        memset(p, 0, n);
    }
    return p;
}

void *gv_realloc(grove_env *env, void *p, size_t old_n, size_t n) {
    return env->allocator.resize(env->allocator.ctx, p, p && old_n == 0 ? 1 : old_n, n ? n : 1);
}

void gv_free(grove_env *env, void *p, size_t n) {
    if (p) {
        env->allocator.release(env->allocator.ctx, p, n ? n : 1);
    }
}
