/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as the placement engine sees it: nodes and the room that pods take, kept in step record by
 * record, and gangs described on demand. The only place that knows both Grove's objects and grove/sched.h.
 */
#ifndef GV_ENGINE_VIEW_SCHED_H
#define GV_ENGINE_VIEW_SCHED_H

#include <stdbool.h>

#include <grove/config.h>
#include <grove/sched.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/store.h"

/* Something of a pod spec that chooses nodes and is not taken into account. Texts in the scratch. */
typedef struct gv_view_note {
    const char *clique, *path, *text;
} gv_view_note;

/* What a kubelet refused, counted as if it were there. */
typedef struct gv_view_refused {
    uint32_t pod;  /* of the placement engine; GROVE_SCHED_NONE: its room was given back */
    uint32_t node; /* of the placement engine */
    int64_t until; /* held until then; given back: remembered until then */
    int64_t wait;
} gv_view_refused;

#define GV_VIEW_BATCH 16u /* gangs decided together at most */

typedef struct gv_view {
    grove_env *env;
    grove_sched *sched;
    grove_gang *gang;
    grove_decision *decision;
    grove_gang *batch[GV_VIEW_BATCH]; /* made when gangs are first decided together */
    grove_decision *answers[GV_VIEW_BATCH];
    gv_map nodes; /* node name -> id + 1 */
    gv_map pods;  /* pod uid -> gv_view_pod */
    GV_VEC(gv_view_refused) refused;
    gv_map topologies;          /* binding name -> gv_view_topology */
    gv_arena scratch;           /* reset by each description */
    GV_VEC(gv_view_note) notes; /* of the gang described last, until the scratch is reset */
    gv_request_facts requests;
    const char *queued;    /* the scheduler whose gangs have queues; NULL: there are none. Lent */
    const char *otherwise; /* that of a set which names none. Lent by the configuration, too */
    uint32_t topology_changes;
} gv_view;

/* A pod that a decision is asked for, in the order of its index. */
typedef struct gv_view_seat {
    const gv_pod *pod;
    uint32_t podgroup, class_id;
} gv_view_seat;

/* The domain that a gang has to share with others of its set replica. */
typedef struct gv_view_anchor {
    const char *key; /* node label; NULL: none is required. In the view's scratch */
    gv_str gang;     /* the base gang that the domain belongs to */
    uint32_t node;   /* of the placement engine: one in that domain */
    grove_level level;
} gv_view_anchor;

/* What gv_view_describe found out about a gang. */
typedef struct gv_view_gang {
    bool complete; /* enough pods of every group are there, ungated, and one is to be placed */
    uint32_t n_seats;
    uint32_t left_out;          /* seats beyond the minimum that GV_DESCRIBE_LEAST left out */
    const gv_view_seat **seats; /* podgroup by podgroup, pods by index; in the view's scratch */
    const char *incomplete;     /* why not complete: static text */
    gv_view_anchor anchor;
    uint32_t topology; /* of the placement engine: whose levels its constraints mean */
    bool tied;         /* where it may be depends on where others of its set are */
} gv_view_gang;

grove_status gv_view_init(gv_view *v, grove_env *env, grove_error *err);
void gv_view_fini(gv_view *v);

/* batch[at] and answers[at], made when they are not there. */
grove_status gv_view_seat_in_batch(gv_view *v, uint32_t at);

/* The node as it is in the store now, by name; a node that is not there is removed. */
grove_status gv_view_sync_node(gv_view *v, const grove_store *store, gv_str name, grove_error *err);
/* The room that one pod takes: a bound, unfinished pod holds it, any other gives it back. `pod` NULL: the
 * pod of this uid is gone. */
grove_status gv_view_sync_pod(gv_view *v, const grove_store *store, const gv_pod *pod, gv_str uid,
                              grove_error *err);
/* Holds room for a decision that is not yet observed; gv_view_sync_pod or gv_view_release ends it. */
grove_status gv_view_assume(gv_view *v, const gv_pod *pod, uint32_t node, uint32_t class_id,
                            uint32_t queue, grove_error *err);
/* The room of a pod that holds some, charged to the queue of its set as it is now; *out_moved: it was not. */
grove_status gv_view_charge(gv_view *v, const grove_store *store, const gv_pod *pod,
                            bool *out_moved, grove_error *err);
void gv_view_release(gv_view *v, gv_str uid);
/* The room that a bound pod takes on this node. Amounts in the scratch. */
grove_status gv_view_room_of(gv_view *v, const gv_pod *pod, uint32_t node, grove_sched_pod *out,
                             grove_error *err);

/* ---- view_refused.c ---- */
/* The node's kubelet refused this pod: what it asked for is held back there for a while. */
grove_status gv_view_refuse(gv_view *v, const gv_pod *pod, uint32_t node, int64_t now,
                            grove_error *err);
/* Gives back what was held back for long enough; whether there was any. */
bool gv_view_end_refusals(gv_view *v, int64_t now);
/* When room is given back next; INT64_MAX: none is held back. */
int64_t gv_view_refusals_until(const gv_view *v);
void gv_view_forget_refusals(gv_view *v, uint32_t node); /* which goes */

/* The room of a pod that holds some, counted as that of the class from now on. */
grove_status gv_view_hold_class(gv_view *v, const gv_pod *pod, uint32_t class_id, grove_error *err);
/* Whether the pod has a node, seen or decided. */
bool gv_view_place(const gv_view *v, gv_str uid, uint32_t *out_node);
/* The placement engine's number of a pod that holds room; GROVE_SCHED_NONE: it holds none. */
uint32_t gv_view_pod_id(const gv_view *v, gv_str uid);
/* view_siblings.c: tells v->gang where the gangs are that it is to lie beside or apart from. */
grove_status gv_view_siblings(gv_view *v, const grove_store *store, const grove_node *podgang,
                              uint32_t topology, gv_view_gang *out);

/* Law (f): the room held equals a fresh count over the store, and the placement engine's own sums hold.
 * GROVE_E_INTERNAL when not. For tests; costs time. */
grove_status gv_view_verify(const gv_view *v, const grove_store *store, grove_error *err);
/* Gives back what the store no longer has: after a relist. */
grove_status gv_view_resync(gv_view *v, const grove_store *store, grove_error *err);
void gv_view_topologies_fini(gv_view *v); /* of view_gang.c, for gv_view_fini */

/* Pods that only Grove's own gate holds back are seats too: for schedulers that are handed a gang whole with
 * its places. */
#define GV_DESCRIBE_GATED 0x1u
/* No more seats than the gang needs to start. */
#define GV_DESCRIBE_LEAST 0x2u
/* Describes a PodGang object for the engine in v->gang; what that leaves out of account is in v->notes. */
grove_status gv_view_describe(gv_view *v, const grove_store *store, const grove_config *config,
                              const grove_node *podgang, uint32_t flags, gv_view_gang *out,
                              grove_error *err);
/* view_places.c: adds what the PodGang remembers to the gang just described, as wishes. */
grove_status gv_view_recall(gv_view *v, const grove_store *store, uint32_t topology, gv_str ns,
                            const grove_node *podgang, const gv_view_gang *gang);
/* Until when a pod of the gang just described should wait for the node that it remembers, which its predecessor
 * is about to leave; GV_TIME_NONE: nothing is worth waiting for. */
int64_t gv_view_leaving(const grove_store *store, gv_str ns, const grove_node *podgang,
                        const gv_view_gang *gang);

#endif
