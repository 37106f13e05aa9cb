/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs share in reading files and printing findings. Public headers only. Functions that
 * return an int return an exit code, EXIT_OK or EXIT_USAGE, and have printed why.
 */
#ifndef GROVECTL_IO_H
#define GROVECTL_IO_H

#include <grove/config.h>
#include <grove/diag.h>
#include <grove/doc.h>

/* One object of a file: a document of its stream, or an item of a List or of an array in it. */
typedef struct io_object {
    grove_doc *doc;
    const grove_node *node;
    const char *file; /* borrowed */
    uint32_t index;   /* position among the file's objects, from 0 */
} io_object;

typedef struct io_objects {
    io_object *v;
    size_t n, cap;
} io_objects;

/* A whole file, "-" is standard input. The text ends with a NUL that is not counted; free() it. */
int io_read(const char *path, char **out_text, size_t *out_len);

/* Appends the objects of a YAML stream, a List or a JSON array. parse_flags: GROVE_PARSE_*. */
int io_read_objects(grove_env *env, const char *path, uint32_t parse_flags, io_objects *objects);
void io_free_objects(io_objects *objects);

/* The value of a top-level string member, such as kind; "" when there is none. */
const char *io_member(const grove_node *object, const char *key);
/* The text of the scalar that a JSON pointer leads to; "" when there is none. */
const char *io_text_at(const grove_node *object, const char *pointer);
/* The condition of that type in an object's status; NULL when it has none. */
const grove_node *io_condition(const grove_node *object, const char *type);
/* A line for each entry of an explanation's notSupported. */
void io_print_not_supported(const grove_node *notes);
const char *io_name(const grove_node *object); /* metadata.name; "" */

/* A configuration with what the file holds; path NULL: the built-in settings. */
int io_read_config(grove_env *env, const char *path, grove_config **out_config);

/* Adds the PersistentVolumes and their claims among the objects of a cluster, which say where pods can go. */
int io_add_volumes(grove_config *config, const io_objects *objects);

/* file:line:col: error: text - parts that are unknown are left out. file NULL: about no file. */
void io_print_error(const char *file, const grove_error *err);
/* file:line:col: error GRVnnnn: path: text, with the source line and a caret when `text` is given. */
void io_print_diag(const char *file, const char *text, const grove_diag *diag);
/* The same for all of them; returns how many were errors. */
uint32_t io_print_diags(const char *file, const char *text, const grove_diags *diags);

/* The buffer to standard output; complains when it cannot be written. */
int io_write(const grove_buf *buf);

#endif
