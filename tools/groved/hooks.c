/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the API server's reviews with the library's admission. */
#include "certs.h"
#include "text.h"

#include <grove/admission.h>

#include <string.h>
#include <time.h>

#define AUTHORIZER 3 /* their places among metrics_hook_names */
#define SCALE 4

static int64_t steady(void) {
    struct timespec ts = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * LIVE_SECOND + ts.tv_nsec;
}

/* What the cluster holds counts: bindings and classes are those of the engine's watches. */
static grove_status judge(live *d, uint32_t hook, const char *bytes, size_t len, grove_buf *out,
                          grove_error *err) {
    grove_config *config = NULL;
    grove_status st = grove_engine_config(d->engine, &config, err);
    if (st == GROVE_OK) {
        st = grove_admission_review(d->env, config, metrics_hook_names[hook], bytes, len, out, err);
    }
    grove_config_unref(config);
    return st;
}

/* The review holds a Scale only: what is scaled is looked up among what the watches told. */
static grove_status judge_scale(live *d, const char *bytes, size_t len, grove_buf *out,
                                grove_error *err) {
    grove_config *config = NULL;
    grove_doc *doc = NULL, *target_doc = NULL;
    const grove_node *target = NULL;
    grove_status st = grove_doc_parse_json(d->env, bytes, len, 0, &doc, err);
    st = st < 0 ? st : grove_engine_config(d->engine, &config, err);
    if (st == GROVE_OK) {
        const grove_node *request = grove_node_get(grove_doc_root(doc), "request");
        const char *resource = grove_node_text(grove_node_at_path(request, "/resource/resource"));
        const char *ns = grove_node_text(grove_node_get(request, "namespace"));
        const char *name = grove_node_text(grove_node_get(request, "name"));
        grove_kind kind = resource && strcmp(resource, "podcliques") == 0
                              ? GROVE_KIND_PODCLIQUE
                              : GROVE_KIND_PODCLIQUESCALINGGROUP;
        (void)grove_engine_object(d->engine, kind, ns ? ns : "", name ? name : "", &target_doc,
                                  &target); /* unknown: nothing speaks against it */
        st = grove_admission_review_scale(d->env, config, target, bytes, len, out, err);
    }
    grove_doc_unref(target_doc);
    grove_doc_unref(doc);
    grove_config_unref(config);
    return st;
}

static grove_status judge_by(live *d, uint32_t hook, const char *bytes, size_t len, grove_buf *out,
                             grove_error *err) {
    switch (hook) {
    case AUTHORIZER:
        return authorizer_review(d, bytes, len, out, err);
    case SCALE:
        return judge_scale(d, bytes, len, out, err);
    default:
        return judge(d, hook, bytes, len, out, err);
    }
}

void hooks_handle(void *ctx, const char *path, const char *body, size_t len, http_answer *answer) {
    live *d = ctx;
    grove_error err = GROVE_ERROR_INIT;
    size_t n = strcspn(path, "?");
    uint32_t hook = 0;
    while (hook < METRICS_HOOKS && (strlen(metrics_hook_names[hook]) != n ||
                                    strncmp(path, metrics_hook_names[hook], n) != 0)) {
        hook++;
    }
    if (hook == METRICS_HOOKS || (hook == AUTHORIZER && !d->set.authorizer)) {
        answer->code = 404;
        text_put(&answer->body, "no webhook is served at this path\n");
        return;
    }
    int64_t began = steady();
    grove_status st = judge_by(d, hook, body, len, &answer->body, &err);
    metrics_observe(&d->metrics.hook_latency[hook], steady() - began);
    d->metrics.hook_requests[hook][st < 0]++;
    if (st < 0) {
        answer->code = st == GROVE_E_PARSE ? 400 : 500;
        grove_buf_clear(&answer->body);
        text_put(&answer->body, "%s\n", err.message);
        return;
    }
    answer->content_type = "application/json";
    if (strstr(answer->body.data, "\"allowed\":false")) {
        d->metrics.hook_refusals[hook]++;
    }
}
