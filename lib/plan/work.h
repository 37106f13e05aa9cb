/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plan being made: what the steps of planning share. Nobody outside lib/plan includes this.
 *
 * Everything here lives in one arena that is reset for each plan; texts and records are borrowed from the
 * store, the template and the request. The plan itself is copied out at the end.
 */
#ifndef GV_PLAN_WORK_H
#define GV_PLAN_WORK_H

#include "base/arena.h"
#include "base/vec.h"
#include "model/labels.h"
#include "plan/coherent.h"
#include "plan/expand.h"
#include "plan/plan.h"

#define GV_NS_PER_S INT64_C(1000000000)

typedef enum gv_truth { GV_FALSE = 0, GV_TRUE, GV_UNSURE } gv_truth;

/* ---- what is remembered from plan to plan, so that an unchanged object costs a comparison ---- */

/* updateProgress of a clique, a group or the set, as it stands or as it shall be. */
typedef struct gv_progress {
    bool set, ended;
    bool started_now, ended_now; /* the time is this plan's */
    gv_str started, ended_at;    /* the texts that stand; "" when it is this plan's */
    gv_str set_hash, clique_hash;
    gv_str current_pod; /* clique: readyPodsSelectedToUpdate.current; "" none */
    int64_t
        current_index; /* group: readyReplicaIndicesSelectedToUpdate.current; set: currentlyUpdating
                                [0].replicaIndex; -1 none */
    gv_str
        current_started; /* set: currentlyUpdating[0].updateStartedAt; "" when it is this plan's */
    const grove_node *completed; /* the list that stands; NULL none */
    bool complete_current;       /* what stood as current joins the completed */
} gv_progress;

/* A condition as it stands. */
typedef struct gv_stands {
    gv_truth status;
    bool present;
    int64_t since; /* GV_TIME_NONE unknown */
} gv_stands;

/* One object's memory. The texts point into `doc`, which is pinned. */
typedef struct gv_memo {
    uint64_t hash; /* of the uid, for the table */
    char *uid;
    size_t uid_bytes;
    grove_doc *doc;
    const grove_node *node;
    uint64_t
        body_sig; /* signature of what was wanted when the body was last found equal; 0 never */
    uint64_t status_sig; /* the same of the status */
    uint64_t places_sig; /* of a PodGang: the same of the places it remembers */
    uint32_t epoch;      /* plan in which it was last used */
    const grove_node *status, *conditions;
    gv_progress progress;
    gv_stands breach, scheduled, ever, terminating;
    gv_str hash_label;      /* pod-template hash label */
    gv_str status_hash;     /* currentPodTemplateHash */
    gv_str status_set_hash; /* currentPodCliqueSetGenerationHash or currentGenerationHash */
} gv_memo;

typedef struct gv_set_memory {
    gv_ptable memos; /* by uid */
    gv_template *template;
    grove_doc *checked; /* the set's document that the template was last found to fit; pinned */
    grove_config *config;
    bool provisional;     /* the template's aliases do not stand in the set's annotation yet */
    uint64_t template_id; /* grows with each new template */
    uint32_t epoch;
    uint32_t touched; /* memos used in this epoch */
    grove_plan
        *idle; /* the last plan that only waits: told again, it is the same object; NULL none */
} gv_set_memory;

/* ---- one plan ---- */

typedef struct gv_work_clique {
    const gv_want_clique *want;
    gv_object *obj;      /* ours; NULL: does not exist */
    gv_memo *memo;       /* with obj */
    gv_object *rival;    /* an object of this name that is not ours */
    bool dying;          /* obj is being deleted */
    bool deletes;        /* this plan deletes it */
    bool writes;         /* this plan writes its body */
    bool creates;        /* this plan creates it */
    bool held;           /* missing, and not to be made in this plan */
    bool refused;        /* a pod of it was refused and is not to be tried again yet */
    bool unsettled;      /* writes of its pods are planned or in flight */
    bool noted;          /* a restart of its unit is written: its pods wait for that to stand */
    bool paused;         /* its unit failed: no pod is made in this plan */
    int64_t incarnation; /* of its unit; 0: it never failed, or has no policy */
    int64_t n_failed;    /* 1: it failed for good */
    bool recycled;       /* gang termination takes all its pods in this plan */
    const gv_pod **pods; /* active ones, by index, then age, then name */
    bool *goes;          /* parallel: this plan deletes it */
    uint32_t n_pods;
    const gv_pod **gone; /* the rest: terminating or in a final phase */
    uint32_t n_gone;
    int64_t ready, scheduled, gated, updated, bad; /* of the active ones */
    gv_progress progress;
    gv_truth breach;
    const char *breach_reason;
    int64_t breach_since;
    bool is_scheduled, ever_scheduled, converged;
    gv_str hash, set_hash; /* status.current* as they shall be */
} gv_work_clique;

