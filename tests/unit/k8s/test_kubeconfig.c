/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfig files: what is taken, what is merged, what is refused and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "k8s/access.h"
#include "support/files.h"
#include "support/oom.h"

#define FOLDER "tests/golden/k8s/kubeconfig/"

static grove_env *new_env(void) {
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    return env;
}

static grove_status text(grove_env *env, const char *json, gv_k8s_access *out, grove_error *err) {
    return gv_k8s_kubeconfig_text(env, json, strlen(json), "/base", NULL, out, err);
}

static void everything(void **state) {
    (void)state;
    grove_env *env = new_env();
    char *path = test_path(FOLDER "full.json"), want[4200];
    const char *const paths[] = {path};
    gv_k8s_access a;
    assert_int_equal(gv_k8s_kubeconfig_files(env, paths, 1, true, NULL, &a, NULL), GROVE_OK);
    assert_string_equal(a.server, "https://api.example.com:6443/prefix");
    assert_string_equal(a.tls_server_name, "kubernetes");
    assert_string_equal(a.proxy_url, "socks5://proxy.example.com:1080");
    assert_string_equal(a.ca_pem, "ca text"); /* data beats the file */
    assert_null(a.ca_file);
    (void)snprintf(want, sizeof want, "%.*s/pki/a.crt", (int)(strrchr(path, '/') - path), path);
    assert_string_equal(a.cert_file, want);
    assert_string_equal(a.key_file, "/abs/a.key");
    assert_string_equal(a.ns, "team");
    assert_string_equal(a.exec.command, "get-token"); /* looked up in PATH */
    assert_int_equal(a.exec.n_args, 2);
    assert_string_equal(a.exec.args[1], "x y");
    assert_int_equal(a.exec.n_env, 1);
    assert_true(a.exec.provide_cluster_info);
    assert_string_equal(a.exec.config_json, "{\"audience\":\"a\"}");
    gv_k8s_access_fini(&a);
    assert_int_equal(gv_k8s_kubeconfig_files(env, paths, 1, true, "second", &a, NULL), GROVE_OK);
    (void)snprintf(want, sizeof want, "%.*s/bin/token", (int)(strrchr(path, '/') - path), path);
    assert_string_equal(a.exec.command, want);
    assert_string_equal(a.ns, "default");
    gv_k8s_access_fini(&a);
    free(path);
    grove_env_unref(env);
}

/* The first file that has an entry wins whole; missing files are passed over. */
static void merged(void **state) {
    (void)state;
    grove_env *env = new_env();
    char *one = test_path(FOLDER "one.json"), *two = test_path(FOLDER "two.json");
    const char *const paths[] = {"/does/not/exist", one, two, one};
    gv_k8s_access a;
    assert_int_equal(gv_k8s_kubeconfig_files(env, paths, 4, false, NULL, &a, NULL), GROVE_OK);
    assert_string_equal(a.server, "https://one");
    assert_null(a.ca_pem); /* not merged by fields */
    assert_string_equal(a.token, "of-two");
    gv_k8s_access_fini(&a);
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(gv_k8s_kubeconfig_files(env, paths, 1, false, NULL, &a, &err),
                     GROVE_E_NOT_FOUND);
    assert_int_equal(gv_k8s_kubeconfig_files(env, paths, 1, true, NULL, &a, &err),
                     GROVE_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/does/not/exist"));
    free(one);
    free(two);
    grove_env_unref(env);
}

#define WITH(cluster, user)                                                                  \
    "{\"clusters\":[{\"name\":\"c\",\"cluster\":{" cluster "}}],\"users\":[{\"name\":\"u\"," \
    "\"user\":{" user "}}],\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\","    \
    "\"user\":\"u\"}}],\"current-context\":\"x\"}"
#define SERVER "\"server\":\"https://h\""
#define V1 "\"apiVersion\":\"client.authentication.k8s.io/v1\",\"command\":\"t\""

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *json, *words;
        grove_status status;
    } cases[] = {
        {"[]", "not a kubeconfig", GROVE_E_INVALID},
        {"{", "line 1, column", GROVE_E_PARSE},
        {"{}", "no current-context", GROVE_E_INVALID},
        {"{\"current-context\":\"x\"}", "\"x\": there is no context", GROVE_E_INVALID},
        {"{\"current-context\":\"x\",\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"q\"}}"
         "]}",
         "\"q\": there is no cluster", GROVE_E_INVALID},
        {"{\"current-context\":\"x\",\"clusters\":[{\"name\":\"c\",\"cluster\":{" SERVER "}}],"
         "\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\",\"user\":\"w\"}}]}",
         "\"w\": there is no user", GROVE_E_INVALID},
        {WITH("", ""), "no server", GROVE_E_INVALID},
        {WITH("\"server\":\"h\"", ""), "must begin with https://", GROVE_E_INVALID},
        {WITH("\"server\":1", ""), "server must be a string", GROVE_E_INVALID},
        {WITH(SERVER ",\"insecure-skip-tls-verify\":true,\"certificate-authority\":\"f\"", ""),
         "exclude each other", GROVE_E_INVALID},
        {WITH(SERVER ",\"certificate-authority-data\":\"*\"", ""), "is no base64", GROVE_E_INVALID},
        {WITH(SERVER ",\"proxy-url\":\"ftp://x\"", ""), "proxy-url", GROVE_E_INVALID},
        {WITH(SERVER, "\"client-certificate\":\"f\""), "need each other", GROVE_E_INVALID},
        {WITH(SERVER, "\"token\":\"t\",\"username\":\"u\""), "exclude each other", GROVE_E_INVALID},
        {WITH(SERVER, "\"as-uid\":\"t\""), "need as", GROVE_E_INVALID},
        {WITH(SERVER, "\"auth-provider\":{\"name\":\"gcp\"}"), "use exec", GROVE_E_UNSUPPORTED},
        {WITH(SERVER, "\"exec\":{\"command\":\"t\"}"), "needs apiVersion", GROVE_E_INVALID},
        {WITH(SERVER, "\"exec\":{" V1 "}"), "needs interactiveMode", GROVE_E_INVALID},
        {WITH(SERVER, "\"exec\":{" V1 ",\"interactiveMode\":\"Always\"}"), "terminal",
         GROVE_E_INVALID},
        {WITH(SERVER, "\"exec\":{" V1 ",\"interactiveMode\":\"Maybe\"}"), "unknown",
         GROVE_E_INVALID},
        {WITH(SERVER, "\"exec\":{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}"),
         "no command", GROVE_E_INVALID},
    };
    grove_env *env = new_env();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grove_error err = GROVE_ERROR_INIT;
        gv_k8s_access a;
        assert_int_equal(text(env, cases[i].json, &a, &err), cases[i].status);
        if (!strstr(err.message, cases[i].words)) {
            print_message("case %zu: %s\n", i, err.message);
        }
        assert_non_null(strstr(err.message, cases[i].words));
    }
    grove_env_unref(env);
}

