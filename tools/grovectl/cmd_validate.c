/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl validate: what a cluster with Grove would say about manifests, with the line. */
#include "findings.h"
#include "io.h"
#include "verbs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <grove/render.h>

static const char help[] =
    "usage: grovectl validate FILE... [OPTIONS]\n"
    "       grovectl validate --cases FILE.jsonl [OPTIONS]\n"
    "\n"
    "Says whether a cluster with Grove would admit the objects of each FILE (YAML, JSON, a List, "
    "several\n"
    "documents, a directory; - is standard input), at which stage it would refuse them, and why.\n"
    "\n"
    "  --old FILE                the stored object: judge an update (matched by kind and name)\n"
    "  --config FILE             operator configuration and cluster objects to look up\n"
    "  -o text|json|sarif|github form of the output [text]\n"
    "  --field-validation Strict|Warn|Ignore\n"
    "                            what unknown fields are [Strict]: refused, a warning, nothing\n"
    "  --strict                  warnings refuse too\n"
    "  --lint                    warn of what is admitted and most likely not meant\n"
    "  --no-lint CODE[,CODE...]  lints that are switched off (GRV3012)\n"
    "  --nodes FILE              Node objects: lets lints ask what the cluster has\n"
    "  --names                   list every name that a set can come to use, with the room that is "
    "left;\n"
    "                            a name that is too long, or given twice, refuses\n"
    "  --strict-upstream         refuse fields of libgrove's own (see "
    "docs/reference/extensions.md)\n"
    "  --legacy                  read the forms of older releases, with a warning\n"
    "  --schema-only             as a cluster without Grove's webhooks: the resource definitions "
    "alone\n"
    "  --unknown-kinds pass|refuse\n"
    "                            objects of other kinds [pass]\n"
    "  --cases FILE              one JSON case a line {name, op, input, old?}, one verdict a line\n"
    "\n"
    "Exit status: 0 all admitted, 1 some refused, 2 wrong usage or unreadable input.\n";

#define MAX_DISABLED 64

typedef struct request {
    grove_env *env;
    grove_validate_options options;
    grove_lint_options lint;
    uint32_t disabled[MAX_DISABLED];
    const char *nodes_path;
    grove_doc *nodes; /* a List of them */
    findings_format format;
    const char *old_path, *config_path, *cases_path;
    int refuse_unknown, names;
    io_objects old;
    findings *findings;
    grove_buf out;
    int refused, unreadable;
} request;

/* ---- one object ---- */

static const io_object *find_old(const request *q, const grove_node *object) {
    const char *kind = io_member(object, "kind"), *name = io_name(object);
    for (size_t i = 0; i < q->old.n; i++) {
        const grove_node *old = q->old.v[i].node;
        if (strcmp(io_member(old, "kind"), kind) == 0 && strcmp(io_name(old), name) == 0) {
            return &q->old.v[i];
        }
    }
    return NULL;
}

static int skip_unknown(request *q, const io_object *object) {
    fprintf(stderr, "%s: %s %s is none of Grove's kinds: %s\n", object->file,
            io_member(object->node, "kind"), io_name(object->node),
            q->refuse_unknown ? "refused" : "passed by");
    q->refused |= q->refuse_unknown;
    return EXIT_OK;
}

/* Names of the children of a set, as they are once everything is scaled to its most. */
static int add_names(request *q, const io_object *object, finding *one) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *stored = NULL;
    if (strcmp(one->kind, "PodCliqueSet") != 0 || io_name(object->node)[0] == '\0') {
        return EXIT_OK;
    }
    grove_status st = grove_default(q->env, object->doc, object->node, &q->options, NULL, &stored,
                                    &err);
    if (st == GROVE_OK) {
        st = grove_names_list(q->env, stored, grove_doc_root(stored), q->options.config,
                              &one->names, &err);
    }
    grove_doc_unref(stored);
    if (st < 0) {
        io_print_error(object->file, &err);
        return EXIT_USAGE;
    }
    int64_t over = 0, twice = 0;
    const grove_node *list = grove_doc_root(one->names);
    grove_node_int64(grove_node_get(list, "overLimit"), &over);
    grove_node_int64(grove_node_get(list, "twice"), &twice);
    q->refused |= over > 0 || twice > 0;
    return EXIT_OK;
}

