/* SPDX-License-Identifier: Apache-2.0 */
/* Any cut of a stream gives the same documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/util.h>

#include "k8s/framer.h"
#include "support/files.h"
#include "support/oom.h"

/* Every document, each followed by a 0, in pieces of `piece` bytes (0: random). */
static grove_status frame(grove_env *env, const char *text, size_t len, size_t piece, uint64_t seed,
                          grove_buf *out, bool *broken) {
    gv_k8s_framer f;
    gv_k8s_framer_init(&f, env);
    grove_status st = GROVE_OK;
    for (size_t at = 0; at < len && st == GROVE_OK;) {
        size_t n = piece > 0 ? piece : (size_t)(grove_random_next(&seed) % 97 + 1);
        n = n < len - at ? n : len - at;
        st = gv_k8s_framer_add(&f, text + at, n);
        at += n;
        const char *doc = NULL;
        size_t doc_len = 0;
        while (st == GROVE_OK && gv_k8s_framer_next(&f, &doc, &doc_len)) {
            st = grove_buf_append(out, doc, doc_len);
            st = st < 0 ? st : grove_buf_append(out, "", 1);
        }
    }
    *broken = f.broken;
    gv_k8s_framer_fini(&f);
    return st;
}

static void any_cut(void **state) {
    (void)state;
    size_t len = 0;
    char *text = test_read("tests/golden/k8s/pods-watch-selector.jsonl", &len);
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_buf whole, cut;
    bool broken = false;
    grove_buf_init(&whole, env);
    grove_buf_init(&cut, env);
    assert_int_equal(frame(env, text, len, len, 0, &whole, &broken), GROVE_OK);
    assert_false(broken);
    size_t lines = 0;
    for (size_t i = 0; i < len; i++) {
        lines += text[i] == '\n';
    }
    size_t docs = 0;
    for (uint64_t i = 0; i < whole.len; i++) {
        docs += whole.data[i] == '\0';
    }
    assert_int_equal(docs, lines);
    for (size_t piece = 0; piece < 70; piece++) {
        grove_buf_clear(&cut);
        assert_int_equal(frame(env, text, len, piece, piece + 11, &cut, &broken), GROVE_OK);
        assert_int_equal(cut.len, whole.len);
        assert_memory_equal(cut.data, whole.data, (size_t)whole.len);
    }
    grove_buf_fini(&whole);
    grove_buf_fini(&cut);
    grove_env_unref(env);
    free(text);
}

static void shapes(void **state) {
    (void)state;
    static const struct {
        const char *text, *docs; /* docs: joined by '|' */
        bool broken;
    } cases[] = {
        {"{}{}", "{}|{}|", false},
        {"{\n \"a\": {}\n}\n", "{\n \"a\": {}\n}|", false}, /* as for a person */
        {"{\"a\":\"}{\\\"\"}\r\n{\"b\":[1,{}]}", "{\"a\":\"}{\\\"\"}|{\"b\":[1,{}]}|", false},
        {"{\"a\":1", "", false},
        {"<html>", "", true},
        {"{}[", "{}|", true},
        {"", "", false},
    };
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 4; piece++) {
            grove_buf out;
            bool broken = false;
            grove_buf_init(&out, env);
            assert_int_equal(
                frame(env, cases[i].text, strlen(cases[i].text), piece, 0, &out, &broken),
                GROVE_OK);
            for (uint64_t k = 0; k < out.len; k++) {
                out.data[k] = out.data[k] == '\0' ? '|' : out.data[k];
            }
            assert_string_equal(out.data ? out.data : "", cases[i].docs);
            assert_int_equal(broken, cases[i].broken);
            grove_buf_fini(&out);
        }
    }
    grove_env_unref(env);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    (void)ctx;
    grove_buf out;
    bool broken = false;
    grove_buf_init(&out, env);
    grove_status st = frame(env, "{\"a\":1}{\"b\":2}", 14, 3, 0, &out, &broken);
    grove_buf_fini(&out);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    oom_loop("framer", oom_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut),
        cmocka_unit_test(shapes),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
