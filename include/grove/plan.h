/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/plan.h - what should change in the cluster for one PodCliqueSet, or for one
 * ClusterTopologyBinding: a pure function of the observed state, the placements, the time and a seed.
 *
 *     grove_planner *planner = NULL;
 *     grove_planner_new(env, &planner);
 *     grove_plan *plan = NULL;
 *     grove_plan_request rq = {sizeof rq};
 *     rq.ns = "default"; rq.name = "llm"; rq.now_ns = now; rq.config = cfg;
 *     grove_plan_make(planner, store, &rq, &plan, &err);
 *     for (uint32_t i = 0; i < grove_plan_actions(plan); i++) apply(grove_plan_action(plan, i));
 *     grove_plan_unref(plan);
 *
 * A plan is immutable and outlives the store: it pins the documents it borrows and copies the rest.
 * Actions are in the order in which they should be done. An action is data: nothing is performed.
 *
 * Threads: a planner is used by one thread at a time; a plan may be shared.
 */
#ifndef GROVE_PLAN_H
#define GROVE_PLAN_H

#include <grove/config.h>
#include <grove/doc.h>
#include <grove/store.h>
#include <grove/verbs.h>

GROVE_BEGIN_DECLS

typedef struct grove_planner grove_planner;
typedef struct grove_plan grove_plan;

/** No deadline. */
#define GROVE_NEVER INT64_MAX

/* ---- placements: what a placement engine decided, handed in as data ---- */

typedef int32_t grove_gang_verdict;
#define GROVE_VERDICT_NONE 0       /**< not asked */
#define GROVE_VERDICT_PLACED 1     /**< every pod listed has its node */
#define GROVE_VERDICT_INFEASIBLE 2 /**< cannot be placed on this cluster now */
#define GROVE_VERDICT_UNKNOWN 3    /**< the search budget was spent */
/** Its places are chosen and held, and others still have to leave them: nothing is bound yet. Since 0.1. */
#define GROVE_VERDICT_NOMINATED 4

/** One pod's node. Borrowed during the call. Since 0.1. */
typedef struct grove_placed_pod {
    const char *pod;  /**< name */
    const char *uid;  /**< precondition; "" or NULL: none */
    const char *node; /**< name */
} grove_placed_pod;

/** The decision about one gang. Borrowed during the call. Since 0.1. */
typedef struct grove_placement {
    uint32_t size; /**< sizeof(grove_placement) */
    grove_gang_verdict verdict;
    const char *gang;   /**< PodGang name, in the namespace of the request */
    const char *reason; /**< code, such as "InsufficientCapacity" */
    const char *text;   /**< one line for people: what would be needed */
    const grove_placed_pod *pods;
    uint32_t n_pods;
    uint32_t score;     /**< 0..1000, written as placementScore when n_pods > 0; 0: leave */
    int64_t retry_ns;   /**< when the engine will look again; GROVE_NEVER: when capacity changes */
    const char *behind; /**< PodGang whose pods have to leave first; NULL or "": none */
} grove_placement;

/** Nothing more of the gang is evicted, and what was said of it is taken back. */
#define GROVE_DISRUPTION_WITHDRAWN 0x1u

/**
 * A gang of this set, or one pod of it, that has to make room for another gang. A whole gang gets the
 * condition libgrove.io/DisruptionTarget first and its pods are evicted once that stands: who takes over in
 * between goes on with it. Borrowed during the call. Since 0.1.
 */
typedef struct grove_disruption {
    uint32_t size;    /**< sizeof(grove_disruption) */
    uint32_t flags;   /**< GROVE_DISRUPTION_* */
    const char *gang; /**< PodGang name, in the namespace of the request */
    const char *pod;  /**< name of the one pod that goes; NULL: the whole gang */
    const char *uid;  /**< of that pod */
    const char *text; /**< one line for people: for whom */
} grove_disruption;

/**
 * A write of this set that was refused: the plan does not try it again before retry_ns, writes it into
 * lastErrors and lets the rest go on without it. Hand in the latest refusal of each object until it
 * succeeds or disappears. Borrowed during the call. Since 0.1.
 */
typedef struct grove_refusal {
    uint32_t size; /**< sizeof(grove_refusal) */
    grove_verb verb;
    grove_kind kind;
    int32_t http;                  /**< HTTP status code, 0: none */
    const char *name;              /**< of the object, in the namespace of the request */
    const char *message;           /**< the cluster's words */
    int64_t at_ns;                 /**< when */
    int64_t retry_ns;              /**< not before */
    grove_subresource subresource; /**< of the write */
    uint32_t reserved;
} grove_refusal;

