/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/quantity.h - Kubernetes quantities ("250m", "1.5Gi", "2e3"), exact.
 *
 * A quantity is a 128-bit count of nano-units. Everything Kubernetes documents fits; larger input is
 * GROVE_E_RANGE (Go falls back to arbitrary precision there). No floating point, no locale, no memory.
 */
#ifndef GROVE_QUANTITY_H
#define GROVE_QUANTITY_H

#include <grove/buf.h>
#include <grove/status.h>

GROVE_BEGIN_DECLS

#define GROVE_QUANTITY_DECIMAL_SI 0u
#define GROVE_QUANTITY_BINARY_SI 1u
#define GROVE_QUANTITY_DECIMAL_EXPONENT 2u

/** Value in nano-units as two's complement 128 bit, with the family its text used. Frozen. Since 0.1. */
typedef struct grove_quantity {
    int64_t hi;
    uint64_t lo;
    uint32_t format; /**< GROVE_QUANTITY_* */
    uint32_t reserved;
} grove_quantity;

/** Parses as Kubernetes does: finer than nano is rounded up in magnitude, binary is capped at 2^63-1. */
GROVE_API grove_status grove_quantity_parse(const char *text, size_t len, grove_quantity *out_q,
                                            grove_error *err);
/** Appends Go's canonical text. */
GROVE_API grove_status grove_quantity_format(const grove_quantity *q, grove_buf *buf);
GROVE_API int32_t grove_quantity_compare(const grove_quantity *a, const grove_quantity *b);
GROVE_API grove_status grove_quantity_add(const grove_quantity *a, const grove_quantity *b,
                                          grove_quantity *out_q);
GROVE_API grove_status grove_quantity_sub(const grove_quantity *a, const grove_quantity *b,
                                          grove_quantity *out_q);
GROVE_API grove_status grove_quantity_mul(const grove_quantity *a, int64_t factor,
                                          grove_quantity *out_q);
/** In thousandths, in units; rounded away from zero as Kubernetes does. GROVE_E_RANGE when it does not fit. */
GROVE_API grove_status grove_quantity_milli(const grove_quantity *q, int64_t *out_milli);
GROVE_API grove_status grove_quantity_units(const grove_quantity *q, int64_t *out_units);

GROVE_END_DECLS
#endif
