/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratios between replicas: see ratio.h. Whole numbers only: a bound is in thousandths, and rounded by less than
 * one, so that 667m stands for two thirds with up to a thousand replicas.
 */
#include "plan/ratio.h"

#define WHOLE 1000

static int64_t clamp(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Replicas stay below 2^31 and bounds below 2^31 thousandths, so that no product overflows. */

/* The least and the most whole numerator for a denominator. */
static int64_t lowest(const gv_ratio *r, int64_t denominator) {
    return r->min == 0 ? 0 : (r->min - 1) * denominator / WHOLE + (denominator > 0 ? 1 : 0);
}

static int64_t highest(const gv_ratio *r, int64_t denominator) {
    return r->max == 0        ? INT64_MAX
           : denominator == 0 ? 0
                              : ((r->max + 1) * denominator - 1) / WHOLE;
}

static bool holds(const gv_ratio *r, int64_t numerator, int64_t denominator) {
    return numerator >= lowest(r, denominator) && numerator <= highest(r, denominator);
}

/* The lower end of the range wins where no whole number lies within. */
static int64_t follow(const gv_ratio *r, gv_ratio_side side, int64_t denominator) {
    int64_t low = lowest(r, denominator), high = highest(r, denominator);
    int64_t wanted = clamp(side.asked, low, high < low ? low : high);
    return clamp(wanted, side.least, side.most < side.least ? side.least : side.most);
}

/* The most that the numerator allows of the denominator. */
static int64_t allowed(const gv_ratio *r, int64_t numerator, int64_t asked) {
    int64_t most = numerator * WHOLE / r->min;
    while (most < asked && lowest(r, most + 1) <= numerator) {
        most++; /* what the rounding grants */
    }
    return most;
}

gv_ratio_result gv_ratio_apply(const gv_ratio *r, gv_ratio_side n, gv_ratio_side d) {
    gv_ratio_result out = {.numerator = n.asked < n.least ? n.least : n.asked,
                           .denominator = d.asked < d.least ? d.least : d.asked};
    out.broken = !holds(r, out.numerator, out.denominator);
    if (out.broken && r->mode == GV_RATIO_FOLLOW) {
        out.numerator = follow(r, n, out.denominator);
    } else if (out.broken && r->mode == GV_RATIO_CLAMP) {
        if (out.numerator < lowest(r, out.denominator)) {
            int64_t most = allowed(r, out.numerator, out.denominator);
            out.denominator = most < d.least ? d.least : most;
        } else {
            int64_t most = highest(r, out.denominator);
            out.numerator = most < n.least ? n.least : most;
        }
    }
    out.kept = holds(r, out.numerator, out.denominator);
    return out;
}
