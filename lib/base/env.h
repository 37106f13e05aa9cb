/* SPDX-License-Identifier: Apache-2.0 */
/* What a grove_env holds; for the files of base only, others use mem.h and log.h. */
#ifndef GV_BASE_ENV_H
#define GV_BASE_ENV_H

#include <grove/env.h>

#include "base/refcount.h"

/* No document nests deeper, whatever the limits say: code may recurse over documents. */
#define GV_DEPTH_MAX 1000

struct grove_env {
    gv_refs refs;
    grove_allocator allocator;
    grove_limits limits; /* every field filled in */
    grove_log_fn log;
    void *log_ctx;
    grove_log_level log_level;
};

#endif
