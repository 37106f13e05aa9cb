/* SPDX-License-Identifier: Apache-2.0 */
/* An embedded cluster with Grove in it, served over HTTP, its clock tied to the wall's or to nothing. */
#include "groved.h"

#include "../grovectl/cluster.h"
#include "../grovectl/io.h"
#include "front/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define VIRTUAL_STRETCH (600 * SECOND) /* how far one request lets virtual time run at most */

typedef struct daemon_state {
    const groved_options *options;
    grove_env *env;
    grove_config *config;
    char *nodes_text;
    cluster *cluster;
    gv_front *front;
    gv_faults *faults;
    gv_server *server;
    int64_t wall_start, steady_start;
} daemon_state;

/* ---- time ---- */

static int64_t read_clock(clockid_t id) {
    struct timespec ts = {0};
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
}

/* The wall's time as of the start, going on steadily: a clock that is set back must not stop the cluster. */
static int64_t wall_now(const daemon_state *d) {
    return d->wall_start + (read_clock(CLOCK_MONOTONIC) - d->steady_start);
}

static grove_status real_turn(daemon_state *d, int64_t *out_wait_ns, grove_error *err) {
    grove_status st = cluster_run(d->cluster, wall_now(d), NULL, NULL, err);
    if (st == GROVE_OK && d->cluster->deadline != INT64_MAX) {
        int64_t wait = d->cluster->deadline - wall_now(d);
        *out_wait_ns = wait > 0 ? wait : 0;
    }
    return st;
}

/* Jumps from instant to instant until nothing happens soon. */
static grove_status virtual_turn(daemon_state *d, int64_t *out_wait_ns, grove_error *err) {
    int64_t end = cluster_now(d->cluster) + VIRTUAL_STRETCH;
    grove_status st = cluster_settle_now(d->cluster, err);
    while (st == GROVE_OK && d->cluster->deadline <= end) {
        st = cluster_run(d->cluster, d->cluster->deadline, NULL, NULL, err);
    }
    *out_wait_ns = INT64_MAX;
    return st;
}

static grove_status on_turn(void *ctx, int64_t *out_wait_ns, grove_error *err) {
    daemon_state *d = ctx;
    return d->options->virtual_time ? virtual_turn(d, out_wait_ns, err)
                                    : real_turn(d, out_wait_ns, err);
}

static void on_answered(void *ctx, const char *method, const char *target, int32_t http) {
    const daemon_state *d = ctx;
    if (d->options->verbose) {
        groved_say("%s %s %d", method, target, (int)http);
    }
}

static void on_fault(void *ctx, const char *name, uint64_t matched, uint64_t fired) {
    (void)ctx;
    groved_say("fault %s: %llu of %llu", name, (unsigned long long)fired,
               (unsigned long long)matched);
}

/* ---- life ---- */

static int complain(const char *what, const grove_error *err) {
    groved_say("%s: %s", what, err->message[0] ? err->message : "out of memory");
    return EXIT_FAILED;
}

/* --nodes takes a spec or the path of a file with Node objects. */
static int read_nodes(daemon_state *d, cluster_options *options) {
    FILE *f = fopen(d->options->nodes, "r");
    size_t len = 0;
    options->nodes = d->options->nodes;
    if (!f) {
        return EXIT_DONE;
    }
    (void)fclose(f);
    int code = io_read(d->options->nodes, &d->nodes_text, &len);
    options->nodes = d->nodes_text;
    return code;
}

static int make_cluster(daemon_state *d) {
    grove_error err = GROVE_ERROR_INIT;
    cluster_options options = {.seed = d->options->seed,
                               .strict_namespaces = 1,
                               .judge_children = 1,
                               .sim_flags = GROVE_SIM_MANAGED_FIELDS |
                                            (d->options->no_operator ? 0 : GROVE_SIM_LONE_PODS),
                               .no_operator = d->options->no_operator,
                               .stock_scheduler = d->options->no_operator};
    d->wall_start = read_clock(CLOCK_REALTIME);
    d->steady_start = read_clock(CLOCK_MONOTONIC);
    options.start_ns = d->wall_start;
    if (grove_env_new(NULL, &d->env) < 0) {
        return complain("cannot start", &err);
    }
    if (io_read_config(d->env, d->options->config, &d->config) != 0 ||
        read_nodes(d, &options) != 0) {
        return EXIT_WRONG_USAGE;
    }
    options.config = d->config;
    if (cluster_new(d->env, &options, &d->cluster, &err) < 0) {
        return complain("cannot make the cluster", &err);
    }
    return EXIT_DONE;
}

static int read_faults(daemon_state *d) {
    grove_error err = GROVE_ERROR_INIT;
    char *text = NULL;
    size_t len = 0;
    int code = d->options->faults ? io_read(d->options->faults, &text, &len) : EXIT_DONE;
    if (code == EXIT_DONE && text && gv_faults_new(d->env, text, len, &d->faults, &err) < 0) {
        (void)complain(d->options->faults, &err);
        code = EXIT_WRONG_USAGE;
    }
    free(text);
    return code;
}

static int make_server(daemon_state *d) {
    grove_error err = GROVE_ERROR_INIT;
    gv_server_options options = {
        d->options->listen, {d, on_turn, on_answered}, d->faults, d->options->tls};
    if (gv_faults_need_tls(d->faults) && !d->options->tls) {
        groved_say("%s: certificates need --tls", d->options->faults);
        return EXIT_WRONG_USAGE;
    }
    if (gv_front_new(d->env, d->cluster->sim, &d->front, &err) < 0) {
        return complain("cannot start", &err);
    }
    grove_status st = gv_server_new(d->env, d->front, &options, &d->server, &err);
    if (st < 0) {
        (void)complain("cannot serve", &err);
        return st == GROVE_E_INVALID ? EXIT_WRONG_USAGE : EXIT_FAILED;
    }
    if (gv_server_stop_on(d->server, SIGINT) < 0 || gv_server_stop_on(d->server, SIGTERM) < 0) {
        return complain("cannot start", &err);
    }
    return EXIT_DONE;
}

static int serve(daemon_state *d) {
    grove_error err = GROVE_ERROR_INIT;
    const char *address = gv_server_address(d->server), *file = d->options->kubeconfig_out;
    const char *authority = gv_server_authority(d->server);
    if (file && groved_write_kubeconfig(file, address, authority) != 0) {
        groved_say("cannot write %s: %s", file, strerror(errno));
        return EXIT_FAILED;
    }
    groved_say("listening on http%s://%s (%u nodes, %s time)", authority ? "s" : "", address,
               grove_sim_count(d->cluster->sim, GROVE_KIND_NODE),
               d->options->virtual_time ? "virtual" : "real");
    if (gv_server_run(d->server, &err) < 0) {
        return complain("stopped", &err);
    }
    groved_say("stopped");
    return EXIT_DONE;
}

int groved_embedded(const groved_options *options) {
    daemon_state d = {.options = options};
    (void)signal(SIGPIPE, SIG_IGN);
    int code = make_cluster(&d);
    code = code == EXIT_DONE ? read_faults(&d) : code;
    code = code == EXIT_DONE ? make_server(&d) : code;
    code = code == EXIT_DONE ? serve(&d) : code;
    gv_server_free(d.server);
    gv_faults_tell(d.faults, on_fault, NULL);
    gv_faults_free(d.faults);
    gv_front_free(d.front);
    cluster_free(d.cluster);
    grove_config_unref(d.config);
    grove_env_unref(d.env);
    free(d.nodes_text);
    return code;
}
