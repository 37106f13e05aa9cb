/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl render: every child object of a PodCliqueSet, offline. */
#include <grove/admission.h>
#include <grove/render.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "verbs.h"

static const char help[] =
    "usage: grovectl render FILE... [--config CFG] [-n NS] [-o json|yaml]\n"
    "\n"
    "Prints a List of every object that comes out of the PodCliqueSets in the files, pods "
    "included, as\n"
    "they stand once the set has settled and nothing is scheduled. Other objects in the files that "
    "the\n"
    "sets need (ResourceClaimTemplate, ClusterTopologyBinding, PriorityClass) are taken into "
    "account,\n"
    "the rest is passed by. FILE may be - for standard input.\n"
    "\n"
    "  --config CFG        operator configuration and cluster objects\n"
    "  -n, --namespace NS  namespace of sets that name none (default)\n"
    "  -o, --output FORM   json (default) or yaml\n"
    "  --stored            the sets are as a cluster stores them: do not default or validate them\n"
    "  --exact-templates   find clique templates by whole name, as libgrove plans, not by suffix\n"
    "  --as-sent           without the fields that an API server fills in on its own\n"
    "\n"
    "Exit status: 0 printed, 1 a set was refused, 2 wrong usage or unreadable input.\n";

typedef struct options {
    const char *config, *ns;
    bool yaml, stored;
    uint32_t flags;
    const char **files;
    int n_files;
} options;

/* ---- the command line ---- */

static const char *value_of(int argc, char **argv, int *i) {
    if (*i + 1 >= argc) {
        fprintf(stderr, "grovectl render: %s needs a value\n", argv[*i]);
        return NULL;
    }
    return argv[++*i];
}

static bool is_option(const char *arg, const char *brief, const char *full) {
    return (brief && strcmp(arg, brief) == 0) || strcmp(arg, full) == 0;
}

static int read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], **value = NULL, *form = NULL;
        if (is_option(arg, NULL, "--config")) {
            value = &o->config;
        } else if (is_option(arg, "-n", "--namespace")) {
            value = &o->ns;
        } else if (is_option(arg, "-o", "--output")) {
            value = &form;
        } else if (is_option(arg, NULL, "--stored")) {
            o->stored = true;
        } else if (is_option(arg, NULL, "--exact-templates")) {
            o->flags |= GROVE_RENDER_EXACT_TEMPLATES;
        } else if (is_option(arg, NULL, "--as-sent")) {
            o->flags |= GROVE_RENDER_AS_SENT;
        } else if (arg[0] == '-' && arg[1]) {
            fprintf(stderr, "grovectl render: unknown option '%s'\n", arg);
            return EXIT_USAGE;
        } else {
            o->files[o->n_files++] = arg;
        }
        if (value && !(*value = value_of(argc, argv, &i))) {
            return EXIT_USAGE;
        }
        if (form && strcmp(form, "json") != 0 && strcmp(form, "yaml") != 0) {
            fprintf(stderr, "grovectl render: -o takes json or yaml\n");
            return EXIT_USAGE;
        }
        o->yaml = form ? strcmp(form, "yaml") == 0 : o->yaml;
    }
    if (o->n_files == 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

/* ---- one set ---- */

/* With the source lines, where the file can be read again. */
static void print_refusal(const char *file, const grove_diags *found) {
    char *text = NULL;
    size_t len = 0;
    bool again = strcmp(file, "-") != 0 && io_read(file, &text, &len) == EXIT_OK;
    io_print_diags(file, again ? text : NULL, found);
    free(text);
}

/* The set as a cluster would store it; EXIT_REFUSED when it would not. */
static int admit(grove_env *env, const io_object *o, const options *opt, grove_config *config,
                 grove_doc **out) {
    grove_error err = GROVE_ERROR_INIT;
    grove_diags *found = NULL;
    grove_doc *stored = NULL;
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_validate_options vo = {.size = sizeof vo, .config = config, .namespace_name = opt->ns};
    int rc = EXIT_OK;
    if (grove_diags_new(env, &found) < 0) {
        return EXIT_USAGE;
    }
    if (grove_validate(env, o->doc, o->node, NULL, NULL, &vo, found, &verdict, &err) < 0) {
        io_print_error(o->file, &err);
        rc = EXIT_USAGE;
    } else if (!verdict.allowed) {
        print_refusal(o->file, found);
        rc = EXIT_REFUSED;
    } else if (grove_default(env, o->doc, o->node, &vo, NULL, &stored, &err) < 0) {
        io_print_error(o->file, &err);
        rc = EXIT_USAGE;
    }
    grove_diags_free(found);
    *out = stored;
    return rc;
}

static int render_set(grove_env *env, const io_object *o, const options *opt, grove_config *config,
                      grove_builder *list) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *stored = NULL, *rendered = NULL;
    int rc = EXIT_OK;
    if (!opt->stored) {
        rc = admit(env, o, opt, config, &stored);
        if (rc != EXIT_OK) {
            return rc;
        }
    }
    grove_doc *doc = stored ? stored : o->doc;
    const grove_node *set = stored ? grove_doc_root(stored) : o->node;
    if (grove_render(env, doc, set, config, opt->ns, opt->flags, &rendered, &err) < 0) {
        io_print_error(o->file, &err);
        rc = EXIT_USAGE;
    } else {
        const grove_node *root = grove_doc_root(rendered), *items = grove_node_get(root, "items");
        const grove_node *problems = grove_node_at_path(root, "/metadata/annotations");
        for (const grove_node *n = grove_node_first(items); n; n = grove_node_next(items, n)) {
            grove_builder_link(list, NULL, rendered, n);
        }
        const grove_node *p = grove_node_first(problems);
        for (; p; p = grove_node_next(problems, p)) {
            fprintf(stderr, "%s: warning: %s\n", o->file, grove_node_text(p));
        }
    }
    grove_doc_unref(rendered);
    grove_doc_unref(stored);
    return rc;
}

