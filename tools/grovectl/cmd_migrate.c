/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl migrate: objects written for an older release, in today's form. */
#include "io.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/admission.h>

static const char help[] =
    "usage: grovectl migrate FILE [-o yaml|json]\n"
    "\n"
    "Prints each object of FILE in the form that today's Grove reads: renamed kinds and fields, "
    "packDomain\n"
    "as pack.required. What was changed, and what has no equivalent any more, is told on standard "
    "error\n"
    "with its line. Objects of other kinds are passed through. Comments are not kept.\n"
    "\n"
    "Exit status: 0 done, 1 something could not be carried over, 2 wrong usage or unreadable "
    "input.\n";

static int print_one(grove_env *env, const io_object *object, const char *text, int json, int more,
                     grove_buf *out) {
    grove_error err = GROVE_ERROR_INIT;
    grove_diags *found = NULL;
    grove_doc *modern = NULL;
    int code = EXIT_OK;
    if (grove_diags_new(env, &found) < 0) {
        return EXIT_USAGE;
    }
    grove_status st = grove_migrate(env, object->doc, object->node, found, &modern, &err);
    const grove_node *root = modern ? grove_doc_root(modern) : object->node;
    if (st == GROVE_OK || st == GROVE_E_UNSUPPORTED) {
        const char *between = json ? "\n" : "---\n";
        code = io_print_diags(object->file, text, found) > 0 ? EXIT_REFUSED : EXIT_OK;
        st = more ? grove_buf_append(out, between, strlen(between)) : GROVE_OK;
    }
    if (st == GROVE_OK) {
        st = json ? grove_node_write_json(root, GROVE_WRITE_PRETTY, out, &err)
                  : grove_node_write_yaml(root, 0, out, &err);
    }
    if (st < 0) {
        io_print_error(object->file, &err);
        code = EXIT_USAGE;
    }
    grove_doc_unref(modern);
    grove_diags_free(found);
    return code;
}

static int print_all(grove_env *env, const char *file, int json) {
    io_objects objects = {0};
    char *text = NULL;
    size_t len = 0;
    grove_buf out;
    grove_buf_init(&out, env);
    int worst = io_read_objects(env, file, GROVE_PARSE_STRICT, &objects);
    if (worst == EXIT_OK && strcmp(file, "-") != 0) {
        worst = io_read(file, &text, &len);
    }
    for (size_t i = 0; i < objects.n && worst != EXIT_USAGE; i++) {
        int code = print_one(env, &objects.v[i], text, json, i > 0, &out);
        worst = code > worst ? code : worst;
    }
    if (worst != EXIT_USAGE) {
        int written = json ? grove_buf_append(&out, "\n", 1) : 0;
        written = written < 0 ? EXIT_USAGE : io_write(&out);
        worst = written != EXIT_OK ? written : worst;
    }
    free(text);
    io_free_objects(&objects);
    grove_buf_fini(&out);
    return worst;
}

int cmd_migrate(int argc, char **argv) {
    const char *file = NULL;
    int json = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc &&
            (strcmp(argv[i + 1], "json") == 0 || strcmp(argv[i + 1], "yaml") == 0)) {
            json = argv[++i][0] == 'j';
        } else if ((argv[i][0] == '-' && argv[i][1] != '\0') || file) {
            fputs(help, stderr);
            return EXIT_USAGE;
        } else {
            file = argv[i];
        }
    }
    if (!file) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return EXIT_USAGE;
    }
    int code = print_all(env, file, json);
    grove_env_unref(env);
    return code;
}
