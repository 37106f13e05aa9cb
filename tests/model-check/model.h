/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit-state model check of the planner: what is stored, what the controller has seen of it, what is
 * under way, and every step that any of those can take. A state is a few arrays of pointers to immutable
 * versions of objects, so that a successor costs little more than what it changes.
 *
 * Canonical by construction: uids are made from kind, name and incarnation, time moves only by steps that
 * are part of the model, and resourceVersions count only by their order within an object.
 */
#ifndef TESTS_MODEL_CHECK_MODEL_H
#define TESTS_MODEL_CHECK_MODEL_H

#include <stdbool.h>

#include <grove/plan.h>

#include "model/kinds.h"

#define MAX_OBJECTS 32
#define MAX_QUEUE 12
#define MAX_REST 32
#define MAX_DEPARTED 6
#define MAX_BORN 32

/* One version of one object. Immutable, counted. */
typedef struct version {
    unsigned refs;
    gv_kind kind;
    bool gone;        /* the object has ended with this version */
    const char *name; /* in doc */
    const char *uid;  /* in doc */
    uint64_t key;     /* of kind and name */
    uint64_t rv;      /* unique in the whole exploration, rising along each path */
    uint64_t content; /* hash of everything but the resourceVersion */
    uint64_t wanted;  /* hash of what was asked for: without status and generation */
    grove_doc *doc;
} version;

/* A write of the plan that is being carried out. Immutable, counted. */
typedef struct write {
    unsigned refs;
    grove_verb verb;
    gv_kind kind;
    grove_subresource subresource;
    grove_patch_type patch_type;
    int32_t order;
    bool needs_rv;
    char name[80], uid[24], reason[32];
    uint64_t key, content;
    grove_doc *body;
} write;

/* How often an object of this name was made: its next uid. */
typedef struct born {
    uint64_t key;
    uint32_t times;
} born;

typedef struct state {
    version *stored[MAX_OBJECTS]; /* the truth; sorted by kind and name, as the next three */
    version *seen[MAX_OBJECTS];   /* what the controller's watches have delivered */
    version *own[MAX_OBJECTS];    /* answers to its own writes that no watch has shown yet */
    version *departed
        [MAX_DEPARTED]; /* pods seen to end, latest of each index: the store remembers them */
    version *queue[MAX_QUEUE];  /* events not delivered; in order within a kind */
    write *rest[MAX_REST];      /* of the plan being carried out */
    uint64_t rest_rv[MAX_REST]; /* the preconditions it was made with */
    born births[MAX_BORN];
    uint32_t n_stored, n_seen, n_own, n_departed, n_queue, n_rest, n_births;
    uint32_t faults; /* left */
    uint32_t edits;  /* of the scenario, made so far */
    int64_t now;
} state;

/* What is explored. */
typedef struct scenario {
    const char *name;
    const char *set;          /* YAML */
    const char *const *edits; /* merge patches "KIND NAME JSON", in order; NULL ends them */
} scenario;

typedef struct model {
    grove_env *env;
    grove_planner *warm; /* asked about every state in turn: its memory must not matter */
    const scenario *what;
    uint32_t lag; /* events that may be undelivered at a time */
    uint64_t next_rv;
    void *plans; /* plans.c: by visible state */
    uint64_t n_plans;
    /* A planted fault: changes the writes of a plan; NULL: none. */
    void (*plant)(struct model *m, const state *s, write **writes, uint32_t *n);
    bool calm;         /* nothing goes wrong and nothing is planted: convergence is looked at */
    bool first;        /* the plan was asked for the first time outside calm runs */
    uint64_t plant_at; /* hash of the visible state it is planted in; 0: in every state */
    char broken[512];  /* the first promise found broken; "" none */
} model;

/* ---- objects.c ---- */
version *version_ref(version *v);
void version_unref(version *v);
write *write_ref(write *w);
void write_unref(write *w);
state *state_copy(const state *s);
void state_free(state *s);
uint64_t state_hash(const state *s);
uint64_t object_key(gv_kind kind, const char *name);
const grove_node *member(const version *v, const char *pointer);
const char *text_of(const version *v, const char *pointer);
version *find_version(version *const *list, uint32_t n, uint64_t key);
void broken(model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool pod_is_active(const version *pod);
bool pod_is_ready(const version *pod);
bool pod_is_gated(const version *pod);

/* ---- cluster.c: what a server, its scheduler, kubelets and people do ---- */
state *initial_state(model *m, uint32_t faults);
/* Carries a write out; true when the server took it. `heard`: the controller gets the answer. */
bool carry_out(model *m, state *s, const write *w, uint64_t rv, bool heard);
void deliver(model *m, state *s, gv_kind kind);
bool has_event(const state *s, gv_kind kind);
/* What may happen by itself to the i-th stored object: BIND, READY, VANISH, COLLECT; false: nothing. */
bool happen(model *m, state *s, uint32_t i);
/* Things that go wrong with a pod: 0 fails, 1 gets unready, 2 is deleted by somebody. */
bool hurt(model *m, state *s, uint32_t i, int how);
bool edit(model *m, state *s); /* the next edit of the scenario */
void restart(state *s, bool standby);

/* ---- plans.c: the controller ---- */
/* Plans from what is visible; fills s->rest. Checks the plan's promises. */
void make_plan(model *m, state *s);
uint64_t visible_hash(const state *s);
void plans_free(model *m);

/* ---- explore.c ---- */
typedef struct result {
    uint64_t states, transitions, rests;
    uint32_t depth, rounds; /* most rounds of plan and apply between two events */
    bool complete;          /* the frontier emptied */
    /* The visible state whose plan came up last, by depth: of any writes, and of a PodGang's members. */
    uint64_t last_plan, last_membership;
    uint32_t last_plan_depth, last_membership_depth;
    char trace[8192]; /* of the broken promise */
} result;
void explore(model *m, uint32_t faults, uint64_t max_states, uint32_t max_depth, result *out);

#endif
