/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an explanation says would help, on small random clusters against brute force: the level it names
 * places the gang, no narrower one does, and where it names none for a constraint none does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sched_drive.h"

#define BRUTE_STEPS 300000

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

typedef struct tally {
    uint32_t refused, named, silent;
} tally;

/* The narrowest level broader than `*at` on which brute force places the gang; -2: none, -3: it gave up. */
static int32_t truth_for(const sc_case *c, int32_t *at) {
    int32_t before = *at, found = -2;
    for (int32_t level = before - 1; level >= SC_NONE && found == -2; level--) {
        *at = level;
        int placed = sc_feasible(c, BRUTE_STEPS);
        found = placed < 0 ? -3 : placed ? level : found;
    }
    *at = before;
    return found;
}

/* The next word between quotes after `key`, copied; what follows it. */
static const char *word_after(const char *text, const char *key, char *out, size_t cap) {
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key);
    size_t n = strcspn(at, "\"");
    assert_true(n < cap);
    memcpy(out, at, n);
    out[n] = '\0';
    return at + n;
}

/* One constraint against the explanation from `text` on; returns where the rest of it begins. */
static const char *check_one(const sd_run *run, const sc_case *c, int32_t *at, const char *kind,
                             const char *text, tally *t) {
    int32_t level = *at == SC_NONE ? -2 : truth_for(c, at);
    assert_int_not_equal(level, -3);
    if (level == -2) {
        t->silent += *at != SC_NONE;
        return text; /* if it were named all the same, the next one would not match */
    }
    char word[64];
    const char *key = level == SC_NONE ? "cluster"
                                       : grove_sched_level_key(run->s, run->topology, level);
    text = word_after(text, "{\"relax\":\"", word, sizeof word);
    assert_string_equal(word, kind);
    text = word_after(text, "\"to\":\"", word, sizeof word);
    assert_string_equal(word, key);
    t->named++;
    return text;
}

static void check_case(sd_case *d, tally *t) {
    sd_run run;
    grove_buf buf;
    grove_buf_init(&buf, env);
    assert_int_equal(sd_start(env, &d->c, NULL, &run), GROVE_OK);
    assert_int_equal(sd_describe(&run, &d->c, NULL), GROVE_OK);
    assert_int_equal(sd_place(&run, 0, 0), GROVE_OK);
    if (grove_decision_verdict(run.d) == GROVE_INFEASIBLE) {
        uint64_t before = grove_sched_hash(run.s);
        assert_int_equal(grove_sched_explain(run.s, run.g, run.d, GROVE_EXPLAIN_JSON, &buf, NULL),
                         GROVE_OK);
        assert_true(grove_sched_hash(run.s) == before);
        const char *text = strstr(buf.data, "\"would_help\":[");
        assert_non_null(text);
        t->refused++;
        text = check_one(&run, &d->c, &d->c.required, "gang", text, t);
        for (int32_t g = 0; g < d->c.n_groups; g++) {
            text = check_one(&run, &d->c, &d->groups[g].required, "group", text, t);
        }
        for (int32_t p = 0; p < d->c.n_podgroups; p++) {
            text = check_one(&run, &d->c, &d->podgroups[p].required, "podgroup", text, t);
        }
        assert_null(strstr(text, "\"relax\""));
    }
    grove_buf_fini(&buf);
    sd_end(&run);
}

static void test_least_relaxing(void **state) {
    (void)state;
    static const sd_shape shape = {2, 2, 2, 2, 3, 2, 60, 8};
    tally t = {0};
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 90000 + seed);
        sd_case *d = sd_random(&r, &shape);
        check_case(d, &t);
        sd_free(d);
    }
    print_message("%u refused: %u levels named, %u constraints of which none would help\n",
                  t.refused, t.named, t.silent);
    assert_true(t.named > 100 && t.silent > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least_relaxing)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
