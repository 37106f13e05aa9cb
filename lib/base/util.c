/* SPDX-License-Identifier: Apache-2.0 */
/* grove/sys/util.h: this layer's tools under public names, for backends outside the library. */
#include <grove/sys/util.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/prng.h"

void *grove_memory_alloc(grove_env *env, size_t n) {
    return gv_zalloc(env, n);
}

void *grove_memory_resize(grove_env *env, void *p, size_t old_n, size_t n) {
    return gv_realloc(env, p, old_n, n);
}

void grove_memory_free(grove_env *env, void *p, size_t n) {
    gv_free(env, p, n);
}

grove_status grove_error_set(grove_error *err, grove_status status, const char *message) {
    return gv_error(err, status, "%s", message ? message : "");
}

grove_status grove_struct_read(void *out, uint64_t out_size, const void *in, uint32_t in_size,
                               uint64_t min_size) {
    if (!out || !in) {
        return GROVE_E_INVALID;
    }
    return gv_struct_in(out, (size_t)out_size, in, in_size, (size_t)min_size);
}

int32_t grove_log_enabled(const grove_env *env, grove_log_level level) {
    return gv_log_enabled(env, level) ? 1 : 0;
}

void grove_log_write(const grove_env *env, grove_log_level level, const char *component,
                     const char *message, const grove_log_field *fields, uint32_t n_fields) {
    if (!gv_log_enabled(env, level)) {
        return;
    }
    const grove_log_record record = {.size = (uint32_t)sizeof record,
                                     .level = level,
                                     .component = component ? component : "",
                                     .code = "",
                                     .message = message ? message : "",
                                     .fields = fields,
                                     .n_fields = fields ? n_fields : 0};
    env->log(env->log_ctx, &record);
}

uint64_t grove_random_next(uint64_t *state) {
    gv_prng r = {*state};
    uint64_t n = gv_prng_next(&r);
    *state = r.state;
    return n;
}
