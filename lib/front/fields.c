/* SPDX-License-Identifier: Apache-2.0 */
/* fieldValidation: unknown fields of Grove's kinds, and what its webhooks warn of. */
#include "front/parts.h"

#include <string.h>

#include <grove/admission.h>

#define CODE_UNKNOWN_FIELD 1001 /* GRV1001 */

static grove_field_validation asked(const gv_front_call *c) {
    const char *word = gv_front_query_get(&c->query, "fieldValidation");
    return word && strcmp(word, "Strict") == 0   ? GROVE_FIELDS_STRICT
           : word && strcmp(word, "Ignore") == 0 ? GROVE_FIELDS_IGNORE
                                                 : GROVE_FIELDS_WARN;
}

static bool is_unknown_field(const grove_diag *d) {
    return d->code == CODE_UNKNOWN_FIELD;
}

/* One warning a line. */
static grove_status warn(gv_front_call *c, const grove_diag *d) {
    grove_buf *out = &c->res->warning;
    grove_status st = out->len ? grove_buf_append(out, "\n", 1) : GROVE_OK;
    if (st < 0) {
        return st;
    }
    if (is_unknown_field(d)) {
        return gv_front_fmt(out, "unknown field \"%s\"", d->path);
    }
    return gv_front_fmt(out, "%s%s%s", d->path, d->path[0] ? ": " : "", d->message);
}

static grove_status judge(gv_front_call *c, const grove_diags *diags, bool *out_ok) {
    grove_buf text;
    grove_status st = GROVE_OK;
    grove_buf_init(&text, c->env);
    for (uint32_t i = 0; st == GROVE_OK && i < grove_diags_count(diags); i++) {
        const grove_diag *d = grove_diags_at(diags, i);
        if (d->severity == GROVE_SEVERITY_WARNING) {
            st = warn(c, d);
        } else if (is_unknown_field(d)) {
            st = gv_front_fmt(&text, "%sunknown field \"%s\"", text.len ? ", " : "", d->path);
        }
    }
    *out_ok = text.len == 0;
    if (st == GROVE_OK && text.len) {
        const char *kind = grove_kind_name(c->route.kind);
        st = gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE,
                             "%s in version \"%s\" cannot be handled as a %s: strict decoding "
                             "error: %.*s",
                             kind, grove_kind_version(c->route.kind), kind, (int)text.len,
                             text.data);
    }
    grove_buf_fini(&text);
    return st;
}

grove_status gv_front_check_fields(gv_front_call *c, grove_doc *doc, bool *out_ok) {
    grove_validate_options options = {
        .size = (uint32_t)sizeof options, .fields = asked(c), .namespace_name = c->route.ns};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_diags *diags = NULL;
    *out_ok = true;
    grove_status st = grove_diags_new(c->env, &diags);
    if (st < 0) {
        return st;
    }
    st = grove_validate(c->env, doc, grove_doc_root(doc), NULL, NULL, &options, diags, &verdict,
                        NULL);
    st = st == GROVE_E_UNSUPPORTED ? GROVE_OK : st < 0 ? st : judge(c, diags, out_ok);
    grove_diags_free(diags);
    return st;
}
