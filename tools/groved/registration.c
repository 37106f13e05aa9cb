/* SPDX-License-Identifier: Apache-2.0 */
/* The webhook configurations, with the names, rules and paths of Grove's own operator. */
#include "certs.h"

#include <stdlib.h>
#include <string.h>

typedef struct rule {
    const char *group, *versions; /* comma-separated versions */
    const char *resources;        /* comma-separated */
    const char *operations;       /* comma-separated */
} rule;

#define RULES_MAX 7

static const rule set_rules[] = {{"grove.io", "v1alpha1", "podcliquesets", "CREATE,UPDATE"}, {0}};
static const rule binding_rules[] = {
    {"grove.io", "v1alpha1", "clustertopologybindings", "CREATE,UPDATE"}, {0}};
static const rule managed_rules[RULES_MAX] = {
    {"", "v1", "secrets,serviceaccounts,services", "UPDATE,DELETE"},
    {"", "v1", "pods", "UPDATE"},
    {"rbac.authorization.k8s.io", "v1", "roles,rolebindings", "UPDATE,DELETE"},
    {"autoscaling", "v1,v2", "horizontalpodautoscalers", "UPDATE,DELETE"},
    {"grove.io", "v1alpha1", "podcliques,podcliquescalinggroups", "CREATE,UPDATE,DELETE"},
    {"scheduler.grove.io", "v1alpha1", "podgangs", "CREATE,UPDATE,DELETE"},
    {0}};

static const rule scale_rules[] = {
    {"grove.io", "v1alpha1", "podcliques/scale,podcliquescalinggroups/scale", "UPDATE"}, {0}};

/* Which part of the configuration asks for it. */
enum wanted { ALWAYS, WITH_AUTHORIZER, WITH_GUARDED_SCALE };

static const struct registration {
    grove_kind kind;
    const char *object, *hook, *path;
    const rule *rules;
    int cluster_scoped;
    enum wanted wanted;
} registrations[] = {
    {GROVE_KIND_MUTATING_WEBHOOK, "podcliqueset-defaulting-webhook",
     "pcs.defaulting.webhooks.grove.io", "/webhooks/default-podcliqueset", set_rules, 0, ALWAYS},
    {GROVE_KIND_VALIDATING_WEBHOOK, "podcliqueset-validating-webhook",
     "pcs.validating.webhooks.grove.io", "/webhooks/validate-podcliqueset", set_rules, 0, ALWAYS},
    {GROVE_KIND_VALIDATING_WEBHOOK, "clustertopology-validating-webhook",
     "clustertopology.validating.webhooks.grove.io", "/webhooks/validate-clustertopology",
     binding_rules, 1, ALWAYS},
    {GROVE_KIND_VALIDATING_WEBHOOK, "authorizer-webhook", "authorizer.webhooks.grove.io",
     "/webhooks/authorizer-webhook", managed_rules, 0, WITH_AUTHORIZER},
    {GROVE_KIND_VALIDATING_WEBHOOK, "scale-validating-webhook",
     "scale.validating.webhooks.grove.io", "/webhooks/validate-scale", scale_rules, 0,
     WITH_GUARDED_SCALE},
};
#define N_REGISTRATIONS (sizeof registrations / sizeof *registrations)

/* ---- the objects ---- */

static void put_words(grove_builder *b, const char *key, const char *words) {
    grove_builder_open_array(b, key);
    for (;;) {
        size_t n = strcspn(words, ",");
        grove_builder_stringn(b, NULL, words, n);
        if (!words[n]) {
            break;
        }
        words += n + 1;
    }
    grove_builder_close(b);
}

