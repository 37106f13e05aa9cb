/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler in memory, one core: fill and churn with two-level gangs, large clusters, proofs, loading,
 * and the workloads of the peers' table rebuilt from their description. Medians of seven runs; each
 * figure says what it is set on. Times are CPU times; what reading the clock takes is taken off decisions.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <grove/sched.h>

#include "base/prng.h"

#define RUNS 7

/* CPU time of the process: what a decision costs, whatever else the machine does. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(grove_status st) {
    if (st < 0) {
        fprintf(stderr, "bench sched: %s\n", grove_status_name(st));
        exit(1);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void figure(const char *name, double value, const char *unit, const char *setting) {
    printf("{\"bench\":\"sched\",\"figure\":\"%s\",\"value\":%.4g,\"unit\":\"%s\",\"setting\":\"%"
           "s\"}\n",
           name, value, unit, setting);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

/* ---- the cluster: 20 nodes a rack, 10 racks a block, 25 blocks a zone; racks of 1 and 2 TiB nodes ---- */

typedef struct cluster {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topo, leader, worker[7];
    int rich; /* 2 TiB on every node: memory is never what runs out first */
} cluster;

static uint32_t make_class(cluster *c, int64_t gpu, int64_t cpu, int64_t mem,
                           uint32_t tolerations) {
    grove_sched_toleration t = {.key = "dedicated", .exists = 1};
    int64_t requests[4] = {1, gpu, cpu, mem};
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                   .requests = requests,
                                   .n_requests = 4,
                                   .tolerations = &t,
                                   .n_tolerations = tolerations};
    uint32_t id;
    must(grove_sched_class(c->s, &spec, &id, NULL));
    return id;
}

static void add_nodes(cluster *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        char text[4][24];
        uint32_t rack = i / 20, id;
        snprintf(text[0], 24, "n%06u", i);
        snprintf(text[1], 24, "z%u", rack / 250);
        snprintf(text[2], 24, "b%04u", rack / 10);
        snprintf(text[3], 24, "r%05u", rack);
        grove_sched_label labels[4] = {{"kubernetes.io/hostname", text[0]},
                                       {"zone", text[1]},
                                       {"block", text[2]},
                                       {"rack", text[3]}};
        int64_t capacity[4] = {110, 8, 128000, rack % 2 || c->rich ? 2097152 : 1048576};
        grove_sched_taint taint = {"dedicated", "gang", GROVE_TAINT_NO_SCHEDULE, 0};
        grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                                 .name = text[0],
                                 .labels = labels,
                                 .n_labels = 4,
                                 .taints = &taint,
                                 .n_taints = 1,
                                 .capacity = capacity,
                                 .n_capacity = 4};
        must(grove_sched_node_add(c->s, &spec, &id, NULL));
    }
}

static void cluster_make_of(grove_env *env, cluster *c, uint32_t n, int rich) {
    static const char *const keys[] = {"zone", "block", "rack", "kubernetes.io/hostname"};
    static const int64_t workers[7][3] = {
        {8, 96000, 921600}, {4, 32000, 262144}, {2, 24000, 307200}, {2, 16000, 131072},
        {4, 48000, 716800}, {1, 12000, 204800}, {1, 8000, 65536}};
    uint32_t id;
    must(grove_sched_new(env, NULL, &c->s, NULL));
    must(grove_sched_resource(c->s, "gpu", &id));
    must(grove_sched_resource(c->s, "cpu", &id));
    must(grove_sched_resource(c->s, "mem", &id));
    must(grove_sched_topology(c->s, "t", keys, 4, &c->topo, NULL));
    c->rich = rich;
    add_nodes(c, n);
    c->leader = make_class(c, 1, 16000, 98304, 1);
    for (int i = 0; i < 7; i++) {
        c->worker[i] = make_class(c, workers[i][0], workers[i][1], workers[i][2], 1);
    }
    must(grove_gang_new(c->s, &c->g));
    must(grove_decision_new(c->s, &c->d));
}

static void cluster_make(grove_env *env, cluster *c, uint32_t n) {
    cluster_make_of(env, c, n, 0);
}

