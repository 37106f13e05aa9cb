/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings: bounded, without repeats, texts in one arena. */
#include "base/diag.h"

#include "base/arena.h"
#include "base/vec.h"

struct grove_diags {
    grove_env *env;
    gv_arena texts;
    GV_VEC(grove_diag) list;
    uint32_t errors;
    uint32_t dropped;
};

grove_status grove_diags_new(grove_env *env, grove_diags **out_diags) {
    if (!env || !out_diags) {
        return GROVE_E_INVALID;
    }
    grove_diags *d = gv_zalloc(env, sizeof *d);
    if (!d) {
        return GROVE_E_NOMEM;
    }
    d->env = grove_env_ref(env);
    gv_arena_init(&d->texts, env);
    *out_diags = d;
    return GROVE_OK;
}

void grove_diags_free(grove_diags *diags) {
    if (!diags) {
        return;
    }
    grove_env *env = diags->env;
    gv_arena_fini(&diags->texts);
    gv_vec_fini(env, &diags->list);
    gv_free(env, diags, sizeof *diags);
    grove_env_unref(env);
}

void grove_diags_clear(grove_diags *diags) {
    if (diags) {
        gv_arena_reset(&diags->texts);
        diags->list.n = 0;
        diags->errors = diags->dropped = 0;
    }
}

uint32_t grove_diags_count(const grove_diags *diags) {
    return diags ? (uint32_t)diags->list.n : 0;
}

const grove_diag *grove_diags_at(const grove_diags *diags, uint32_t i) {
    return diags && i < diags->list.n ? &diags->list.v[i] : NULL;
}

uint32_t grove_diags_errors(const grove_diags *diags) {
    return diags ? diags->errors : 0;
}

uint32_t grove_diags_dropped(const grove_diags *diags) {
    return diags ? diags->dropped : 0;
}

static bool is_listed(const grove_diags *d, uint32_t code, gv_str path, gv_str message) {
    for (size_t i = 0; i < d->list.n; i++) {
        const grove_diag *other = &d->list.v[i];
        if (other->code == code && gv_str_is(path, other->path) &&
            gv_str_is(message, other->message)) {
            return true;
        }
    }
    return false;
}

static bool append(grove_diags *d, grove_diag entry, gv_str path, gv_str message) {
    if (is_listed(d, entry.code, path, message)) {
        return true;
    }
    if (d->list.n >= gv_env_limits(d->env)->diagnostics) {
        d->dropped++;
        return true;
    }
    entry.type = gv_arena_dup(&d->texts, gv_str_c(entry.type));
    entry.path = gv_arena_dup(&d->texts, path);
    entry.message = gv_arena_dup(&d->texts, message);
    if (!entry.type || !entry.path || !entry.message || !gv_vec_push(d->env, &d->list, entry)) {
        return false;
    }
    d->errors += entry.severity == GROVE_SEVERITY_ERROR;
    return true;
}

bool gv_diag_add(grove_diags *diags, grove_severity severity, uint32_t code, const char *type,
                 gv_str path, uint32_t line, uint32_t column, const char *fmt, ...) {
    grove_buf message;
    grove_buf_init(&message, diags->env);
    va_list ap;
    va_start(ap, fmt);
    grove_status st = gv_buf_vfmt(&message, fmt, ap);
    va_end(ap);
    const grove_diag entry = {.size = (uint32_t)sizeof entry,
                              .code = code,
                              .severity = severity,
                              .line = line,
                              .column = column,
                              .type = type ? type : ""};
    bool ok = st == GROVE_OK && append(diags, entry, path, gv_buf_view(&message));
    grove_buf_fini(&message);
    return ok;
}
