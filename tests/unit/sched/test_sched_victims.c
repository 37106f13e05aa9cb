/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption and reclaim on small random clusters, against an oracle that tries every set of victims: the
 * answer, the toll of the victims, and that a no means no. GROVE_SEEDS scales the number of cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sched_drive.h"
#include "support/sched_victims.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

static int32_t below(gv_prng *r, int32_t n) {
    return n > 0 ? (int32_t)gv_prng_below(r, (uint64_t)n) : 0;
}

static int seeds(int otherwise) {
    const char *text = getenv("GROVE_SEEDS");
    return text ? atoi(text) : otherwise;
}

/* ---- a random case ---- */

/* Gangs and pods that hold room: their requests are added to what the nodes have. */
static void random_holders(gv_prng *r, sv_case *v) {
    v->n_gangs = 1 + below(r, 4);
    for (int32_t g = 0; g < v->n_gangs; g++) {
        v->gangs[g] = (sv_gang){.priority = below(r, 3), .base = -1, .held = below(r, 10) == 0};
        v->gangs[g].queue = v->n_queues ? below(r, v->n_queues + 1) : 0;
        if (g > 0 && below(r, 3) == 0) {
            v->gangs[g].base = below(r, g);
        }
    }
    v->n_pods = 3 + below(r, 10);
    int32_t singles = 0;
    for (int32_t p = 0; p < v->n_pods; p++) {
        sv_pod *pod = &v->pods[p];
        *pod = (sv_pod){.node = below(r, v->c->n_nodes), .gang = below(r, v->n_gangs + 2)};
        pod->gang = pod->gang < v->n_gangs ? pod->gang : -1;
        pod->surplus = pod->gang >= 0 && below(r, 3) == 0;
        if (pod->gang < 0 || pod->surplus) {
            if (++singles > 8) {
                pod->gang = 0;
                pod->surplus = 0;
            }
        }
        pod->priority = pod->gang < 0 ? below(r, 3) : 0;
        pod->queue = pod->gang < 0 && v->n_queues ? below(r, v->n_queues + 1) : 0;
        pod->req[0] = 1;
        pod->req[1] = (int64_t[]){1, 1, 2, 4}[below(r, 4)];
        pod->req[2] = 4 * (1 + below(r, 4));
        pod->req[3] = 16 * below(r, 5);
    }
}

static sd_case *random_case(uint64_t seed, int reclaim, sv_case *v) {
    static const sd_shape shape = {2, 2, 2, 1, 3, 2, 90, 0};
    gv_prng r;
    gv_prng_seed(&r, seed);
    sd_case *d = sd_random(&r, &shape);
    memset(v, 0, sizeof *v);
    v->c = &d->c;
    v->nodes = d->nodes;
    v->priority = 1 + below(&r, 3);
    v->scarce = -1;
    for (int32_t n = 0; n < d->c.n_nodes; n++) { /* what is left beside the pods is little */
        d->nodes[n].free[1] = below(&r, 3);
        d->nodes[n].closed = 0;
    }
    if (reclaim) {
        v->n_queues = 4; /* 1 and 2 at the top, 3 and 4 below 2 */
        v->queues[3].parent = v->queues[4].parent = 2;
        v->queue = below(&r, 2) ? 1 : 3;
    } else if (below(&r, 2)) {
        v->n_queues = 2;
        v->queue = 1 + below(&r, 2);
    }
    random_holders(&r, v);
    for (int32_t p = 0; reclaim && p < d->c.n_podgroups; p++) { /* GPUs are what is scarce */
        d->podgroups[p].req[1] = 1 + below(&r, 3);
        d->podgroups[p].req[2] = 4;
        d->podgroups[p].req[3] = 16;
    }
    for (int32_t n = 0; reclaim && n < d->c.n_nodes; n++) {
        d->nodes[n].free[2] += 64;
        d->nodes[n].free[3] += 512;
    }
    if (reclaim) { /* gangs belong to the leaves */
        for (int32_t g = 0; g < v->n_gangs; g++) {
            v->gangs[g].queue = (int32_t[]){1, 3, 4, 4}[below(&r, 4)];
        }
        for (int32_t p = 0; p < v->n_pods; p++) {
            v->pods[p].queue = v->pods[p].gang < 0 ? (int32_t[]){0, 1, 3, 4}[below(&r, 4)] : 0;
        }
    }
    return d;
}

/* ---- to the scheduler ---- */

typedef struct holders {
    uint32_t gangs[SV_GANGS], pods[SV_PODS];
} holders;