static int judge(request *q, const io_object *object, const char *text) {
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_error err = GROVE_ERROR_INIT;
    grove_diags *diags = NULL;
    const io_object *old = find_old(q, object->node);
    if (grove_diags_new(q->env, &diags) < 0) {
        return EXIT_USAGE;
    }
    grove_status st = grove_validate(q->env, object->doc, object->node, old ? old->doc : NULL,
                                     old ? old->node : NULL, &q->options, diags, &verdict, &err);
    int code = EXIT_OK;
    if (st == GROVE_E_UNSUPPORTED) {
        code = skip_unknown(q, object);
    } else if (st < 0) {
        io_print_error(object->file, &err);
        code = EXIT_USAGE;
    } else {
        finding one = {.file = object->file,
                       .index = object->index,
                       .kind = io_member(object->node, "kind"),
                       .name = io_name(object->node),
                       .text = text,
                       .verdict = &verdict,
                       .diags = diags};
        q->refused |= !verdict.allowed;
        code = q->names && verdict.allowed ? add_names(q, object, &one) : EXIT_OK;
        if (code == EXIT_OK && findings_add(q->findings, &one) < 0) {
            code = EXIT_USAGE;
        }
        grove_doc_unref(one.names);
    }
    grove_diags_free(diags);
    return code;
}

/* ---- files and directories ---- */

static int validate_file(request *q, const char *path) {
    io_objects objects = {0};
    char *text = NULL;
    size_t len = 0;
    int code = io_read_objects(q->env, path, GROVE_PARSE_STRICT, &objects);
    if (code == EXIT_OK && q->format == FINDINGS_TEXT && strcmp(path, "-") != 0) {
        code = io_read(path, &text, &len); /* for the source line under a finding */
    }
    for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
        code = judge(q, &objects.v[i], text);
    }
    free(text);
    io_free_objects(&objects);
    return code;
}

