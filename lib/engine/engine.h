/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine from inside. engine.c takes events and completions in, sets.c turns plans into operations,
 * gangs.c with turns.c decides which gangs are placed, view_*.c translate the store for the placement engine.
 */
#ifndef GV_ENGINE_ENGINE_H
#define GV_ENGINE_ENGINE_H

#include <stdbool.h>

#include <grove/engine.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/view_sched.h"
#include "model/config.h"
#include "plan/plan.h"
#include "store/store.h"

/* A write of the present quiet period: what it wrote to, and what that was before. */
typedef struct gv_law_write {
    uint64_t part, before;
    uint32_t round;
    bool follows; /* tells of other objects, is no deed by itself */
} gv_law_write;

/* What the laws are verified by (GROVE_ENGINE_CHECK); empty without. */
typedef struct gv_laws {
    uint64_t seen; /* engine.outside when the period began */
    uint32_t rounds;
    GV_VEC(gv_law_write) writes;
} gv_laws;

/* What is to be known before a first pod of the set is made: survey.c. */
typedef struct gv_survey {
    bool due;   /* pods of the set may exist that the store does not know */
    bool asked; /* a page of their list was asked for, at */
    int64_t asked_at;
    int64_t since;  /* when the survey under way began; INT64_MIN: none is */
    grove_buf page; /* where the list goes on; empty: at its beginning */
    grove_buf lack; /* why the last list did not end it: a pod that the store does not know; "" */
    grove_status failed; /* or its status */
} gv_survey;

/* The plan of one PodCliqueSet, or of one ClusterTopologyBinding (ns ""), on its way out. */
typedef struct gv_set {
    char *ns, *name; /* in one allocation behind the struct */
    size_t bytes;
    grove_plan *plan; /* the last one; kept for explanations */
    uint32_t next;    /* first action not yet handed out */
    uint32_t in_flight;
    uint32_t burst, burst_used; /* slow start: creates allowed without an answer, and used */
    uint32_t outdated;          /* answers in a row that the plan was outdated */
    uint32_t failures;          /* plans that could not be made, in a row */
    int64_t not_before;         /* no new plan and no action before it */
    gv_map refused;             /* "kind/name" -> gv_refused */
    int64_t deadline;           /* the plan's own; GROVE_NEVER */
    int64_t counts_due;         /* statuses held back are written by then; GROVE_NEVER: none is */
    int64_t planned_at;
    bool dirty, active; /* to be planned; in engine.active */
    bool dropped;       /* an action failed: what follows is planned anew */
    bool counts_go;     /* nothing is held back of this plan */
    gv_survey survey;
    grove_buf fault; /* why it could not be planned; "" it could */
    gv_laws laws;
} gv_set;

typedef struct gv_in_flight {
    uint64_t token;
    gv_set *set;                /* NULL: a read-back */
    grove_plan *plan;           /* referenced: keeps `action` */
    const grove_action *action; /* NULL: a read-back, or with a set its survey */
    gv_kind kind;
    char *ns, *name; /* of a read-back, one allocation; else NULL */
    size_t bytes;
} gv_in_flight;

/* A write that the cluster refused, told to the planner until it succeeds or the object is there. */
typedef struct gv_refused {
    grove_refusal refusal; /* its texts stand behind the struct */
    size_t bytes;
    uint32_t times;
} gv_refused;

typedef struct gv_engine_watch {
    gv_kind kind;
    uint64_t token;
    bool wanted, synced, relisting;
} gv_engine_watch;

/* A decision until its pods are seen bound; everything it points to lives in its arena. */
typedef struct gv_decided {
    gv_arena arena;
    grove_placement placement;
    gv_str ns, set;
    uint32_t unplaced;         /* pods that got no node although the gang was placed */
    uint64_t terms;            /* what the gang asked for: stale.c */
    const uint64_t *node_sigs; /* parallel to the placed pods: what their nodes were */
    bool gated;                /* its pods are released towards their places; somebody else binds */
    bool reserved;    /* no answer to bind: its places are held until others have left them */
    bool barred;      /* no place is looked for: its set is of no queue */
    bool bounded;     /* places there may be: its queue has all that it may have */
    int64_t priority; /* of such a gang */
    uint32_t queue;   /* of the placement engine, when it was decided; GROVE_QUEUE_NONE: none */
    int64_t *wants;   /* what the minimum lacked then, by resource; NULL: nothing is known */
    uint32_t n_wants;
    int64_t look_again; /* it has waited too long then; INT64_MAX: never */
} gv_decided;

/* A gang, or one pod of it, that has to make room until it is seen to go. Texts in its arena. */
typedef struct gv_condemned {
    gv_arena arena;
    grove_disruption what;
    gv_str ns, set;
} gv_condemned;

/* The gangs of a set replica that must not be evicted for a while: an eviction was refused. */
typedef struct gv_spared {
    gv_arena arena;
    grove_disruption what; /* withdrawn; of the base gang */
    gv_str ns, set;
    int64_t until;
    uint32_t times;
    bool over;
} gv_spared;

