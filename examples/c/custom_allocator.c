/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the host hands out and takes back: counted, bounded, and empty at the end.
 *
 * The same document is parsed with less and less memory until it no longer fits. The call then fails cleanly
 * with GROVE_E_NOMEM, and everything it took has been given back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>

typedef struct budget {
    size_t used;
    size_t peak;
    size_t limit;
} budget;

static int take(budget *b, size_t n) {
    if (b->used + n > b->limit) {
        return 0;
    }
    b->used += n;
    b->peak = b->used > b->peak ? b->used : b->peak;
    return 1;
}

static void *alloc(void *ctx, size_t n) {
    return take(ctx, n) ? malloc(n) : NULL;
}

static void *resize(void *ctx, void *p, size_t old_n, size_t n) {
    budget *b = ctx;
    if (n > old_n && !take(b, n - old_n)) {
        return NULL;
    }
    void *moved = realloc(p, n);
    if (!moved) {
        b->used -= n > old_n ? n - old_n : 0;
        return NULL;
    }
    b->used -= n < old_n ? old_n - n : 0;
    return moved;
}

static void release(void *ctx, void *p, size_t n) {
    ((budget *)ctx)->used -= n;
    free(p);
}

static grove_status parse(budget *b, const char *text) {
    const grove_allocator allocator = {sizeof allocator, 0, b, alloc, resize, release};
    grove_env_options options = {0};
    options.size = sizeof options;
    options.allocator = &allocator;
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_env_new(&options, &env);
    if (st == GROVE_OK) {
        st = grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL);
    }
    grove_doc_unref(doc);
    grove_env_unref(env);
    return st;
}

int main(void) {
    const char *text =
        "{\"kind\":\"PodCliqueSet\",\"spec\":{\"replicas\":2,\"list\":[1,2,3,4,5,6,7,8]}}";
    budget b = {0, 0, SIZE_MAX};
    if (parse(&b, text) < 0 || b.used != 0) {
        return 1;
    }
    printf("needs %zu bytes, gives back all of them\n", b.peak);
    int failures = 0;
    for (size_t limit = b.peak; limit-- > 0;) {
        budget small = {0, 0, limit};
        grove_status st = parse(&small, text);
        if (small.used != 0 || (st != GROVE_OK && st != GROVE_E_NOMEM)) {
            printf("with %zu bytes: %s, %zu not given back\n", limit, grove_status_name(st),
                   small.used);
            return 1;
        }
        failures += st == GROVE_E_NOMEM;
    }
    printf("with less it fails cleanly: %s\n", failures > 0 ? "yes" : "no");
    return failures > 0 ? 0 : 1;
}