static int is_manifest(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && entry->d_name[0] != '.' &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int validate_path(request *q, const char *path);

static int validate_directory(request *q, const char *path) {
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_manifest, alphasort), code = EXIT_OK;
    if (n < 0) {
        perror(path);
        return EXIT_USAGE;
    }
    for (int i = 0; i < n; i++) {
        size_t len = strlen(path) + strlen(entries[i]->d_name) + 2;
        char *child = malloc(len);
        if (child) {
            snprintf(child, len, "%s/%s", path, entries[i]->d_name);
            int one = validate_path(q, child);
            code = one == EXIT_OK ? code : one;
        }
        free(child);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int validate_path(request *q, const char *path) {
    struct stat info;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return validate_directory(q, path);
    }
    return validate_file(q, path);
}

/* ---- cases ---- */

static grove_operation operation_of(const char *word) {
    return strcmp(word, "update") == 0   ? GROVE_OPERATION_UPDATE
           : strcmp(word, "status") == 0 ? GROVE_OPERATION_STATUS
           : strcmp(word, "scale") == 0  ? GROVE_OPERATION_SCALE
                                         : GROVE_OPERATION_CREATE;
}

static int judge_case(request *q, grove_doc *doc, unsigned line) {
    const grove_node *root = grove_doc_root(doc), *old = grove_node_get(root, "old");
    const grove_node *input = grove_node_get(root, "input");
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_error err = GROVE_ERROR_INIT;
    grove_diags *diags = NULL;
    if (grove_diags_new(q->env, &diags) < 0) {
        return EXIT_USAGE;
    }
    if (grove_node_type(old) != GROVE_OBJECT) {
        old = NULL;
    }
    grove_validate_options options = q->options;
    options.operation = old ? operation_of(io_member(root, "op")) : GROVE_OPERATION_CREATE;
    if (old && options.operation == GROVE_OPERATION_CREATE) {
        options.operation = GROVE_OPERATION_UPDATE;
    }
    grove_status st = input ? grove_validate(q->env, doc, input, old ? doc : NULL, old, &options,
                                             diags, &verdict, &err)
                            : GROVE_E_INVALID;
    int code = EXIT_OK;
    if (st < 0 && st != GROVE_E_UNSUPPORTED) {
        fprintf(stderr, "%s:%u: %s\n", q->cases_path, line, input ? err.message : "no \"input\"");
        code = EXIT_USAGE;
    } else {
        if (st == GROVE_E_UNSUPPORTED) { /* a cluster has no such resource */
            verdict.stage = GROVE_STAGE_DECODE;
        }
        finding one = {.name = io_member(root, "name"), .verdict = &verdict, .diags = diags};
        code = findings_case_line(q->env, &one, &q->out) < 0 ? EXIT_USAGE : EXIT_OK;
    }
    grove_diags_free(diags);
    return code;
}

static int validate_cases(request *q) {
    char *text = NULL;
    size_t len = 0;
    int code = io_read(q->cases_path, &text, &len);
    unsigned line = 0;
    for (char *at = text; code == EXIT_OK && at && *at;) {
        char *end = strchr(at, '\n');
        size_t n = end ? (size_t)(end - at) : strlen(at);
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        line++;
        if (n > 0 && grove_doc_parse_json(q->env, at, n, 0, &doc, &err) < 0) {
            fprintf(stderr, "%s:%u: %s\n", q->cases_path, line, err.message);
            code = EXIT_USAGE;
        } else if (n > 0) {
            code = judge_case(q, doc, line);
        }
        grove_doc_unref(doc);
        at = end ? end + 1 : NULL;
    }
    free(text);
    return code;
}

/* ---- command line ---- */

static int usage(const char *what, const char *word) {
    fprintf(stderr, "grovectl validate: %s '%s'; see grovectl validate --help\n", what, word);
    return EXIT_USAGE;
}

static int choose(const char *option, const char *word, const char *const *words, int *out) {
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return EXIT_OK;
        }
    }
    return usage(option, word);
}

/* GRV3012,3004 */
static int switch_off(request *q, const char *list) {
    for (const char *at = list; *at;) {
        char *end = NULL;
        at += strncmp(at, "GRV", 3) == 0 ? 3 : 0;
        unsigned long code = strtoul(at, &end, 10);
        if (end == at || (*end && *end != ',') || !grove_code_get((uint32_t)code) ||
            q->lint.n_disabled == MAX_DISABLED) {
            return usage("not a list of codes", list);
        }
        q->disabled[q->lint.n_disabled++] = (uint32_t)code;
        at = *end ? end + 1 : end;
    }
    return EXIT_OK;
}

static int take_option(request *q, const char *option, const char *value) {
    static const char *const formats[] = {"text", "json", "sarif", "github", NULL};
    static const char *const fields[] = {"Strict", "Warn", "Ignore", NULL};
    static const char *const unknown[] = {"pass", "refuse", NULL};
    int chosen = 0, code = EXIT_OK;
    if (!value) {
        return usage("a value is missing after", option);
    }
    if (strcmp(option, "-o") == 0) {
        code = choose("unknown format", value, formats, &chosen);
        q->format = (findings_format)chosen;
    } else if (strcmp(option, "--field-validation") == 0) {
        code = choose("unknown level", value, fields, &chosen);
        q->options.fields = chosen;
    } else if (strcmp(option, "--unknown-kinds") == 0) {
        code = choose("unknown choice", value, unknown, &q->refuse_unknown);
    } else if (strcmp(option, "--old") == 0) {
        q->old_path = value;
    } else if (strcmp(option, "--config") == 0) {
        q->config_path = value;
    } else if (strcmp(option, "--no-lint") == 0) {
        code = switch_off(q, value);
    } else if (strcmp(option, "--nodes") == 0) {
        q->nodes_path = value;
    } else if (strcmp(option, "--cases") == 0) {
        q->cases_path = value;
    } else {
        return usage("unknown option", option);
    }
    return code;
}

