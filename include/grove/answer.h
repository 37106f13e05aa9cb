/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/answer.h - whole questions: documents in, one document out.
 *
 * For callers that want an answer and no handles: other languages, services, scripts. With grove_validate,
 * grove_default, grove_render (admission.h, render.h) these are the coarse entry points of the library.
 * Each is a function of its arguments: no clock, the same bytes out on every machine. What can be asked
 * with more control is in sched.h, engine.h and sys/sim.h, from which these are made.
 *
 *     grove_doc *request = NULL, *answer = NULL;
 *     grove_doc_parse_json(env, text, len, 0, &request, &err);
 *     grove_place(env, request, &answer, &err);
 *     grove_node_write_json(grove_doc_root(answer), GROVE_WRITE_PRETTY, &out, &err);
 *
 * Answers carry apiVersion libgrove.io/v1alpha1 and a kind, and have schemas in docs/schemas. The caller
 * owns *out_answer. A request that cannot be understood is GROVE_E_INVALID with the path, line and column
 * in *err.
 *
 * Threads: calls run in parallel; documents and configurations are shared.
 */
#ifndef GROVE_ANSWER_H
#define GROVE_ANSWER_H

#include <grove/config.h>
#include <grove/doc.h>
#include <grove/verbs.h>

GROVE_BEGIN_DECLS

/**
 * Decides where gangs go, in the order given, each committed before the next. The request:
 *
 *     topology: [zone, rack]                     # label keys, broad to narrow; none: hosts only
 *     nodes:
 *     - {name: n0, labels: {rack: r0}, capacity: {gpu: 8, pods: 110}, unschedulable: false}
 *     gangs:
 *     - name: train-0
 *       priority: 0
 *       required: rack                           # a level, or host; preferred likewise
 *       podgroups:
 *       - {name: w, count: 4, min: 4, requests: {gpu: 8}, selector: {rack: r0}, required: host}
 *       groups:
 *       - {name: cell, podgroups: [w], preferred: rack}
 *     explain: true
 *
 * Only names, nodes, gangs and podgroups are required; count (at most 100000) is 1 and min is count when
 * they are not given. Amounts are whole numbers in any unit. The answer: kind Placements, for each gang
 * its verdict (placed, infeasible, unknown), podgroup -> node -> pods, score in millionths, steps, and
 * with `explain` what grove_sched_explain says. Since 0.1.
 */
GROVE_API grove_status grove_place(grove_env *env, grove_doc *request, grove_doc **out_answer,
                                   grove_error *err);

/**
 * What becomes of the children when a PodCliqueSet changes from `old` to `new_set` (each the root of its
 * document and as a cluster stores it: grove_default): the children that are created, deleted, and
 * changed with the JSON patch that turns one into the other. Names and bodies are those of grove_render
 * with exact templates. `config` NULL: the built-in setting. Kind Diff. Since 0.1.
 */
GROVE_API grove_status grove_diff(grove_env *env, grove_doc *old, grove_doc *new_set,
                                  grove_config *config, grove_doc **out_answer, grove_error *err);

/**
 * Why an object is not where it should be, from a snapshot: a List as `kubectl get
 * nodes,pods,pcs,pclq,pcsg,pg -A -o json` or grove_simulate gives it. `ns` NULL: "default". Kind
 * Explanation; GROVE_E_NOT_FOUND when the snapshot has no such object. Since 0.1.
 */
GROVE_API grove_status grove_explain(grove_env *env, grove_doc *snapshot, grove_config *config,
                                     grove_kind kind, const char *ns, const char *name,
                                     int64_t now_ns, grove_doc **out_answer, grove_error *err);

#define GROVE_SIMULATE_INSTANT 0x1u /**< pods are Ready as soon as they are bound */

/** Options of grove_simulate; zero-initialise and set size. Since 0.1. */
typedef struct grove_simulate_options {
    uint32_t size;     /**< sizeof(grove_simulate_options) */
    uint32_t flags;    /**< GROVE_SIMULATE_* */
    const char *nodes; /**< as for grove_sim_add_nodes; NULL: those among the objects */
    int64_t for_ns;    /**< virtual time to run; 0: until nothing happens, at most 10 minutes */
    uint64_t seed;
} grove_simulate_options;

/**
 * Applies objects (one, a List, or an array) to an empty embedded cluster with Grove, lets virtual time
 * run, and returns what is there then: kind Simulation with `items` (with status), `events`, `ms` (how
 * long it ran), `quiet` (nothing more will happen). PodCliqueSets and ClusterTopologyBindings are
 * defaulted and validated first; GROVE_E_REFUSED with the reason when one is not admitted. Since 0.1.
 */
GROVE_API grove_status grove_simulate(grove_env *env, grove_doc *objects, grove_config *config,
                                      const grove_simulate_options *options, grove_doc **out_answer,
                                      grove_error *err);

GROVE_END_DECLS
#endif
