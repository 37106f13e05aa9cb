/* SPDX-License-Identifier: Apache-2.0 */
/* A running cluster in place of a file: --kubeconfig FILE, --context NAME. */
#ifndef GROVECTL_LIVE_H
#define GROVECTL_LIVE_H

#include "io.h"

typedef struct live_access {
    const char *kubeconfig; /* NULL: found as usual */
    const char *context;
    int asked;    /* one of the options was given, or the verb always reads a cluster */
    int32_t also; /* a kind that is read beside the usual ones; 0: none */
} live_access;

/* 1 when `word` is one of these options and was taken with its value. */
int live_option(live_access *access, const char *word, const char *value);
/* Appends what verbs look at: Grove's kinds, pods, nodes, classes. An exit code; has said why. */
int live_read(grove_env *env, const live_access *access, io_objects *objects);
/* From the cluster when it was asked for, else from the file. */
int live_or_file(grove_env *env, const live_access *access, const char *path, io_objects *objects);

#endif
