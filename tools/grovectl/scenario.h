/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario files: what happens to an embedded cluster at which virtual time, and what must be true then.
 * The format is described in docs/reference/scenario.md; users write tests with it.
 */
#ifndef GROVECTL_SCENARIO_H
#define GROVECTL_SCENARIO_H

#include "cluster.h"
#include "timeline.h"

/* The whole cluster as it was when a step asked for it. */
typedef struct scenario_snapshot {
    const char *name; /* borrowed from the scenario */
    int64_t at_ns;
    size_t timeline; /* entries before it */
    grove_doc *dump;
} scenario_snapshot;

/* A scenario bound to the document it was read from. */
typedef struct scenario {
    grove_env *env;
    grove_doc *doc;
    const char *file; /* borrowed */
    const grove_node *steps;
    char *nodes;      /* spec.nodes, a file of that name beside the scenario by its path; NULL */
    char *config;     /* path of spec.config, beside the scenario; NULL */
    int64_t until_ns; /* spec.until, from the start; -1: not given */
    int instant;
    const grove_node *rounds; /* spec.rounds; NULL: not given */
    unsigned expectations, failures;
    const grove_node *always; /* what is expected at every instant; NULL */
    int64_t at_ns;            /* present time from the start, for messages */
    grove_buf *denial;        /* takes what the cluster says no with; NULL: a no ends the run */
    scenario_snapshot *snapshots;
    size_t snapshot_count;
} scenario;

/* EXIT_OK, or EXIT_USAGE after a message with file, line and column. */
int scenario_read(grove_env *env, const char *path, scenario *out);
void scenario_fini(scenario *s);
/* Runs all steps; failed expectations are printed and counted. EXIT_OK, EXIT_REFUSED when some failed. */
int scenario_run(scenario *s, cluster *c, timeline *t);

/* The snapshots as an object {name: {ms, timeline, items}}. */
void scenario_put_snapshots(const scenario *s, grove_builder *b, const char *key, int64_t start_ns);

/* ---- the parts ---- */

/* A complaint about a node of the scenario, with its place; always EXIT_USAGE. */
int scenario_complain(const scenario *s, const grove_node *at, const char *fmt, ...)
    GROVE_PRINTF(3, 4);
/* One action of a step ("apply", "scale", ...). *out_known is 0 for a member that is no action. EXIT_REFUSED
 * when the cluster said no and s->denial took it. */
int scenario_act(scenario *s, cluster *c, const char *action, const grove_node *what,
                 int *out_known);
/* An expectation that does not hold, counted and printed: what it is about, how it is, how it should be. */
void scenario_fail(scenario *s, const grove_node *what, const char *subject, const char *is,
                   const char *wanted);
/* One entry of `expect`; counts and prints. EXIT_USAGE only for a malformed one. */
int scenario_expect(scenario *s, cluster *c, const grove_node *what);

/* Objects that a {kind, name | selector, namespace} names, as a List; the caller unrefs. */
int scenario_select(scenario *s, cluster *c, const grove_node *what, grove_kind *out_kind,
                    grove_doc **out_list);
/* The path of a file that the scenario names: beside the scenario, unless absolute. The caller frees;
 * NULL when memory ran out. */
char *scenario_path(const scenario *s, const char *name);
/* EXIT_USAGE after a complaint when an object has a member that is none of the words, which blanks
 * separate: a slip of the pen must not pass for a check. */
int scenario_known_members(const scenario *s, const grove_node *object, const char *words);
/* Duration text such as 1m30s to nanoseconds; -1 when it is none. */
int64_t scenario_duration(const char *text);
/* Text of a member, or `otherwise`. */
const char *scenario_text(const grove_node *object, const char *key, const char *otherwise);

#endif
