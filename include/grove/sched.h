/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sched.h - where gangs go: nodes, classes, gangs and placements, and nothing else.
 *
 * The scheduling engine by itself, for three kinds of callers: the engine of this library, an operator
 * that wants places for its own objects, and a researcher with a file. It knows no Kubernetes object.
 *
 *     grove_sched *s = NULL;
 *     grove_sched_new(env, NULL, &s, NULL);
 *     uint32_t cpu, gpu, topo;
 *     grove_sched_resource(s, "cpu", &cpu);                       // milli-CPU
 *     grove_sched_resource(s, "nvidia.com/gpu", &gpu);
 *     const char *keys[] = {"zone", "block", "rack"};             // broad to narrow
 *     grove_sched_topology(s, "default", keys, 3, &topo, NULL);
 *     ... grove_sched_node_add for each node, grove_sched_class for each kind of pod ...
 *
 *     grove_gang *g = NULL;
 *     grove_gang_new(s, &g);
 *     grove_gang_begin(g, topo, "train-0");
 *     grove_gang_podgroup(g, "leader", leader_class, 1, 1, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg[0]);
 *     grove_gang_podgroup(g, "worker", worker_class, 4, 4, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg[1]);
 *     grove_gang_pack(g, grove_sched_level(s, topo, "rack"), GROVE_LEVEL_NONE);
 *
 *     grove_decision *d = NULL;
 *     grove_decision_new(s, &d);
 *     grove_sched_place(s, g, NULL, d, NULL);                     // changes nothing
 *     if (grove_decision_verdict(d) == GROVE_PLACED) grove_sched_commit(s, g, d, &gang_id, NULL);
 *
 * The answer has three values. PLACED comes with an assignment that obeys every required constraint;
 * INFEASIBLE only with a proof, which the certificate names; UNKNOWN says that the budget ended first.
 * Everything is integers and counted in steps: the same calls in the same order give the same answer on
 * every machine. Ties are broken by node id.
 *
 * Ownership: grove_sched, grove_gang, grove_decision and grove_explanation have one owner each; gangs
 * and decisions belong to the grove_sched they were made for and must be freed before it. Once warm, a
 * decision allocates nothing.
 *
 * Threads: a grove_sched with its gangs and decisions belongs to one thread at a time. Two of them are
 * independent.
 */
#ifndef GROVE_SCHED_H
#define GROVE_SCHED_H

#include <grove/buf.h>
#include <grove/env.h>
#include <grove/status.h>

GROVE_BEGIN_DECLS

/** The cluster as the scheduler sees it, and its working memory. */
typedef struct grove_sched grove_sched;
/** The description of one gang; reused for the next one by grove_gang_begin. */
typedef struct grove_gang grove_gang;
/** One answer; reused by the next grove_sched_place. */
typedef struct grove_decision grove_decision;

#define GROVE_SCHED_NONE UINT32_MAX /**< no node, no domain, no pod */

/**
 * A level of a topology: 0 is the broadest; the number of keys of the topology is the host itself.
 * Since 0.1.
 */
typedef int32_t grove_level;
#define GROVE_LEVEL_NONE (-1)    /**< no constraint */
#define GROVE_LEVEL_UNKNOWN (-2) /**< a constraint that names a level which this topology lacks */

/* ---- the cluster ---- */

/** What a scoring callback is asked about; borrowed during the call. Since 0.1. */
typedef struct grove_sched_candidate {
    uint32_t size; /**< sizeof(grove_sched_candidate) as the library knows it */
    uint32_t topology;
    grove_level level; /**< level of the domain that is considered; host level: a node */
    uint32_t domain;   /**< index of the domain on its level (grove_sched_domain_of), or the node */
    int64_t rank;      /**< the engine's own key; smaller is tried first */
} grove_sched_candidate;

/** Options of grove_sched_new; zero-initialise and set size. Since 0.1. */
typedef struct grove_sched_options {
    uint32_t size;
    uint32_t reserved;
    const char *host_key; /**< label key that means the node itself; NULL: kubernetes.io/hostname */
    /**
     * Last word on a node for a class of pods: non-zero forbids it. Asked once per pair and change of
     * the node; the answer must depend on class and node only. NULL: none.
     */
    int32_t (*veto)(void *ctx, uint32_t class_id, uint32_t node);
    void *veto_ctx;
    /**
     * Plug point for own orderings: returns the key by which candidate domains are tried, smaller first
     * (ties: the engine's order). Answers stay sound and complete whatever it returns. NULL: the rank.
     */
    int64_t (*order)(void *ctx, const grove_sched_candidate *candidate);
    void *order_ctx;
    /**
     * Plug point for own scoring: what a placement costs, read with the grove_decision_* functions;
     * smaller is better. Of the placements found in the first `score_among` candidate domains (0: 8) the
     * best is taken, the first of equals. What cannot be placed is unchanged. NULL: the engine's own
     * order decides.
     */
    int64_t (*score)(void *ctx, const grove_decision *placed);
    void *score_ctx;
    uint32_t score_among;
    uint32_t reserved2;
} grove_sched_options;

