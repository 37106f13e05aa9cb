/* SPDX-License-Identifier: Apache-2.0 */
/* grove_validate and grove_default: decode, defaults, schema, webhook, each hiding the ones after it. */
#include <grove/admission.h>

#include "admission/defaulting.h"
#include "admission/lint_run.h"
#include "admission/migrate.h"
#include "admission/pods.h"
#include "admission/webhook.h"
#include "value/doc.h"

const char *grove_stage_name(grove_stage stage) {
    switch (stage) {
    case GROVE_STAGE_DECODE:
        return "decode";
    case GROVE_STAGE_SCHEMA:
        return "schema";
    case GROVE_STAGE_WEBHOOK:
        return "webhook";
    default:
        return "";
    }
}

typedef struct run {
    grove_env *env;
    grove_config *config; /* referenced */
    grove_validate_options options;
    gv_kind kind;
    grove_diags *diags;
    grove_error *err;
} run;

static grove_status run_init(run *v, grove_env *env, const grove_node *object,
                             const grove_validate_options *options, grove_diags *diags,
                             grove_error *err) {
    memset(v, 0, sizeof *v);
    v->env = env;
    v->diags = diags;
    v->err = err;
    if (options) {
        grove_status st = gv_struct_in(&v->options, sizeof v->options, options, options->size,
                                       offsetof(grove_validate_options, config));
        if (st < 0) {
            return gv_error(err, st, "options have a size this library does not know");
        }
    }
    const grove_lint_options *lint = v->options.lint;
    if (lint != NULL) {
        grove_status st = gv_struct_check(lint, lint->size, sizeof *lint, sizeof lint->size);
        if (st < 0) {
            return gv_error(err, st, "options.lint has a size this library does not know");
        }
    }
    v->kind = gv_kind_of(object);
    if (!gv_schema_has(v->kind)) {
        gv_str kind = gv_node_get_str(object, "kind");
        return gv_error(err, GROVE_E_UNSUPPORTED, "\"%.*s\" is none of Grove's kinds", (int)kind.n,
                        kind.p);
    }
    if (v->options.config) {
        v->config = grove_config_ref(v->options.config);
        return GROVE_OK;
    }
    return grove_config_new(env, &v->config) < 0 ? gv_error_nomem(err) : GROVE_OK;
}

static void run_fini(run *v) {
    grove_config_unref(v->config);
}

static bool is_crash(const grove_diags *diags) {
    uint32_t n = grove_diags_count(diags);
    const grove_diag *last = n ? grove_diags_at(diags, n - 1) : NULL;
    return last && last->code == GV_CODE_NULL_CLIQUE;
}

static void refuse(grove_admission_verdict *verdict, grove_stage stage, uint32_t http_code) {
    verdict->allowed = 0;
    verdict->stage = stage;
    verdict->http_code = http_code;
}

/* The stored object is decoded leniently: whatever it holds was accepted once. */
static grove_status read_old(run *v, grove_doc *old_doc, const grove_node *old,
                             grove_doc **out_doc) {
    return gv_admission_stored(v->kind, old_doc, old, GV_SCHEMA_KEEP_STATUS,
                               v->options.namespace_name, out_doc, v->err);
}

static grove_status webhook_stage(run *v, grove_doc *stored, grove_doc *old_doc,
                                  const grove_node *old, grove_admission_verdict *verdict) {
    uint32_t errors = 0;
    grove_doc *before = NULL;
    grove_status st = old ? read_old(v, old_doc, old, &before) : GROVE_OK;
    if (st < 0) {
        return st;
    }
    const grove_node *root = grove_doc_root(stored);
    st = gv_webhook_validate(v->env, v->config, v->kind, stored, root,
                             before ? grove_doc_root(before) : NULL, v->diags, &errors);
    grove_doc_unref(before);
    if (st < 0) {
        return gv_error_nomem(v->err);
    }
    if (errors) {
        bool empty = v->kind == GV_KIND_PODCLIQUESET &&
                     grove_node_size(gv_node_path(root, GV_TMPL ".cliques")) == 0;
        refuse(verdict, GROVE_STAGE_WEBHOOK, empty ? 500 : 403);
    }
    return GROVE_OK;
}

