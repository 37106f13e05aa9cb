/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files and printing findings: see io.h. */
#include "io.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

/* ---- files ---- */

static int read_all(FILE *in, char **out_text, size_t *out_len) {
    size_t len = 0, cap = 65536;
    char *text = malloc(cap);
    while (text) {
        len += fread(text + len, 1, cap - len - 1, in);
        if (len < cap - 1) {
            break;
        }
        char *more = realloc(text, 2 * cap);
        if (!more) {
            free(text);
        }
        text = more;
        cap *= 2;
    }
    if (!text || ferror(in)) {
        free(text);
        return EXIT_USAGE;
    }
    text[len] = '\0';
    *out_text = text;
    *out_len = len;
    return EXIT_OK;
}

int io_read(const char *path, char **out_text, size_t *out_len) {
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    int rc = EXIT_USAGE;
    errno = in ? 0 : errno;
    if (in) {
        rc = read_all(in, out_text, out_len);
    }
    if (rc != EXIT_OK) {
        fprintf(stderr, "%s: error: %s\n", path, strerror(errno ? errno : ENOMEM));
    }
    if (in && in != stdin) {
        fclose(in);
    }
    return rc;
}

/* ---- objects ---- */

static int add_object(io_objects *o, const char *path, uint32_t index, grove_doc *doc,
                      const grove_node *node) {
    if (o->n == o->cap) {
        size_t cap = o->cap ? 2 * o->cap : 16;
        io_object *v = realloc(o->v, cap * sizeof *v);
        if (!v) {
            fprintf(stderr, "%s: error: out of memory\n", path);
            return EXIT_USAGE;
        }
        o->v = v;
        o->cap = cap;
    }
    o->v[o->n++] = (io_object){grove_doc_ref(doc), node, path, index};
    return EXIT_OK;
}

static const grove_node *items_of(const grove_node *root) {
    if (grove_node_type(root) == GROVE_ARRAY) {
        return root;
    }
    const grove_node *items = grove_node_get(root, "items");
    return strcmp(io_member(root, "kind"), "List") == 0 && items ? items : NULL;
}