GROVE_API grove_status grove_sched_new(grove_env *env, const grove_sched_options *options,
                                       grove_sched **out_sched, grove_error *err);
GROVE_API void grove_sched_free(grove_sched *sched);

/**
 * The index of a resource by name, made when new. Amounts are int64 in any unit, the same for nodes and
 * classes. Every sched has resource 0, "pods", of which each pod takes one.
 */
GROVE_API grove_status grove_sched_resource(grove_sched *sched, const char *name,
                                            uint32_t *out_resource);
/** Name of a resource; NULL when out of range. */
GROVE_API const char *grove_sched_resource_name(const grove_sched *sched, uint32_t resource);
GROVE_API uint32_t grove_sched_resource_count(const grove_sched *sched);

/**
 * Declares a topology: label keys from broad to narrow, each once. The host key may come last and then
 * means the host level. A node's domain on a level is the path of its values down to that level. A node
 * without a key is invisible to constraints on that level only. Several topologies may exist.
 */
GROVE_API grove_status grove_sched_topology(grove_sched *sched, const char *name,
                                            const char *const *keys, uint32_t n_keys,
                                            uint32_t *out_topology, grove_error *err);
/** Level of a label key, of the host key, or of the word "host"; GROVE_LEVEL_UNKNOWN when there is none. */
GROVE_API grove_level grove_sched_level(const grove_sched *sched, uint32_t topology,
                                        const char *key);
/** Label key of a level; the host key for the host level; NULL when out of range. */
GROVE_API const char *grove_sched_level_key(const grove_sched *sched, uint32_t topology,
                                            grove_level level);
/** The host level of a topology: its number of label levels. */
GROVE_API grove_level grove_sched_host_level(const grove_sched *sched, uint32_t topology);
/**
 * Number of a node's domain on a level, valid until nodes are added or relabelled;
 * GROVE_SCHED_NONE when the node has no value there.
 */
GROVE_API uint32_t grove_sched_domain_of(grove_sched *sched, uint32_t topology, grove_level level,
                                         uint32_t node);
GROVE_API uint32_t grove_sched_domain_count(grove_sched *sched, uint32_t topology,
                                            grove_level level);
/**
 * Values of the level's key that occur under more than one broader domain although each should lie in
 * one: a sign of levels in the wrong order. 0 when the levels nest.
 */
GROVE_API uint32_t grove_sched_topology_conflicts(grove_sched *sched, uint32_t topology,
                                                  grove_level level);

typedef struct grove_sched_label {
    const char *key;
    const char *value;
} grove_sched_label;

/** Effects of taints and tolerations. Since 0.1. */
typedef int32_t grove_taint_effect;
#define GROVE_TAINT_ANY 0 /**< in a toleration: every effect */
#define GROVE_TAINT_NO_SCHEDULE 1
#define GROVE_TAINT_PREFER_NO_SCHEDULE 2
#define GROVE_TAINT_NO_EXECUTE 3

typedef struct grove_sched_taint {
    const char *key;
    const char *value;
    grove_taint_effect effect;
    int32_t reserved;
} grove_sched_taint;

#define GROVE_NODE_UNSCHEDULABLE 0x1u /**< cordoned: only pods that tolerate it */
#define GROVE_NODE_DOWN 0x2u          /**< not ready: takes no pod at all */

/** A node as it is now; texts are copied. Since 0.1. */
typedef struct grove_sched_node {
    uint32_t size;
    uint32_t flags; /**< GROVE_NODE_* */
    const char *name;
    const grove_sched_label *labels;
    const grove_sched_taint *taints;
    const int64_t *capacity; /**< by resource; missing ones are 0 */
    uint32_t n_labels;
    uint32_t n_taints;
    uint32_t n_capacity;
    uint32_t reserved;
} grove_sched_node;

/** Adds a node; ids are given in order and may be reused after removal. GROVE_E_EXISTS on the name. */
GROVE_API grove_status grove_sched_node_add(grove_sched *sched, const grove_sched_node *node,
                                            uint32_t *out_node, grove_error *err);
/** Replaces everything but the name; pods stay. A capacity below its use is allowed. */
GROVE_API grove_status grove_sched_node_update(grove_sched *sched, uint32_t id,
                                               const grove_sched_node *node, grove_error *err);
