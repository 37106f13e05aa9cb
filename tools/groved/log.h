/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's log: one line a record on standard error, as text or as JSON. */
#ifndef GROVED_LOG_H
#define GROVED_LOG_H

#include <grove/env.h>

typedef struct daemon_log {
    grove_log_level level; /* may be changed at any time */
    int json;
    uint64_t lines[GROVE_LOG_TRACE + 1]; /* written so far, by level */
} daemon_log;

/* For grove_env_options.log, with a daemon_log as context. */
void log_record(void *ctx, const grove_log_record *record);
/* Ends the fields of log_write: a NULL of a pointer's size. */
#define LOG_END ((const char *)NULL)

/* A record of the daemon's own; a field is a key and its value, and LOG_END ends the list. */
void log_write(daemon_log *log, grove_log_level level, const char *message, ...)
    __attribute__((sentinel));
/* "error", "info", "debug", "warn", "trace"; 0 for another word. */
grove_log_level log_level_of(const char *word);
const char *log_level_name(grove_log_level level);

#endif