static void cluster_free(cluster *c) {
    grove_gang_free(c->g);
    grove_decision_free(c->d);
    grove_sched_free(c->s);
}

/* One block, two groups each in one rack: a leader and 1 to 4 workers. Returns the number of pods. */
static uint32_t two_level(cluster *c, gv_prng *r) {
    uint32_t pg[2], id, pods = 0;
    must(grove_gang_begin(c->g, c->topo, "g"));
    for (int k = 0; k < 2; k++) {
        uint32_t cls = c->worker[gv_prng_below(r, 7)], n = 1 + (uint32_t)gv_prng_below(r, 4);
        must(grove_gang_podgroup(c->g, "l", c->leader, 1, 1, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE,
                                 &pg[0]));
        must(grove_gang_podgroup(c->g, "w", cls, n, n, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg[1]));
        must(grove_gang_group(c->g, "g", pg, 2, 2, GROVE_LEVEL_NONE, &id));
        pods += 1 + n;
    }
    must(grove_gang_pack(c->g, 1, GROVE_LEVEL_NONE));
    return pods;
}

static double gpu_use(const cluster *c) {
    int64_t free = 0, n = 0;
    for (uint32_t i = 0; i < grove_sched_node_limit(c->s); i++) {
        free += grove_sched_node_free(c->s, i)[1];
        n += 8;
    }
    return 1.0 - (double)free / (double)n;
}

typedef struct series {
    double *v;
    size_t n, cap;
} series;

static void add(series *s, double x) {
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 4096;
        s->v = realloc(s->v, s->cap * sizeof *s->v);
        if (!s->v) {
            exit(1);
        }
    }
    s->v[s->n++] = x;
}

typedef struct placed {
    uint32_t *gang, *pods;
    size_t n, cap;
} placed;

static void keep(placed *p, uint32_t gang, uint32_t pods) {
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 4096;
        p->gang = realloc(p->gang, p->cap * sizeof *p->gang);
        p->pods = realloc(p->pods, p->cap * sizeof *p->pods);
        if (!p->gang || !p->pods) {
            exit(1);
        }
    }
    p->gang[p->n] = gang;
    p->pods[p->n++] = pods;
}

/* What reading the clock twice takes: as long as a short decision, so it is taken off each. */
static double clock_cost(void) {
    static double cost = -1;
    double v[1001];
    for (int i = 0; cost < 0 && i < 1001; i++) {
        double t = now();
        v[i] = now() - t;
    }
    cost = cost < 0 ? median(v, 1001) : cost;
    return cost;
}

/* A time that `now() - from` measured, the clock's own left out. */
static double net(double took) {
    double cost = clock_cost();
    return took > cost ? took - cost : 0;
}

/* Describes, places and commits one gang; *out_took (may be NULL) is the decision alone. Returns pods placed. */
static uint32_t one_gang(cluster *c, gv_prng *r, placed *p, double *out_took) {
    uint32_t pods = two_level(c, r), id;
    double t = out_took ? now() : 0;
    must(grove_sched_place(c->s, c->g, NULL, c->d, NULL));
    if (out_took) {
        *out_took = net(now() - t);
    }
    if (grove_decision_verdict(c->d) != GROVE_PLACED) {
        return 0;
    }
    must(grove_sched_commit(c->s, c->g, c->d, &id, NULL));
    keep(p, id, pods);
    return pods;
}

/* Fills until `rejects` gangs in a row found no place. */
static uint64_t fill(cluster *c, gv_prng *r, placed *p, series *took, double until, int rejects) {
    uint64_t pods = 0;
    int in_a_row = 0;
    double t;
    for (uint64_t i = 0; in_a_row < rejects; i++) {
        uint32_t n = one_gang(c, r, p, took ? &t : NULL);
        if (took) {
            add(took, t);
        }
        pods += n;
        in_a_row = n > 0 ? 0 : in_a_row + 1;
        if (until < 1.0 && i % 64 == 0 && gpu_use(c) >= until) {
            break;
        }
    }
    return pods;
}