/* An option without a value. */
static int take_switch(request *q, const char *word) {
    static const struct {
        const char *word;
        uint32_t flag;
    } switches[] = {{"--strict", GROVE_VALIDATE_WARNINGS_REFUSE},
                    {"--legacy", GROVE_VALIDATE_LEGACY},
                    {"--lint", GROVE_VALIDATE_LINT},
                    {"--strict-upstream", GROVE_VALIDATE_STRICT_UPSTREAM},
                    {"--schema-only", GROVE_VALIDATE_SCHEMA_ONLY}};
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(switches[i].word, word) == 0) {
            q->options.flags |= switches[i].flag;
            return 1;
        }
    }
    return 0;
}

/* All nodes of a file as one array, whatever form the file has. */
static int read_nodes(request *q) {
    io_objects objects = {0};
    grove_builder *b = NULL;
    grove_error err = GROVE_ERROR_INIT;
    int code = io_read_objects(q->env, q->nodes_path, 0, &objects);
    if (code == EXIT_OK && grove_builder_new(q->env, &b) == GROVE_OK) {
        grove_builder_open_array(b, NULL);
        for (size_t i = 0; i < objects.n; i++) {
            grove_builder_link(b, NULL, objects.v[i].doc, objects.v[i].node);
        }
        grove_builder_close(b);
        if (grove_builder_finish(b, &q->nodes, &err) < 0) {
            io_print_error(q->nodes_path, &err);
            code = EXIT_USAGE;
        }
    }
    grove_builder_free(b);
    io_free_objects(&objects);
    q->lint.nodes_doc = q->nodes;
    q->lint.nodes = q->nodes ? grove_doc_root(q->nodes) : NULL;
    return code;
}

static int run_request(request *q, char **files, int n) {
    int code = io_read_config(q->env, q->config_path, &q->options.config);
    q->lint.size = (uint32_t)sizeof q->lint;
    q->lint.disabled = q->disabled;
    q->options.lint = &q->lint;
    if (code == EXIT_OK && q->nodes_path) {
        code = read_nodes(q);
    }
    if (code == EXIT_OK && q->old_path) {
        code = io_read_objects(q->env, q->old_path, GROVE_PARSE_STRICT, &q->old);
    }
    if (code == EXIT_OK && q->cases_path) {
        code = validate_cases(q);
        int written = io_write(&q->out);
        return code == EXIT_OK ? written : code;
    }
    if (code != EXIT_OK || findings_begin(q->env, q->format, &q->out, &q->findings) < 0) {
        return EXIT_USAGE;
    }
    for (int i = 0; i < n; i++) {
        int one = validate_path(q, files[i]);
        code = one == EXIT_OK ? code : one;
    }
    if (findings_end(q->findings) < 0 || io_write(&q->out) != EXIT_OK) {
        return EXIT_USAGE;
    }
    return code != EXIT_OK ? code : q->refused ? EXIT_REFUSED : EXIT_OK;
}

int cmd_validate(int argc, char **argv) {
    request q = {
        .options = {.size = (uint32_t)sizeof q.options, .flags = GROVE_VALIDATE_POD_WARNINGS}};
    int n = 0, code = EXIT_OK;
    for (int i = 1; i < argc && code == EXIT_OK; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (strcmp(word, "--names") == 0) {
            q.names = 1;
        } else if (take_switch(&q, word)) {
            continue;
        } else if (word[0] == '-' && word[1] != '\0') {
            code = take_option(&q, word, i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        } else {
            argv[n++] = argv[i]; /* files are gathered at the front */
        }
    }
    if (code != EXIT_OK) {
        return code;
    }
    if ((n == 0) == !q.cases_path) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    grove_buf_init(&q.out, q.env);
    code = run_request(&q, argv, n);
    grove_buf_fini(&q.out);
    io_free_objects(&q.old);
    grove_doc_unref(q.nodes);
    grove_config_unref(q.options.config);
    grove_env_unref(q.env);
    return code;
}
