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

/*
 * Every document, each followed by a 0, in pieces of `piece` bytes (0: random); of a list each piece after
 * a letter for its kind.
 */
static grove_status frame(grove_env *env, bool is_list, const char *text, size_t len, size_t piece,
                          uint64_t seed, grove_buf *out, bool *broken) {
    gv_k8s_framer f;
    gv_k8s_framer_init(&f, env);
    gv_k8s_framer_reset(&f, is_list);
    grove_status st = GROVE_OK;
    for (size_t at = 0; at < len && st == GROVE_OK;) {
        size_t n = piece > 0 ? piece : (size_t)(grove_random_next(&seed) % 97 + 1);
        n = n < len - at ? n : len - at;
        st = gv_k8s_framer_add(&f, text + at, n);
        at += n;
        const char *doc = NULL;
        size_t doc_len = 0;
        gv_k8s_piece p;
        while (st == GROVE_OK && (p = gv_k8s_framer_peek(&f, &doc, &doc_len)) != 0) {
            const char kinds[] = "?dim.";
            st = is_list ? grove_buf_append(out, &kinds[p], 1) : st;
            st = st < 0 ? st : grove_buf_append(out, doc, doc_len);
            st = st < 0 ? st : grove_buf_append(out, "", 1);
            gv_k8s_framer_take(&f);
        }
    }
    *broken = f.broken;
    gv_k8s_framer_fini(&f);
    return st;
}

static size_t count(const char *text, size_t len, char c) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        n += text[i] == c;
    }
    return n;
}

/* Every cut of a recorded file gives the pieces that it gives as a whole: *out_pieces of them. */
static void cuts(const char *file, bool is_list, size_t *out_pieces) {
    size_t len = 0;
    char *text = test_read(file, &len);
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_buf whole, cut;
    bool broken = false;
    grove_buf_init(&whole, env);
    grove_buf_init(&cut, env);
    assert_int_equal(frame(env, is_list, text, len, len, 0, &whole, &broken), GROVE_OK);
    assert_false(broken);
    *out_pieces = count(whole.data, (size_t)whole.len, '\0');
    for (size_t piece = 0; piece < 70; piece++) {
        grove_buf_clear(&cut);
        assert_int_equal(frame(env, is_list, text, len, piece, piece + 11, &cut, &broken),
                         GROVE_OK);
        assert_int_equal(cut.len, whole.len);
        assert_memory_equal(cut.data, whole.data, (size_t)whole.len);
    }
    grove_buf_fini(&whole);
    grove_buf_fini(&cut);
    grove_env_unref(env);
    free(text);
}

static void any_cut(void **state) {
    (void)state;
    size_t n = 0, len = 0;
    cuts("tests/golden/k8s/pods-watch-selector.jsonl", false, &n);
    char *text = test_read("tests/golden/k8s/pods-watch-selector.jsonl", &len);
    assert_int_equal(n, count(text, len, '\n'));
    free(text);
    cuts("tests/golden/k8s/pods-list-limit2-noselector.json", true, &n);
    assert_int_equal(n, 4); /* two pods, metadata, the end */
    cuts("tests/golden/k8s/podcliques-list.json", true, &n);
    assert_int_equal(n, 7);
}

static void lists(void **state) {
    (void)state;
    static const struct {
        const char *text, *pieces;
        bool broken;
    } cases[] = {
        {"{\"kind\":\"L\",\"metadata\":{\"a\":\"}\"},\"items\":[{\"b\":[]} , {}]}\n",
         "m{\"a\":\"}\"}|i{\"b\":[]}|i{}|.|", false},
        {"{\"items\":[],\"x\":1.5,\"y\":\"],}\",\"metadata\":{}}", "m{}|.|", false},
        {"{\"items\":null,\"metadata\":{},\"z\":[{\"items\":[{}]}]}", "m{}|.|", false},
        {"{\"x\":{\"items\":[{}]},\"items\" : [ {\"a\":\"\\\\\"} ]}", "i{\"a\":\"\\\\\"}|.|",
         false},
        {"{\"items\":[{}", "i{}|", false},
        {"{\"items\":[{}]", "i{}|", false},
        {"{}", ".|", false},
        {"{}x", ".|", true},
        {"[]", "", true},
        {"{\"items\":{}}", ".|", false},
        {"{\"items\":3}", "", true},
        {"{\"items\":[1]}", "", true},
        {"<html>", "", true},
    };
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 9; piece++) {
            grove_buf out;
            bool broken = false;
            grove_buf_init(&out, env);
            assert_int_equal(
                frame(env, true, cases[i].text, strlen(cases[i].text), piece, 0, &out, &broken),
                GROVE_OK);
            for (uint64_t k = 0; k < out.len; k++) {
                out.data[k] = out.data[k] == '\0' ? '|' : out.data[k];
            }
            assert_string_equal(out.data ? out.data : "", cases[i].pieces);
            assert_int_equal(broken, cases[i].broken);
            grove_buf_fini(&out);
        }
    }
    grove_env_unref(env);
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
                frame(env, false, cases[i].text, strlen(cases[i].text), piece, 0, &out, &broken),
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
    grove_status st = frame(env, false, "{\"a\":1}{\"b\":2}", 14, 3, 0, &out, &broken);
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
        cmocka_unit_test(lists),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