static void churn(cluster *c, gv_prng *r, placed *p, series *took, uint64_t pods, uint64_t target) {
    double t;
    while (pods < target) {
        size_t at = (size_t)gv_prng_below(r, p->n);
        must(grove_sched_release(c->s, p->gang[at]));
        p->gang[at] = p->gang[p->n - 1];
        p->pods[at] = p->pods[--p->n];
        for (int tries = 0; tries < 2; tries++) {
            pods += one_gang(c, r, p, took ? &t : NULL);
            if (took) {
                add(took, t);
            }
        }
    }
}

/* Gangs come as long as less than `level` of the GPUs are taken, and go eight at a time. */
static void churn_at(cluster *c, gv_prng *r, placed *p, series *took, double level, int gangs) {
    double t;
    for (int i = 0; i < gangs; i++) {
        while (i % 16 == 0 && gpu_use(c) >= level) {
            for (int k = 0; k < 8; k++) {
                size_t at = (size_t)gv_prng_below(r, p->n);
                must(grove_sched_release(c->s, p->gang[at]));
                p->gang[at] = p->gang[p->n - 1];
                p->pods[at] = p->pods[--p->n];
            }
        }
        (void)one_gang(c, r, p, &t);
        add(took, t);
    }
}

static void percentiles(series *s, const char *setting) {
    qsort(s->v, s->n, sizeof *s->v, by_value);
    figure("decision_p50", s->v[s->n / 2] * 1e6, "us", setting);
    figure("decision_p99", s->v[s->n * 99 / 100] * 1e6, "us", setting);
    figure("decision_p999", s->v[s->n * 999 / 1000] * 1e6, "us", setting);
    figure("decision_max", s->v[s->n - 1] * 1e6, "us", setting);
}

static void bench_fill_and_churn(grove_env *env) {
    double per_pod[RUNS], use[RUNS];
    series all = {0}, held = {0}, full = {0};
    for (int run = 0; run < RUNS; run++) {
        cluster c;
        gv_prng r;
        placed p = {0};
        gv_prng_seed(&r, 11 + (uint64_t)run);
        cluster_make(env, &c, 10000);
        double t = now();
        uint64_t pods = fill(&c, &r, &p, NULL, 1.0, 200);
        use[run] = gpu_use(&c) * 100;
        churn(&c, &r, &p, NULL, pods, 100000);
        per_pod[run] = (now() - t) / 100000 * 1e6;
        cluster_free(&c);
        free(p.gang);
        free(p.pods);
    }
    figure("pod", median(per_pod, RUNS), "us",
           "w3 gangs, 10k nodes, saturation then churn to 100k pods");
    figure("pod_worst_run", per_pod[RUNS - 1], "us", "the same");
    figure("gpu_use", median(use, RUNS), "%", "w3 gangs, 10k nodes, at saturation");
    cluster c;
    gv_prng r;
    placed p = {0};
    gv_prng_seed(&r, 5);
    cluster_make(env, &c, 10000);
    uint64_t pods = fill(&c, &r, &p, &all, 0.95, 200);
    churn_at(&c, &r, &p, &held, 0.95, 20000);
    churn(&c, &r, &p, &full, pods, pods + 60000);
    percentiles(&all, "w3 gangs, 10k nodes, filling to 95 %");
    percentiles(&held, "w3 gangs, 10k nodes, coming and going at 95 %");
    percentiles(&full, "w3 gangs, 10k nodes, churn from 95 % to saturation");
    cluster_free(&c);
    free(p.gang);
    free(p.pods);
    free(all.v);
    free(held.v);
    free(full.v);
}

/* How much of the room that is left no gang of this kind could use: GPUs on nodes without 64 GiB. */
static double stranded(const cluster *c) {
    int64_t gpus = 0;
    for (uint32_t i = 0; i < grove_sched_node_limit(c->s); i++) {
        const int64_t *room = grove_sched_node_free(c->s, i);
        gpus += room[3] < 65536 ? room[1] : 0;
    }
    return (double)gpus / (8.0 * grove_sched_node_limit(c->s));
}

