/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the API server's reviews with the library's admission. */
#include "certs.h"
#include "text.h"

#include <grove/admission.h>

#include <string.h>
#include <time.h>

#define AUTHORIZER 3 /* its place among metrics_hook_names */

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
    grove_status st = hook == AUTHORIZER ? authorizer_review(d, body, len, &answer->body, &err)
                                         : judge(d, hook, body, len, &answer->body, &err);
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