typedef struct gv_work_group {
    const gv_want_group *want;
    gv_object *obj, *rival;
    gv_memo *memo;
    bool dying, deletes, writes, creates;
    int64_t scheduled, available, updated; /* replicas */
    int64_t healthy, members_updated;
    int64_t n_failed; /* replicas that failed for good */
    gv_progress progress;
    gv_truth breach;
    int64_t breach_since;
    bool ever_healthy, was_terminating, terminating;
    gv_str set_hash;
} gv_work_group;

typedef struct gv_work_gang {
    const gv_want_gang *want;
    gv_object *obj, *rival;
    gv_memo *memo;
    bool writes, creates, deletes, dying;
    bool complete;  /* every clique has all its pods */
    bool stuck;     /* incomplete, and nothing in hand will change that */
    bool released;  /* some active pod has lost its gate */
    bool scheduled; /* every PodGroup has its minimum of scheduled pods */
    bool ready;     /* the same of ready pods */
    bool disrupted; /* some pod of it is being evicted or preempted */
    bool condemned; /* all of it makes room for another gang */
    gv_str condemned_text;
    bool unsettled;
    const grove_placement *placement;
} gv_work_gang;

typedef struct gv_work_replica {
    bool terminate; /* this plan recycles it */
    bool pending;   /* a breach is running out */
    bool available, updated;
    int64_t deadline;
} gv_work_replica;

/* The set replica that is rolled by pairs; as it stood before this plan. */
typedef struct gv_work_pairs {
    bool active;
    uint32_t replica;    /* index in want->replicas */
    const uint32_t *who; /* per role: place among the replica's standalone cliques, then groups */
    uint32_t n_roles;
    gv_roll roll;
    gv_roll_move *moves;
    gv_roll_answer answer;
    int64_t all, away, elsewhere; /* pairs of the set; that may be away; usable in other replicas */
    int64_t since, deadline;      /* of the last step; when it counts as stalled */
    bool stalled;
} gv_work_pairs;

/* An action before it is copied into the plan. */
typedef struct gv_act {
    grove_verb verb;
    gv_kind kind;
    grove_subresource subresource;
    grove_patch_type patch_type;
    int32_t order;
    uint32_t flags; /* GROVE_ACTION_* */
    gv_str name, uid, rv, node;
    grove_doc *body; /* owned by the work */
    const char *reason;
    gv_str text;
    const char *event; /* NULL: none */
    gv_kind event_kind;
    gv_str event_name, event_uid;
    const gv_pod *pod; /* gate removals and deletions of pods: for the invariants */
    uint32_t clique;   /* the pod's clique; GV_NOT_WANTED: none */
} gv_act;

typedef struct gv_wait_note {
    gv_kind kind, for_kind;
    gv_str name, for_name, text;
    const char *reason;
    int64_t since, deadline;
} gv_wait_note;

typedef struct gv_fault { /* an entry of lastErrors */
    const char *code;
    gv_kind kind; /* on whose status it is shown: PodCliqueSet, PodClique, PodCliqueScalingGroup */
    gv_str name;
    gv_str text;
    int64_t at;
    const char *event;      /* told as a warning when the entry is new; NULL: its write tells it */
    const gv_object *about; /* on this object; NULL: the one whose status it is in */
} gv_fault;

