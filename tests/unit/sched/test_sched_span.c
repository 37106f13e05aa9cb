/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing spans less than what was found: every smaller choice of racks, and of hosts on as many racks, is tried
 * by brute force. Order of nodes and podgroups changes neither number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sched_drive.h"

#define RACK (SC_LEVELS - 1)
#define HOSTS 12

typedef struct span {
    int64_t racks, hosts;
} span;

/* The case on the hosts of a set alone: 1 feasible, 0 not, -1 too much to tell. */
static int fits_on(const sc_case *c, uint32_t hosts) {
    sc_node nodes[HOSTS];
    sc_case some = *c;
    memcpy(nodes, c->nodes, (size_t)c->n_nodes * sizeof *nodes);
    for (int32_t i = 0; i < c->n_nodes; i++) {
        nodes[i].closed = nodes[i].closed || !(hosts >> i & 1);
    }
    some.nodes = nodes;
    return sc_feasible(&some, 200000);
}

static span span_of(const sc_case *c, uint32_t hosts) {
    span s = {0, 0};
    for (int32_t i = 0; i < c->n_nodes; i++) {
        int fresh = 1;
        for (int32_t k = 0; k < i; k++) {
            fresh = fresh &&
                    !((hosts >> k & 1) && c->nodes[k].domain[RACK] == c->nodes[i].domain[RACK]);
        }
        s.hosts += hosts >> i & 1;
        s.racks += (hosts >> i & 1) && fresh;
    }
    return s;
}

/* Whether some set of hosts does with less than `found`; *open counts those that the brute force left open. */
static int less_would_do(const sc_case *c, span found, uint32_t *open) {
    for (uint32_t hosts = 1; hosts < UINT32_C(1) << c->n_nodes; hosts++) {
        span s = span_of(c, hosts);
        if (s.racks > found.racks || (s.racks == found.racks && s.hosts >= found.hosts)) {
            continue;
        }
        int fits = fits_on(c, hosts);
        *open += fits < 0;
        if (fits > 0) {
            return 1;
        }
    }
    return 0;
}

static grove_verdict place(grove_env *env, const sc_case *c, const int32_t *nodes,
                           const int32_t *podgroups, span *out) {
    sd_run run;
    assert_int_equal(sd_start(env, c, nodes, &run), GROVE_OK);
    assert_int_equal(sd_describe(&run, c, podgroups), GROVE_OK);
    assert_int_equal(sd_place(&run, 0, 0), GROVE_OK);
    int proof;
    assert_null(sd_judge(&run, c, podgroups, &proof));
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    grove_decision_cost(run.d, &cost);
    *out = (span){cost.span, cost.hosts};
    grove_verdict v = grove_decision_verdict(run.d);
    sd_end(&run);
    return v;
}

static void reversed(int32_t n, int32_t *out) {
    for (int32_t i = 0; i < n; i++) {
        out[i] = n - 1 - i;
    }
}

static void test_least_span(void **state) {
    (void)state;
    static const sd_shape shape = {2, 3, 2, 3, 5, 3, 45, 0};
    grove_env *env = NULL;
    uint32_t placed = 0, wide = 0, open = 0;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        gv_prng r;
        span found, again;
        int32_t nodes[HOSTS], podgroups[8];
        gv_prng_seed(&r, 4100 + seed);
        sd_case *d = sd_random(&r, &shape);
        assert_true(d->c.n_nodes <= HOSTS && d->c.n_podgroups <= 8);
        reversed(d->c.n_nodes, nodes);
        reversed(d->c.n_podgroups, podgroups);
        if (place(env, &d->c, NULL, NULL, &found) == GROVE_PLACED) {
            placed++;
            wide += found.racks > 1;
            if (less_would_do(&d->c, found, &open)) {
                fail_msg("seed %llu: on %lld racks and %lld hosts, fewer would do",
                         (unsigned long long)seed, (long long)found.racks, (long long)found.hosts);
            }
            assert_int_equal(place(env, &d->c, nodes, podgroups, &again), GROVE_PLACED);
            assert_int_equal(again.racks, found.racks);
            assert_int_equal(again.hosts, found.hosts);
        }
        sd_free(d);
    }
    print_message("%u placed, %u of them on several racks; %u sets left open\n", placed, wide,
                  open);
    assert_true(placed > 400 && wide > 100);
    assert_int_equal(open, 0);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least_span)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
