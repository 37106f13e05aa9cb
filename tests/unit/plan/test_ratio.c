/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratios of replicas: every pair of numbers up to 12 x 12 under every mode and several ranges, and two
 * autoscalers that pull at both ends: they come to rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/ratio.h"

#define MOST 12

static const gv_ratio ranges[] = {
    {.min = 1000, .max = 1500}, {.min = 667, .max = 1000}, {.min = 2000, .max = 2000},
    {.min = 0, .max = 1000},    {.min = 500, .max = 0},    {.min = 333, .max = 334},
};
static const gv_ratio_mode modes[] = {GV_RATIO_FOLLOW, GV_RATIO_CLAMP, GV_RATIO_WARN};

static gv_ratio_side side(int64_t asked) {
    return (gv_ratio_side){.asked = asked, .least = 1, .most = 64};
}

/* A bound is rounded to thousandths: less than one of them does not count. */
static bool is_within(const gv_ratio *r, int64_t n, int64_t d) {
    return n * 1000 > (r->min - 1) * d && (r->max == 0 || n * 1000 < (r->max + 1) * d);
}

static void check_pair(const gv_ratio *r, int64_t n, int64_t d) {
    gv_ratio_result out = gv_ratio_apply(r, side(n), side(d));
    gv_ratio_result again = gv_ratio_apply(r, side(out.numerator), side(out.denominator));
    int64_t asked_n = n < 1 ? 1 : n, asked_d = d < 1 ? 1 : d;
    bool within = is_within(r, asked_n, asked_d);
    assert_int_equal(out.broken, !within);
    assert_true(out.numerator >= 1 && out.denominator >= 1);
    if (within || r->mode == GV_RATIO_WARN) {
        assert_true(out.numerator == asked_n && out.denominator == asked_d);
    }
    if (r->mode == GV_RATIO_FOLLOW) {
        assert_int_equal(out.denominator, asked_d); /* who leads is never moved */
        bool possible = false;
        for (int64_t k = 1; k <= 64; k++) {
            possible = possible || is_within(r, k, asked_d);
        }
        assert_int_equal(out.kept, possible);
    } else if (r->mode == GV_RATIO_CLAMP) {
        assert_true(out.numerator <= asked_n && out.denominator <= asked_d);
        assert_true(out.numerator == asked_n || out.denominator == asked_d);
    }
    /* At rest: what is planned for what is planned is the same, where the ratio can be kept. */
    if (out.kept) {
        assert_true(again.numerator == out.numerator && again.denominator == out.denominator);
        assert_false(again.broken);
    }
}

static void test_all_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            gv_ratio r = ranges[i];
            r.mode = modes[m];
            for (int64_t n = 0; n <= MOST; n++) {
                for (int64_t d = 0; d <= MOST; d++) {
                    check_pair(&r, n, d);
                }
            }
        }
    }
}

/* An autoscaler that has so much load: it wants that many replicas, or one more than it sees while it is short. */
static int64_t pull(int64_t load, int64_t planned, int64_t asked, bool steps) {
    if (!steps) {
        return load;
    }
    return planned < load   ? planned + 1
           : planned > load ? asked - 1 < load ? load : asked - 1
                            : asked;
}

static void come_to_rest(const gv_ratio *r, int64_t load_n, int64_t load_d, bool steps) {
    int64_t n = 1, d = 1, calm = 0;
    for (int round = 0; round < 200 && calm < 3; round++) {
        gv_ratio_result now = gv_ratio_apply(r, side(n), side(d));
        int64_t next_n = pull(load_n, now.numerator, n, steps);
        int64_t next_d = pull(load_d, now.denominator, d, steps);
        calm = next_n == n && next_d == d ? calm + 1 : 0;
        n = next_n;
        d = next_d;
    }
    assert_int_equal(calm, 3);
}

static void test_two_autoscalers_come_to_rest(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            gv_ratio r = ranges[i];
            r.mode = modes[m];
            for (int64_t n = 1; n <= MOST; n++) {
                for (int64_t d = 1; d <= MOST; d++) {
                    come_to_rest(&r, n, d, false);
                    come_to_rest(&r, n, d, true);
                }
            }
        }
    }
}

static void test_prefill_plus_three_brings_decode_plus_two(void **state) {
    gv_ratio r = {.min = 667, .max = 1000, .mode = GV_RATIO_FOLLOW}; /* decode to prefill */
    (void)state;
    assert_int_equal(gv_ratio_apply(&r, side(2), side(3)).numerator, 2);
    assert_int_equal(gv_ratio_apply(&r, side(2), side(6)).numerator, 4);
    r.mode = GV_RATIO_CLAMP;
    assert_int_equal(gv_ratio_apply(&r, side(2), side(6)).denominator, 3);
}

static void test_bounds_win(void **state) {
    gv_ratio r = {.min = 1000, .max = 1000, .mode = GV_RATIO_FOLLOW};
    gv_ratio_side n = {.asked = 2, .least = 2, .most = 4};
    (void)state;
    gv_ratio_result out = gv_ratio_apply(&r, n, side(9));
    assert_int_equal(out.numerator, 4);
    assert_false(out.kept);
    out = gv_ratio_apply(&r, n, side(1));
    assert_int_equal(out.numerator, 2);
    assert_false(out.kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_two_autoscalers_come_to_rest),
        cmocka_unit_test(test_prefill_plus_three_brings_decode_plus_two),
        cmocka_unit_test(test_bounds_win)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