static void bench_large(grove_env *env, uint32_t nodes, int rich, const char *setting) {
    double took[RUNS], use[RUNS], lost[RUNS];
    for (int run = 0; run < RUNS; run++) {
        cluster c;
        gv_prng r;
        placed p = {0};
        gv_prng_seed(&r, 3 + (uint64_t)run);
        cluster_make_of(env, &c, nodes, rich);
        double t = now();
        fill(&c, &r, &p, NULL, 1.0, 200);
        took[run] = now() - t;
        use[run] = gpu_use(&c) * 100;
        lost[run] = stranded(&c) * 100;
        cluster_free(&c);
        free(p.gang);
        free(p.pods);
    }
    figure("fill", median(took, RUNS), "s", setting);
    figure("fill_use", median(use, RUNS), "%", setting);
    figure("fill_stranded", median(lost, RUNS), "%", setting);
}

static void bench_proof(grove_env *env) {
    cluster c;
    gv_prng r;
    placed p = {0};
    uint32_t id;
    gv_prng_seed(&r, 9);
    cluster_make(env, &c, 10000);
    fill(&c, &r, &p, NULL, 1.0, 200);
    series first = {0}, again = {0};
    for (int i = 0; i < 200; i++) {
        must(grove_gang_begin(c.g, c.topo, "big"));
        uint32_t n = 8 + (uint32_t)gv_prng_below(&r, 60);
        must(grove_gang_podgroup(c.g, "w", c.worker[i % 7], n, n, GROVE_LEVEL_NONE,
                                 GROVE_LEVEL_NONE, &id));
        must(grove_gang_pack(c.g, i % 2 ? 2 : 1, GROVE_LEVEL_NONE));
        double t = now();
        must(grove_sched_place(c.s, c.g, NULL, c.d, NULL));
        double took = net(now() - t);
        if (grove_decision_verdict(c.d) == GROVE_INFEASIBLE) {
            add(&first, took);
            t = now();
            must(grove_sched_place(c.s, c.g, NULL, c.d, NULL));
            add(&again, net(now() - t));
        }
    }
    figure("proof_p50", median(first.v, (int)first.n) * 1e6, "us",
           "infeasible gangs, 10k nodes, full");
    figure("proof_max", first.v[first.n - 1] * 1e6, "us", "infeasible gangs, 10k nodes, full");
    figure("proof_again_p50", median(again.v, (int)again.n) * 1e6, "us", "the same question again");
    cluster_free(&c);
    free(p.gang);
    free(p.pods);
    free(first.v);
    free(again.v);
}

static void bench_load(grove_env *env) {
    double took[RUNS];
    long rss = 0;
    for (int run = 0; run < RUNS; run++) {
        cluster c;
        uint32_t id;
        double t = now();
        cluster_make(env, &c, 100000);
        for (uint32_t i = 0; i < 1000000; i++) {
            grove_sched_pod pod = {
                .size = (uint32_t)sizeof pod, .node = i % 100000, .class_id = c.worker[6]};
            must(grove_sched_pod_add(c.s, &pod, &id, NULL));
        }
        (void)grove_sched_domain_count(c.s, c.topo, 0);
        took[run] = now() - t;
        struct rusage u;
        getrusage(RUSAGE_SELF, &u);
        rss = run == 0 ? u.ru_maxrss : rss;
        cluster_free(&c);
    }
    figure("load", median(took, RUNS) * 1e3, "ms", "100k nodes, 1M pods, names made on the way");
    figure("load_rss", (double)rss / 1024, "MiB", "peak of the process after the first load");
}

static void bench_events(grove_env *env) {
    cluster c;
    gv_prng r;
    placed p = {0};
    uint64_t pods = 0, events = 0;
    double t, unused;
    gv_prng_seed(&r, 21);
    cluster_make(env, &c, 10000);
    pods = fill(&c, &r, &p, NULL, 0.9, 200);
    t = now();
    while (events < 200000) {
        uint32_t id = (uint32_t)gv_prng_below(&r, grove_sched_node_limit(c.s));
        uint32_t pod = (uint32_t)gv_prng_below(&r, pods);
        if (events % 4 == 0) {
            (void)one_gang(&c, &r, &p, &unused);
        } else if (events % 4 == 1 && p.n > 0) {
            size_t at = (size_t)gv_prng_below(&r, p.n);
            must(grove_sched_release(c.s, p.gang[at]));
            p.gang[at] = p.gang[--p.n];
        } else {
            grove_sched_pod add_one = {
                .size = (uint32_t)sizeof add_one, .node = id, .class_id = c.worker[6]};
            must(grove_sched_pod_add(c.s, &add_one, &pod, NULL));
            must(grove_sched_pod_remove(c.s, pod));
            events++;
        }
        events++;
    }
    t = now() - t;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sched_verify(c.s, &err) < 0) {
        fprintf(stderr, "bench sched: drift: %s\n", err.message);
        exit(1);
    }
    figure("events", (double)events / t, "events/s",
           "10k nodes at 90 %: gangs come and go, pods come and exit; no drift");
    cluster_free(&c);
    free(p.gang);
    free(p.pods);
}

