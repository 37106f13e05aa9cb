/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove_admission_review: Grove's webhooks as a function from the bytes of an AdmissionReview request to
 * those of its response. Objects that are being deleted pass untouched, so that no rule can keep a
 * finalizer from being removed.
 */
#include <grove/admission.h>

#include "admission/defaulting.h"
#include "admission/webhook.h"
#include "base/mem.h"
#include "model/config.h"
#include "value/doc.h"

#define PATH_DEFAULT "/webhooks/default-podcliqueset"
#define PATH_VALIDATE_SET "/webhooks/validate-podcliqueset"
#define PATH_VALIDATE_BINDING "/webhooks/validate-clustertopology"

typedef struct review {
    grove_env *env;
    grove_config *config;
    grove_doc *doc;
    const grove_node *request, *object, *old;
    grove_diags *diags;
    grove_builder *out;       /* inside the `response` object */
    const grove_node *target; /* of a scale; NULL: unknown */
    grove_error *err;
} review;

static void put_status(review *v, int64_t code, const char *reason, gv_str message) {
    grove_builder_bool(v->out, "allowed", 0);
    grove_builder_open_object(v->out, "status");
    grove_builder_int64(v->out, "code", code);
    grove_builder_string(v->out, "reason", reason);
    grove_builder_stringn(v->out, "message", message.p, message.n);
    grove_builder_close(v->out);
}

static void put_warnings(review *v) {
    bool open = false;
    for (uint32_t i = 0; i < grove_diags_count(v->diags); i++) {
        const grove_diag *d = grove_diags_at(v->diags, i);
        if (d->severity != GROVE_SEVERITY_WARNING) {
            continue;
        }
        if (!open) {
            grove_builder_open_array(v->out, "warnings");
            open = true;
        }
        grove_builder_string(v->out, NULL, d->message);
    }
    if (open) {
        grove_builder_close(v->out);
    }
}

/* All errors in one line, as an API server passes it on: "[path: Type: text, ...]". */
static grove_status put_refusal(review *v) {
    grove_buf text;
    grove_buf_init(&text, v->env);
    uint32_t errors = grove_diags_errors(v->diags), seen = 0;
    grove_status st = errors > 1 ? gv_buf_char(&text, '[') : GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < grove_diags_count(v->diags); i++) {
        const grove_diag *d = grove_diags_at(v->diags, i);
        if (d->severity == GROVE_SEVERITY_ERROR) {
            st = gv_buf_fmt(&text, "%s%s: %s value: %s", seen++ ? ", " : "", d->path, d->type,
                            d->message);
        }
    }
    if (st == GROVE_OK && errors > 1) {
        st = gv_buf_char(&text, ']');
    }
    if (st == GROVE_OK) {
        put_status(v, 403, "Forbidden", gv_buf_view(&text));
    }
    grove_buf_fini(&text);
    return st;
}

static grove_status append_base64(grove_buf *out, gv_str in) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    grove_status st = grove_buf_reserve(out, (in.n + 2) / 3 * 4);
    for (size_t i = 0; st == GROVE_OK && i < in.n; i += 3) {
        uint32_t left = in.n - i < 3 ? (uint32_t)(in.n - i) : 3, bits = 0;
        for (uint32_t k = 0; k < 3; k++) {
            bits = bits << 8 | (k < left ? (unsigned char)in.p[i + k] : 0u);
        }
        char quad[4];
        for (uint32_t k = 0; k < 4; k++) {
            quad[k] = k <= left ? digits[bits >> (18 - 6 * k) & 63] : '=';
        }
        st = grove_buf_append(out, quad, sizeof quad);
    }
    return st;
}

/* The mutating webhook adds and changes; what it does not know it leaves alone. */
static grove_status write_patch(review *v, const grove_node *ops, grove_buf *out) {
    grove_builder *b = NULL;
    grove_doc *kept = NULL;
    if (grove_builder_new(v->env, &b) < 0) {
        return gv_error_nomem(v->err);
    }
    grove_builder_open_array(b, NULL);
    GV_EACH(op, ops) {
        if (!gv_str_is(gv_node_get_str(op, "op"), "remove")) {
            grove_builder_copy(b, NULL, op);
        }
    }
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &kept, v->err);
    grove_builder_free(b);
    if (st == GROVE_OK && grove_node_size(grove_doc_root(kept))) {
        grove_buf json;
        grove_buf_init(&json, v->env);
        st = grove_node_write_json(grove_doc_root(kept), 0, &json, v->err);
        if (st == GROVE_OK) {
            st = append_base64(out, gv_buf_view(&json));
        }
        grove_buf_fini(&json);
    }
    grove_doc_unref(kept);
    return st;
}

