/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that counts, checks sizes and refuses on demand; the loop over all refusals. */
#include "support/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In front of each block; keeps the alignment of malloc. */
typedef union header {
    size_t size;
    max_align_t align;
} header;

static bool refuses(oom_memory *m) {
    m->allocations++;
    return m->fail_at != 0 &&
           (m->fail_once ? m->allocations == m->fail_at : m->allocations >= m->fail_at);
}

static void *oom_alloc(void *ctx, size_t n) {
    oom_memory *m = ctx;
    if (refuses(m)) {
        return NULL;
    }
    header *h = malloc(sizeof *h + n);
    if (!h) {
        fail_msg("the test itself is out of memory");
        return NULL;
    }
    h->size = n;
    memset(h + 1, 0xA5, n); /* nothing may rely on zeros */
    m->live_blocks++;
    m->live_bytes += n;
    m->peak_bytes = m->live_bytes > m->peak_bytes ? m->live_bytes : m->peak_bytes;
    return h + 1;
}

static void oom_release(void *ctx, void *p, size_t n) {
    oom_memory *m = ctx;
    header *h = (header *)p - 1;
    if (h->size != n) {
        fail_msg("a block of %zu bytes was given back as %zu bytes", h->size, n);
    }
    memset(p, 0x5A, n);
    m->live_blocks--;
    m->live_bytes -= n;
    free(h);
}

/* Always moves, so that a pointer kept across a resize is found by sanitizers. */
static void *oom_resize(void *ctx, void *p, size_t old_n, size_t n) {
    void *fresh = oom_alloc(ctx, n);
    if (fresh && p) {
        memcpy(fresh, p, old_n < n ? old_n : n);
        oom_release(ctx, p, old_n);
    }
    return fresh;
}

void oom_memory_init(oom_memory *m) {
    *m = (oom_memory){.allocator = {.size = (uint32_t)sizeof m->allocator,
                                    .ctx = m,
                                    .alloc = oom_alloc,
                                    .resize = oom_resize,
                                    .release = oom_release}};
}

grove_env *oom_env(oom_memory *m, const grove_env_options *options) {
    grove_env_options o = options ? *options : (grove_env_options){.size = (uint32_t)sizeof o};
    o.allocator = &m->allocator;
    grove_env *env = NULL;
    if (grove_env_new(&o, &env) < 0) {
        fail_msg("no environment could be made");
    }
    return env;
}

/* One run; returns how many allocations `run` itself asked for. */
static uint64_t run_once(const char *name, const grove_env_options *options, oom_fn run, void *ctx,
                         uint64_t point, bool once) {
    oom_memory m;
    oom_memory_init(&m);
    grove_env *env = oom_env(&m, options);
    m.allocations = 0;
    m.fail_at = point;
    m.fail_once = once;
    const grove_status st = run(env, ctx);
    const uint64_t asked = m.allocations;
    grove_env_unref(env);
    if (st != GROVE_OK && !(point != 0 && st == GROVE_E_NOMEM)) {
        fail_msg("%s: allocation %llu refused: returned %s", name, (unsigned long long)point,
                 grove_status_name(st));
    }
    if (m.live_blocks != 0) {
        fail_msg("%s: allocation %llu refused: %llu blocks of %llu bytes leak", name,
                 (unsigned long long)point, (unsigned long long)m.live_blocks,
                 (unsigned long long)m.live_bytes);
    }
    return asked;
}

/* Under an emulator each point costs tens of times more, and says nothing of the other machine. */
static uint64_t points_apart(void) {
    const char *text = getenv("GROVE_OOM_STEP");
    const uint64_t step = text && *text ? strtoull(text, NULL, 10) : 1;
    return step ? step : 1;
}

void oom_loop_with(const char *name, const grove_env_options *options, oom_fn run, void *ctx) {
    const uint64_t total = run_once(name, options, run, ctx, 0, false), apart = points_apart();
    uint64_t points = 0;
    for (uint64_t i = 1; i <= total; i += (i < OOM_EVERY ? 1 : OOM_STRIDE) * apart) {
        run_once(name, options, run, ctx, i, false);
        run_once(name, options, run, ctx, i, true);
        points++;
    }
    printf("oom %s: %llu allocations, %llu points\n", name, (unsigned long long)total,
           (unsigned long long)points);
}

void oom_loop(const char *name, oom_fn run, void *ctx) {
    oom_loop_with(name, NULL, run, ctx);
}
