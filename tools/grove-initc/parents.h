/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a pod waits for, and which pods of theirs are Ready. */
#ifndef GROVE_INITC_PARENTS_H
#define GROVE_INITC_PARENTS_H

#include <stdint.h>

#include <grove/doc.h>

typedef struct parent {
    char *name; /* of a PodClique */
    int64_t wanted, ready;
} parent;

typedef struct parents {
    parent *v;
    uint32_t n;
    struct seen {
        char *uid;
        uint32_t parent;
    } * pods; /* those that are Ready */
    uint32_t n_pods, cap_pods;
} parents;

/* Adds what one `--podcliques` says: "NAME:COUNT", blank is nothing. NULL, or what is wrong with it. */
const char *parents_add(parents *p, const char *value);
/* A pod as it is now (deleted: it is gone). -1: out of memory; 1: some count changed. */
int parents_pod(parents *p, const grove_node *pod, int deleted);
/* Forgets all pods, before a new first list. */
void parents_forget(parents *p);
int parents_are_ready(const parents *p);
void parents_fini(parents *p);

#endif
