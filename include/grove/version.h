/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/version.h - which libgrove this is, at compile time and at run time.
 *
 *     if (grove_version_number() < GROVE_VERSION_NUMBER) ...  // older than what was compiled against
 */
#ifndef GROVE_VERSION_H
#define GROVE_VERSION_H

#include <stdint.h>

#include <grove/export.h>

GROVE_BEGIN_DECLS

#define GROVE_VERSION_MAJOR 0
#define GROVE_VERSION_MINOR 1
#define GROVE_VERSION_PATCH 0
#define GROVE_VERSION_STRING "0.1.0"

/** Grows with every release: major * 1,000,000 + minor * 1,000 + patch. Since 0.1. */
#define GROVE_VERSION_NUMBER \
    (GROVE_VERSION_MAJOR * 1000000 + GROVE_VERSION_MINOR * 1000 + GROVE_VERSION_PATCH)

/** Version of the loaded library, as "0.1.0". Static storage; never NULL. Any thread. Since 0.1. */
GROVE_API const char *grove_version(void);
/** GROVE_VERSION_NUMBER of the loaded library. Any thread. Since 0.1. */
GROVE_API int32_t grove_version_number(void);

GROVE_END_DECLS
#endif