static void put_rules(grove_builder *b, const struct registration *r) {
    grove_builder_open_array(b, "rules");
    for (const rule *at = r->rules; at->resources; at++) {
        grove_builder_open_object(b, NULL);
        put_words(b, "apiGroups", at->group);
        put_words(b, "apiVersions", at->versions);
        put_words(b, "operations", at->operations);
        put_words(b, "resources", at->resources);
        grove_builder_string(b, "scope", r->cluster_scoped ? "Cluster" : "Namespaced");
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_client(grove_builder *b, const live *d, const char *path, const char *ca_pem) {
    size_t n = strlen(ca_pem);
    unsigned char *encoded = malloc((n + 2) / 3 * 4 + 1);
    grove_builder_open_object(b, "clientConfig");
    if (encoded) {
        int got = EVP_EncodeBlock(encoded, (const unsigned char *)ca_pem, (int)n);
        grove_builder_stringn(b, "caBundle", (const char *)encoded, (size_t)got);
    }
    free(encoded);
    if (d->options->webhook_url) {
        char url[600];
        const char *base = d->options->webhook_url;
        (void)snprintf(url, sizeof url, "%s%s", base, path);
        grove_builder_string(b, "url", url);
    } else {
        grove_builder_open_object(b, "service");
        grove_builder_string(b, "name", d->options->service);
        grove_builder_string(b, "namespace", d->ns);
        grove_builder_string(b, "path", path);
        grove_builder_int64(b, "port", 443);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_hook(grove_builder *b, const live *d, const struct registration *r,
                     const char *ca_pem) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", r->hook);
    put_words(b, "admissionReviewVersions", "v1");
    put_client(b, d, r->path, ca_pem);
    grove_builder_string(b, "failurePolicy", "Fail");
    grove_builder_string(b, "matchPolicy", "Exact");
    grove_builder_string(b, "sideEffects", "None");
    grove_builder_int64(b, "timeoutSeconds", 10);
    if (d->options->ns) { /* the sets of other namespaces are another operator's */
        grove_builder_open_object(b, "namespaceSelector");
        grove_builder_open_object(b, "matchLabels");
        grove_builder_string(b, "kubernetes.io/metadata.name", d->options->ns);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    if (r->wanted == WITH_AUTHORIZER) {
        grove_builder_open_object(b, "objectSelector");
        grove_builder_open_object(b, "matchLabels");
        grove_builder_string(b, "app.kubernetes.io/managed-by", "grove-operator");
        grove_builder_close(b);
        grove_builder_close(b);
    }
    put_rules(b, r);
    grove_builder_close(b);
}

static grove_doc *object_of(const live *d, const struct registration *r, const char *ca_pem) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    if (grove_builder_new(d->env, &b) < 0) {
        return NULL;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "admissionregistration.k8s.io/v1");
    grove_builder_string(b, "kind",
                         r->kind == GROVE_KIND_MUTATING_WEBHOOK ? "MutatingWebhookConfiguration"
                                                                : "ValidatingWebhookConfiguration");
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", r->object);
    grove_builder_open_object(b, "labels");
    grove_builder_string(b, "app.kubernetes.io/name", "groved");
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_open_array(b, "webhooks");
    put_hook(b, d, r, ca_pem);
    grove_builder_close(b);
    grove_builder_close(b);
    (void)grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    return doc;
}

/* ---- applying them ---- */

typedef struct round_trip {
    live *d;
    void (*done)(void *ctx, grove_status st);
    void *ctx;
    uint32_t left;
    grove_status st;
} round_trip;

static void end_one(round_trip *r, grove_status st) {
    r->st = st < 0 ? st : r->st;
    if (--r->left == 0) {
        r->done(r->ctx, r->st);
        free(r);
    }
}

static void on_applied(void *ctx, const grove_completion *c) {
    round_trip *r = ctx;
    if (c->status < 0 && c->status != GROVE_E_CANCELLED) {
        log_write(&r->d->log, GROVE_LOG_ERROR, "a webhook configuration was not accepted", "error",
                  c->message, LOG_END);
    }
    end_one(r, c->status);
}

static void on_deleted(void *ctx, const grove_completion *c) {
    grove_completion told = *c;
    told.status = c->status == GROVE_E_NOT_FOUND ? GROVE_OK : c->status;
    on_applied(ctx, &told);
}

static int is_wanted(const live *d, const struct registration *r) {
    return r->wanted == ALWAYS || (r->wanted == WITH_AUTHORIZER && d->set.authorizer) ||
           (r->wanted == WITH_GUARDED_SCALE && d->set.guard_scale);
}

/* One that an earlier configuration asked for would refuse everything, as nobody serves it. */
static grove_status send_one(round_trip *r, const struct registration *one, const char *ca_pem,
                             grove_error *err) {
    live *d = r->d;
    grove_op op = {.verb = GROVE_VERB_DELETE,
                   .kind = one->kind,
                   .name = one->object,
                   .grace_seconds = GROVE_GRACE_DEFAULT};
    if (!is_wanted(d, one)) {
        return tap_ask(d->tap, &op, on_deleted, r, err);
    }
    grove_doc *doc = object_of(d, one, ca_pem);
    op.verb = GROVE_VERB_APPLY;
    op.flags = GROVE_OP_FORCE;
    op.manager = "groved";
    op.body_doc = doc;
    grove_status st = doc ? tap_ask(d->tap, &op, on_applied, r, err) : GROVE_E_NOMEM;
    grove_doc_unref(doc);
    return st;
}

void registration_apply(live *d, const char *ca_pem, void (*done)(void *ctx, grove_status st),
                        void *ctx) {
    round_trip *r = calloc(1, sizeof *r);
    if (!r) {
        done(ctx, GROVE_E_NOMEM);
        return;
    }
    *r = (round_trip){d, done, ctx, 1, GROVE_OK};
    for (size_t i = 0; i < N_REGISTRATIONS; i++) {
        grove_error err = GROVE_ERROR_INIT;
        r->left++;
        grove_status st = send_one(r, &registrations[i], ca_pem, &err);
        if (st < 0) {
            log_write(&d->log, GROVE_LOG_ERROR, "a webhook configuration cannot be sent", "error",
                      err.message, LOG_END);
            r->st = st;
            r->left--; /* never the last one: the loop counts itself */
        }
    }
    end_one(r, GROVE_OK);
}