/** Removes a node and every pod on it. */
GROVE_API grove_status grove_sched_node_remove(grove_sched *sched, uint32_t id);
GROVE_API uint32_t grove_sched_node_find(const grove_sched *sched, const char *name);
/** Name of a live node; NULL otherwise. Borrowed until the node is removed. */
GROVE_API const char *grove_sched_node_name(const grove_sched *sched, uint32_t id);
/** Ids run below this number; removed ones have no name. */
GROVE_API uint32_t grove_sched_node_limit(const grove_sched *sched);
/** What is free on a node, by resource; may be negative. NULL when there is no such node. */
GROVE_API const int64_t *grove_sched_node_free(const grove_sched *sched, uint32_t id);

/* ---- queues ---- */

#define GROVE_QUEUE_NONE 0u /**< no queue: neither promised nor limited, served after the queues */

/**
 * A queue: who is promised and allowed how much. Queues form a tree; what a queue uses counts for those
 * above it as well. Arrays are by resource and copied; entries beyond their length, and negative ones,
 * promise nothing and bound nothing. Gangs belong to queues without queues below. Since 0.1.
 */
typedef struct grove_queue {
    uint32_t size;
    uint32_t parent; /**< GROVE_QUEUE_NONE: at the top */
    const char *name;
    const int64_t *deserved; /**< its own whenever it wants it */
    const int64_t *limit;    /**< never more than this */
    uint32_t n_deserved;
    uint32_t n_limit;
    uint32_t weight;  /**< part of what is left over beyond `deserved`; 0: none of it */
    int32_t priority; /**< what is left over goes to larger ones first; served earlier as well */
} grove_queue;

/** Declares a queue, or replaces the promises of the one of that name, whose parent cannot change. */
GROVE_API grove_status grove_sched_queue(grove_sched *sched, const grove_queue *queue,
                                         uint32_t *out_queue, grove_error *err);
/** Queue of a name; GROVE_QUEUE_NONE when there is none. */
GROVE_API uint32_t grove_sched_queue_find(const grove_sched *sched, const char *name);
/** Queue ids run from 1 to below this number. */
GROVE_API uint32_t grove_sched_queue_count(const grove_sched *sched);
GROVE_API const char *grove_sched_queue_name(const grove_sched *sched, uint32_t queue);
GROVE_API uint32_t grove_sched_queue_parent(const grove_sched *sched, uint32_t queue);
/** What the pods of a queue and of those below it take, by resource; NULL when there is none. Borrowed. */
GROVE_API const int64_t *grove_sched_queue_used(const grove_sched *sched, uint32_t queue);
/**
 * The fair share of a queue by resource as the last grove_sched_serve, _reclaim or _next_queue computed it:
 * what it deserves as far as it wants it, then by priority and weight its part of what is left over.
 */
GROVE_API const int64_t *grove_sched_queue_share(const grove_sched *sched, uint32_t queue);

/* ---- classes of pods ---- */

typedef int32_t grove_match_op;
#define GROVE_MATCH_IN 1
#define GROVE_MATCH_NOT_IN 2
#define GROVE_MATCH_EXISTS 3
#define GROVE_MATCH_DOES_NOT_EXIST 4
#define GROVE_MATCH_GT 5
#define GROVE_MATCH_LT 6
#define GROVE_MATCH_NAME_IN 7 /**< on the node's name; the key is ignored */
#define GROVE_MATCH_NAME_NOT_IN 8

typedef struct grove_sched_requirement {
    const char *key;
    const char *const *values;
    uint32_t n_values;
    grove_match_op op;
} grove_sched_requirement;

/** Requirements that must all hold; with none, nothing matches, as in Kubernetes. Since 0.1. */
typedef struct grove_sched_term {
    const grove_sched_requirement *requirements;
    uint32_t n_requirements;
    int32_t weight; /**< of a preferred term, 1-100 */
} grove_sched_term;

/** Terms of which one must hold. Since 0.1. */
typedef struct grove_sched_terms {
    const grove_sched_term *terms;
    uint32_t n_terms;
    uint32_t reserved;
} grove_sched_terms;

typedef struct grove_sched_toleration {
    const char *key; /**< NULL or "": every key (needs exists) */
    const char *value;
    grove_taint_effect effect;
    int32_t exists; /**< 1: any value */
} grove_sched_toleration;

typedef struct grove_sched_port {
    const char *protocol; /**< "TCP", "UDP", "SCTP"; NULL: TCP */
    const char *ip;       /**< NULL, "" and the any-addresses clash with every address */
    uint32_t port;
    uint32_t reserved;
} grove_sched_port;