/* An event to emit: its operation but for the body, which is made when it goes out. */
typedef struct gv_notice {
    grove_plan *plan; /* referenced: keeps the action's texts */
    const grove_action *action;
    char *failure; /* the cluster's words, heap; NULL: it succeeded */
} gv_notice;

struct grove_engine {
    grove_env *env;
    uint32_t flags;
    grove_config *base_config; /* what the host gave */
    grove_config *config;      /* with the cluster's own objects laid over it */
    bool config_stale;
    char *ns, *bind_schedulers;
    uint64_t seed;
    uint32_t max_in_flight, gangs_a_step;
    int64_t resync_ns, backoff_ns, next_resync, status_quiet_ns;

    grove_store *store;
    grove_planner *planner;
    gv_view view;
    uint64_t next_token;
    int64_t now;              /* as last told */
    int64_t read_back_at;     /* not before: the last read-back failed */
    uint32_t read_back_fails; /* in a row */

    gv_map sets;             /* "ns/name" -> gv_set */
    GV_VEC(gv_set *) active; /* sets with actions left, served in turn */
    size_t turn;
    GV_VEC(gv_in_flight) in_flight;
    GV_VEC(gv_engine_watch) watches;

    gv_map gangs_to_check; /* "ns/name" -> non-NULL */
    gv_map held;           /* the same: gangs whose remembered places are about to be left */
    int64_t held_until;    /* of the first of them; GROVE_NEVER */
    int64_t look_at;       /* no decision's look_again is before it */
    gv_map decided;        /* "ns/name" of the gang -> gv_decided */
    gv_map condemned;      /* "ns/gang", of one pod "ns/gang/pod" -> gv_condemned */
    gv_map spared;         /* "ns/name" of the base gang -> gv_spared */
    bool wants_less; /* a queue wants less than before: the fair shares of others have grown */
    const int64_t *wanted; /* by queue and resource, while gangs of queues have their turns */
    gv_map favoured; /* "ns/name" of a gang whose held places were given back to choose anew */
    GV_VEC(const grove_placement *) placements; /* lent to the planner, as the next */
    GV_VEC(const grove_refusal *) refusals;
    GV_VEC(const grove_disruption *) disruptions;
    GV_VEC(gv_notice) notices; /* events to emit, oldest first */
    grove_doc *op_body;        /* of the event handed out last */

    grove_op op; /* handed out last, with its texts pinned by the plan or here */
    grove_plan *op_plan;
    grove_buf op_text;
    grove_watch watch;
    grove_engine_stats stats;

    uint64_t outside;        /* counts what came from outside; laws.c */
    GV_VEC(uint64_t) echoes; /* own writes whose events are to come */
};

/* ---- sets.c ---- */
gv_set *gv_engine_set(grove_engine *e, gv_str ns, gv_str name); /* made when new; NULL: no memory */
grove_status gv_engine_take_dirty(grove_engine *e);
/* Plans what is due and fills e->op; *out false when nothing can be handed out now. */
grove_status gv_engine_next_action(grove_engine *e, int64_t now, bool *out, grove_error *err);
void gv_engine_sets_fini(grove_engine *e);
int64_t gv_engine_sets_deadline(const grove_engine *e);
void gv_engine_count(grove_engine *e, grove_verb verb); /* an operation handed out */
/* Wait after so many failures in a row. */
int64_t gv_engine_backoff(const grove_engine *e, uint32_t failures);

/* ---- refusals.c ---- */
grove_status gv_engine_refusals_of(grove_engine *e, gv_set *set, const grove_refusal *const **out,
                                   uint32_t *out_n);
/* Remembers a refusal, or (ok) forgets one. */
grove_status gv_engine_note_answer(grove_engine *e, gv_set *set, const grove_action *action,
                                   const grove_completion *c);
/* Forgets refused writes that this plan no longer asks for; true when there were any: plan again. */
bool gv_engine_drop_moot(grove_engine *e, gv_set *set, const grove_plan *plan, int64_t now);
bool gv_engine_is_outdated(const grove_action *action, const grove_completion *c);
void gv_engine_refusals_fini(grove_engine *e, gv_set *set);

/* ---- survey.c ---- */
/* Whether one is due: the set was there before this engine looked at it first. */
void gv_survey_init(grove_engine *e, gv_set *set);
void gv_survey_fini(gv_set *set);
/* The action may not go out before the set's pods are known to be all in the store. */
bool gv_engine_awaits_survey(const gv_set *set, const grove_action *a);
/* Fills e->op with the next page of the list of the set's pods, unless that is under way. */
grove_status gv_engine_survey(grove_engine *e, gv_set *set, bool *out, grove_error *err);
grove_status gv_engine_surveyed(grove_engine *e, gv_set *set, const grove_completion *c);
/* When the page asked for is asked for again; INT64_MAX: none is awaited. */
int64_t gv_survey_deadline(const gv_set *set);

/* ---- holds.c ---- */
/* What holds the whole set up, beside what its plan waits for. The texts live as long as the set stays as it
 * is. */