static int add_document(io_objects *o, const char *path, uint32_t *index, grove_doc *doc) {
    const grove_node *root = grove_doc_root(doc), *items = items_of(root);
    if (!items) {
        return add_object(o, path, (*index)++, doc, root);
    }
    for (const grove_node *n = grove_node_first(items); n; n = grove_node_next(items, n)) {
        if (add_object(o, path, (*index)++, doc, n) != EXIT_OK) {
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

static int add_stream(grove_stream *stream, const char *path, io_objects *objects) {
    uint32_t index = 0;
    for (;;) {
        grove_error err = GROVE_ERROR_INIT;
        grove_doc *doc = NULL;
        if (grove_stream_next(stream, &doc, &err) < 0) {
            io_print_error(path, &err);
            return EXIT_USAGE;
        }
        if (!doc) {
            return EXIT_OK;
        }
        int rc = add_document(objects, path, &index, doc);
        grove_doc_unref(doc);
        if (rc != EXIT_OK) {
            return rc;
        }
    }
}

int io_read_objects(grove_env *env, const char *path, uint32_t parse_flags, io_objects *objects) {
    grove_error err = GROVE_ERROR_INIT;
    grove_stream *stream = NULL;
    char *text = NULL;
    size_t len = 0;
    if (io_read(path, &text, &len) != EXIT_OK) {
        return EXIT_USAGE;
    }
    int rc = EXIT_USAGE;
    if (grove_stream_new(env, text, len, parse_flags, &stream, &err) < 0) {
        io_print_error(path, &err);
    } else {
        rc = add_stream(stream, path, objects);
        grove_stream_free(stream);
    }
    free(text);
    return rc;
}

void io_free_objects(io_objects *objects) {
    for (size_t i = 0; i < objects->n; i++) {
        grove_doc_unref(objects->v[i].doc);
    }
    free(objects->v);
    *objects = (io_objects){NULL, 0, 0};
}

const char *io_member(const grove_node *object, const char *key) {
    const grove_node *member = grove_node_get(object, key);
    return grove_node_type(member) == GROVE_STRING ? grove_node_text(member) : "";
}

const char *io_text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

const grove_node *io_condition(const grove_node *object, const char *type) {
    const grove_node *list = grove_node_at_path(object, "/status/conditions");
    const grove_node *c = grove_node_first(list);
    while (c && strcmp(io_member(c, "type"), type) != 0) {
        c = grove_node_next(list, c);
    }
    return c;
}

void io_print_not_supported(const grove_node *notes) {
    for (const grove_node *n = grove_node_first(notes); n; n = grove_node_next(notes, n)) {
        printf("Not supported: PodClique %s, %s: %s\n", io_member(n, "podClique"),
               io_member(n, "path"), io_member(n, "text"));
    }
}

const char *io_name(const grove_node *object) {
    return io_member(grove_node_get(object, "metadata"), "name");
}

int io_read_config(grove_env *env, const char *path, grove_config **out_config) {
    grove_error err = GROVE_ERROR_INIT;
    grove_config *config = NULL;
    char *text = NULL;
    size_t len = 0;
    int rc = EXIT_OK;
    if (grove_config_new(env, &config) < 0) {
        fputs("grovectl: error: out of memory\n", stderr);
        return EXIT_USAGE;
    }
    if (path) {
        rc = io_read(path, &text, &len);
        if (rc == EXIT_OK && grove_config_load(config, text, len, &err) < 0) {
            io_print_error(path, &err);
            rc = EXIT_USAGE;
        }
        free(text);
    }
    if (rc != EXIT_OK) {
        grove_config_unref(config);
        return rc;
    }
    *out_config = config;
    return EXIT_OK;
}

int io_add_volumes(grove_config *config, const io_objects *objects) {
    grove_error err = GROVE_ERROR_INIT;
    for (size_t i = 0; i < objects->n; i++) {
        const io_object *o = &objects->v[i];
        const char *kind = io_member(o->node, "kind");
        int is_volume = strcmp(kind, "PersistentVolume") == 0 ||
                        strcmp(kind, "PersistentVolumeClaim") == 0;
        if (is_volume && grove_config_add(config, o->doc, o->node, &err) < 0) {
            io_print_error(o->file, &err);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

/* ---- findings ---- */

static void print_place(const char *file, uint32_t line, uint32_t column) {
    fputs(file ? file : "grovectl", stderr);
    if (file && line) {
        fprintf(stderr, ":%u", line);
        if (column) {
            fprintf(stderr, ":%u", column);
        }
    }
    fputs(": ", stderr);
}

void io_print_error(const char *file, const grove_error *err) {
    print_place(file, err->line, err->column);
    fputs("error: ", stderr);
    if (err->path[0]) {
        fprintf(stderr, "%s: ", err->path);
    }
    fprintf(stderr, "%s\n", err->message[0] ? err->message : grove_status_name(err->status));
}

static void print_source(const char *text, uint32_t line, uint32_t column) {
    for (uint32_t l = 1; l < line && text; l++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text) {
        return;
    }
    size_t len = strcspn(text, "\r\n");
    fprintf(stderr, "  %.*s\n", (int)len, text);
    if (column && column <= len + 1) {
        fputs("  ", stderr);
        for (uint32_t c = 1; c < column; c++) {
            fputc(text[c - 1] == '\t' ? '\t' : ' ', stderr);
        }
        fputs("^\n", stderr);
    }
}

/* Colours for a person at a terminal; NO_COLOR turns them off, as it does elsewhere. */
static int has_colours(void) {
    const char *no = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no && no[0]);
}

void io_print_diag(const char *file, const char *text, const grove_diag *diag) {
    static const char *const words[] = {"finding", "error", "warning", "note"};
    static const char *const colours[] = {"", "\033[1;31m", "\033[1;33m", "\033[1;36m"};
    bool known = diag->severity >= GROVE_SEVERITY_ERROR && diag->severity <= GROVE_SEVERITY_NOTE;
    print_place(file, diag->line, diag->column);
    int kind = known ? diag->severity : 0, coloured = has_colours();
    fprintf(stderr, "%s%s%s GRV%04u: ", coloured ? colours[kind] : "", words[kind],
            coloured ? "\033[0m" : "", diag->code);
    if (diag->path[0]) {
        fprintf(stderr, "%s: ", diag->path);
    }
    fprintf(stderr, "%s\n", diag->message);
    if (text && diag->line) {
        print_source(text, diag->line, diag->column);
    }
}

uint32_t io_print_diags(const char *file, const char *text, const grove_diags *diags) {
    uint32_t errors = 0;
    for (uint32_t i = 0; i < grove_diags_count(diags); i++) {
        const grove_diag *d = grove_diags_at(diags, i);
        errors += d->severity == GROVE_SEVERITY_ERROR;
        io_print_diag(file, text, d);
    }
    if (grove_diags_dropped(diags)) {
        fprintf(stderr, "%s: %u more findings were left out\n", file, grove_diags_dropped(diags));
    }
    return errors;
}

int io_write(const grove_buf *buf) {
    if ((buf->len && fwrite(buf->data, 1, (size_t)buf->len, stdout) != buf->len) ||
        fflush(stdout) != 0) {
        fprintf(stderr, "grovectl: error: standard output: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    return EXIT_OK;
}