static grove_status answer_default(review *v) {
    uint32_t errors = 0;
    gv_kind kind = GV_KIND_PODCLIQUESET;
    grove_doc *stored = NULL, *patch = NULL;
    grove_status st = gv_schema_decode_check(kind, v->doc, v->object, GROVE_FIELDS_IGNORE,
                                             GV_SCHEMA_WEBHOOKS, v->diags, &errors);
    if (st < 0) {
        return gv_error(v->err, st, "the object could not be decoded");
    }
    if (errors) {
        const grove_diag *d = grove_diags_at(v->diags, 0);
        put_status(v, 400, "BadRequest", gv_str_c(d ? d->message : "the object cannot be decoded"));
        return GROVE_OK;
    }
    gv_str ns = gv_node_get_str(v->request, "namespace");
    st = gv_admission_stored(kind, v->doc, v->object, GV_SCHEMA_KEEP_STATUS, ns.n ? ns.p : NULL,
                             &stored, v->err);
    if (st == GROVE_OK) {
        st = grove_json_patch_make(v->doc, v->object, stored, grove_doc_root(stored), &patch,
                                   v->err);
    }
    grove_buf text;
    grove_buf_init(&text, v->env);
    if (st == GROVE_OK) {
        st = write_patch(v, grove_doc_root(patch), &text);
    }
    if (st == GROVE_OK) {
        grove_builder_bool(v->out, "allowed", 1);
        if (text.len) {
            grove_builder_string(v->out, "patchType", "JSONPatch");
            grove_builder_stringn(v->out, "patch", text.data, (size_t)text.len);
        }
    }
    grove_buf_fini(&text);
    grove_doc_unref(patch);
    grove_doc_unref(stored);
    return st;
}

static grove_status answer_validate(review *v, gv_kind kind) {
    uint32_t errors = 0;
    bool update = gv_str_is(gv_node_get_str(v->request, "operation"), "UPDATE");
    grove_status st = gv_webhook_validate(v->env, v->config, kind, v->doc, v->object,
                                          update ? v->old : NULL, v->diags, &errors);
    if (st < 0) {
        return gv_error_nomem(v->err);
    }
    if (errors) {
        st = put_refusal(v);
    } else {
        grove_builder_bool(v->out, "allowed", 1);
    }
    put_warnings(v);
    return st;
}

static grove_status answer(review *v, const char *path) {
    gv_str operation = gv_node_get_str(v->request, "operation");
    bool judged = gv_str_is(operation, "CREATE") || gv_str_is(operation, "UPDATE");
    const grove_node *deleted = gv_node_path(v->object, "metadata.deletionTimestamp");
    gv_kind kind = gv_kind_of(v->object);
    bool is_set = strcmp(path, PATH_DEFAULT) == 0 || strcmp(path, PATH_VALIDATE_SET) == 0;
    if (!is_set && strcmp(path, PATH_VALIDATE_BINDING) != 0) {
        put_status(v, 404, "NotFound", GV_STR("no webhook is served at this path"));
        return GROVE_OK;
    }
    if (!judged || !gv_node_is_nothing(deleted)) {
        grove_builder_bool(v->out, "allowed", 1);
        return GROVE_OK;
    }
    if (kind != (is_set ? GV_KIND_PODCLIQUESET : GV_KIND_CLUSTERTOPOLOGYBINDING)) {
        put_status(v, 400, "BadRequest", GV_STR("the object is of another kind"));
        return GROVE_OK;
    }
    return strcmp(path, PATH_DEFAULT) == 0 ? answer_default(v) : answer_validate(v, kind);
}

/* ---- scale ---- */