/** What to plan. Zero-initialise and set size. Since 0.1. */
typedef struct grove_plan_request {
    uint32_t size; /**< sizeof(grove_plan_request) */
    uint32_t n_placements;
    const char *ns;   /**< namespace of the PodCliqueSet; "": plan a ClusterTopologyBinding */
    const char *name; /**< its name */
    /**
     * NULL: defaults. Holds the cluster objects as they are now (ClusterTopologyBinding, PriorityClass,
     * ResourceClaimTemplate): make a new one when one of them changes.
     */
    grove_config *config;
    const grove_placement *const *placements; /**< n_placements pointers */
    const grove_refusal *const *refusals;     /**< n_refusals pointers */
    int64_t now_ns;                           /**< nanoseconds since the epoch */
    uint64_t seed;                            /**< ties only; no name depends on it */
    uint32_t n_refusals;
    uint32_t flags; /**< zero */
    /**
     * Comma-separated schedulerNames whose gangs the caller finds places for, beside those of schedulers that
     * cannot do without: their PodGangs remember where the pods are (docs/reference/annotations.md). NULL:
     * none.
     */
    const char *bind_schedulers;
    const grove_disruption *const *disruptions; /**< n_disruptions pointers */
    uint32_t n_disruptions;
    uint32_t reserved;
} grove_plan_request;

/* ---- results ---- */

/**
 * Only counters of a status (and the numbers in its conditions' messages) differ, or a breach began for want of
 * ready pods, which is over in a moment where they only start: nobody's decision hangs on this write, so that
 * it may wait for those that come after it.
 */
#define GROVE_ACTION_CAN_WAIT 0x1u
/**
 * The object names another one that an action before it of the same plan makes, and a cluster may refuse it (a
 * RoleBinding without its Role) or take it away again (the token of an account that does not exist): begin it when all
 * actions before it have ended. Since 0.1.
 */
#define GROVE_ACTION_NAMES_ANOTHER 0x2u

/** One thing to do. Texts are never NULL and live as long as the plan. Since 0.1. */
typedef struct grove_action {
    uint32_t size; /**< sizeof(grove_action) as the library knows it */
    grove_verb verb;
    grove_kind kind;
    grove_subresource subresource; /**< NONE, STATUS or SCALE */
    const char *api_version;       /**< "grove.io/v1alpha1", "v1" */
    const char *kind_name;         /**< "PodClique" */
    const char *ns;                /**< "" for cluster scope */
    const char *name;
    const char *uid;              /**< precondition; "" none (CREATE, EVENT) */
    const char *resource_version; /**< precondition; "" none */
    grove_patch_type patch_type;
    int32_t order;      /**< actions of equal order do not depend on one another */
    grove_doc *body;    /**< borrowed from the plan; NULL for DELETE and EVICT */
    const char *node;   /**< BIND: node name; else "" */
    const char *reason; /**< code: why; docs/reference/reasons.md */
    const char *text;   /**< one line for people */
    /**
     * Event to emit once the action succeeded: its reason ("PodCreateSuccessful"; "" none) and the object
     * it is about. When the action fails for good, the same with Failed in place of Successful, as a
     * warning.
     */
    const char *event;
    const char *event_name;
    const char *event_uid;
    grove_kind event_kind;
    uint32_t flags; /**< GROVE_ACTION_* */
} grove_action;

/** One thing that waits. Texts are never NULL and live as long as the plan. Since 0.1. */
typedef struct grove_wait {
    uint32_t size;   /**< sizeof(grove_wait) as the library knows it */
    grove_kind kind; /**< of the object that waits */
    const char *name;
    const char *reason; /**< code */
    const char *for_name;
    grove_kind for_kind; /**< of the thing waited for; NONE when it is not an object */
    uint32_t reserved;
    const char *text;    /**< one line for people */
    int64_t since_ns;    /**< since when; INT64_MIN unknown */
    int64_t deadline_ns; /**< when waiting ends or is looked at again; GROVE_NEVER */
} grove_wait;

GROVE_API grove_status grove_planner_new(grove_env *env, grove_planner **out_planner);
GROVE_API void grove_planner_free(grove_planner *planner);

/**
 * Plans one PodCliqueSet or, with namespace "", one ClusterTopologyBinding: the keys that
 * grove_store_next_dirty hands out. One that is not in the store gives an empty plan. GROVE_E_INTERNAL
 * when the plan would break an invariant (it is dumped to the log and not returned). The caller owns
 * *out_plan.
 */
GROVE_API grove_status grove_plan_make(grove_planner *planner, const grove_store *store,
                                       const grove_plan_request *request, grove_plan **out_plan,
                                       grove_error *err);

GROVE_API grove_plan *grove_plan_ref(grove_plan *plan);
GROVE_API void grove_plan_unref(grove_plan *plan);
GROVE_API uint32_t grove_plan_actions(const grove_plan *plan);
/** Action i; NULL when out of range. */
GROVE_API const grove_action *grove_plan_action(const grove_plan *plan, uint32_t i);
GROVE_API uint32_t grove_plan_waits(const grove_plan *plan);
GROVE_API const grove_wait *grove_plan_wait(const grove_plan *plan, uint32_t i);
/** When the set must be planned again though nothing changed; GROVE_NEVER. */
GROVE_API int64_t grove_plan_deadline(const grove_plan *plan);
/** The plan as one JSON document (kind Plan, libgrove.io/v1alpha1): the form explain and tests use. */
GROVE_API grove_status grove_plan_write_json(const grove_plan *plan, uint32_t flags, grove_buf *buf,
                                             grove_error *err);
/** The waits as text for people, one paragraph each, for one object or (kind NONE) all. */
GROVE_API grove_status grove_plan_explain(const grove_plan *plan, grove_kind kind, const char *name,
                                          int64_t now_ns, grove_buf *buf, grove_error *err);

GROVE_END_DECLS
#endif
