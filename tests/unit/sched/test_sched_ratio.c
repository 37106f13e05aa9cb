/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios are compared exactly, whatever their size; nothing over nothing is zero, something over nothing the most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/queue.h"

#define M INT64_MAX

static void test_ratios(void **state) {
    (void)state;
    static const struct {
        int64_t a, b, c, d;
        int order;
    } rows[] = {
        {1, 2, 1, 3, 1},
        {2, 4, 1, 2, 0},
        {M - 1, M, M - 2, M - 1, 1}, /* by one part in 2^126 */
        {M, 1, 1, M, 1},
        {M, M, 1, 1, 0},
        {M, 2, M - 1, 2, 1},
        {1, 0, 5, 1, 1},
        {1, 0, M, 1, 1},
        {1, 0, 2, 0, 0},
        {1, 5, 0, 0, 1},
        {0, 7, 0, 0, 0},
        {0, 0, 0, 0, 0},
        {1 + (M >> 1), 3, 1, 1, 1},
        {3, M, 2, M, 1},
        {M, 3, M, 4, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int there = gv_ratio_cmp(rows[i].a, rows[i].b, rows[i].c, rows[i].d);
        int back = gv_ratio_cmp(rows[i].c, rows[i].d, rows[i].a, rows[i].b);
        assert_int_equal(there > 0 ? 1 : there < 0 ? -1 : 0, rows[i].order);
        assert_int_equal(back > 0 ? 1 : back < 0 ? -1 : 0, -rows[i].order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ratios)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
