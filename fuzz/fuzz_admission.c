/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole of admission on a stream of objects, each judged as new and as an update of the one before.
 * Oracle: a refusal names a place and a known code; what is admitted is admitted again once defaulted,
 * and defaulting twice changes nothing.
 */
#include <stdlib.h>

#include <grove/admission.h>

static void require(int holds) {
    if (!holds) {
        abort();
    }
}

static void check_findings(const grove_diags *found, const grove_admission_verdict *verdict) {
    require(verdict->allowed == (verdict->stage == GROVE_STAGE_NONE));
    require(verdict->allowed || grove_diags_errors(found) > 0);
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        require(grove_code_get(d->code) != NULL);
        require(d->message[0] != '\0' && d->line > 0 && d->column > 0);
        require(d->severity != GROVE_SEVERITY_ERROR || d->type[0] != '\0');
    }
}

static int admitted(grove_env *env, grove_doc *doc, grove_doc *old) {
    grove_diags *found = NULL;
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_validate_options options = {.size = (uint32_t)sizeof options,
                                      .flags = GROVE_VALIDATE_LINT | GROVE_VALIDATE_POD_WARNINGS};
    require(grove_diags_new(env, &found) == GROVE_OK);
    grove_status status = grove_validate(env, doc, grove_doc_root(doc), old,
                                         old ? grove_doc_root(old) : NULL, &options, found,
                                         &verdict, NULL);
    int allowed = status == GROVE_OK && verdict.allowed;
    if (status == GROVE_OK) {
        check_findings(found, &verdict);
    }
    grove_diags_free(found);
    return allowed;
}

static grove_doc *defaulted(grove_env *env, grove_doc *doc) {
    grove_doc *out = NULL;
    require(grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &out, NULL) == GROVE_OK);
    return out;
}

static void check_admitted(grove_env *env, grove_doc *doc) {
    grove_doc *once = defaulted(env, doc), *twice = defaulted(env, once);
    require(admitted(env, once, NULL));
    require(grove_node_equal(grove_doc_root(once), grove_doc_root(twice)));
    grove_doc_unref(twice);
    grove_doc_unref(once);
}

/* Today's form of an older object is in today's form. */
static void check_migration(grove_env *env, grove_doc *doc) {
    grove_doc *once = NULL, *twice = NULL;
    grove_diags *found = NULL;
    require(grove_diags_new(env, &found) == GROVE_OK);
    if (grove_migrate(env, doc, grove_doc_root(doc), found, &once, NULL) == GROVE_OK &&
        grove_diags_errors(found) == 0) {
        require(grove_migrate(env, once, grove_doc_root(once), found, &twice, NULL) == GROVE_OK);
        require(grove_diags_errors(found) == 0);
        require(grove_node_equal(grove_doc_root(once), grove_doc_root(twice)));
    }
    grove_doc_unref(twice);
    grove_doc_unref(once);
    grove_diags_free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_stream *stream = NULL;
    grove_doc *before = NULL, *doc = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return 0;
    }
    if (grove_stream_new(env, (const char *)data, size, 0, &stream, NULL) == GROVE_OK) {
        while (grove_stream_next(stream, &doc, NULL) == GROVE_OK && doc) {
            check_migration(env, doc);
            if (admitted(env, doc, NULL)) {
                check_admitted(env, doc);
            }
            if (before) {
                admitted(env, doc, before);
            }
            grove_doc_unref(before);
            before = doc;
            doc = NULL;
        }
    }
    grove_doc_unref(before);
    grove_stream_free(stream);
    grove_env_unref(env);
    return 0;
}