static grove_status main_resource(run *v, grove_doc *doc, const grove_node *object,
                                  grove_doc *old_doc, const grove_node *old,
                                  grove_admission_verdict *verdict) {
    uint32_t errors = 0;
    bool webhooks = !(v->options.flags & GROVE_VALIDATE_SCHEMA_ONLY);
    uint32_t flags = (webhooks ? GV_SCHEMA_WEBHOOKS : 0) |
                     (v->options.flags & GROVE_VALIDATE_STRICT_UPSTREAM ? GV_SCHEMA_UPSTREAM : 0);
    grove_status st = gv_schema_decode_check(v->kind, doc, object, v->options.fields, flags,
                                             v->diags, &errors);
    if (st < 0) {
        return gv_error(v->err, st, "the object could not be decoded");
    }
    if (errors) {
        refuse(verdict, GROVE_STAGE_DECODE, is_crash(v->diags) ? 500 : 400);
        return GROVE_OK;
    }
    bool status = v->options.operation == GROVE_OPERATION_STATUS;
    grove_doc *stored = NULL;
    uint32_t keep = status ? GV_SCHEMA_KEEP_STATUS : 0;
    const char *ns = v->options.namespace_name;
    st = webhooks ? gv_admission_stored(v->kind, doc, object, keep, ns, &stored, v->err)
                  : gv_schema_default(v->kind, doc, object, keep, gv_str_c(ns ? ns : "default"),
                                      &stored, v->err);
    if (st < 0) {
        return st;
    }
    bool upstream = (flags & GV_SCHEMA_UPSTREAM) != 0;
    st = gv_schema_validate(v->kind, stored, grove_doc_root(stored), old == NULL, upstream,
                            v->diags, &errors);
    if (st < 0) {
        gv_error(v->err, st, "the object could not be checked");
    } else if (errors) {
        refuse(verdict, GROVE_STAGE_SCHEMA, 422);
    } else if (!status && webhooks) {
        st = webhook_stage(v, stored, old_doc, old, verdict);
    }
    if (st == GROVE_OK && !errors && !status && v->options.flags & GROVE_VALIDATE_POD_WARNINGS) {
        st = gv_admission_pod_warnings(v->kind, stored, grove_doc_root(stored), v->diags);
    }
    if (st == GROVE_OK && verdict->allowed && !status && v->options.flags & GROVE_VALIDATE_LINT) {
        st = gv_lint_run(v->kind, stored, grove_doc_root(stored), old, v->config, v->options.lint,
                         v->diags);
    }
    grove_doc_unref(stored);
    return st;
}

/* The scale subresource: no webhook, no defaulting; the server refuses negative replicas only. */
static grove_status scale_subresource(run *v, const grove_node *object,
                                      grove_admission_verdict *verdict) {
    const grove_node *replicas = gv_node_path(object, "spec.replicas");
    int64_t n = 0;
    uint32_t line = 0, column = 0;
    if (replicas && (grove_node_int64(replicas, &n) < 0 || n > INT32_MAX || n < 0)) {
        grove_node_position(NULL, replicas, &line, &column);
        if (!gv_diag_add(v->diags, GROVE_SEVERITY_ERROR, GV_CODE_NEGATIVE_REPLICAS, "Invalid",
                         GV_STR("spec.replicas"), line, column,
                         "replicas must be a whole number from 0 to 2147483647")) {
            return gv_error_nomem(v->err);
        }
        refuse(verdict, GROVE_STAGE_SCHEMA, 422);
    }
    return GROVE_OK;
}

static grove_operation operation_of(const run *v, const grove_node *old) {
    if (v->options.operation != GROVE_OPERATION_AUTO) {
        return v->options.operation;
    }
    return old ? GROVE_OPERATION_UPDATE : GROVE_OPERATION_CREATE;
}

/* A warning that a strict reader takes for an error: Grove's word on restartPolicy is none, it comes with
 * every set. */
static bool has_objection(const grove_diags *diags, uint32_t from) {
    for (uint32_t i = from; i < grove_diags_count(diags); i++) {
        if (grove_diags_at(diags, i)->code != GV_CODE_RESTART_POLICY) {
            return true;
        }
    }
    return false;
}

static grove_status judge(grove_env *env, grove_doc *doc, const grove_node *object,
                          grove_doc *old_doc, const grove_node *old,
                          const grove_validate_options *options, grove_diags *diags,
                          grove_admission_verdict *out_verdict, grove_error *err) {
    run v;
    grove_status st = run_init(&v, env, object, options, diags, err);
    if (st < 0) {
        return st;
    }
    grove_operation op = operation_of(&v, old);
    if (op == GROVE_OPERATION_CREATE) {
        old = NULL;
    }
    grove_admission_verdict verdict = {.size = out_verdict->size,
                                       .allowed = 1,
                                       .stage = GROVE_STAGE_NONE,
                                       .http_code = op == GROVE_OPERATION_CREATE ? 201 : 200};
    uint32_t before = grove_diags_count(diags);
    st = op == GROVE_OPERATION_SCALE ? scale_subresource(&v, object, &verdict)
                                     : main_resource(&v, doc, object, old_doc, old, &verdict);
    if (st == GROVE_OK && verdict.allowed && has_objection(diags, before) &&
        (v.options.flags & GROVE_VALIDATE_WARNINGS_REFUSE)) {
        refuse(&verdict, GROVE_STAGE_WEBHOOK, 403);
    }
    if (st == GROVE_OK) {
        *out_verdict = verdict;
    }
    run_fini(&v);
    return st;
}

