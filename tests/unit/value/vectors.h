/* SPDX-License-Identifier: Apache-2.0 */
/* Reading vector files: one JSON value a line. */
#ifndef TESTS_VALUE_VECTORS_H
#define TESTS_VALUE_VECTORS_H

#include <stdlib.h>
#include <string.h>

#include <grove/doc.h>

#include "support/files.h"

typedef struct vector_file {
    grove_env *env;
    char *text;
    size_t len, at;
    grove_doc *doc; /* the current line */
} vector_file;

static inline vector_file vectors_open(grove_env *env, const char *relative) {
    vector_file f = {.env = env};
    f.text = test_read(relative, &f.len);
    return f;
}

/* The next line's value, valid until the next call; NULL at the end, which also closes the file. */
static inline const grove_node *vectors_next(vector_file *f) {
    grove_doc_unref(f->doc);
    f->doc = NULL;
    if (f->at >= f->len) {
        free(f->text);
        f->text = NULL;
        f->len = f->at = 0;
        return NULL;
    }
    const char *begin = f->text + f->at;
    const char *end = memchr(begin, '\n', f->len - f->at);
    const size_t n = end ? (size_t)(end - begin) : f->len - f->at;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(f->env, begin, n, GROVE_PARSE_STRICT, &f->doc, &err) < 0) {
        fail_msg("line at byte %zu: %s", f->at, err.message);
    }
    f->at += n + 1;
    return grove_doc_root(f->doc);
}

#endif
