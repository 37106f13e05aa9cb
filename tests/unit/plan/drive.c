/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: plan_drive SET.json|LIST.json CONFIG.yaml [COMMAND...]
 *
 * Lets the planner bring a defaulted set to rest on the table cluster, every pod running as soon as its
 * gates are gone, and prints what there is as a List. For comparisons with recordings. Commands come
 * first, each followed by rest:
 *     scale:KIND:NAME:N      patch:JSON (of the set)      delete-pod:CLIQUE:INDEX
 *     unready:CLIQUE:INDEX   wait:SECONDS                 hold (pods no longer get ready by themselves)
 *     run (they do again)    delete (the set)
 * `hold` as the first one holds for the beginning, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "support/files.h"

static void obey(cluster *c, const char *command, bool *hold) {
    char a[128], b[128];
    int n = 0;
    if (sscanf(command, "scale:%127[^:]:%127[^:]:%d", a, b, &n) == 3) {
        char text[64];
        snprintf(text, sizeof text, "{\"spec\":{\"replicas\":%d}}", n);
        gv_kind kind = strcmp(a, "pclq") == 0   ? GV_KIND_PODCLIQUE
                       : strcmp(a, "pcsg") == 0 ? GV_KIND_PODCLIQUESCALINGGROUP
                                                : GV_KIND_PODCLIQUESET;
        cluster_merge(c, kind, b, text);
    } else if (strncmp(command, "patch:", 6) == 0) {
        cluster_merge(c, GV_KIND_PODCLIQUESET, c->set, command + 6);
    } else if (sscanf(command, "delete-pod:%127[^:]:%d", a, &n) == 2) {
        cluster_delete(c, GV_KIND_POD, cluster_pod(c, a, n)->name);
    } else if (sscanf(command, "unready:%127[^:]:%d", a, &n) == 2) {
        cluster_ready(c, cluster_pod(c, a, n), false);
    } else if (sscanf(command, "wait:%d", &n) == 1) {
        c->now += (int64_t)n * 1000000000;
    } else if (strcmp(command, "hold") == 0 || strcmp(command, "run") == 0) {
        *hold = command[0] == 'h';
    } else if (strcmp(command, "delete") == 0) {
        cluster_delete(c, GV_KIND_PODCLIQUESET, c->set);
    } else {
        fail_msg("unknown command %s", command);
    }
}

static void drive(const char *set_file, const char *config_file, char **commands, int n_commands) {
    size_t n = 0;
    char *text = test_read_path(set_file, &n);
    cluster c;
    assert_non_null(text);
    cluster_open(&c, "");
    if (strstr(text, "\"kind\": \"List\"") != NULL) {
        cluster_load(&c, text); /* a cluster that somebody else ran; the set comes first */
    } else {
        cluster_add(&c, text);
    }
    free(text);
    char name[128]; /* the table moves when it grows */
    snprintf(name, sizeof name, "%s", c.objects[0].name);
    c.set = name;
    text = test_read_path(config_file, &n);
    if (text != NULL) {
        assert_int_equal(grove_config_new(c.env, &c.config), 0);
        assert_int_equal(grove_config_load(c.config, text, n, NULL), 0);
        free(text);
    }
    bool hold = n_commands > 0 && strcmp(commands[0], "hold") == 0; /* pods stay as loaded */
    if (hold) {
        cluster_settle(&c, 60);
    } else {
        cluster_live(&c, 60);
    }
    for (int i = 0; i < n_commands; i++) {
        obey(&c, commands[i], &hold);
        if (hold) {
            cluster_settle(&c, 60);
        } else {
            cluster_live(&c, 120);
        }
    }
    if (getenv("PLAN_TRACE")) {
        cluster_dump(&c);
    }
    grove_buf b;
    grove_buf_init(&b, c.env);
    printf("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    const char *comma = "";
    for (uint32_t i = 0; i < c.n; i++) {
        if (!c.objects[i].gone) {
            grove_buf_clear(&b);
            assert_int_equal(grove_node_write_json(grove_doc_root(c.objects[i].doc), 0, &b, NULL),
                             0);
            printf("%s%s", comma, b.data);
            comma = ",";
        }
    }
    printf("]}\n");
    grove_buf_fini(&b);
    cluster_close(&c);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: plan_drive SET.json CONFIG.yaml [COMMAND...]\n");
        return 2;
    }
    drive(argv[1], argv[2], argv + 3,
          argc - 3); /* a failed assertion outside a test ends the program */
    return 0;
}
