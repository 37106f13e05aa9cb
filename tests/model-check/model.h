/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit-state model check of the planner: what is stored, what the controller has seen of it, what is
 * under way, and every step that any of those can take. Contents of objects and writes are interned for the
 * whole run, and what a write makes of an object is remembered: a state is a few arrays of small values, a
 * step a few look-ups.
 *
 * Which states are the same is decided by merge.c: README.md says what it leaves out, and why it may.
 */
#ifndef TESTS_MODEL_CHECK_MODEL_H
#define TESTS_MODEL_CHECK_MODEL_H

#include <stdbool.h>

#include <grove/plan.h>

#include "model/kinds.h"

#define MAX_OBJECTS 40
#define MAX_QUEUE 16
#define MAX_REST 32
#define MAX_DEPARTED 8
#define MAX_BORN 40
#define TICK (INT64_C(31) * 1000000000) /* longer than any wait of the scenarios */

/* ---- table.c: 64-bit keys to pointers; keys are hashes, and taken for what they stand for ---- */
typedef struct table {
    struct {
        uint64_t key;
        void *item;
    } * slots;
    size_t n_slots, live;
} table;
void *table_get(const table *t, uint64_t key);
void table_put(table *t, uint64_t key, const void *item); /* item: not NULL */
void table_fini(table *t);

/* What in a document is only a name for something: merge.c puts what it stands for in its place. */
typedef enum token_kind {
    TOKEN_UID,
    TOKEN_POD,
    TOKEN_LIST,   /* pods that a PodGang lists follow, sorted by their names: a set */
    TOKEN_MEMBER, /* one of them */
    TOKEN_TIME,
    TOKEN_GENERATION
} token_kind;
typedef struct token {
    token_kind kind;
    uint64_t value; /* hash of the text, or the number itself */
} token;
typedef struct shape {
    uint64_t hash; /* of everything but the tokens */
    token *tokens; /* in the order of the document */
    uint32_t n;
} shape;

/* What one object may be at one time, without its resourceVersion. Interned. */
typedef struct content {
    gv_kind kind;
    const char *name, *uid; /* in doc */
    uint64_t key;           /* of kind and name */
    uint64_t uid_key, owner_key;
    uint64_t hash;
    uint64_t wanted; /* hash of what was asked for: without status and generation */
    grove_doc *doc;
    shape shape;
    const char *clique, *gang; /* a pod's labels, in doc */
    uint64_t unit;             /* of a pod: its clique and index; else as key */
    int64_t index;             /* of a pod */
    bool dying, held, failed, bound, gated, ready;
} content;

/* One version of one object. */
typedef struct version {
    const content *is;
    uint64_t rv;   /* unique in the whole exploration, rising along each path */
    uint64_t born; /* its first */
    bool gone;     /* the object has ended with this version */
} version;

/* A write of the plan that is being carried out. Interned. */
typedef struct write {
    grove_verb verb;
    gv_kind kind;
    grove_subresource subresource;
    grove_patch_type patch_type;
    int32_t order;
    bool needs_rv;
    char name[80], uid[24], reason[32];
    uint64_t key, hash;
    uint64_t unit; /* of a created pod */
    grove_doc *body;
    shape shape;
    struct write *next; /* all there are */
} write;

/* How often an object of this name was made: its next uid. */
typedef struct birth {
    uint64_t key;
    uint32_t times;
} birth;

typedef struct state {
    version stored[MAX_OBJECTS];    /* the truth; sorted by kind and name, as the next three */
    version seen[MAX_OBJECTS];      /* what the controller's watches have delivered */
    version own[MAX_OBJECTS];       /* answers to its own writes that no watch has shown yet */
    version departed[MAX_DEPARTED]; /* pods seen to end, the latest of each index */
    version queue[MAX_QUEUE];       /* events not delivered; in order within a kind */
    const write *rest[MAX_REST];    /* of the plan being carried out */
    uint64_t rest_rv[MAX_REST];     /* the preconditions it was made with */
    birth births[MAX_BORN];
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
    table contents, changes; /* by hash; what a write or event makes of one */
    table plans;             /* by visible state */
    table names;             /* uids and names of pods there ever were */
    write *writes;           /* all of them */
    uint64_t n_plans;
    /* A planted fault: changes the writes of a plan; NULL: none. */
    void (*plant)(struct model *m, const state *s, const write **writes, uint32_t *n);
    bool calm;         /* nothing goes wrong and nothing is planted: convergence is looked at */
    bool first;        /* the plan was asked for the first time outside calm runs */
    uint64_t plant_at; /* hash of the visible state it is planted in; 0: in every state */
    char broken[512];  /* the first promise found broken; "" none */
} model;

/* ---- content.c ---- */
void must(grove_status st, const char *what);
void *zeroed(size_t size);
uint64_t object_key(gv_kind kind, const char *name);
uint64_t text_key(const char *text);
uint64_t node_hash(model *m, const grove_node *node);
/* Takes doc over. */
const content *content_of(model *m, gv_kind kind, grove_doc *doc);
void note_pod_name(model *m, const char *text);
shape shape_of(model *m, const grove_node *root);
const grove_node *member(const content *c, const char *pointer);
const char *text_of(const content *c, const char *pointer);
const version *find_version(const version *list, uint32_t n, uint64_t key);
void broken(model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool pod_is_active(const content *pod);
bool is_listed(const content *gang, const char *pod);
uint64_t pod_unit(const char *clique, int64_t index);
grove_doc *parsed(model *m, const char *text);
grove_doc *merged(model *m, grove_doc *doc, grove_doc *patch);
model *model_new(const scenario *what, uint32_t lag);
void model_free(model *m);

/* ---- state.c ---- */
typedef struct ranks {
    struct {
        uint64_t key, rv;
    } v[3 * MAX_OBJECTS + MAX_QUEUE + MAX_REST];
    uint32_t n;
} ranks;
void ranks_of(ranks *r, const state *s);
/* How many versions of the object that play a part are later. */
uint64_t rank_of(const ranks *r, uint64_t key, uint64_t rv);
state *state_copy(const state *s);
uint64_t state_hash(const state *s); /* as it is: nothing merged */

/* ---- merge.c ---- */
uint64_t merged_hash(const state *s);

/* ---- cluster.c: what a server, its scheduler, kubelets and people do ---- */
state *initial_state(model *m, uint32_t faults);
/* Carries a write out; true when the server took it. `heard`: the controller gets the answer. */
bool carry_out(model *m, state *s, const write *w, uint64_t rv, bool heard);
void deliver(state *s, gv_kind kind);
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
const write *write_interned(model *m,
                            const write *w); /* with its shape and hash; takes body over */
void plans_free(model *m);

/* ---- explore.c ---- */
typedef enum manner {
    MERGED, /* states that differ only in names, and steps that commute, once */
    WHOLE,  /* every state by itself; that the merged ones behave alike is checked */
} manner;

typedef struct result {
    uint64_t states, transitions, rests;
    uint64_t classes;       /* WHOLE: how many the merged states are */
    uint32_t depth, rounds; /* most rounds of plan and apply between two events */
    bool complete;          /* the frontier emptied */
    /* The visible state whose plan came up last, by depth: of any writes, and of a PodGang's members. */
    uint64_t last_plan, last_membership;
    uint32_t last_plan_depth, last_membership_depth;
    char trace[8192]; /* of the broken promise */
} result;
void explore(model *m, manner how, uint32_t faults, uint64_t max_states, uint32_t max_depth,
             result *out);

#endif
