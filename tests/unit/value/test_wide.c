/* SPDX-License-Identifier: Apache-2.0 */
/* The two-word arithmetic with words of 8 bits, every operand tried: the same source as with 64 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GV_WIDE_WORD uint8_t
#define GV_WIDE_BITS 8
#include "value/wide.h"

static gv_wide wide(unsigned v) {
    return (gv_wide){(uint8_t)(v >> 8), (uint8_t)v};
}

static unsigned value(gv_wide w) {
    return (unsigned)w.hi << 8 | w.lo;
}

/* Loops run millions of times: one assertion at their end. */
static void test_products(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            wrong += value(gv_wide_product((uint8_t)a, (uint8_t)b)) != a * b;
        }
    }
    for (unsigned a = 0; a < 65536; a++) {
        for (unsigned f = 0; f < 256; f++) {
            gv_wide w = wide(a);
            const bool over = gv_wide_mul(&w, (uint8_t)f);
            wrong += over != (a * f > 0xFFFF) || value(w) != ((a * f) & 0xFFFF);
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_quotients(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (unsigned a = 0; a < 65536; a++) {
        for (unsigned d = 1; d < 16; d++) {
            gv_wide w = wide(a);
            const unsigned rest = gv_wide_div(&w, (uint8_t)d);
            wrong += rest != a % d || value(w) != a / d;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Every a against every b of a stride that meets all low and all high words. */
static void test_sums(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (unsigned a = 0; a < 65536; a += 3) {
        for (unsigned b = a % 7; b < 65536; b += 37) {
            gv_wide w = wide(a);
            const bool over = gv_wide_add(&w, wide(b));
            wrong += over != (a + b > 0xFFFF) || value(w) != ((a + b) & 0xFFFF);
            wrong += gv_wide_cmp(wide(a), wide(b)) != (a > b) - (a < b);
            wrong += a >= b && value(gv_wide_sub(wide(a), wide(b))) != a - b;
        }
        wrong += gv_wide_is_zero(wide(a)) != (a == 0);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
