/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the embedded cluster, the engine and admission. */
#include "cluster.h"

#include <grove/admission.h>
#include <grove/kinds.h>
#include <grove/runner.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUCK_MAX 100 /* turns at one instant: more is a loop that nothing will end */
#define OTHER_BINDERS "kai-scheduler,grove-scheduler,lpx-scheduler,volcano"

/* ---- admission: what Grove's webhooks and its resource definitions would do ---- */

#define WEBHOOK "admission webhook \"pcs.validating.webhooks.grove.io\" denied the request: "

static uint32_t count_errors(const grove_diags *diags) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < grove_diags_count(diags); i++) {
        n += grove_diags_at(diags, i)->severity == GROVE_SEVERITY_ERROR;
    }
    return n;
}

/* Where the message says who refused: a server's own checks name the object, webhooks themselves. */
static int put_refuser(grove_sim_review *review, const grove_admission_verdict *verdict) {
    const char *kind = grove_kind_name(review->kind), *group = grove_kind_group(review->kind);
    char *out = review->message;
    size_t cap = sizeof review->message;
    switch (verdict->stage) {
    case GROVE_STAGE_SCHEMA:
        return snprintf(out, cap, "%s.%s \"%s\" is invalid: ", kind, group, review->name);
    case GROVE_STAGE_WEBHOOK:
        return snprintf(out, cap, "%s", WEBHOOK);
    default:
        return snprintf(out, cap, "%s in version \"%s\" cannot be handled as a %s: ", kind,
                        grove_kind_version(review->kind), kind);
    }
}

/* The words and the reason of an error type as an API server has them. */
static void words_of(const char *type, const char **out_words, const char **out_reason) {
    static const struct {
        const char *type, *words, *reason;
    } known[] = {{"Required", "Required value", "FieldValueRequired"},
                 {"Invalid", "Invalid value", "FieldValueInvalid"},
                 {"NotSupported", "Unsupported value", "FieldValueNotSupported"},
                 {"Duplicate", "Duplicate value", "FieldValueDuplicate"},
                 {"Forbidden", "Forbidden", "FieldValueForbidden"},
                 {"TooLong", "Too long", "FieldValueTooLong"},
                 {"TooMany", "Too many", "FieldValueTooMany"},
                 {"TypeInvalid", "Invalid value", "FieldValueTypeInvalid"},
                 {"NotFound", "Not found", "FieldValueNotFound"}};
    *out_words = "Internal error";
    *out_reason = "InternalError";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].type, type) == 0) {
            *out_words = known[i].words;
            *out_reason = known[i].reason;
        }
    }
}

static void put_cause(grove_sim_review *review, const grove_diag *d, const char *words,
                      const char *reason) {
    size_t at = strlen(review->causes), room = sizeof review->causes - at;
    int n = snprintf(review->causes + at, room, "%s\t%s\t%s: %s\n", d->path, reason, words,
                     d->message);
    if (n < 0 || (size_t)n >= room) {
        review->causes[at] = '\0'; /* whole ones only */
    }
}

static void refuse(grove_sim_review *review, const grove_admission_verdict *verdict,
                   const grove_diags *diags) {
    bool many = count_errors(diags) > 1;
    const char *gap = many ? "[" : "";
    int start = put_refuser(review, verdict);
    size_t at = start > 0 ? (size_t)start : 0;
    review->http = (int32_t)verdict->http_code;
    for (uint32_t i = 0; i < grove_diags_count(diags) && at < sizeof review->message; i++) {
        const grove_diag *d = grove_diags_at(diags, i);
        if (d->severity == GROVE_SEVERITY_ERROR) {
            const char *words = NULL, *reason = NULL;
            words_of(d->type, &words, &reason);
            int n = snprintf(review->message + at, sizeof review->message - at, "%s%s: %s: %s", gap,
                             d->path, words, d->message);
            if (review->http == 422) {
                put_cause(review, d, words, reason);
            }
            at += n > 0 ? (size_t)n : 0;
            gap = ", ";
        }
    }
    if (many && at + 1 < sizeof review->message) {
        review->message[at] = ']';
        review->message[at + 1] = '\0';
    }
}

static grove_status default_object(cluster *c, grove_sim_review *review,
                                   const grove_validate_options *options, grove_diags *diags) {
    grove_doc *stored = NULL;
    grove_status st = grove_default(c->env, review->object_doc, review->object, options, diags,
                                    &stored, NULL);
    if (st == GROVE_OK) {
        review->out_doc = stored;
    }
    return st;
}

