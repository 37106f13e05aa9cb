/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine in an event loop of one's own, without grove/runner.h: what the loop has to do, in the open.
 *
 * The backend is the embedded cluster, whose time is what it is told. With a backend that has descriptors, wait in
 * poll() for those of ops->pollfds instead of jumping to the next deadline.
 *
 *     event_loop set.yaml
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/sim.h>

#define SECOND INT64_C(1000000000)

typedef struct loop {
    grove_engine *engine;
    grove_backend backend;
    int64_t now;
    uint32_t delivered; /* by the last process */
} loop;

static grove_status on_completion(void *ctx, const grove_completion *completion) {
    loop *l = ctx;
    l->delivered++;
    return grove_engine_complete(l->engine, completion, l->now, NULL);
}

static grove_status on_event(void *ctx, const grove_event *event) {
    loop *l = ctx;
    l->delivered++;
    return grove_engine_feed(l->engine, event, l->now, NULL);
}

/* An operation that could not be handed over has ended all the same: the engine is told so. */
static grove_status not_submitted(loop *l, const grove_op *op, grove_status why) {
    grove_completion c = {0};
    c.size = sizeof c;
    c.token = op->token;
    c.status = why;
    c.reason = c.message = "";
    return grove_engine_complete(l->engine, &c, l->now, NULL);
}

/* Out of the engine into the backend: watches first, then operations. */
static grove_status hand_over(loop *l) {
    const grove_watch *watch;
    const grove_op *op;
    grove_status st;
    while ((st = grove_engine_next_watch(l->engine, &watch, NULL)) == GROVE_OK && watch) {
        if ((st = l->backend.ops->watch(l->backend.impl, watch, NULL)) < 0) {
            return st;
        }
    }
    while (st == GROVE_OK &&
           (st = grove_engine_next_op(l->engine, l->now, &op, NULL)) == GROVE_OK && op) {
        grove_status taken = l->backend.ops->submit(l->backend.impl, op, NULL);
        if (taken < 0) {
            st = not_submitted(l, op, taken);
        }
    }
    return st;
}

/* One turn; *out_due is when the next one is wanted at the latest. */
static grove_status turn(loop *l, int64_t *out_due) {
    const grove_sink sink = {sizeof sink, 0, l, on_completion, on_event};
    int64_t due = l->now;
    grove_status st = GROVE_OK;
    l->delivered = 1;
    while (st == GROVE_OK && (l->delivered > 0 || due <= l->now)) { /* news may ask for more */
        l->delivered = 0;
        st = hand_over(l);
        if (st == GROVE_OK) {
            st = l->backend.ops->process(l->backend.impl, l->now, 0, &sink, &due, NULL);
        }
        int64_t wish = grove_engine_deadline(l->engine);
        due = wish < due ? wish : due;
    }
    *out_due = due;
    return st;
}

static int print_pods(grove_sim *sim) {
    grove_doc *list = NULL;
    int running = 0;
    if (grove_sim_list(sim, GROVE_KIND_POD, NULL, NULL, &list, NULL) == GROVE_OK) {
        const grove_node *items = grove_node_get(grove_doc_root(list), "items");
        for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
            const char *phase = grove_node_text(grove_node_at_path(p, "/status/phase"));
            printf("%-48s %s\n", grove_node_text(grove_node_at_path(p, "/metadata/name")), phase);
            running += strcmp(phase, "Running") == 0;
        }
    }
    grove_doc_unref(list);
    return running;
}

/* The set of a file, as a cluster would store it. */
static grove_doc *read_set(grove_env *env, const char *path) {
    static char text[1 << 16];
    grove_doc *doc = NULL, *stored = NULL;
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) {
        fclose(f);
    }
    if (grove_doc_parse_yaml(env, text, len, GROVE_PARSE_STRICT, &doc, NULL) == GROVE_OK) {
        (void)grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, NULL);
    }
    grove_doc_unref(doc);
    return stored;
}

int main(int argc, char **argv) {
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_doc *set = NULL;
    loop l = {0};
    int running = 0;
    if (argc != 2 || grove_env_new(NULL, &env) < 0) {
        fprintf(stderr, "usage: event_loop set.yaml\n");
        return 2;
    }
    if (grove_sim_new(env, NULL, &sim, NULL) == GROVE_OK &&
        grove_sim_add_nodes(sim, "1x2x2x8", NULL) == GROVE_OK &&
        (set = read_set(env, argv[1])) != NULL &&
        grove_sim_apply(sim, set, NULL, NULL) == GROVE_OK &&
        grove_sim_backend(sim, &l.backend, NULL) == GROVE_OK &&
        grove_engine_new(env, NULL, &l.engine, NULL) == GROVE_OK) {
        int64_t end = grove_sim_now(sim) + 60 * SECOND, due = 0;
        for (l.now = grove_sim_now(sim); l.now <= end; l.now = due) {
            if (turn(&l, &due) < 0) {
                break;
            }
        }
        running = print_pods(sim);
    }
    grove_engine_free(l.engine);
    if (l.backend.ops) {
        l.backend.ops->destroy(l.backend.impl);
    }
    grove_sim_free(sim);
    grove_doc_unref(set);
    grove_env_unref(env);
    return running > 0 ? 0 : 1;
}
