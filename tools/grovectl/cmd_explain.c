/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl explain: why an object of a cluster waits, and for what. */
#include "io.h"
#include "live.h"
#include "snapshot.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BINDERS "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"

static const char help[] =
    "usage: grovectl explain KIND/NAME --cluster FILE [-n NAMESPACE] [--config FILE] [-o "
    "text|json]\n"
    "       grovectl explain KIND/NAME --kubeconfig FILE [--context NAME] ...\n"
    "\n"
    "Says why an object is not where it should be: what waits, what it waits for and until when, "
    "and, for a\n"
    "gang without a place, why no domain can take it. FILE is a cluster as `kubectl get\n"
    "nodes,pods,pcs,pclq,pcsg,pg -A -o json` or `grovectl sim -o json` prints it; - is standard "
    "input.\n"
    "KIND is what kubectl takes: pcs, pclq, pcsg, pg, pod.\n"
    "\n"
    "Exit status: 0 explained, 1 no such object, 2 wrong usage or unreadable input.\n";

typedef struct request {
    grove_env *env;
    const char *object, *cluster_path, *config_path, *ns;
    live_access access;
    int json;
    grove_config *config;
} request;

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int parse(request *q, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (word[0] != '-') {
            if (q->object) {
                return usage();
            }
            q->object = word;
            continue;
        }
        if (!value) {
            return usage();
        }
        if (live_option(&q->access, word, value)) {
            /* taken */
        } else if (strcmp(word, "--cluster") == 0) {
            q->cluster_path = value;
        } else if (strcmp(word, "--config") == 0) {
            q->config_path = value;
        } else if (strcmp(word, "-n") == 0) {
            q->ns = value;
        } else if (strcmp(word, "-o") == 0) {
            q->json = strcmp(value, "json") == 0;
        } else {
            return usage();
        }
        i++;
    }
    int has_cluster = q->cluster_path || q->access.asked;
    return q->object && has_cluster && strchr(q->object, '/') ? EXIT_OK : usage();
}

static int explain(request *q, grove_engine *engine, int64_t now) {
    const char *slash = strchr(q->object, '/');
    grove_kind kind = grove_kind_find(q->object, (size_t)(slash - q->object));
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    if (kind == GROVE_KIND_NONE) {
        fprintf(stderr, "grovectl explain: unknown kind in '%s'\n", q->object);
        return EXIT_USAGE;
    }
    grove_buf_init(&out, q->env);
    grove_status st = grove_engine_explain(engine, kind, q->ns, slash + 1, now, q->json, &out,
                                           &err);
    int code = EXIT_OK;
    if (st < 0) {
        io_print_error(NULL, &err);
        code = st == GROVE_E_NOT_FOUND ? EXIT_REFUSED : EXIT_USAGE;
    } else if (out.len == 0) {
        printf("%s waits for nothing\n", q->object);
    } else {
        code = io_write(&out);
    }
    grove_buf_fini(&out);
    return code;
}

int cmd_explain(int argc, char **argv) {
    request q = {.ns = "default"};
    io_objects objects = {0};
    grove_engine *engine = NULL;
    int64_t now = (int64_t)time(NULL) * INT64_C(1000000000);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    if (parse(&q, argc, argv) != EXIT_OK || grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    int code = io_read_config(q.env, q.config_path, &q.config);
    code = code == EXIT_OK ? live_or_file(q.env, &q.access, q.cluster_path, &objects) : code;
    code = code == EXIT_OK ? io_add_volumes(q.config, &objects) : code;
    code = code == EXIT_OK ? snapshot_engine(q.env, q.config, BINDERS, &objects, now, &engine)
                           : code;
    code = code == EXIT_OK ? explain(&q, engine, now) : code;
    grove_engine_free(engine);
    io_free_objects(&objects);
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return code;
}
