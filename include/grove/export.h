/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/export.h - visibility, calling convention and compiler helpers of the public headers.
 *
 * Nothing here is called by name from a program; every other public header includes it.
 */
#ifndef GROVE_EXPORT_H
#define GROVE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define GROVE_API __attribute__((visibility("default")))
#define GROVE_NODISCARD __attribute__((warn_unused_result))
#define GROVE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define GROVE_API
#define GROVE_NODISCARD
#define GROVE_PRINTF(f, a)
#endif

#ifdef __cplusplus
#define GROVE_BEGIN_DECLS extern "C" {
#define GROVE_END_DECLS }
#else
#define GROVE_BEGIN_DECLS
#define GROVE_END_DECLS
#endif

#endif
