/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of groved share. */
#ifndef GROVED_GROVED_H
#define GROVED_GROVED_H

#include <stdint.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

typedef struct groved_options {
    const char *listen;         /* HOST:PORT */
    const char *kubeconfig_out; /* NULL: none is written */
    const char *nodes;          /* a spec, or a file of Node objects */
    const char *config;         /* NULL: the built-in settings */
    const char *faults;         /* a script of faults, for tests; NULL: none */
    uint64_t seed;
    int virtual_time;
    int tls;
    int verbose; /* a line for each request */
} groved_options;

/* Serves an embedded cluster until a signal ends it; returns an exit code. */
int groved_embedded(const groved_options *options);

/* Writes a kubeconfig for http://ADDRESS, or https:// with the authority that is trusted (PEM, may be
 * NULL); whole or not at all. 0, or -1 with errno set. */
int groved_write_kubeconfig(const char *path, const char *address, const char *authority);

/* One line to standard error: "groved: ..." */
void groved_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