#define GV_HOLDS 4
uint32_t gv_engine_holds(const grove_engine *e, const gv_set *set, grove_wait out[GV_HOLDS]);

/* ---- laws.c: all of them do nothing without GROVE_ENGINE_CHECK ---- */
/* Law (b), and whether a new quiet period begins; before the set takes the plan. */
grove_status gv_laws_plan(grove_engine *e, gv_set *set, const grove_plan *plan, int64_t now,
                          grove_error *err);
/* Law (c): around the write's effect on the store. */
grove_status gv_laws_before_write(grove_engine *e, gv_set *set, const grove_action *a,
                                  grove_error *err);
void gv_laws_not_written(grove_engine *e, gv_set *set);
grove_status gv_laws_after_write(grove_engine *e, gv_set *set, const grove_action *a,
                                 grove_error *err);
/* The echo of a write's answer is no event; a refusal is. */
grove_status gv_laws_answer(grove_engine *e, const grove_action *a, const grove_completion *c);
/* Around the answer's effect on the store: a status that says more than what we wrote is of somebody else. */
uint64_t gv_laws_expected(const grove_engine *e, const grove_action *a);
void gv_laws_returned(grove_engine *e, const grove_action *a, uint64_t expected);
void gv_laws_event(grove_engine *e, gv_str uid, gv_str rv);
void gv_laws_outside(grove_engine *e);
void gv_laws_set_fini(grove_engine *e, gv_set *set);
void gv_laws_fini(grove_engine *e);

/* ---- notices.c ---- */
grove_status gv_engine_notice(grove_engine *e, grove_plan *plan, const grove_action *action,
                              const char *failure);
/* Fills e->op with the oldest notice; *out false when there is none. */
grove_status gv_engine_next_notice(grove_engine *e, bool *out, grove_error *err);
void gv_engine_notices_fini(grove_engine *e);

/* ---- gangs.c, answers.c ---- */
grove_status gv_engine_check_gang(grove_engine *e, gv_str ns, gv_str gang);
/* Gangs that wait for the base gang of this pod, now that it has a node. */
grove_status gv_engine_check_followers(grove_engine *e, const gv_pod *pod);
grove_status gv_engine_place_gangs(grove_engine *e, int64_t now, grove_error *err);
/* The decisions for gangs of one set, as the planner takes them; pointers live until the next call. */
grove_status gv_engine_decisions_of(grove_engine *e, gv_str ns, gv_str set,
                                    const grove_placement *const **out, uint32_t *out_n);
/* Takes the decision about a gang back: decide again. */
grove_status gv_engine_withdraw(grove_engine *e, gv_str ns, gv_str gang);
/* A pod of the gang could not be bound: decide again. */
grove_status gv_engine_binding_failed(grove_engine *e, gv_str ns, gv_str pod);
uint32_t gv_engine_gangs_waiting(const grove_engine *e);
const gv_decided *gv_engine_decision(grove_engine *e, gv_str ns, gv_str gang);
void gv_engine_gangs_fini(grove_engine *e);

/* ---- queues.c: nothing happens without queues in the configuration ---- */
/* The set may name another queue than before: what it runs counts there, and its gangs are looked at anew. */
grove_status gv_queues_follow_set(grove_engine *e, gv_str ns, gv_str set, grove_error *err);
/* The same for all, after a relist of sets. */
grove_status gv_queues_follow_all(grove_engine *e, grove_error *err);

/* ---- victims.c: who has to make room for whom ---- */
/* Gangs of this set that are to go, or not to go after all; pointers live until the next call. */
grove_status gv_engine_disruptions_of(grove_engine *e, gv_str ns, gv_str set,
                                      const grove_disruption *const **out, uint32_t *out_n);
/* The cluster does not let this pod be evicted: its gang stays, others are looked for. */
grove_status gv_engine_eviction_refused(grove_engine *e, gv_str ns, gv_str pod);
int64_t gv_engine_gangs_deadline(const grove_engine *e);
void gv_engine_victims_fini(grove_engine *e);

/* ---- stale.c ---- */
/* What is known of a gang and of a node when a decision is made. */
grove_status gv_engine_gang_terms(grove_engine *e, gv_str ns, gv_str gang, uint64_t *out);
uint64_t gv_engine_node_sig(const grove_engine *e, const char *node);
/* Decisions of the set that were made from what is no longer so are taken back; their gangs are looked at
 * again, at once. */
grove_status gv_engine_decide_stale_anew(grove_engine *e, gv_set *set, int64_t now,
                                         grove_error *err);
/* Whether the action follows a decision that holds no longer. */
grove_status gv_engine_follows_stale(grove_engine *e, const grove_action *a, bool *out);

/* ---- settings.c ---- */
/* The configuration with the cluster's topology bindings, classes and templates. */
grove_status gv_engine_refresh_config(grove_engine *e, grove_error *err);

/* "ns/name" into a buffer of the engine; the view is good until the next call. */
gv_str gv_engine_key(grove_buf *buf, gv_str ns, gv_str name);

#endif
