/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that libyaml takes behind the environment's back: malloc itself is replaced in this program, so
 * that each of its calls can be refused. Needs glibc; sanitizers replace malloc themselves, so there the
 * test says that it is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/doc.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define CANNOT_REPLACE 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CANNOT_REPLACE 1
#endif

#ifdef CANNOT_REPLACE

static void test_refusals(void **state) {
    (void)state;
    print_message("SKIPPED: malloc cannot be replaced in this build\n");
    skip();
}

#else

#define POINTS_AT_LEAST 100

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);

static bool armed;       /* counting and refusing */
static uint64_t calls;   /* since armed */
static uint64_t fail_at; /* 1-based; 0: never */
static bool fail_once;
static int64_t live; /* blocks */

static bool refuses(void) {
    if (!armed) {
        return false;
    }
    calls++;
    return fail_at != 0 && (fail_once ? calls == fail_at : calls >= fail_at);
}

static void *counted(void *p) {
    live += armed && p ? 1 : 0;
    return p;
}

/* The C library's own headers give the parameters reserved names. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
void *malloc(size_t n) {
    return refuses() ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size) {
    return refuses() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n) {
    if (refuses()) {
        return NULL;
    }
    void *moved = __libc_realloc(p, n);
    return p ? moved : counted(moved);
}

void free(void *p) {
    live -= armed && p ? 1 : 0;
    __libc_free(p);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static const char *const texts[] = {
    ("%YAML 1.1\n%TAG !e! tag:yaml.org,2002:\n---\na: &a {x: 1, y: [0x1F, 1_0.5, yes, ~]}\nb: *a\n"
     "c:\n  <<: [*a, {z: 1}]\n  y: 2\n1.5: k\nd: !!binary aGk=\ne: !e!str 1\nf: |\n  text\n  more\n"
     "g: \"x\\0y\"\nh: 'a''b'\n? long\n: v\nx: 1\nx: 2\n"),
    "a:\n- b:\n  - [[[{c: [d]}]]]\n- >-\n  folded\n  text\n...\n---\nb: 1\n",
    "a: b: c\n",       /* errors must not leak either */
    "a: [1, {b: 2}\n", /* unfinished */
    "a: &x [*x]\n",
    "- !unknown x\n",
    "\"a\\u00e9\": 'x'\n- y\n",
};

/* Reads a whole stream; the status of the first failure that is no parse error. */
static grove_status read_all(const char *text) {
    grove_env *env = NULL;
    grove_stream *stream = NULL;
    grove_status st = grove_env_new(NULL, &env);
    if (st == GROVE_OK) {
        st = grove_stream_new(env, text, strlen(text), 0, &stream, NULL);
    }
    while (st == GROVE_OK || st == GROVE_E_PARSE) {
        grove_doc *doc = NULL;
        st = grove_stream_next(stream, &doc, NULL);
        if (st == GROVE_OK && !doc) {
            break;
        }
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    grove_env_unref(env);
    return st;
}

static grove_status run(const char *text, uint64_t point, bool once) {
    calls = 0;
    live = 0;
    fail_at = point;
    fail_once = once;
    armed = true;
    grove_status st = read_all(text);
    armed = false;
    return st;
}

static void test_refusals(void **state) {
    (void)state;
    uint64_t points = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(run(texts[i], 0, false), GROVE_OK);
        assert_int_equal(live, 0);
        const uint64_t total = calls;
        for (uint64_t point = 1; point <= total; point++, points++) {
            for (int once = 0; once < 2; once++) {
                grove_status st = run(texts[i], point, once != 0);
                if (st != GROVE_E_NOMEM || live != 0) {
                    fail_msg("%s: refused call %d of %d: %s, %d blocks leak", texts[i], (int)point,
                             (int)total, grove_status_name(st), (int)live);
                }
            }
        }
    }
    print_message("%d refused calls, each twice\n", (int)points);
    assert_true(points >= POINTS_AT_LEAST);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
