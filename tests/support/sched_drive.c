/* SPDX-License-Identifier: Apache-2.0 */
/* Random cases, and the way from a case to the scheduler and back. */
#include "support/sched_drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void *must(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        abort();
    }
    return p;
}

sd_case *sd_new(int32_t nodes, int32_t podgroups, int32_t groups, int32_t members) {
    sd_case *d = must(1, sizeof *d);
    d->nodes = must((size_t)nodes, sizeof *d->nodes);
    d->podgroups = must((size_t)podgroups, sizeof *d->podgroups);
    d->groups = must((size_t)groups, sizeof *d->groups);
    d->members = must((size_t)members, sizeof *d->members);
    d->cap_members = members;
    d->c = (sc_case){d->nodes, d->podgroups, d->groups, nodes, podgroups, groups, SC_NONE};
    for (int32_t i = 0; i < nodes; i++) {
        for (int l = 0; l < SC_LEVELS; l++) {
            d->nodes[i].domain[l] = SC_NONE;
        }
    }
    for (int32_t i = 0; i < podgroups; i++) {
        d->podgroups[i].required = SC_NONE;
    }
    for (int32_t i = 0; i < groups; i++) {
        d->groups[i].required = SC_NONE;
    }
    return d;
}

void sd_free(sd_case *c) {
    if (c) {
        free(c->nodes);
        free(c->podgroups);
        free(c->groups);
        free(c->members);
        free(c);
    }
}

static int32_t below(gv_prng *r, int32_t n) {
    return n > 0 ? (int32_t)gv_prng_below(r, (uint64_t)n) : 0;
}

static int32_t some_level(gv_prng *r, int32_t from) {
    static const int32_t likely[] = {SC_NONE, SC_NONE, 1, 2, 2, 2, 3};
    int32_t level = likely[below(r, 7)];
    return level == SC_NONE || level >= from ? level : from;
}

static void random_nodes(gv_prng *r, const sd_shape *shape, sd_case *d, int32_t *out_n) {
    int32_t blocks = 1 + below(r, shape->blocks), n = 0, rack_no = 0;
    for (int32_t b = 0; b < blocks; b++) {
        int32_t racks = 1 + below(r, shape->racks);
        for (int32_t k = 0; k < racks; k++, rack_no++) {
            int32_t hosts = 1 + below(r, shape->hosts);
            for (int32_t h = 0; h < hosts; h++) {
                sc_node *node = &d->nodes[n++];
                int64_t gpus = below(r, 100) < 80 ? 8 : 4;
                node->domain[0] = 0;
                node->domain[1] = b;
                node->domain[2] = below(r, 100) < shape->unlabelled ? SC_NONE : rack_no;
                node->free[0] = below(r, 100) < 90 ? 20 : below(r, 4);
                node->free[1] = gpus - (gpus * below(r, shape->filled + 1)) / 100;
                node->free[2] = 64 - (64 * below(r, shape->filled + 1)) / 100;
                node->free[3] = (below(r, 2) ? 512 : 256) - 4 * below(r, shape->filled / 2 + 1);
                node->closed = below(r, 100) < 4;
            }
        }
    }
    *out_n = n;
}

sd_case *sd_random(gv_prng *r, const sd_shape *shape) {
    int32_t n_groups = below(r, shape->groups + 1), n_pg = 1 + below(r, shape->podgroups);
    int32_t max_nodes = shape->blocks * shape->racks * shape->hosts;
    sd_case *d = sd_new(max_nodes, n_pg, n_groups, n_pg);
    random_nodes(r, shape, d, &d->c.n_nodes);
    d->c.required = below(r, 3) ? some_level(r, 0) : SC_NONE;
    int32_t from = d->c.required == SC_NONE ? 0 : d->c.required;
    for (int32_t p = 0; p < n_pg; p++) {
        sc_podgroup *pg = &d->podgroups[p];
        pg->count = 1 + below(r, shape->pods);
        pg->req[0] = 1;
        pg->req[1] = (int64_t[]){0, 1, 1, 2, 2, 4, 8}[below(r, 7)];
        pg->req[2] = 4 * (1 + below(r, 8));
        pg->req[3] = 16 * (1 + below(r, 14));
        pg->required = below(r, 2) ? SC_NONE : some_level(r, from);
    }
    /* podgroups are dealt to groups in order; some stay outside */
    int32_t at = 0;
    for (int32_t g = 0; g < n_groups; g++) {
        int32_t take = below(r, 3) + 1;
        d->groups[g].podgroups = d->members + at;
        while (take-- > 0 && at < n_pg && at < d->cap_members) {
            d->members[at] = at;
            at++;
            d->groups[g].n++;
        }
        d->groups[g].required = some_level(r, from);
    }
    return d;
}

