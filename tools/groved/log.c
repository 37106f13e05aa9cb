/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's log. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FIELDS_MAX 12

static const char *const names[] = {"", "error", "warn", "info", "debug", "trace"};

grove_log_level log_level_of(const char *word) {
    for (grove_log_level l = GROVE_LOG_ERROR; l <= GROVE_LOG_TRACE; l++) {
        if (strcmp(word, names[l]) == 0) {
            return l;
        }
    }
    return 0;
}

const char *log_level_name(grove_log_level level) {
    return level >= GROVE_LOG_ERROR && level <= GROVE_LOG_TRACE ? names[level] : "";
}

static void put_time(FILE *out) {
    struct timespec ts = {0};
    struct tm tm;
    char text[32];
    (void)clock_gettime(CLOCK_REALTIME, &ts);
    if (gmtime_r(&ts.tv_sec, &tm) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm) > 0) {
        fprintf(out, "%s.%03ldZ", text, ts.tv_nsec / 1000000);
    }
}

/* As a JSON string; a line break must not begin a new record in the text form either. */
static void put_quoted(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') {
            fprintf(out, "\\%c", *p);
        } else if (*p < 0x20) {
            fprintf(out, "\\u%04x", *p);
        } else {
            fputc(*p, out);
        }
    }
    fputc('"', out);
}

static void put_value(FILE *out, const char *text) {
    if (text[0] && !strpbrk(text, " \"=\\\n\r\t")) {
        fputs(text, out);
    } else {
        put_quoted(out, text);
    }
}

static void put_json(FILE *out, const grove_log_record *r) {
    fprintf(out, "{\"level\":\"%s\",\"ts\":\"", log_level_name(r->level));
    put_time(out);
    fputs("\",\"logger\":", out);
    put_quoted(out, r->component);
    fputs(",\"msg\":", out);
    put_quoted(out, r->message);
    if (r->code[0]) {
        fputs(",\"code\":", out);
        put_quoted(out, r->code);
    }
    for (uint32_t i = 0; i < r->n_fields; i++) {
        fputc(',', out);
        put_quoted(out, r->fields[i].key);
        fputc(':', out);
        put_quoted(out, r->fields[i].value);
    }
    fputs("}\n", out);
}

static void put_text(FILE *out, const grove_log_record *r) {
    put_time(out);
    fprintf(out, " %-5s %s: %s", log_level_name(r->level), r->component, r->message);
    if (r->code[0]) {
        fprintf(out, " code=%s", r->code);
    }
    for (uint32_t i = 0; i < r->n_fields; i++) {
        fprintf(out, " %s=", r->fields[i].key);
        put_value(out, r->fields[i].value);
    }
    fputc('\n', out);
}

void log_record(void *ctx, const grove_log_record *r) {
    daemon_log *log = ctx;
    if (r->level > log->level) {
        return;
    }
    log->lines[r->level]++;
    if (log->json) {
        put_json(stderr, r);
    } else {
        put_text(stderr, r);
    }
    fflush(stderr);
}

void log_write(daemon_log *log, grove_log_level level, const char *message, ...) {
    grove_log_field fields[FIELDS_MAX];
    grove_log_record r = {.size = (uint32_t)sizeof r,
                          .level = level,
                          .component = "groved",
                          .code = "",
                          .message = message,
                          .fields = fields};
    va_list ap;
    va_start(ap, message);
    for (const char *key; r.n_fields < FIELDS_MAX && (key = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        fields[r.n_fields++] = (grove_log_field){key, value ? value : ""};
    }
    va_end(ap);
    log_record(log, &r);
}
