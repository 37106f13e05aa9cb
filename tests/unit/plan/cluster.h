/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster in a table for the planner's tests: it stores documents, applies actions with their
 * preconditions, collects what deleted owners leave, and tells a store every change. Pods come to life only
 * when a test says so. Every violated precondition fails the test.
 */
#ifndef TESTS_PLAN_CLUSTER_H
#define TESTS_PLAN_CLUSTER_H

#include <stdbool.h>

#include <grove/plan.h>
#include <grove/store.h>

#include "model/kinds.h"
#include "model/view.h"
#include "support/oom.h"

typedef struct object {
    gv_kind kind;
    char name[128], uid[32];
    grove_doc *doc;
    bool gone;
} object;

typedef struct cluster {
    oom_memory memory; /* all is given back when the cluster closes */
    grove_env *env;
    grove_store *store;
    grove_planner *planner;
    grove_config *config; /* NULL: defaults */
    const grove_placement *placements[16];
    uint32_t n_placements;
    const grove_refusal *refusals[16];
    uint32_t n_refusals;
    object *objects;
    uint32_t n, cap;
    uint64_t version, next_uid;
    int64_t now;
    const char *ns, *set; /* what is planned; ns "": a ClusterTopologyBinding */
    uint32_t creates, patches, deletes, gates, binds, events; /* applied so far */
    char last_event[64];
    struct gv_prng *drop;   /* with keep_permille: which actions get lost */
    uint32_t keep_permille; /* 0 and 1000: all are applied */
} cluster;

void cluster_open(cluster *c, const char *set);
void cluster_close(cluster *c);

/* Stores an object given as YAML (metadata.namespace t). */
void cluster_add(cluster *c, const char *yaml);
/* Stores a List of objects as they are, uids included. */
void cluster_load(cluster *c, const char *json);
object *cluster_get(cluster *c, gv_kind kind, const char *name); /* NULL: not there */
const grove_node *cluster_node(cluster *c, gv_kind kind, const char *name, const char *pointer);
/* The member as int, or -1. */
int64_t cluster_int(cluster *c, gv_kind kind, const char *name, const char *pointer);
const char *cluster_text(cluster *c, gv_kind kind, const char *name, const char *pointer);
/* "True", "False", "Unknown" or "" when there is no such condition. */
const char *cluster_condition(cluster *c, gv_kind kind, const char *name, const char *type);
const char *cluster_reason(cluster *c, gv_kind kind, const char *name, const char *type);
void cluster_merge(cluster *c, gv_kind kind, const char *name, const char *json);
/* The same with an RFC 6902 patch. */
void cluster_patch(cluster *c, gv_kind kind, const char *name, const char *json);
void cluster_delete(cluster *c, gv_kind kind, const char *name);
uint32_t cluster_count(cluster *c, gv_kind kind);

/* Pods by "clique/index", active ones only; NULL: not there. */
object *cluster_pod(cluster *c, const char *clique, int index);
bool cluster_gated(const object *pod);
bool cluster_ended(const object *pod); /* in a final phase */
void cluster_bind(cluster *c, object *pod);
void cluster_ready(cluster *c, object *pod, bool ready); /* also runs it */
/* Binds and readies every pod without gates. */
void cluster_run_pods(cluster *c);

/* What is to be planned; borrows from the cluster. */
grove_plan_request cluster_request(const cluster *c);
grove_plan *cluster_plan(cluster *c);
/* Plans (twice: the bytes must be equal) and applies; the number of actions but events. */
uint32_t cluster_round(cluster *c);
/* Rounds until the plan is empty; fails after `most`. Checks that it stays empty. Returns the rounds. */
uint32_t cluster_settle(cluster *c, uint32_t most);
/* Settles and runs pods in turn until neither changes anything. */
void cluster_live(cluster *c, uint32_t most);
/* True when the plan has a wait of this reason for this object (name NULL: any). */
bool cluster_waits(cluster *c, const char *reason, const char *name, int64_t *out_deadline);

/* Prints custom resources and waits, for those who look into a failure. */
void cluster_dump(cluster *c);

#endif