/* 4,000 one-GPU jobs on 500 nodes give way to 50 gangs of ten whole nodes, each in one rack. */
static void bench_reclaim(grove_env *env) {
    double took[RUNS];
    uint64_t evicted = 0, placed_gangs = 0;
    for (int run = 0; run < RUNS; run++) {
        cluster c;
        uint32_t id, n;
        cluster_make(env, &c, 500);
        for (uint32_t i = 0; i < 4000; i++) {
            grove_sched_pod pod = {
                .size = (uint32_t)sizeof pod, .node = i % 500, .class_id = c.worker[6]};
            must(grove_sched_pod_add(c.s, &pod, &id, NULL));
        }
        uint32_t whole = make_class(&c, 8, 64000, 524288, 1);
        evicted = placed_gangs = 0;
        double t = now();
        for (int g = 0; g < 50; g++) {
            must(grove_gang_begin(c.g, c.topo, "taker"));
            must(grove_gang_podgroup(c.g, "w", whole, 10, 10, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE,
                                     &id));
            must(grove_gang_pack(c.g, 2, GROVE_LEVEL_NONE));
            must(grove_gang_priority(c.g, 100));
            must(grove_sched_preempt(c.s, c.g, NULL, c.d, NULL));
            if (grove_decision_verdict(c.d) != GROVE_PLACED) {
                continue;
            }
            const grove_victim *v = grove_decision_victims(c.d, &n);
            for (uint32_t i = 0; i < n; i++) {
                must(grove_sched_pod_remove(c.s, v[i].pod));
            }
            must(grove_sched_commit(c.s, c.g, c.d, &id, NULL));
            evicted += n;
            placed_gangs++;
        }
        took[run] = now() - t;
        cluster_free(&c);
    }
    figure("reclaim", median(took, RUNS) * 1e3, "ms",
           "4,000 one-GPU jobs on 500 nodes give way to 50 gangs");
    figure("reclaim_evicted", (double)evicted, "pods", "the same; 80 a gang is the least");
    figure("reclaim_placed", (double)placed_gangs, "gangs", "the same");
}

/* ---- the peers' workloads ---- */

static double singles(grove_env *env, uint32_t nodes, uint32_t gangs, grove_level required,
                      grove_level preferred, uint32_t *out_placed, int64_t *out_hosts) {
    cluster c;
    gv_prng r;
    uint32_t id;
    gv_prng_seed(&r, 2);
    cluster_make(env, &c, nodes);
    (void)grove_sched_domain_count(c.s, c.topo, 0);
    *out_placed = 0;
    *out_hosts = 0;
    double t = now();
    for (uint32_t i = 0; i < gangs; i++) {
        uint32_t n = 10 + (uint32_t)gv_prng_below(&r, 91);
        must(grove_gang_begin(c.g, c.topo, "g"));
        must(grove_gang_podgroup(c.g, "w", c.worker[6], n, n, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE,
                                 &id));
        must(grove_gang_pack(c.g, required, preferred));
        must(grove_sched_place(c.s, c.g, NULL, c.d, NULL));
        if (grove_decision_verdict(c.d) == GROVE_PLACED) {
            grove_cost cost = {.size = (uint32_t)sizeof cost};
            must(grove_decision_cost(c.d, &cost));
            must(grove_sched_commit(c.s, c.g, c.d, &id, NULL));
            ++*out_placed;
            *out_hosts += cost.hosts;
        }
    }
    t = now() - t;
    cluster_free(&c);
    return t;
}