static void declare_queues(const sv_case *v, sd_run *run, const int64_t *deserved) {
    for (int32_t q = 1; q <= v->n_queues; q++) {
        char name[16];
        uint32_t id;
        snprintf(name, sizeof name, "q%d", q);
        int64_t promised[SC_RESOURCES] = {0, deserved ? deserved[q] : 0};
        grove_queue spec = {.size = (uint32_t)sizeof spec,
                            .name = name,
                            .parent = (uint32_t)v->queues[q].parent,
                            .deserved = promised,
                            .n_deserved = SC_RESOURCES,
                            .weight = 1};
        assert_int_equal(grove_sched_queue(run->s, &spec, &id, NULL), GROVE_OK);
        assert_int_equal(id, q);
    }
}

/* One committed gang: each pod a podgroup of its own, held to its node by name. */
static void place_gang(const sv_case *v, sd_run *run, int32_t gang, holders *h) {
    uint32_t pg, at[SV_PODS], n = 0, count;
    assert_int_equal(grove_gang_begin(run->g, run->topology, "holder"), GROVE_OK);
    for (int32_t p = 0; p < v->n_pods; p++) {
        const sv_pod *pod = &v->pods[p];
        if (pod->gang != gang) {
            continue;
        }
        char name[16];
        snprintf(name, sizeof name, "n%d", pod->node);
        const char *names[] = {name};
        grove_sched_requirement on = {NULL, names, 1, GROVE_MATCH_NAME_IN};
        grove_sched_term term = {&on, 1, 0};
        grove_sched_terms terms = {&term, 1, 0};
        grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                       .requests = pod->req,
                                       .n_requests = SC_RESOURCES,
                                       .required = &terms,
                                       .n_required = 1};
        uint32_t cls;
        assert_int_equal(grove_sched_class(run->s, &spec, &cls, NULL), GROVE_OK);
        assert_int_equal(grove_gang_podgroup(run->g, "p", cls, pod->surplus ? 0 : 1, 1,
                                             GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
                         GROVE_OK);
        at[n++] = (uint32_t)p;
    }
    const sv_gang *one = &v->gangs[gang];
    assert_int_equal(grove_gang_priority(run->g, one->priority), GROVE_OK);
    assert_int_equal(grove_gang_queue(run->g, (uint32_t)one->queue), GROVE_OK);
    assert_int_equal(grove_gang_flags(run->g, one->held ? GROVE_GANG_NEVER_EVICT : 0), GROVE_OK);
    if (one->base >= 0) {
        assert_int_equal(grove_gang_base(run->g, h->gangs[one->base]), GROVE_OK);
    }
    assert_int_equal(grove_sched_place(run->s, run->g, NULL, run->d, NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(run->d), GROVE_PLACED);
    assert_int_equal(grove_sched_commit(run->s, run->g, run->d, &h->gangs[gang], NULL), GROVE_OK);
    const uint32_t *pods = grove_sched_gang_pods(run->s, h->gangs[gang], &count);
    assert_int_equal(count, n);
    for (uint32_t i = 0; i < n; i++) {
        h->pods[at[i]] = pods[i];
    }
}

static void load(sv_case *v, sd_case *d, sd_run *run, holders *h, const int64_t *deserved) {
    for (int pass = 0; pass < 2; pass++) { /* the cluster is built with the pods' room as well */
        for (int32_t p = 0; p < v->n_pods; p++) {
            for (int k = 0; k < SC_RESOURCES; k++) {
                int64_t amount = v->pods[p].req[k];
                d->nodes[v->pods[p].node].free[k] += pass == 0 ? amount : -amount;
            }
        }
        if (pass == 0) {
            assert_int_equal(sd_start(env, &d->c, NULL, run), GROVE_OK);
        }
    }
    declare_queues(v, run, deserved);
    for (int32_t g = 0; g < v->n_gangs; g++) {
        place_gang(v, run, g, h);
    }
    for (int32_t p = 0; p < v->n_pods; p++) {
        const sv_pod *pod = &v->pods[p];
        if (pod->gang < 0) {
            grove_sched_pod spec = {.size = (uint32_t)sizeof spec,
                                    .node = run->node_ids[pod->node],
                                    .class_id = GROVE_SCHED_NONE,
                                    .requests = pod->req,
                                    .n_requests = SC_RESOURCES,
                                    .priority = pod->priority,
                                    .queue = (uint32_t)pod->queue};
            assert_int_equal(grove_sched_pod_add(run->s, &spec, &h->pods[p], NULL), GROVE_OK);
        }
    }
    assert_int_equal(grove_sched_verify(run->s, NULL), GROVE_OK);
    assert_int_equal(sd_describe(run, &d->c, NULL), GROVE_OK);
    assert_int_equal(grove_gang_priority(run->g, v->priority), GROVE_OK);
    assert_int_equal(grove_gang_queue(run->g, (uint32_t)v->queue), GROVE_OK);
}

/* The victims of the answer as the oracle names them. */
static int name_victims(const sv_case *v, const sd_run *run, const holders *h, int *gang_in,
                        int *pod_in) {
    uint32_t n;
    const grove_victim *list = grove_decision_victims(run->d, &n);
    memset(gang_in, 0, SV_GANGS * sizeof *gang_in);
    memset(pod_in, 0, SV_PODS * sizeof *pod_in);
    for (uint32_t i = 0; i < n; i++) {
        for (int32_t g = 0; g < v->n_gangs && list[i].pod == GROVE_SCHED_NONE; g++) {
            gang_in[g] |= h->gangs[g] == list[i].gang;
        }
        for (int32_t p = 0; p < v->n_pods && list[i].pod != GROVE_SCHED_NONE; p++) {
            pod_in[p] |= h->pods[p] == list[i].pod;
        }
    }
    return (int)n;
}

/* The placement holds with the victims gone, in the eyes of the judge. */
static const char *judge_places(sv_case *v, sd_case *d, sd_run *run, const int *gang_in,
                                const int *pod_in) {
    int proof, gone[SV_PODS];
    for (int32_t p = 0; p < v->n_pods; p++) {
        gone[p] = pod_in[p] || (v->pods[p].gang >= 0 && gang_in[v->pods[p].gang]);
        for (int k = 0; gone[p] && k < SC_RESOURCES; k++) {
            d->nodes[v->pods[p].node].free[k] += v->pods[p].req[k];
        }
    }
    const char *wrong = sd_judge(run, &d->c, NULL, &proof);
    for (int32_t p = 0; p < v->n_pods; p++) {
        for (int k = 0; gone[p] && k < SC_RESOURCES; k++) {
            d->nodes[v->pods[p].node].free[k] -= v->pods[p].req[k];
        }
    }
    return wrong;
}

typedef struct tally {
    uint32_t placed, with_victims, refused, unknown, unproven, open;
} tally;

static void compare(sv_case *v, sd_case *d, sd_run *run, const holders *h, uint64_t seed,
                    tally *t) {
    int gang_in[SV_GANGS], pod_in[SV_PODS];
    sv_toll best, toll;
    unsigned long long id = seed;
    int truth = sv_best(v, &best);
    grove_verdict verdict = grove_decision_verdict(run->d);
    t->open += truth < 0;
    t->unknown += verdict == GROVE_UNKNOWN;
    if (verdict == GROVE_INFEASIBLE) {
        t->refused++;
        if (truth == 1) {
            fail_msg("seed %llu: infeasible, but %d gangs and %d pods would do", id, best.gangs,
                     best.pods);
        }
    }
    if (verdict != GROVE_PLACED) {
        return;
    }
    t->placed++;
    t->with_victims += name_victims(v, run, h, gang_in, pod_in) > 0;
    const char *wrong = judge_places(v, d, run, gang_in, pod_in);
    if (wrong) {
        fail_msg("seed %llu: %s", id, wrong);
    }
    if (sv_judge(v, gang_in, pod_in, &toll) < 0) {
        fail_msg("seed %llu: a victim that may not go", id);
    }
    if (truth == 0) {
        fail_msg("seed %llu: placed, but no set of victims helps", id);
    }
    if (truth == 1 &&
        (toll.priority != best.priority || toll.gangs != best.gangs || toll.pods != best.pods)) {
        fail_msg("seed %llu: toll %d/%d/%d, best %d/%d/%d", id, toll.priority, toll.gangs,
                 toll.pods, best.priority, best.gangs, best.pods);
    }
    t->unproven += !grove_decision_victims_proven(run->d) && toll.pods > 0;
}

static void test_preempt(void **state) {
    (void)state;
    tally t = {0};
    int n = seeds(3000);
    for (int i = 1; i <= n; i++) {
        sv_case v;
        holders h = {{0}, {0}};
        sd_run run;
        sd_case *d = random_case((uint64_t)i, 0, &v);
        load(&v, d, &run, &h, NULL);
        uint64_t before = grove_sched_hash(run.s);
        assert_int_equal(grove_sched_preempt(run.s, run.g, NULL, run.d, NULL), GROVE_OK);
        assert_true(grove_sched_hash(run.s) == before);
        assert_int_equal(grove_sched_verify(run.s, NULL), GROVE_OK);
        compare(&v, d, &run, &h, (uint64_t)i, &t);
        sd_end(&run);
        sd_free(d);
    }
    print_message("preempt: %u placed, %u of them with victims, %u infeasible, %u unknown, %u not "
                  "proven best, %u left open by the oracle\n",
                  t.placed, t.with_victims, t.refused, t.unknown, t.unproven, t.open);
    assert_true(n < 1000 || ((int)t.with_victims > n / 20 && (int)t.refused > n / 20));
    assert_true((int)t.open <= n / 100);
    assert_int_equal(t.unknown + t.unproven, 0);
}

/* Whether GPUs are what the gang asks the largest part of, of all that is not held outside of queues. */
static int gpus_count(const sv_case *v) {
    int64_t all[SC_RESOURCES] = {0}, need[SC_RESOURCES] = {0};
    for (int r = 1; r < SC_RESOURCES; r++) {
        for (int32_t n = 0; n < v->c->n_nodes; n++) {
            all[r] += v->nodes[n].free[r];
        }
        for (int32_t p = 0; p < v->n_pods; p++) {
            const sv_pod *pod = &v->pods[p];
            int queued = (pod->gang >= 0 ? v->gangs[pod->gang].queue : pod->queue) != 0;
            all[r] += queued ? pod->req[r] : 0;
        }
        for (int32_t p = 0; p < v->c->n_podgroups; p++) {
            need[r] += v->c->podgroups[p].req[r] * v->c->podgroups[p].count;
        }
        if (need[r] * all[1] > need[1] * all[r]) {
            return 0;
        }
    }
    return need[1] > 0;
}

/* The lowest queue above the gang's own that it would carry beyond its share: what it gets must come from there. */
static int32_t full_above(const sv_case *v, const sd_run *run) {
    int64_t need[SC_RESOURCES] = {0};
    for (int32_t p = 0; p < v->c->n_podgroups; p++) {
        for (int r = 0; r < SC_RESOURCES; r++) {
            int64_t one = r == 0 ? 1 : v->c->podgroups[p].req[r];
            need[r] += one * v->c->podgroups[p].count;
        }
    }
    for (int32_t q = v->queues[v->queue].parent; q > 0; q = v->queues[q].parent) {
        const int64_t *used = grove_sched_queue_used(run->s, (uint32_t)q);
        const int64_t *share = grove_sched_queue_share(run->s, (uint32_t)q);
        for (int r = 0; r < SC_RESOURCES; r++) {
            if (need[r] > 0 && used[r] + need[r] > share[r]) {
                return q;
            }
        }
    }
    return 0;
}

/* The same with queues in a tree: what each deserves is its share, so that the oracle need not compute it. */
static void test_reclaim(void **state) {
    (void)state;
    tally t = {0};
    int n = seeds(3000);
    uint32_t entitled = 0, bounded = 0;
    for (int i = 1; i <= n; i++) {
        sv_case v;
        holders h = {{0}, {0}};
        sd_run run;
        sd_case *d = random_case(1000000u + (uint64_t)i, 1, &v);
        gv_prng r;
        gv_prng_seed(&r, 77u + (uint64_t)i);
        int64_t deserved[SV_QUEUES] = {0};
        for (int32_t q = 1; q <= v.n_queues; q++) {
            int ours = q == v.queue || v.queues[v.queue].parent == q;
            deserved[q] = ours ? 3 + below(&r, 8) : below(&r, 6);
        }
        load(&v, d, &run, &h, deserved);
        assert_int_equal(grove_sched_reclaim(run.s, run.g, NULL, 0, NULL, run.d, NULL), GROVE_OK);
        assert_int_equal(grove_sched_verify(run.s, NULL), GROVE_OK);
        for (int32_t q = 1; q <= v.n_queues; q++) {
            const int64_t *share = grove_sched_queue_share(run.s, (uint32_t)q);
            v.queues[q].share = share[1];
        }
        grove_certificate c = {.size = (uint32_t)sizeof c};
        assert_int_equal(grove_decision_certificate(run.d, &c), GROVE_OK);
        v.scarce = 1;
        v.within = full_above(&v, &run);
        bounded += v.within != 0 && grove_decision_verdict(run.d) == GROVE_PLACED;
        /* who is not entitled is another test */
        if (gpus_count(&v) && !(c.reason == GROVE_REASON_QUEUE_SHARE && c.need > 0)) {
            entitled++;
            compare(&v, d, &run, &h, (uint64_t)i, &t);
        }
        sd_end(&run);
        sd_free(d);
    }
    print_message(
        "reclaim: %u entitled, %u placed, %u of them with victims, %u infeasible, %u unknown, "
        "%u not proven best, %u left open by the oracle\n",
        entitled, t.placed, t.with_victims, t.refused, t.unknown, t.unproven, t.open);
    assert_true(n < 1000 || bounded > 0);
    assert_true(n < 1000 || ((int)t.with_victims > n / 30 && (int)t.refused > n / 20));
    assert_int_equal(t.unknown + t.unproven, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempt),
        cmocka_unit_test(test_reclaim),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