/* The object in today's form; what cannot be carried over refuses it as a decoder would. */
static grove_status judge_legacy(grove_env *env, grove_doc *doc, const grove_node *object,
                                 grove_doc *old_doc, const grove_node *old,
                                 const grove_validate_options *options, grove_diags *diags,
                                 grove_admission_verdict *out_verdict, grove_error *err) {
    grove_doc *modern = NULL;
    uint32_t before = grove_diags_errors(diags);
    grove_status st = grove_migrate(env, doc, object, diags, &modern, err);
    if (st == GROVE_OK && grove_diags_errors(diags) > before) {
        refuse(out_verdict, GROVE_STAGE_DECODE, 400);
    } else if (st == GROVE_OK) {
        st = judge(env, modern, grove_doc_root(modern), old_doc, old, options, diags, out_verdict,
                   err);
    }
    grove_doc_unref(modern);
    return st;
}

/* A cluster of today knows no such kind. */
static grove_status refuse_older_kind(const grove_node *object, const char *today,
                                      grove_diags *diags, grove_admission_verdict *out_verdict,
                                      grove_error *err) {
    const grove_node *kind = grove_node_get(object, "kind");
    if (!gv_diag_add(
            diags, GROVE_SEVERITY_ERROR, GV_CODE_LEGACY_KIND, "NotSupported", GV_STR("kind"),
            gv_node_line(kind), gv_node_column(kind),
            "the kind is called %s today; `grovectl migrate` rewrites the object, --legacy "
            "reads it as it is",
            today)) {
        return gv_error_nomem(err);
    }
    refuse(out_verdict, GROVE_STAGE_DECODE, 404);
    return GROVE_OK;
}

grove_status grove_validate(grove_env *env, grove_doc *doc, const grove_node *object,
                            grove_doc *old_doc, const grove_node *old,
                            const grove_validate_options *options, grove_diags *diags,
                            grove_admission_verdict *out_verdict, grove_error *err) {
    if (!env || !doc || !object || !diags || !out_verdict ||
        out_verdict->size < sizeof *out_verdict) {
        return gv_error(err, GROVE_E_INVALID, "grove_validate: an argument is missing");
    }
    bool legacy = options && options->size > offsetof(grove_validate_options, flags) + 3 &&
                  options->flags & GROVE_VALIDATE_LEGACY;
    if (!legacy && gv_migrate_kind(object)) {
        return refuse_older_kind(object, gv_migrate_kind(object), diags, out_verdict, err);
    }
    return (legacy ? judge_legacy : judge)(env, doc, object, old_doc, old, options, diags,
                                           out_verdict, err);
}

grove_status grove_default(grove_env *env, grove_doc *doc, const grove_node *object,
                           const grove_validate_options *options, grove_diags *diags,
                           grove_doc **out_doc, grove_error *err) {
    run v;
    grove_diags *own = NULL;
    if (!env || !doc || !object || !out_doc) {
        return gv_error(err, GROVE_E_INVALID, "grove_default: an argument is missing");
    }
    if (!diags) {
        if (grove_diags_new(env, &own) < 0) {
            return gv_error_nomem(err);
        }
        diags = own;
    }
    uint32_t errors = 0, first = grove_diags_count(diags);
    grove_status st = run_init(&v, env, object, options, diags, err);
    if (st == GROVE_OK) {
        st = gv_schema_decode_check(v.kind, doc, object, v.options.fields, GV_SCHEMA_WEBHOOKS,
                                    diags, &errors);
        if (st < 0) {
            gv_error(err, st, "the object could not be decoded");
        } else if (errors) {
            const grove_diag *d = grove_diags_at(diags, first);
            st = d ? gv_error_at(err, GROVE_E_REFUSED, d->line, d->column, d->path, "%s",
                                 d->message)
                   : gv_error(err, GROVE_E_REFUSED, "the object cannot be decoded");
        } else {
            st = gv_admission_stored(v.kind, doc, object, 0, v.options.namespace_name, out_doc,
                                     err);
        }
        run_fini(&v);
    }
    grove_diags_free(own);
    return st;
}
