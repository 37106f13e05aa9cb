/* SPDX-License-Identifier: Apache-2.0 */
/* Log records to the host's callback; below the level nothing is built. */
#ifndef GV_BASE_LOG_H
#define GV_BASE_LOG_H

#include <stdbool.h>

#include <grove/env.h>

bool gv_log_enabled(const grove_env *env, grove_log_level level);
/* fields: key, value, key, value, ..., NULL */
void gv_log(const grove_env *env, grove_log_level level, const char *component, const char *code,
            const char *message, const char *const *fields);

#endif
