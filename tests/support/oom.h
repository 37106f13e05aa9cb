/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation-failure loop: a function is run once to count its allocations, then once for each of
 * them with that one (and all later ones) refused.
 *
 *     static grove_status parse(grove_env *env, void *ctx) {
 *         grove_doc *doc = NULL;
 *         grove_status st = grove_doc_parse_json(env, ctx, strlen(ctx), 0, &doc, NULL);
 *         grove_doc_unref(doc);   // doc is still NULL after a failure
 *         return st;
 *     }
 *     static void test_oom(void **state) {
 *         (void)state;
 *         oom_loop("parse", parse, "{\"a\":[1,2,3]}");
 *     }
 *
 * The function must return GROVE_OK when nothing is refused; GROVE_E_NOMEM (or GROVE_OK, where it could
 * do without) when something is; and free all it allocated from `env` either way. Every point up to
 * OOM_EVERY is tried, then every OOM_STRIDE-th (GROVE_OOM_STEP=n: every n-th of these). Each point is tried twice: all later allocations refused
 * as well, and only this one refused. Sizes given back on free are checked against those asked for.
 */
#ifndef TESTS_SUPPORT_OOM_H
#define TESTS_SUPPORT_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include <grove/env.h>

#define OOM_EVERY 2000
#define OOM_STRIDE 97

typedef grove_status (*oom_fn)(grove_env *env, void *ctx);

/* Fails the running cmocka test on a wrong status, a leak or a wrong size. Prints the number of points. */
void oom_loop(const char *name, oom_fn run, void *ctx);
/* The same for a function that takes an environment with options of its own (limits, log). */
void oom_loop_with(const char *name, const grove_env_options *options, oom_fn run, void *ctx);

/* The allocator by itself: counts, checks, and refuses from the `fail_at`-th allocation on. */
typedef struct oom_memory {
    grove_allocator allocator; /* ctx leads back here */
    uint64_t allocations;      /* alloc and resize calls so far */
    uint64_t fail_at;          /* 1-based; 0: never */
    bool fail_once;            /* only that one */
    uint64_t live_blocks, live_bytes, peak_bytes;
} oom_memory;

void oom_memory_init(oom_memory *m);
/* An environment on it; the memory must outlive it. `options` may be NULL; its allocator is ignored. */
grove_env *oom_env(oom_memory *m, const grove_env_options *options);

#endif