static grove_status guard_scale(cluster *c, grove_sim_review *review) {
    grove_config *config = NULL;
    grove_buf why;
    int64_t replicas = 0;
    grove_status st = grove_engine_config(c->engine, &config, NULL);
    if (st < 0) {
        return st;
    }
    grove_buf_init(&why, c->env);
    const grove_node *n = grove_node_at_path(review->object, "/spec/replicas");
    if (grove_node_int64(n, &replicas) == GROVE_OK &&
        grove_scale_is_refused(config, review->object, replicas, &why)) {
        review->http = 403;
        snprintf(review->message, sizeof review->message, "%s", why.data ? why.data : "");
    }
    grove_buf_fini(&why);
    grove_config_unref(config);
    return GROVE_OK;
}

/* Kinds with a resource definition of ours; those that the engine writes only where clients come too. */
static bool is_judged(const cluster *c, grove_kind kind) {
    return kind == GROVE_KIND_PODCLIQUESET || kind == GROVE_KIND_CLUSTERTOPOLOGYBINDING ||
           (c->options.judge_children &&
            (kind == GROVE_KIND_PODCLIQUE || kind == GROVE_KIND_PODCLIQUESCALINGGROUP ||
             kind == GROVE_KIND_PODGANG));
}

/* No more objects of the kind than the quota allows, in the words of an API server. */
static bool is_over_quota(const cluster *c, grove_sim_review *review) {
    if (review->verb != GROVE_VERB_CREATE || review->kind != c->quota_kind ||
        review->subresource != GROVE_SUBRESOURCE_NONE) {
        return false;
    }
    unsigned used = grove_sim_count(c->sim, c->quota_kind), most = c->quota_most;
    if (used < most) {
        return false;
    }
    const char *plural = grove_kind_plural(review->kind);
    review->http = 403;
    snprintf(review->message, sizeof review->message,
             "%s \"%s\" is forbidden: exceeded quota: scenario, requested: count/%s=1, used: "
             "count/%s=%u, limited: count/%s=%u",
             plural, review->name, plural, plural, used, plural, most);
    return true;
}

static grove_status admit(void *ctx, grove_sim_review *review) {
    cluster *c = ctx;
    if (is_over_quota(c, review)) {
        return GROVE_OK;
    }
    if (review->subresource == GROVE_SUBRESOURCE_SCALE) {
        return guard_scale(c, review);
    }
    if (!is_judged(c, review->kind) || review->verb == GROVE_VERB_DELETE ||
        review->subresource != GROVE_SUBRESOURCE_NONE) {
        return GROVE_OK;
    }
    grove_diags *diags = NULL;
    grove_validate_options options = {.size = (uint32_t)sizeof options,
                                      .fields = GROVE_FIELDS_IGNORE,
                                      .namespace_name = review->ns};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_status st = grove_diags_new(c->env, &diags);
    if (st == GROVE_OK) { /* what the cluster holds counts, as for a webhook that looks it up */
        st = grove_engine_config(c->engine, &options.config, NULL);
    }
    if (st == GROVE_OK) {
        st = grove_validate(c->env, review->object_doc, review->object, review->old_doc,
                            review->old, &options, diags, &verdict, NULL);
    }
    if (st == GROVE_OK && !verdict.allowed) {
        refuse(review, &verdict, diags);
    } else if (st == GROVE_OK) {
        st = default_object(c, review, &options, diags);
    }
    grove_config_unref(options.config);
    grove_diags_free(diags);
    return st;
}

grove_status cluster_apply(cluster *c, grove_doc *doc, const grove_node *object, grove_error *err) {
    grove_status st = grove_sim_apply(c->sim, doc, object, err);
    return st < 0 ? st : cluster_settle_now(c, err);
}

/* ---- life ---- */

static grove_status make_sim(cluster *c, const cluster_options *o, grove_error *err) {
    bool built_in = o->stock_scheduler || (o->sim_flags & GROVE_SIM_LONE_PODS);
    grove_sim_options sim = {.size = (uint32_t)sizeof sim,
                             .flags = o->sim_flags | (built_in ? 0 : GROVE_SIM_NO_SCHEDULER) |
                                      (o->strict_namespaces ? 0 : GROVE_SIM_AUTO_NAMESPACES),
                             .seed = o->seed,
                             .start_ns = o->start_ns,
                             .admit = o->no_operator ? NULL : admit,
                             .admit_ctx = c};
    if (o->instant) { /* one nanosecond: zero would take the default */
        sim.pull_ns = sim.init_ns = sim.start_container_ns = sim.ready_ns = sim.terminate_ns = 1;
    }
    grove_status st = grove_sim_new(c->env, &sim, &c->sim, err);
    if (st == GROVE_OK && o->nodes) {
        st = grove_sim_add_nodes(c->sim, o->nodes, err);
    }
    return st;
}