/**
 * A token of the host: a pod that holds it alone shares the host with no other holder, all others share with
 * one another. Anti-affinity on hosts: those that are kept away from hold it, those that keep away hold it
 * alone. Since 0.1.
 */
typedef struct grove_sched_token {
    const char *name;
    uint32_t alone;
    uint32_t reserved;
} grove_sched_token;

/** What matters about a pod for its place; equal descriptions get the same id. Texts are copied. Since 0.1. */
typedef struct grove_sched_class_spec {
    uint32_t size;
    uint32_t n_requests;
    const int64_t *requests; /**< by resource, >= 0; "pods" counts 1 whatever is written */
    const grove_sched_label *selector; /**< all must hold */
    const grove_sched_terms
        *required; /**< each list must have a term that holds (affinity, volumes) */
    const grove_sched_term *preferred; /**< wishes, after all else */
    const grove_sched_toleration *tolerations;
    const grove_sched_port *ports;
    uint32_t n_selector;
    uint32_t n_required;
    uint32_t n_preferred;
    uint32_t n_tolerations;
    uint32_t n_ports;
    uint32_t
        max_per_host; /**< pods of this class on one host; 0: no bound (anti-affinity to itself: 1) */
    uint64_t key;     /**< the caller's own mark, part of the identity: for the veto callback */
    const grove_sched_token *tokens;
    uint32_t n_tokens;
    uint32_t reserved;
} grove_sched_class_spec;

GROVE_API grove_status grove_sched_class(grove_sched *sched, const grove_sched_class_spec *spec,
                                         uint32_t *out_class, grove_error *err);
/** 1 when the class may run on the node as far as filters go (free room aside), else 0. */
GROVE_API int32_t grove_sched_class_allows(grove_sched *sched, uint32_t class_id, uint32_t node);
/** The class's requests by resource, "pods" included; NULL when there is no such class. */
GROVE_API const int64_t *grove_sched_class_requests(const grove_sched *sched, uint32_t class_id);

/* ---- pods and gangs that hold room ---- */

/** A pod that runs outside the gangs of this sched. Since 0.1. */
typedef struct grove_sched_pod {
    uint32_t size;
    uint32_t node;
    uint32_t class_id; /**< GROVE_SCHED_NONE: `requests` count instead */
    uint32_t n_requests;
    const int64_t *requests;
    int32_t priority;
    uint32_t flags; /**< GROVE_POD_* */
    uint32_t queue; /**< that it is charged to; 0 (GROVE_QUEUE_NONE): none */
    uint32_t reserved;
} grove_sched_pod;

#define GROVE_POD_NEVER_EVICT 0x1u

GROVE_API grove_status grove_sched_pod_add(grove_sched *sched, const grove_sched_pod *pod,
                                           uint32_t *out_pod, grove_error *err);
/** Removes any pod, also one that a gang placed. */
GROVE_API grove_status grove_sched_pod_remove(grove_sched *sched, uint32_t pod);
/** The node a pod is on; GROVE_SCHED_NONE when there is no such pod. */
GROVE_API uint32_t grove_sched_pod_node(const grove_sched *sched, uint32_t pod);
GROVE_API uint64_t grove_sched_pod_count(const grove_sched *sched);

/* ---- describing a gang ---- */

GROVE_API grove_status grove_gang_new(grove_sched *sched, grove_gang **out_gang);
GROVE_API void grove_gang_free(grove_gang *gang);
/** Forgets the former description; keeps the memory. The name is for explanations. */
GROVE_API grove_status grove_gang_begin(grove_gang *gang, uint32_t topology, const char *name);
/** Pack constraint of the whole gang. */
GROVE_API grove_status grove_gang_pack(grove_gang *gang, grove_level required,
                                       grove_level preferred);
/**
 * A group of identical pods: `min` of them are placed with the gang or nothing is, the rest up to
 * `count` as far as there is room. min <= count; both may be 0.
 */
GROVE_API grove_status grove_gang_podgroup(grove_gang *gang, const char *name, uint32_t class_id,
                                           uint32_t min, uint32_t count, grove_level required,
                                           grove_level preferred, uint32_t *out_podgroup);
/**
 * Packs some of the gang's podgroups together. Groups may be nested or disjoint; grove_sched_place
 * answers GROVE_E_INVALID when two of them cross.
 */
GROVE_API grove_status grove_gang_group(grove_gang *gang, const char *name,
                                        const uint32_t *podgroups, uint32_t n_podgroups,
                                        grove_level required, grove_level preferred,
                                        uint32_t *out_group);
/**
 * A member that has its place already: it counts towards min and count, and pins the domains of its
 * constraints. Its room is held by a pod of the cluster, not by the gang.
 */
