/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler against the independent judge: bytes become a small cluster and a gang; every placement is
 * checked, every proof by plain bounds is verified, and the verdict must be the brute force's where that
 * ends in time. Then the gang is committed, rolled back, and the running sums are counted anew. With pods
 * that hold room it is asked for victims, against an oracle that tries every set of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sched_drive.h"
#include "support/sched_victims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *p;
    size_t n;
} bytes;

/* The next byte below `limit`; 0 at the end. */
static int32_t take(bytes *b, int32_t limit) {
    if (b->n == 0 || limit <= 0) {
        return 0;
    }
    b->n--;
    return *b->p++ % limit;
}

static int32_t take_level(bytes *b) {
    return take(b, 5) - 1;
}

static void take_node(bytes *b, sc_node *n) {
    int32_t block = take(b, 3), rack = take(b, 4);
    n->domain[0] = 0;
    n->domain[1] = block == 2 ? SC_NONE : block;
    /* the path names the domain: racks of different blocks differ */
    n->domain[2] = rack == 3 ? SC_NONE : rack + 4 * block;
    n->free[0] = take(b, 8);
    n->free[1] = take(b, 9);
    n->free[2] = take(b, 33);
    n->free[3] = take(b, 65);
    n->closed = take(b, 16) == 15;
}

static sd_case *decode(bytes *b) {
    int32_t n_nodes = 1 + take(b, 7), n_pg = 1 + take(b, 4), n_groups = take(b, 3);
    sd_case *d = sd_new(n_nodes, n_pg, n_groups, n_groups * n_pg);
    for (int32_t i = 0; i < n_nodes; i++) {
        take_node(b, &d->nodes[i]);
    }
    d->c.required = take_level(b);
    for (int32_t i = 0; i < n_pg; i++) {
        sc_podgroup *p = &d->podgroups[i];
        p->count = take(b, 4);
        p->req[0] = 1;
        p->req[1] = take(b, 5);
        p->req[2] = take(b, 17);
        p->req[3] = take(b, 33);
        p->required = take_level(b);
    }
    /* the first group takes a front part, the second a part of the first or of the rest: never crossing */
    int32_t at = 0, cut = take(b, n_pg + 1), from = take(b, 2) ? 0 : cut;
    for (int32_t g = 0; g < n_groups; g++) {
        int32_t begin = g == 0 ? 0 : from, end = g == 0 ? cut : (from == 0 ? cut / 2 : n_pg);
        d->groups[g].podgroups = d->members + at;
        for (int32_t i = begin; i < end; i++) {
            d->members[at++] = i;
            d->groups[g].n++;
        }
        d->groups[g].required = take_level(b);
    }
    return d;
}

static void stop(const char *what) {
    fprintf(stderr, "fuzz sched: %s\n", what);
    abort();
}

static void commit_and_back(sd_run *run) {
    uint64_t before = grove_sched_hash(run->s), mark;
    uint32_t gang;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sched_mark(run->s, &mark) < 0 ||
        grove_sched_commit(run->s, run->g, run->d, &gang, &err) < 0) {
        stop("a placement cannot be committed");
    }
    if (grove_sched_verify(run->s, &err) < 0) {
        stop(err.message);
    }
    if (grove_sched_rollback(run->s, mark) < 0 || grove_sched_hash(run->s) != before ||
        grove_sched_verify(run->s, &err) < 0) {
        stop("rolling back does not lead back");
    }
}

static void decide(grove_env *env, const sc_case *c, uint32_t flags, int truth) {
    sd_run run;
    int proof;
    if (sd_start(env, c, NULL, &run) < 0 || sd_describe(&run, c, NULL) < 0 ||
        sd_place(&run, flags, 200000) < 0) {
        stop("a legal case is refused");
    }
    const char *wrong = sd_judge(&run, c, NULL, &proof);
    if (wrong) {
        stop(wrong);
    }
    grove_verdict v = grove_decision_verdict(run.d);
    if (truth >= 0 && v != GROVE_UNKNOWN && v != (truth ? GROVE_PLACED : GROVE_INFEASIBLE)) {
        stop("the brute force says otherwise");
    }
    if (v == GROVE_PLACED) {
        commit_and_back(&run);
    }
    sd_end(&run);
}

