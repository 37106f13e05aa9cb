/* SPDX-License-Identifier: Apache-2.0 */
/* Bump allocation in blocks that double; in the debug form one allocation for each object. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

/* Under the address sanitizer the free part of each block is out of bounds, and so are a few bytes between
 * objects, so that running over the end of one is seen although the block is one allocation. */
#if defined(__SANITIZE_ADDRESS__)
#define GV_ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GV_ARENA_POISON 1
#endif
#endif
#ifdef GV_ARENA_POISON
/* From the sanitizer's run-time library; declared here since its header is no part of ISO C. */
void __asan_poison_memory_region(const volatile void *p, size_t n);
void __asan_unpoison_memory_region(const volatile void *p, size_t n);
#define CLOSE_MEMORY(p, n) __asan_poison_memory_region((p), (n))
#define OPEN_MEMORY(p, n) __asan_unpoison_memory_region((p), (n))
#define REDZONE 8
#else
#define CLOSE_MEMORY(p, n) ((void)(p), (void)(n))
#define OPEN_MEMORY(p, n) ((void)(p), (void)(n))
#define REDZONE 0
#endif

#define FIRST_BLOCK 1024
#define LARGEST_STEP ((size_t)1 << 20)

struct gv_arena_block {
    gv_arena_block *next;
    size_t size; /* of the whole allocation */
};

void gv_arena_init(gv_arena *a, grove_env *env) {
    *a = (gv_arena){.env = env, .next_size = FIRST_BLOCK};
}

static void free_blocks(gv_arena *a, gv_arena_block *block) {
    while (block) {
        gv_arena_block *next = block->next;
        a->bytes -= block->size;
        OPEN_MEMORY(block, block->size);
        gv_free(a->env, block, block->size);
        block = next;
    }
}

void gv_arena_fini(gv_arena *a) {
    if (a->env) {
        free_blocks(a, a->blocks);
    }
    gv_arena_init(a, a->env);
}

static gv_arena_block *add_block(gv_arena *a, size_t n) {
    if (n > SIZE_MAX - sizeof(gv_arena_block)) {
        return NULL;
    }
    size_t size = n + sizeof(gv_arena_block);
    gv_arena_block *block = gv_alloc(a->env, size);
    if (block) {
        block->next = a->blocks;
        block->size = size;
        a->blocks = block;
        a->bytes += size;
    }
    return block;
}

#ifdef GV_DEBUG_ARENA

void gv_arena_reset(gv_arena *a) {
    gv_arena_fini(a);
}

void *gv_arena_alloc(gv_arena *a, size_t n) {
    gv_arena_block *block = add_block(a, n);
    return block ? block + 1 : NULL;
}

#else

/* Makes a block the one that objects are taken from. */
static void use_block(gv_arena *a, gv_arena_block *block) {
    a->at = (char *)(block + 1);
    a->end = (char *)block + block->size;
    CLOSE_MEMORY(a->at, (size_t)(a->end - a->at));
}

void gv_arena_reset(gv_arena *a) {
    if (!a->blocks) {
        return;
    }
    /* The newest block is the largest regular one: keeping it makes the next round allocation-free. */
    free_blocks(a, a->blocks->next);
    a->blocks->next = NULL;
    use_block(a, a->blocks);
}

void *gv_arena_alloc(gv_arena *a, size_t n) {
    if (n > SIZE_MAX - 7 - REDZONE) {
        return NULL;
    }
    const size_t asked = n;
    n = ((n + 7) & ~(size_t)7) + REDZONE;
    if (n > (size_t)(a->end - a->at)) {
        size_t want = a->next_size > n ? a->next_size : n;
        gv_arena_block *block = add_block(a, want);
        if (!block) {
            return NULL;
        }
        use_block(a, block);
        a->next_size += a->next_size < LARGEST_STEP ? a->next_size : 0;
    }
    void *p = a->at;
    a->at += n;
    OPEN_MEMORY(p, asked);
    return p;
}

#endif

void *gv_arena_zalloc(gv_arena *a, size_t n) {
    void *p = gv_arena_alloc(a, n);
    if (p && n > 0) {
        memset(p, 0, n);
    }
    return p;
}

char *gv_arena_dup(gv_arena *a, gv_str s) {
    char *copy = gv_arena_alloc(a, s.n + 1);
    if (copy) {
        if (s.n > 0) {
            memcpy(copy, s.p, s.n);
        }
        copy[s.n] = '\0';
    }
    return copy;
}

char *gv_arena_fmt(gv_arena *a, const char *fmt, ...) {
    char stack[256];
    va_list ap;
    va_start(ap, fmt);
    size_t n = gv_vfmt(stack, sizeof stack, fmt, ap);
    va_end(ap);
    if (n < sizeof stack - 4) { /* certainly not cut, not even between characters */
        return gv_arena_dup(a, (gv_str){stack, n});
    }
    grove_buf buf;
    grove_buf_init(&buf, a->env);
    va_start(ap, fmt);
    grove_status st = gv_buf_vfmt(&buf, fmt, ap);
    va_end(ap);
    char *copy = st == GROVE_OK ? gv_arena_dup(a, gv_buf_view(&buf)) : NULL;
    grove_buf_fini(&buf);
    return copy;
}