GROVE_API grove_status grove_gang_member(grove_gang *gang, uint32_t podgroup, uint32_t node);
/** Wish: pod `index` (0-based among the pods to be placed) of the group back on this node. */
GROVE_API grove_status grove_gang_sticky(grove_gang *gang, uint32_t podgroup, uint32_t index,
                                         uint32_t node);

/** How binding a wish of the gang is. Since 0.1. */
typedef int32_t grove_strength;
#define GROVE_STRENGTH_NONE 0
#define GROVE_STRENGTH_PREFERRED 1
#define GROVE_STRENGTH_REQUIRED 2

/** The domain that `node` lies in on `level`: all pods there (required), or there by preference. */
GROVE_API grove_status grove_gang_anchor(grove_gang *gang, grove_level level, uint32_t node,
                                         grove_strength strength);
/**
 * Spread of sibling gangs over the domains of a level: `nodes` names one node for each sibling's place
 * (a domain may be named often). The gang, packed on `level`, goes where its count stays within
 * max_skew of the least used domain that could take a pod of it.
 */
GROVE_API grove_status grove_gang_spread(grove_gang *gang, grove_level level, uint32_t max_skew,
                                         grove_strength strength, const uint32_t *nodes,
                                         uint32_t n_nodes);
/** Order of service and right to preempt; larger is more important. 0 when unset. */
GROVE_API grove_status grove_gang_priority(grove_gang *gang, int32_t priority);
/** The queue that the gang is charged to; GROVE_QUEUE_NONE when unset. */
GROVE_API grove_status grove_gang_queue(grove_gang *gang, uint32_t queue);
/**
 * How long it waits: `since` in the caller's time (of equal priority the smaller one is served first), and
 * how many times in a row it was passed over at the head of its queue, for the starvation guard.
 */
GROVE_API grove_status grove_gang_waiting(grove_gang *gang, int64_t since, uint32_t blocked);
#define GROVE_GANG_NEVER_EVICT \
    0x1u                       /**< no victim; therefore must stay within what its queue deserves */
#define GROVE_GANG_YIELDS 0x2u /**< may use room that is kept for a starving gang */
GROVE_API grove_status grove_gang_flags(grove_gang *gang, uint32_t flags);
/** What its minimum still needs, by resource: the first n amounts. Members have what they need. Since 0.1. */
GROVE_API grove_status grove_gang_needs(const grove_gang *gang, int64_t *amounts, uint32_t n);
/** The committed gang without which this one is of no use: it goes when that one goes. */
GROVE_API grove_status grove_gang_base(grove_gang *gang, uint32_t base);

/* ---- deciding ---- */

typedef int32_t grove_verdict;
#define GROVE_PLACED 1
#define GROVE_INFEASIBLE 2
#define GROVE_UNKNOWN 3

/** Options of grove_sched_place; zero-initialise and set size. Since 0.1. */
typedef struct grove_place_options {
    uint32_t size;
    uint32_t flags;    /**< GROVE_PLACE_* */
    uint64_t steps;    /**< budget; 0: the search_steps of the environment's limits */
    uint32_t frontier; /**< entries kept per frontier; 0: 4096 */
    uint32_t reserved;
} grove_place_options;

#define GROVE_PLACE_GREEDY_ONLY 0x1u /**< stop after the greedy passes and the bounds */
#define GROVE_PLACE_EXACT_ONLY 0x2u  /**< skip the greedy passes: for tests */

/**
 * Finds places for a gang. Changes nothing; outputs are in *decision. The limits of its queue and of those
 * above it hold: a minimum beyond them is INFEASIBLE, surplus pods beyond them get no place. Since 0.1.
 */
GROVE_API grove_status grove_sched_place(grove_sched *sched, const grove_gang *gang,
                                         const grove_place_options *options,
                                         grove_decision *decision, grove_error *err);

GROVE_API grove_status grove_decision_new(grove_sched *sched, grove_decision **out_decision);
GROVE_API void grove_decision_free(grove_decision *decision);
GROVE_API grove_verdict grove_decision_verdict(const grove_decision *decision);
/** Steps spent; with UNKNOWN, the budget. */
GROVE_API uint64_t grove_decision_steps(const grove_decision *decision);
/**
 * Nodes of the pods of a podgroup in the order of their index (members that had a place are not
 * listed); GROVE_SCHED_NONE for a surplus pod without one. Borrowed until the next decision.
 */
GROVE_API const uint32_t *grove_decision_nodes(const grove_decision *decision, uint32_t podgroup,
                                               uint32_t *out_n);
/**
 * Narrowest level on which all pods of an entity, members included, share a domain;
 * GROVE_LEVEL_NONE when on none. Entities: GROVE_ENTITY_GANG, groups and podgroups by their id.
 */
