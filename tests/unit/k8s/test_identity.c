/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that are renewed: token files, programs, and what a 401 does. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "k8s/identity.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)

typedef struct place {
    char folder[64];
    char path[96];
    grove_env *env;
    gv_k8s_access a;
    gv_k8s_identity id;
} place;

static void write_file(const char *path, const char *text, int mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, (mode_t)mode), 0);
}

static void open_place(place *p, const char *name, const char *text, const char *user_fmt) {
    char user[512], config[1024];
    memcpy(p->folder, "/tmp/grove-k8s-XXXXXX", 22);
    assert_non_null(mkdtemp(p->folder));
    (void)snprintf(p->path, sizeof p->path, "%s/%s", p->folder, name);
    write_file(p->path, text, 0700);
    (void)snprintf(user, sizeof user, user_fmt, p->path);
    (void)snprintf(
        config, sizeof config,
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://h\"}}],\"users\":["
        "{\"name\":\"u\",\"user\":{%s}}],\"contexts\":[{\"name\":\"x\",\"context\":{"
        "\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}",
        user);
    assert_int_equal(grove_env_new(NULL, &p->env), GROVE_OK);
    assert_int_equal(gv_k8s_kubeconfig_text(p->env, config, strlen(config), ".", NULL, &p->a, NULL),
                     GROVE_OK);
    assert_int_equal(gv_k8s_identity_init(&p->id, p->env, &p->a, NULL), GROVE_OK);
}

static void close_place(place *p) {
    gv_k8s_identity_fini(&p->id);
    gv_k8s_access_fini(&p->a);
    grove_env_unref(p->env);
    (void)unlink(p->path);
    (void)rmdir(p->folder);
}

static gv_k8s_readiness poll_once(place *p, int64_t now, int64_t *deadline) {
    gv_k8s_readiness r = GV_K8S_REFUSED;
    int64_t at = INT64_MAX;
    assert_int_equal(gv_k8s_identity_poll(&p->id, now, &at, &r), GROVE_OK);
    if (deadline) {
        *deadline = at;
    }
    return r;
}

/* Until the program has ended; time stands still. */
static gv_k8s_readiness poll_to_end(place *p, int64_t now) {
    gv_k8s_readiness r = poll_once(p, now, NULL);
    while (p->id.program.pid != 0) {
        struct pollfd f = {p->id.program.fd, POLLIN, 0};
        (void)poll(&f, p->id.program.fd >= 0 ? 1 : 0, p->id.program.fd >= 0 ? 1000 : 1);
        r = poll_once(p, now, NULL);
    }
    return r;
}

static void token_file(void **state) {
    (void)state;
    place p;
    open_place(&p, "token", " one\n", "\"tokenFile\":\"%s\",\"token\":\"static\"");
    assert_string_equal(p.id.authorization.data, "Bearer static");
    assert_int_equal(poll_once(&p, START, NULL), GV_K8S_READY);
    assert_string_equal(p.id.authorization.data, "Bearer one"); /* the file wins once read */
    write_file(p.path, "two", 0600);
    assert_int_equal(poll_once(&p, START + 49 * SECOND, NULL), GV_K8S_READY);
    assert_string_equal(p.id.authorization.data, "Bearer one");
    assert_int_equal(poll_once(&p, START + 50 * SECOND, NULL), GV_K8S_READY);
    assert_string_equal(p.id.authorization.data, "Bearer two");
    uint32_t generation = p.id.generation;
    write_file(p.path, "three", 0600);
    assert_true(gv_k8s_identity_rejected(&p.id, generation)); /* 401: read again at once */
    (void)poll_once(&p, START + 51 * SECOND, NULL);
    assert_string_equal(p.id.authorization.data, "Bearer three");
    assert_int_equal(unlink(p.path), 0);
    (void)poll_once(&p, START + 200 * SECOND, NULL);
    assert_string_equal(p.id.authorization.data, "Bearer three"); /* the last good one */
    close_place(&p);
}

#define EXEC                                                                           \
    "\"exec\":{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"command\":\"%s\"," \
    "\"interactiveMode\":\"Never\",\"env\":[{\"name\":\"SECRET\",\"value\":\"from-env\"}]}"
#define CREDENTIAL \
    "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","

static void program(void **state) {
    (void)state;
    place p;
    open_place(
        &p, "plugin",
        "#!/bin/sh\ncase \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) ;; *) exit 9;; "
        "esac\necho '" CREDENTIAL "\"status\":{\"token\":\"'$SECRET'\","
        "\"expirationTimestamp\":\"2027-01-15T08:01:40Z\"}}'\n",
        EXEC);
    assert_int_equal(poll_to_end(&p, START), GV_K8S_READY);
    assert_string_equal(p.id.authorization.data, "Bearer from-env");
    int64_t deadline = 0;
    assert_int_equal(poll_once(&p, START + SECOND, &deadline), GV_K8S_READY);
    assert_int_equal(deadline, START + 80 * SECOND); /* at four fifths of its life */
    assert_int_equal(p.id.program.pid, 0);
    assert_int_equal(poll_once(&p, START + 80 * SECOND, NULL), GV_K8S_READY);
    (void)poll_to_end(&p, START + 80 * SECOND); /* meanwhile the old one served */
    assert_true(gv_k8s_identity_rejected(&p.id, p.id.generation));
    assert_false(p.id.have_exec);
    assert_int_equal(poll_to_end(&p, START + 81 * SECOND), GV_K8S_READY);
    close_place(&p);
}