/*
 * Seconds of KAI (d5bc503, one allocate cycle) and Kueue TAS (ff69552) on the workloads that these are
 * shaped after, measured once on a machine of two cores: the low end, CPU time where it was taken. What
 * each time holds differs (per-pod filters and records, leaf counts), so this is an order of magnitude.
 */
static void beside(double kai, double kueue, double ours, const char *setting) {
    figure("times_kai", kai / ours, "x", setting);
    if (kueue > 0) {
        figure("times_kueue", kueue / ours, "x", setting);
    }
}

static void bench_peers(grove_env *env) {
    static const struct {
        const char *setting;
        uint32_t nodes, gangs;
        grove_level required, preferred;
        double kai, kueue;
    } rows[] = {
        {"w2-shaped: required rack, 1,000 gangs, 10k nodes", 10000, 1000, 2, GROVE_LEVEL_NONE, 98,
         19.1},
        {"w2-shaped: preferred block, 1,000 gangs, 10k nodes", 10000, 1000, GROVE_LEVEL_NONE, 1,
         128, 18.7},
        {"w2-shaped: required rack, 130 gangs, 1k nodes", 1000, 130, 2, GROVE_LEVEL_NONE, 2.04,
         0.067},
        {"w2-shaped: preferred block, 130 gangs, 1k nodes", 1000, 130, GROVE_LEVEL_NONE, 1, 4.4,
         0.079},
        {"w2-shaped: required rack, 1,000 gangs, 1k nodes (saturates)", 1000, 1000, 2,
         GROVE_LEVEL_NONE, 6.9, 0.82},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double t[RUNS];
        uint32_t n;
        int64_t hosts;
        for (int run = 0; run < RUNS; run++) {
            t[run] = singles(env, rows[i].nodes, rows[i].gangs, rows[i].required, rows[i].preferred,
                             &n, &hosts);
        }
        figure("workload", median(t, RUNS) * 1e3, "ms", rows[i].setting);
        figure("workload_placed", n, "gangs", rows[i].setting);
        beside(rows[i].kai, rows[i].kueue, t[RUNS / 2], rows[i].setting);
    }
    for (uint32_t nodes = 1000; nodes <= 10000; nodes *= 10) {
        double t[RUNS];
        uint32_t gangs = nodes == 1000 ? 300 : 1000;
        for (int run = 0; run < RUNS; run++) {
            cluster c;
            gv_prng r;
            placed p = {0};
            double unused;
            gv_prng_seed(&r, 4);
            cluster_make(env, &c, nodes);
            (void)grove_sched_domain_count(c.s, c.topo, 0);
            t[run] = now();
            for (uint32_t i = 0; i < gangs; i++) {
                (void)one_gang(&c, &r, &p, &unused);
            }
            t[run] = now() - t[run];
            cluster_free(&c);
            free(p.gang);
            free(p.pods);
        }
        const char *setting = nodes == 1000 ? "w3-shaped: two-level, 300 gangs, 1k nodes"
                                            : "w3-shaped: two-level, 1,000 gangs, 10k nodes";
        double middle = median(t, RUNS);
        figure("workload", middle * 1e3, "ms", setting);
        beside(nodes == 1000 ? 2.42 : 82.6, 0, middle, setting); /* Kueue cannot express it */
    }
}

static void bench_larges(grove_env *env) {
    bench_large(env, 100000, 0, "w3 gangs, 100k nodes of 1 and 2 TiB");
    bench_large(env, 100000, 1, "w3 gangs, 100k nodes of 2 TiB");
}

/* bench_sched ROOT [PART]: one part alone, for a profiler. */
int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(grove_env *env);
    } parts[] = {{"load", bench_load},   {"fill", bench_fill_and_churn}, {"large", bench_larges},
                 {"proof", bench_proof}, {"events", bench_events},       {"reclaim", bench_reclaim},
                 {"peers", bench_peers}};
    grove_env *env = NULL;
    must(grove_env_new(NULL, &env));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (argc < 3 || strcmp(argv[2], parts[i].name) == 0) {
            parts[i].run(env);
        }
    }
    grove_env_unref(env);
    return 0;
}
