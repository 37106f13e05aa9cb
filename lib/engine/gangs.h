/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about gangs share: gangs.c says whose turn it is, turns.c what becomes of it, answers.c keeps
 * the answers, preempt.c says who makes room for whom, victims.c keeps the books on those that do.
 */
#ifndef GV_ENGINE_GANGS_H
#define GV_ENGINE_GANGS_H

#include "engine/engine.h"

/* A gang whose turn is to come. */
typedef struct gv_candidate {
    gv_str key; /* "ns/name" */
    const grove_node *podgang;
    int64_t priority, created;
    bool has_its_least; /* it runs, and waits for room for more */
    bool fresh;         /* decided in this step: nobody has been told */
    bool tied;          /* to the places of others */
    bool may_grow;      /* its decision leaves pods out that it could do without */
    bool taken;         /* it has had its turn: queues.c */
    uint32_t queue;     /* of the placement engine */
    int64_t *wants;     /* what its minimum lacks, by resource; NULL: it waits for nothing yet */
    uint32_t n_wants;
} gv_candidate;

/* ---- gangs.c ---- */
gv_object *gv_gangs_find(const grove_engine *e, gv_str key); /* by "ns/name" */
/* Ours to place; and of those: a stock scheduler binds what we release. */
bool gv_gangs_ours(const grove_engine *e, const grove_node *podgang);
bool gv_gangs_released(const grove_engine *e, const grove_node *podgang);
/* Of the scheduler that the gang names, or of the default one; NULL: it has none. */
const gv_scheduler_profile *gv_gangs_profile(const grove_engine *e, const grove_node *podgang);
/* GROVE_QUEUE_NONE: of none. */
uint32_t gv_gangs_queue(const grove_engine *e, const gv_object *gang);
int64_t gv_gangs_priority(const grove_engine *e, const grove_node *podgang);
/* The same with the places that are held for gangs below a priority: they choose anew, before others of
 * theirs do. */
grove_status gv_gangs_reopen_below(grove_engine *e, int64_t priority);
/* All that want room are to be looked at. */
grove_status gv_gangs_mark_waiting(grove_engine *e);

/* ---- turns.c ---- */
/* Every podgroup of the gang has its minimum on nodes. */
bool gv_gangs_is_scheduled(const grove_engine *e, gv_str ns, gv_str gang);
/* Describes what the gang lacks of its minimum. */
grove_status gv_gangs_describe_least(grove_engine *e, const grove_node *podgang, gv_view_gang *out,
                                     grove_error *err);
/* Its places, as far as it may have some now. `flags`: GV_DESCRIBE_*. */
grove_status gv_turn_take(grove_engine *e, gv_candidate *c, uint32_t flags, grove_error *err);
/*
 * The same for gangs of one priority that lack their minimum, `n` of them: where there are several, each first
 * gets what it needs to start, and only then, with the minimum of all others held, what it could have beside
 * that.
 */
grove_status gv_turn_starters(grove_engine *e, gv_candidate *const *list, uint32_t n,
                              bool more_follow, grove_error *err);
/* Those that found no place, after all of their priority had their turn: who would have to make room? */
grove_status gv_turn_make_room(grove_engine *e, gv_candidate *const *list, uint32_t n,
                               grove_error *err);

/*
 * The turn of the last of `served`, all of which lack their minimum: alone, then together with those that got
 * their places before it, then with others making room.
 */
grove_status gv_turn_queued(grove_engine *e, gv_candidate *const *served, uint32_t n,
                            uint32_t flags, grove_error *err);
/* What it could have beside the minimum that it got. */
grove_status gv_turn_grow(grove_engine *e, gv_candidate *c, grove_error *err);
/* It was looked at, and no place was found or is held for it. */
bool gv_turn_waits(const grove_engine *e, const gv_candidate *c);

/* ---- answers.c ---- */
/* A fresh answer for the gang, without content, in the place of the former one; NULL: no memory. */
gv_decided *gv_gangs_answer(grove_engine *e, gv_str ns, gv_str gang, gv_str set);
/* Notes each pod's node as e->view.decision has it, and holds its room. */
grove_status gv_gangs_keep_places(grove_engine *e, gv_decided *d, const gv_view_gang *gang,
                                  grove_error *err);
/* Keeps what e->view.decision says of the gang described last. */
grove_status gv_gangs_keep_decision(grove_engine *e, gv_str ns, gv_str name, gv_str set,
                                    const gv_view_gang *gang, grove_error *err);
/* Decides on the gang described last, and keeps the answer. */
grove_status gv_gangs_decide(grove_engine *e, gv_str ns, gv_str name, gv_str set,
                             const gv_view_gang *gang, grove_error *err);
/* Answers that the gang has no place as its set is of no queue that it could be in. */
grove_status gv_gangs_bar(grove_engine *e, gv_str ns, gv_str name, gv_str set, grove_error *err);
void gv_gangs_drop(grove_engine *e, gv_str key);
/* Before the same, of a gang that does not wait any more: what its queue wanted for it, others may have now. */
void gv_gangs_wants_nothing(grove_engine *e, gv_str key);
/* The same, with the room that was held for it; what is bound has its own. */
void gv_gangs_take_back(grove_engine *e, gv_str key);

/* ---- preempt.c ---- */
/* For a gang that found no place: looks for less important ones that could make room, condemns them and
 * holds the places. Else says that none would help. */
grove_status gv_engine_preempt(grove_engine *e, gv_str key, const grove_node *podgang,
                               grove_error *err);
/* For one that has waited too long: chooses places that others hold, and holds what they leave. Nobody goes
 * for it. */
grove_status gv_engine_keep_room(grove_engine *e, gv_str key, const grove_node *podgang,
                                 grove_error *err);

/* ---- victims.c ---- */
/* All of the gang is to go, and some pod of it still has to. `gang` may be NULL. */
bool gv_victims_going(const grove_engine *e, const gv_object *gang);
/* This pod, beyond its gang's minimum, is to go by itself. */
bool gv_victims_pod_going(grove_engine *e, const gv_pod *pod);
/* An eviction of its set replica was refused not long ago. */
bool gv_victims_spared(const grove_engine *e, const gv_object *gang);
/* `pod` NULL: the whole gang. */
grove_status gv_victims_condemn(grove_engine *e, const gv_object *gang, const gv_pod *pod,
                                const char *text);
int64_t gv_victims_spared_until(const grove_engine *e);
/* Forgets who is gone, and ends the time of those that were spared. */
grove_status gv_victims_review(grove_engine *e, int64_t now);
/* Name of the gang that the others of its set replica depend on; its own when it is that. */
gv_str gv_victims_base(const grove_engine *e, const gv_object *gang);

#endif