/* CLI-06: arguments as they are, a variable for the program alone, a token larger than a pipe's first read. */
static void program_without_a_shell(void **state) {
    (void)state;
    place p;
    open_place(&p, "plugin",
               "#!/bin/sh\n[ \"$#:$1:$2\" = '2:a b;touch x:$HOME' ] || exit 9\n"
               "printf '%s' '" CREDENTIAL "\"status\":{\"token\":\"'$SECRET\n"
               "head -c 6144 /dev/zero | tr '\\0' t\nprintf '\"}}'\n",
               "\"exec\":{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"command\":\"%s\","
               "\"interactiveMode\":\"Never\",\"args\":[\"a b;touch x\",\"$HOME\"],"
               "\"env\":[{\"name\":\"SECRET\",\"value\":\"v\"}]}");
    assert_int_equal(poll_to_end(&p, START), GV_K8S_READY);
    assert_int_equal(p.id.authorization.len, strlen("Bearer v") + 6144);
    assert_null(getenv("SECRET"));
    close_place(&p);
}

static void programs_that_fail(void **state) {
    (void)state;
    static const struct {
        const char *script, *why;
    } cases[] = {
        {"#!/bin/sh\necho hunter2; exit 3\n", "ended with exit code 3"},
        {"#!/bin/sh\necho hunter2\n", "printed no JSON"},
        {"#!/bin/sh\nkill -9 $$\n", "ended by signal 9"},
        {"#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":"
         "\"ExecCredential\",\"status\":{\"token\":\"hunter2\"}}'\n",
         "no ExecCredential of the apiVersion"},
        {"#!/bin/sh\necho '" CREDENTIAL "\"status\":{}}'\n", "neither a token"},
        {"#!/bin/sh\necho '" CREDENTIAL "\"status\":{\"token\":\"a\",\"clientKeyData\":\"b\"}}'\n",
         "without the other"},
        {"#!/bin/sh\nhead -c 2000000 /dev/zero\n", "more than 1 MiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place p;
        open_place(&p, "plugin", cases[i].script, EXEC);
        assert_int_equal(poll_to_end(&p, START), GV_K8S_REFUSED);
        assert_non_null(strstr(p.id.why, cases[i].why));
        assert_null(strstr(p.id.why, "hunter"));
        assert_int_equal(poll_once(&p, START + SECOND, NULL), GV_K8S_REFUSED); /* not at once */
        assert_int_equal(p.id.failed_until, START + 5 * SECOND);
        assert_int_equal(poll_to_end(&p, START + 6 * SECOND), GV_K8S_REFUSED); /* but then */
        assert_int_equal(p.id.failed_until, START + 11 * SECOND);
        close_place(&p);
    }
}

static void program_hangs(void **state) {
    (void)state;
    place p;
    open_place(&p, "plugin", "#!/bin/sh\nsleep 1000\n", EXEC);
    assert_int_equal(poll_once(&p, START, NULL), GV_K8S_WAITING);
    pid_t pid = p.id.program.pid;
    assert_int_equal(poll_once(&p, START + 61 * SECOND, NULL), GV_K8S_REFUSED);
    assert_non_null(strstr(p.id.why, "did not end in time"));
    char proc[40];
    (void)snprintf(proc, sizeof proc, "/proc/%d", (int)pid);
    assert_int_not_equal(access(proc, F_OK), 0); /* killed and reaped */
    close_place(&p);
}

static void times(void **state) {
    (void)state;
    int64_t ns = 0;
    char out[32];
    assert_true(gv_k8s_time_read("2027-01-15T08:00:00Z", &ns) && ns == START);
    assert_true(gv_k8s_time_read("2027-01-15T10:00:00.5+02:00", &ns) && ns == START + SECOND / 2);
    assert_false(gv_k8s_time_read("2027-01-15", &ns));
    assert_false(gv_k8s_time_read("2027-01-15T08:00:00", &ns));
    gv_k8s_time_write(START + 123456789, out);
    assert_string_equal(out, "2027-01-15T08:00:00.123456Z");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(token_file),
        cmocka_unit_test(program),
        cmocka_unit_test(program_without_a_shell),
        cmocka_unit_test(programs_that_fail),
        cmocka_unit_test(program_hangs),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
