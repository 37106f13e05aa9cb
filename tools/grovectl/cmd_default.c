/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl default: the objects of a file as a cluster would store them. */
#include "io.h"
#include "verbs.h"

#include <grove/admission.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: grovectl default FILE [--config FILE] [-n NAMESPACE] [-o yaml|json]\n"
    "\n"
    "Prints each object of FILE as a cluster with Grove would store it: the definition's constants "
    "and\n"
    "what Grove's webhook fills in, without the metadata that only a server can give. Several "
    "objects\n"
    "become several documents (yaml) or a List (json).\n"
    "\n"
    "Exit status: 0 done, 1 an object cannot be decoded, 2 wrong usage or unreadable input.\n";

typedef struct request {
    grove_env *env;
    grove_validate_options options;
    const char *file, *config_path;
    int json;
    grove_buf out;
} request;

static grove_status put(grove_buf *out, const char *text) {
    return grove_buf_append(out, text, strlen(text));
}

static int print_one(request *q, const io_object *object, size_t i, size_t n) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *stored = NULL;
    grove_status st = grove_default(q->env, object->doc, object->node, &q->options, NULL, &stored,
                                    &err);
    if (st < 0) {
        io_print_error(object->file, &err);
        return st == GROVE_E_REFUSED ? EXIT_REFUSED : EXIT_USAGE;
    }
    const grove_node *root = grove_doc_root(stored);
    if (q->json) {
        st = i > 0 ? put(&q->out, ",\n") : GROVE_OK;
        st = st < 0 ? st
                    : grove_node_write_json(root, n == 1 ? GROVE_WRITE_PRETTY : 0, &q->out, &err);
    } else {
        st = i > 0 ? put(&q->out, "---\n") : GROVE_OK;
        st = st < 0 ? st : grove_node_write_yaml(root, 0, &q->out, &err);
    }
    grove_doc_unref(stored);
    return st < 0 ? EXIT_USAGE : EXIT_OK;
}

static int print_all(request *q, const io_objects *objects) {
    int code = EXIT_OK, list = q->json && objects->n != 1;
    if (list && put(&q->out, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n") < 0) {
        return EXIT_USAGE;
    }
    for (size_t i = 0; code == EXIT_OK && i < objects->n; i++) {
        code = print_one(q, &objects->v[i], i, objects->n);
    }
    if (code == EXIT_OK && q->json && put(&q->out, list ? "\n]}\n" : "\n") < 0) {
        return EXIT_USAGE;
    }
    return code == EXIT_OK ? io_write(&q->out) : code;
}

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int parse(request *q, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (word[0] != '-' || word[1] == '\0') {
            if (q->file) {
                return usage();
            }
            q->file = word;
            continue;
        }
        if (!value) {
            return usage();
        }
        if (strcmp(word, "--config") == 0) {
            q->config_path = value;
        } else if (strcmp(word, "-n") == 0) {
            q->options.namespace_name = value;
        } else if (strcmp(word, "-o") == 0 &&
                   (strcmp(value, "json") == 0 || strcmp(value, "yaml") == 0)) {
            q->json = strcmp(value, "json") == 0;
        } else {
            return usage();
        }
        i++;
    }
    return q->file ? EXIT_OK : usage();
}

int cmd_default(int argc, char **argv) {
    request q = {.options = {.size = (uint32_t)sizeof q.options}};
    io_objects objects = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    int code = parse(&q, argc, argv);
    if (code != EXIT_OK || grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    grove_buf_init(&q.out, q.env);
    code = io_read_config(q.env, q.config_path, &q.options.config);
    if (code == EXIT_OK) {
        code = io_read_objects(q.env, q.file, GROVE_PARSE_STRICT, &objects);
    }
    if (code == EXIT_OK) {
        code = print_all(&q, &objects);
    }
    grove_buf_fini(&q.out);
    io_free_objects(&objects);
    grove_config_unref(q.options.config);
    grove_env_unref(q.env);
    return code;
}