GROVE_API grove_level grove_decision_level(const grove_decision *decision, int32_t kind,
                                           uint32_t id);
#define GROVE_ENTITY_GANG 0
#define GROVE_ENTITY_GROUP 1
#define GROVE_ENTITY_PODGROUP 2

/** Lexicographic, smaller is better; comparable between decisions on the same gang. Since 0.1. */
typedef struct grove_cost {
    uint32_t size;
    uint32_t reserved;
    int64_t climbed;  /**< weighted levels that preferred constraints had to climb */
    int64_t span;     /**< domains of the narrowest label level that are used */
    int64_t hosts;    /**< hosts used */
    int64_t skew;     /**< above the spread that was asked for */
    int64_t moved;    /**< pods away from their sticky node or anchor domain */
    int64_t broken;   /**< empty domains broken into, the broadest level weighing most */
    int64_t leftover; /**< room left on the hosts used, in parts of 1000 of the scarcest resource */
    int64_t disliked; /**< weights of preferred node affinity and taints that were not met */
} grove_cost;

/** Copies as much of the cost as out_cost->size allows. GROVE_E_INVALID when not placed. */
GROVE_API grove_status grove_decision_cost(const grove_decision *decision, grove_cost *out_cost);
/** Placement score in millionths: 1,000,000 when nobody could do better even on an empty cluster. */
GROVE_API int32_t grove_decision_score(const grove_decision *decision);

/** Why a gang cannot be placed. Since 0.1. */
typedef int32_t grove_reason;
#define GROVE_REASON_NONE 0
#define GROVE_REASON_UNKNOWN_LEVEL 1 /**< a required level is not in the topology */
#define GROVE_REASON_NO_NODE 2 /**< no node may take, or is large enough for, a pod of the class */
#define GROVE_REASON_PINNED_APART 3 /**< members lie in different domains of a required level */
#define GROVE_REASON_ANCHOR 4       /**< the required anchor does not exist on that level */
#define GROVE_REASON_RESOURCE 5     /**< in each domain the sum of a resource is short */
#define GROVE_REASON_COUNT 6        /**< in each domain too few copies of a class fit */
#define GROVE_REASON_CAPABILITY 7   /**< too few domains can hold the units that need one each */
#define GROVE_REASON_JOINT \
    8 /**< each part fits alone; the search proved that all together do not */
#define GROVE_REASON_SPREAD 9  /**< every domain that could take it breaks the required spread */
#define GROVE_REASON_BUDGET 10 /**< UNKNOWN: the budget ended first */
#define GROVE_REASON_QUEUE_LIMIT 11 /**< its queue, or one above it, would exceed its limit */
#define GROVE_REASON_QUEUE_SHARE \
    12 /**< reclaim, or a gang never to be evicted: its queue would exceed what it is entitled to */
#define GROVE_REASON_KEPT 13 /**< there is room, but it is kept for a starving gang */

/**
 * The proof of an INFEASIBLE answer. RESOURCE, COUNT and CAPABILITY mean: for every candidate domain of
 * `level` a bound of one of these three kinds fails for the entity; the fields describe the domain that
 * came nearest. JOINT: bounds hold somewhere, an exhaustive search (exact frontiers) found nothing.
 * Since 0.1.
 */
typedef struct grove_certificate {
    uint32_t size;
    grove_reason reason;
    int32_t entity_kind; /**< GROVE_ENTITY_* of the constraint that fails */
    uint32_t entity;
    grove_level level;   /**< of the candidate domains; GROVE_LEVEL_NONE: the whole cluster */
    uint32_t candidates; /**< domains considered */
    uint32_t nearest;    /**< a node of the nearest miss; GROVE_SCHED_NONE */
    uint32_t class_id;   /**< COUNT, NO_NODE, CAPABILITY; else GROVE_SCHED_NONE */
    uint32_t resource;   /**< RESOURCE, NO_NODE; else GROVE_SCHED_NONE */
    uint32_t reserved;
    int64_t have; /**< in the nearest domain; of QUEUE_LIMIT and QUEUE_SHARE: left in the queue */
    int64_t need;
    uint32_t
        queue; /**< QUEUE_LIMIT, QUEUE_SHARE: the one that would exceed it; else GROVE_QUEUE_NONE */
    uint32_t reserved2;
} grove_certificate;

GROVE_API grove_status grove_decision_certificate(const grove_decision *decision,
                                                  grove_certificate *out_certificate);
/** Constant name of a reason: "RESOURCE". Static storage. */
GROVE_API const char *grove_reason_name(grove_reason reason);

/* ---- changing the cluster by a decision ---- */

