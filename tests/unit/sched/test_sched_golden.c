/* SPDX-License-Identifier: Apache-2.0 */
/* Labelled instances of fifteen families (tests/golden/sched): every verdict must be the oracle's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/doc.h>

#include "support/files.h"
#include "support/sched_drive.h"

static int32_t number(const grove_node *row, uint32_t i) {
    int64_t x = 0;
    assert_int_equal(grove_node_int64(grove_node_at(row, i), &x), GROVE_OK);
    return (int32_t)x;
}

static sd_case *read_case(const grove_node *line) {
    const grove_node *nodes = grove_node_at(line, 3), *pgs = grove_node_at(line, 4);
    const grove_node *groups = grove_node_at(line, 5);
    int32_t n_pg = (int32_t)grove_node_size(pgs), at = 0, i = 0;
    sd_case *d = sd_new((int32_t)grove_node_size(nodes), n_pg, (int32_t)grove_node_size(groups),
                        2 * n_pg + 1);
    d->c.required = number(line, 2);
    for (const grove_node *n = grove_node_first(nodes); n; n = grove_node_next(nodes, n), i++) {
        for (uint32_t l = 0; l < SC_LEVELS; l++) {
            d->nodes[i].domain[l] = number(n, l);
        }
        for (uint32_t r = 0; r < SC_RESOURCES; r++) {
            d->nodes[i].free[r] = number(n, SC_LEVELS + r);
        }
    }
    i = 0;
    for (const grove_node *p = grove_node_first(pgs); p; p = grove_node_next(pgs, p), i++) {
        d->podgroups[i] = (sc_podgroup){
            number(p, 0), {1, number(p, 1), number(p, 2), number(p, 3)}, number(p, 4)};
    }
    i = 0;
    for (const grove_node *g = grove_node_first(groups); g; g = grove_node_next(groups, g), i++) {
        const grove_node *members = grove_node_at(g, 0);
        d->groups[i].podgroups = d->members + at;
        d->groups[i].required = number(g, 1);
        for (uint32_t k = 0; k < grove_node_size(members); k++) {
            assert_true(at < d->cap_members);
            d->members[at++] = number(members, k);
            d->groups[i].n++;
        }
    }
    return d;
}

typedef struct tally {
    uint32_t placed, refused, proved, unknown;
} tally;

static void judge_line(grove_env *env, const grove_node *line, tally *t) {
    sd_case *d = read_case(line);
    const char *id = grove_node_text(grove_node_at(line, 0));
    int truth = number(line, 1), proof;
    sd_run run;
    assert_int_equal(sd_start(env, &d->c, NULL, &run), GROVE_OK);
    assert_int_equal(sd_describe(&run, &d->c, NULL), GROVE_OK);
    assert_int_equal(sd_place(&run, 0, 200000), GROVE_OK);
    const char *wrong = sd_judge(&run, &d->c, NULL, &proof);
    grove_verdict v = grove_decision_verdict(run.d);
    if (wrong) {
        fail_msg("%s: %s", id, wrong);
    }
    if (v != GROVE_UNKNOWN && v != (truth ? GROVE_PLACED : GROVE_INFEASIBLE)) {
        fail_msg("%s: verdict %d, oracle %d", id, v, truth);
    }
    t->placed += v == GROVE_PLACED;
    t->refused += v == GROVE_INFEASIBLE;
    t->unknown += v == GROVE_UNKNOWN;
    t->proved += proof != 0;
    sd_end(&run);
    sd_free(d);
}

static void test_labelled(void **state) {
    (void)state;
    size_t len;
    char *text = test_read("tests/golden/sched/labelled.jsonl", &len);
    grove_env *env = NULL;
    tally t = {0};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        grove_doc *doc = NULL;
        assert_int_equal(grove_doc_parse_json(env, line, n, 0, &doc, NULL), GROVE_OK);
        judge_line(env, grove_doc_root(doc), &t);
        grove_doc_unref(doc);
        line += n + (line[n] == '\n');
    }
    print_message("labelled: %u placed, %u infeasible (%u proved by plain bounds), %u unknown\n",
                  t.placed, t.refused, t.proved, t.unknown);
    assert_true(t.placed + t.refused + t.unknown >= 500);
    assert_true(t.unknown <= 2);
    free(text);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_labelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
