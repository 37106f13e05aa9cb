/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a log record on the stack and hands it to the host. */
#include "base/log.h"

#include "base/env.h"

#define MAX_FIELDS 16

bool gv_log_enabled(const grove_env *env, grove_log_level level) {
    return env && env->log && level <= env->log_level;
}

void gv_log(const grove_env *env, grove_log_level level, const char *component, const char *code,
            const char *message, const char *const *fields) {
    if (!gv_log_enabled(env, level)) {
        return;
    }
    grove_log_field list[MAX_FIELDS];
    uint32_t n = 0;
    for (; fields && fields[2 * n] && n < MAX_FIELDS; n++) {
        list[n].key = fields[2 * n];
        list[n].value = fields[2 * n + 1] ? fields[2 * n + 1] : "";
    }
    const grove_log_record record = {.size = (uint32_t)sizeof record,
                                     .level = level,
                                     .component = component ? component : "",
                                     .code = code ? code : "",
                                     .message = message ? message : "",
                                     .fields = list,
                                     .n_fields = n};
    env->log(env->log_ctx, &record);
}
