/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities: the canonical text reads back equal and is its own canonical text; and the value agrees with
 * a slow reference that calculates on strings of decimal digits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "value/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLACES 400  /* digits of the reference */
#define POINT 200   /* digits before the decimal point; index 0 is the highest */
#define TEXT_MAX 64 /* longer texts are not compared */
#define EXPONENT_MAX 60

static void expect(bool law) {
    if (!law) {
        abort();
    }
}

typedef struct digits {
    unsigned char d[PLACES];
} digits;

static void twice(digits *x) {
    unsigned carry = 0;
    for (size_t i = PLACES; i-- > 0;) {
        carry += 2u * x->d[i];
        x->d[i] = (unsigned char)(carry % 10);
        carry /= 10;
    }
}

static void plus_one_at(digits *x, size_t place) {
    for (size_t i = place + 1; i-- > 0;) {
        if (++x->d[i] < 10) {
            return;
        }
        x->d[i] = 0;
    }
}

/* Moves the decimal point by n places to the right (left when negative). */
static digits moved(const digits *x, int n) {
    digits y = {{0}};
    for (int i = 0; i < PLACES; i++) {
        if (i + n >= 0 && i + n < PLACES) {
            y.d[i] = x->d[i + n];
        }
    }
    return y;
}

/* Digits of the text around the point; returns where the suffix begins. */
static const char *read_digits(const char *at, digits *x) {
    const char *end = at + strspn(at, "0123456789");
    for (const char *p = end; p > at; p--) {
        x->d[POINT - (end - p) - 1] = (unsigned char)(p[-1] - '0');
    }
    if (*end == '.') {
        at = ++end;
        end += strspn(end, "0123456789");
        for (const char *p = at; p < end; p++) {
            x->d[POINT + (p - at)] = (unsigned char)(*p - '0');
        }
    }
    return end;
}

/* Nano-units of a well-formed text, as digits before the point; false: not to be compared. */
static bool reference(const char *text, digits *out) {
    static const char binary[] = "KMGTPE";
    static const char decimal[] = "num kMGTPE";
    digits x = {{0}};
    const char *suffix = read_digits(text + (*text == '-' || *text == '+'), &x);
    int power = 0;
    const bool is_binary = suffix[0] && suffix[1] == 'i';
    if (is_binary) {
        for (const char *p = binary; p <= strchr(binary, suffix[0]); p++) {
            for (int i = 0; i < 10; i++) {
                twice(&x);
            }
        }
    } else if (suffix[0] && suffix[1]) {
        const long exponent = strtol(suffix + 1, NULL, 10);
        if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX) {
            return false;
        }
        power = (int)exponent;
    } else if (suffix[0]) {
        power = (int)(strchr(decimal, suffix[0]) - decimal) * 3 - 9;
    }
    x = moved(&x, power + 9);
    bool rest = false;
    for (size_t i = POINT; i < PLACES; i++) {
        rest |= x.d[i] != 0;
    }
    if (rest) {
        plus_one_at(&x, POINT - 1);
    }
    memset(x.d + POINT, 0, PLACES - POINT);
    digits cap = {{0}};
    read_digits("9223372036854775807000000000", &cap);
    *out = is_binary && memcmp(x.d, cap.d, PLACES) > 0 ? cap : x;
    return true;
}

/* The 128 bits of a quantity as digits, without its sign. */
static digits digits_of(const grove_quantity *q) {
    uint64_t hi = (uint64_t)q->hi;
    uint64_t lo = q->lo;
    if (q->hi < 0) {
        lo = 0 - lo;
        hi = ~hi + (lo == 0);
    }
    digits x = {{0}};
    for (int i = 127; i >= 0; i--) {
        twice(&x);
        if ((i >= 64 ? hi >> (i - 64) : lo >> i) & 1) {
            plus_one_at(&x, POINT - 1);
        }
    }
    return x;
}

static void check_text(grove_env *env, const grove_quantity *q) {
    grove_buf first;
    grove_buf second;
    grove_quantity back;
    grove_buf_init(&first, env);
    grove_buf_init(&second, env);
    expect(grove_quantity_format(q, &first) == GROVE_OK);
    expect(grove_quantity_parse(first.data, (size_t)first.len, &back, NULL) == GROVE_OK);
    expect(grove_quantity_compare(q, &back) == 0);
    expect(grove_quantity_format(&back, &second) == GROVE_OK);
    expect(gv_str_eq(gv_buf_view(&first), gv_buf_view(&second)));
    grove_buf_fini(&first);
    grove_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_quantity q;
    digits expected;
    char text[TEXT_MAX + 1];
    expect(grove_env_new(NULL, &env) == GROVE_OK);
    if (grove_quantity_parse((const char *)data, size, &q, NULL) == GROVE_OK) {
        check_text(env, &q);
        if (size <= TEXT_MAX) {
            memcpy(text, data, size);
            text[size] = '\0';
            if (reference(text, &expected)) {
                const digits got = digits_of(&q);
                expect(memcmp(got.d, expected.d, PLACES) == 0);
                expect((q.hi < 0) == (text[0] == '-' && (q.hi != 0 || q.lo != 0)));
            }
        }
    }
    grove_env_unref(env);
    return 0;
}
