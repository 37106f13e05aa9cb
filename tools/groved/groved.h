/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of groved share. */
#ifndef GROVED_GROVED_H
#define GROVED_GROVED_H

#include <stdint.h>

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_WRONG_USAGE = 2,
    EXIT_RIVAL = 3,       /* another operator writes to this cluster */
    EXIT_DIFFERENCES = 4, /* --shadow --once: something would be written */
};

typedef struct groved_options {
    const char *listen;         /* HOST:PORT */
    const char *kubeconfig_out; /* NULL: none is written */
    const char *nodes;          /* a spec, or a file of Node objects */
    const char *config;         /* NULL: the built-in settings */
    const char *faults;         /* a script of faults, for tests; NULL: none */
    uint64_t seed;
    int virtual_time;
    int tls;
    int verbose;     /* a line for each request */
    int no_operator; /* a cluster without Grove in it */
    /* of a real cluster */
    const char *kubeconfig;                  /* NULL: found as usual */
    const char *context;                     /* NULL: the current one */
    const char *ns;                          /* the only namespace to manage; NULL: all */
    const char *probes, *metrics, *webhooks; /* HOST:PORT or "off"; NULL: as configured */
    const char *webhook_url; /* how the API server reaches the webhooks; NULL: by the Service */
    const char *service;     /* name of that Service */
    const char *control;     /* path of the control socket; NULL: none */
    const char *record;      /* file that takes a recording; NULL: none */
    const char *identity;    /* in the Lease; NULL: made */
    const char *crash_after; /* a number: SIGKILL after so many writes; NULL: never */
    int shadow, once, force_takeover, no_webhooks;
    const char *set;    /* install-crds: upstream or extended */
    int keep_workloads; /* uninstall */
} groved_options;

/* Serves an embedded cluster until a signal ends it; returns an exit code. */
int groved_embedded(const groved_options *options);
/* Drives a real cluster until a signal ends it, the Lease is lost, or it cannot go on; an exit code. */
int groved_live(const groved_options *options);
/* Applies the resource definitions and waits until they are served; an exit code. */
int groved_install_crds(const groved_options *options);
/* Takes off the cluster what groved and its sets put there; an exit code. */
int groved_uninstall(const groved_options *options);
/* Sends a line to a running daemon's control socket and prints what it answers; an exit code. */
int groved_control(const char *path, int n_words, char **words);

/* Writes a kubeconfig for http://ADDRESS, or https:// with the authority that is trusted (PEM, may be
 * NULL); whole or not at all. 0, or -1 with errno set. */
int groved_write_kubeconfig(const char *path, const char *address, const char *authority);

/* One line to standard error: "groved: ..." */
void groved_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
