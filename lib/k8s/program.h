/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs beside us and whose output is wanted; never a shell, never waited for. */
#ifndef GV_K8S_PROGRAM_H
#define GV_K8S_PROGRAM_H

#include <sys/types.h>

#include "access.h"

typedef struct gv_k8s_program {
    pid_t pid; /* 0: none runs */
    int fd;    /* its standard output, -1 after the end */
    int64_t deadline;
    grove_buf output;
} gv_k8s_program;

typedef enum gv_k8s_progress {
    GV_K8S_RUNNING,
    GV_K8S_ENDED,  /* with exit code 0; output holds what it wrote */
    GV_K8S_FAILED, /* why tells */
} gv_k8s_progress;

void gv_k8s_program_init(gv_k8s_program *p, grove_env *env);
/* `info` becomes KUBERNETES_EXEC_INFO. */
grove_status gv_k8s_program_start(gv_k8s_program *p, grove_env *env, const gv_k8s_exec *exec,
                                  const char *info, int64_t deadline, grove_error *err);
gv_k8s_progress gv_k8s_program_poll(gv_k8s_program *p, int64_t now, char *why, size_t why_cap);
/* Kills what runs, wipes the output. */
void gv_k8s_program_fini(gv_k8s_program *p);

#endif