static grove_status connect_engine(cluster *c, grove_error *err) {
    grove_status st = grove_sim_backend(c->sim, &c->backend, err);
    if (st == GROVE_OK && c->options.wrap) {
        st = c->options.wrap(c->options.wrap_ctx, c->env, &c->backend, err);
    }
    return st;
}

static grove_status make_engine(cluster *c, const cluster_options *o, grove_error *err) {
    grove_status st = connect_engine(c, err);
    if (st < 0) {
        return st;
    }
    grove_engine_options engine = {.size = (uint32_t)sizeof engine,
                                   .status_quiet_ns = c->options.status_quiet_ns,
                                   .gangs_a_step = c->options.gangs_a_step,
                                   .flags = o->engine_flags,
                                   .config = c->config,
                                   .bind_schedulers = o->binders ? o->binders
                                                      : o->stock_scheduler
                                                          ? OTHER_BINDERS
                                                          : "default-scheduler," OTHER_BINDERS,
                                   .seed = o->seed};
    return grove_engine_new(c->env, &engine, &c->engine, err);
}

grove_status cluster_new(grove_env *env, const cluster_options *options, cluster **out_cluster,
                         grove_error *err) {
    cluster *c = calloc(1, sizeof *c);
    if (!c) {
        return GROVE_E_NOMEM;
    }
    c->env = grove_env_ref(env);
    c->deadline = INT64_MAX;
    c->options = *options;
    grove_status st = GROVE_OK;
    if (options->config) {
        c->config = grove_config_ref(options->config);
    } else {
        st = grove_config_new(env, &c->config);
    }
    if (st == GROVE_OK) {
        st = make_sim(c, options, err);
    }
    if (st == GROVE_OK && !options->no_operator) {
        st = make_engine(c, options, err);
    }
    if (st < 0) {
        cluster_free(c);
        return st;
    }
    *out_cluster = c;
    return GROVE_OK;
}

void cluster_free(cluster *c) {
    if (!c) {
        return;
    }
    grove_env *env = c->env;
    grove_engine_free(c->engine);
    if (c->backend.ops) {
        c->backend.ops->destroy(c->backend.impl);
    }
    grove_sim_free(c->sim);
    grove_config_unref(c->config);
    free(c);
    grove_env_unref(env);
}

uint32_t cluster_most_rounds(const cluster *c) {
    grove_engine_stats stats = {.size = (uint32_t)sizeof stats};
    if (c->engine) {
        (void)grove_engine_stats_get(c->engine, &stats);
    }
    return stats.most_rounds > c->most_rounds ? stats.most_rounds : c->most_rounds;
}

grove_status cluster_restart_engine(cluster *c, grove_error *err) {
    c->most_rounds = cluster_most_rounds(c);
    grove_engine_free(c->engine);
    c->engine = NULL;
    c->backend.ops->destroy(c->backend.impl);
    c->backend = (grove_backend){0};
    return make_engine(c, &c->options, err);
}

/* ---- time ---- */

int64_t cluster_now(const cluster *c) {
    return grove_sim_now(c->sim);
}

grove_status cluster_settle_now(cluster *c, grove_error *err) {
    int64_t engine = INT64_MAX;
    int64_t skew = c->skew_ns;
    grove_status st = GROVE_OK;
    if (c->engine) {
        st = grove_runner_turn(c->engine, &c->backend, cluster_now(c) + skew, &engine, err);
    }
    if (st == GROVE_OK) {
        int64_t sim = grove_sim_deadline(c->sim);
        engine = engine == INT64_MAX ? engine : engine - skew;
        c->deadline = sim < engine ? sim : engine;
    }
    return st;
}

grove_status cluster_run(cluster *c, int64_t to_ns, int (*step)(void *ctx, cluster *c), void *ctx,
                         grove_error *err) {
    unsigned stuck = 0;
    for (;;) {
        grove_status st = cluster_settle_now(c, err);
        if (st < 0 || (step && step(ctx, c))) {
            return st;
        }
        if (c->deadline > to_ns) {
            break;
        }
        if (c->deadline <= cluster_now(c) && ++stuck > STUCK_MAX) {
            snprintf(err->message, sizeof err->message, "time stands still");
            return GROVE_E_INTERNAL;
        }
        stuck = c->deadline <= cluster_now(c) ? stuck : 0;
        st = grove_sim_advance(c->sim, c->deadline, err);
        if (st < 0) {
            return st;
        }
    }
    return to_ns == INT64_MAX ? GROVE_OK : grove_sim_advance(c->sim, to_ns, err);
}

int cluster_is_quiet(const cluster *c) {
    return c->deadline == INT64_MAX;
}