/* Pods that hold room of the nodes beside what is free: whole lists are tried as victims. */
static void take_holders(bytes *b, sd_case *d, sv_case *v) {
    memset(v, 0, sizeof *v);
    v->c = &d->c;
    v->nodes = d->nodes;
    v->scarce = -1;
    v->priority = 1 + take(b, 3);
    v->n_pods = take(b, 7);
    for (int32_t i = 0; i < v->n_pods; i++) {
        v->pods[i] = (sv_pod){.node = take(b, d->c.n_nodes), .gang = -1, .priority = take(b, 3)};
        v->pods[i].req[0] = 1;
        v->pods[i].req[1] = take(b, 5);
        v->pods[i].req[2] = take(b, 17);
        v->pods[i].req[3] = take(b, 33);
    }
}

static void add_to_free(sv_case *v, int64_t sign) {
    for (int32_t i = 0; i < v->n_pods; i++) {
        for (int r = 0; r < SC_RESOURCES; r++) {
            v->nodes[v->pods[i].node].free[r] += sign * v->pods[i].req[r];
        }
    }
}

static void judge_victims(const sv_case *v, const sd_run *run, const uint32_t *ids, int truth,
                          const sv_toll *best) {
    int gang_in[SV_GANGS] = {0}, pod_in[SV_PODS] = {0};
    uint32_t n;
    const grove_victim *list = grove_decision_victims(run->d, &n);
    for (uint32_t i = 0; i < n; i++) {
        for (int32_t p = 0; p < v->n_pods; p++) {
            pod_in[p] |= ids[p] == list[i].pod;
        }
    }
    sv_toll toll;
    if (sv_judge(v, gang_in, pod_in, &toll) < 0) {
        stop("a victim that may not go");
    }
    if (truth == 0) {
        stop("placed, but no set of victims helps");
    }
    if (truth == 1 && grove_decision_victims_proven(run->d) &&
        (toll.priority != best->priority || toll.pods != best->pods)) {
        stop("a better set of victims exists");
    }
}

static void preempt(grove_env *env, bytes *b, sd_case *d) {
    sv_case v;
    sv_toll best = {0, 0, 0};
    sd_run run;
    uint32_t ids[SV_PODS] = {0};
    take_holders(b, d, &v);
    int truth = sv_best(&v, &best);
    add_to_free(&v, 1);
    if (sd_start(env, &d->c, NULL, &run) < 0) {
        stop("a legal case is refused");
    }
    add_to_free(&v, -1);
    for (int32_t i = 0; i < v.n_pods; i++) {
        grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                               .node = run.node_ids[v.pods[i].node],
                               .class_id = GROVE_SCHED_NONE,
                               .requests = v.pods[i].req,
                               .n_requests = SC_RESOURCES,
                               .priority = v.pods[i].priority};
        if (grove_sched_pod_add(run.s, &pod, &ids[i], NULL) < 0) {
            stop("a legal pod is refused");
        }
    }
    uint64_t before = grove_sched_hash(run.s);
    if (sd_describe(&run, &d->c, NULL) < 0 || grove_gang_priority(run.g, v.priority) < 0 ||
        grove_sched_preempt(run.s, run.g, NULL, run.d, NULL) < 0) {
        stop("a legal question is refused");
    }
    if (grove_sched_hash(run.s) != before || grove_sched_verify(run.s, NULL) < 0) {
        stop("a search for victims leaves traces");
    }
    if (grove_decision_verdict(run.d) == GROVE_PLACED) {
        judge_victims(&v, &run, ids, truth, &best);
    } else if (grove_decision_verdict(run.d) == GROVE_INFEASIBLE && truth == 1) {
        stop("refused, but some victims would help");
    }
    sd_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        abort();
    }
    sd_case *d = decode(&b);
    int truth = sc_feasible(&d->c, 20000);
    decide(env, &d->c, 0, truth);
    decide(env, &d->c, GROVE_PLACE_EXACT_ONLY, truth);
    preempt(env, &b, d);
    sd_free(d);
    grove_env_unref(env);
    return 0;
}