/* ---- to the scheduler ---- */

static const char *const keys[] = {"zone", "block", "rack"};
static const char *const resources[] = {"gpu", "cpu", "mem"};

static grove_status add_node(sd_run *run, const sc_case *c, int32_t i) {
    const sc_node *node = &c->nodes[i];
    char name[16], values[SC_LEVELS][16];
    grove_sched_label labels[SC_LEVELS];
    uint32_t n = 0;
    snprintf(name, sizeof name, "n%d", i);
    for (int l = 0; l < SC_LEVELS; l++) {
        if (node->domain[l] != SC_NONE) {
            snprintf(values[l], sizeof values[l], "d%d", node->domain[l]);
            labels[n++] = (grove_sched_label){keys[l], values[l]};
        }
    }
    grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                             .name = name,
                             .labels = labels,
                             .n_labels = n,
                             .capacity = node->free,
                             .n_capacity = SC_RESOURCES,
                             .flags = node->closed ? GROVE_NODE_DOWN : 0};
    return grove_sched_node_add(run->s, &spec, &run->node_ids[i], NULL);
}

grove_status sd_start(grove_env *env, const sc_case *c, const int32_t *order, sd_run *out) {
    sd_run run = {0};
    uint32_t id;
    run.node_ids = must((size_t)c->n_nodes, sizeof *run.node_ids);
    grove_status st = grove_sched_new(env, NULL, &run.s, NULL);
    for (int r = 0; st == GROVE_OK && r < SC_RESOURCES - 1; r++) {
        st = grove_sched_resource(run.s, resources[r], &id);
    }
    st = st < 0 ? st : grove_sched_topology(run.s, "t", keys, SC_LEVELS, &run.topology, NULL);
    for (int32_t i = 0; st == GROVE_OK && i < c->n_nodes; i++) {
        st = add_node(&run, c, order ? order[i] : i);
    }
    st = st < 0 ? st : grove_gang_new(run.s, &run.g);
    st = st < 0 ? st : grove_decision_new(run.s, &run.d);
    if (st < 0) {
        sd_end(&run);
        return st;
    }
    *out = run;
    return GROVE_OK;
}

void sd_end(sd_run *run) {
    grove_gang_free(run->g);
    grove_decision_free(run->d);
    grove_sched_free(run->s);
    free(run->node_ids);
    memset(run, 0, sizeof *run);
}

/* Position at which a podgroup was described. */
static uint32_t described_at(const sc_case *c, const int32_t *order, int32_t podgroup) {
    for (int32_t i = 0; order && i < c->n_podgroups; i++) {
        if (order[i] == podgroup) {
            return (uint32_t)i;
        }
    }
    return (uint32_t)podgroup;
}

grove_status sd_describe(sd_run *run, const sc_case *c, const int32_t *order) {
    grove_status st = grove_gang_begin(run->g, run->topology, "gang");
    uint32_t id, members[256];
    for (int32_t i = 0; st == GROVE_OK && i < c->n_podgroups; i++) {
        const sc_podgroup *p = &c->podgroups[order ? order[i] : i];
        grove_sched_class_spec spec = {
            .size = (uint32_t)sizeof spec, .requests = p->req, .n_requests = SC_RESOURCES};
        uint32_t cls;
        st = grove_sched_class(run->s, &spec, &cls, NULL);
        st = st < 0 ? st
                    : grove_gang_podgroup(run->g, "p", cls, (uint32_t)p->count, (uint32_t)p->count,
                                          p->required, GROVE_LEVEL_NONE, &id);
    }
    for (int32_t g = 0; st == GROVE_OK && g < c->n_groups; g++) {
        for (int32_t i = 0; i < c->groups[g].n; i++) {
            members[i] = described_at(c, order, c->groups[g].podgroups[i]);
        }
        st = grove_gang_group(run->g, "g", members, (uint32_t)c->groups[g].n, c->groups[g].required,
                              GROVE_LEVEL_NONE, &id);
    }
    return st < 0 ? st : grove_gang_pack(run->g, c->required, GROVE_LEVEL_NONE);
}

grove_status sd_place(sd_run *run, uint32_t flags, uint64_t steps) {
    grove_place_options o = {.size = (uint32_t)sizeof o, .flags = flags, .steps = steps};
    return grove_sched_place(run->s, run->g, &o, run->d, NULL);
}

/* ---- one number for many decisions ---- */

/* Not a test's assertion: several threads come here. */
static void need(grove_status st) {
    if (st != GROVE_OK) {
        fprintf(stderr, "a legal case is refused: %s\n", grove_status_name(st));
        abort();
    }
}

