/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/engine.h - the machine that keeps PodCliqueSets as they should be: events in, operations out.
 *
 * An engine does no I/O and has no clock. The host feeds it what watches deliver, takes operations and
 * watches from it, reports how each operation ended, and calls again by the deadline. Everything it does
 * is a function of these calls: same calls, same operations, byte for byte.
 *
 *     grove_engine *engine = NULL;
 *     grove_engine_new(env, &options, &engine, &err);
 *     for (;;) {
 *         const grove_watch *w;  const grove_op *op;
 *         while (grove_engine_next_watch(engine, &w, &err) == 0 && w) begin(w);
 *         while (grove_engine_next_op(engine, now, &op, &err) == 0 && op) submit(op);
 *         wait until something arrives or grove_engine_deadline(engine);
 *         grove_engine_feed(engine, &event, now, &err);          // for each event
 *         grove_engine_complete(engine, &completion, now, &err); // for each completion
 *     }
 *
 * grove/runner.h has this loop for any grove_backend. After GROVE_E_NOMEM the same call may be made
 * again; nothing is lost.
 *
 * Threads: one thread at a time, no affinity.
 */
#ifndef GROVE_ENGINE_H
#define GROVE_ENGINE_H

#include <grove/config.h>
#include <grove/sys/backend.h>

GROVE_BEGIN_DECLS

typedef struct grove_engine grove_engine;

#define GROVE_ENGINE_CHECK 0x1u     /**< verify the planner's laws as it goes (tests; costs time) */
#define GROVE_ENGINE_NO_EVENTS 0x2u /**< emit no GROVE_VERB_EVENT */

/** Options of grove_engine_new; zero-initialise and set size. Since 0.1. */
typedef struct grove_engine_options {
    uint32_t size;
    uint32_t flags;       /**< GROVE_ENGINE_* */
    grove_config *config; /**< operator's configuration; referenced; NULL: the built-in setting */
    const char *ns;       /**< watch and manage one namespace only; NULL: all */
    /** Comma-separated schedulerNames whose gangs this engine places and binds; NULL: none. */
    const char *bind_schedulers;
    uint64_t seed;          /**< breaks ties; no name depends on it */
    uint32_t max_in_flight; /**< operations without answer at a time [256] */
    uint32_t gangs_a_step;  /**< gangs placed between two operations [64] */
    int64_t resync_ns;      /**< plan every set again after this time; 0: never needed */
    int64_t backoff_ns;     /**< first wait after a failed write, doubled up to 60 s [100 ms] */
    /**
     * Statuses of a set of which only counters changed are written at most once in this time, with what is
     * true by then; phases, hashes, generations and conditions never wait, but a breach of minAvailable for
     * want of ready pods alone does. 0: at once.
     */
    int64_t status_quiet_ns;
} grove_engine_options;

/** Makes an engine that knows nothing yet; its first output is the watches it needs. Since 0.1. */
GROVE_API grove_status grove_engine_new(grove_env *env, const grove_engine_options *options,
                                        grove_engine **out_engine, grove_error *err);
GROVE_API void grove_engine_free(grove_engine *engine);

/** The next watch to begin (also after GONE), or *out_watch NULL. Borrowed until the next call. Since 0.1. */
GROVE_API grove_status grove_engine_next_watch(grove_engine *engine, const grove_watch **out_watch,
                                               grove_error *err);
/** Takes in an event of a watch. Since 0.1. */
GROVE_API grove_status grove_engine_feed(grove_engine *engine, const grove_event *event,
                                         int64_t now_ns, grove_error *err);
/**
 * The next operation to submit, or *out_op NULL when there is none now. Borrowed until the next call on
 * the engine. Besides writes there are reads: a GET of an object whose write stayed without an answer, a LIST
 * of a set's pods before the first is created by an engine that came later than the set. An operation that
 * cannot be submitted is reported by grove_engine_complete. Since 0.1.
 */
GROVE_API grove_status grove_engine_next_op(grove_engine *engine, int64_t now_ns,
                                            const grove_op **out_op, grove_error *err);
