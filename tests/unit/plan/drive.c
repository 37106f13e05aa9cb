/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: plan_drive SET.json CONFIG.yaml
 *
 * Lets the planner bring a defaulted set to rest on the table cluster, every pod running as soon as its
 * gates are gone, and prints what there is as a List. For comparisons with recordings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "support/files.h"

static void drive(const char *set_file, const char *config_file) {
    size_t n = 0;
    char *text = test_read_path(set_file, &n);
    cluster c;
    assert_non_null(text);
    cluster_open(&c, "");
    cluster_add(&c, text);
    free(text);
    c.set = c.objects[0].name;
    text = test_read_path(config_file, &n);
    if (text != NULL) {
        assert_int_equal(grove_config_new(c.env, &c.config), 0);
        assert_int_equal(grove_config_load(c.config, text, n, NULL), 0);
        free(text);
    }
    cluster_live(&c, 40);
    grove_buf b;
    grove_buf_init(&b, c.env);
    printf("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    const char *comma = "";
    for (uint32_t i = 0; i < c.n; i++) {
        if (!c.objects[i].gone) {
            grove_buf_clear(&b);
            assert_int_equal(
                grove_node_write_json(grove_doc_root(c.objects[i].doc), 0, &b, NULL), 0);
            printf("%s%s", comma, b.data);
            comma = ",";
        }
    }
    printf("]}\n");
    grove_buf_fini(&b);
    cluster_close(&c);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: plan_drive SET.json CONFIG.yaml\n");
        return 2;
    }
    drive(argv[1], argv[2]); /* a failed assertion outside a test ends the program */
    return 0;
}