/* ---- all sets ---- */

static bool is_kind(const io_object *o, const char *kind) {
    return strcmp(io_member(o->node, "kind"), kind) == 0;
}

static int print_list(grove_builder *list, const options *opt, grove_env *env) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    grove_buf out;
    grove_buf_init(&out, env);
    grove_status s = grove_builder_finish(list, &doc, &err);
    if (s == GROVE_OK) {
        const grove_node *root = grove_doc_root(doc);
        s = opt->yaml ? grove_node_write_yaml(root, 0, &out, &err)
                      : grove_node_write_json(root, GROVE_WRITE_PRETTY, &out, &err);
    }
    if (s == GROVE_OK && (out.len == 0 || out.data[out.len - 1] != '\n')) {
        s = grove_buf_append(&out, "\n", 1);
    }
    if (s < 0) {
        io_print_error("grovectl", &err);
    }
    int rc = s < 0 ? EXIT_USAGE : io_write(&out);
    grove_buf_fini(&out);
    grove_doc_unref(doc);
    return rc;
}

static int render_all(grove_env *env, const options *opt, io_objects *objects, grove_config *config,
                      grove_builder *list) {
    int worst = EXIT_OK, sets = 0;
    for (size_t i = 0; i < objects->n; i++) {
        io_object *o = &objects->v[i];
        if (!is_kind(o, "PodCliqueSet") && !is_kind(o, "OperatorConfiguration")) {
            /* What is not looked up by anybody is passed by. */
            (void)grove_config_add(config, o->doc, o->node, NULL);
        }
    }
    grove_builder_open_object(list, NULL);
    grove_builder_string(list, "apiVersion", "v1");
    grove_builder_string(list, "kind", "List");
    grove_builder_open_array(list, "items");
    for (size_t i = 0; i < objects->n; i++) {
        if (is_kind(&objects->v[i], "PodCliqueSet")) {
            int rc = render_set(env, &objects->v[i], opt, config, list);
            worst = rc > worst ? rc : worst;
            sets++;
        }
    }
    grove_builder_close(list);
    grove_builder_close(list);
    if (sets == 0) {
        fprintf(stderr, "grovectl render: no PodCliqueSet in the input\n");
        return EXIT_USAGE;
    }
    return worst == EXIT_OK ? print_list(list, opt, env) : worst;
}

static int run_with(grove_env *env, const options *opt) {
    grove_config *config = NULL;
    grove_builder *list = NULL;
    io_objects objects = {NULL, 0, 0};
    int rc = io_read_config(env, opt->config, &config);
    for (int i = 0; rc == EXIT_OK && i < opt->n_files; i++) {
        rc = io_read_objects(env, opt->files[i], GROVE_PARSE_STRICT, &objects);
    }
    if (rc == EXIT_OK) {
        rc = grove_builder_new(env, &list) < 0 ? EXIT_USAGE
                                               : render_all(env, opt, &objects, config, list);
    }
    grove_builder_free(list);
    io_free_objects(&objects);
    grove_config_unref(config);
    return rc;
}

int cmd_render(int argc, char **argv) {
    options opt = {.files = NULL};
    for (int i = 1; i < argc; i++) {
        if (is_option(argv[i], "-h", "--help")) {
            fputs(help, stdout);
            return EXIT_OK;
        }
    }
    opt.files = malloc((size_t)argc * sizeof *opt.files);
    grove_env *env = NULL;
    if (!opt.files || grove_env_new(NULL, &env) < 0) {
        fputs("grovectl: error: out of memory\n", stderr);
        free(opt.files);
        return EXIT_USAGE;
    }
    int rc = read_options(argc, argv, &opt);
    if (rc == EXIT_OK) {
        rc = run_with(env, &opt);
    }
    grove_env_unref(env);
    free(opt.files);
    return rc;
}
