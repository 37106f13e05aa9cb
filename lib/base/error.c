/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a caller's grove_error: never allocates, cuts texts between characters. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

typedef struct status_info {
    grove_status status;
    grove_category category;
    uint32_t flags;
    const char *name;
} status_info;

static const status_info statuses[] = {
    {GROVE_OK, GROVE_CATEGORY_NONE, 0, "GROVE_OK"},
    {GROVE_E_NOMEM, GROVE_CATEGORY_RESOURCE, 0, "GROVE_E_NOMEM"},
    {GROVE_E_INVALID, GROVE_CATEGORY_CALLER, 0, "GROVE_E_INVALID"},
    {GROVE_E_PARSE, GROVE_CATEGORY_INPUT, 0, "GROVE_E_PARSE"},
    {GROVE_E_LIMIT, GROVE_CATEGORY_RESOURCE, 0, "GROVE_E_LIMIT"},
    {GROVE_E_RANGE, GROVE_CATEGORY_INPUT, 0, "GROVE_E_RANGE"},
    {GROVE_E_TYPE, GROVE_CATEGORY_INPUT, 0, "GROVE_E_TYPE"},
    {GROVE_E_NOT_FOUND, GROVE_CATEGORY_INPUT, 0, "GROVE_E_NOT_FOUND"},
    {GROVE_E_EXISTS, GROVE_CATEGORY_INPUT, 0, "GROVE_E_EXISTS"},
    {GROVE_E_CONFLICT, GROVE_CATEGORY_INPUT, 0, "GROVE_E_CONFLICT"},
    {GROVE_E_UNSUPPORTED, GROVE_CATEGORY_CALLER, 0, "GROVE_E_UNSUPPORTED"},
    {GROVE_E_TOO_NEW, GROVE_CATEGORY_CALLER, 0, "GROVE_E_TOO_NEW"},
    {GROVE_E_IO, GROVE_CATEGORY_RESOURCE, 0, "GROVE_E_IO"},
    {GROVE_E_AUTH, GROVE_CATEGORY_REMOTE, 0, "GROVE_E_AUTH"},
    {GROVE_E_FORBIDDEN, GROVE_CATEGORY_REMOTE, 0, "GROVE_E_FORBIDDEN"},
    {GROVE_E_REFUSED, GROVE_CATEGORY_REMOTE, 0, "GROVE_E_REFUSED"},
    {GROVE_E_GONE, GROVE_CATEGORY_REMOTE, 0, "GROVE_E_GONE"},
    {GROVE_E_BUSY, GROVE_CATEGORY_REMOTE, GROVE_ERROR_RETRIABLE, "GROVE_E_BUSY"},
    {GROVE_E_UNAVAILABLE, GROVE_CATEGORY_REMOTE, GROVE_ERROR_RETRIABLE, "GROVE_E_UNAVAILABLE"},
    {GROVE_E_TIMEOUT, GROVE_CATEGORY_REMOTE, GROVE_ERROR_RETRIABLE, "GROVE_E_TIMEOUT"},
    {GROVE_E_CANCELLED, GROVE_CATEGORY_CALLER, 0, "GROVE_E_CANCELLED"},
    {GROVE_E_INTERNAL, GROVE_CATEGORY_BUG, 0, "GROVE_E_INTERNAL"},
};

static const status_info *find_status(grove_status status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].status == status) {
            return &statuses[i];
        }
    }
    return NULL;
}

const char *grove_status_name(grove_status status) {
    const status_info *info = find_status(status);
    return info ? info->name : "GROVE_E_?";
}

static void error_fill(grove_error *err, grove_status status, uint32_t line, uint32_t column,
                       const char *path, const char *fmt, va_list ap) GROVE_PRINTF(6, 0);

static void error_fill(grove_error *err, grove_status status, uint32_t line, uint32_t column,
                       const char *path, const char *fmt, va_list ap) {
    if (!err || err->size < sizeof *err) {
        return;
    }
    const status_info *info = find_status(status);
    err->status = status;
    err->category = info ? info->category : GROVE_CATEGORY_BUG;
    err->flags = info ? info->flags : 0;
    err->retry_after_ms = 0;
    err->line = line;
    err->column = column;
    gv_fmt(err->path, sizeof err->path, "%s", path ? path : "");
    gv_vfmt(err->message, sizeof err->message, fmt, ap);
}

grove_status gv_error(grove_error *err, grove_status status, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    error_fill(err, status, 0, 0, NULL, fmt, ap);
    va_end(ap);
    return status;
}

grove_status gv_error_at(grove_error *err, grove_status status, uint32_t line, uint32_t column,
                         const char *path, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    error_fill(err, status, line, column, path, fmt, ap);
    va_end(ap);
    return status;
}

grove_status gv_error_nomem(grove_error *err) {
    return gv_error(err, GROVE_E_NOMEM, "out of memory");
}