/**
 * Turns a PLACED decision into pods. GROVE_E_CONFLICT when the cluster has changed so that it no longer
 * fits; nothing is changed then. *out_gang names the gang for later calls.
 */
GROVE_API grove_status grove_sched_commit(grove_sched *sched, const grove_gang *gang,
                                          const grove_decision *decision, uint32_t *out_gang,
                                          grove_error *err);
/** Removes the pods of a gang and forgets it. */
GROVE_API grove_status grove_sched_release(grove_sched *sched, uint32_t gang);
/**
 * Ties a gang to another one, its base: whoever evicts the base has to evict both (a scaled gang without
 * its base gang serves nobody). GROVE_SCHED_NONE unties; GROVE_E_INVALID for a circle.
 */
GROVE_API grove_status grove_sched_gang_base(grove_sched *sched, uint32_t gang, uint32_t base);
/** Pods that hold room already, as the members of one gang. Zero-initialise and set size. Since 0.1. */
typedef struct grove_sched_members {
    uint32_t size;
    int32_t priority;
    uint32_t queue; /**< GROVE_QUEUE_NONE: none */
    uint32_t flags; /**< GROVE_GANG_* */
    uint32_t n_pods;
    uint32_t n_surplus; /**< the last so many of them are beyond the minimum: they may go singly */
    const uint32_t *pods; /**< ids of grove_sched_pod_add, of no gang yet */
} grove_sched_members;

/**
 * Makes pods that were added one by one a gang, for callers who keep their own books: only gangs are
 * victims as a whole. The pods keep their ids, take the gang's priority and queue, and may be evicted
 * unless its flags forbid it. GROVE_E_INVALID when one of them belongs to a gang; nothing is changed then.
 */
GROVE_API grove_status grove_sched_gang_form(grove_sched *sched, const grove_sched_members *members,
                                             uint32_t *out_gang, grove_error *err);
/** GROVE_GANG_* of a gang from now on: for minimum run times and disruption budgets. */
GROVE_API grove_status grove_sched_gang_flags(grove_sched *sched, uint32_t gang, uint32_t flags);
/** Pods of a gang, in the order of podgroup and index; *out_n is their number. Borrowed until a change. */
GROVE_API const uint32_t *grove_sched_gang_pods(grove_sched *sched, uint32_t gang, uint32_t *out_n);

/* ---- what if ---- */

/**
 * Remembers the present state; marks nest. Until the mark is given back, every change to pods and gangs
 * and every node update is kept in an undo log; adding and removing nodes, resources or topologies is
 * GROVE_E_INVALID while a mark is open (take capacity away with GROVE_NODE_DOWN instead).
 */
GROVE_API grove_status grove_sched_mark(grove_sched *sched, uint64_t *out_mark);
/** Back to the mark, which ends; inner marks end with it. */
GROVE_API grove_status grove_sched_rollback(grove_sched *sched, uint64_t mark);
/** Keeps what was done since the mark, which ends. */
GROVE_API grove_status grove_sched_keep(grove_sched *sched, uint64_t mark);
/** Hash over everything that decisions depend on; equal states have equal hashes. O(nodes + pods). */
GROVE_API uint64_t grove_sched_hash(const grove_sched *sched);
/** Compares every running sum with a fresh count; GROVE_E_INTERNAL when one has drifted. For tests. */
GROVE_API grove_status grove_sched_verify(grove_sched *sched, grove_error *err);

/* ---- explaining ---- */

#define GROVE_EXPLAIN_JSON 0x1u /**< a JSON object instead of text */

/**
 * Writes why the decision is as it is: constraint, level, number of domains by reason, the nearest miss,
 * and the smallest change that would help. Appends to buf. Since 0.1.
 */
GROVE_API grove_status grove_sched_explain(grove_sched *sched, const grove_gang *gang,
                                           const grove_decision *decision, uint32_t flags,
                                           grove_buf *buf, grove_error *err);

/* ---- preemption and reclaim ---- */

/** A gang or a pod without gang that has to go. Since 0.1. */
typedef struct grove_victim {
    uint32_t gang; /**< GROVE_SCHED_NONE: a pod without gang */
    uint32_t pod;  /**< GROVE_SCHED_NONE: the whole gang; else one surplus pod of it */
} grove_victim;

/**
 * Like grove_sched_place, but gangs and pods of lower priority may go, of the gang's own queue or of none.
 * Never leaves a gang below its minimum; a gang goes with all that have it as their base. The cluster is
 * unchanged afterwards. INFEASIBLE: no set of victims helps.
 *
 * Which victims: the least of the most important victim's priority, then the fewest whole gangs, then the
 * fewest pods, surplus pods and pods without gang included. Since 0.1.
 */