/* No message shows what stands in a broken file. */
static void secrets_stay(void **state) {
    (void)state;
    grove_env *env = new_env();
    grove_error err = GROVE_ERROR_INIT;
    gv_k8s_access a;
    const char *broken = "{\"users\":[{\"name\":\"u\",\"user\":{\"token\":hunter2}}]}";
    assert_true(text(env, broken, &a, &err) < 0);
    assert_null(strstr(err.message, "hunter"));
    grove_env_unref(env);
}

static void in_cluster(void **state) {
    (void)state;
    grove_env *env = new_env();
    char *folder = test_path("tests/golden/k8s/pod");
    gv_k8s_access a;
    assert_int_equal(gv_k8s_in_cluster(env, "fd00::1", "443", folder, &a, NULL), GROVE_OK);
    assert_string_equal(a.server, "https://[fd00::1]:443");
    gv_k8s_access v4;
    assert_int_equal(gv_k8s_in_cluster(env, "10.0.0.1", "443", folder, &v4, NULL), GROVE_OK);
    assert_string_equal(v4.server, "https://10.0.0.1:443"); /* CLI-07 */
    gv_k8s_access_fini(&v4);
    assert_string_equal(a.ns, "team-a");
    assert_non_null(strstr(a.token_file, "/tests/golden/k8s/pod/token"));
    gv_k8s_access_fini(&a);
    assert_int_equal(gv_k8s_in_cluster(env, NULL, "443", folder, &a, NULL), GROVE_E_NOT_FOUND);
    assert_int_equal(gv_k8s_in_cluster(env, "h", "443", "/none", &a, NULL), GROVE_E_NOT_FOUND);
    free(folder);
    grove_env_unref(env);
}

static void base64(void **state) {
    (void)state;
    static const char *const texts[] = {"", "a", "ab", "abc", "abcd", "\xff\xfe\x01"};
    static const char *const bad[] = {"a", "ab", "abc", "abcd=", "ab==c", "a*==", "====", "ab="};
    grove_env *env = new_env();
    grove_buf coded, plain;
    grove_buf_init(&coded, env);
    grove_buf_init(&plain, env);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        grove_buf_clear(&coded);
        grove_buf_clear(&plain);
        assert_int_equal(gv_k8s_base64_encode(texts[i], strlen(texts[i]), &coded), GROVE_OK);
        assert_int_equal(
            gv_k8s_base64_decode(coded.data ? coded.data : "", (size_t)coded.len, &plain),
            GROVE_OK);
        assert_int_equal(plain.len, strlen(texts[i]));
        assert_true(plain.len == 0 || memcmp(plain.data, texts[i], (size_t)plain.len) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(gv_k8s_base64_decode(bad[i], strlen(bad[i]), &plain), GROVE_E_PARSE);
    }
    grove_buf_fini(&coded);
    grove_buf_fini(&plain);
    grove_env_unref(env);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    const char *const paths[] = {ctx};
    gv_k8s_access a;
    grove_status st = gv_k8s_kubeconfig_files(env, paths, 1, true, NULL, &a, NULL);
    if (st == GROVE_OK) {
        gv_k8s_access_fini(&a);
    }
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    char *path = test_path(FOLDER "full.json");
    oom_loop("kubeconfig", oom_run, path);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),    cmocka_unit_test(merged),     cmocka_unit_test(refused),
        cmocka_unit_test(secrets_stay),  cmocka_unit_test(in_cluster), cmocka_unit_test(base64),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