typedef struct gv_work {
    grove_env *env;
    gv_arena arena;
    const grove_store *store;
    gv_str ns, set;
    int64_t now;
    gv_str now_text; /* RFC 3339 */
    const grove_plan_request *request;

    gv_object *pcs;
    gv_memo *memo;
    gv_template *t;
    const gv_pcs *view; /* of the template */
    const gv_want *want;
    gv_set_memory *memory;
    gv_str set_hash;   /* generation hash of the template */
    bool manual;       /* OnDelete */
    bool by_pairs;     /* Coherent */
    bool suspended;    /* spec.suspend: no gang is offered to a scheduler */
    bool unheld;       /* its finalizer was refused: nothing is made for it */
    int64_t delay;     /* terminationDelay */
    int64_t gang_wait; /* gangWait.timeout; 0: none */
    gv_str adopted;    /* text of the annotation to be written; "" none */
    gv_progress progress;

    gv_work_clique *cliques; /* parallel to want */
    gv_work_group *groups;
    gv_work_gang *gangs;
    gv_work_replica *replicas;
    gv_work_pairs pairs;
    int64_t next_revision; /* number of a ControllerRevision that this plan makes */

    GV_VEC(gv_act) acts;
    GV_VEC(gv_wait_note) waits;
    GV_VEC(gv_fault) faults;
    int64_t deadline;
    grove_builder *b; /* for bodies: empty between uses */
    grove_buf text;   /* scratch */
    bool starved;     /* a text could not be made: the plan must not be given out */
    grove_error *err;
} gv_work;

/* Stages: actions of one stage do not depend on one another, those of a later one may. */
enum {
    GV_ORDER_FINALIZER = 0, /* the set is held before anything is made for it */
    GV_ORDER_DELETE = 10,
    GV_ORDER_CREATE = 20, /* + place in the order of creation */
    GV_ORDER_PATCH = 30,
    GV_ORDER_POD_DELETE = 40,
    GV_ORDER_POD_CREATE = 50,
    GV_ORDER_MEMBERSHIP = 60,
    GV_ORDER_GATE = 70,
    GV_ORDER_BIND = 75,
    GV_ORDER_STATUS = 80,
    GV_ORDER_RELEASE = 90, /* finalizers away */
    GV_ORDER_EVENT = 95
};

#define ARG_STR(s) (int)(s).n, (s).p

/* ---- memory.c ---- */
/* Finds or makes the template. With aliases found just now: a new one that uses them as well. */
grove_status gv_memory_template(gv_work *w, const gv_alias *more, uint32_t n_more);
/* The memory of a custom resource as it is now; NULL: out of memory. */
gv_memo *gv_memory_of(gv_work *w, const gv_object *o);
void gv_memory_sweep(grove_env *env, gv_set_memory *m);
void gv_memory_free(grove_env *env, gv_set_memory *m);

/* A condition as it stands in a list; not present: status is Unknown. */
gv_stands gv_condition_stands(const grove_node *conditions, const char *type);

/* ---- adopt.c ---- */
/* The aliases that the set's annotation lists; *out in the arena. */
bool gv_adopted_read(gv_work *w, const gv_alias **out, uint32_t *out_n);
/* Looks for hashes of another operator that stand for ours. *out_again: the template was renewed. */
grove_status gv_adopt(gv_work *w, bool *out_again);

/* ---- act.c ---- */
/* The action's slot, valid until the next one; NULL: out of memory. */
gv_act *gv_act_add(gv_work *w, grove_verb verb, gv_kind kind, gv_str name, int32_t order,
                   const char *reason, const char *fmt, ...) GROVE_PRINTF(7, 8);
grove_status gv_act_finish_body(gv_work *w, gv_act *act); /* takes what the builder holds */
grove_status gv_act_delete(gv_work *w, const gv_object *o, int32_t order, const char *reason,
                           const char *event, gv_str why);
grove_status gv_act_drop_finalizer(gv_work *w, const gv_object *o, const char *finalizer);
grove_status gv_act_event(gv_work *w, const gv_object *about, bool warning, const char *reason,
                          gv_str note);
bool gv_wait_add(gv_work *w, gv_kind kind, gv_str name, const char *reason, gv_kind for_kind,
                 gv_str for_name, int64_t since, int64_t deadline, const char *fmt, ...)
    GROVE_PRINTF(9, 10);
