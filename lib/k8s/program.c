/* SPDX-License-Identifier: Apache-2.0 */
/* Credential programs by posix_spawn: own process group, time limit, output limit. */
#define _GNU_SOURCE /* pipe2, posix_spawnp, environ */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grove/sys/util.h>

#define OUTPUT_LIMIT (UINT64_C(1) << 20)

void gv_k8s_program_init(gv_k8s_program *p, grove_env *env) {
    *p = (gv_k8s_program){.fd = -1};
    grove_buf_init(&p->output, env);
}

/* Texts for argv or envp, ending with NULL. */
typedef struct list {
    char **v;
    size_t n, cap;
    gv_k8s_pool pool;
} list;

static bool list_add(list *l, const char *text) {
    if (l->n + 1 >= l->cap) {
        size_t cap = l->cap + 32;
        char **more = grove_memory_resize(l->pool.env, l->v, l->cap * sizeof *more,
                                          cap * sizeof *more);
        if (!more) {
            return false;
        }
        l->v = more;
        l->cap = cap;
    }
    l->v[l->n] = gv_k8s_pool_text(&l->pool, text, strlen(text));
    if (!l->v[l->n]) {
        return false;
    }
    l->v[++l->n] = NULL;
    return true;
}

static bool list_pair(list *l, const char *name, const char *value) {
    grove_buf b;
    grove_buf_init(&b, l->pool.env);
    bool ok = gv_k8s_putf(&b, "%s=%s", name, value) == GROVE_OK && list_add(l, b.data);
    gv_k8s_wipe(&b);
    return ok;
}

static void list_fini(list *l) {
    grove_memory_free(l->pool.env, l->v, l->cap * sizeof *l->v);
    gv_k8s_pool_fini(&l->pool);
}

static bool overridden(const gv_k8s_exec *exec, const char *line) {
    for (uint32_t i = 0; i < exec->n_env; i++) {
        size_t n = strlen(exec->env_vars[i].name);
        if (strncmp(line, exec->env_vars[i].name, n) == 0 && line[n] == '=') {
            return true;
        }
    }
    return strncmp(line, "KUBERNETES_EXEC_INFO=", 21) == 0;
}

static bool fill(list *argv, list *envp, const gv_k8s_exec *exec, const char *info) {
    bool ok = list_add(argv, exec->command);
    for (uint32_t i = 0; i < exec->n_args; i++) {
        ok = ok && list_add(argv, exec->args[i]);
    }
    for (char **e = environ; ok && e && *e; e++) {
        ok = overridden(exec, *e) || list_add(envp, *e);
    }
    for (uint32_t i = 0; ok && i < exec->n_env; i++) {
        ok = list_pair(envp, exec->env_vars[i].name, exec->env_vars[i].value);
    }
    return ok && list_pair(envp, "KUBERNETES_EXEC_INFO", info);
}

/* The child has its own group, no signal blocked, SIGPIPE as usual, and nothing to read. */
static int spawn(pid_t *pid, int out_fd, const char *command, char **argv, char **envp) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    int rc = posix_spawn_file_actions_init(&files);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawnattr_init(&attr);
    if (rc == 0) {
        (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&files, out_fd, 1);
        (void)posix_spawnattr_setpgroup(&attr, 0);
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setsigdefault(&attr, &usual);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
        rc = posix_spawnp(pid, command, &files, &attr, argv, envp);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return rc;
}

grove_status gv_k8s_program_start(gv_k8s_program *p, grove_env *env, const gv_k8s_exec *exec,
                                  const char *info, int64_t deadline, grove_error *err) {
    int fds[2];
    list argv = {.pool = {.env = env}}, envp = {.pool = {.env = env}};
    if (!fill(&argv, &envp, exec, info)) {
        list_fini(&argv);
        list_fini(&envp);
        return gv_k8s_nomem(err);
    }
    int rc = pipe2(fds, O_CLOEXEC) == 0 ? 0 : errno;
    if (rc == 0) {
        (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
        rc = spawn(&p->pid, fds[1], exec->command, argv.v, envp.v);
        (void)close(fds[1]);
        if (rc != 0) {
            (void)close(fds[0]);
        }
    }
    list_fini(&argv);
    list_fini(&envp);
    if (rc != 0) {
        p->pid = 0;
        return gv_k8s_error(err, GROVE_E_AUTH, "credential program %s: %s", exec->command,
                            strerror(rc));
    }
    p->fd = fds[0];
    p->deadline = deadline;
    grove_buf_clear(&p->output);
    return GROVE_OK;
}

static void end(gv_k8s_program *p) {
    if (p->fd >= 0) {
        (void)close(p->fd);
    }
    p->fd = -1;
    p->pid = 0;
}

static void kill_group(gv_k8s_program *p) {
    if (p->pid > 0) {
        (void)kill(-p->pid, SIGKILL);
        (void)kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    end(p);
}

/* True at the end of the output. */
static bool read_some(gv_k8s_program *p, bool *too_much) {
    while (p->output.len <= OUTPUT_LIMIT) {
        if (grove_buf_reserve(&p->output, 4096) < 0) {
            *too_much = true;
            return false;
        }
        ssize_t n = read(p->fd, p->output.data + p->output.len, 4095);
        if (n == 0) {
            return true;
        }
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno != EAGAIN;
        }
        p->output.len += (uint64_t)n;
        p->output.data[p->output.len] = '\0';
    }
    *too_much = true;
    return false;
}

gv_k8s_progress gv_k8s_program_poll(gv_k8s_program *p, int64_t now, char *why, size_t why_cap) {
    bool too_much = false;
    if (p->fd >= 0 && read_some(p, &too_much)) {
        (void)close(p->fd);
        p->fd = -1;
    }
    if (too_much || now >= p->deadline) {
        (void)snprintf(why, why_cap, "%s",
                       too_much ? "wrote more than 1 MiB" : "did not end in time");
        kill_group(p);
        return GV_K8S_FAILED;
    }
    if (p->fd >= 0) {
        return GV_K8S_RUNNING;
    }
    int status = 0;
    pid_t got = waitpid(p->pid, &status, WNOHANG);
    if (got == 0) {
        return GV_K8S_RUNNING;
    }
    bool known = got == p->pid; /* not when the host reaps all children: then the output decides */
    end(p);
    if (known && WIFSIGNALED(status)) {
        (void)snprintf(why, why_cap, "was ended by signal %d", WTERMSIG(status));
        return GV_K8S_FAILED;
    }
    if (known && WEXITSTATUS(status) != 0) {
        (void)snprintf(why, why_cap, "ended with exit code %d", WEXITSTATUS(status));
        return GV_K8S_FAILED;
    }
    return GV_K8S_ENDED;
}

void gv_k8s_program_fini(gv_k8s_program *p) {
    kill_group(p);
    gv_k8s_wipe(&p->output);
}
