/* SPDX-License-Identifier: Apache-2.0 */
/* A store and a planner of its own; the first step of each set's way is printed, as what follows depends on it. */
#include "shadow.h"

#include "text.h"

#include <grove/plan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct told {
    char *key;      /* NAMESPACE/NAME */
    char *text;     /* what was printed last */
    uint32_t count; /* its actions */
} told;

struct shadow {
    grove_store *store;
    grove_planner *planner;
    told *v;
    uint32_t n, cap;
    uint32_t count; /* over all sets */
};

struct shadow *shadow_new(live *d) {
    struct shadow *s = calloc(1, sizeof *s);
    if (!s || grove_store_new(d->env, &s->store) < 0 ||
        grove_planner_new(d->env, &s->planner) < 0) {
        shadow_free(s);
        return NULL;
    }
    return s;
}

void shadow_free(struct shadow *s) {
    if (s) {
        for (uint32_t i = 0; i < s->n; i++) {
            free(s->v[i].key);
            free(s->v[i].text);
        }
        free(s->v);
        grove_planner_free(s->planner);
        grove_store_free(s->store);
        free(s);
    }
}

void shadow_event(live *d, const grove_event *event) {
    struct shadow *s = d->shadow;
    if (event->type > GROVE_EVENT_DELETED) {
        return;
    }
    int gone = event->type == GROVE_EVENT_DELETED;
    const grove_node *object = event->object_doc ? grove_doc_root(event->object_doc) : NULL;
    object = event->object ? event->object : object;
    grove_status st;
    if (event->record) { /* a pod or node whose bytes were never made a document */
        st = gone ? grove_store_remove_record(s->store, event->record, NULL)
                  : grove_store_put_record(s->store, event->record, NULL);
    } else {
        st = gone ? grove_store_remove(s->store, object, NULL)
                  : grove_store_put(s->store, event->object_doc, object, NULL);
    }
    if (st < 0 && st != GROVE_E_UNSUPPORTED) {
        log_write(&d->log, GROVE_LOG_WARN, "an object was not taken in", "status",
                  grove_status_name(st), LOG_END);
    }
}

/* NULL: out of memory. */
static told *entry(struct shadow *s, const char *key) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (strcmp(s->v[i].key, key) == 0) {
            return &s->v[i];
        }
    }
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 16;
        told *grown = realloc(s->v, cap * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        s->v = grown;
        s->cap = cap;
    }
    s->v[s->n] = (told){.key = strdup(key), .text = strdup("")};
    return s->v[s->n].key && s->v[s->n].text ? &s->v[s->n++] : NULL;
}

static void put_action(const grove_action *a, grove_buf *out) {
    text_put(out, "would %s %s %s%s%s%s %s: %s", grove_verb_name(a->verb), a->kind_name, a->ns,
             a->ns[0] ? "/" : "", a->name,
             a->subresource == GROVE_SUBRESOURCE_STATUS ? " (status)" : "", a->reason, a->text);
    if (a->verb == GROVE_VERB_PATCH && a->body) {
        text_put(out, " ");
        (void)grove_node_write_json(grove_doc_root(a->body), 0, out, NULL);
    }
    text_put(out, "\n");
}

static void tell(live *d, const char *key, const grove_plan *plan) {
    struct shadow *s = d->shadow;
    uint32_t n = grove_plan_actions(plan), count = 0;
    told *before = entry(s, key);
    grove_buf out;
    grove_buf_init(&out, d->env);
    for (uint32_t i = 0; i < n; i++) {
        const grove_action *a = grove_plan_action(plan, i);
        if (a->verb != GROVE_VERB_EVENT) {
            put_action(a, &out);
            count++;
        }
    }
    const char *text = out.data ? out.data : "";
    if (before && strcmp(before->text, text) != 0) {
        free(before->text);
        before->text = strdup(text);
        if (!before->text) {
            before->text = calloc(1, 1);
        }
        fputs(count ? text : "", stdout);
        fflush(stdout);
    }
    if (before) {
        s->count = s->count - before->count + count;
        before->count = count;
    }
    grove_buf_fini(&out);
}

static void plan_one(live *d, grove_config *config, const char *ns, const char *name) {
    grove_error err = GROVE_ERROR_INIT;
    grove_plan *plan = NULL;
    char key[600];
    (void)snprintf(key, sizeof key, "%s/%s", ns, name);
    char *slash = strchr(key, '/'); /* the store's texts end with the next call on it */
    grove_plan_request rq = {.size = (uint32_t)sizeof rq,
                             .name = slash + 1,
                             .config = config,
                             .now_ns = live_now(d),
                             .seed = d->options->seed};
    *slash = '\0';
    rq.ns = key;
    grove_status st = grove_plan_make(d->shadow->planner, d->shadow->store, &rq, &plan, &err);
    if (st == GROVE_OK && grove_plan_deadline(plan) != GROVE_NEVER) {
        live_alarm(d, grove_plan_deadline(plan));
    }
    if (st < 0) {
        log_write(&d->log, GROVE_LOG_ERROR, "no plan", "set", rq.name, "error", err.message,
                  LOG_END);
    } else {
        *slash = '/';
        tell(d, key, plan);
    }
    grove_plan_unref(plan);
}

uint32_t shadow_step(live *d) {
    grove_config *config = NULL;
    const char *ns = NULL, *name = NULL;
    if (grove_engine_config(d->engine, &config, NULL) < 0) {
        return d->shadow->count;
    }
    while (grove_store_next_dirty(d->shadow->store, &ns, &name)) {
        plan_one(d, config, ns, name);
    }
    grove_config_unref(config);
    return d->shadow->count;
}