/* The same with a text that lives as long as the plan is being made: a large set that waits says a lot. */
bool gv_wait_say(gv_work *w, gv_kind kind, gv_str name, const char *reason, gv_kind for_kind,
                 gv_str for_name, int64_t since, int64_t deadline, gv_str text);
bool gv_fault_add(gv_work *w, gv_kind kind, gv_str name, const char *code, int64_t at, gv_str text);
/* The fault added last is told as an event, too. */
void gv_fault_event(gv_work *w, const char *event, const gv_object *about);
const grove_refusal *gv_refusal_of(const gv_work *w, grove_verb verb, gv_kind kind, gv_str name);
/* A refusal that still holds: notes the deadline. */
bool gv_is_refused(gv_work *w, grove_verb verb, gv_kind kind, gv_str name);
static inline void gv_deadline(gv_work *w, int64_t when) {
    w->deadline = when < w->deadline ? when : w->deadline;
}
grove_status gv_work_nomem(gv_work *w);

/* The set's objects that `wanted` picks, by kind and name: an order that no event can change. NULL with
 * *out_n 0: there are none; NULL with more: out of memory. */
typedef bool (*gv_pick)(const gv_work *w, const gv_object *o);
const gv_object **gv_work_pick(gv_work *w, gv_pick wanted, uint32_t *out_n); /* observe.c */

/* ---- the steps, in their order ---- */
grove_status gv_step_refusals(gv_work *w);  /* refused.c: what was refused is told */
grove_status gv_step_observe(gv_work *w);   /* observe.c: match by name and owner uid, read pods */
grove_status gv_step_facts(gv_work *w);     /* facts.c: counts, breaches, sticky facts */
grove_status gv_step_rollout(gv_work *w);   /* rollout.c: progress of set, groups, cliques */
grove_status gv_step_terminate(gv_work *w); /* terminate.c: gang termination */
grove_status gv_step_revisions(gv_work *w); /* revisions.c: the history of templates */
grove_status gv_step_children(gv_work *w);  /* children.c: create, patch, delete */
grove_status gv_step_failures(gv_work *w); /* failure.c: units whose pods stand and fall together */
grove_status gv_step_pods(gv_work *w);     /* pods.c */
grove_status gv_step_gangs(gv_work *w);    /* gangs.c: membership, gates, binds */
grove_status gv_step_waits(gv_work *w);    /* waits.c: for schedulers, starts and containers */
grove_status gv_step_status(gv_work *w);   /* status_*.c */
grove_status gv_step_pod_labels(gv_work *w);
grove_status gv_step_finalizers(gv_work *w); /* finalize.c */
grove_status gv_step_hold(gv_work *w);       /* refused.c: and not tried before its time */
grove_status gv_step_check(gv_work *w);      /* invariants.c */

/* ---- shared between steps ---- */
/* suspend.c: takes the room of a suspended set back. */
grove_status gv_suspend(gv_work *w);
/* Deletes one pod of the clique, at most once a plan. */
/* pod_labels.c: the label says another index than the host name does. */
bool gv_pod_index_is_bent(const gv_pod *p);
/* A label of ours is missing or written over, and is put back as soon as nothing else is written to the pod. */
bool gv_pod_labels_drifted(const gv_work *w, const gv_work_clique *c, const gv_pod *p);
grove_status gv_pod_remove(gv_work *w, gv_work_clique *c, const gv_pod *p, const char *reason,
                           const char *why);
/* Place of an active pod in c->pods; n_pods when it is not one of them. */
uint32_t gv_pod_place(const gv_work_clique *c, const gv_pod *p); /* observe.c */
bool gv_is_turn(const gv_work *w,
                uint32_t replica); /* rollout.c: may this replica be updated now */
bool gv_clique_needs_turn(const gv_work *w, const gv_work_clique *c);
/* Its turn was chosen and does not stand in the cluster yet; standalone cliques. */
bool gv_clique_is_next(const gv_work *w, const gv_work_clique *c);
bool gv_base_scheduled(const gv_work *w, const gv_work_gang *g, const gv_want_clique **out_missing);
int64_t gv_breach_deadline(const gv_work *w, int64_t since);

#endif