/** Reports the end of an operation; unknown tokens are ignored. Since 0.1. */
GROVE_API grove_status grove_engine_complete(grove_engine *engine,
                                             const grove_completion *completion, int64_t now_ns,
                                             grove_error *err);
/** When to call grove_engine_next_op again though nothing arrived; INT64_MAX: never. Since 0.1. */
GROVE_API int64_t grove_engine_deadline(const grove_engine *engine);
/** 1 when all watches are synced, nothing is to be planned and no operation is without answer. Since 0.1. */
GROVE_API int32_t grove_engine_is_idle(const grove_engine *engine);

/**
 * The configuration in force: the host's, with the cluster's own topology bindings, classes and templates
 * laid over it as far as their events were fed. A reference of the caller's. Since 0.1.
 */
GROVE_API grove_status grove_engine_config(grove_engine *engine, grove_config **out_config,
                                           grove_error *err);

/**
 * A custom resource as last observed: its document, a reference of the caller's, and the object inside it.
 * GROVE_E_NOT_FOUND when it is not known, or of a kind that is not kept whole (pods, nodes). Since 0.1.
 */
GROVE_API grove_status grove_engine_object(const grove_engine *engine, grove_kind kind,
                                           const char *ns, const char *name, grove_doc **out_doc,
                                           const grove_node **out_object);

/** Plans every set again, from nothing remembered. Since 0.1. */
GROVE_API grove_status grove_engine_recompute(grove_engine *engine);

/** Counters since the engine was made. Since 0.1. */
typedef struct grove_engine_stats {
    uint32_t size;
    uint32_t sets;          /**< PodCliqueSets known */
    uint32_t in_flight;     /**< operations without answer */
    uint32_t gangs_waiting; /**< gangs that are complete and have no place */
    uint64_t events;
    uint64_t plans;
    uint64_t empty_plans; /**< plans without an action */
    uint64_t operations;  /**< handed out, by any verb */
    uint64_t creates;
    uint64_t patches;
    uint64_t deletes;
    uint64_t binds;
    uint64_t failures;  /**< operations that ended in an error */
    uint64_t decisions; /**< placements asked for */
    uint64_t placed;
    /** With GROVE_ENGINE_CHECK: most plans that one set needed in a row, nothing happening in between. */
    uint32_t most_rounds;
    uint32_t reserved;
} grove_engine_stats;
/** Fills *out_stats up to its size. Since 0.1. */
GROVE_API grove_status grove_engine_stats_get(const grove_engine *engine,
                                              grove_engine_stats *out_stats);

/** What stands at a moment. Since 0.1. */
typedef struct grove_engine_gauges {
    uint32_t size;
    uint32_t pods_gated;          /**< pods of gangs that carry a scheduling gate */
    int64_t oldest_gate_ns;       /**< age of the oldest of them */
    uint32_t gangs_incomplete;    /**< gangs whose minimum has no nodes */
    uint32_t gangs_scored;        /**< gangs with a placement score */
    int64_t longest_gang_wait_ns; /**< age of the oldest incomplete gang */
    uint64_t score_thousandths;   /**< the sum of the scores */
    uint64_t gpus_held;           /**< GPUs (nvidia.com/gpu) of bound pods of incomplete gangs */
} grove_engine_gauges;
/** Fills *out_gauges up to its size, by a look at every pod and gang. Since 0.1. */
GROVE_API grove_status grove_engine_gauges_get(const grove_engine *engine, int64_t now_ns,
                                               grove_engine_gauges *out_gauges);

/**
 * Why an object waits: its set's plan and its gang's placement, as text or (GROVE_WRITE_PRETTY or 0
 * together with json) as one JSON document. GROVE_E_NOT_FOUND when the object is not known. Since 0.1.
 */
GROVE_API grove_status grove_engine_explain(grove_engine *engine, grove_kind kind, const char *ns,
                                            const char *name, int64_t now_ns, int32_t json,
                                            grove_buf *buf, grove_error *err);

GROVE_END_DECLS
#endif