int32_t grove_scale_is_refused(const grove_config *config, const grove_node *target,
                               int64_t replicas, grove_buf *out_why) {
    const grove_node *spec = grove_node_get(target, "spec");
    int64_t least = gv_node_get_int(spec, "minAvailable", 1);
    gv_kind kind = target ? gv_kind_of(target) : GV_KIND_NONE;
    bool guarded = kind == GV_KIND_PODCLIQUE || kind == GV_KIND_PODCLIQUESCALINGGROUP;
    bool going = grove_node_get(grove_node_get(target, "metadata"), "deletionTimestamp") != NULL;
    if (!config || !config->guard_scale || !guarded || going || replicas >= least) {
        return 0;
    }
    if (out_why) {
        (void)gv_buf_fmt(out_why, "spec.replicas: Invalid value: %lld is below minAvailable %lld",
                         (long long)replicas, (long long)least);
    }
    return 1;
}

static grove_status answer_scale(review *v) {
    int64_t replicas = gv_node_get_int(grove_node_get(v->object, "spec"), "replicas", 0);
    grove_buf why;
    grove_buf_init(&why, v->env);
    if (grove_scale_is_refused(v->config, v->target, replicas, &why)) {
        put_status(v, 403, "Forbidden", gv_buf_view(&why));
    } else {
        grove_builder_bool(v->out, "allowed", 1);
    }
    grove_buf_fini(&why);
    return GROVE_OK;
}

/* `path` NULL: a scale. */
static grove_status write_response(review *v, const char *path, grove_buf *out) {
    grove_doc *response = NULL;
    gv_str uid = gv_node_get_str(v->request, "uid");
    if (grove_builder_new(v->env, &v->out) < 0) {
        return gv_error_nomem(v->err);
    }
    grove_builder_open_object(v->out, NULL);
    grove_builder_string(v->out, "apiVersion", "admission.k8s.io/v1");
    grove_builder_string(v->out, "kind", "AdmissionReview");
    grove_builder_open_object(v->out, "response");
    grove_builder_stringn(v->out, "uid", uid.p, uid.n);
    grove_status st = path ? answer(v, path) : answer_scale(v);
    grove_builder_close(v->out);
    grove_builder_close(v->out);
    if (st == GROVE_OK) {
        st = grove_builder_finish(v->out, &response, v->err);
    }
    grove_builder_free(v->out);
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(response), 0, out, v->err);
    }
    grove_doc_unref(response);
    return st;
}

static grove_status judge(grove_env *env, grove_config *config, const char *path,
                          const grove_node *target, const char *bytes, size_t len,
                          grove_buf *out_response, grove_error *err) {
    review v = {.env = env, .err = err, .target = target};
    grove_status st = grove_doc_parse_json(env, bytes, len, 0, &v.doc, err);
    if (st < 0) {
        return st;
    }
    v.request = grove_node_get(grove_doc_root(v.doc), "request");
    v.object = grove_node_get(v.request, "object");
    v.old = grove_node_get(v.request, "oldObject");
    const grove_node *uid = grove_node_get(v.request, "uid");
    if (!gv_node_is(uid, GROVE_STRING) || gv_node_str(uid).n == 0) {
        st = gv_error(err, GROVE_E_PARSE, "no AdmissionReview: request.uid is missing");
    }
    if (st == GROVE_OK) {
        st = config ? (v.config = grove_config_ref(config), GROVE_OK)
                    : grove_config_new(env, &v.config);
    }
    if (st == GROVE_OK && grove_diags_new(env, &v.diags) < 0) {
        st = gv_error_nomem(err);
    }
    if (st == GROVE_OK) {
        st = write_response(&v, path, out_response);
    }
    grove_diags_free(v.diags);
    grove_config_unref(v.config);
    grove_doc_unref(v.doc);
    return st;
}

grove_status grove_admission_review(grove_env *env, grove_config *config, const char *path,
                                    const char *bytes, size_t len, grove_buf *out_response,
                                    grove_error *err) {
    if (!env || !path || (!bytes && len) || !out_response) {
        return gv_error(err, GROVE_E_INVALID, "grove_admission_review: an argument is missing");
    }
    return judge(env, config, path, NULL, bytes, len, out_response, err);
}

grove_status grove_admission_review_scale(grove_env *env, grove_config *config,
                                          const grove_node *target, const char *bytes, size_t len,
                                          grove_buf *out_response, grove_error *err) {
    if (!env || (!bytes && len) || !out_response) {
        return gv_error(err, GROVE_E_INVALID,
                        "grove_admission_review_scale: an argument is missing");
    }
    return judge(env, config, NULL, target, bytes, len, out_response, err);
}