GROVE_API grove_status grove_sched_preempt(grove_sched *sched, const grove_gang *gang,
                                           const grove_place_options *options,
                                           grove_decision *decision, grove_error *err);
/**
 * Like grove_sched_preempt, but the victims are of other queues, whatever their priority, and the fair
 * shares rule: up to where the two queues' branches meet, no queue of the gang may end above its share of
 * anything it asks for, and each of a victim's must be above its own, and not end below it, in the resource
 * of which the gang asks for the largest part of the cluster. So nothing is taken that would be taken back.
 * `waiting` is what else the queues want at present: for each of n_waiting queue ids (from 0) a row of
 * grove_sched_resource_count amounts; NULL: nothing. Since 0.1.
 */
GROVE_API grove_status grove_sched_reclaim(grove_sched *sched, const grove_gang *gang,
                                           const int64_t *waiting, uint32_t n_waiting,
                                           const grove_place_options *options,
                                           grove_decision *decision, grove_error *err);
/** Victims of a decision made by preempt or reclaim. Borrowed until the next decision. */
GROVE_API const grove_victim *grove_decision_victims(const grove_decision *decision,
                                                     uint32_t *out_n);
/** 1 when no better set of victims exists, 0 when the search for one was cut short. */
GROVE_API int32_t grove_decision_victims_proven(const grove_decision *decision);

/* ---- order of service ---- */

#define GROVE_SERVE_PREEMPT 0x1u /**< who finds no place may preempt in its queue */
#define GROVE_SERVE_RECLAIM 0x2u /**< and reclaim from other queues */
#define GROVE_SERVE_PLAN 0x4u    /**< the cluster stays as it is */

/** Options of grove_sched_serve; zero-initialise and set size. Since 0.1. */
typedef struct grove_serve_options {
    uint32_t size;
    uint32_t flags;    /**< GROVE_SERVE_* */
    uint64_t steps;    /**< budget of each decision, as in grove_place_options */
    uint32_t frontier; /**< as in grove_place_options */
    /**
     * A gang without a place is decided anew together with up to so many that got theirs before it, all
     * keeping their right to a place; 0 or 1: never. At most 64.
     */
    uint32_t together;
    /**
     * A gang passed over so often at the head of its queue has the domain that needs the fewest pods to
     * leave kept free for it: only gangs with GROVE_GANG_YIELDS may use it. 0: never.
     */
    uint32_t starving_after;
    uint32_t reserved;
} grove_serve_options;

#define GROVE_SERVED_TOGETHER 0x1u /**< decided anew together with others */
#define GROVE_SERVED_PREEMPTED 0x2u
#define GROVE_SERVED_RECLAIMED 0x4u
#define GROVE_SERVED_KEPT 0x8u /**< a domain is kept free for it: the one of `node` */

/** What became of one gang. Since 0.1. */
typedef struct grove_served {
    uint32_t index; /**< among the gangs given */
    uint32_t
        gang; /**< the gang that was made; GROVE_SCHED_NONE: none. With PLAN it is gone again */
    uint32_t flags; /**< GROVE_SERVED_* */
    uint32_t node;  /**< with GROVE_SERVED_KEPT; else GROVE_SCHED_NONE */
} grove_served;

/**
 * Serves gangs that wait: decides on them in the order of service and commits those that can be placed,
 * victims first removed. decisions[i] answers for gangs[i]. *out_served has an entry for each gang, in the
 * order of service; borrowed until the next call.
 *
 * Order: on each level of the tree of queues the one that is below what it deserves first, then the one of
 * larger priority, then the one that uses the smallest part of its fair share (of the resource of which it
 * uses the largest), then the lower id; queues are weighed again after every gang. Inside a queue: larger
 * priority, then longer waiting, then the order given. Gangs without queue come last. Since 0.1.
 */
GROVE_API grove_status grove_sched_serve(grove_sched *sched, const grove_gang *const *gangs,
                                         grove_decision *const *decisions, uint32_t n,
                                         const grove_serve_options *options,
                                         const grove_served **out_served, grove_error *err);

/**
 * The same order for callers who place gang by gang and keep their own books: the queue whose turn it is, of
 * those in which gangs wait. `gangs` says how many do, `waiting` what they want (rows as for
 * grove_sched_reclaim; grove_gang_needs says it of one gang), both for queue ids below n_queues. GROVE_QUEUE_NONE: no
 * gang of a queue waits. Call again after each gang: what was placed meanwhile counts as used. Since 0.1.
 */
GROVE_API grove_status grove_sched_next_queue(grove_sched *sched, const uint32_t *gangs,
                                              const int64_t *waiting, uint32_t n_queues,
                                              uint32_t *out_queue, grove_error *err);

GROVE_END_DECLS
#endif