/* Numbers by their bytes from the lowest up, so that machines of either byte order keep one log. */
uint64_t sd_log_number(uint64_t h, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(value >> (8 * i));
        h = gv_fnv1a(h, &byte, 1);
    }
    return h;
}

/* A struct or an array: so many numbers of 32 bits, then so many of 64. */
static uint64_t log_fields(uint64_t h, const void *fields, size_t n_words, size_t n_longs) {
    const char *at = fields;
    for (size_t i = 0; i < n_words; i++, at += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        h = sd_log_number(h, word, sizeof word);
    }
    for (size_t i = 0; i < n_longs; i++, at += sizeof(uint64_t)) {
        uint64_t number;
        memcpy(&number, at, sizeof number);
        h = sd_log_number(h, number, sizeof number);
    }
    return h;
}

uint64_t sd_decision_log(grove_env *e, uint64_t seed) {
    gv_prng r;
    uint64_t h = GV_FNV_START;
    gv_prng_seed(&r, seed);
    sd_shape shape = {2, 4, 5, 3, 5, 4, 20, 4};
    sd_case *d = sd_random(&r, &shape);
    sd_run run;
    need(sd_start(e, &d->c, NULL, &run));
    for (int step = 0; step < 12; step++) {
        sd_case *other = sd_random(&r, &shape);
        uint32_t gang, n;
        need(sd_describe(&run, &other->c, NULL));
        need(sd_place(&run, 0, 20000));
        grove_verdict v = grove_decision_verdict(run.d);
        uint64_t steps = grove_decision_steps(run.d);
        grove_certificate cert = {.size = offsetof(grove_certificate, queue)};
        grove_cost cost = {.size = (uint32_t)sizeof cost};
        need(grove_decision_certificate(run.d, &cert));
        h = sd_log_number(sd_log_number(h, (uint32_t)v, sizeof v), steps, sizeof steps);
        h = log_fields(h, &cert, 10, 2);
        for (uint32_t p = 0; v == GROVE_PLACED && p < (uint32_t)other->c.n_podgroups; p++) {
            const uint32_t *nodes = grove_decision_nodes(run.d, p, &n);
            h = log_fields(h, nodes, n, 0);
        }
        if (v == GROVE_PLACED) {
            need(grove_decision_cost(run.d, &cost));
            h = log_fields(h, &cost, 2, 8);
            need(grove_sched_commit(run.s, run.g, run.d, &gang, NULL));
        }
        sd_free(other);
    }
    h ^= grove_sched_hash(run.s);
    sd_end(&run);
    sd_free(d);
    return h;
}

/* ---- judging ---- */

static const char *judge_placement(const sd_run *run, const sc_case *c, const int32_t *order) {
    uint32_t **nodes = must((size_t)c->n_podgroups, sizeof *nodes);
    const char *wrong = NULL;
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        uint32_t n;
        const uint32_t *ids = grove_decision_nodes(run->d, described_at(c, order, p), &n);
        nodes[p] = must(n, sizeof **nodes);
        wrong = n == (uint32_t)c->podgroups[p].count ? wrong : "a podgroup lacks pods";
        for (uint32_t k = 0; k < n; k++) {
            nodes[p][k] = UINT32_MAX;
            for (int32_t i = 0; i < c->n_nodes; i++) {
                nodes[p][k] = run->node_ids[i] == ids[k] ? (uint32_t)i : nodes[p][k];
            }
        }
    }
    if (!wrong) {
        wrong = sc_check_placement(c, (const uint32_t *const *)nodes);
    }
    for (int32_t p = 0; p < c->n_podgroups; p++) {
        free(nodes[p]);
    }
    free(nodes);
    return wrong;
}

const char *sd_judge(const sd_run *run, const sc_case *c, const int32_t *order, int *out_proof) {
    *out_proof = 0;
    if (grove_decision_verdict(run->d) == GROVE_PLACED) {
        return judge_placement(run, c, order);
    }
    if (grove_decision_verdict(run->d) != GROVE_INFEASIBLE) {
        return NULL;
    }
    grove_certificate cert = {.size = (uint32_t)sizeof cert};
    if (grove_decision_certificate(run->d, &cert) < 0) {
        return "no certificate";
    }
    switch (cert.reason) {
    case GROVE_REASON_NO_NODE:
        *out_proof = sc_prove_no_node(c);
        return *out_proof ? NULL : "a node is large enough, the certificate says none is";
    case GROVE_REASON_RESOURCE:
    case GROVE_REASON_COUNT:
    case GROVE_REASON_CAPABILITY:
        *out_proof = sc_prove_by_bounds(c, cert.level);
        return *out_proof ? NULL : "the bounds of the certificate hold somewhere";
    case GROVE_REASON_JOINT:
        return NULL; /* for the brute force or an oracle to say */
    default:
        return "an unexpected reason";
    }
}
