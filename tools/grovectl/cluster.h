/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An embedded cluster with Grove in it: the simulated cluster, an engine that manages its sets, and
 * Grove's admission in front. What `grovectl sim` and the demo run on.
 */
#ifndef GROVECTL_CLUSTER_H
#define GROVECTL_CLUSTER_H

#include <grove/engine.h>
#include <grove/sys/sim.h>

typedef struct cluster_options {
    grove_config *config; /* NULL: the built-in setting */
    const char *nodes;    /* spec, or text of Node objects; NULL: none */
    const char *binders;  /* schedulerNames that the engine places; NULL: all that the demo knows */
    int64_t start_ns;     /* 0: the simulator's own */
    uint64_t seed;
    uint32_t engine_flags;   /* GROVE_ENGINE_* */
    uint32_t sim_flags;      /* GROVE_SIM_* */
    int64_t status_quiet_ns; /* as the engine's option */
    uint32_t gangs_a_step;   /* as the engine's option */
    int instant;             /* pods are Ready as soon as they are bound */
    int no_operator; /* neither engine nor admission: whoever speaks to its API is the operator */
    int strict_namespaces; /* a namespace that nobody made is an error, as on a server */
    int judge_children; /* PodCliques, groups and gangs have to be valid too: clients may write them */
    int stock_scheduler; /* default-scheduler is the cluster's own, pod by pod; binders leave it out */
    /* Puts something between engine and cluster, such as a recorder; NULL: nothing. On success
     * *backend is the outer one. */
    grove_status (*wrap)(void *ctx, grove_env *env, grove_backend *backend, grove_error *err);
    void *wrap_ctx;
} cluster_options;

typedef struct cluster {
    grove_env *env;
    grove_config *config; /* referenced */
    grove_sim *sim;
    grove_engine *engine;
    grove_backend backend;
    cluster_options options; /* as given; texts borrowed from the caller for the cluster's life */
    int64_t deadline;        /* when something happens next; INT64_MAX: nothing will */
    int64_t skew_ns;         /* how far the engine's clock is off; tests change it */
    uint32_t most_rounds;    /* of engines that ended */
    grove_kind quota_kind;   /* of which there may be quota_most objects; none: no quota */
    uint32_t quota_most;
} cluster;

grove_status cluster_new(grove_env *env, const cluster_options *options, cluster **out_cluster,
                         grove_error *err);
void cluster_free(cluster *c);
/* Ends the engine with everything it remembers, as a crash would, and starts another one. */
grove_status cluster_restart_engine(cluster *c, grove_error *err);

/* Most plans in a row that a set needed with nothing happening in between; 0 without GROVE_ENGINE_CHECK. */
uint32_t cluster_most_rounds(const cluster *c);

int64_t cluster_now(const cluster *c);
/* Applies an object (NULL: the document's root) and lets the cluster take notice. */
grove_status cluster_apply(cluster *c, grove_doc *doc, const grove_node *object, grove_error *err);
/* Lets everything happen at the present instant. */
grove_status cluster_settle_now(cluster *c, grove_error *err);
/* Lets time run to `to_ns`, stopping at every instant at which something happens. `step`, when set, is
 * called after each of them; a non-zero answer stops there. */
grove_status cluster_run(cluster *c, int64_t to_ns, int (*step)(void *ctx, cluster *c), void *ctx,
                         grove_error *err);
/* Runs until nothing will happen any more but what lies after to_ns. */
int cluster_is_quiet(const cluster *c);

#endif
